"""The parts of a snippet and of a file, as the rows and the columns of one alignment.

A definition that the snippet shows whole is one row, and the file's definition of that name and
kind in that holder is one column; so is nothing else. The other lines are a row and a column each.
A line in a definition that is shown in part is compared with that definition's lines alone. What
the file does not have and nothing stands next to is put last in its holder before anything is
compared, and what a comment removes is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from specedit.edit.apply.definitions import (
    CALLED,
    SPACE,
    TYPE,
    VALUE,
    Definition,
    Pairs,
    continuous,
    paired,
    reindented,
    snippet_definitions,
    words_of_lines,
)
from specedit.edit.apply.lines import Ambiguity, FileIndex, closes, margin, opens, weight
from specedit.edit.apply.markers import (
    LEFT_OUT,
    MAYBE,
    REMOVED,
    ShownLines,
    is_remark,
    names_removed,
)
from specedit.syntax.languages import Language
from specedit.syntax.work import spend

MAX_LISTED_PLACES = 8  # places that a message lists
LINE, BLANK, WHOLE, NEW = "line", "blank", "whole", "new"
HEAD, END = "head", "end"  # of a definition that is shown in part
BOUND = frozenset({WHOLE, NEW, HEAD, END})  # a definition, or an end of one
Key = tuple[str, int]  # of a column: what it is, and its first line in the file, from 0


@dataclass(frozen=True, slots=True)
class SnippetRow:
    """A line of the snippet, a definition that it shows whole, or no line: an end of a definition
    that it shows in part."""

    lines: tuple[str, ...]
    part: str = LINE
    owner: Definition | None = None  # the file's definition that it is in
    column: Key | None = None  # the only one that it may be
    begins: bool = False  # a definition
    ends: bool = False
    maybe: bool = False  # a comment that may stand for lines left out
    fresh: bool = False  # of a value that the file does not have
    partial: bool = False  # a new definition begins here, and it is not shown whole
    apart: bool = False  # lines are left out above
    lead: int = 0  # blank lines above and below, next to what is left out
    trail: int = 0

    @property
    def text(self) -> str:
        return self.lines[0] if self.lines else ""


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A line of the file, or a definition of it that the snippet shows whole."""

    key: Key
    text: str
    lines: tuple[str, ...]
    owner: Definition | None = None
    above: tuple[str, ...] = ()  # comments and attributes that go with it
    fixed: bool = False  # new, and in its place
    moved: bool = False  # a new definition of the snippet has it
    defines: bool = False  # a definition begins here

    @property
    def number(self) -> int:
        """Its first line in the file, from 0."""
        return self.key[1]


_Chunk = list[SnippetRow]


@dataclass(frozen=True, slots=True)
class _Unit:
    """The rows of a line or a definition of the snippet; lines are left out between chunks."""

    chunks: list[_Chunk]
    place: int | None = None  # the first line of the file's definition
    loose: bool = False  # a line that is in no definition


