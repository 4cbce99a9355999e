"""Lay a snippet into a file: one place for every chunk, or what stands against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from specedit.edit.apply.alignment import AlignedLine, Aligner
from specedit.edit.apply.change import Snippet
from specedit.edit.apply.merged import Ambiguity, Reading, Splice, joined
from specedit.edit.apply.part_places import FileIndex, margin, squeezed
from specedit.edit.apply.scoring import REMARK, costs_of
from specedit.edit.apply.snippet import Prepared, prepared
from specedit.edit.apply.snippet_parts import elided
from specedit.import_time import frozen
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol

MARGIN = 0.6  # by which the best alignment must lead
MOST = 60  # alternatives that are looked at
BESIDE = "may replace this line, or stand beside it"
NOWHERE = "shows no line of the file around it, so nothing says where it belongs"
SHOW, SPLIT = "show the lines that change", "split the change"
LARGEST = 2_000_000  # pairs of lines


@frozen
class Laid:
    """A snippet on a file's lines."""

    readings: tuple[Reading, ...] = ((),)  # the best first
    refused: tuple[Ambiguity, ...] = ()  # why it cannot be laid at all

    @property
    def doubts(self) -> list[Ambiguity]:
        return [doubt for one in self.readings[0] for doubt in one.doubts]


def laid(
    snippet: Snippet, index: FileIndex, symbols: Sequence[Symbol], language: Language | None
) -> Laid:
    """What a snippet replaces, and what stands against it."""
    cut = elided(snippet.lines, "\n".join(index.lines))
    first = next((line.strip() for line in snippet.lines if line.strip()), "")
    if not any(line.strip() for line in cut.lines):
        return Laid(refused=(Ambiguity(first, "it shows nothing but elisions", hint=SHOW),))
    ready = prepared(cut, index, symbols, language)
    if dropped := _dropped_members(ready, symbols):
        return Laid(refused=tuple(dropped))
    if (replaced := _replaced(ready)) is not None:
        return Laid((replaced,))
    if len(ready.lines) * len(index.lines) > LARGEST:
        return Laid(refused=(Ambiguity(first, "too long to compare with this file", hint=SPLIT),))
    aligner = Aligner(costs_of(ready, index))
    path = aligner.path()
    writer = _Writer(ready, index, symbols)
    best = writer.splices(path)
    others = [
        (line, at, aligner.path_through(line, at))
        for line, at, _ in islice(aligner.alternatives(path, MARGIN), MOST)
    ]
    readings = {tuple(joined(index.lines, best)): best}
    places: dict[int, set[int]] = {}  # of each chunk: the rows of other readings
    chunks = ready.chunks()
    for line, at, other in others:
        splices = writer.splices(other)
        if readings.setdefault(tuple(joined(index.lines, splices)), splices) is splices:
            n = next(n for n, (start, end) in enumerate(chunks) if start <= line < end)
            own = {path[line].at} if path[line].matched and n not in places else set()
            places.setdefault(n, own).add(at)
    for n, rows in places.items():
        spans = tuple((row + 1, row + 1) for row in sorted(rows)[:8])
        reason = f"fits {len(rows)} places equally"
        if len(rows) == 1:  # in the best reading it is new
            reason = "may be new, or this line"
        doubt = Ambiguity(ready.lines[chunks[n][0]].strip(), reason, spans)
        best[n] = replace(best[n], doubts=(*best[n].doubts, doubt))
    if any(one.doubts for one in best):
        for other in writer.edge_paths(path, aligner):
            splices = writer.splices(other)
            readings.setdefault(tuple(joined(index.lines, splices)), splices)
    return Laid((tuple(best), *map(tuple, list(readings.values())[1:])))


def _replaced(ready: Prepared) -> Reading | None:
    """Whole definitions replaced, where the snippet shows nothing else."""
    pairs = {(pair.own.first, pair.own.last): pair for pair in ready.pairs}
    if not set(ready.chunks()) <= pairs.keys():
        return None
    ordered = sorted(pairs.values(), key=lambda pair: pair.old.first_line)
    if any(one.old.last_line >= two.old.first_line for one, two in pairwise(ordered)):
        return None
    return tuple(
        Splice(
            pair.old.first_line - 1,
            pair.old.last_line,
            ready.lines[pair.own.first : pair.own.last],
            "matched",
        )
        for pair in ordered
    )


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
            reason = f"shows `{pair.old.qualified}` without `{', '.join(lost[:4])}` or `...`"
            place = (pair.old.first_line, pair.old.last_line)
            result.append(Ambiguity(ready.lines[pair.own.first].strip(), reason, (place,), SHOW))
    return result


