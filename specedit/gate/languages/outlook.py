"""One language as the gate sees it: tables of node types and words, and hooks beside them."""

from __future__ import annotations

from dataclasses import dataclass

from specedit.gate.facts import Facts
from specedit.syntax.branch import Branch

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Outlook:
    """One language; what is left out, the gate has nothing to say of."""

    given: frozenset[str] = NONE  # names that are there without anybody declaring them
    blocks: frozenset[str] = NONE  # lists of statements
    ends: frozenset[str] = NONE  # statements that the next one of their block never follows
    hoisted: frozenset[str] = NONE  # what may stand behind one: declarations

    def tells(self, facts: Facts) -> bool:
        """Whether this file says where its names come from: no star import, no template."""
        return False

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        """Whether a free name at this place can come from nowhere else."""
        return True
