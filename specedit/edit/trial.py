"""Small edits with checks, by which a user compares models: those of `trial.jsonl`, or the user's.

A case is a line of JSON: `before` and `instruction`; what is right, as `after` (the accepted texts)
or as the patterns `must` and `must_not`; and perhaps `file`, whose name gives the language, and
`id`. Nothing of an answer is run.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from specedit.edit.backend import Backend
from specedit.edit.job import plan_edit
from specedit.edit.report import Edit, failed
from specedit.edit.request import Request
from specedit.edit.run import run_edit
from specedit.edit.sink import Sink
from specedit.errors import FileError, UsageError
from specedit.files import regular, stored
from specedit.files.source import Source
from specedit.settings import Settings

SHIPPED = Path(__file__).with_name("trial.jsonl")
FIELDS = ("id", "file", "instruction", "before", "after", "must", "must_not")
LARGEST_FILE = 1 << 26  # bytes


@dataclass(frozen=True, slots=True)
class Case:
    """One edit, and what of its result is right."""

    id: str
    file: str
    instruction: str
    before: str
    after: tuple[str, ...] = ()
    must: tuple[re.Pattern[str], ...] = ()
    must_not: tuple[re.Pattern[str], ...] = ()

    def accepts(self, text: str) -> bool:
        """Whether a text is an accepted one, but for blank lines and spaces at the ends of lines,
        or is as the patterns say."""
        if _plain(text) in map(_plain, self.after):
            return True
        there = bool(self.must or self.must_not) and all(p.search(text) for p in self.must)
        return there and not any(p.search(text) for p in self.must_not)


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def read_cases(path: Path) -> list[Case]:
    """The cases of a file; an error names the line that is wrong."""
    try:
        text = regular.read(path, LARGEST_FILE).decode("utf-8-sig")
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror or problem}") from problem
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8.") from None
    cases = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                cases.append(_case(stored.parsed(line.encode()), str(number)))
            except ValueError as problem:
                raise UsageError(f"{path}, line {number}: {problem}", hint=EXAMPLE) from problem
    if not cases:
        raise UsageError(f"{path} holds no case.", hint=EXAMPLE)
    return cases


EXAMPLE = 'A line is {"file": "a.py", "instruction": "…", "before": "…", "must": ["return 2"]}'


def _case(row: Any, number: str) -> Case:
    if not isinstance(row, dict):
        raise ValueError("it is not an object")
    if unknown := sorted({*row} - {*FIELDS}):
        raise ValueError(f"{unknown[0][:60]!r} is not a field; {', '.join(FIELDS)} are")
    texts, lists = dict[str, Any](), dict[str, Any]()
    for name in FIELDS[:4]:
        value = row.get(name, {"id": number, "file": "text"}.get(name, ""))
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name!r} must be a text that is not empty")
        value.encode()  # a ValueError where half a character stands alone
        texts[name] = value
    for name in FIELDS[4:]:
        value = row.get(name, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValueError(f"{name!r} must be a text or a list of texts")
        lists[name] = tuple(value)
    if not any(lists.values()):
        raise ValueError("it does not say what is right: 'after', 'must' or 'must_not'")
    for name in FIELDS[5:]:
        lists[name] = tuple(_pattern(name, text) for text in lists[name])
    return Case(**texts, **lists)


def _pattern(name: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as problem:
        raise ValueError(f"{name!r} is not a regular expression: {problem}") from None


@dataclass(frozen=True, slots=True)
class Result:
    """What a model made of a case. `why`: it is wrong; "" where it is right."""

    case: Case
    edit: Edit
    why: str
    seconds: float  # without loading the model

    def as_json(self) -> dict[str, Any]:
        edit, right = self.edit, not self.why
        judged = {"id": self.case.id, "right": right, "why": self.why or None}
        rated = {"sure": edit.sure, "confidence": edit.confidence}
        return {**judged, "seconds": round(self.seconds, 3), **rated, "diff": edit.diff}


def results(
    cases: list[Case], settings: Settings, backend: Backend, sink: Sink
) -> Iterator[Result]:
    """Edit each case's text as a command would, and judge it. Nothing is written."""
    for case in cases:
        planner = partial(plan_edit, instruction=case.instruction, settings=settings)
        request = Request("try", planner, settings, keeps=False)
        began = time.perf_counter()
        try:
            source = Source.from_bytes(case.file, case.before.encode())
            edit = run_edit(source, request, backend, sink)
        except FileError as problem:  # it is not text
            edit = failed(case.file, problem)
        seconds = time.perf_counter() - began - edit.figures.load_s
        yield Result(case, edit, _why_wrong(case, edit), seconds)


def _why_wrong(case: Case, edit: Edit) -> str:
    if edit.problems:
        return f"{edit.status}: {edit.problems[0].partition(chr(10))[0]}"
    if case.accepts(edit.after.decode() if edit.changed else case.before):
        return ""
    return "another text" if edit.changed else "nothing changed"
