"""Keeps a rename to what its scope allows, whatever the model wrote.

The model's text is compared with the prediction, change by change. The result is the original plus
places that tree-sitter found or a spelling of the name in a comment: by construction nothing else
differs. Where the two disagree, the report says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from specedit.rename.guess import Place, RenameGuess
from specedit.scoping.languages import rules_of
from specedit.syntax import identifiers as names
from specedit.syntax.branch import grow
from specedit.syntax.diff import WORD
from specedit.syntax.languages import Language
from specedit.syntax.lines import lines_of, opcodes
from specedit.syntax.passages import passages

FUZZY = frozenset({"comment", "string", "derived"})  # what a reader judges better than a grammar
SHOWN = 80


@dataclass(frozen=True)
class Dropped:
    """A change of the model that the scope does not allow."""

    line: int  # of the original
    wanted: str  # the model's line
    instead: str  # the line as it is written
    of_name: bool = False  # it is about a place of the identifier itself

    def __str__(self) -> str:
        shown = self.wanted.strip()[:SHOWN] or "(nothing)"
        return f"line {self.line}: the model also wanted `{shown}`, not applied"


@dataclass(frozen=True)
class Disagreement:
    """A place of which the model and tree-sitter say different things."""

    line: int  # of the original
    said: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.said}"


@dataclass(frozen=True)
class GuardResult:
    """The text to write, and what is to be said about it."""

    text: str
    dropped: tuple[Dropped, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    places: tuple[Place, ...] = ()  # what was applied
    extra: bool = False  # the text holds changes beyond the rename, because they were allowed


@dataclass(frozen=True)
class _Change:
    """Characters [start, end) of the prediction are `new` in the model's text."""

    start: int
    end: int
    old: str
    new: str


def guard_rename(
    before: str,
    guess: RenameGuess,
    after: str,
    language: Language | None,
    scope: str = "comments",
    allow_extra: bool = False,
) -> GuardResult:
    """What of the model's text `after` may stand."""
    if after == guess.text:
        return GuardResult(guess.text, places=guess.places)
    shifts = _Shifts(guess.places)
    vetoed: set[Place] = set()
    added: list[Place] = []
    disagreements: list[Disagreement] = []
    dropped: list[Dropped] = []
    commented = _Commented(before, language)
    for change in _changes(guess.text, after):
        touched = shifts.touched(change)
        start, end, wanted = shifts.back(change, touched, guess.text)
        line = before.count("\n", 0, start) + 1
        if touched and wanted == before[start:end]:
            fuzzy = all(place.kind in FUZZY for place in touched)
            vetoed.update(touched if fuzzy else ())
            name = touched[0].replaced
            disagreements.append(
                Disagreement(
                    line,
                    f"the model keeps `{name}`, "
                    + ("so it was kept" if fuzzy else "tree-sitter says it is the same; renamed"),
                )
            )
        elif not touched and _spells(before, start, end, wanted, guess, scope, commented):
            added.append(Place(start, line, "comment", before[start:end], wanted))
        elif (
            not touched
            and (before[start:end], wanted) == (guess.old, guess.new)
            and not commented.holds(start, end)
        ):
            disagreements.append(
                Disagreement(
                    line,
                    f"the model also renames `{guess.old}`, "
                    "tree-sitter says it is something else; not renamed",
                )
            )
        else:
            texts = {*names.NAME.findall(before[start:end]), *names.NAME.findall(wanted)}
            about = {guess.old, guess.new} & texts and not commented.holds(start, end)
            dropped.append(_dropped(before, guess.text, after, change, line, bool(about)))
    if allow_extra:
        return GuardResult(after, (), tuple(disagreements), guess.places, extra=bool(dropped))
    places = [place for place in guess.places if place not in vetoed] + added
    applied = tuple(sorted(places, key=lambda one: one.offset))
    return GuardResult(_applied(before, places), _unique(dropped), tuple(disagreements), applied)


