"""Mentions that syntax cannot decide: what the model is shown, and what its answer decides.

The model is shown small windows of the file around these mentions; the prediction is the same text
with all of them substituted. A mention that it leaves unchanged stays as it is. Nothing else of its
answer is used, so it cannot change code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specedit.errors import SpeceditError
from specedit.files.source import Source
from specedit.rename.guess import Place, RenameGuess, applied
from specedit.settings import Settings
from specedit.syntax.diff import WORD
from specedit.syntax.identifiers import ARTICLES
from specedit.syntax.lines import lines_of, opcodes

AROUND = 1  # lines on each side of a mention
MOST = 1_500  # characters that one rename shows, 2 to 4 s on two cores; the rule decides the rest

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


def question_of(source: Source, guess: RenameGuess, most: int = MOST) -> MentionQuestion | None:
    """What the model is asked about a file, in at most that many characters; None where every
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
        first, last = max(1, number - AROUND), min(count, number + AROUND)
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
