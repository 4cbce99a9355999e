"""Generated edits of Python files: five kinds, any length, the same on every machine.

A file is a header and many small functions of one form, filled from word lists by arithmetic.
`after` is exactly what the instruction asks for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from specedit.bench.cases import Case
from specedit.errors import UsageError

KINDS = ("copy", "line", "rename", "half", "new")
VERBS = ("load", "sort", "find", "merge", "split", "count", "check", "reset", "group", "parse")
NOUNS = ("user", "order", "page", "line", "task", "note", "file", "city", "team", "game", "song")
FIELDS = ("size", "price", "age", "score", "weight", "depth")
OLD, NEW = "scale", "factor"
HEAD = f'"""Totals of things."""\n\n{OLD} = 4\n\n\n'
BODY = """\
def {name}(items):
    total = {start} * {scale}
    for item in items:
        if item.{field} > {limit}:
            continue
        total += item.{field}
    return total // {scale}


"""
REWRITTEN = """\
def {name}(items):
    small = [i.{field} for i in items if i.{field} <= {limit}]
    return ({start} * {scale} + sum(small)) // {scale}


"""


@dataclass(frozen=True)
class _Function:
    """One function of a file."""

    number: int
    start: int
    scale: str
    rewritten: bool = False

    @property
    def name(self) -> str:
        verb = VERBS[self.number % len(VERBS)]
        noun = NOUNS[self.number // len(VERBS) % len(NOUNS)]
        again = self.number // (len(VERBS) * len(NOUNS))
        return f"{verb}_{noun}{again + 1}" if again else f"{verb}_{noun}"

    @property
    def text(self) -> str:
        return (REWRITTEN if self.rewritten else BODY).format(
            name=self.name,
            field=FIELDS[self.number % len(FIELDS)],
            start=self.start,
            scale=self.scale,
            limit=self.number * 13 % 70 + 20,
        )


def generated(kinds: Iterable[str], lines: Iterable[int]) -> list[Case]:
    """An edit of each kind in a file of each length."""
    kinds = list(kinds)
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"No edits of kind {kind!r}.", hint=f"Known: {', '.join(KINDS)}")
    return [_case(kind, count) for count in lines for kind in kinds]


def _case(kind: str, lines: int) -> Case:
    count = max(2, (lines - HEAD.count("\n")) // BODY.count("\n"))
    places = min(count, 5)  # functions that use the header's name twice
    spread = {(2 * n + 1) * count // (2 * places) for n in range(places)}
    functions = [
        _Function(n, n * 37 % 90 + 5, OLD if n in spread else str(n * 7 % 9 + 2))
        for n in range(count)
    ]
    before = _text(functions)
    padding = "".join(f"# row {n + 1}\n" for n in range(lines - before.count("\n")))
    changed, instruction = _change(kind, functions)
    after = _text(changed)
    if kind == "rename":
        after = after.replace(OLD, NEW)
    return Case(
        id=f"{kind}-{lines}",
        filename="totals.py",
        instruction=instruction,
        before=before + padding,
        after=after + ("" if kind == "new" else padding),
        kind=kind,
    )


def _change(kind: str, functions: list[_Function]) -> tuple[list[_Function], str]:
    """The functions after an edit of this kind, and its instruction."""
    if kind == "line":
        at = len(functions) // 2
        one = replace(functions[at], start=functions[at].start + 1000)
        changed = [*functions[:at], one, *functions[at + 1 :]]
        return changed, f"In {one.name}, let the total start at {one.start}."
    if kind == "half":
        changed = [replace(f, rewritten=f.number % 2 == 1) for f in functions]
        return changed, "Rewrite every second function as a single expression."
    if kind == "new":
        count = len(functions)
        changed = [_Function(f.number + count, f.start + 100, "6", True) for f in functions]
        return changed, "Replace all functions by other ones, each a single expression."
    if kind == "rename":
        return functions, f"Rename {OLD} to {NEW}, everywhere."
    return functions, "Change nothing: reply with the file exactly as it is."


def _text(functions: list[_Function]) -> str:
    return HEAD + "".join(function.text for function in functions)


def share_changed(before: str, after: str) -> float:
    """The share of the file that changed: lines replaced, added or removed, of the longer text."""
    old, new = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    longer = max(len(old), len(new))
    return 1 - sum(block.size for block in blocks) / longer if longer else 0.0
