"""Lay a snippet into a file: definition by definition, and within each line by line.

A scope is a definition that the snippet shows in part, or the whole file. Its definitions that the
snippet shows, too, are single places in it, and each of them is a scope of its own. The other lines
of the snippet are aligned with the scope's lines. A definition that the file does not have stands
beside the line that it is shown beside, else last in its scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from specedit.edit.apply.alignment import NO, AlignedLine, Aligner, Costs
from specedit.edit.apply.change import Snippet
from specedit.edit.apply.markers import (
    LEFT_OUT,
    MAYBE,
    REMOVED,
    ShownLines,
    comment_text,
    is_remark,
    names_removed,
    shown_lines,
)
from specedit.edit.apply.merged import Ambiguity, Lines, clearer
from specedit.edit.apply.part_places import FileIndex, likeness, margin, same_line
from specedit.edit.apply.reindent import reindented
from specedit.edit.apply.scoring import FileColumn, SnippetRow, costs_of, stays_beside
from specedit.edit.apply.structure import (
    SPACE,
    TYPE,
    VALUE,
    Definition,
    continuous,
    file_definitions,
    paired,
    snippet_definitions,
    words_of_lines,
)
from specedit.syntax.languages import Language
from specedit.syntax.lines import common, opcodes

MARGIN = 0.6  # by which the best alignment must lead
MOST = 60  # alternatives that are looked at
BLOCKS = 4  # times that an alignment is corrected by blocks
SURELY = 0.8  # likeness of first lines from which two blocks are one
LARGEST = 2_000_000  # pairs of lines
SHOWS_MOST = 0.5  # share of a file's lines that a snippet of the whole file has at least
BESIDE = "may replace this line, or stand beside it"
NOWHERE = "shows no line of the file beside it, so nothing says where it belongs"
SHOW, SPLIT = "show the lines that change", "split the change"


@dataclass(frozen=True, slots=True)
class Open:
    """Lines of the file that a doubtful part of the change may replace."""

    before: tuple[str, ...]
    readings: tuple[tuple[str, ...], ...]  # the best first
    shown: tuple[str, ...]
    doubts: tuple[Ambiguity, ...]


Item = str | Open


@dataclass(frozen=True, slots=True)
class Laid:
    """The file's new lines, or why the snippet cannot be laid at all."""

    items: tuple[Item, ...] = ()
    refused: tuple[Ambiguity, ...] = ()
    exact: bool = True  # every line that stays is shown as the file has it

    @property
    def opened(self) -> list[Open]:
        return [item for item in self.items if isinstance(item, Open)]


def best_lines(items: Sequence[Item]) -> list[str]:
    """The lines, each doubtful part by its best reading."""
    result: list[str] = []
    for item in items:
        result += [item] if isinstance(item, str) else item.readings[0]
    return result


def laid(snippet: Snippet, file: Sequence[str], language: Language | None) -> Laid:
    """The file with a snippet, or what stands against it."""
    old = file_definitions(file, language)
    defined = {inner.name.rpartition(".")[2] for definition in old for inner in definition.walk()}
    shown = shown_lines(snippet.lines, file, defined)
    first = next((line.strip() for line in snippet.lines if line.strip()), "")
    code = zip(shown.lines, shown.kinds, strict=True)
    if REMOVED not in shown.kinds and not any(line.strip() and not kind for line, kind in code):
        return Laid(refused=(Ambiguity(first, "it shows nothing but elisions", hint=SHOW),))
    own = snippet_definitions(shown, language)
    merge = _Merge(shown, own, file, old, language)
    items = merge.whole_file() or merge.file()
    refused = [*merge.refused]
    if not refused:
        refused += merge.lost(best_lines(items))
    if refused:
        return Laid(refused=tuple(refused))
    return Laid(tuple(items), exact=merge.exact)


@dataclass(slots=True)
class _Scope:
    """The lines of one scope: rows of the snippet, columns of the file."""

    rows: list[SnippetRow] = field(default_factory=list)
    columns: list[FileColumn] = field(default_factory=list)
    after: dict[int, list[str]] = field(default_factory=dict)  # new definitions after a row,
    before: dict[int, list[str]] = field(default_factory=dict)  # before a row,
    last: list[str] = field(default_factory=list)  # and last in the scope
    inner: list[list[Item]] = field(default_factory=list)  # what the definitions of both become
    end: int = 0  # the file line after the scope


