"""New code that can never run: it stands behind a return, a raise, a break or a continue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.syntax.branch import Branch


def hits(change: Change) -> Iterator[Hit]:
    """One for each block that ends too early, unless the block before did so, too."""
    known = Counter(change.before.said(node) for node, _ in _dead(change.before))
    for node, ending in _dead(change.after):
        said = change.after.said(node)
        if known[said]:
            known[said] -= 1
            continue
        first = said.split("\n", 1)[0][:60]
        yield Hit("unreachable", node.line, f"`{first}` never runs: `{ending}` stands before it")


def _dead(facts: Facts) -> Iterator[tuple[Branch, str]]:
    """The first statement behind one that ends its block, and how that one begins."""
    outlook = outlook_of(facts.language.name)
    if outlook is None:
        return
    for block in facts.root.walk():
        if block.type not in outlook.blocks:
            continue
        ended = ""
        for child in block.named_children():
            if "comment" in child.type:
                continue
            if ended and child.type not in outlook.hoisted:
                if any(one.type == "yield" for one in child.walk()):
                    break  # it makes a generator of a function that gives nothing
                yield child, ended
                break
            inner = child.named_children()
            if outlook.ends & {child.type, f"{child.type}>{inner[0].type if inner else ''}"}:
                ended = facts.said(child).split(None, 1)[0].rstrip(";")
