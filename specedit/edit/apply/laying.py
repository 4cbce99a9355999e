"""Lay a snippet into a file: one place for every chunk, or what stands against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from specedit.edit.apply.alignment import AlignedLine, Aligner
from specedit.edit.apply.change import Snippet
from specedit.edit.apply.elision import elided
from specedit.edit.apply.merged import Ambiguity, Lines
from specedit.edit.apply.part_places import FileIndex, margin, squeezed
from specedit.edit.apply.scoring import costs_of
from specedit.edit.apply.similar import LIKE, likeness, weight
from specedit.edit.apply.snippet import Prepared, prepared
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol

MARGIN = 0.6  # by which the best alignment must lead
MOST = 60  # alternatives that are looked at
BESIDE = "may replace this line, or stand beside it"
LARGEST = 2_000_000  # pairs of lines


@dataclass(frozen=True)
class Laid:
    """The file with a snippet in it."""

    lines: tuple[str, ...]
    how: str


def laid(
    snippet: Snippet, index: FileIndex, symbols: Sequence[Symbol], language: Language | None
) -> Laid | list[Ambiguity]:
    """The file's lines with the snippet, or why a part of it has no one place."""
    cut = elided(snippet.lines, "\n".join(index.lines))
    first = next((line.strip() for line in snippet.lines if line.strip()), "")
    if not any(line.strip() for line in cut.lines):
        return [Ambiguity(first, "it shows nothing but elisions")]
    ready = prepared(cut, index, symbols, language)
    if doubts := _dropped_members(ready, symbols):
        return doubts
    if (replaced := _replaced(ready, index)) is not None:
        return replaced
    if len(ready.lines) * len(index.lines) > LARGEST:
        return [Ambiguity(first, "too long to compare with this file")]
    aligner = Aligner(costs_of(ready, index))
    path = aligner.path()
    writer = _Writer(ready, index, symbols, language)
    text, doubts = writer.written(path)
    if doubts:
        return doubts
    other: dict[tuple[str, ...], tuple[int, int]] = {}
    for line, at, _ in islice(aligner.alternatives(path, MARGIN), MOST):
        again, _ = writer.written(aligner.path_through(line, at))
        if again != text:
            other.setdefault(tuple(again), (line, at))
    if other:
        return [_several(ready, path, other.values())]
    exact = not ready.reindented and not ready.pairs and writer.all_equal(path)
    return Laid(tuple(text), "exact" if exact else "matched")


def _replaced(ready: Prepared, index: FileIndex) -> Laid | None:
    """The file with whole definitions replaced, where the snippet shows nothing else."""
    pairs = {(pair.own.first, pair.own.last): pair for pair in ready.pairs}
    if not set(ready.chunks()) <= pairs.keys():
        return None
    ordered = sorted(pairs.values(), key=lambda pair: pair.old.first_line)
    if any(one.old.last_line >= two.old.first_line for one, two in pairwise(ordered)):
        return None
    result: list[str] = []
    at = 0
    for pair in ordered:
        result += index.lines[at : pair.old.first_line - 1]
        result += ready.lines[pair.own.first : pair.own.last]
        at = pair.old.last_line
    return Laid((*result, *index.lines[at:]), "matched")


def _several(ready: Prepared, path: Sequence[AlignedLine], others: object) -> Ambiguity:
    line, _ = next(iter(others))  # type: ignore[call-overload]
    chunk = next((a, b) for a, b in ready.chunks() if a <= line < b)
    first = next(x.strip() for x in ready.lines[chunk[0] :] if x.strip())
    places: list[Lines] = []
    own = path[line]
    rows = [own.at] if own.matched else []
    rows += [at for n, at in others if chunk[0] <= n < chunk[1]]  # type: ignore[attr-defined]
    for row in sorted(set(rows)):
        places.append((row + 1, row + 1))
    return Ambiguity(first, f"fits {max(2, len(places))} places equally", tuple(places[:8]))


def _dropped_members(ready: Prepared, symbols: Sequence[Symbol]) -> list[Ambiguity]:
    """Types that the snippet shows whole, but without some of their members."""
    result = []
    for pair in ready.pairs:
        if pair.own.kind not in ("class", "interface", "enum"):
            continue
        names = {one.name for one in ready.shown if pair.own.first < one.first < pair.own.last}
        inner = [
            one.name
            for one in symbols
            if pair.old.first_line < one.first_line
            and one.last_line <= pair.old.last_line
            and one.kind in ("function", "method", "class", "interface", "enum")
        ]
        if lost := [one for one in inner if one not in names]:
            reason = f"shows `{pair.old.qualified}` without `{', '.join(lost[:4])}` and no elision"
            place = (pair.old.first_line, pair.old.last_line)
            result.append(Ambiguity(ready.lines[pair.own.first].strip(), reason, (place,)))
    return result


