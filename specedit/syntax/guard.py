"""What an edit may touch: the checks a new text passes before it becomes a file.

Knows the text before and after, and the instruction. A `Problem` that refuses stops the file from
being written; one that does not is said in the report, so that "not checked" is never silence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from specedit.syntax import trees as syntax
from specedit.syntax.languages import Language
from specedit.syntax.placeholder import placeholders
from specedit.text.diff import hunks

MEMBERS_LOST = 3  # members gone without a word; fewer is what many honest edits do
CLEARS = re.compile(  # "remove unused methods" names nothing and means several
    r"(?i)\b(?:remov|delet|drop|strip|clean|prun)\w*\b.*\b(?:unused|obsolete|dead|deprecated|redundant"
    r"|unnecessary|unreachable|all|every|duplicate\w*|legacy|old)\b"
)


@dataclass(frozen=True)
class Problem:
    """Something a person must know about an edit. `refuses`: the text must not be written."""

    kind: str  # "syntax" | "placeholder" | "lost-definition" | "empty" | "not-checked"
    message: str
    line: int | None = None  # of the new text
    refuses: bool = True

    def __str__(self) -> str:
        return self.message


def check(
    before: str,
    after: str,
    language: Language | None,
    instruction: str = "",
    allow_extra: bool = False,
) -> list[Problem]:
    """Everything wrong with `after` as an edit of `before`; empty when it may be written."""
    if before == after:
        return []
    problems = [*_empty(after, instruction), *_placeholders(before, after)]
    if language is None or not language.grammar:
        named = f"no grammar for {language.name}" if language else "the language is unknown"
        problems.append(Problem("not-checked", f"syntax not checked: {named}", refuses=False))
        return problems
    worse = list(_syntax(before, after, language))
    problems += worse
    if not allow_extra and not worse:  # what does not parse hides its definitions
        problems += _lost(before, after, language, instruction)
    return problems


def _empty(after: str, instruction: str) -> Iterator[Problem]:
    if not after.strip() and not re.search(r"(?i)\b(empty|delete|remove|clear)\b", instruction):
        yield Problem("empty", "the new text is empty")


def _syntax(before: str, after: str, language: Language) -> Iterator[Problem]:
    old, new = syntax.errors(before, language) or [], syntax.errors(after, language) or []
    if len(new) <= len(old):
        return
    known = Counter(fault.what for fault in old)
    fresh = []
    for fault in new:
        if known[fault.what] > 0:
            known[fault.what] -= 1
        else:
            fresh.append(fault)
    first = (fresh or new)[0]
    changed = [hunk.after[0] + 1 for hunk in hunks(before, after)]
    line = next((at for at in changed if first.line <= at <= first.last_line), first.line)
    said = first.what if line == first.line else f"unexpected `{_line(after, line)}`"
    many = "error" if len(new) == 1 else "errors"
    yield Problem(
        "syntax",
        f"line {line}: does not parse as {language.name}: {said} "
        f"({len(new)} syntax {many}, {len(old)} before)",
        line,
    )


def _line(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[min(number, len(lines)) - 1].strip()[:40]


def _placeholders(before: str, after: str) -> Iterator[Problem]:
    for number, line in placeholders(before, after):
        yield Problem("placeholder", f"line {number}: a placeholder: {line[:80]}", number)


def _lost(before: str, after: str, language: Language, instruction: str) -> Iterator[Problem]:
    old, new = syntax.symbols(before, language), syntax.symbols(after, language)
    left = {symbol.name for symbol in new}
    if CLEARS.search(instruction):
        return
    said = _plain(instruction)
    gone = [s for s in old if s.name not in left and not _mentioned(s.name, said)]
    top = [symbol.name for symbol in gone if symbol.depth == 0]
    if top and not _replaced(old, new, top):
        yield _loss(top)
        return
    members = [symbol.qualified for symbol in gone if symbol.depth > 0]
    fewer = len(old) - len(new)
    if len(members) >= MEMBERS_LOST and fewer >= MEMBERS_LOST:
        yield _loss(members)


def _loss(names: list[str]) -> Problem:
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return Problem("lost-definition", f"lost definitions the instruction does not mention: {shown}")


def _replaced(old: list[syntax.Symbol], new: list[syntax.Symbol], lost: list[str]) -> bool:
    """One definition gone and one come in its place is a rename, not a loss."""
    names = {symbol.name for symbol in old}
    come = [symbol for symbol in new if symbol.depth == 0 and symbol.name not in names]
    return len(lost) == 1 and len(come) >= 1


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _mentioned(name: str, said: str) -> bool:
    """`user_name` is mentioned by "the user name", in any case and spelling."""
    plain = _plain(name)
    return bool(plain) and plain in said
