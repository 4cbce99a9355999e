"""Texts whose places do not fit what is put into them. How each language does that, it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of


def hits(change: Change) -> Iterator[Hit]:
    outlook = outlook_of(change.after.language.name)
    if outlook is None:
        return
    known = Counter(change.before.said(node) for node, _ in outlook.formats(change.before))
    for node, why in outlook.formats(change.after):
        said = change.after.said(node)
        if known[said]:
            known[said] -= 1
            continue
        line = " ".join(said.split())
        shown = line if len(line) <= 60 else line[:60] + "…"
        yield Hit("format", node.line, f"`{shown}`: the text {why}")