class _Merge:
    def __init__(
        self,
        shown: ShownLines,
        own: Sequence[Definition],
        file: Sequence[str],
        old: Sequence[Definition],
        language: Language | None,
    ) -> None:
        self.refused: list[Ambiguity] = []
        self.exact = True
        self._kinds = shown.kinds
        self._file = file
        self._index = FileIndex(file)
        self._old = old
        self._language = language
        self._removed: set[Definition] = set()
        every = [inner for definition in old for inner in definition.walk()]
        self._every = every
        self._holders = {child: one for one in every for child in one.children}
        self._own, self._root = self._apart(own, shown.lines)
        rows = self._index.rows(1)
        if not all(continuous(*pair, shown, file, rows, language) for pair in self._root.items()):
            self._own, self._root = (), {}  # its lines are of several definitions
        self._lines = reindented(shown, self._own, self._root, self._index)

    def _apart(
        self, own: Sequence[Definition], lines: Sequence[str]
    ) -> tuple[Sequence[Definition], dict[Definition, Definition]]:
        """The snippet's definitions, and the file's for which they stand. One that stands for the
        holder of another's is read as lines with its members."""
        while True:
            pairs = paired(own, self._every, lines, self._file, self._language)
            spans = sorted(
                ((old.first, -old.last, one) for one, old in pairs.pairs), key=lambda span: span[:2]
            )
            outer = {one for (_, last, one), (first, *_) in pairwise(spans) if first < -last}
            if not outer:
                return own, self._paired(own, self._every, lines)
            own = [part for one in own for part in (one.children if one in outer else (one,))]

    def _paired(
        self, own: Sequence[Definition], old: Sequence[Definition], lines: Sequence[str]
    ) -> dict[Definition, Definition]:
        found = paired(own, old, lines, self._file, self._language)
        pairs = dict(found.pairs)
        holders = {self._holders.get(old) for old in pairs.values()}
        for definition, others in found.unsure:
            here = [one for one in others if self._holders.get(one) in holders]
            if len(here) == 1:
                pairs[definition] = here[0]
                continue
            places = tuple((other.first + 1, other.last) for other in others)
            reason = f"may be one of {len(others)} definitions of this name"
            hint = "show the line that its holder begins with"
            head = lines[definition.first].strip()
            self.refused.append(Ambiguity(head, reason, places, hint))
        return pairs

    def whole_file(self) -> list[Item] | None:
        """The snippet, where it is the whole new file: without a marker, from the file's first line
        to its last one."""
        lines, file = self._lines, self._file
        solid = [n for n, line in enumerate(lines) if line.strip()]
        old = [line for line in file if line.strip()]
        if LEFT_OUT in self._kinds or REMOVED in self._kinds or not old:
            return None
        if lines[solid[0]] != old[0] or lines[solid[-1]] != old[-1]:
            return None
        known = set(lines)
        if len(solid) < 4 or sum(line in known for line in old) < SHOWS_MOST * len(old):
            return None
        tops = [definition for definition in self._old if definition.kind != VALUE]
        if sum(definition in self._root.values() for definition in tops) < SHOWS_MOST * len(tops):
            return None
        used = words_of_lines(lines)
        self._removed |= {one for one in self._every if one.name not in used}
        tail = len(file) - 1 - max(n for n, line in enumerate(file) if line.strip())
        return [*lines[solid[0] : solid[-1] + 1], *[""] * tail]

    def file(self) -> list[Item]:
        """The whole file as a scope."""
        return self._scope(0, len(self._lines), self._own, 0, len(self._file), self._every, None)

    def lost(self, lines: Sequence[str]) -> Iterator[Ambiguity]:
        """The file's definitions that are gone, although the change does not say so."""
        left: dict[tuple[str, ...], int] = {}
        found = list(_paths(file_definitions(lines, self._language)))
        for path, _ in found:
            left[path] = left.get(path, 0) + 1
        had = {path for path, _ in _paths(self._old)}
        renamed = [one for path, one in found if path not in had]
        shown, left_words = words_of_lines(self._lines), words_of_lines(lines)
        for path, definition in _paths(self._old):
            if left.get(path, 0):
                left[path] -= 1
                continue
            gone = {path[:n] for n in range(1, len(path))} - left.keys()
            if gone or definition in self._removed:
                continue
            if definition.kind == VALUE and definition.name in shown:
                continue
            if definition.kind == VALUE and definition.name not in left_words:
                continue  # nothing uses it
            now = next((one for one in renamed if self._continues(definition, one, lines)), None)
            if now is not None:
                renamed.remove(now)
                continue
            reason = f"removes `{'.'.join(path)}`, and the change does not say so"
            hint = f"put `...` where it stays, or a comment: `{definition.name} removed`"
            place = (definition.first + 1, definition.last)
            yield Ambiguity(self._file[definition.first].strip(), reason, (place,), hint)

    def _continues(self, old: Definition, new: Definition, lines: Sequence[str]) -> bool:
        """Whether a definition has another name now, and its lines."""
        before = [line for line in self._file[old.first + 1 : old.last] if line.strip()]
        after = [line for line in lines[new.first + 1 : new.last] if line.strip()]
        same = sum((Counter(before) & Counter(after)).values())
        return old.kind == new.kind and same > 0 and 2 * same >= max(len(before), len(after))

    def _scope(
        self,
        first: int,
        last: int,
        own: Sequence[Definition],
        begin: int,
        end: int,
        old: Sequence[Definition],
        bound: tuple[Definition, Definition] | None,
    ) -> list[Item]:
        """What the file's lines [begin, end) become by the snippet's lines [first, last)."""
        pairs = self._root if bound is None else self._paired(own, old, self._lines)
        kinds = self._kinds[first:last]
        if bound and not any(kinds) and not self._misses(bound, pairs):
            return [*self._lines[first:last]]
        removed, words = self._removals(first, last, own, old, pairs)
        scope = self._rows(first, last, own, pairs, removed, bound)
        self._columns(scope, begin, end, pairs, old, removed, words)
        ordered = [row.definition.first for row in scope.rows if row.definition is not None]
        if all(stays_beside(row) or not row.text.strip() for row in scope.rows):
            scope = _only_definitions(scope)
            return self._joined(scope, _in_place(scope))
        if ordered != sorted(ordered):
            head = next(row.text for row in scope.rows if row.definition is not None).strip()
            places = tuple((n + 1, n + 1) for n in ordered[:8])
            reason = "shows definitions in another order than the file"
            self.refused.append(Ambiguity(head, reason, places, "make one change for each"))
            return []
        if len(scope.rows) * len(scope.columns) > LARGEST:
            head = scope.rows[0].text.strip()
            self.refused.append(Ambiguity(head, "too long to compare with this file", hint=SPLIT))
            return []
        bind = self._bindings(scope, bound, first, last)
        return self._aligned(scope, bind, words, begin, end)

    def _misses(
        self, bound: tuple[Definition, Definition], pairs: dict[Definition, Definition]
    ) -> bool:
        """Whether a definition that is shown without a marker lacks members of the file's. They
        stay where it shows nothing but changed members; else nothing says what is meant."""
        own, old = bound
        if old.kind not in (TYPE, SPACE):
            return False
        shown = set(pairs.values())
        lost = [one for one in old.children if one.kind != VALUE and one not in shown]
        if not lost:
            return False
        inside = {n for one in own.children for n in range(one.top, one.last)}
        rest = [self._lines[n].strip() for n in range(own.first + 1, own.last) if n not in inside]
        same = any(
            self._lines[a.first : a.last] == list(self._file[b.first : b.last])
            for a, b in pairs.items()
        )
        if same or any(line and line[:1] not in tuple("{})];") and line != "end" for line in rest):
            names = ", ".join(one.name for one in lost[:4])
            reason = f"shows `{old.name}` without `{names}` or `...`"
            head = self._lines[own.first].strip()
            place = (old.first + 1, old.last)
            self.refused.append(Ambiguity(head, reason, (place,), "put `...` where they stay"))
        return True

    def _removals(
        self,
        first: int,
        last: int,
        own: Sequence[Definition],
        old: Sequence[Definition],
        pairs: dict[Definition, Definition],
    ) -> tuple[dict[int, list[Definition]], dict[int, set[str]]]:
        """The definitions that comments of a scope remove, and the words of other such comments; by
        their lines."""
        inner = {n for one in own for n in range(one.first, one.last)}
        shown = set(pairs.values())
        removed: dict[int, list[Definition]] = {}
        words: dict[int, set[str]] = {}
        for n in range(first, last):
            if self._kinds[n] != REMOVED or n in inner:
                continue
            names = names_removed(self._lines[n], {one.name for one in old})
            named = [
                one
                for one in old
                if {one.name, one.name.rpartition(".")[2]} & names and one not in shown
            ]
            several = {one.name for one in named if sum(a.name == one.name for a in named) > 1}
            if several:
                heads = {one: words_of_lines([self._file[one.first]]) & names for one in named}
                most = {
                    name: max(len(heads[a]) for a in named if a.name == name) for name in several
                }
                named = [a for a in named if a.name not in several or len(heads[a]) == most[a.name]]
            self._removed |= set(named)
            if named:
                removed[n] = sorted(named, key=lambda one: one.first)
            else:
                words[n] = names
        return removed, words

    def _rows(
        self,
        first: int,
        last: int,
        own: Sequence[Definition],
        pairs: dict[Definition, Definition],
        removed: dict[int, list[Definition]],
        bound: tuple[Definition, Definition] | None,
    ) -> _Scope:
        scope, rows = _Scope(), list[SnippetRow]()
        starts = {one.top: one for one in own}
        waiting: list[str] = []  # new definitions that stand before the next row
        apart = True  # lines are left out above
        blank = 0
        n = first
        while n < last:
            line, definition = self._lines[n], starts.get(n)
            if definition is not None and (definition in pairs or self._is_new(definition)):
                n = definition.last
                if definition not in pairs:
                    new = self._lines[definition.top : definition.last]
                    if rows and not apart:
                        new = [*self._comment_above(rows), *new]
                        apart = not rows or rows[-1].number < 0
                    if apart:
                        waiting += [*[""] * (blank if waiting else 0), *new]
                    else:
                        while rows[-1].blank:
                            rows.pop()
                        place = len(rows) - 1
                        lead = [""] * blank if blank else []
                        scope.after.setdefault(place, []).extend([*lead, *new])
                    blank = 0
                    continue
                row = SnippetRow(
                    self._lines[definition.first], definition.top, definition=pairs[definition]
                )
                k = len(scope.inner)
                scope.inner.append(self._inner(definition, pairs[definition]))
                row = replace(row, inner=k)
            elif self._kinds[n] == REMOVED:
                if n not in removed:
                    n += 1
                    continue
                row = SnippetRow("", n, definition=removed[n][0])
                n += 1
            elif self._kinds[n] == LEFT_OUT:
                if waiting and apart:
                    scope.last += [*([""] * blank if scope.last else []), *waiting]
                    waiting = []
                while rows and rows[-1].blank and not apart:
                    rows.pop()
                    rows[-1] = replace(rows[-1], trail=rows[-1].trail + 1)
                apart, blank = True, 0
                n += 1
                continue
            elif not line.strip():
                blank += 1
                n += 1
                if not apart:
                    rows.append(SnippetRow(line, n - 1, blank=True))
                continue
            else:
                row = SnippetRow(line, n, maybe=self._kinds[n] == MAYBE)
                n += 1
            if waiting:
                trail = 0 if self._kinds[row.number] == REMOVED else blank
                scope.before[len(rows)] = [*waiting, *[""] * trail]
                waiting = []
            rows.append(replace(row, apart=apart, lead=blank if apart else 0))
            apart, blank = False, 0
        while rows and rows[-1].blank:
            rows.pop()
        if waiting:
            scope.last += waiting
        if bound is not None:
            rows = [
                replace(row, fresh=self._in_fresh_value(row.number, own, pairs)) for row in rows
            ]
        scope.rows = rows
        return scope

    def _in_fresh_value(
        self, n: int, own: Sequence[Definition], pairs: dict[Definition, Definition]
    ) -> bool:
        return any(
            one.first <= n < one.last and one.kind == VALUE and one not in pairs for one in own
        )

    def _is_new(self, definition: Definition) -> bool:
        """Whether the snippet shows all of a definition that the file does not have."""
        kinds = self._kinds[definition.top : definition.last]
        return definition.kind != VALUE and LEFT_OUT not in kinds

    def _comment_above(self, rows: list[SnippetRow]) -> list[str]:
        """The lines of a new comment that stands apart above a new definition, out of `rows`."""
        at = len(rows)
        while at and rows[at - 1].blank:
            at -= 1
        start = at
        while start and is_remark(rows[start - 1].text) and not rows[start - 1].blank:
            start -= 1
        known = self._index.rows(2)
        if start == at == len(rows) or all(row.text.strip() in known for row in rows[start:at]):
            return []
        if start and not rows[start - 1].blank:
            return []
        taken = [row.text for row in rows[start:]]
        del rows[start:]
        return taken

    def _inner(self, own: Definition, old: Definition) -> list[Item]:
        """What a definition of the file becomes."""
        begin = self._top(own, old)
        items = self._scope(
            own.top, own.last, own.children, begin, old.last, old.children, (own, old)
        )
        return [*self._file[old.top : begin], *items]

    def _top(self, own: Definition, old: Definition) -> int:
        """Where the file's lines begin that a definition stands for: with its comments and
        attributes as far as the snippet shows them."""
        if own.top == own.first:
            return old.first
        first = self._lines[own.top].strip()
        above = [self._file[n].strip() for n in range(old.top, old.first)]
        if first in above:
            return old.top + above.index(first)
        mark = _mark(first)
        return old.top + next((n for n, line in enumerate(above) if _mark(line) == mark), 0)

    def _columns(
        self,
        scope: _Scope,
        begin: int,
        end: int,
        pairs: dict[Definition, Definition],
        old: Sequence[Definition],
        removed: dict[int, list[Definition]],
        words: dict[int, set[str]],
    ) -> None:
        starts: dict[int, tuple[Definition, int]] = {}
        for other in pairs.values():
            starts[other.top] = (other, other.last)
        rest = {other: others[0] for others in removed.values() for other in others}
        for other in rest:
            starts[other.top] = (other, other.last)
        names = set().union(*words.values()) if words else set()
        row = begin
        while row < end:
            if row not in starts:
                line = self._file[row]
                free = any(name in line for name in names)
                scope.columns.append(FileColumn(line, row, row + 1, free=free))
                row += 1
                continue
            other, last = starts[row]
            if rest.get(other, other) is not other:  # it goes with another one
                while scope.columns and not scope.columns[-1].text.strip():
                    scope.columns.pop()
            else:
                scope.columns.append(
                    FileColumn(self._file[other.first], row, last, definition=other)
                )
            row = last
        scope.end = end

    def _bindings(
        self, scope: _Scope, bound: tuple[Definition, Definition] | None, first: int, last: int
    ) -> dict[int, int]:
        """Rows that are one column and no other: the ends of a definition, and those in it."""
        at = {column.definition: n for n, column in enumerate(scope.columns) if column.definition}
        bind = {n: at[row.definition] for n, row in enumerate(scope.rows) if row.definition}
        if bound is None:
            return bind
        own, old = bound
        rows = {row.number: n for n, row in enumerate(scope.rows)}
        columns = {column.first: n for n, column in enumerate(scope.columns)}
        if own.first in rows and old.first in columns:
            bind[rows[own.first]] = columns[old.first]
        a, b = own.last - 1, old.last - 1
        if a in rows and b in columns and a > own.first and b > old.first:
            ours, theirs = self._lines[a].strip(), self._file[b].strip()
            closing = (ours[:1] in "}])" and theirs[:1] in "}])") or ours == theirs
            if closing or ours.split(None, 1)[0] == theirs.split(None, 1)[0] in ("return", "end"):
                bind[rows[a]] = columns[b]
        top = self._top(own, old)
        if own.top < own.first and top < old.first and rows.get(own.top) == 0:
            scope.rows[0] = replace(scope.rows[0], apart=False)
            scope.rows.insert(0, SnippetRow("", -1, edge=True, apart=True))
            scope.columns.insert(0, FileColumn("", top, top))
            scope.after = {n + 1: new for n, new in scope.after.items()}
            scope.before = {n + 1: new for n, new in scope.before.items()}
            bind = {0: 0, **{n + 1: column + 1 for n, column in bind.items()}}
        return bind

    def _aligned(
        self, scope: _Scope, bind: dict[int, int], words: dict[int, set[str]], begin: int, end: int
    ) -> list[Item]:
        """The scope by the best alignment, with the others that are nearly as good."""
        rows, columns = scope.rows, scope.columns
        costs = costs_of(rows, columns, bind)
        aligner = Aligner(costs)
        path = aligner.path()
        for _ in range(BLOCKS):
            if not _by_blocks(rows, columns, path, costs, bind):
                break
            aligner = Aligner(costs)
            path = aligner.path()
        best = self._joined(scope, path)
        for n in words:
            dropped = _dropped(columns, path)
            if not any(name in columns[at].text for at in dropped for name in words[n]):
                text = self._lines[n].strip()
                self.refused.append(Ambiguity(text, "says what is removed, and it is not here"))
        self.exact &= all(
            not step.matched or row.definition or row.text == columns[step.at].text
            for row, step in zip(rows, path, strict=True)
        )
        self._comments_for_code(scope, path)
        doubts = self._edges(scope, path, bind)
        others = [
            (line, at, aligner.path_through(line, at))
            for line, at, _ in islice(aligner.alternatives(path, MARGIN), MOST)
        ]
        others = [one for one in others if not _in_new_block(rows, one[2], one[0])]
        readings = {tuple(best_lines(best)): None}
        places: dict[int, set[int]] = {}
        for line, at, other in others:
            reading = tuple(best_lines(self._joined(scope, other)))
            if reading not in readings:
                readings[reading] = None
                own = {columns[path[line].at].first} if path[line].matched else set()
                places.setdefault(line, own).add(columns[at].first)
        found = [doubt for doubt, *_ in doubts]
        if places:
            line, spots = next(iter(places.items()))
            spots = set().union(*(more for n, more in places.items() if n == line))
            text = rows[line].text.strip()
            if len(spots) > 1:
                reason = f"fits {len(spots)} places equally"
            else:
                reason = "may be new, or this line"
            lines = [self._lines[row.number] for row in rows if row.number >= 0]
            found.append(self._unclear(text, reason, sorted(spots), lines))
        for n, row in enumerate(rows):
            if row.apart and (n + 1 == len(rows) or rows[n + 1].apart or True):
                chunk = _chunk(rows, n)
                if not any(path[k].matched or path[k].gone for k in chunk) and chunk:
                    found.append(
                        Ambiguity(row.text.strip(), NOWHERE, hint="show the line above it")
                    )
        if not found:
            return best
        for other in self._edge_paths(path, aligner, doubts):
            readings.setdefault(tuple(best_lines(self._joined(scope, other))))
        shown = tuple(row.text for row in rows if not row.edge)
        inner = [item for item in best if isinstance(item, Open)]
        found += [doubt for item in inner for doubt in item.doubts]
        return _opened(tuple(self._file[begin:end]), list(readings), shown, found)

    def _unclear(
        self, text: str, reason: str, rows: Sequence[int], shown: Sequence[str]
    ) -> Ambiguity:
        places = tuple((row + 1, row + 1) for row in rows[:8])
        return Ambiguity(text, reason, places, clearer(self._file, rows, shown))

    def _comments_for_code(self, scope: _Scope, path: Sequence[AlignedLine]) -> None:
        """Refuse where nothing but new comments replaces lines of code."""
        at, new = 0, list[str]()
        for row, step in zip(scope.rows, path, strict=True):
            if step.kept:
                at, new = step.at, []
            if not step.matched:
                new += [row.text] if row.text.strip() and not step.gone else []
                continue
            gone = [c for c in scope.columns[at : step.at] if _is_code(c.text) and not c.free]
            if new and len(gone) > 2 and not any(map(_is_code, new)):
                places: tuple[Lines, ...] = ((gone[0].first + 1, gone[-1].last),)
                reason = "is a comment in place of this code"
                hint = "write `...` in it if the code stays"
                self.refused.append(Ambiguity(new[0].strip(), reason, places, hint))
            at, new = step.at + 1, []

    def _joined(self, scope: _Scope, path: Sequence[AlignedLine]) -> list[Item]:
        """The scope's new lines by an alignment."""
        rows, columns, file = scope.rows, scope.columns, self._file
        result: list[Item] = []
        at = 0

        def text_at(n: int) -> str | None:
            return columns[n].text if n < len(columns) else None

        def keep(end: int) -> None:
            nonlocal at
            for column in columns[at:end]:
                result.extend(file[column.first : column.last])
            at = max(at, end)

        for n, (row, step) in enumerate(zip(rows, path, strict=True)):
            if step.kept:
                keep(step.at)
            at = max(at, step.at)
            following = path[n + 1] if n + 1 < len(path) else None
            if step.gone or row.edge:
                at += row.edge
                continue
            if row.blank and step.matched and step.at < at:
                continue
            if row.blank and not step.matched:
                apart = step.kept or following is None or following.kept
                if apart and (
                    not result or _is_blank(result[-1]) or not (text_at(at) or "").strip()
                ):
                    continue
            if not step.matched and row.lead and row.apart and result and result[-1] != "":
                result += [""] * row.lead
            new = scope.before.get(n, ())
            if new and result and result[-1] and not opens(result[-1]):
                result.append("")
            result += new
            if step.matched:
                at = step.at + 1
                if row.definition in self._removed:
                    below = (text_at(at) or "").strip()
                    if n in scope.before or not result:
                        pass
                    elif not result[-1] and (not below or below[:1] in "})"):
                        result.pop()
                    elif opens(result[-1]) and not below and at < len(columns):
                        at += 1  # the blank line below goes with it
                elif row.inner is not None:
                    result += scope.inner[row.inner]
                else:
                    result.append(row.text or columns[step.at].text)
            else:
                result.append(row.text)
            result += scope.after.get(n, ())
            ends = following is None or following.kept
            if not step.matched and ends and (text_at(at) or "").strip():
                result += [""] * row.trail
        keep(len(columns))
        if scope.last:
            self._append(result, scope.last)
        return result

    def _append(self, result: list[Item], new: Sequence[str]) -> None:
        """Add new definitions last in a scope: before its closing line, if they are deeper."""
        tail: list[Item] = []
        while result and isinstance(result[-1], str) and not result[-1].strip():
            tail.insert(0, result.pop())
        closing = result[-1] if result and isinstance(result[-1], str) else ""
        depth = len(margin(new[0]))
        if closing.strip()[:1] in ("}", ")") or closing.strip() == "end":
            while result and isinstance(result[-1], str) and depth > len(margin(result[-1])):
                ending = result[-1].strip()
                if ending and ending[:1] not in "})" and ending != "end":
                    break
                tail.insert(0, result.pop())
                if ending and len(margin(tail[0])) == 0:  # type: ignore[arg-type]
                    break
                if ending:
                    break
            while result and isinstance(result[-1], str) and not result[-1].strip():
                result.pop()
        apart = (
            2 if self._language is not None and self._language.name == "python" and not depth else 1
        )
        result += [*([""] * apart if result else []), *new, *tail]

    def _edge_paths(
        self,
        path: Sequence[AlignedLine],
        aligner: Aligner,
        doubts: Sequence[tuple[Ambiguity, int, Sequence[int]]],
    ) -> Iterator[list[AlignedLine]]:
        """The other reading of each line that is unsure at the end of a chunk, and of all that may
        stand beside a line like them."""
        beside = list(path)
        for _, n, columns in doubts:
            if path[n].matched:
                several = n + 1 < len(path) and not path[n + 1].kept
                at = path[n].at + (path[n].kept and several)
                step = AlignedLine(at, False, path[n].kept)
                beside[n] = step
                yield [*path[:n], step, *path[n + 1 :]]
            for column in columns if not path[n].matched else ():
                if aligner.may_match(n, column):
                    yield aligner.path_through(n, column)
        yield beside

    def _edges(
        self, scope: _Scope, path: Sequence[AlignedLine], bind: dict[int, int]
    ) -> list[tuple[Ambiguity, int, Sequence[int]]]:
        """What is unsure at the open ends of chunks: whether a line there replaces one like it, or
        stands beside it. Each with its line, and the columns that it may be or replace."""
        rows, columns = scope.rows, scope.columns
        result: list[tuple[Ambiguity, int, Sequence[int]]] = []

        def equal(n: int) -> bool:
            step = path[n]
            if not step.matched:
                return False
            return n in bind or rows[n].text.rstrip() == columns[step.at].text.rstrip()

        def unsure(n: int, reason: str, at: Sequence[int]) -> None:
            places = [columns[k].first for k in at]
            found = self._unclear(rows[n].text.strip(), reason, places, [])
            result.append((found, n, at))

        starts = [n for n in range(len(rows)) if path[n].kept or rows[n].apart]
        for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            strong = [n for n in range(start, end) if equal(n) and rows[n].text.strip()]
            head = range(start, (strong or [end])[0])
            tail = range((strong[-1] + 1) if strong else end, end)
            for n in [*head, *tail]:
                if path[n].matched and not equal(n) and not rows[n].edge:
                    old = columns[path[n].at].text
                    if not same_line(rows[n].text, old):
                        unsure(n, BESIDE, [path[n].at])
            for n in sorted({start, end - 1}):
                row = rows[n]
                if path[n].matched or path[n].gone or row.fresh or row.blank or row.edge:
                    continue
                text = row.text.rstrip()
                at = [
                    k for k, c in enumerate(columns) if not c.definition and c.text.rstrip() == text
                ]
                if at and not _in_new_block(rows, path, n):
                    unsure(n, "may be new, or this line", at[:8])
        return result


