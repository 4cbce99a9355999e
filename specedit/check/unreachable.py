"""New code that can never run: it stands behind a return, a raise, a break or a continue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specedit.check.finding import Finding, at
from specedit.check.language_tables import language_facts
from specedit.check.parsed import Change, ParsedText
from specedit.syntax.branch import Branch


def unreachable_code(change: Change) -> Iterator[Finding]:
    """One for each block that ends too early, unless the block before did so, too."""
    known = Counter(change.before.text_of(node) for node, _ in _unreachable(change.before))
    for node, ending in _unreachable(change.after):
        text = change.after.text_of(node)
        if known[text]:
            known[text] -= 1
            continue
        first = text.split("\n", 1)[0][:60]
        yield at("unreachable", node.line, f"`{first}` never runs: `{ending}` stands before it")


def _unreachable(parsed: ParsedText) -> Iterator[tuple[Branch, str]]:
    """The first statement behind one that ends its block, and the first word of that one."""
    language = language_facts(parsed.language.name)
    if language is None:
        return
    for block in parsed.root.walk():
        if block.type not in language.blocks:
            continue
        ended_by = ""
        for child in block.named_children():
            if "comment" in child.type:
                continue
            if ended_by and child.type not in language.hoisted:
                if any(one.type == "yield" for one in child.walk()):
                    break  # it makes a function without a value a generator
                yield child, ended_by
                break
            inner = child.named_children()
            if language.ends & {child.type, f"{child.type}>{inner[0].type if inner else ''}"}:
                ended_by = parsed.text_of(child).split(None, 1)[0].rstrip(";")
