"""Imports that nothing uses: those that the edit added, or whose last use it took away.

A name counts as used where it stands as a word anywhere outside of imports, strings included.
What is missing now is an undefined name, and found as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.scoping.scope import Declared


def hits(change: Change) -> Iterator[Hit]:
    idle = unused(change.before)
    had = {one.name for one in imported(change.before)}
    for name, one in unused(change.after).items():
        if name not in idle:
            said = "is no longer used" if name in had else "is never used"
            yield Hit("imports", one.leaf.line, f"`{name}` is imported and {said}")


def imported(facts: Facts) -> Iterator[Declared]:
    if facts.typing is not None:
        yield from (o for o in facts.typing.scopes.by_leaf.values() if o.kind == "import")


def unused(facts: Facts) -> dict[str, Declared]:
    """Imports whose name stands nowhere else."""
    outlook = outlook_of(facts.language.name)
    if outlook is None or not outlook.imports:
        return {}
    found = {one.name: one for one in imported(facts) if outlook.is_used_by_name(facts, one)}
    if not found:
        return {}
    rest, at = [], 0
    for node in facts.root.walk():
        if node.type in outlook.imports and node.start >= at:
            rest.append(facts.data[at : node.start])
            at = node.end
    rest.append(facts.data[at:])
    words = set(re.findall(r"[\w$]+", b" ".join(rest).decode("utf-8", "replace")))
    return {name: one for name, one in found.items() if name not in words}
