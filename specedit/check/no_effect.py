"""Answers that do nothing: comments alone changed, or lines differ in white space only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from specedit.check.finding import NOTHING, Finding, at
from specedit.check.parsed import Change, ParsedText
from specedit.syntax.branch import COMMENTS
from specedit.syntax.lines import changed_runs, opcodes

LEAST = 5  # lines; many right edits tidy fewer beside what they do
ABOUT_COMMENTS = re.compile(
    r"(?i)\bcomment|\bdoc(?:s\b|string|ument)|javadoc|jsdoc|translat|\btodo\b"
    r"|typo|spell|grammar|wording|word|summary|remark|capitali|licen[cs]e|copyright|header"
    r"|explain|describ|clarif|mention|note|english|proofread"
)
ABOUT_SPACE = re.compile(
    r"(?i)format|indent|white\s?space|blank|empty line|style|\bpep\b|pep-?8|lint|\btabs?\b"
    r"|\bspaces?\b|newline|prettier|\bblack\b|gofmt|rustfmt|align|trailing|tidy|clean|wrap"
)
_PROSE = frozenset({"html", "yaml", "toml", "css"})


def comments_only(change: Change) -> Iterator[Finding]:
    """One at the first changed line, where comments changed and the instruction is about code."""
    if change.before.language.name in _PROSE or ABOUT_COMMENTS.search(change.instruction):
        return
    if bare([change.before.text]) == bare([change.after.text]):
        return
    if _code(change.before) == _code(change.after):
        old, new = change.before.text.split("\n"), change.after.text.split("\n")
        first = next(code for code in opcodes(old, new) if code[0] != "equal")
        yield at(NOTHING, min(first[3] + 1, len(new)), "nothing but comments changed")


def whitespace_changes(change: Change) -> Iterator[Finding]:
    """One at the first line, where white space alone changed, or more of it than anything else.
    (A line or two beside a change were in 7 of 130 real commits.)"""
    if ABOUT_SPACE.search(change.instruction):
        return
    old, new = change.before.text.split("\n"), change.after.text.split("\n")
    space_only = changed = at_end = first_line = 0
    for a, b, c, d in changed_runs(old, new):
        if bare(old[a:b]) != bare(new[c:d]):
            changed += max(b - a, d - c)
        elif b == len(old) and not bare(old[a:b]):
            at_end = max(b - a, d - c)  # blank lines at the end come and go unseen
        else:
            space_only += max(b - a, d - c)
            first_line = first_line or c + 1
    if not changed and at_end:
        space_only, first_line = space_only + at_end, first_line or len(new)
    if space_only >= (max(LEAST, changed + 1) if changed else 1):
        lines = "1 line" if space_only == 1 else f"{space_only} lines"
        text = f"{lines} changed in white space only"
        yield at("whitespace", first_line, text if changed else f"nothing but white space: {text}")


def bare(lines: Sequence[str]) -> str:
    """The lines without white space."""
    return "".join("".join(line.split()) for line in lines)


def _code(parsed: ParsedText) -> list[str]:
    """Everything outside comments, piece by piece; of a string also what lies between its
    escapes, which is not a node."""
    pieces = []
    for node in parsed.root.walk():
        if node.type in COMMENTS:
            continue
        start = node.start
        for child in (*node.children, None):
            end = child.start if child else node.end
            piece = parsed.data[start:end]
            if piece.strip():
                pieces.append(piece.decode("utf-8", "replace"))
            start = child.end if child else end
    return pieces