def _is_blank(line: Item) -> bool:
    return isinstance(line, str) and not line.strip()


def _mark(line: str) -> str:
    """What a comment or attribute begins with: `///`, `/**`, `@`."""
    return line[: next((n for n, char in enumerate(line) if char.isalnum() or char == " "), 1)]


def opens(line: Item) -> bool:
    """Whether a block begins at the end of a line."""
    return isinstance(line, str) and line.rstrip()[-1:] in ("{", "(", "[", ":")


def _closes(line: str) -> bool:
    return line.strip()[:1] in ("}", ")", "]")


def _enclosing(lines: Sequence[str], n: int) -> int | None:
    """The line that opens the block of a line, or that a line closes."""
    depth = len(margin(lines[n]))
    for above in range(n - 1, -1, -1):
        text = lines[above]
        if text.strip() and len(margin(text)) < depth + (_closes(lines[n]) and opens(text)):
            return above
    return None


def _closing(lines: Sequence[str], n: int) -> int | None:
    """The line that closes the block that a line opens."""
    depth = len(margin(lines[n]))
    for below in range(n + 1, len(lines)):
        text = lines[below]
        if text.strip() and len(margin(text)) <= depth:
            return below if _closes(text) and len(margin(text)) == depth else None
    return None


def _in_new_block(rows: Sequence[SnippetRow], path: Sequence[AlignedLine], n: int) -> bool:
    """Whether a row is in a block that begins with a new line."""
    start = _enclosing([row.text for row in rows], n)
    if start is None or any(row.apart for row in rows[start + 1 : n + 1]):
        return False
    return not path[start].matched and not path[start].gone


