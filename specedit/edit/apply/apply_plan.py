"""A change as Jobs: which files it is for, and what each of them becomes.

Runs no model and writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

from specedit.check.finding import DEFAULT, NOTE, OFF, Finding, Spot, parsed_verdicts
from specedit.edit.apply.change import ChangeHunk, FileChange, Part, read_change
from specedit.edit.apply.merged import Ambiguity, Merged
from specedit.edit.apply.merging import merge_parts
from specedit.edit.job import Job, job
from specedit.edit.outcome import Judged, checks_of, guarded, outcome
from specedit.edit.report import Edit
from specedit.edit.splice import whole
from specedit.errors import InputError, UsageError
from specedit.files.source import Source
from specedit.files.worktree import is_inside, real, top_of
from specedit.settings import Settings

FORMS = "SEARCH/REPLACE blocks, a diff, or code with `...` for what stays"
_LOST = ("lost-definition", "lost-lines")
_OFF = (
    "elsewhere",
    "renamed",
    "whitespace",
    "unreachable",
    "question",
)  # a change says what it does


def changes_of(change: str) -> list[FileChange]:
    """A change, read; an error where it has nothing that can be merged."""
    if not change.strip():
        raise UsageError("The change is empty.", hint=f"Pass {FORMS}.")
    if "\0" in change:
        raise UsageError("The change is binary.", hint=f"Pass {FORMS}.")
    changes = read_change(change)
    if not changes:
        raise UsageError("The change has nothing to merge.", hint=f"Pass {FORMS}.")
    for one in changes:
        if one.creates or one.deletes:
            what = "creates" if one.creates else "deletes"
            raise InputError(f"the change {what} it; apply changes files only", file=one.path)
    return changes


def parts_by_file(changes: Sequence[FileChange], file: str = "") -> dict[str, tuple[Part, ...]]:
    """The parts of a change for each file, by its name from here. `file`: this one alone."""
    if file:
        return {file: parts_of(changes, file)}
    if any(not one.path for one in changes):
        raise UsageError("The change names no file.", hint="specedit apply FILE CHANGE")
    result: dict[str, tuple[Part, ...]] = {}
    for one in changes:
        name = _found(one.path)
        result[name] = (*result.get(name, ()), *one.parts)
    return result


def parts_of(changes: Sequence[FileChange], file: str, root: Path = Path()) -> tuple[Part, ...]:
    """The parts for one file: those that name it, or that name none."""
    own = [one for one in changes if _is_for(one, root / file)]
    if not own:
        names = ", ".join(one.path for one in changes[:5])
        raise UsageError(f"The change is for {names}, not for {file}.")
    return tuple(part for one in own for part in one.parts)


def left_out(changes: Sequence[FileChange], file: str) -> tuple[str, ...]:
    """The other files that the change names, which are not merged."""
    return tuple(dict.fromkeys(one.path for one in changes if not _is_for(one, Path(file))))


def _is_for(one: FileChange, file: Path) -> bool:
    path = PurePosixPath(file.absolute().as_posix())
    return not one.path or path.parts[-len(parts := _names(one.path)) :] == parts


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in PurePosixPath(path.replace("\\", "/")).parts if name != ".")


def _found(path: str) -> str:
    """The file that a change names, from here or from the top of the work tree; an error where it
    is neither, or outside, or in a `.git`, where a setting may name a program that git runs."""
    here = Path.cwd()
    top = top_of(here) or here
    for base in (here, top):
        place = base / path
        if not is_inside(real(place), real(top)) or Path(path).is_absolute():
            raise InputError(
                "the change names a file outside of this work tree, or in its .git", file=path
            )
        if place.is_file():
            return os.path.relpath(place)
    raise InputError(
        "the change names a file that is not there", file=path, hint="specedit apply FILE CHANGE"
    )


def plan_apply(source: Source, parts: Sequence[Part], settings: Settings) -> Job | Edit:
    """Merge the parts of a change into a file. Where one has no single place, the file stays."""
    merged = merge_parts(source.text, parts, source.name)
    if merged.text is None:
        return _refused(source, merged.ambiguous)
    planned = job(source, whole(source), "", settings, None)
    return replace(
        planned, known=merged.text, judge=partial(judged, source, parts, merged, settings)
    )


def judged(
    source: Source, parts: Sequence[Part], merged: Merged, settings: Settings, _: str
) -> Judged:
    """The merged text, checked. A diff and a SEARCH block say what they remove; a snippet shows
    what stands on both sides of it, so that a lost definition is only noted, without `strict`."""
    checks = checks_of(settings)
    explicit = all(isinstance(part, ChangeHunk) for part in parts)
    checks = replace(
        checks,
        allow_extra=checks.allow_extra or explicit,
        verdicts=_verdicts(checks.verdicts, parsed_verdicts(settings.gate)),
    )
    assert merged.text is not None
    if merged.text == source.text:
        finding = Finding("skipped", "the change is in the file already")
        return Judged(source.text, (finding,))
    verdict = guarded(source, "", checks, merged.text)
    findings = verdict.findings
    if not settings.strict:
        findings = tuple(
            replace(one, refuses=one.refuses and one.kind not in _LOST) for one in findings
        )
    return replace(verdict, findings=findings, parts=merged.parts)


def _verdicts(chosen: Mapping[str, str], named: Mapping[str, str]) -> Mapping[str, str]:
    """What is merged is the caller's: what speaks against it is noted, unless the user chose."""
    usual = dict.fromkeys(DEFAULT, NOTE) | dict.fromkeys(_OFF, OFF)
    return {**chosen, **{kind: one for kind, one in usual.items() if kind not in named}}


def _refused(source: Source, ambiguous: Sequence[Ambiguity]) -> Edit:
    """Nothing is written; each finding says what has no single place, and where it may belong."""
    edit = replace(outcome(source, source.text), status="refused")
    return edit.noting(*(_finding(one) for one in ambiguous))


def _finding(one: Ambiguity) -> Finding:
    lines = ", ".join(f"{a}-{b}" if a < b else f"{a}" for a, b in one.places)
    where = f" (line{'s' * (len(one.places) > 1)} {lines})" if lines else ""
    shown = one.first if len(one.first) <= 60 else f"{one.first[:57]}..."
    spots = tuple(Spot(a) for a, _ in one.places)
    return Finding("ambiguous", f"`{shown}`: {one.reason}{where}", spots, refuses=True)
