"""Drafting priced on several machines' curves: what `specedit replay` prints.

Knows cases and a tokenizer. The passes are chosen for the curve they are priced on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from specedit.bench.cases import Case, records, texts
from specedit.decode.cost import Curve
from specedit.decode.replay import Replay, replay
from specedit.errors import UsageError

CURVES = ("70+6w", "70+1w", "35+15w")  # int8 on two cores, a GPU's shape, llama.cpp's


@dataclass(frozen=True)
class Priced:
    """Many replays on one curve, in seconds."""

    curve: str
    cases: int
    seconds: float
    bound: float
    plain: float
    worst: float  # the largest share of its own plain decoding
    worst_id: str
    tokens: int
    passes: int
    proposed: int
    accepted: int


def curve(name: str) -> Curve:
    """`70+6w`: a pass of width w takes 70 + 6 w milliseconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\+(\d+(?:\.\d+)?)w", name)
    if found is None:
        raise UsageError(f"{name!r} is no cost curve", hint="Say A+Bw in milliseconds: 70+6w.")
    once, each = float(found[1]) / 1000, float(found[2]) / 1000
    if once + each <= 0:
        raise UsageError(
            f"{name!r}: a pass takes some time", hint="Say A+Bw in milliseconds: 70+6w."
        )
    return Curve.line(once, each)


def read(path: Path, limit: int = 0) -> list[Case]:
    """The cases of a file of JSON lines: `before` and `after`, maybe `id` and `instruction`."""
    cases: list[Case] = []
    for where, found in islice(records(path), limit or None):
        texts(found, where, "before", "after")
        cases.append(
            Case(
                id=str(found.get("id", where.rpartition(":")[2])),
                filename=str(found.get("filename") or ""),
                instruction=str(found.get("instruction") or ""),
                before=found["before"],
                after=found["after"],
            )
        )
    return cases


def replays(
    cases: Iterable[Case], tokenizer: Any, end: int, names: Sequence[str], on: Curve
) -> Iterator[tuple[Case, Replay]]:
    """Each case, played."""
    for case in cases:
        played = replay(
            tokenizer.encode(case.before),
            tokenizer.encode(case.after or ""),
            end,
            codec=tokenizer,
            instruction=tokenizer.encode(case.instruction),
            names=names,
            curve=on,
        )
        yield case, played


def priced(name: str, played: Sequence[tuple[Case, Replay]]) -> Priced:
    """The sums of many replays on the curve called `name`."""
    on = curve(name)
    shares = [(one.seconds(on) / one.plain(on), case.id) for case, one in played]
    worst, worst_id = max(shares, default=(0.0, ""))
    return Priced(
        curve=name,
        cases=len(played),
        seconds=sum(one.seconds(on) for _, one in played),
        bound=sum(one.bound(on) for _, one in played),
        plain=sum(one.plain(on) for _, one in played),
        worst=worst,
        worst_id=worst_id,
        tokens=sum(one.tokens for _, one in played),
        passes=sum(len(one.passes) for _, one in played),
        proposed=sum(proposed for _, one in played for proposed, _ in one.passes),
        accepted=sum(accepted for _, one in played for _, accepted in one.passes),
    )


def line(case: Case, one: Replay, on: Curve) -> dict[str, Any]:
    """The contract's object for one case; `bound` in milliseconds."""
    return {
        "id": case.id,
        "tokens": one.tokens,
        "passes": [list(counts) for counts in one.passes],
        "bound": round(1000 * one.bound(on), 3),
        "copied": one.copied,
        "blocks": one.blocks,
    }


def table(rows: Sequence[Priced]) -> str:
    """For people: cost against the bound and against plain decoding, on each curve."""
    lines = [
        f"{'pass, ms':>9} {'cases':>6} {'tokens':>8} {'passes':>7} {'accepted':>9} "
        f"{'cost, s':>9} {'/bound':>7} {'/plain':>7} {'worst':>6}"
    ]
    for row in rows:
        share = row.accepted / row.proposed if row.proposed else 0.0
        lines.append(
            f"{row.curve:>9} {row.cases:>6} {row.tokens:>8} {row.passes:>7} {share:>9.1%} "
            f"{row.seconds:>9.1f} {row.seconds / row.bound:>7.3f} "
            f"{row.seconds / row.plain:>7.3f} {row.worst:>6.3f}"
        )
    return "\n".join(lines)
