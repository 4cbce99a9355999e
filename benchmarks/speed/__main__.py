"""Measure specedit on this machine, with the other programs that are installed.

python -m benchmarks.speed --kinds all --lines 50,200,800
python -m benchmarks.speed CASES.jsonl --drafters --own --limit 200
python -m benchmarks.speed --engine-table        # one pass of each width
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import typer

from benchmarks.common import run
from benchmarks.speed import compare
from benchmarks.speed.cases import KINDS, Case, generated, read_cases
from benchmarks.speed.peers import selected
from benchmarks.speed.peers.own import Own
from benchmarks.speed.result import BenchResult
from specedit.cli.options import argument, flag, option, settings_options
from specedit.cli.streams import put_object, say
from specedit.decode.cost import WIDTHS
from specedit.edit.backend import unreported
from specedit.engines.cores import thread_count
from specedit.errors import UsageError
from specedit.inference.loading import load
from specedit.settings import Settings

T = TypeVar("T", int, float)
BEFORE_PASSES = 1024  # positions before the passes of --engine-table


@settings_options("model", "draft_model", "engine", "threads", "weights", "json", "quiet")
def bench(
    cases: Path | None = argument(
        "CASES", "JSON lines with instruction, before and after; without it: generated files", None
    ),
    against: str = option(
        "all", "Compare with these programs: all, none, or names (transformers, llama.cpp, …)"
    ),
    kinds: str = option("line,half", "Generate these kinds of edits: names, or all"),
    lines: str = option("50", "Generate files of these lengths"),
    rounds: int = option(3, "Measure each program this many times", min=1),
    own: bool = flag("--own", "Let each program write its own answer, not that of CASES"),
    limit: int = option(0, "Limit an answer to this many tokens (0: all of it)", min=0),
    first: int = option(0, "Use only the first N cases (0: all)", min=0),
    drafters: bool = flag("--drafters", "Compare drafters instead of programs"),
    engine_table: bool = flag(
        "--engine-table", "Measure forward passes of each width instead of edits"
    ),
    cost: bool = flag("--cost", "Add what hosted predicted outputs would cost"),
    prices: str = option(
        "2.50,10", "Price of --cost: dollars per million tokens", metavar="IN,OUT"
    ),
    *,
    settings: Settings,
) -> int:
    """Measure specedit beside other installed programs: same weights, same prompts, one run."""
    if engine_table and (drafters or cases or cost):
        raise UsageError("--engine-table measures no edits.", hint="Leave out the other options.")
    if drafters and cost:
        raise UsageError("--cost belongs to a comparison of peers.", hint="Leave out --drafters.")
    result = BenchResult(settings.model, thread_count(settings.threads))
    with _progress(settings.quiet) as progress:
        if engine_table:
            progress("measuring passes")
            result.widths = Own(load(settings, unreported)).passes(BEFORE_PASSES, WIDTHS)
        else:
            chosen = [] if cases is None else read_cases(cases, "instruction", first=first)
            if drafters:
                result.drafters, limit = True, limit or compare.DRAFTED_TOKENS
                chosen, names = chosen or compare.built_in(), compare.DRAFTERS
            else:
                chosen = chosen or _generated(kinds, lines)[: first or None]
                names = selected(against)
            result.speeds = compare.measure(
                chosen, names, settings, progress, rounds=rounds, own=own, limit=limit
            )
            if cost:
                dollars = _numbers(prices, float)
                result.cost = compare.hosted_bill(result.speeds.rows, settings, *dollars)
    put_object(result.json()) if settings.json else result.show()
    if result.speeds.interrupted:
        say("interrupted: what was measured until now is shown")
    if result.conclusion and not settings.quiet:
        say(result.conclusion)
    return 0


def _generated(kinds: str, lines: str) -> list[Case]:
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


app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(bench)

if __name__ == "__main__":
    run(app)
