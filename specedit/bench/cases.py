"""Cases to measure on: a file's text before, the instruction, and the wanted text.

A case is one line of JSON. Its text is in `before`, or in the file that `path` names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specedit.errors import InputError


@dataclass(frozen=True)
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
