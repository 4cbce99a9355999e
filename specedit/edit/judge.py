"""What an answer becomes: the new text after its checks, and the Edit that says so.

Knows Sources, texts and the guard. Does not know Jobs, backends or the terminal.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from specedit.errors import FileError
from specedit.files.source import Source
from specedit.files.worktree import patch_name, real, top_of
from specedit.gate.kinds import Verdicts, parsed, verdicts
from specedit.report import Edit, Figures, Finding, Replaced, Spot

if TYPE_CHECKING:
    from specedit.settings import Settings

NO_FIGURES = Figures()


@dataclass(frozen=True)
class Judged:
    """A text after the checks: what may be written, and what is to be said about it."""

    text: str
    findings: tuple[Finding, ...] = ()
    changes: tuple[Replaced, ...] = ()  # of a rename

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(one for one in self.findings if one.refuses)


Judge = Callable[[str], Judged]  # of the whole new text of a file


@dataclass(frozen=True)
class Checks:
    """What a new text has to pass."""

    allow_extra: bool = False
    verdicts: Verdicts = field(default_factory=verdicts)  # the gate's, by kind of finding
    check_with: str = ""  # commands that the user named


USUAL = Checks()


def checks_of(settings: Settings) -> Checks:
    """The checks as a person wants them."""
    table, allowed = parsed(settings.gate), settings.allow.replace(",", " ").split()
    return Checks(
        settings.allow_extra,
        verdicts(table, strict=settings.strict, allowed=allowed),
        settings.check_with,
    )


def guarded(source: Source, instruction: str, checks: Checks, text: str) -> Judged:
    """What the guard and the gate say of `text` as what an instruction made of a file."""
    from specedit.gate.findings import checked, findings, idle
    from specedit.syntax import guard

    before, language = source.text, source.language
    if text == before:
        return Judged(text, tuple(idle(checks.verdicts)))
    found = guard.check(before, text, language, instruction, checks.allow_extra)
    said = [
        Finding(one.kind, one.message, (Spot(one.line),) if one.line else (), one.refuses)
        for one in found
    ]
    if not any(one.refuses for one in found):
        said += findings(before, text, language, instruction, checks.verdicts)
    if checks.check_with and not any(one.refuses for one in said):
        place = _place(source)
        said += checked(checks.check_with, before, text, language, place, checks.verdicts)
    return Judged(text, tuple(said))


def _place(source: Source) -> tuple[Path, PurePath]:
    """The work tree of a text, or its folder, and its path from there."""
    path = real(source.path if source.path is not None else source.name)
    root = top_of(path.parent) or path.parent
    return root, PurePath(path.relative_to(root))


def conclude(source: Source, judged: Judged, figures: Figures) -> Edit:
    """The Edit of a judged answer, not written."""
    edit = replace(
        outcome(source, judged.text, figures), findings=judged.findings, changes=judged.changes
    )
    if not judged.problems:
        return edit
    return replace(edit, status="refused")


def outcome(source: Source, text: str, figures: Figures = NO_FIGURES) -> Edit:
    """What it means for the file to hold `text`."""
    from specedit.text import diff

    after = source.data if text == source.text else source.encode(text)
    counts = diff.counts(source.text, text)
    return Edit(
        path=source.name,
        status="unchanged" if after == source.data else "would-edit",
        before=source.data,
        after=after,
        diff=diff.patch(patch_name(source.name, source.path), source.data, after).decode(
            "utf-8", "surrogateescape"
        ),
        added=counts.added,
        removed=counts.removed,
        hunks=counts.hunks,
        figures=figures,
        before_sha256=source.sha256,
        after_sha256=hashlib.sha256(after).hexdigest(),
    )


def failed(name: str, problem: FileError) -> Edit:
    """The Edit of a file that could not be done."""
    return Edit(name, problem.status, findings=(Finding(problem.kind, problem.why, refuses=True),))


def keep(edit: Edit) -> Edit:
    """A refused answer lies where a person can look at it."""
    if edit.status != "refused" or edit.after == edit.before:
        return edit
    return replace(edit, kept=aside(edit.path, edit.after, "refused"))


def aside(name: str, data: bytes, why: str) -> str:
    """Bytes that must not go to a file: a new one beside all work, and where it is."""
    stem = Path(name).name or "answer"
    handle, path = tempfile.mkstemp(prefix=f"specedit-{why}-", suffix="-" + stem[-60:])
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return path
