"""What the model is asked about a rename, and what its answer decides.

A mention outside of code is `undecided` where it may be ordinary language. The model is shown small
windows around such mentions; the prediction has all of them renamed. Those that it leaves, or is
not asked about, stay. Nothing else of its answer is used, so it cannot change code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate

from specedit.check.finding import CHECKER, OFF, Checks, Finding, Spot, verdicts_of_rename
from specedit.edit.backend import Plan
from specedit.edit.job import Job, expected, make_job
from specedit.edit.report import Check, Checked, Replaced, guarded
from specedit.edit.splice import whole
from specedit.errors import SpeceditError
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.syntax.identifiers import ARTICLES
from specedit.syntax.lines import WORD, lines_of, opcodes

CONTEXT_LINES = 1  # lines on each side of a mention
# Characters that one rename shows, 2 to 4 s on two cores; the rule decides the rest
MAX_SHOWN_CHARACTERS = 1_500
INSTRUCTION = (
    "Rename the identifier `{old}` to `{new}` everywhere in this file{reach}. Change nothing else."
)
REACHING = {  # of a scope, to the model
    "code": ", in code only: leave comments and strings as they are",
    "comments": ", in code and where comments and documentation mention it",
    "derived": ", with the names built from it, in code, comments and strings",
}

Span = tuple[int, int]


# the prediction: what a rename writes before any model is asked


@dataclass(frozen=True, slots=True)
class Place:
    """One replacement. `offset` counts characters of the original."""

    offset: int
    line: int
    kind: str  # "code" | "comment" | "string" | "derived"
    replaced: str
    replacement: str
    column: int = 0  # from 1
    why: str = ""  # what makes this place one that is renamed
    undecided: bool = False  # a mention that may be ordinary language: the model is asked


@dataclass(frozen=True, slots=True)
class RenameGuess:
    """The predicted text of one file and everything that the user should know about it."""

    old: str
    new: str
    text: str
    places: tuple[Place, ...]
    outside: tuple[Finding, ...] = ()  # what the scope leaves, and the flag that takes it in
    collisions: tuple[Finding, ...] = ()  # NEW means something there already
    notes: tuple[Finding, ...] = ()  # where a reader should look twice
    undecided: tuple[Finding, ...] = ()  # places that stay, because their meaning is unknown
    same_shape: bool = False  # the new text has the syntax tree of the old one

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The notes about the choice of places."""
        return (*self.notes, *self.undecided, *self.outside)


def doubt(text: str, lines: Iterable[int] = (), kind: str = "unsure") -> Finding:
    """A doubt about the choice of places, or about what is written there."""
    return Finding(kind, text, tuple(map(Spot, lines)))


def applied(text: str, places: Iterable[Place]) -> str:
    """The text with places replaced, each at its offset."""
    parts: list[str] = []
    at = 0
    for place in sorted(places, key=lambda place: place.offset):
        parts += [text[at : place.offset], place.replacement]
        at = place.offset + len(place.replaced)
    return "".join([*parts, text[at:]])


def without_prose(
    text: str, guess: RenameGuess, why: str, asked: Collection[Place] = ()
) -> RenameGuess:
    """The guess in which undecided mentions stay, except those that the model is asked about."""
    left = {place for place in guess.places if place.undecided} - {*asked}
    if not left:
        return guess
    words = [place for place in guess.places if place in left and place.replaced not in ARTICLES]
    lines = sorted({place.line for place in words})
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"
    message = f"`{guess.old}` on {where} may be ordinary language: not renamed ({why})"
    spots = tuple(Spot(place.line, place.column) for place in words)
    places = tuple(place for place in guess.places if place not in left)
    undecided = (*guess.undecided, Finding("prose", message, spots))
    return replace(guess, places=places, text=applied(text, places), undecided=undecided)


# the question


@dataclass(frozen=True, slots=True)
class MentionQuestion:
    """The windows of one file as one text, and the places in it, each with its offset there."""

    excerpt: Source
    prediction: str
    places: tuple[tuple[int, Place], ...]


def question_of(source: Source, guess: RenameGuess, most: int) -> MentionQuestion | None:
    """The question about a file, in at most that many characters; None where there is none."""
    lines = lines_of(source.text)
    starts = _starts(lines)
    windows = _windows([place.line for place in guess.places if place.undecided], len(lines))
    if len(source.text) <= most:
        windows = [(1, len(lines))]
    text = ""
    inside: list[tuple[int, Place]] = []
    for first, last in windows:
        start, end = starts[first - 1], starts[last]
        if len(text) + end - start > most:
            continue
        if text:
            text += "\n"
        inside += [
            (place.offset - start + len(text), place)
            for place in guess.places
            if start <= place.offset < end
        ]
        text += source.text[start:end]
    if not any(place.undecided for _, place in inside):
        return None
    excerpt = Source(source.name, text, text.encode("utf-8", "surrogatepass"))
    prediction = applied(text, (replace(place, offset=offset) for offset, place in inside))
    return MentionQuestion(excerpt, prediction, tuple(inside))