class _Writer:
    """What the chunks of an alignment replace, and what stands against each."""

    def __init__(self, ready: Prepared, index: FileIndex, symbols: Sequence[Symbol]) -> None:
        self._ready = ready
        self._index = index
        self._symbols = symbols
        self._bound = {pair.own.first for pair in ready.pairs}
        self._bound |= {pair.own.last - 1 for pair in ready.pairs}

    def _equal(self, n: int, step: AlignedLine) -> bool:
        same = self._ready.lines[n].rstrip() == self._index.lines[step.at].rstrip()
        return step.matched and same

    def splices(self, path: Sequence[AlignedLine]) -> list[Splice]:
        """One for each chunk."""
        ready, old = self._ready, self._index.lines
        equal = all(not step.matched or self._equal(n, step) for n, step in enumerate(path))
        how = "exact" if equal and not (ready.reindented or ready.pairs) else "matched"
        result: list[Splice] = []
        at, above = 0, ""  # file lines that are done, and the line above
        for start, end in ready.chunks():
            steps = path[start:end]
            doubts: list[Ambiguity] = []
            floating = not any(step.matched for step in steps)
            head = self._place_of_new(start, end, path) if floating else steps[0].at
            before, behind = ready.blanks[start][0], ready.blanks[end - 1][1]
            if head is None:
                doubts.append(Ambiguity(ready.lines[start].strip(), NOWHERE))
                head = steps[0].at
            elif floating:
                before = before or 1
            head = max(at, head)
            above = old[head - 1] if head > at else above
            if not floating:
                doubts += [doubt for doubt, *_ in self._edges(start, end, path)]
            if steps[0].matched or not above.strip():
                before = 0
            at = max(head, *(step.at + 1 for step in steps if step.matched), head)
            if not floating:
                at = max(at, *(step.at for step in steps))
            if steps[-1].matched or at >= len(old) or not old[at].strip():
                behind = 0
            lines = (*[""] * before, *ready.lines[start:end], *[""] * behind)
            above = lines[-1]
            result.append(Splice(head, at, lines, how, tuple(doubts)))
        return result

    def _place_of_new(self, start: int, end: int, path: Sequence[AlignedLine]) -> int | None:
        """Where a chunk of new lines alone goes: whole definitions stand last in their class, or
        in the file."""
        ready = self._ready
        if end < len(ready.lines) or ready.gaps[end] is not None:
            return None
        covered = {
            n for one in ready.shown if start <= one.first for n in range(one.first, one.last)
        }
        rest = [ready.lines[n].strip() for n in range(start, end) if n not in covered]
        if not covered or any(line and not line.startswith(REMARK) for line in rest):
            return None
        depth = len(margin(ready.lines[start]))
        if not depth:
            return len(self._index.lines)
        for n in range(start - 1, -1, -1):
            if ready.lines[n].strip() and len(margin(ready.lines[n])) < depth:
                row = path[n].at + 1 if path[n].matched else 0
                ends = [s.last_line for s in self._symbols if s.first_line <= row <= s.last_line]
                if not ends:
                    return None
                return ends[-1] - (self._index.lines[ends[-1] - 1].strip()[:1] == "}")
        return None

    def edge_paths(
        self, path: Sequence[AlignedLine], aligner: Aligner
    ) -> Iterator[list[AlignedLine]]:
        """The other reading of each line that is unsure at the end of a chunk, and of all that may
        stand beside a line like them."""
        beside = list(path)
        for start, end in self._ready.chunks():
            for _, n, rows in self._edges(start, end, path):
                if path[n].matched:
                    beside[n] = AlignedLine(path[n].at + (n == start < end - 1), False)
                    yield [*path[:n], beside[n], *path[n + 1 :]]
                for row in rows if not path[n].matched else ():
                    if aligner.may_match(n, row):
                        yield aligner.path_through(n, row)
        yield beside

    def _edges(
        self, start: int, end: int, path: Sequence[AlignedLine]
    ) -> list[tuple[Ambiguity, int, Sequence[int]]]:
        """What is unsure at the open ends of a chunk: whether a line there replaces one like it, or
        stands beside it. Each with its line, and the file lines that it may be or replace."""
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

        def unsure(n: int, reason: str, rows: Sequence[int]) -> None:
            places = tuple((row + 1, row + 1) for row in rows)
            result.append((Ambiguity(ready.lines[n].strip(), reason, places), n, rows))

        for n in [*head, *tail]:
            step = path[n]
            unlike = step.matched and not self._equal(n, step) and n not in self._bound
            if unlike and not same_head(ready.lines[n], old[step.at]):
                unsure(n, BESIDE, [step.at])
        fresh = {n for one in ready.fresh for n in range(one.first, one.last)}
        for n in {start, end - 1} - fresh:
            if not path[n].matched and ready.lines[n].rstrip() in self._index.rows(1):
                rows = self._index.rows(1)[ready.lines[n].rstrip()][:8]
                unsure(n, "may be new, or this line", rows)
        return result


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
