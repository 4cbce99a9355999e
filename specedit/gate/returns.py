"""What a definition gives back against what it says it gives back. Each language knows how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of


def hits(change: Change) -> Iterator[Hit]:
    outlook = outlook_of(change.after.language.name)
    if outlook is None:
        return
    known = Counter(why for _, why in outlook.contradictions(change.before))
    for node, why in outlook.contradictions(change.after):
        if known[why]:
            known[why] -= 1
            continue
        yield Hit("returns", node.line, why)