class Comparison:
    """The rows of a snippet and the columns of a file; `refused` where they cannot be compared."""

    def __init__(
        self,
        shown: ShownLines,
        file: Sequence[str],
        old: Sequence[Definition],
        language: Language | None,
    ) -> None:
        self.old, self.file, self.language, self._kinds = old, file, language, shown.kinds
        self.refused: list[Ambiguity] = []
        self.removed: set[Definition] = set()  # that comments of the snippet name
        self.in_another_order: str | None = None  # a line of such definitions
        self.shown: set[Definition] = set()  # of the file's definitions, by the snippet
        every = [inner for definition in old for inner in definition.walk()]
        self.defined = [definition for definition in every if definition.kind != VALUE]
        self._holders = {child: holder for holder in every for child in holder.children}
        self._index = FileIndex(file)
        own, pairs = self._apart(snippet_definitions(shown, language), every)
        rows = self._index.rows(2)
        whole = [a for a in own if a in pairs or LEFT_OUT not in shown.kinds[a.top : a.last]]
        loose = set(range(len(shown.lines))) - {n for a in whole for n in range(a.top, a.last)}
        pairs = {a: b for a, b in pairs.items() if not self._torn(a, b, shown, loose)}
        if not all(continuous(*pair, shown, rows, language) for pair in pairs.items()):
            own, pairs = (), {}  # its lines are of several definitions
        self.lines = reindented(shown, own, pairs, self._index)  # the snippet's, as the file's
        self._whole: dict[int, tuple[Definition, int]] = {}  # first line: definition, its begin
        self._partial: dict[Definition, int] = {}  # the line from which on it is shown
        self._closed: set[Definition] = set()  # whose last line is shown
        self._added: dict[int, list[str]] = {}  # what stands before a line of the file
        self.rows = _joined(self._chunks(0, len(self.lines), own, pairs, every, None))
        self.columns = list(self._columns(every))

    @property
    def bound(self) -> dict[int, int]:
        """The columns of the rows that may be no other one."""
        at = {column.key: n for n, column in enumerate(self.columns)}
        return {n: at[row.column] for n, row in enumerate(self.rows) if row.column in at}

    def _apart(
        self, own: Sequence[Definition], every: Sequence[Definition]
    ) -> tuple[Sequence[Definition], Pairs]:
        """The snippet's definitions, and the file's for which they stand. One that stands for the
        holder of another's is read as lines with its members."""
        while True:
            pairs, _ = paired(own, every, self.language, self._holders)
            spans = sorted(
                ((old.first, -old.last, shown) for shown, old in pairs.items()),
                key=lambda span: span[:2],
            )
            outer = {shown for (_, last, shown), (first, *_) in pairwise(spans) if first < -last}
            if not outer:
                return own, self._paired(own, every, self._holders)
            own = [
                part
                for definition in own
                for part in (definition.children if definition in outer else (definition,))
            ]

    def _torn(self, own: Definition, old: Definition, shown: ShownLines, loose: set[int]) -> bool:
        """Whether lines that the snippet shows outside of its definitions are of the one that a
        definition stands for: then it is another one."""
        inside = {line.strip() for line in shown.lines[own.top : own.last]}
        texts = {shown.lines[n].strip() for n in loose if not shown.kinds[n]} - inside
        found = [self._index.rows(2).get(text, []) for text in texts if weight(text) == 1]
        return old.kind == CALLED and any(
            len(rows) == 1 and old.first < rows[0] < old.last for rows in found
        )

    def _paired(
        self, own: Sequence[Definition], old: Sequence[Definition], members: Pairs | None = None
    ) -> Pairs:
        pairs, unsure = paired(own, old, self.language, members)
        holders = {self._holders.get(old) for old in pairs.values()}
        for definition, others in unsure:
            here = [other for other in others if self._holders.get(other) in holders]
            if len(here) == 1:
                pairs[definition] = here[0]
            elif definition.kind != VALUE:
                reason = f"may be one of {len(others)} definitions of this name"
                hint = "show the line that its holder begins with"
                self._refuse(definition.head, reason, others, hint)
        return pairs

    def _refuse(self, line: str, reason: str, definitions: Sequence[Definition], hint: str) -> None:
        places = tuple((old.first + 1, old.last) for old in definitions[:MAX_LISTED_PLACES])
        self.refused.append(Ambiguity(line.strip(), reason, places, hint))

    def _chunks(
        self,
        first: int,
        last: int,
        own: Sequence[Definition],
        pairs: Pairs,
        old: Sequence[Definition],
        holder: Definition | None,
    ) -> list[_Chunk]:
        """The rows of the snippet's lines [first, last), without what has no neighbour; lines are
        left out between two chunks."""
        self.shown |= set(pairs.values())
        self._remove(first, last, own, old, pairs)
        units: list[_Unit] = []
        starts = {definition.top: definition for definition in own}
        new = [definition for definition in own if definition not in pairs]
        partial = {definition.first for definition in new if definition.kind != VALUE}
        values = [definition for definition in new if definition.kind == VALUE and holder]
        n = first
        while n < last:
            definition, line, kind = starts.get(n), self.lines[n], self._kinds[n]
            end = n + 1
            if definition in pairs:
                assert definition is not None
                other, end = pairs[definition], definition.last
                units.append(_Unit(self._shown(definition, other, holder), other.first))
            elif definition is not None and self._is_new(definition):
                end = definition.last
                lines = tuple(self.lines[n:end])
                units.append(_Unit([[SnippetRow(lines, NEW, holder, begins=True, ends=True)]]))
            elif kind == LEFT_OUT:
                units.append(_Unit([[], []]))
            elif kind != REMOVED:
                row = SnippetRow(
                    (line,),
                    LINE if line.strip() else BLANK,
                    holder,
                    maybe=kind == MAYBE,
                    fresh=any(value.first <= n < value.last for value in values),
                    partial=n in partial,
                )
                units.append(_Unit([[row]], loose=row.part == LINE))
            n = end
        chunks: list[_Chunk] = [[]]
        for unit in self._sorted(units, pairs):
            chunks[-1] += unit.chunks[0]
            chunks += unit.chunks[1:]
        if holder is None or holder.kind in (TYPE, SPACE):
            chunks = [self._without_new(chunk, holder, old) for chunk in chunks]
        return chunks

    def _sorted(self, units: list[_Unit], pairs: Pairs) -> list[_Unit]:
        """The units in the file's order, where they are nothing but definitions."""
        keys: list[int] = []
        for unit in units:
            keys.append(unit.place if unit.place is not None else keys[-1] if keys else -1)
        text = self.lines[next(iter(pairs)).first] if pairs else ""
        if keys != sorted(keys):
            self.in_another_order = text
        if keys != sorted(keys) and any(unit.loose for unit in units):
            reason = "shows definitions in another order than the file"
            self._refuse(text, reason, list(pairs.values()), "make one change for each")
            return units
        return [units[n] for n in sorted(range(len(units)), key=lambda n: (keys[n], n))]

    def _is_new(self, definition: Definition) -> bool:
        """Whether the snippet shows all of a definition that the file does not have."""
        kinds = self._kinds[definition.top : definition.last]
        return definition.kind != VALUE and LEFT_OUT not in kinds

    def _shown(self, own: Definition, old: Definition, holder: Definition | None) -> list[_Chunk]:
        """The rows of a definition that the file has."""
        begin = self._begin(own, old)
        solid = own.kind != VALUE
        inner = self._paired(own.children, old.children)
        if not any(self._kinds[own.top : own.last]) and not self._misses(own, old, inner):
            self._whole[old.top] = (old, begin)
            lines, key = tuple(self.lines[own.top : own.last]), (WHOLE, old.first)
            self.shown |= set(inner.values())
            return [[SnippetRow(lines, WHOLE, holder, key, begins=solid, ends=solid)]]
        self._partial[old] = begin
        start = [SnippetRow((line,), owner=old) for line in self.lines[own.top : own.first]]
        start.append(SnippetRow((self.lines[own.first],), HEAD, old, (HEAD, old.first)))
        start[0] = replace(start[0], begins=solid)
        closing = self._is_end(own, old)
        if closing:
            self._closed.add(old)
            lines = (self.lines[own.last - 1],)
            end = SnippetRow(lines, HEAD, old, (HEAD, old.last - 1), ends=solid)
        else:
            end = SnippetRow((), END, old, (END, old.last), ends=solid)
        chunks = self._chunks(
            own.first + 1, own.last - closing, own.children, inner, old.children, old
        )
        chunks[0] = [*start, *chunks[0]]
        chunks[-1] = [*chunks[-1], end]
        return chunks

    def _is_end(self, own: Definition, old: Definition) -> bool:
        """Whether the last line of a definition of the snippet is that of the file's."""
        a, b = own.last - 1, old.last - 1
        ours, theirs = self.lines[a].strip(), self.file[b].strip()
        same = ours == theirs or (closes(ours) and closes(theirs))
        same |= ours.split(None, 1)[:1] == theirs.split(None, 1)[:1] == ["return"]
        inside = all(child.last <= a for child in own.children)
        inside &= all(child.last <= b for child in old.children)
        return same and inside and a > own.first and b > old.first

    def _begin(self, own: Definition, old: Definition) -> int:
        """Where the file's lines begin that a definition stands for: with its comments and
        attributes as far as the snippet shows them."""
        if own.top == own.first:
            return old.first
        first, above = own.remark[0], old.remark
        return old.top + (above.index(first) if first in above else 0)

    def _misses(self, own: Definition, old: Definition, pairs: Pairs) -> bool:
        """Whether a definition that is shown without a marker lacks members of the file's. They
        stay where it shows nothing but changed members; else nothing says what is meant."""
        if old.kind not in (TYPE, SPACE):
            return False
        shown = set(pairs.values())
        lost = [child for child in old.children if child.kind != VALUE and child not in shown]
        if not lost:
            return False
        inside = {n for child in own.children for n in range(child.top, child.last)}
        rest = [self.lines[n].strip() for n in range(own.first + 1, own.last) if n not in inside]
        same = any(
            self.lines[a.first : a.last] == list(self.file[b.first : b.last])
            for a, b in pairs.items()
        )
        if same or any(line and line[0] not in "{})];" for line in rest):
            names = ", ".join(definition.name for definition in lost[:4])
            reason = f"shows `{old.name}` without `{names}` or `...`"
            self._refuse(self.lines[own.first], reason, [old], "put `...` where they stay")
        return True

    def _remove(
        self,
        first: int,
        last: int,
        own: Sequence[Definition],
        old: Sequence[Definition],
        pairs: Pairs,
    ) -> None:
        """Note what the comments of a holder remove: definitions. What is where the comment stands
        goes, before what has its name elsewhere."""
        inner = {n for definition in own for n in range(definition.first, definition.last)}
        free = [definition for definition in old if definition not in pairs.values()]
        for n in range(first, last):
            if self._kinds[n] != REMOVED or n in inner:
                continue
            low = max((old.last for shown, old in pairs.items() if shown.last <= n), default=0)
            below = (old.first for shown, old in pairs.items() if shown.first > n)
            high = min(below, default=len(self.file))
            inside = [definition for definition in free if low <= definition.first < high]
            every = set[str]().union(*map(self._names, old))
            names = names_removed(self.lines[n], every)
            removed: set[Definition] = set()
            for name in sorted(names):
                found = self._named(inside, name, names) or self._named(free, name, names)
                if len({self._holders.get(member) for member in found}) > 1:
                    self._unclear(n, f"may remove one of several: `{name}`", found)
                else:
                    removed |= set(found)
            elsewhere = sorted(removed.difference(inside), key=lambda found: found.first)
            if elsewhere and len(elsewhere) < len(removed):
                self._unclear(n, f"names what is elsewhere, too: `{elsewhere[0].name}`", elsewhere)
            types = {definition.name for definition in removed if definition.kind == TYPE}
            removed |= {other for other in free if other.name.partition(".")[0] in types}
            self.removed |= removed
            if not removed:
                self._unclear(n, "removes no definition of this name", ())

    def _unclear(self, n: int, reason: str, found: Sequence[Definition]) -> None:
        self._refuse(self.lines[n], reason, found, "remove it with a diff")

    def _names(self, definition: Definition) -> set[str]:
        """The name of a definition, with that of its holder and without."""
        own = definition.name.rpartition(".")[2]
        holder = self._holders.get(definition)
        return {definition.name, own, *([f"{holder.name}.{own}"] if holder else [])}

    def _named(
        self, definitions: Sequence[Definition], name: str, names: set[str]
    ) -> list[Definition]:
        """The definitions of a name; of several, those whose first lines have most of the names."""
        spend(5 * len(definitions))
        found = [definition for definition in definitions if name in self._names(definition)]
        heads = [len(words_of_lines([other.head]) & names) for other in found]
        most = max(heads, default=0)
        return [other for other, head in zip(found, heads, strict=True) if head == most]

    def _without_new(
        self, chunk: _Chunk, holder: Definition | None, old: Sequence[Definition]
    ) -> _Chunk:
        """A chunk, but nothing of one of new definitions alone, which stand last in their holder,
        or of comments that stay above a definition."""
        known = self._index.rows(2)
        if any(row.part == NEW for row in chunk) and all(
            row.part in (NEW, BLANK) or (is_remark(row.text) and row.text.strip() not in known)
            for row in chunk
        ):
            self._add(chunk, holder, old)
            return []
        return [] if all(self._is_above_shown(row) for row in chunk) else chunk

    def _is_above_shown(self, row: SnippetRow) -> bool:
        """Whether a row is of the comment above a definition that the snippet shows, too."""
        rows = self._index.rows(2).get(row.text.strip(), ())
        above = any(old.top <= n < old.first for old in self.shown for n in rows)
        return row.part == BLANK or (row.part == LINE and is_remark(row.text) and above)

    def _add(self, chunk: _Chunk, holder: Definition | None, old: Sequence[Definition]) -> None:
        """Put new definitions after the last definition of their holder."""
        lines = [line for row in chunk for line in row.lines]
        solid = [n for n, line in enumerate(lines) if line.strip()]
        lines = lines[solid[0] : solid[-1] + 1]
        depth = len(margin(lines[0]))
        members = old
        if holder is None:
            members = self.old
            while deeper := self._deeper(members, depth):
                holder, members = deeper[0], deeper[0].children
                if len(deeper) > 1:
                    reason = f"may be a member of each of {len(deeper)} types"
                    self._refuse(
                        lines[0], reason, deeper, "show the line that its type begins with"
                    )
        ends = [member.last for member in members if member.kind != VALUE]
        at = len(self.file)
        if holder is not None:
            at = holder.last - closes(self.file[holder.last - 1])
        at = max(ends, default=at)
        before = self._added.setdefault(at, [])
        first = at == 0 or (not before and opens(self.file[at - 1]))
        python = self.language is not None and self.language.name == "python"
        before += [*([] if first else [""] * (1 + (python and not depth))), *lines]

    def _deeper(self, members: Sequence[Definition], depth: int) -> list[Definition]:
        """The types that a new definition may belong to, as it is as deep as their members."""
        if not depth and any(member.kind == CALLED for member in members):
            return []
        inside = [
            member
            for member in members
            if member.kind in (TYPE, SPACE)
            and any(len(margin(child.head)) == depth for child in member.children)
        ]
        shown = [definition for definition in inside if self.shown & set(definition.walk())]
        return shown or inside

    def _columns(self, every: Sequence[Definition]) -> Iterator[FileColumn]:
        file, size = self.file, len(self.file)
        owners: list[Definition | None] = [None] * size
        ends: dict[int, list[Definition]] = {}  # inner before outer
        for old, begin in sorted(self._partial.items(), key=lambda pair: (pair[1], -pair[0].last)):
            owners[begin : old.last] = [old] * (old.last - begin)
            if old not in self._closed:
                ends.setdefault(old.last, []).insert(0, old)
        heads = {old.first for old in self._partial} | {old.last - 1 for old in self._closed}
        begins = {begin: old for old, begin in self._partial.items()}
        hidden = {n for old, begin in self._partial.items() for n in range(old.top, begin)}
        hidden |= self._removed_lines()
        defining = {definition.first for definition in every if definition.kind != VALUE}
        new = {line.strip() for row in self.rows if row.part == NEW for line in row.lines}
        n = 0
        while n <= size:
            for old in ends.get(n, ()):
                yield FileColumn((END, n), "", (), old)
            if n in self._added:
                lines = tuple(self._added[n])
                yield FileColumn((NEW, n), lines[0], lines, fixed=True)
            if n in self._whole:
                old, begin = self._whole[n]
                holder = self._holders.get(old)
                holder = holder if holder in self._partial else None
                above, lines = tuple(file[old.top : begin]), tuple(file[begin : old.last])
                yield FileColumn((WHOLE, old.first), file[old.first], lines, holder, above)
                n = old.last
                continue
            if n < size and n not in hidden:
                line = file[n]
                yield FileColumn(
                    (HEAD if n in heads else LINE, n),
                    line,
                    (line,),
                    owners[n],
                    above=tuple(file[begins[n].top : n]) if n in begins else (),
                    moved=bool(line.strip()) and line.strip() in new,
                    defines=n in defining,
                )
            n += 1

    def _removed_lines(self) -> set[int]:
        """The lines of what is removed, and the blank lines that separate it."""
        gone: set[int] = set()
        file = self.file
        for old in sorted(self.removed, key=lambda definition: definition.first):
            gone |= set(range(old.top, old.last))
            above, below = old.top - 1, old.last
            after = file[below].strip() if below < len(file) else ""
            if above >= 0 and opens(file[above]) and not after:
                while below < len(file) and not file[below].strip():
                    gone.add(below)
                    below += 1
            elif not after or after[0] in "})":
                while above >= 0 and (not file[above].strip() or above in gone):
                    gone.add(above)
                    above -= 1
        return gone


