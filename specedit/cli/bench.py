"""`specedit bench [CASES]`: specedit on this machine, beside the installed peers; `specedit replay
CASES`: drafting without a model.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from specedit.cli.options import argument, flag, option, settings_options
from specedit.cli.streams import put_object, say
from specedit.errors import UsageError
from specedit.settings import Resolved, Settings

if TYPE_CHECKING:
    from specedit.bench.cases import Case
    from specedit.decode.cost import Curve
    from specedit.decode.replay import Replay

T = TypeVar("T", int, float)
BEFORE_PASSES = 1024  # positions before the passes of --engine-table


@settings_options(
    "model", "draft_model", "engine", "threads", "precision", "weights", "json", "quiet"
)
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
    resolved: Resolved,
) -> int:
    """Measure specedit beside other installed programs: same weights, same prompts, one run."""
    from specedit.bench import speed
    from specedit.bench.cases import read_cases
    from specedit.bench.peers import selected
    from specedit.bench.peers.own import Own
    from specedit.bench.result import BenchResult
    from specedit.decode.cost import WIDTHS
    from specedit.edit.backend import Progress
    from specedit.engines.cores import thread_count
    from specedit.inference.loading import load

    if engine_table and (drafters or cases or cost):
        raise UsageError("--engine-table measures no edits.", hint="Leave out the other options.")
    if drafters and cost:
        raise UsageError("--cost belongs to a comparison of peers.", hint="Leave out --drafters.")
    settings = resolved.values
    result = BenchResult(settings.model, thread_count(settings.threads))
    with _progress(settings.quiet) as progress:
        if engine_table:
            progress("measuring passes")
            result.widths = Own(load(settings, Progress())).passes(BEFORE_PASSES, WIDTHS)
        else:
            chosen = [] if cases is None else read_cases(cases, "instruction", first=first)
            if drafters:
                result.drafters, limit = True, limit or speed.DRAFTED_TOKENS
                chosen, names = chosen or speed.built_in(), speed.DRAFTERS
            else:
                chosen = chosen or _generated(kinds, lines)[: first or None]
                names = selected(against)
            result.speeds = speed.measure(
                chosen, names, settings, progress, rounds=rounds, own=own, limit=limit
            )
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


CURVES = ("70+6w", "70+1w", "35+15w")  # int8 on two cores, a GPU, llama.cpp on two cores


@settings_options("model", "engine", "draft", "json", "quiet")
def replay(
    cases: str = argument("CASES", "JSON lines with `before` and `after`"),
    limit: int = option(0, "Replay only the first N cases (0: all)"),
    curve: str | None = option(
        None, "Assume A+Bw milliseconds for a pass of width w, such as 70+6w", metavar="A+Bw"
    ),
    *,
    resolved: Resolved,
) -> int:
    """Count the forward passes that edits would take, without a model."""
    from specedit.bench.cases import read_cases
    from specedit.decode import replay as replaying
    from specedit.inference.reader import end_of

    settings = resolved.values
    chosen = read_cases(Path(cases), "after", first=limit)
    names = [name.strip() for name in settings.draft.split(",")]
    tokenizer = tokenizer_of(settings)
    (end,) = end_of(tokenizer)
    curves = [curve] if curve else list(CURVES[:1] if settings.json else CURVES)
    rows = []
    for name in curves:
        cost = curve_of(name)
        replays = []
        for case in chosen:
            before, after = tokenizer.encode(case.before), tokenizer.encode(case.after or "")
            one = replaying.replay(
                before,
                after,
                end,
                codec=tokenizer,
                instruction=tokenizer.encode(case.instruction),
                names=names,
                curve=cost,
            )
            replays.append(one)
            if settings.json:
                line = {
                    "id": case.id,
                    "tokens": one.tokens,
                    "passes": [list(counts) for counts in one.passes],
                    "bound": round(1000 * one.bound(cost), 3),  # milliseconds
                }
                print(json.dumps(line))
        rows.append(_row(name, replays, cost))
    if not (settings.json and settings.quiet):
        print("\n".join([HEAD, *rows]), file=sys.stderr if settings.json else sys.stdout)
    return 0


def curve_of(name: str) -> Curve:
    """`70+6w`: a pass of width w takes 70 + 6 w milliseconds."""
    from specedit.decode.cost import Curve

    match = re.fullmatch(r"(\d+(?:\.\d+)?)\+(\d+(?:\.\d+)?)w", name)
    once, each = (float(part) / 1000 for part in match.groups()) if match else (0.0, 0.0)
    if once + each <= 0:
        raise UsageError(
            f"{name!r} is not a cost curve.", hint="A+Bw in milliseconds, such as 70+6w"
        )
    return Curve.line(once, each)


HEAD = (
    f"{'pass, ms':>9} {'cases':>6} {'tokens':>8} {'passes':>7} {'accepted':>9} "
    f"{'cost, s':>9} {'/bound':>7} {'/plain':>7} {'worst':>6}"
)


def _row(name: str, replays: Sequence[Replay], cost: Curve) -> str:
    """The sums on one curve; `worst` is the largest share of a case's own plain decoding."""
    passes = [counts for one in replays for counts in one.passes]
    proposed, accepted = sum(p for p, _ in passes), sum(a for _, a in passes)
    seconds, plain = (
        sum(one.seconds(cost) for one in replays),
        sum(one.plain(cost) for one in replays),
    )
    bound = sum(one.bound(cost) for one in replays)
    worst = max(one.seconds(cost) / one.plain(cost) for one in replays)
    return (
        f"{name:>9} {len(replays):>6} {sum(one.tokens for one in replays):>8} {len(passes):>7} "
        f"{accepted / max(1, proposed):>9.1%} {seconds:>9.1f} {seconds / bound:>7.3f} "
        f"{seconds / plain:>7.3f} {worst:>6.3f}"
    )


def tokenizer_of(settings: Settings) -> Any:
    """The model's tokenizer, without its weights. The scripted engine's ids are bytes."""
    if settings.engine == "scripted":
        from specedit.engines.scripted import ScriptedTokenizer

        return ScriptedTokenizer()
    from specedit.models.resolve import resolve
    from specedit.models.store import ModelFiles
    from specedit.models.vocabulary import load_tokenizer

    for step in resolve(settings.model):
        if isinstance(step, ModelFiles):
            return load_tokenizer(step)
    raise AssertionError("resolve ends with the model's files")
