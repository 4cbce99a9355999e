"""Cases to measure on: one file before, the instruction, and what it should become.

Knows the JSON lines that `specedit bench CASES` reads; a record names its text, `before`, or the
file that it is in, `path`. Does not know models.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from specedit.errors import InputError, UsageError

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


def records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each object of a file of JSON lines stands, and the object."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as problem:
        said = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
        raise InputError(f"{path}: {said}", hint="One JSON object a line.") from problem
    none = True
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            found: Any = json.loads(line)
        except ValueError as problem:
            raise InputError(f"{where}: not JSON: {problem}") from None
        if not isinstance(found, dict):
            raise InputError(f"{where}: a case is a JSON object")
        none = False
        yield where, found
    if none:
        raise InputError(f"{path} holds no case", hint="One JSON object a line.")


def texts(record: dict[str, Any], where: str, *names: str) -> None:
    """Refuses a record that lacks one of these texts."""
    for name in names:
        if not isinstance(record.get(name), str):
            raise InputError(f"{where}: a case has a text `{name}`")


def read_cases(path: Path) -> list[Case]:
    """The cases of a file of JSON lines, in order."""
    return [_case(_with_text(found, path.parent, where), where) for where, found in records(path)]


def _with_text(found: dict[str, Any], folder: Path, where: str) -> dict[str, Any]:
    """A record with the text of the file that it names: `path`, seen from where its cases are."""
    if "before" in found or not isinstance(found.get("path"), str):
        return found
    named = folder / found["path"]
    try:
        before = named.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        said = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
        raise InputError(f"{where}: {named}: {said}", hint="`path` names a file.") from problem
    return {"filename": named.name, **found, "before": before}


def _case(found: dict[str, Any], where: str) -> Case:
    texts(found, where, "instruction", "before")
    texts(found, where, *(name for name in ("after", "tests") if found.get(name) is not None))
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
    halves = {"all": found, "even": found[::2], "odd": found[1::2]}
    if which not in halves:
        raise UsageError(f"--half {which}: there is no such half.", hint="all, even or odd")
    return halves[which]
