"""Comments and doc strings that an edit lost, while the code they stand at is still there.

One that was reworded is not lost, nor one that went with its code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.scoping.languages import rules_of
from specedit.syntax.passages import passages

ASKED = re.compile(r"(?i)\bcomment|\bdoc(?:s\b|string|umentation)|javadoc|jsdoc|translat|\btodo\b")
DONE = re.compile(  # what is lost rightly: tasks, orders to tools, code that was switched off
    r"(?i)^\W*(?:todo|fixme|xxx|hack|noqa|type:|pragma|pylint|eslint|nolint|@ts-|region\b)"
    r"|[;{}]\s*$|^\W*\w+\([^)]*\)\W*$|^\W*(?:[\w.]+ = |return\b|import\b|if\b.*:$|for\b.*:$)"
)
_HEAD = re.compile(r"\s*(?:async\s+)?(def|class)\s+(\w+)")


@dataclass(frozen=True)
class Comment:
    """What a comment says, its line, and the code that it stands at."""

    text: str
    line: int
    anchor: str


def hits(change: Change) -> Iterator[Hit]:
    if ASKED.search(change.instruction):
        return
    old, new = list(comments(change.before)), list(comments(change.after))
    left = Counter(one.text for one in new)
    explained = Counter(one.anchor for one in new)
    explained.subtract(Counter(one.anchor for one in old if left[one.text]))
    lines = {line: number for number, line in enumerate(_anchors(change.after.text), 1)}
    for one in old:
        if left[one.text]:
            left[one.text] -= 1
        elif one.anchor in lines and not DONE.search(one.text):
            if explained[one.anchor] > 0:
                explained[one.anchor] -= 1
                continue
            shown = one.text if len(one.text) <= 60 else one.text[:60] + "…"
            yield Hit("comments", lines[one.anchor], f"the comment `{shown}` is lost")


def comments(facts: Facts) -> Iterator[Comment]:
    """Comments, neighbouring lines of them as one."""
    rules = rules_of(facts.language.name)
    strings = rules.strings if rules else frozenset[str]()
    opaque = rules.opaque if rules else frozenset[str]()
    lines = facts.text.split("\n")
    anchors = _anchors(facts.text)
    covered: dict[int, str] = {}  # line: what it says beside its comment
    texts: dict[int, str] = {}
    kinds: dict[int, str] = {}  # last line of a comment: the sign that it begins with
    heads: dict[int, int] = {}  # line of a comment: the first line of those that belong together
    for part in passages(facts.root, facts.data, strings, opaque):
        if part.kind != "comment":
            continue
        first = facts.data.count(b"\n", 0, part.start)
        last = facts.data.count(b"\n", 0, part.end)
        start = facts.data.rfind(b"\n", 0, part.start) + 1
        covered[first] = facts.data[start : part.start].decode("utf-8", "replace").strip()
        covered |= dict.fromkeys(range(first + 1, last + 1), "")
        said = facts.data[part.start : part.end].decode("utf-8", "replace")
        bare = " ".join(re.sub(r"[\s/*#\"'!<>-]+", " ", said).split())
        joins = not covered[first] and said.lstrip()[:1] == kinds.get(first - 1)
        above = heads.get(first - 1) if joins else None
        kinds[last] = said.lstrip()[:1]
        heads |= dict.fromkeys(range(first, last + 1), first if above is None else above)
        texts[heads[first]] = f"{texts.get(heads[first], '')} {bare}".strip()
    for number, text in texts.items():
        if not text:
            continue
        yield Comment(text, number + 1, _anchor(number, lines, anchors, covered))


def _anchor(number: int, lines: list[str], anchors: list[str], covered: dict[int, str]) -> str:
    """The code on the line of a comment, or else below it; of a doc string, what is above it."""
    if covered[number]:
        return covered[number]
    above = next((n for n in range(number - 1, -1, -1) if lines[n].strip()), None)
    if above is not None and lines[number].lstrip()[:1] in "\"'rRuU" and above not in covered:
        return anchors[above]
    for below in range(number, len(lines)):
        if below in covered and not covered[below]:
            continue
        if lines[below].strip():
            return anchors[below]
    return ""


def _anchors(text: str) -> list[str]:
    """Each line as what a comment stands at: a definition is known by its name."""
    found = []
    for line in text.split("\n"):
        head = _HEAD.match(line)
        found.append(f"{head[1]} {head[2]}" if head else line.strip())
    return found
