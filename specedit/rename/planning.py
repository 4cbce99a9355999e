"""Renames as Jobs: syntax decides the places in code, and the model is asked about mentions alone.

The model is shown small windows of the file around the mentions that syntax cannot decide; the
prediction is the same text with all of them substituted. A mention that it leaves unchanged stays
as it is. Nothing else of its answer is used, so it cannot change code. This runs no model and
writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from specedit.check.finding import CHECKER, EXISTING_NAME, OFF, Checks, verdicts_of_rename
from specedit.edit.backend import Plan
from specedit.edit.job import Job, expected, make_job
from specedit.edit.outcome import Check, Checked, guarded
from specedit.edit.report import Edit, Finding, Replaced, Spot
from specedit.edit.splice import whole
from specedit.errors import InputError, RefusedEdit, SpeceditError, UsageError
from specedit.files.source import Source
from specedit.rename.declared import is_here
from specedit.rename.guess import Place, RenameGuess, applied, doubt
from specedit.rename.places import rename_places
from specedit.settings import Settings
from specedit.syntax.identifiers import ARTICLES, sought, split_member
from specedit.syntax.lines import WORD, lines_of, opcodes

CONTEXT_LINES = 1  # lines on each side of a mention
# Characters that one rename shows, 2 to 4 s on two cores; the rule decides the rest
MAX_SHOWN_CHARACTERS = 1_500

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MentionQuestion:
    """The windows of one file as one text. Offsets of `places` count in that text."""

    excerpt: Source
    prediction: str
    places: tuple[tuple[int, Place], ...]

    @property
    def asked(self) -> list[Place]:
        return [place for _, place in self.places if place.undecided]


def by_rule(settings: Settings) -> str:
    """Why no model is asked; "" where one is."""
    if settings.no_model:
        return "--no-model"
    if settings.server in ("auto", "off") and not _is_here(settings.model):
        return f"{settings.model} is not on this machine: specedit model pull fetches it"
    return ""


def _is_here(model: str) -> bool:
    from specedit.models import resolve  # 80 ms, for renames with undecided mentions only

    try:
        return resolve.local(model) is not None
    except SpeceditError:
        return True  # loading it says what is wrong


def question_of(
    source: Source, guess: RenameGuess, most: int = MAX_SHOWN_CHARACTERS
) -> MentionQuestion | None:
    """The question to the model about a file, in at most that many characters; None where every
    mention is decided."""
    wanted = [place for place in guess.places if place.undecided]
    if not wanted:
        return None
    lines = lines_of(source.text)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    windows = _windows([place.line for place in wanted], len(lines))
    if len(source.text) <= most:
        windows = [(1, len(lines))]
    parts: list[str] = []
    inside: list[tuple[int, Place]] = []
    length = 0
    for first, last in windows:
        start, end = starts[first - 1], starts[last]
        if length + end - start > most:
            continue
        if parts:
            parts.append("\n")
            length += 1
        inside += [
            (place.offset - start + length, place)
            for place in guess.places
            if start <= place.offset < end
        ]
        parts.append(source.text[start:end])
        length += end - start
    if not any(place.undecided for _, place in inside):
        return None
    text = "".join(parts)
    return MentionQuestion(
        Source(source.name, text, text.encode("utf-8", "surrogatepass")),
        applied(text, inside),
        tuple(inside),
    )


def _windows(numbers: Sequence[int], count: int) -> list[Span]:
    """Lines [first, last] around each of `numbers`, joined where they meet."""
    result: list[Span] = []
    for number in sorted(numbers):
        first, last = max(1, number - CONTEXT_LINES), min(count, number + CONTEXT_LINES)
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(last, result[-1][1]))
        else:
            result.append((first, last))
    return result


def left_by(question: MentionQuestion, answer: str) -> list[Place]:
    """The mentions that the model leaves as they are, each with its article. An answer that also
    leaves code as it was renames nothing: it decides nothing."""
    unchanged = list(_unchanged(question.excerpt.text, answer))
    left = [
        (offset, place)
        for offset, place in question.places
        if any(a <= offset and offset + len(place.replaced) <= b for a, b in unchanged)
    ]
    if any(not place.undecided and place.kind == "code" for _, place in left):
        return []
    mentions = [(offset, place) for offset, place in left if place.undecided]
    at = {offset for offset, place in mentions if place.replaced.lower() not in ARTICLES}
    return [
        place
        for offset, place in question.places
        if offset in at
        or (place.replaced.lower() in ARTICLES and offset + len(place.replaced) + 1 in at)
    ]


def _unchanged(before: str, after: str) -> Iterator[Span]:
    """The character ranges of `before` that are in `after`, word by word."""
    old, new = lines_of(before), lines_of(after)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    for tag, a, b, c, d in opcodes(old, new):
        if tag == "equal":
            yield starts[a], starts[b]
        elif tag == "replace":
            words = WORD.findall("".join(old[a:b]))
            at = [starts[a]]
            for word in words:
                at.append(at[-1] + len(word))
            for inner, i, j, *_ in opcodes(words, WORD.findall("".join(new[c:d]))):
                if inner == "equal":
                    yield at[i], at[j]


SHOWN_LINES = 3
INSTRUCTION = (
    "Rename the identifier `{old}` to `{new}` everywhere in this file{reach}. Change nothing else."
)
REACHING = {  # of a scope, to the model
    "code": ", in code only: leave comments and strings as they are",
    "comments": ", in code and where comments and documentation mention it",
    "derived": ", with the names built from it, in code, comments and strings",
}
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
) -> Job | Edit:
    """Rename an identifier of one file. A file with nothing to rename comes back as an unchanged
    Edit, and no model is asked; where NEW is taken already, the rename is refused.

    `absent_ok`: it is one of many files, so the name may be missing, and is renamed only where the
    scope says."""
    there, derived = source.text.lower(), settings.scope == "derived"
    if absent_ok and not any(name.lower() in there for name in sought(old, derived=derived)):
        return untouched(source)
    is_ours = partial(is_here, file=source.path) if absent_ok else None
    try:
        guess = rename_places(source.text, source.language, old, new, settings.scope, line, is_ours)
    except UsageError as problem:  # about this file: others may still be renamed
        if absent_ok and split_member(old)[0]:
            return untouched(source, Finding("skipped", problem.message))
        raise InputError(problem.message, file=source.name, hint=problem.hint) from problem
    if absent_ok and not {place.kind for place in guess.places} & set(REACH[settings.scope]):
        return untouched(source, *guess.outside)
    if guess.collisions and EXISTING_NAME not in settings.allowed:
        raise RefusedEdit(
            "; ".join(collision.text for collision in guess.collisions),
            file=source.name,
            hint="Choose another name, or add --allow existing-name.",
        )
    if not guess.places:
        if not absent_ok:
            known = "; ".join(finding.text for finding in guess.findings)
            raise InputError(
                f"no `{old}` to rename here, with --scope {settings.scope}",
                file=source.name,
                hint=known or "Check the spelling, or widen the scope.",
            )
        return untouched(source, *guess.findings)
    return job_of(source, guess, settings)


def old_name_left(source: Source, old: str) -> str:
    """Where the name that a rename would still change stands, as a clause."""
    use = re.compile(rf"\b{re.escape(old.rpartition('.')[2])}\b")
    lines = [n for n, text in enumerate(source.text.split("\n"), 1) if use.search(text)]
    where = ", ".join(map(str, lines[:SHOWN_LINES])) + (", …" if len(lines) > SHOWN_LINES else "")
    return f"`{old}` still stands" + (f" on line {where}" if lines else "")


def job_of(
    source: Source, guess: RenameGuess, settings: Settings, most: int = MAX_SHOWN_CHARACTERS
) -> Job:
    """The Job of a file whose places are known. Its text is known too, unless it holds mentions
    that the model decides. `most`: the characters that the model is shown."""
    reason = by_rule(settings) if any(place.undecided for place in guess.places) else ""
    question = None if reason else question_of(source, guess, most)
    instruction = INSTRUCTION.format(old=guess.old, new=guess.new, reach=REACHING[settings.scope])
    checks = checks_of_rename(settings)
    if question is None:
        work = Job(
            source,
            source,
            Plan(()),
            whole(source),
            instruction,
            partial(guarded, source, instruction, checks),
            known=guess.text,
        )
    else:
        about = question.excerpt
        prediction: str | None = question.prediction
        if settings.prediction != "original":
            prediction = expected(about, whole(about), settings)
        work = make_job(
            about,
            whole(about),
            instruction,
            settings,
            prediction,
            now=source,
            checks=checks,
            copies=True,
            partial=True,
            rated=False,
        )
    judge = partial(guarded, source, instruction, checks)
    needed = not guess.same_shape or any(verdict != OFF for verdict in checks.verdicts.values())
    asked = question.asked if question is not None else []
    rest = [place for place in guess.places if place.undecided and place not in asked]
    return replace(
        work,
        checks=checks,
        check=partial(settled, source, guess, question, judge if needed else None),
        divisible=False,
        findings=(*guess.findings, *_by_rule(rest, reason or "too many to ask about")),
    )


def _by_rule(places: list[Place], reason: str) -> Iterator[Finding]:
    if places:
        lines = sorted({place.line for place in places})
        yield doubt(f"mentions were decided by rule ({reason})", lines, "by-rule")


def checks_of_rename(settings: Settings) -> Checks:
    """The checks of a rename that the settings name."""
    chosen = verdicts_of_rename(strict=settings.strict, allowed=settings.allowed)
    if not settings.check_with:
        chosen = {**chosen, CHECKER: OFF}
    return Checks(True, chosen, settings.check_with)  # nothing but names can be lost


def untouched(source: Source, *notes: Finding) -> Edit:
    return Edit(
        source.name,
        "unchanged",
        source.data,
        source.data,
        findings=notes,
        before_sha256=source.sha256,
        after_sha256=source.sha256,
    )


def changes(places: Iterable[Place]) -> tuple[Replaced, ...]:
    """The places of a rename, for the report."""
    return tuple(
        Replaced(place.line, place.column, place.kind, place.replaced, place.replacement, place.why)
        for place in places
    )


def settled(
    source: Source,
    guess: RenameGuess,
    question: MentionQuestion | None,
    checked: Check | None,
    answer: str,
) -> Checked:
    """The text to write after an answer, and its places: all but the mentions that it leaves."""
    left = left_by(question, answer) if question is not None else []
    places = [place for place in guess.places if place not in left]
    text = applied(source.text, [(place.offset, place) for place in places])
    verdict = checked(text) if checked is not None else Checked(text)
    disagreed = (
        Finding(
            "disagreed",
            f"line {place.line}: the model keeps `{place.replaced}`, so it was kept",
            (Spot(place.line),),
        )
        for place in left
    )
    return Checked(verdict.text, (*disagreed, *verdict.findings), changes(places))
