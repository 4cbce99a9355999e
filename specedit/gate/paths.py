"""Ways through new code that a person may not have seen: a function that can end without the value
that it always gave, a loop without an end, a local that may not be set where it is read.

Each language knows its own statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.syntax.branch import Branch


def hits(change: Change) -> Iterator[Hit]:
    outlook = outlook_of(change.after.language.name)
    if outlook is None or not change.before.text.strip():
        return
    known = Counter(why for _, why in outlook.traps(change.before))
    for node, why in outlook.traps(change.after):
        if known[why]:
            known[why] -= 1
            continue
        yield Hit("paths", node.line, why)
    whole = _alone(change.before)
    for name, (node, always) in _alone(change.after).items():
        if name in whole and whole[name][1] and not always:
            said = f"`{name}` gave a value on every way, and now it can end without one"
            yield Hit("paths", node.line, said)


def _alone(facts: Facts) -> dict[str, tuple[Branch, bool]]:
    """Functions that return values, those left out that share a name."""
    outlook = outlook_of(facts.language.name)
    found: dict[str, tuple[Branch, bool]] = {}
    twice = set[str]()
    for name, node, always in outlook.returning(facts) if outlook is not None else ():
        twice |= {name} & found.keys()
        found[name] = node, always
    return {name: one for name, one in found.items() if name not in twice}
