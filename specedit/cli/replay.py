"""`specedit replay CASES`: drafting without a model. Prints JSON lines or a table."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specedit.cli.options import settings_options
from specedit.errors import UsageError
from specedit.settings import Resolved, Settings

if TYPE_CHECKING:
    from specedit.decode.cost import Curve
    from specedit.decode.replay import Replay

CURVES = ("70+6w", "70+1w", "35+15w")  # int8 on two cores, a GPU, llama.cpp on two cores


@settings_options("model", "engine", "draft", "json", "quiet")
def replay(
    cases: Annotated[
        str, typer.Argument(metavar="CASES", help="JSON lines with `before` and `after`")
    ],
    limit: Annotated[int, typer.Option(help="Replay only the first N cases (0: all)")] = 0,
    curve: Annotated[
        str | None,
        typer.Option(metavar="A+Bw", help="Price a pass of width w in milliseconds, such as 70+6w"),
    ] = None,
    *,
    resolved: Resolved,
) -> int:
    """Count the forward passes that edits would take, without a model."""
    from specedit.bench.cases import read_cases
    from specedit.decode import replay as replaying
    from specedit.edit.reader import end_of

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