def _by_blocks(
    rows: Sequence[SnippetRow],
    columns: Sequence[FileColumn],
    path: Sequence[AlignedLine],
    costs: Costs,
    bind: Mapping[int, int],
) -> bool:
    """Correct the costs where an alignment tears blocks apart: the line that closes a block belongs
    to the line that opens it, and a block whose first line is only like another one, and that
    shares nothing else with it, is new. Returns whether anything changed."""
    ours, theirs = [row.text for row in rows], [column.text for column in columns]
    changed = False

    def only(n: int, column: int | None) -> None:
        nonlocal changed
        wanted = costs.scores[n].copy()
        wanted[:] = NO
        if column is not None:
            wanted[column] = 2.0
        if (wanted != costs.scores[n]).any():
            costs.scores[n] = wanted
            costs.insert[n] = 0.05
            changed = True

    for n, row in enumerate(rows):
        if row.definition is not None or n in bind:
            continue
        if _closes(row.text):
            start = _enclosing(ours, n)
            if start is None or not opens(ours[start]) or rows[start].definition is not None:
                continue
            if path[start].matched:
                end = _closing(theirs, path[start].at)
                if end is not None and _closes(theirs[end]) and end not in bind.values():
                    only(n, end)
            elif not any(path[k].matched for k in range(start, n)):
                only(n, None)
        elif path[n].matched and opens(row.text):
            old, end = theirs[path[n].at], _closing(ours, n)
            if row.text.rstrip() == old.rstrip() or same_line(row.text, old) or end is None:
                continue
            inside = range(n + 1, end)
            shared = any(path[k].matched and ours[k].strip() for k in inside)
            if inside and not shared and likeness(row.text, old) < SURELY:
                only(n, None)
    return changed


