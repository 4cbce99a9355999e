"""Renames as Jobs: tree-sitter writes the expected file, the model verifies it, the guard decides.

Knows Sources, settings and what `text.rename` finds. Does not run models and writes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from specedit.errors import InputError, RefusedEdit, UsageError
from specedit.plan import Job, expected, job, whole
from specedit.prompt import rename_instruction
from specedit.report import Edit
from specedit.settings import Settings
from specedit.text.diff import Hunk, hunks
from specedit.text.rename import RenameGuess, rename_places
from specedit.text.source import Source


def plan_rename(
    source: Source,
    old: str,
    new: str,
    settings: Settings,
    *,
    line: int | None = None,
    absent_ok: bool = False,
) -> Job | Edit:
    """Rename an identifier of one file. A file with nothing to rename comes back as an unchanged
    Edit, and no model is asked; where NEW is taken already, the rename is refused."""
    if absent_ok and old.split(".")[-1].lower() not in source.text.lower():
        return untouched(source)
    try:
        guess = rename_places(source.text, source.language, old, new, settings.scope, line)
    except UsageError as problem:  # about this file: others may still be renamed
        raise InputError(f"{source.name}: {problem.message}", hint=problem.hint) from problem
    if guess.collisions and not settings.allow_extra:
        first = guess.collisions[0]
        raise RefusedEdit(
            f"{source.name}: {first.message}",
            hint="Choose another name, or say --allow-extra.",
        )
    if guess.text == source.text:
        return untouched(source, *notes(guess))
    asked = settings.prediction
    prediction = guess.text if asked == "original" else expected(source, whole(source), settings)
    work = job(
        "rename",
        source,
        whole(source),
        rename_instruction(guess.old, guess.new, settings.scope),
        settings,
        prediction,
    )
    return replace(work, rename=guess, notes=notes(guess))


def untouched(source: Source, *said: str) -> Edit:
    return Edit(
        source.name,
        "unchanged",
        source.data,
        source.data,
        notes=said,
        before_sha256=source.sha256,
        after_sha256=source.sha256,
    )


def notes(guess: RenameGuess) -> tuple[str, ...]:
    """What a person should know about the choice of places."""
    said = list(guess.notes)
    if guess.scopes > 1:
        said.append(f"`{guess.old}` means {guess.scopes} things here; all were renamed (--line N)")
    return (*said, *(str(outside) for outside in guess.outside))


def settle(guess: RenameGuess, wanted: str, allow_extra: bool) -> tuple[str, tuple[str, ...]]:
    """The text to write where the model wanted `wanted`: what it changed beyond the places found
    is not applied, and said."""
    if wanted == guess.text or allow_extra:
        return wanted, ()
    said = tuple(
        f"line {hunk.first_line}: the model also wanted {_shown(hunk)}, not applied"
        for hunk in hunks(guess.text, wanted, context=0)
    )
    return guess.text, said


def _shown(hunk: Hunk) -> str:
    lines = [line.text.strip() for line in hunk.lines if line.kind == "+"]
    text = " / ".join(lines) or "fewer lines"
    return f"`{text[:80]}{'…' if len(text) > 80 else ''}`"
