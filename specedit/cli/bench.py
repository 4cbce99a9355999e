"""`specedit bench [CASES]`: is it faster, and does it cost quality, on this machine?"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from specedit.cli.options import settings_options
from specedit.errors import UsageError
from specedit.settings import Resolved

NAMES = (
    "model",
    "draft_model",
    "engine",
    "threads",
    "precision",
    "tries",
    "json",
    "quiet",
    "verbose",
)


@settings_options(*NAMES)
def bench(
    cases: Annotated[
        Path | None,
        typer.Argument(metavar="[CASES]", help="JSON lines: instruction, before, after"),
    ] = None,
    cases_flag: Annotated[
        Path | None, typer.Option("--cases", metavar="FILE", help="the same, as a flag")
    ] = None,
    against: Annotated[
        str, typer.Option(help="all, none, or names: transformers, llama.cpp, openvino, …")
    ] = "all",
    kinds: Annotated[
        str, typer.Option(help="generated edits, comma-separated, or all")
    ] = "line,half",
    lines: Annotated[str, typer.Option(help="lengths of generated files")] = "50",
    languages: Annotated[str, typer.Option(help="languages of generated files, or all")] = "python",
    rounds: Annotated[int, typer.Option(min=1, help="measured runs of each peer")] = 3,
    own: Annotated[
        bool, typer.Option("--own", help="each peer writes its own answer, not a given one")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="tokens of an answer; 0 is all of it")] = 0,
    first: Annotated[int, typer.Option(min=0, help="only the first N cases; 0 is all")] = 0,
    half: Annotated[
        str, typer.Option(help="of the cases: all, even (to decide), odd (to confirm)")
    ] = "all",
    quality: Annotated[
        Path | None, typer.Option(metavar="FILE", help="run the edits and their tests: pass@1")
    ] = None,
    judge: Annotated[
        str, typer.Option(metavar="tests|gate", help="who judges the tries of --tries N")
    ] = "tests",
    attempts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="keep each try there, and ask for none twice"),
    ] = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="each try once more, without predictions")
    ] = False,
    agreement: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="source files: how often int8 chooses as bf16 does"),
    ] = None,
    rename: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="renames: right, by three ways of renaming"),
    ] = None,
    focus: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="edits of large files: do they lie in the places chosen (--own asks the model)",
        ),
    ] = None,
    equal: Annotated[
        bool,
        typer.Option(
            "--equal", help="of --focus: is a file edited in places what it is edited whole"
        ),
    ] = False,
    gate: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="answers and commits: what the gate says of them"),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="of --quality: write each answer and its verdict"),
    ] = None,
    drafters: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|functions|text|renames",
            help="the same answers by every drafter (--attempts keeps them)",
        ),
    ] = None,
    cost: Annotated[
        bool, typer.Option("--cost", help="what hosted Predicted Outputs would bill")
    ] = False,
    engine_table: Annotated[
        bool, typer.Option("--engine-table", help="what a pass costs, by its width")
    ] = False,
    serve: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]URL", help="a server under load, and predictions there"),
    ] = None,
    at_once: Annotated[
        str, typer.Option(metavar="N,…", help="of --serve: edits that arrive while one is written")
    ] = "",
    requests: Annotated[
        int, typer.Option(min=0, help="of --serve: edits at each load; 0 is as many, at least 8")
    ] = 0,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="draw the results, SVG and PNG")
    ] = None,
    drawn_from: Annotated[
        list[Path] | None,
        typer.Option("--from", metavar="RESULT", help="draw what --json printed; measure nothing"),
    ] = None,
    *,
    resolved: Resolved,
) -> int:
    """Measure specedit beside what you would use instead: same weights, same prompts, one run."""
    from specedit.bench.ask import run
    from specedit.bench.wanted import Wanted

    if cases is not None and cases_flag is not None:
        raise UsageError("CASES and --cases are the same thing.", hint="Give one of them.")
    wanted = Wanted(
        cases=cases or cases_flag,
        against=against,
        kinds=_words(kinds),
        lines=_numbers(lines),
        languages=_words(languages),
        rounds=rounds,
        own=own,
        limit=limit,
        first=first,
        half=half,
        quality=quality,
        tries=resolved.values.tries,
        judge=judge,
        attempts=attempts,
        beside=beside,
        renames=tuple(rename or ()),
        agreement=tuple(agreement or ()),
        focus=tuple(focus or ()),
        equal=equal,
        gate=tuple(gate or ()),
        drafters=tuple(drafters or ()),
        answers=answers,
        cost=cost,
        engine_table=engine_table,
        serve=tuple(serve or ()),
        at_once=_numbers(at_once),
        requests=requests,
        plots=plots,
        drawn_from=tuple(drawn_from or ()),
    )
    settings = resolved.values
    said = _progress(settings.quiet)
    try:
        with _terminated_as_interrupted():
            found = run(wanted, settings, said, verbose=settings.verbose)
    finally:
        said("")
    if settings.json:
        print(json.dumps(found.json, indent=2, ensure_ascii=False))
    elif found.parts:
        from specedit.bench.table import show

        show(*found.parts)
    for note in found.notes:
        print(note, file=sys.stderr)
    if found.line and not settings.quiet:
        print(found.line, file=sys.stderr)
    return 0


@contextlib.contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends a run as Ctrl-C does, with what it has measured; what is shown then is shown to
    the end."""

    def interrupt(signum: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is interrupt:
            signal.signal(signal.SIGTERM, before)


def _progress(quiet: bool) -> Callable[[str], None]:
    """What is being measured now, over itself on a terminal."""
    shown = not quiet and sys.stderr.isatty()

    def said(text: str) -> None:
        if shown:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    return said


def _words(text: str) -> tuple[str, ...]:
    return tuple(w.strip() for w in text.split(",") if w.strip())


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(w) for w in _words(text))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of numbers") from None
