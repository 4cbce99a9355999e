"""`specedit bench [CASES]`: how fast is specedit on this machine, beside the installed peers?"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from specedit.cli.options import settings_options
from specedit.cli.streams import put_object, say
from specedit.errors import UsageError
from specedit.settings import Resolved

if TYPE_CHECKING:
    from specedit.bench.cases import Case

T = TypeVar("T", int, float)
BEFORE_PASSES = 1024  # positions before the passes of --engine-table


@settings_options(
    "model", "draft_model", "engine", "threads", "precision", "weights", "json", "quiet"
)
def bench(
    cases: Annotated[
        Path | None,
        typer.Argument(
            metavar="[CASES]",
            help="JSON lines with instruction, before and after; without it: generated files",
        ),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            help="Compare with these programs: all, none, or names (transformers, llama.cpp, …)"
        ),
    ] = "all",
    kinds: Annotated[
        str, typer.Option(help="Generate these kinds of edits: names, or all")
    ] = "line,half",
    lines: Annotated[str, typer.Option(help="Generate files of these lengths")] = "50",
    rounds: Annotated[int, typer.Option(min=1, help="Measure each program this many times")] = 3,
    own: Annotated[
        bool, typer.Option("--own", help="Let each program write its own answer, not that of CASES")
    ] = False,
    limit: Annotated[
        int, typer.Option(min=0, help="Limit an answer to this many tokens (0: all of it)")
    ] = 0,
    first: Annotated[int, typer.Option(min=0, help="Use only the first N cases (0: all)")] = 0,
    drafters: Annotated[
        bool, typer.Option("--drafters", help="Compare drafters instead of programs")
    ] = False,
    engine_table: Annotated[
        bool, typer.Option("--engine-table", help="Measure one forward pass by its width, no edits")
    ] = False,
    cost: Annotated[
        bool, typer.Option("--cost", help="Add what hosted predicted outputs would cost")
    ] = False,
    prices: Annotated[
        str, typer.Option(metavar="IN,OUT", help="Price of --cost: dollars per million tokens")
    ] = "2.50,10",
    *,
    resolved: Resolved,
) -> int:
    """Measure specedit beside other installed programs: same weights, same prompts, one run."""
    from specedit.bench import speed
    from specedit.bench.cases import read_cases
    from specedit.bench.peers import selected
    from specedit.bench.peers.own import Own, load
    from specedit.bench.result import BenchResult
    from specedit.decode.cost import WIDTHS

    if engine_table and (drafters or cases or cost):
        raise UsageError("--engine-table measures no edits.", hint="Leave out the other options.")
    if drafters and cost:
        raise UsageError("--cost belongs to a comparison of peers.", hint="Leave out --drafters.")
    settings = resolved.values
    result = BenchResult(settings.model, speed.threads_of(settings))
    with _progress(settings.quiet) as progress:
        if engine_table:
            progress("measuring passes")
            result.widths = Own(load(settings)).passes(BEFORE_PASSES, WIDTHS)
        else:
            chosen = [] if cases is None else read_cases(cases, "instruction", first=first)
            if drafters:
                result.drafters, limit = True, limit or speed.DRAFTED_TOKENS
                chosen, names = chosen or speed.built_in(), speed.DRAFTERS
            else:
                chosen = chosen or _generated(kinds, lines)[: first or None]
                names = selected(against)
            options = speed.SpeedOptions(rounds, own, limit)
            result.speeds = speed.measure(chosen, names, settings, options, progress)
            if cost:
                dollars = _numbers(prices, float)
                result.cost = speed.hosted_bill(result.speeds.rows, settings, *dollars)
    put_object(result.json()) if settings.json else result.show()
    if result.speeds.interrupted:
        say("interrupted: what was measured until now is shown")
    if result.conclusion and not settings.quiet:
        say(result.conclusion)
    return 0


def _generated(kinds: str, lines: str) -> list[Case]:
    from specedit.bench.cases import KINDS, generated

    lengths = _numbers(lines, int)
    if min(lengths) < 1:
        raise UsageError(f"--lines {lines}: a generated file has at least one line.")
    return generated(KINDS if kinds == "all" else kinds.split(","), lengths)


def _numbers(text: str, kind: type[T]) -> list[T]:
    try:
        return [kind(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"{text!r} is not a list of numbers, such as 50,200.") from None


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Shows what is measured now, in one line of the terminal."""
    shown = not quiet and sys.stderr.isatty()

    def show(text: str) -> None:
        if shown:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        show("")
