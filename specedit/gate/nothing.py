"""An answer that changes comments and no code, where the instruction was not about comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.comments import ASKED
from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.syntax.passages import COMMENTS
from specedit.text.lines import opcodes

WORDS = re.compile(
    r"(?i)typo|spell|grammar|wording|word|summary|remark|capitali|licen[cs]e|copyright|header"
    r"|explain|describ|clarif|mention|note|english|proofread"
)


def hits(change: Change) -> Iterator[Hit]:
    if change.before.language.name in _PROSE or ASKED.search(change.instruction):
        return
    if WORDS.search(change.instruction):
        return
    if _code(change.before) == _code(change.after) and _bare(change.before) != _bare(change.after):
        old, new = change.before.text.split("\n"), change.after.text.split("\n")
        first = next(code for code in opcodes(old, new) if code[0] != "equal")
        yield Hit("nothing", min(first[3] + 1, len(new)), "nothing but comments changed")


_PROSE = frozenset({"html", "yaml", "toml", "css"})


def _bare(facts: Facts) -> str:
    return "".join(facts.text.split())


def _code(facts: Facts) -> list[str]:
    """Everything that is no comment, piece by piece."""
    return [
        facts.said(node)
        for node in facts.root.walk()
        if not node.children and node.type not in COMMENTS and node.end > node.start
    ]