class _Shifts:
    """Where places stand in the predicted text, and back."""

    def __init__(self, places: tuple[Place, ...]) -> None:
        self.spans: list[tuple[int, int, Place]] = []
        shift = 0
        for place in sorted(places, key=lambda one: one.offset):
            start = place.offset + shift
            self.spans.append((start, start + len(place.replacement), place))
            shift += len(place.replacement) - len(place.replaced)

    def touched(self, change: _Change) -> list[Place]:
        return [
            place
            for start, end, place in self.spans
            if (start < change.end and change.start < end)
            or start == change.start == change.end < end
        ]

    def back(self, change: _Change, touched: list[Place], text: str) -> tuple[int, int, str]:
        """The range of the original, widened to whole places, and the model's text for it."""
        low, high = change.start, change.end
        for start, end, place in self.spans:
            if place in touched:
                low, high = min(low, start), max(high, end)
        wanted = text[low : change.start] + change.new + text[change.end : high]
        return self._original(low), self._original(high), wanted

    def _original(self, at: int) -> int:
        shift = 0
        for start, end, place in self.spans:
            if end <= at and (start, end) != (at, at):
                shift += len(place.replacement) - len(place.replaced)
        return at - shift


class _Commented:
    """Whether a range of characters lies in a comment."""

    def __init__(self, text: str, language: Language | None) -> None:
        self.text = text
        self.spans: list[tuple[int, int]] = []
        if language is not None and language.grammar:
            data = text.encode("utf-8", "surrogatepass")
            rules = rules_of(language.name)
            known = (rules.strings, rules.opaque) if rules is not None else ()
            result = passages(grow(text, language), data, *known)
            self.spans = [(one.start, one.end) for one in result if one.kind == "comment"]

    def holds(self, start: int, end: int) -> bool:
        low = len(self.text[:start].encode("utf-8", "surrogatepass"))
        high = low + len(self.text[start:end].encode("utf-8", "surrogatepass"))
        return any(a <= low and high <= b for a, b in self.spans)


def _changes(predicted: str, after: str) -> Iterator[_Change]:
    """Word by word inside the lines that differ."""
    old, new = lines_of(predicted), lines_of(after)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    for tag, a, b, c, d in opcodes(old, new):
        if tag == "equal":
            continue
        left, right = WORD.findall("".join(old[a:b])), WORD.findall("".join(new[c:d]))
        at = [starts[a]]
        for word in left:
            at.append(at[-1] + len(word))
        for inner, i, j, k, m in opcodes(left, right):
            if inner != "equal":
                yield _Change(at[i], at[j], "".join(left[i:j]), "".join(right[k:m]))


def _spells(
    before: str,
    start: int,
    end: int,
    wanted: str,
    guess: RenameGuess,
    scope: str,
    commented: _Commented,
) -> bool:
    """Whether a change writes the name's other spelling in a comment, which the scope allows."""
    if scope == "code" or not commented.holds(start, end):
        return False
    spellings = names.variants(guess.old, guess.new)
    old, new = before[start:end].lower(), wanted.lower()
    return any(old == one.lower() and new == other.lower() for one, other in spellings.items())


def _dropped(
    before: str, predicted: str, after: str, change: _Change, line: int, of_name: bool
) -> Dropped:
    low = predicted.rfind("\n", 0, change.start) + 1
    high = predicted.find("\n", change.end)
    high = len(predicted) if high < 0 else high
    wanted = predicted[low : change.start] + change.new + predicted[change.end : high]
    return Dropped(line, wanted, predicted[low:high], of_name)


def _unique(dropped: list[Dropped]) -> tuple[Dropped, ...]:
    """One entry for a line, however many words of it the model changed."""
    lines: dict[int, Dropped] = {}
    for one in sorted(dropped, key=lambda one: not one.of_name):
        lines.setdefault(one.line, one)
    return tuple(lines[line] for line in sorted(lines))


def _applied(before: str, places: list[Place]) -> str:
    out: list[str] = []
    at = 0
    for place in sorted(places, key=lambda one: one.offset):
        if place.offset < at:
            continue
        out += [before[at : place.offset], place.replacement]
        at = place.offset + len(place.replaced)
    return "".join([*out, before[at:]])
