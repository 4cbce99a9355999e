"""What a run of `specedit bench` has found so far, and what is said beside the measurements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from specedit.bench import table
from specedit.bench.cost import Usage
from specedit.bench.results import Results, cost_json
from specedit.bench.side import Note, PeerLine
from specedit.settings import Settings


@dataclass
class Found:
    """What a run has to show: the JSON, the parts of the table, one line for a person."""

    json: dict[str, Any] = field(default_factory=dict)
    parts: list[Any] = field(default_factory=list)
    line: str = ""
    notes: list[str] = field(default_factory=list)


def heard(item: PeerLine | Note, results: Results, found: Found) -> None:
    """What is said beside the measurements."""
    if isinstance(item, PeerLine):
        results.peers.append(item)
    else:
        found.notes.append(item.text)


def cost(
    pairs: list[tuple[Usage, Usage]], settings: Settings, results: Results, found: Found
) -> None:
    results.cost = cost_json(pairs, settings)
    found.parts.append(table.cost_line(results.cost))
