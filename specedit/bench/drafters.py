"""Drafters side by side, as peers of their own: the same answers on one loaded model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specedit.bench.cases import Case
from specedit.bench.generated import generated
from specedit.bench.peers import OWN_MODULE, PLAIN, PeerName
from specedit.bench.peers.task import TEXT
from specedit.bench.speed import SpeedRow
from specedit.decode.drafters import AUTO, FREE_NAMES, HEADS_NAMES, MODEL_NAMES

LIMIT = 200  # tokens of an answer, unless the user says another number
WAYS = (*FREE_NAMES, ",".join(FREE_NAMES), *MODEL_NAMES, *HEADS_NAMES, AUTO)
NAMES = [PeerName("none", OWN_MODULE, PLAIN), *(PeerName(way, OWN_MODULE, way) for way in WAYS)]
TEXTS = (
    "Write a Python function that merges overlapping intervals, with type hints and a docstring.",
    "Write a Python class for a least recently used cache with get and put in constant time.",
    "Write a Python function that finds the shortest path through a grid with walls.",
)


def built_in() -> list[Case]:
    """New text, and renames in whole files."""
    texts = [Case(f"text-{n}", "new.py", text, "", kind=TEXT) for n, text in enumerate(TEXTS)]
    return [*texts, *generated(("rename",), (50, 200))]


def summed(rows: Sequence[SpeedRow]) -> list[dict[str, Any]]:
    """An object for each kind of case and drafter; times compare the cases that both wrote."""
    results = []
    for kind in dict.fromkeys(row.case.kind for row in rows):
        for name in NAMES:
            both = [
                (row.of(NAMES[0].name), row.of(name.name)) for row in rows if row.case.kind == kind
            ]
            pairs = [(plain, own) for plain, own in both if plain and own]
            seconds = sum(own.seconds("decode_s") for _, own in pairs)
            tokens = sum(own.tokens for _, own in pairs)
            if not pairs:
                continue
            results.append(
                {
                    "workload": kind,
                    "drafter": name.name,
                    "cases": len(pairs),
                    "tokens": tokens,
                    "tokens_per_pass": round(tokens / sum(o.runs[-1].passes for _, o in pairs), 3),
                    "ms_per_token": round(1000 * seconds / tokens, 2),
                    "times_plain": round(sum(p.seconds("decode_s") for p, _ in pairs) / seconds, 3)
                    if seconds
                    else None,
                    "same_as_plain": all(p.runs[-1].tokens == o.runs[-1].tokens for p, o in pairs),
                }
            )
    return results
