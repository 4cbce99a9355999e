"""Cases to measure on: one file before, the instruction, and what it should become.

Knows the JSON lines that `specedit bench CASES` reads. Does not know models.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from specedit.errors import InputError

T = TypeVar("T")


@dataclass(frozen=True)
class Case:
    """One edit. `after` is the text wanted, where somebody wrote it down; `tests` judge an edit."""

    id: str
    filename: str
    instruction: str
    before: str
    after: str | None = None
    tests: str | None = None
    context: str = ""  # where the file stands while its tests run: `{{Code}}` marks the place
    kind: str = "case"

    @property
    def lines(self) -> int:
        return len(self.before.splitlines())


def read_cases(path: Path) -> list[Case]:
    """The cases of a file of JSON lines, in order."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror}") from problem
    cases = [
        _case(line, f"{path}:{number}")
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]
    if not cases:
        raise InputError(f"{path} holds no case", hint="One JSON object a line.")
    return cases


def _case(line: str, where: str) -> Case:
    try:
        found: Any = json.loads(line)
    except ValueError as problem:
        raise InputError(f"{where}: not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise InputError(f"{where}: a case is a JSON object")
    for name in ("instruction", "before"):
        if not isinstance(found.get(name), str):
            raise InputError(f"{where}: a case has a text `{name}`")
    return Case(
        id=str(found.get("id", where)),
        filename=str(found.get("filename") or "file.txt"),
        instruction=found["instruction"],
        before=found["before"],
        after=found.get("after"),
        tests=found.get("tests"),
        context=found.get("context") or "",
    )


def part(cases: Iterable[T], which: str) -> list[T]:
    """`all`, or every second case: `even` to decide on, `odd` to confirm."""
    found = list(cases)
    return {"all": found, "even": found[::2], "odd": found[1::2]}[which]