def _windows(numbers: Iterable[int], count: int) -> list[Span]:
    """Lines [first, last] around each of `numbers`, joined where they meet."""
    result: list[Span] = []
    for number in sorted(numbers):
        first, last = max(1, number - CONTEXT_LINES), min(count, number + CONTEXT_LINES)
        if result and first <= result[-1][1] + 1:
            first = result.pop()[0]
        result.append((first, last))
    return result


def _starts(parts: Iterable[str]) -> list[int]:
    """Where each part begins in the text that they make, and where the last one ends."""
    return list(accumulate(map(len, parts), initial=0))


# its answer


def left_by(question: MentionQuestion, answer: str) -> list[Place]:
    """The mentions that the model leaves, with their articles; none if it also leaves code."""
    unchanged = list(_unchanged(question.excerpt.text, answer))
    left = [
        (offset, place)
        for offset, place in question.places
        if any(a <= offset and offset + len(place.replaced) <= b for a, b in unchanged)
    ]
    if any(not place.undecided and place.kind == "code" for _, place in left):
        return []
    at = {
        offset
        for offset, place in left
        if place.undecided and place.replaced.lower() not in ARTICLES
    }
    return [
        place
        for offset, place in question.places
        if offset in at
        or (place.replaced.lower() in ARTICLES and offset + len(place.replaced) + 1 in at)
    ]


def _unchanged(before: str, after: str) -> Iterator[Span]:
    """The character ranges of `before` that are in `after`, word by word."""
    old, new = lines_of(before), lines_of(after)
    starts = _starts(old)
    for tag, a, b, c, d in opcodes(old, new):
        if tag == "equal":
            yield starts[a], starts[b]
        elif tag == "replace":
            words = WORD.findall("".join(old[a:b]))
            at = [starts[a] + start for start in _starts(words)]
            for inner, i, j, *_ in opcodes(words, WORD.findall("".join(new[c:d]))):
                if inner == "equal":
                    yield at[i], at[j]


# the Job


def job_of(
    source: Source, guess: RenameGuess, settings: Settings, most: int = MAX_SHOWN_CHARACTERS
) -> Job:
    """The Job of a file whose places are known. `most`: the characters that the model is shown."""
    undecided = [place for place in guess.places if place.undecided]
    reason = why_by_rule(settings) if undecided else ""
    question = question_of(source, guess, most) if undecided and not reason else None
    asked = {place for _, place in question.places} if question is not None else set()
    by_rule, reason = {*undecided} - asked, reason or "too many to ask about"
    if settings.scope != "derived":
        guess = without_prose(source.text, guess, reason, asked)
    elif by_rule:
        lines = sorted({place.line for place in by_rule})
        text = f"mentions were decided by rule ({reason})"
        guess = replace(guess, notes=(*guess.notes, doubt(text, lines, "by-rule")))
    instruction = INSTRUCTION.format(old=guess.old, new=guess.new, reach=REACHING[settings.scope])
    verdicts = verdicts_of_rename(strict=settings.strict, allowed=settings.allowed)
    if not settings.check_with:
        verdicts = {**verdicts, CHECKER: OFF}
    checks = partial(Checks, True, verdicts, settings.check_with)  # nothing but names can be lost
    needed = not guess.same_shape or any(verdict != OFF for verdict in verdicts.values())
    inner = partial(guarded, source, instruction, checks) if needed else None
    check = partial(settled, source, guess, question, inner)
    if question is None:
        plan, region = Plan(()), whole(source)
        return Job(
            source,
            source,
            plan,
            region,
            instruction,
            check,
            checks,
            divisible=False,
            findings=guess.findings,
            known=guess.text,
        )
    about = question.excerpt
    prediction: str | None = question.prediction
    if settings.prediction != "original":
        prediction = expected(about, whole(about), settings)
    return make_job(
        about,
        whole(about),
        instruction,
        settings,
        prediction,
        now=source,
        checks=checks,
        check=check,
        copies=True,
        divisible=False,
        findings=guess.findings,
        partial=True,
    )


def why_by_rule(settings: Settings) -> str:
    """Why no model is asked; "" where one is."""
    if settings.no_model:
        return "--no-model"
    if settings.server not in ("auto", "off"):
        return ""
    from specedit.models import resolve  # 80 ms, for renames with undecided mentions only

    try:
        if resolve.local(settings.model) is not None:
            return ""
    except SpeceditError:
        return ""  # loading it says what is wrong
    return f"{settings.model} is not on this machine: specedit model pull fetches it"


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
    text = applied(source.text, places)
    verdict = checked(text) if checked is not None else Checked(text)
    disagreed = (
        doubt(
            f"line {place.line}: the model keeps `{place.replaced}`, so it was kept",
            (place.line,),
            "disagreed",
        )
        for place in left
    )
    changes = tuple(
        Replaced(place.line, place.column, place.kind, place.replaced, place.replacement, place.why)
        for place in places
    )
    return Checked(verdict.text, (*disagreed, *verdict.findings), changes)