class _Writer:
    """Writes the text of an alignment, and finds what stands against it."""

    def __init__(
        self,
        ready: Prepared,
        index: FileIndex,
        symbols: Sequence[Symbol],
        language: Language | None,
    ) -> None:
        self._ready = ready
        self._index = index
        self._symbols = symbols
        self._language = language
        self._bound = {pair.own.first for pair in ready.pairs}
        self._bound |= {pair.own.last - 1 for pair in ready.pairs}

    def _equal(self, n: int, step: AlignedLine) -> bool:
        same = self._ready.lines[n].rstrip() == self._index.lines[step.at].rstrip()
        return step.matched and same

    def all_equal(self, path: Sequence[AlignedLine]) -> bool:
        return all(not step.matched or self._equal(n, step) for n, step in enumerate(path))

    def written(self, path: Sequence[AlignedLine]) -> tuple[list[str], list[Ambiguity]]:
        """The new text's lines, and the chunks that have no sure place."""
        ready, old = self._ready, self._index.lines
        result: list[str] = []
        doubts: list[Ambiguity] = []
        at = 0
        for start, end in ready.chunks():
            steps = path[start:end]
            floating = not any(step.matched for step in steps)
            head = self._place_of_new(start, end, path) if floating else steps[0].at
            if head is None:
                reason = "shows no line of the file around it, so nothing says where it belongs"
                doubts.append(Ambiguity(ready.lines[start].strip(), reason))
                head = max(at, steps[0].at)
            head = max(at, head)
            result += old[at:head]
            at = head
            if not floating:
                doubts += self._edges(start, end, path)
            if not steps[0].matched:
                blanks = ready.blanks[start][0]
                if floating and not blanks and result and result[-1].strip():
                    blanks = self._separation()
                if result and result[-1].strip():
                    result += [""] * blanks
            for n in range(start, end):
                step = path[n]
                if step.matched:
                    at = step.at + 1
                    result.append(ready.lines[n])
                else:
                    at = max(at, step.at) if not floating else at
                    result.append(ready.lines[n])
            if not steps[-1].matched and at < len(old) and old[at].strip():
                result += [""] * ready.blanks[end - 1][1]
        return [*result, *old[at:]], doubts

    def _separation(self) -> int:
        return 1

    def _place_of_new(self, start: int, end: int, path: Sequence[AlignedLine]) -> int | None:
        """Where a chunk of new lines alone goes: whole definitions stand last in their class, or
        in the file."""
        ready = self._ready
        if end < len(ready.lines) or ready.gaps[end] is not None:
            return None
        covered = {
            n for one in ready.shown if start <= one.first for n in range(one.first, one.last)
        }
        if (
            any(
                ready.lines[n].strip()
                and n not in covered
                and ready.lines[n].strip()[0] not in "#/*@["
                for n in range(start, end)
            )
            or not covered
        ):
            return None
        depth = len(margin(ready.lines[start]))
        if not depth:
            return len(self._index.lines)
        for n in range(start - 1, -1, -1):
            if ready.lines[n].strip() and len(margin(ready.lines[n])) < depth:
                if not path[n].matched:
                    return None
                row = path[n].at
                inner = [s for s in self._symbols if s.first_line <= row + 1 <= s.last_line]
                if not inner:
                    return None
                last = inner[-1].last_line
                closing = self._index.lines[last - 1].strip()[:1] == "}"
                return last - 1 if closing else last
        return None

    def _edges(self, start: int, end: int, path: Sequence[AlignedLine]) -> list[Ambiguity]:
        """What is unsure at the open ends of a chunk: whether a line there replaces one like it, or
        stands beside it."""
        ready, old = self._ready, self._index.lines
        solid = [
            n
            for n in range(start, end)
            if path[n].matched and (self._equal(n, path[n]) or n in self._bound)
        ]
        strong = [n for n in solid if ready.lines[n].strip()]
        head = range(start, (strong or [end])[0])
        tail = range((strong[-1] + 1) if strong else end, end)
        result = []
        for n in [*head, *tail]:
            step = path[n]
            line = ready.lines[n]
            unlike = step.matched and not self._equal(n, step) and n not in self._bound
            if unlike and not same_head(line, old[step.at]):
                result.append(Ambiguity(line.strip(), BESIDE, ((step.at + 1, step.at + 1),)))
        fresh = {n for one in ready.fresh for n in range(one.first, one.last)}
        for n in {start, end - 1} - fresh:
            if not path[n].matched and ready.lines[n].rstrip() in self._index.rows(1):
                rows = self._index.rows(1)[ready.lines[n].rstrip()]
                places = tuple((row + 1, row + 1) for row in rows[:8])
                result.append(Ambiguity(ready.lines[n].strip(), "may be new, or this line", places))
        news = [n for n in head if not path[n].matched and n not in fresh]
        if news and strong and not path[start].matched:
            row = path[strong[0]].at
            result += self._beside(news, range(max(0, row - len(news) - 1), row))
        news = [n for n in tail if not path[n].matched and n not in fresh]
        if news and strong and not path[end - 1].matched:
            row = path[strong[-1]].at + 1
            result += self._beside(news, range(row, min(len(old), row + len(news) + 1)))
        return result

    def _beside(self, news: Sequence[int], rows: range) -> list[Ambiguity]:
        for n in news:
            line = self._ready.lines[n]
            if weight(line) < 0.6:
                continue
            for row in rows:
                if weight(self._index.lines[row]) < 0.6:
                    continue
                if likeness(line, self._index.lines[row]) >= LIKE:
                    return [Ambiguity(line.strip(), BESIDE, ((row + 1, row + 1),))]
        return []


def same_head(one: str, other: str) -> bool:
    """Whether two lines set the same name: what is left of `=` or `:` is equal."""
    for sign in ("=", ":", "("):
        a, found, _ = one.partition(sign)
        b, also, _ = other.partition(sign)
        if found and also and squeezed(a) == squeezed(b) and any(map(str.isalnum, a)):
            return sign != "(" or any(
                word in a.split() for word in ("def", "func", "fn", "function", "class")
            )
    return False
