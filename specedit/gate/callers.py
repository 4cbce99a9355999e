"""Parameters that callers elsewhere do not give: a definition needs more than it did.

Only of what others can call, and what no call of the file shows to be meant so.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.calls import calls
from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.gate.signature import Signature
from specedit.scoping.scope import FUNCTIONS, Declared


def hits(change: Change) -> Iterator[Hit]:
    called = {one.name for one in calls(change.after)}
    for one, needed in demanding(change):
        if one.name not in called and not one.name.startswith("_"):
            said = f"`{one.name}` needs `{needed}` now: callers that do not give it fail"
            yield Hit("callers", one.leaf.line, said)


def demanding(change: Change) -> Iterator[tuple[Declared, str]]:
    """Definitions that need more than they did, and a parameter that is new and has no default."""
    old = _taken(change.before)
    for key, (one, now) in _taken(change.after).items():
        if key not in old:
            continue
        before = old[key][1]
        fresh = sorted(now.needed - before.needed - before.names)
        if fresh and len(now.needed) > len(before.needed):
            yield one, fresh[0]


def _taken(facts: Facts) -> dict[tuple[str, str], tuple[Declared, Signature]]:
    """What each definition takes that stands alone under its name."""
    outlook = outlook_of(facts.language.name)
    if outlook is None or facts.typing is None:
        return {}
    found = {}
    for name, together in facts.by_name.items():
        defined = [one for one in together if one.kind in FUNCTIONS]
        if len(defined) == 1 and (taken := outlook.takes(facts, defined[0])) is not None:
            owner = defined[0].owner
            found[owner.name if owner else "", name] = defined[0], taken
    return found
