"""An answer that does nothing: it changes comments and no code, where the instruction was not about
comments, or writes the same code in another way, where it was not about how code is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.comments import ASKED
from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.syntax.passages import COMMENTS
from specedit.text.lines import opcodes

WORDS = re.compile(
    r"(?i)typo|spell|grammar|wording|word|summary|remark|capitali|licen[cs]e|copyright|header"
    r"|explain|describ|clarif|mention|note|english|proofread"
)


WRITING = re.compile(  # instructions that are about how code is written, and not what it does
    r"(?i)\b(?:renam|name|naming|styl|format|simplif|refactor|clean|tid(?:y|ied)|readab|pythonic|idiom"
    r"|literal|typ(?:e|ing)|annotat|hint|lint|modern|quot|consisten|replac|use\b|using|prefer|short"
    r"|rewrit|restructur|convert|f-string|camel|snake|conventions?|pep|warn|mypy|optimi|constructor)"
)


def hits(change: Change) -> Iterator[Hit]:
    about_comments = ASKED.search(change.instruction) or WORDS.search(change.instruction)
    if change.before.language.name in _PROSE or about_comments:
        return
    if _bare(change.before) == _bare(change.after):
        return
    if _code(change.before) == _code(change.after):
        yield Hit("nothing", _first(change), "nothing but comments changed")
    elif _is_same(change):
        said = "the code is written in another way, and does what it did"
        yield Hit("nothing", _first(change), said)


def _is_same(change: Change) -> bool:
    outlook = outlook_of(change.after.language.name)
    if outlook is None or not change.instruction.strip() or WRITING.search(change.instruction):
        return False
    before = outlook.form(change.before.text)
    return before is not None and before == outlook.form(change.after.text)


def _first(change: Change) -> int:
    """The first line that is another one."""
    old, new = change.before.text.split("\n"), change.after.text.split("\n")
    first = next(code for code in opcodes(old, new) if code[0] != "equal")
    return min(first[3] + 1, len(new))


_PROSE = frozenset({"html", "yaml", "toml", "css"})


def _bare(facts: Facts) -> str:
    return "".join(facts.text.split())


def _code(facts: Facts) -> list[str]:
    """Everything that is no comment, piece by piece; of a string also what lies between its
    escapes, which is no node."""
    pieces = []
    for node in facts.root.walk():
        if node.type in COMMENTS:
            continue
        at = node.start
        for child in (*node.children, None):
            end = child.start if child else node.end
            piece = facts.data[at:end]
            if piece.strip():
                pieces.append(piece.decode("utf-8", "replace"))
            at = child.end if child else end
    return pieces
