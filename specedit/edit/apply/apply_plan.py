"""A change as Jobs: which files it is for, and what each of them becomes.

Runs no model and writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

from specedit.check.answer import LOST_MESSAGE
from specedit.check.finding import DEFAULT, NOTE, OFF, Checks, Finding, Spot
from specedit.edit.apply.change import ChangeHunk, FileChange, Part, is_marked, read_change
from specedit.edit.apply.merged import Ambiguity, MergedPart
from specedit.edit.apply.merging import merge_parts, merged_parts
from specedit.edit.apply.model_merge import merge_job, open_region, placed
from specedit.edit.job import Job, make_job
from specedit.edit.outcome import Checked, checks_of, guarded, outcome
from specedit.edit.report import Edit
from specedit.edit.splice import whole
from specedit.errors import InputError, UsageError
from specedit.files.git import is_inside, real, top_of
from specedit.files.source import Source
from specedit.models.resolve import local
from specedit.settings import Settings
from specedit.syntax.languages import language_of

MAX_CHANGE_CHARACTERS = 2_000_000  # characters of a change; more takes minutes
FORMS = "SEARCH/REPLACE blocks, a diff, a tool's call in JSON, or code with `...` for what stays"
_LOST = ("lost-definition", "lost-lines")
_OFF = ("renamed", "whitespace", "unreachable", "question")  # it says what it does


def check_size(characters: int) -> None:
    """An error where a change is too large to be merged in seconds."""
    if characters > MAX_CHANGE_CHARACTERS:
        size = f"{characters / 1e6:.1f} million characters"
        raise UsageError(
            f"The change has {size}; the limit is {MAX_CHANGE_CHARACTERS / 1e6:.0f} million.",
            hint="Split it into smaller changes.",
        )


def changes_of(change: str) -> list[FileChange]:
    """A change, read; an error where it has nothing that can be merged."""
    if not change.strip():
        raise UsageError("The change is empty.", hint=f"Pass {FORMS}.")
    check_size(len(change))
    if "\0" in change:
        raise UsageError("The change is binary.", hint=f"Pass {FORMS}.")
    changes = read_change(change)
    if not changes:
        raise UsageError("The change contains nothing to merge.", hint=f"Pass {FORMS}.")
    for file_change in changes:
        if file_change.other:
            raise InputError(
                f"the change {file_change.other}; apply changes only the text of files that exist",
                file=file_change.path,
                hint="Do that by hand, or with git apply, and take it out of the change.",
            )
    return changes


def looks_swapped(file: str, text: str, change: str, change_text: str) -> bool:
    """Whether `file` holds a change and `change` is the source file that it is for. `text`: of the
    file."""
    target = language_of(change, change_text)
    if target is None or not target.grammar or is_marked(change_text) or not text.strip():
        return False
    own = language_of(file, text)
    return own is None or own.name == "markdown" or is_marked(text, fences=False)


def parts_by_file(changes: Sequence[FileChange], file: str = "") -> dict[str, tuple[Part, ...]]:
    """The parts of a change for each file, by its name from here. `file`: this one alone."""
    if file:
        return {file: parts_of(changes, file)}
    if any(not change.path for change in changes):
        raise UsageError("The change names no file.", hint="specedit apply FILE CHANGE")
    result: dict[str, tuple[Part, ...]] = {}
    for change in changes:
        name = _found(change.path)
        result[name] = (*result.get(name, ()), *change.parts)
    return result


def parts_of(changes: Sequence[FileChange], file: str, root: Path = Path()) -> tuple[Part, ...]:
    """The parts for one file: those that name it, or that name none."""
    own = [change for change in changes if _is_for(change, root / file)]
    if not own:
        names = ", ".join(change.path for change in changes[:5])
        raise UsageError(f"The change is for {names}, not for {file}.")
    return tuple(part for change in own for part in change.parts)


def left_out(changes: Sequence[FileChange], file: str) -> tuple[str, ...]:
    """The other files that the change names, which are not merged."""
    return tuple(
        dict.fromkeys(change.path for change in changes if not _is_for(change, Path(file)))
    )


def _is_for(change: FileChange, file: Path) -> bool:
    path = PurePosixPath(file.absolute().as_posix())
    return not change.path or path.parts[-len(parts := _names(change.path)) :] == parts


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in PurePosixPath(path.replace("\\", "/")).parts if name != ".")


def _found(path: str) -> str:
    """The file that a change names, from here or from the top of the work tree; an error where it
    is neither, or outside, or in a `.git`, where a setting may name a program that git runs."""
    here = Path.cwd()
    top = top_of(here) or here
    for base in (here, top):
        place = base / path
        if not is_inside(real(place), real(top)):
            raise InputError(
                "the change names a file outside of this work tree, or in its .git", file=path
            )
        if place.is_file():
            return os.path.relpath(place)
    raise InputError(
        "the change names a file that does not exist", file=path, hint="specedit apply FILE CHANGE"
    )


def plan_apply(source: Source, parts: Sequence[Part], settings: Settings) -> Job | Edit:
    """Merge the parts of a change into a file. The model decides between the readings of a snippet;
    without a model, or where a part has no place, the file stays."""
    merged = merge_parts(source.text, parts, source.name)
    explicit = all(isinstance(part, ChangeHunk) for part in parts)
    judge = partial(_judged, source, _checks(settings, explicit))
    if merged.text is not None:
        planned = make_job(source, whole(source), "", settings, None)
        return replace(planned, known=merged.text, check=partial(_requested, judge, merged.parts))
    findings = tuple(map(_finding, merged.ambiguous))
    region = open_region(merged.doubtful) if merged.doubtful else None
    why = _without_model(settings) if region else ""
    if region is None or why:
        edit = replace(outcome(source, source.text), status="refused")
        return edit.noting(*findings, *([Finding("skipped", why)] if why else ()))

    def judge_answer(text: str) -> Checked:
        place = placed(text, region)
        if place is None:
            return Checked(text, findings)
        by_model = [
            replace(part, how="model")
            if place[0] < part.lines[1] and part.lines[0] <= place[1]
            else part
            for part in merged_parts(source.text.split("\n"), text.split("\n"), "matched")
        ]
        noted = tuple(_finding(ambiguity, decided=True) for ambiguity in merged.ambiguous)
        result = judge(tuple(by_model), text)
        return replace(result, findings=(*noted, *result.findings))

    return replace(merge_job(source, region, settings), check=judge_answer)


def _without_model(settings: Settings) -> str:
    """Why no model is asked; "" where one is."""
    if settings.no_model:
        return "a model could decide, and --no-model says not to ask one"
    if settings.server not in ("auto", "off") or local(settings.model) is not None:
        return ""
    return f"a model could decide: specedit model pull {settings.model}"


def _checks(settings: Settings, explicit: bool) -> Checks:
    """Check a merge, which is the caller's text: findings are notes, unless the user chose. A
    diff and a SEARCH block say what they remove."""
    checks = checks_of(settings)
    verdicts = dict.fromkeys(DEFAULT, NOTE) | dict.fromkeys(_OFF, OFF)
    return replace(checks, may_remove=checks.may_remove or explicit, verdicts=verdicts)


def _judged(source: Source, checks: Checks, parts: tuple[MergedPart, ...], text: str) -> Checked:
    """The merged text, checked."""
    if text == source.text:
        finding = Finding("skipped", "the change is in the file already")
        return Checked(text, (finding,))
    return replace(guarded(source, "", checks, text), parts=parts)


def _requested(
    judge: Callable[[tuple[MergedPart, ...], str], Checked],
    parts: tuple[MergedPart, ...],
    text: str,
) -> Checked:
    """The same where no model decided: lines that are gone are only noted, as the snippet shows
    what stands on both sides of them."""
    verdict = judge(parts, text)
    findings = (
        replace(finding, refuses=False, text=finding.text.replace(LOST_MESSAGE, "removes"))
        if finding.kind in _LOST
        else finding
        for finding in verdict.findings
    )
    return replace(verdict, findings=tuple(findings))


def _finding(ambiguity: Ambiguity, decided: bool = False) -> Finding:
    """Name each ambiguous place and what to do now; or say that the model decided it."""
    lines = ", ".join(f"{a}-{b}" if a < b else f"{a}" for a, b in ambiguity.places)
    where = f" (line{'s' * (len(ambiguity.places) > 1)} {lines})" if lines else ""
    shown = ambiguity.first if len(ambiguity.first) <= 60 else f"{ambiguity.first[:57]}..."
    what = "the model decided" if decided else ambiguity.hint
    text = f"`{shown}`: {ambiguity.reason}{where}; {what}"
    spots = tuple(Spot(a) for a, _ in ambiguity.places)
    return Finding("decided" if decided else "ambiguous", text, spots, refuses=not decided)
