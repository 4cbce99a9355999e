"""Renames as Jobs: tree-sitter writes the expected file, the model verifies it, the guard decides.

Knows Sources, settings and what `rename.places` finds. Does not run models and writes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from specedit.edit.plan import Job, expected, job
from specedit.edit.prompt import rename_instruction
from specedit.edit.splice import whole
from specedit.errors import InputError, RefusedEdit, UsageError
from specedit.files.source import Source
from specedit.rename.guard import guard_rename
from specedit.rename.languages import rules_of
from specedit.rename.places import RenameGuess, rename_places
from specedit.report import Edit
from specedit.settings import Settings
from specedit.text.names import sought, split_member

REACH = {  # the kinds of places that a scope takes in
    "code": ("code",),
    "comments": ("code", "comment"),
    "derived": ("code", "comment", "string", "derived"),
}


def plan_rename(
    source: Source,
    old: str,
    new: str,
    settings: Settings,
    *,
    line: int | None = None,
    absent_ok: bool = False,
    searched: bool = False,
) -> Job | Edit:
    """Rename an identifier of one file. A file with nothing to rename comes back as an unchanged
    Edit, and no model is asked; where NEW is taken already, the rename is refused.

    `absent_ok`: it is one of many files, so the name may be missing, and is taken only where the
    scope says. `searched`: nobody named the file, so only what tree-sitter reads is renamed."""
    there, derived = source.text.lower(), settings.scope == "derived"
    if absent_ok and not any(one.lower() in there for one in sought(old, derived=derived)):
        return untouched(source)
    if searched and (source.language is None or rules_of(source.language.name) is None):
        return untouched(source, "holds the name, but is no code: name the file to rename there")
    try:
        guess = rename_places(source.text, source.language, old, new, settings.scope, line)
    except UsageError as problem:  # about this file: others may still be renamed
        if absent_ok and split_member(old)[0]:
            return untouched(source, problem.message)
        raise InputError(f"{source.name}: {problem.message}", hint=problem.hint) from problem
    if absent_ok and not {place.kind for place in guess.places} & set(REACH[settings.scope]):
        return untouched(source, *map(str, guess.outside))
    if guess.collisions and not settings.allow_extra:
        first = guess.collisions[0]
        raise RefusedEdit(
            f"{source.name}: {first.message}",
            hint="Choose another name, or say --allow-extra.",
        )
    if not guess.places:
        if not absent_ok:
            raise InputError(
                f"{source.name}: no `{old}` to rename here, with --scope {settings.scope}",
                hint="; ".join(notes(guess)) or "Check the spelling, or widen the scope.",
            )
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
    return replace(
        work,
        plan=replace(work.plan, copies=True),
        rename=guess,
        scope=settings.scope,
        notes=notes(guess),
    )


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
    return (*said, *(str(outside) for outside in guess.outside))


def settle(work: Job, wanted: str) -> tuple[str, tuple[str, ...]]:
    """The text to write where the model wanted `wanted`, and what is to be said about it."""
    assert work.rename is not None
    source = work.source
    kept = guard_rename(
        source.text, work.rename, wanted, source.language, work.scope, work.allow_extra
    )
    return kept.text, (*kept.disagreements, *map(str, kept.dropped))
