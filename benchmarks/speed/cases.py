"""Cases to measure on: a file's text before, the instruction, and the wanted text.

A case is one line of JSON. Its text is in `before`, or in the file that `path` names. Or it is
generated, the same on every machine: a header and many small functions of one form, filled from
word lists by arithmetic, and five kinds of edits whose `after` is exactly what the instruction asks
for.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specedit.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class Case:
    """One edit. `after` is the wanted text, where it is known; `tests` are a program's tests."""

    id: str
    filename: str
    instruction: str
    before: str
    after: str | None = None
    tests: str | None = None
    context: str = ""  # the file around the text while its tests run; `{{Code}}` marks the place
    kind: str = "case"

    @property
    def lines(self) -> int:
        return len(self.before.splitlines())


def records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each JSON object of a file of JSON lines, behind its place (`FILE:LINE`)."""
    empty = True
    for number, line in enumerate(_text(path, str(path)).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record: Any = json.loads(line)
        except ValueError as problem:
            raise InputError(f"{where}: not JSON: {problem}") from None
        if not isinstance(record, dict):
            raise InputError(f"{where}: a case is a JSON object")
        empty = False
        yield where, record
    if empty:
        raise InputError(f"{path} holds no case", hint="One JSON object a line.")


def require_texts(record: dict[str, Any], where: str, *names: str) -> None:
    """Refuse a record that lacks one of these texts."""
    for name in names:
        if not isinstance(record.get(name), str):
            raise InputError(f"{where}: a case has a text `{name}`")


def read_cases(path: Path, *required: str, first: int = 0) -> list[Case]:
    """The cases of a file in order, at most `first` of them. `before` is always required."""
    cases = []
    for where, record in records(path):
        cases.append(_case(record, path.parent, where, required))
        if len(cases) == first:
            break
    return cases


def _case(record: dict[str, Any], folder: Path, where: str, required: tuple[str, ...]) -> Case:
    if "before" not in record and isinstance(record.get("path"), str):
        named = folder / record["path"]
        record = {"filename": named.name, **record, "before": _text(named, f"{where}: {named}")}
    optional = [name for name in ("after", "tests") if record.get(name) is not None]
    require_texts(record, where, "before", *required, *optional)
    return Case(
        id=str(record.get("id", where)),
        filename=str(record.get("filename") or "file.txt"),
        instruction=str(record.get("instruction") or ""),
        before=record["before"],
        after=record.get("after"),
        tests=record.get("tests"),
        context=record.get("context") or "",
    )


def _text(path: Path, where: str) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as problem:
        raise InputError(f"{where}: {problem.strerror}") from problem
    except UnicodeDecodeError as problem:
        raise InputError(f"{where}: it is not UTF-8") from problem


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


@dataclass(frozen=True, slots=True)
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
    return [_generated_case(kind, count) for count in lines for kind in kinds]


def _generated_case(kind: str, lines: int) -> Case:
    count = max(2, (lines - HEAD.count("\n")) // BODY.count("\n"))
    places = min(count, 5)  # functions that use the header's name twice
    spread = {(2 * n + 1) * count // (2 * places) for n in range(places)}
    functions = [
        _Function(n, n * 37 % 90 + 5, OLD if n in spread else str(n * 7 % 9 + 2))
        for n in range(count)
    ]
    before = _file(functions)
    padding = "".join(f"# row {n + 1}\n" for n in range(lines - before.count("\n")))
    changed, instruction = _change(kind, functions)
    after = _file(changed)
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


def _file(functions: list[_Function]) -> str:
    return HEAD + "".join(function.text for function in functions)


def share_changed(before: str, after: str) -> float:
    """The share of the file that changed: lines replaced, added or removed, of the longer text."""
    old, new = before.splitlines(), after.splitlines()
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    longer = max(len(old), len(new))
    return 1 - sum(block.size for block in blocks) / longer if longer else 0.0