def _paths(
    tree: Sequence[Definition], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Definition]]:
    """The members of each holder, by the names that lead to them; locals are left out."""
    for definition in tree:
        own = (*path, definition.name)
        if definition.kind != SPACE:
            yield own, definition
        if definition.kind in (TYPE, SPACE):
            yield from _paths(definition.children, own)


def _is_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and comment_text(line) is None and text[:1] != "*" and text[:2] != "/*"


def _chunk(rows: Sequence[SnippetRow], start: int) -> range:
    end = next((n for n in range(start + 1, len(rows)) if rows[n].apart), len(rows))
    return range(start, end)


def _dropped(columns: Sequence[FileColumn], path: Sequence[AlignedLine]) -> list[int]:
    """The columns that an alignment drops."""
    result: list[int] = []
    at = 0
    for step in path:
        if not step.kept:
            result += range(at, step.at)
        at = max(at, step.at + step.matched)
    return result


def _only_definitions(scope: _Scope) -> _Scope:
    """The scope with nothing but its definitions, in the file's order."""
    numbers = [n for n, row in enumerate(scope.rows) if row.definition is not None]
    numbers.sort(key=lambda n: scope.rows[n].definition.first)  # type: ignore[union-attr]
    place = {n: k for k, n in enumerate(numbers)}
    before = {place[n]: new for n, new in scope.before.items() if n in place}
    after = {place[n]: new for n, new in scope.after.items() if n in place}
    rows = [scope.rows[n] for n in numbers]
    return replace(scope, rows=rows, before=before, after=after)


def _in_place(scope: _Scope) -> list[AlignedLine]:
    at = {column.definition: n for n, column in enumerate(scope.columns) if column.definition}
    return [
        AlignedLine(at[row.definition], True, kept=True)
        for row in scope.rows
        if row.definition is not None
    ]


def _opened(
    before: tuple[str, ...],
    readings: list[tuple[str, ...]],
    shown: tuple[str, ...],
    doubts: Sequence[Ambiguity],
) -> list[Item]:
    """The lines with the part open in which the readings differ."""
    best = readings[0]
    head = common(*readings)
    tail = min(common(*(text[::-1] for text in readings)), min(map(len, readings)) - head)
    start, end, first, last = head, len(best) - tail, 0, len(before)
    for tag, a, b, c, d in opcodes(before, best):
        if c <= head <= d:
            start, first = (head, a + head - c) if tag == "equal" else (c, a)
        if c <= len(best) - tail <= d:
            at = len(best) - tail
            end, last = (at, a + at - c) if tag == "equal" else (d, b)
            break
    inside = [text[start : len(text) - (len(best) - end)] for text in readings]
    part = Open(before[first:last], tuple(inside), shown, tuple(dict.fromkeys(doubts)))
    return [*best[:start], part, *best[end:]]
