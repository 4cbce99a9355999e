"""The parts of a snippet and of a file, as the rows and the columns of one alignment.

A definition that the snippet shows whole is one row, and the file's definition of that name and
kind in that holder is one column; so is nothing else. The other lines are a row and a column each.
A line in a definition that is shown in part is compared with that definition's lines alone. What
the file does not have and nothing stands next to is put last in its holder before anything is
compared, and what a comment removes is taken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise

from specedit.edit.apply.definitions import (
    CALLED,
    SPACE,
    TYPE,
    VALUE,
    Definition,
    continuous,
    paired,
    reindented,
    snippet_definitions,
    words_of_lines,
)
from specedit.edit.apply.lines import Ambiguity, FileIndex, margin, weight
from specedit.edit.apply.markers import (
    LEFT_OUT,
    MAYBE,
    REMOVED,
    ShownLines,
    is_remark,
    names_removed,
)
from specedit.syntax.languages import Language

MOST_PLACES = 8  # that a message lists


@dataclass(frozen=True, slots=True)
class Removal:
    """The removal of one comment: definitions, or lines with `names` where it names none."""

    definitions: frozenset[Definition] = frozenset()
    names: frozenset[str] = frozenset()
    refused: tuple[Ambiguity, ...] = ()


@dataclass(frozen=True, slots=True)
class Removable:
    """The lines that a comment may remove: `old`, without what the snippet shows."""

    old: Sequence[Definition]
    shown: Set[Definition]
    file: Sequence[str]
    holders: Mapping[Definition, Definition]
    names: dict[Definition, set[str]] = field(init=False)

    def __post_init__(self) -> None:
        names = {definition: self._names(definition) for definition in self.old}
        object.__setattr__(self, "names", names)

    def _names(self, definition: Definition) -> set[str]:
        """The name of a definition, with that of its holder and without."""
        own = definition.name.rpartition(".")[2]
        holder = self.holders.get(definition)
        return {definition.name, own, *([f"{holder.name}.{own}"] if holder else [])}

    def by(self, comment: str, low: int, high: int) -> Removal:
        """The lines that a comment removes, which stands between the file's lines `low` and
        `high`: what is there goes, before what has its name elsewhere."""
        names = names_removed(comment, set().union(*self.names.values()))
        free = [definition for definition in self.old if definition not in self.shown]
        inside = [definition for definition in free if low <= definition.first < high]
        removed: set[Definition] = set()
        refused: list[Ambiguity] = []
        for name in sorted(names):
            here = self._named(inside, name, names)
            found = here or self._named(free, name, names)
            holders = {
                self.holders.get(definition)
                for definition in found
                if definition.kind not in (TYPE, SPACE)
            }
            if len(holders) > 1:
                refused.append(_unclear(comment, name, found, "may remove one of several"))
            else:
                removed |= set(found)
        elsewhere = {definition for definition in removed if definition not in inside}
        if elsewhere and len(elsewhere) < len(removed):
            refused.append(_unclear(comment, "", list(elsewhere), "names what is elsewhere, too"))
        types = {definition.name for definition in removed if definition.kind == TYPE}
        removed |= {definition for definition in free if definition.name.partition(".")[0] in types}
        return Removal(frozenset(removed), frozenset(() if removed else names), tuple(refused))

    def _named(
        self, definitions: Sequence[Definition], name: str, names: Set[str]
    ) -> list[Definition]:
        """The definitions of a name; of several, those whose first lines have most of the names."""
        found = [definition for definition in definitions if name in self.names[definition]]
        heads = {
            definition: len(words_of_lines([self.file[definition.first]]) & names)
            for definition in found
        }
        return [definition for definition in found if heads[definition] == max(heads.values())]


def _unclear(comment: str, name: str, found: Sequence[Definition], what: str) -> Ambiguity:
    ordered = sorted(found, key=lambda definition: definition.first)[:MOST_PLACES]
    places = tuple((definition.first + 1, definition.last) for definition in ordered)
    reason = f"{what}: `{name or ordered[0].name}`"
    return Ambiguity(comment.strip(), reason, places, "remove it with a diff")


LINE, BLANK, WHOLE, NEW = "line", "blank", "whole", "new"
HEAD, END = "head", "end"  # of a definition that is shown in part
BOUND = frozenset({WHOLE, NEW, HEAD, END})  # a definition, or an end of one
Key = tuple[str, int]  # of a column: what it is, and its first line in the file


@dataclass(frozen=True, slots=True)
class SnippetRow:
    """A line of the snippet, a definition that it shows whole, or no line: an end of a definition
    that it shows in part."""

    lines: tuple[str, ...]
    number: int  # of its first line in the snippet, from 0
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

    text: str
    lines: tuple[str, ...]
    number: int  # of its first line in the file, from 0
    key: Key
    owner: Definition | None = None
    above: tuple[str, ...] = ()  # comments and attributes that go with it
    free: bool = False  # the change says that it is removed
    fixed: bool = False  # new, and in its place
    moved: bool = False  # a new definition of the snippet has it
    defines: bool = False  # a definition begins here


@dataclass(slots=True)
class Comparison:
    rows: list[SnippetRow] = field(default_factory=list)
    columns: list[FileColumn] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # the snippet's, as deep as the file's
    refused: list[Ambiguity] = field(default_factory=list)
    removed: set[Definition] = field(default_factory=set)  # that comments of the snippet name
    words: dict[int, set[str]] = field(default_factory=dict)  # in such comments, by their lines
    defined: list[Definition] = field(default_factory=list)  # in the file, but for values
    shown: set[Definition] = field(default_factory=set)  # of them, by the snippet

    @property
    def bound(self) -> dict[int, int]:
        """The columns of the rows that may be no other one."""
        at = {column.key: n for n, column in enumerate(self.columns)}
        return {n: at[row.column] for n, row in enumerate(self.rows) if row.column in at}


def compared(
    shown: ShownLines, file: Sequence[str], old: Sequence[Definition], language: Language | None
) -> Comparison:
    return _Comparing(shown, file, old, language).result


def with_gaps(rows: Sequence[SnippetRow]) -> list[SnippetRow]:
    """The rows, where lines are left out between statements that are shown whole, as imports, and a
    definition apart from them."""
    result: list[SnippetRow] = []
    start = 0  # of the statements: no lines are left out from here on
    for row in rows:
        start = len(result) if row.apart else start
        above = result[start:]
        while row.begins and row.owner is None and above and above[-1].part == BLANK:
            above.pop()
        if above and len(above) < len(result) - start:
            row = replace(row, apart=True, lead=len(result) - start - len(above))
            del result[start + len(above) :]
        start = len(result) + 1 if row.part in BOUND else start
        result.append(row)
    return result


_Chunk = list[SnippetRow]


@dataclass(frozen=True, slots=True)
class _Unit:
    """The row of a line or a definition of the snippet; lines are left out between chunks."""

    chunks: list[_Chunk]
    place: int | None = None  # the first line of the file's definition
    loose: bool = False  # a line that is in no definition


class _Comparing:
    def __init__(
        self,
        shown: ShownLines,
        file: Sequence[str],
        old: Sequence[Definition],
        language: Language | None,
    ) -> None:
        self.result = Comparison()
        self._kinds, self._file, self._old, self._language = shown.kinds, file, old, language
        self._every = [inner for definition in old for inner in definition.walk()]
        self.result.defined = [definition for definition in self._every if definition.kind != VALUE]
        self._holders = {
            child: definition for definition in self._every for child in definition.children
        }
        self._index = FileIndex(file)
        own, pairs = self._apart(snippet_definitions(shown, language), shown.lines)
        rows = self._index.rows(2)
        whole = [a for a in own if a in pairs or LEFT_OUT not in shown.kinds[a.top : a.last]]
        loose = set(range(len(shown.lines))) - {n for a in whole for n in range(a.top, a.last)}
        pairs = {a: b for a, b in pairs.items() if not self._torn(a, b, shown, loose)}
        if not all(continuous(*pair, shown, file, rows, language) for pair in pairs.items()):
            own, pairs = (), {}  # its lines are of several definitions
        self._lines = self.result.lines = reindented(shown, own, pairs, self._index)
        self._whole: dict[int, tuple[Definition, int]] = {}  # first line: definition, where it ends
        self._partial: dict[Definition, int] = {}  # the line from which on it is shown
        self._closed: set[Definition] = set()  # whose last line is shown
        self._added: dict[int, list[str]] = {}  # what stands before a line of the file
        chunks = self._chunks(0, len(self._lines), own, pairs, self._every, None)
        self.result.rows = _joined(chunks)
        self.result.columns = list(self._columns())

    def _apart(
        self, own: Sequence[Definition], lines: Sequence[str]
    ) -> tuple[Sequence[Definition], dict[Definition, Definition]]:
        """The snippet's definitions, and the file's for which they stand. One that stands for the
        holder of another's is read as lines with its members."""
        while True:
            pairs = paired(own, self._every, lines, self._file, self._language, self._holders)
            spans = sorted(
                ((old.first, -old.last, shown) for shown, old in pairs.pairs),
                key=lambda span: span[:2],
            )
            outer = {shown for (_, last, shown), (first, *_) in pairwise(spans) if first < -last}
            if not outer:
                return own, self._paired(own, self._every, lines, self._holders)
            own = [
                part
                for definition in own
                for part in (definition.children if definition in outer else (definition,))
            ]

    def _torn(self, own: Definition, old: Definition, shown: ShownLines, loose: set[int]) -> bool:
        """Whether lines that the snippet shows outside of its definitions are of the one that a
        definition stands for: then it is another one."""
        rows = self._index.rows(2)
        inside = {line.strip() for line in shown.lines[own.top : own.last]}
        texts = {shown.lines[n].strip() for n in loose if not shown.kinds[n]} - inside
        return old.kind == CALLED and any(
            weight(text) == 1
            and len(found := rows.get(text, [])) == 1
            and old.first < found[0] < old.last
            for text in texts
        )

    def _paired(
        self,
        own: Sequence[Definition],
        old: Sequence[Definition],
        lines: Sequence[str],
        members: dict[Definition, Definition] | None = None,
    ) -> dict[Definition, Definition]:
        found = paired(own, old, lines, self._file, self._language, members)
        pairs = dict(found.pairs)
        holders = {self._holders.get(old) for old in pairs.values()}
        for definition, others in found.unsure:
            here = [definition for definition in others if self._holders.get(definition) in holders]
            if len(here) == 1:
                pairs[definition] = here[0]
            if len(here) == 1 or definition.kind == VALUE:
                continue
            places = tuple((other.first + 1, other.last) for other in others)
            reason = f"may be one of {len(others)} definitions of this name"
            hint = "show the line that its holder begins with"
            head = lines[definition.first].strip()
            self.result.refused.append(Ambiguity(head, reason, places, hint))
        return pairs

    def _chunks(
        self,
        first: int,
        last: int,
        own: Sequence[Definition],
        pairs: dict[Definition, Definition],
        old: Sequence[Definition],
        holder: Definition | None,
    ) -> list[_Chunk]:
        """The rows of the snippet's lines [first, last), without what has no neighbour; lines are
        left out between two chunks."""
        self.result.shown |= set(pairs.values())
        self._remove(first, last, own, old, pairs)
        units: list[_Unit] = []
        starts = {definition.top: definition for definition in own}
        partial = {
            definition.first
            for definition in own
            if definition.kind != VALUE and definition not in pairs
        }
        values = [
            definition for definition in own if definition.kind == VALUE and definition not in pairs
        ]
        n = first
        while n < last:
            definition, line, kind = starts.get(n), self._lines[n], self._kinds[n]
            end = n + 1
            if definition in pairs:
                assert definition is not None
                other = pairs[definition]
                units.append(_Unit(self._shown(definition, other, holder), other.first))
                end = definition.last
            elif definition is not None and self._is_new(definition):
                end = definition.last
                start = self._remarks_above(units, n)
                row = SnippetRow(
                    tuple(self._lines[start:end]), start, NEW, holder, begins=True, ends=True
                )
                units.append(_Unit([[row]]))
            elif kind == LEFT_OUT:
                units.append(_Unit([[], []]))
            elif kind != REMOVED:
                fresh = holder is not None and any(
                    value.first <= n < value.last for value in values
                )
                part = LINE if line.strip() else BLANK
                row = SnippetRow((line,), n, part, holder, maybe=kind == MAYBE, fresh=fresh)
                row = replace(row, partial=n in partial)
                units.append(_Unit([[row]], loose=part == LINE))
            n = end
        chunks: list[_Chunk] = [[]]
        for unit in self._sorted(units, pairs):
            chunks[-1] = chunks[-1] + unit.chunks[0]
            chunks += unit.chunks[1:]
        if holder is None or holder.kind in (TYPE, SPACE):
            chunks = self._without_new(chunks, holder, old)
        return chunks

    def _sorted(self, units: list[_Unit], pairs: dict[Definition, Definition]) -> list[_Unit]:
        """The units in the file's order, where they are nothing but definitions."""
        keys: list[int] = []
        for unit in units:
            keys.append(unit.place if unit.place is not None else keys[-1] if keys else -1)
        if keys == sorted(keys):
            return units
        if any(unit.loose for unit in units):
            places = tuple((old.first + 1, old.first + 1) for old in pairs.values())[:8]
            reason = "shows definitions in another order than the file"
            text = self._lines[next(iter(pairs)).first].strip()
            self.result.refused.append(Ambiguity(text, reason, places, "make one change for each"))
            return units
        return [units[n] for n in sorted(range(len(units)), key=lambda n: (keys[n], n))]

    def _is_new(self, definition: Definition) -> bool:
        """Whether the snippet shows all of a definition that the file does not have."""
        kinds = self._kinds[definition.top : definition.last]
        return definition.kind != VALUE and LEFT_OUT not in kinds

    def _remarks_above(self, units: list[_Unit], n: int) -> int:
        """Where a new definition begins with the new comment that stands apart above it; that
        comment is taken out of the units."""
        at, start = len(units), n
        while at and self._kinds[start - 1] == "" and not self._lines[start - 1].strip():
            at, start = at - 1, start - 1
        end = start
        while at and units[at - 1].loose and is_remark(self._lines[start - 1]):
            at, start = at - 1, start - 1
        known = self._index.rows(2)
        new = any(line.strip() not in known for line in self._lines[start:end])
        if not new or (at and units[at - 1].loose):
            return n
        del units[at:]
        return start

    def _shown(self, own: Definition, old: Definition, holder: Definition | None) -> list[_Chunk]:
        """The rows of a definition that the file has."""
        begin = self._begin(own, old)
        solid = own.kind != VALUE
        inner = self._paired(own.children, old.children, self._lines)
        if not any(self._kinds[own.top : own.last]) and not self._misses(own, old, inner):
            self._whole[old.top] = (old, begin)
            lines, key = tuple(self._lines[own.top : own.last]), (WHOLE, old.first)
            row = SnippetRow(lines, own.top, WHOLE, holder, key, begins=solid, ends=solid)
            self.result.shown |= set(inner.values())
            return [[row]]
        self._partial[old] = begin
        start: _Chunk = []
        start += [SnippetRow((self._lines[n],), n, owner=old) for n in range(own.top, own.first)]
        head = (self._lines[own.first],)
        start.append(SnippetRow(head, own.first, HEAD, old, (HEAD, old.first)))
        start[0] = replace(start[0], begins=solid)
        a, b = own.last - 1, old.last - 1
        ours, theirs = self._lines[a].strip(), self._file[b].strip()
        closing = (ours[:1] in "}])" and theirs[:1] in "}])") or ours == theirs
        word = ours.split(None, 1)[0] if ours else ""
        closing |= word in ("return", "end") and word == theirs.split(None, 1)[0]
        closing &= a > own.first and b > old.first and not self._kinds[a] and bool(ours)
        closing &= all(child.last <= a for child in own.children)
        closing &= all(child.last <= b for child in old.children)
        if closing:
            self._closed.add(old)
            end = SnippetRow((self._lines[a],), a, HEAD, old, (HEAD, b), ends=solid)
        else:
            end = SnippetRow((), own.last, END, old, (END, old.last), ends=solid)
        chunks = self._chunks(
            own.first + 1, own.last - closing, own.children, inner, old.children, old
        )
        chunks[0] = [*start, *chunks[0]]
        chunks[-1] = [*chunks[-1], end]
        return chunks

    def _begin(self, own: Definition, old: Definition) -> int:
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

    def _misses(
        self, own: Definition, old: Definition, pairs: dict[Definition, Definition]
    ) -> bool:
        """Whether a definition that is shown without a marker lacks members of the file's. They
        stay where it shows nothing but changed members; else nothing says what is meant."""
        if old.kind not in (TYPE, SPACE):
            return False
        shown = set(pairs.values())
        lost = [child for child in old.children if child.kind != VALUE and child not in shown]
        if not lost:
            return False
        inside = {n for child in own.children for n in range(child.top, child.last)}
        rest = [self._lines[n].strip() for n in range(own.first + 1, own.last) if n not in inside]
        same = any(
            self._lines[a.first : a.last] == list(self._file[b.first : b.last])
            for a, b in pairs.items()
        )
        if same or any(line and line[:1] not in tuple("{})];") and line != "end" for line in rest):
            names = ", ".join(definition.name for definition in lost[:4])
            reason = f"shows `{old.name}` without `{names}` or `...`"
            head = self._lines[own.first].strip()
            place = (old.first + 1, old.last)
            self.result.refused.append(
                Ambiguity(head, reason, (place,), "put `...` where they stay")
            )
        return True

    def _remove(
        self,
        first: int,
        last: int,
        own: Sequence[Definition],
        old: Sequence[Definition],
        pairs: dict[Definition, Definition],
    ) -> None:
        """Note what the comments of a holder remove: definitions, or other lines with a name."""
        inner = {n for definition in own for n in range(definition.first, definition.last)}
        removable = Removable(old, set(pairs.values()), self._file, self._holders)
        for n in range(first, last):
            if self._kinds[n] != REMOVED or n in inner:
                continue
            above = [old.last for shown, old in pairs.items() if shown.last <= n]
            below = [old.first for shown, old in pairs.items() if shown.first > n]
            low, high = max(above, default=0), min(below, default=len(self._file))
            removal = removable.by(self._lines[n], low, high)
            self.result.removed |= removal.definitions
            self.result.refused += removal.refused
            if removal.names:
                self.result.words[n] = set(removal.names)

    def _without_new(
        self, chunks: Sequence[_Chunk], holder: Definition | None, old: Sequence[Definition]
    ) -> list[_Chunk]:
        """The chunks without those that are nothing but new definitions, which stand last in their
        holder, or comments that stay above a definition."""
        known = self._index.rows(2)
        kept: list[_Chunk] = []
        for chunk in chunks:
            new = any(row.part == NEW for row in chunk)
            if new and all(
                row.part in (NEW, BLANK) or (is_remark(row.text) and row.text.strip() not in known)
                for row in chunk
            ):
                self._add(chunk, holder, old)
                kept.append([])
            elif chunk and all(self._is_above_shown(row) for row in chunk):
                kept.append([])
            else:
                kept.append(chunk)
        return kept

    def _is_above_shown(self, row: SnippetRow) -> bool:
        """Whether a row is of the comment above a definition that the snippet shows, too."""
        rows = self._index.rows(2).get(row.text.strip(), ())
        shown = self.result.shown
        return row.part == BLANK or (
            row.part == LINE
            and is_remark(row.text)
            and any(old.top <= n < old.first for old in shown for n in rows)
        )

    def _add(self, chunk: _Chunk, holder: Definition | None, old: Sequence[Definition]) -> None:
        """Put new definitions after the last definition of their holder."""
        lines = [line for row in chunk for line in row.lines]
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            lines.pop(0)
        depth = len(margin(lines[0]))
        if holder is None:
            members = self._old
            while deeper := self._deeper(members, depth):
                holder, members = deeper, deeper.children
        else:
            members = old
        solid = [
            member
            for member in members
            if member.kind != VALUE and member not in self.result.removed
        ]
        if solid:
            at = max(member.last for member in solid)
        elif holder is not None:
            at = holder.last - _ends(self._file[holder.last - 1])
            while at and not self._file[at - 1].strip():
                at -= 1
        else:
            at = max((n + 1 for n, line in enumerate(self._file) if line.strip()), default=0)
        before = self._added.setdefault(at, [])
        first = at == 0 or (not before and opens(self._file[at - 1]))
        before += [*([] if first else [""] * self._blanks(depth)), *lines]

    def _deeper(self, members: Sequence[Definition], depth: int) -> Definition | None:
        """The type that a new definition as deep as its members belongs to, where it is one."""
        if not depth and any(member.kind == CALLED for member in members):
            return None
        inside = [
            member
            for member in members
            if member.kind in (TYPE, SPACE)
            and any(len(margin(self._file[child.first])) == depth for child in member.children)
        ]
        shown = [definition for definition in inside if self.result.shown & set(definition.walk())]
        return shown[0] if len(shown) == 1 else inside[-1] if inside else None

    def _blanks(self, depth: int) -> int:
        python = self._language is not None and self._language.name == "python"
        return 2 if python and not depth else 1

    def _columns(self) -> Iterator[FileColumn]:
        owners: list[Definition | None] = [None] * len(self._file)
        for old, begin in sorted(self._partial.items(), key=lambda pair: (pair[1], -pair[0].last)):
            for n in range(begin, old.last):
                owners[n] = old
        heads = {old.first for old in self._partial}
        begins = {begin: old for old, begin in self._partial.items()}
        ends: dict[int, list[Definition]] = {}
        for old in self._partial:
            if old not in self._closed:
                ends.setdefault(old.last, []).append(old)
        glued = {n for old, begin in self._partial.items() for n in range(old.top, begin)}
        gone = self._removed_lines()
        defining = {definition.first for definition in self._every if definition.kind != VALUE}
        names = set().union(*self.result.words.values()) if self.result.words else set()
        new = {line.strip() for row in self.result.rows if row.part == NEW for line in row.lines}
        n, size = 0, len(self._file)
        while n <= size:
            for old in sorted(ends.get(n, ()), key=lambda definition: -definition.first):
                yield FileColumn("", (), n, (END, n), old)
            if n in self._added:
                lines = tuple(self._added[n])
                yield FileColumn(lines[0], lines, n, (NEW, n), fixed=True)
            if n == size:
                break
            if n in self._whole:
                old, begin = self._whole[n]
                owner = next(
                    (definition for definition in self._above(old) if definition in self._partial),
                    None,
                )
                above = tuple(self._file[old.top : begin])
                body = tuple(self._file[begin : old.last])
                yield FileColumn(
                    self._file[old.first], body, old.first, (WHOLE, old.first), owner, above
                )
                n = old.last
                continue
            if n in gone or n in glued:
                n += 1
                continue
            above = tuple(self._file[begins[n].top : n]) if n in begins else ()
            part = HEAD if n in heads else LINE
            if any(old.last - 1 == n for old in self._closed):
                part = HEAD
            line = self._file[n]
            free = any(name in line for name in names)
            moved = bool(line.strip()) and line.strip() in new
            key = (part, n)
            yield FileColumn(
                *(line, (line,), n, key, owners[n], above, free), moved=moved, defines=n in defining
            )
            n += 1

    def _above(self, definition: Definition) -> Iterator[Definition]:
        while (holder := self._holders.get(definition)) is not None:
            yield holder
            definition = holder

    def _removed_lines(self) -> set[int]:
        """The lines of what is removed, and the blank lines that separate it."""
        gone: set[int] = set()
        file = self._file
        for old in sorted(self.result.removed, key=lambda definition: definition.first):
            gone |= set(range(old.top, old.last))
            above, below = old.top - 1, old.last
            while above in gone:
                above -= 1
            after = file[below].strip() if below < len(file) else ""
            if above >= 0 and opens(file[above]) and not after:
                while below < len(file) and not file[below].strip():
                    gone.add(below)
                    below += 1
            elif not after or after[:1] in "})":
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
            if blank and not apart and not may_stay_between(result[-1], row):
                result += blank
                blank = []
            elif blank and not apart:
                result[-1] = replace(result[-1], trail=len(blank))
            result.append(replace(row, apart=apart, lead=len(blank)))
            blank, apart = [], False
        if blank and not apart:
            result[-1] = replace(result[-1], trail=len(blank))
    return result


def may_stay_between(above: SnippetRow, below: SnippetRow) -> bool:
    """Whether lines of the file may stay between two rows, although the snippet shows none."""
    if above.part not in BOUND or below.part not in BOUND:
        return False
    return above.ends or below.begins


def _mark(line: str) -> str:
    """The mark that a comment or attribute begins with: `///`, `/**`, `@`."""
    return line[: next((n for n, char in enumerate(line) if char.isalnum() or char == " "), 1)]


def opens(line: str) -> bool:
    """Whether a block begins at the end of a line."""
    return line.rstrip()[-1:] in ("{", "(", "[", ":")


def closes(line: str) -> bool:
    """Whether a block ends at the beginning of a line."""
    return line.strip()[:1] in ("}", ")", "]")


def _ends(line: str) -> bool:
    return closes(line) or line.strip() == "end"
