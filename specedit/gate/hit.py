"""One thing that a check has found, before anybody says what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass

from specedit.gate.facts import Facts


@dataclass(frozen=True)
class Hit:
    """A kind of `kinds`, a line of the new text (from 1), and one sentence."""

    kind: str
    line: int
    text: str


@dataclass(frozen=True)
class Change:
    """What a check looks at: the text before, the text after, and what was asked for."""

    before: Facts
    after: Facts
    instruction: str
