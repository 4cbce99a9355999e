"""Makes an answer an Edit: the new text after its checks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from specedit.check.finding import CHECKER, REMOVAL, Checks, verdicts
from specedit.edit.apply.merged import MergedPart
from specedit.edit.report import Edit, Figures, Finding, Replaced
from specedit.errors import FileError
from specedit.files import stored
from specedit.files.git import patch_name, real, top_of
from specedit.files.source import Source
from specedit.files.startup import home

if TYPE_CHECKING:
    from specedit.settings import Settings

# Characters of a text whose syntax tree is not kept for a second question
MAX_KEPT_TREE_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class Checked:
    """A text after the checks, and what they found."""

    text: str
    findings: tuple[Finding, ...] = ()
    changes: tuple[Replaced, ...] = ()  # of a rename
    parts: tuple[MergedPart, ...] = ()  # of a change that was merged

    @property
    def problems(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.refuses)


Check = Callable[[str], Checked]  # of the whole new text of a file


def checks_of(settings: Settings) -> Checks:
    """The checks as the settings choose them."""
    allowed = settings.allowed
    chosen = verdicts(strict=settings.strict, allowed=allowed)
    return Checks(REMOVAL in allowed, chosen, settings.check_with)


def guarded(source: Source, instruction: str, checks: Checks, text: str) -> Checked:
    """`text` as what an instruction made of a file, with what the checks found."""
    from specedit.check.answer import check_answer  # 10 ms, while the model works

    result = check_answer(
        source.text, text, source.language, instruction, checks, partial(_place, source)
    )
    return Checked(text, tuple(result))


def _place(source: Source) -> tuple[Path, PurePath]:
    """The work tree of a text, or its folder, and its path from there."""
    path = real(source.path if source.path is not None else source.name)
    root = top_of(path.parent) or path.parent
    return root, PurePath(path.relative_to(root))


def conclude(source: Source, checked: Checked, figures: Figures) -> Edit:
    """The Edit of a checked text, not written."""
    edit = replace(
        outcome(source, checked.text, figures),
        findings=checked.findings,
        changes=checked.changes,
        parts=checked.parts,
    )
    return replace(edit, status="refused") if checked.problems else edit


def outcome(source: Source, text: str, figures: Figures | None = None) -> Edit:
    """The Edit of a file that comes to hold `text`."""
    from specedit.syntax import lines, trees

    if len(text) > MAX_KEPT_TREE_CHARACTERS:
        trees.release()
    after = source.data if text == source.text else source.encode(text)
    counts = lines.counts(source.text, text)
    return Edit(
        path=source.name,
        status="unchanged" if after == source.data else "would-edit",
        before=source.data,
        after=after,
        diff=lines.patch(
            patch_name(source.name, source.path, source.root), source.data, after
        ).decode("utf-8", "surrogateescape"),
        added=counts.added,
        removed=counts.removed,
        hunks=counts.hunks,
        figures=figures or Figures(),
        before_sha256=source.sha256,
        after_sha256=hashlib.sha256(after).hexdigest(),
    )


def failed(name: str, problem: FileError) -> Edit:
    """The Edit of a file that could not be done."""
    refuses = problem.status != "unchanged"
    return Edit(
        name, problem.status, findings=(Finding(problem.kind, problem.why, refuses=refuses),)
    )


def keep(edit: Edit) -> Edit:
    """The Edit with the path of a file where the user can look at a refused answer."""
    if edit.status != "refused" or edit.after == edit.before:
        return edit
    return replace(edit, kept=stored.keep_refused(home(), edit.path, edit.after))


def as_written(edit: Edit, uncommitted: bool) -> Edit:
    """The Edit of a file that was written. `uncommitted`: git could not restore its old text."""
    edit = replace(edit, status="edited", written=True)
    if not uncommitted:
        return edit
    message = "held uncommitted changes: edited as it was; specedit undo puts it back"
    return edit.noting(Finding("uncommitted", message))


def put_back(edit: Edit, errors: str) -> Edit:
    """The Edit of a file that was written and put back, since checkers report new errors."""
    back = replace(edit, status="refused", written=False)
    return back.noting(Finding(CHECKER, f"undone, since {errors}", refuses=True))


def with_others_failed(edit: Edit, broken: str) -> Edit:
    """The Edit of a file that is one change with a file that could not be done."""
    message = f"not written: it is one change with {broken}, which could not be done"
    refused = replace(edit, status="refused", written=False)
    return refused.noting(Finding("held", message, refuses=True))
