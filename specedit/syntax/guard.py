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
from specedit.syntax.losses import lost
from specedit.syntax.placeholder import placeholders
from specedit.text.diff import hunks

NAMED = 8  # definitions that a message names
LOST = 10  # places that do not parse, and the grammar does not know what the file is made of


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
    if not allow_extra and not any(
        one.refuses for one in worse
    ):  # what does not parse hides its definitions
        problems += _lost(before, after, language, instruction)
    return problems


def _empty(after: str, instruction: str) -> Iterator[Problem]:
    if not after.strip() and not re.search(r"(?i)\b(empty|delete|remove|clear)\b", instruction):
        yield Problem("empty", "the new text is empty")


def _syntax(before: str, after: str, language: Language) -> Iterator[Problem]:
    old, new = syntax.errors(before, language) or [], syntax.errors(after, language) or []
    if len(new) <= len(old):
        return
    if len(old) >= LOST and len(new) <= len(old) * 1.15:
        said = f"syntax not checked: {len(old)} places of the file before do not parse either"
        yield Problem("not-checked", said, refuses=False)
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
    if names := lost(before, after, old, new, instruction):
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        said = f"lost definitions the instruction does not take away: {', '.join(names[:NAMED])}"
        yield Problem("lost-definition", said + more)