def _joined(chunks: Sequence[_Chunk]) -> list[SnippetRow]:
    """The rows of all chunks. Blank lines next to what is left out, and between definitions, are
    numbers of the rows next to them."""
    result: list[SnippetRow] = []
    for chunk in chunks:
        blank, apart = list[SnippetRow](), True
        for row in chunk:
            if row.part == BLANK:
                blank.append(row)
                continue
            if not apart and not may_stay_between(result[-1], row):
                result += blank
                blank = []
            elif not apart:
                result[-1] = replace(result[-1], trail=len(blank))
            result.append(replace(row, apart=apart, lead=len(blank)))
            blank, apart = [], False
        if blank and not apart:
            result[-1] = replace(result[-1], trail=len(blank))
    return result


def with_gaps(rows: Sequence[SnippetRow]) -> list[SnippetRow]:
    """The rows, where lines are left out between statements that are shown whole, as imports, and a
    definition apart from them."""
    result: list[SnippetRow] = []
    start = 0  # of the statements: no lines are left out from here on
    for row in rows:
        start = len(result) if row.apart else start
        spend(1 + (len(result) - start) / 100)
        above = result[start:]
        while row.begins and row.owner is None and above and above[-1].part == BLANK:
            above.pop()
        if len(above) < len(result) - start:
            row = replace(row, apart=True, lead=len(result) - start - len(above))
            del result[start + len(above) :]
        start = len(result) + 1 if row.part in BOUND else start
        result.append(row)
    return result


def beside(columns: Sequence[FileColumn], at: int) -> tuple[FileColumn | None, FileColumn | None]:
    """The columns with text below and above a new row, which stands before column `at`."""
    below = (columns[n] for n in range(at, len(columns)) if columns[n].text.strip())
    above = (columns[n] for n in range(at - 1, -1, -1) if columns[n].text.strip())
    return next(below, None), next(above, None)


def may_stay_between(above: SnippetRow, below: SnippetRow) -> bool:
    """Whether lines of the file may stay between two rows, although the snippet shows none."""
    return {above.part, below.part} <= BOUND and (above.ends or below.begins)
