"""The reasons to refuse a snippet that was laid along a file: what it would take away unsaid, and
what could be meant otherwise.

A rule gives what it objects to. RULES has them all, in three groups: a later group is asked where
no rule before it applies. Each names a measured case that is written wrongly without it: of
tests/edit/apply, of the commits of benchmarks.apply, or of these with a line changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from specedit.edit.apply.alignment import AlignedLine
from specedit.edit.apply.comparison import (
    END,
    LINE,
    MAX_LISTED_PLACES,
    NEW,
    WHOLE,
    Comparison,
    FileColumn,
    beside,
)
from specedit.edit.apply.definitions import (
    CALLED,
    OVERLOAD,
    SPACE,
    TYPE,
    VALUE,
    Definition,
    file_definitions,
    rewritten,
    words_of_lines,
)
from specedit.edit.apply.lines import (
    MIN_LIKENESS,
    Ambiguity,
    Lines,
    clearer,
    closes,
    likeness,
    margin,
    opens,
    same_line,
    sets_again,
    short,
    weight,
)
from specedit.edit.apply.markers import comment_text
from specedit.edit.apply.scores import Alignment, enclosing
from specedit.syntax.lines import common, opcodes

MIN_LINE_WEIGHT = 0.6  # least weight of a line that says which definition it is of
LOST_TAIL_LINES = 5  # lines of code at the end of a definition that a snippet may leave out
MANY, MANY_FOR_ONE = 10, 3  # lines of code that two rows may drop, and more for each new one
MAX_REPLACED_LINES = 2  # lines of code that a comment may replace
CLEAR_MARGIN = 0.6  # by which the best alignment must lead
MAX_OTHERS = 60  # other alignments that are looked at
ENDS_BLOCK = frozenset(("return", "throw", "raise", "break", "continue"))
BRANCHES = frozenset(  # heads of blocks of which there are several side by side, and "- " of YAML
    ("if", "elif", "else", "case", "for", "foreach", "while", "catch", "except", "finally", "-")
)
NEIGHBOUR_LINES = 200  # in which no other line is like the first one of a block
MIN_EQUAL_LINES = 2  # equal lines that say which block theirs is
MIN_SHARED_WORDS = 5  # words that two first lines of a branch share
NOT_SHOWN, SHOW_OR_REMOVE = "is not shown, and would go", "show it, or remove it with a diff"
_HEADS = {"toml": re.compile(r"\[.*\]"), "yaml": re.compile(r"[\w\"'-]+:")}
_IN_COMMENT = ("/*", "*/", "* ", "*")
_REMOVE_THIS = re.compile(
    r"\S\s+(?:#|//|--|/\*|<!--)\W*(?:remove|delete)d?(?: this)?(?: line)?\W*$", re.IGNORECASE
)

_Path = Sequence[AlignedLine]


@dataclass
class Merge:
    """A snippet, laid along a file."""

    comparison: Comparison
    alignment: Alignment
    new: Sequence[str]  # the file's new lines
    written: Callable[[_Path], list[str]]  # by another alignment

    def __post_init__(self) -> None:
        self.file, self.old = self.comparison.file, self.comparison.old
        self.rows, self.columns = self.comparison.rows, self.comparison.columns

    @cached_property
    def path(self) -> _Path:
        return self.alignment.path

    @cached_property
    def now(self) -> Sequence[Definition]:
        """The definitions in the new lines."""
        return file_definitions(self.new, self.comparison.language)

    @cached_property
    def chunks(self) -> list[range]:
        """The rows between lines that stay or are left out."""
        starts = [n for n, step in enumerate(self.path) if step.kept or self.rows[n].apart or not n]
        return [range(*ends) for ends in pairwise([*starts, len(self.path)])]

    def ends(self, n: int) -> bool:
        """Whether lines of the file stay below a row."""
        return n + 1 == len(self.rows) or self.path[n + 1].kept

    def equal(self, n: int) -> bool:
        """Whether a row is a line as the file has it."""
        row, step = self.rows[n], self.path[n]
        return step.matched and row.text.strip() == self.columns[step.at].text.strip()

    def doubt(self, n: int, reason: str, ats: Sequence[int]) -> Ambiguity:
        """A row, the columns that it may be, and the smallest addition that tells them apart."""
        numbers = [self.columns[at].number for at in ats]
        hint = clearer(self.file, numbers, [row.text for row in self.rows if row.lines])
        lines = tuple((number + 1, number + 1) for number in numbers[:MAX_LISTED_PLACES])
        return Ambiguity(self.rows[n].text.strip(), reason, lines, hint)


Rule = Callable[[Merge], Iterator[Ambiguity]]


def _gaps(merge: Merge) -> Iterator[tuple[int, list[str], list[FileColumn]]]:
    """For each row that is one of the file's, the new lines above it, back to the row before, and
    the lines of code that go."""
    at, new = 0, list[str]()
    for n, (row, step) in enumerate(zip(merge.rows, merge.path, strict=True)):
        if step.kept:
            at, new = step.at, []
        if step.matched:
            gone = merge.columns[at : step.at]
            yield n, new, [line for line in gone if _is_code(line.text)]
            at, new = step.at + 1, []
        elif not step.gone:
            new += [line for line in row.lines if line.strip()]


def _span(columns: Sequence[FileColumn]) -> tuple[Lines, ...]:
    return ((columns[0].number + 1, columns[-1].number + len(columns[-1].lines)),)


def _lines(definition: Definition) -> tuple[Lines, ...]:
    return ((definition.first + 1, definition.last),)


def _stays(new: str, how: str, old: Definition) -> Ambiguity:
    """The objection to a new definition that may be what a definition of the file becomes."""
    hint = f"show `{old.name}`, or say in a comment: `{old.name} removed`"
    return Ambiguity(new.strip(), f"{how}, which would stay", _lines(old), hint)


def _comments_for_code(merge: Merge) -> Iterator[Ambiguity]:
    """The new comments that replace lines of code, where nothing else replaces them. Case: a marker
    in other words."""
    said = {n for old in merge.comparison.removed for n in range(old.top, old.last)}
    for _, a, b, c, d in opcodes(merge.file, merge.new):
        new = _solid(merge.new[c:d])
        gone = [n for n in range(a, b) if n not in said and _is_code(merge.file[n])]
        if new and len(gone) > MAX_REPLACED_LINES and not any(map(_is_code, new)):
            hint, span = "write `...` in it if the code stays", ((gone[0] + 1, gone[-1] + 1),)
            yield Ambiguity(new[0], "is a comment in place of this code", span, hint)


def _many_dropped(merge: Merge) -> Iterator[Ambiguity]:
    """The places where two rows stand side by side, and many lines of the file between them. Case:
    a snippet without one of its markers."""
    for n, new, lines in _gaps(merge):
        gone = [line for line in lines if not line.moved]
        if len(gone) > MANY + MANY_FOR_ONE * sum(map(_is_code, new)):
            first = next((row.text.strip() for row in merge.rows[n:] if row.text.strip()), "")
            reason = f"leaves out {len(gone)} lines above it without `...`"
            yield Ambiguity(first, reason, _span(gone), "put `...` where they stay")


def _without_end(merge: Merge) -> Iterator[Ambiguity]:
    """The functions that are shown whole, and end early in the file's. Case: the end of a
    function."""
    called = {old.first: old for old in merge.comparison.defined if old.kind == CALLED}
    for row, step in zip(merge.rows, merge.path, strict=True):
        if row.part != WHOLE or not step.matched:
            continue
        old = called.get(merge.columns[step.at].number)
        left = _left_after(row.lines, merge.file[old.first : old.last]) if old else []
        if old and len(left) >= LOST_TAIL_LINES:
            reason = f"shows `{old.name}` without its last {len(left)} lines"
            hint = "put `...` if they stay, or remove them with a diff"
            yield Ambiguity(row.text.strip(), reason, _lines(old), hint)


def _left_after(new: Sequence[str], old: Sequence[str]) -> list[str]:
    """The lines of code of a definition after the last one that a snippet shows, where it ends with
    a line of the definition."""
    shown = [line.strip() for line in new if weight(line) >= MIN_LINE_WEIGHT]
    texts = [line.strip() for line in old]
    if not shown or texts.count(shown[-1]) != 1:
        return []
    left = [line for line in old[texts.index(shown[-1]) + 1 :] if weight(line) >= MIN_LINE_WEIGHT]
    return [] if any(line.strip() in shown for line in left) else left


def _unended(merge: Merge) -> Iterator[Ambiguity]:
    """The new lines that a definition ends with in the snippet, where lines of the file follow that
    it does not show. Case: new lines at the end of a function of which lines follow."""
    for n, (row, step) in enumerate(zip(merge.rows, merge.path, strict=True)):
        above = merge.path[n - 1]
        if row.part == END and not row.apart and not above.matched and not above.gone:
            left = [line for line in merge.columns[above.at : step.at] if _is_code(line.text)]
            if left and merge.rows[n - 1].owner == row.owner:
                reason = "ends what it shows of a definition, and lines of the file follow"
                hint = "put `...` below it if they stay, or remove them with a diff"
                yield Ambiguity(merge.rows[n - 1].text.strip(), reason, _span(left), hint)


def _is_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and comment_text(line) is None and text[:1] != "*" and text[:2] != "/*"


def _lost(merge: Merge) -> Iterator[Ambiguity]:
    """The file's definitions that are gone, although the change does not say so. Case: a class
    without its methods."""
    file, new, comparison = merge.file, merge.new, merge.comparison
    found = list(_paths(merge.now))
    left: dict[tuple[str, ...], dict[int, str]] = {}  # first lines of those that are there
    for path, definition in found:
        left.setdefault(path, {})[definition.first] = definition.head.strip()
    had = list(_paths(merge.old))
    paths = Counter(path for path, _ in had)
    other = []  # those with another first line
    for path, definition in had:
        rest, head = left.get(path, {}), definition.head.strip()
        same = next((n for n, line in rest.items() if line == head), None)
        if same is None:
            other.append((path, definition, head))
        else:
            del rest[same]
    renamed = [definition for path, definition in found if path not in paths]
    replaced = [block for block in opcodes(file, new) if block[0] == "replace"]
    known = {line.strip() for line in file}
    shown = words_of_lines(line for line in comparison.lines if line.strip() not in known)
    used = words_of_lines(new)
    for path, definition, head in other:
        rest = left.get(path, {})
        if paths[path] > 1:  # an overload has another first line in the same place
            rest = {
                n: line
                for n, line in rest.items()
                if likeness(head, line) >= OVERLOAD
                and any(a <= definition.first < b and c <= n < d for _, a, b, c, d in replaced)
            }
        if rest:
            del left[path][max(rest, key=lambda n: likeness(head, rest[n]))]
            continue
        gone = (paths.keys() & {path[:n] for n in range(1, len(path))}) - left.keys()
        value = definition.kind == VALUE
        kept = value and (definition.name in shown or path in left or definition.name not in used)
        if gone or kept or definition in comparison.removed:
            continue
        now = next((now for now in renamed if _continues(definition, now)), None)
        if now is not None:
            renamed.remove(now)
            continue
        reason = f"removes `{'.'.join(path)}`, and the change does not say so"
        hint = f"put `...` where it stays, or a comment: `{definition.name} removed`"
        yield Ambiguity(head, reason, _lines(definition), hint)


def _continues(old: Definition, new: Definition) -> bool:
    """Whether a definition has another name now, and its lines."""
    if old.kind != new.kind:
        return False
    if f".{old.name}".endswith(f".{new.name}") or f".{new.name}".endswith(f".{old.name}"):
        return old.name != new.name and rewritten(new, old)
    before, after = (Counter(x for x in one.body if weight(x) == 1) for one in (old, new))
    same = (before & after).total()
    return same > 0 and 2 * same >= max(before.total(), after.total())


def _doubled(merge: Merge) -> Iterator[Ambiguity]:
    """The functions that would stay next to a new method of their name with most of their text, and
    methods next to such a function. Case: a function whose lines a new method has."""
    now = list(_by_holder(merge.now))
    there = {key for key, _ in now}
    had = dict(_by_holder(merge.old))
    stay: dict[str, list[tuple[str, Definition]]] = {}
    for (holder, name), old in _by_holder(merge.old):
        if (holder, name) in there and old not in merge.comparison.shown:
            stay.setdefault(name, []).append((holder, old))
    for (holder, name), new in now:
        for other, old in stay.get(name, ()) if (holder, name) not in had else ():
            called = new.kind == old.kind == CALLED and bool(other) != bool(holder)
            if called and rewritten(new, old):
                yield _stays(new.head, f"is like `{old.name}`", old)


def _by_holder(tree: Sequence[Definition]) -> Iterator[tuple[tuple[str, str], Definition]]:
    """The names of holders and members."""
    for path, definition in _paths(tree):
        holder, _, name = ".".join(path).rpartition(".")
        yield (holder, name), definition


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


def _floating(merge: Merge) -> Iterator[Ambiguity]:
    """The parts between what is left out that show no line of the file. Case: instructions."""
    rows = merge.rows
    starts = [n for n, row in enumerate(rows) if row.apart or not n]
    for part in (range(*ends) for ends in pairwise([*starts, len(rows)])):
        own = [n for n in part if rows[n].part != END]
        anchored = any(
            (merge.path[n].matched or merge.path[n].gone)
            and (n in own or any(rows[k].owner != rows[n].owner for k in own))
            for n in part
        )
        lines = [n for n in own if rows[n].part == LINE and rows[n].text.strip()]
        known = [n for n in lines if merge.path[n].matched]
        if len(lines) == len(own) and known and not any(map(merge.equal, known)):
            anchored = known == lines  # each is in place of a line
        if own and not anchored:
            reason = "shows no line of the file beside it, so nothing says where it belongs"
            yield Ambiguity(rows[own[0]].text.strip(), reason, hint="show the line above it")


def _partial(merge: Merge) -> Iterator[Ambiguity]:
    """New definitions of which the snippet leaves lines out that the file does not have. Case: a
    new function with a marker."""
    for row, step in zip(merge.rows, merge.path, strict=True):
        if row.partial and not step.matched:
            reason = "is shown in part, and the file does not have it"
            yield Ambiguity(row.text.strip(), reason, hint="show all of its lines")


def _comments_lost(merge: Merge) -> Iterator[Ambiguity]:
    """Comments that the snippet does not show and would take away, where no grammar says what they
    belong to, or half of one. Case: the comment above the script of a component of Vue."""
    if merge.comparison.language is not None and merge.comparison.language.grammar:
        return

    def remarks(lines: Sequence[str]) -> list[str]:
        return [x for x in lines if comment_text(x) is not None or x.strip()[:2] in _IN_COMMENT]

    def balance(lines: Sequence[str]) -> tuple[int, int]:
        text = "\n".join(lines)
        return text.count("/*") - text.count("*/"), text.count("{") - text.count("}")

    for _, a, b, c, d in opcodes(merge.file, merge.new):
        lost = remarks(merge.file[a:b])
        if len(lost) > len(remarks(merge.new[c:d])):
            yield Ambiguity(lost[0].strip(), NOT_SHOWN, ((a + 1, b),), SHOW_OR_REMOVE)
    if balance(merge.file) != balance(merge.new):
        reason = "a comment or a block would begin or end elsewhere"
        yield Ambiguity(merge.rows[0].text.strip(), reason, hint="show more lines around it")


def _tables_lost(merge: Merge) -> Iterator[Ambiguity]:
    """Tables and top-level keys that the snippet does not show, and would take away. Case: TOML."""
    language = merge.comparison.language
    head = _HEADS.get(language.name) if language is not None else None
    if head is None:
        return
    names = {found[0] for line in merge.new if (found := head.match(line))}
    for n, line in enumerate(merge.file, 1):
        if (found := head.match(line)) and found[0] not in names:
            yield Ambiguity(line.strip(), NOT_SHOWN, ((n, n),), SHOW_OR_REMOVE)


def _to_remove(merge: Merge) -> Iterator[Ambiguity]:
    """Lines with a comment at their end that says to remove them. Case: a line of YAML."""
    for n, row in enumerate(merge.rows):
        if _REMOVE_THIS.search(row.text) and not merge.equal(n):
            reason = "a comment at its end says to remove it"
            yield Ambiguity(row.text.strip(), reason, hint="remove it with a diff")


def _moved(merge: Merge) -> Iterator[Ambiguity]:
    """Definitions in another order than the file's, where nothing else is new. Case: a function
    moved up, with a marker for its lines."""
    row = merge.comparison.in_another_order
    if row is not None and _solid(merge.new) == _solid(merge.file):
        reason = "shows definitions in another order than the file, and nothing else is new"
        yield Ambiguity(row.strip(), reason, hint="move them with a diff")


def _repeated(merge: Merge) -> Iterator[Ambiguity]:
    """New definitions with the lines of one that would stay: either may be what is meant. Case:
    spdlog e696978d11, lazy-3."""
    gone = merge.comparison.shown | merge.comparison.removed
    bodies = {tuple(_solid(old.body)): old for old in merge.comparison.defined if old not in gone}
    for row in merge.rows:
        old = bodies.get(tuple(_solid(row.lines[1:]))) if row.part == NEW else None
        if old is not None and any(weight(line) == 1 for line in row.lines[1:]):
            yield _stays(row.text, f"has the lines of `{old.name}`", old)


def _solid(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _never_run(merge: Merge) -> Iterator[Ambiguity]:
    """New lines that end a block above lines of it, or stand below a line that ends theirs, where
    the snippet does not show these. Case: an error above lines that stay; a return after one that
    stays."""
    for n, (row, step) in enumerate(zip(merge.rows, merge.path, strict=True)):
        if row.part != LINE or step.matched or step.gone:
            continue
        pairs = []  # the line that is not shown, what stands first, what is below it, why
        below, above = beside(merge.columns, step.at)
        if merge.ends(n) and below is not None and below.owner == row.owner:
            why = "would keep the line below it from running"
            pairs.append((below, row.text, below.text, why))
        if step.kept and above is not None and above.owner == row.owner:
            why = "would never run, as the line above it ends the block"
            pairs.append((above, above.text, row.text, why))
        for other, first, second, why in pairs:
            ends = first.split(None, 1)[0].rstrip(";") in ENDS_BLOCK
            if ends and not opens(first) and not closes(second) and margin(first) == margin(second):
                reason, hint = (
                    f"{why}: `{short(other.text.strip())}`",
                    "show that line, or remove it with a diff",
                )
                yield Ambiguity(row.text.strip(), reason, _span([other]), hint)


def _beside(merge: Merge) -> Iterator[Ambiguity]:
    """The rows at the open ends of chunks that replace a line, and may be new beside it. Case: a
    call beside one with another last argument."""
    rows, columns, path = merge.rows, merge.columns, merge.path
    bound = merge.comparison.bound

    def equal(n: int) -> bool:
        return merge.equal(n) or (path[n].matched and n in bound)

    def certain(n: int) -> bool:
        """Whether a changed row is its line, and no other one next to it."""
        text, other = rows[n].text, columns[path[n].at].text
        same = text.strip() != other.strip() and same_line(text, other)
        ends = closes(text) and closes(other) and margin(text) == margin(other)
        return (same and not sets_again(text, other)) or (
            ends and (opens(text) or not opens(other))
        )

    def beside_certain(n: int) -> bool:
        """Whether a row and one next to it that is certain replace lines next to each other."""
        beside = [k for k in (n - 1, n + 1) if 0 <= k < len(path) and not path[max(n, k)].kept]
        return any(
            path[k].at - path[n].at == k - n for k in beside if path[k].matched and certain(k)
        )

    def one_opening(n: int) -> bool:
        """Whether a row is the first line of a block and like that of one block alone."""
        text, at = rows[n].text, path[n].at
        near = columns[max(0, at - NEIGHBOUR_LINES) : at + NEIGHBOUR_LINES]
        alike = [column for column in near if likeness(text, column.text) >= MIN_LIKENESS]
        return opens(text) and opens(columns[at].text) and alike == [columns[at]]

    for chunk in merge.chunks:
        strong = [n for n in chunk if equal(n) and rows[n].text.strip()]
        first, last = (strong[0], strong[-1]) if strong else (chunk.stop, chunk.stop)
        for n in (*range(chunk.start, first), *range(last + 1, chunk.stop)):
            if not path[n].matched or equal(n) or certain(n) or beside_certain(n):
                continue
            if not one_opening(n):
                yield merge.doubt(n, "may replace this line, or stand beside it", [path[n].at])


def _new_blocks(merge: Merge) -> Iterator[Ambiguity]:
    """The blocks at the ends of a chunk of which some lines are the file's, but not the first: all
    of their lines may be new. Case: a new block with the lines of the next one."""
    rows, path = merge.rows, merge.path
    new = words_of_lines(row.text for n, row in enumerate(rows) if not merge.equal(n))
    reason = "may be a new block, or one in place of this"
    for chunk in merge.chunks:
        ours = [row.text for row in rows[: chunk.stop]]
        own = [n for n in chunk if ours[n].strip()]
        first = chunk.start
        start = _opening(ours, own) if own else None
        while start is not None and start in chunk and not _is_known(merge, chunk, start, new):
            first, start = start, enclosing(ours, start)
        if own and first > own[0] and _replaces(merge, range(first, chunk.stop)):
            ats = [path[n].at for n in chunk if n >= first and path[n].matched]
            yield merge.doubt(first, reason, ats[:1])
        if not own or _is_known(merge, chunk, own[0], new):
            continue
        depth = len(margin(ours[own[0]]))
        after = next((n for n in own[1:] if len(margin(ours[n])) <= depth), chunk.stop)
        while after < chunk.stop and (
            not ours[after].strip() or (closes(ours[after]) and len(margin(ours[after])) == depth)
        ):
            after += 1
        block = range(chunk.start, after)
        alone = after == chunk.stop or not path[after].matched or len(block) == 1
        if not alone and _replaces(merge, block):
            ats = [path[n].at for n in chunk if n >= own[0] and path[n].matched]
            yield merge.doubt(own[0], reason, ats[:1])


def _opening(texts: Sequence[str], own: Sequence[int]) -> int | None:
    """The first line of the block that ends with, or has, the last of some lines."""
    last = own[-1]
    if not closes(texts[last]) or re.search(r"\w", texts[last]):
        return enclosing(texts, last)
    depth = len(margin(texts[last]))
    heads = (n for n in reversed(own[:-1]) if re.search(r"\w", texts[n]))
    head = next((n for n in heads if len(margin(texts[n])) <= depth), None)
    return head if head is not None and len(margin(texts[head])) == depth else None


def _is_known(merge: Merge, chunk: range, n: int, new: set[str]) -> bool:
    """Whether the first line of a block is the line that it stands for: most of that is in it, what
    is not is in other new rows, or the lines of its block are the file's."""
    rows, columns, path = merge.rows, merge.columns, merge.path
    text, step = rows[n].text, path[n]
    word = next(iter(text.strip(" \t}").split(None, 1)), "").partition("(")[0]
    if rows[n].column or word not in BRANCHES or merge.equal(n):
        return True
    depth = len(margin(text))
    end = next((k for k in chunk if k > n and len(margin(rows[k].text)) <= depth), chunk.stop)
    telling = [k for k in range(n + 1, end) if weight(rows[k].text) == 1]
    same = [k for k in telling if path[k].matched and rows[k].text == columns[path[k].at].text]
    if len(same) >= MIN_EQUAL_LINES:
        return True
    other = columns[step.at].text if step.matched else ""
    if not step.matched:  # the first line that it may replace
        below = next((k for k in telling if path[k].matched), None)
        above = max((path[k].at for k in chunk if k < n and path[k].matched), default=step.at)
        gone = columns[above : path[below].at] if below is not None else []
        other = next((column.text for column in gone if opens(column.text)), "")
    words, others = words_of_lines([text]), words_of_lines([other])
    if closes(text) and closes(other) and (not others or len(others & words) >= MIN_SHARED_WORDS):
        return True
    likely = step.matched and same_line(text, other) and not words < others
    return likely or (bool(others) and others <= new | words)


def _replaces(merge: Merge, block: range) -> bool:
    """Whether lines of the file go, or change, where a block stands."""
    rows, columns, path = merge.rows, merge.columns, merge.path
    at = {path[n].at: n for n in block if path[n].matched and rows[n].text.strip()}
    low = min((path[n].at for n in block if not path[n].gone), default=0)
    return bool(at) and any(
        columns[k].text.strip() and (k not in at or columns[k].text != rows[at[k]].text)
        for k in range(low, max(at) + 1)
    )


def _only_added(merge: Merge) -> Iterator[Ambiguity]:
    """The chunks that replace lines, and may as well add all their new lines between two lines that
    they show. Case: a case that may be new."""
    for chunk in merge.chunks:
        own = [n for n in chunk if merge.rows[n].text.strip()]
        matched = [merge.path[n].at for n in own if merge.path[n].matched]
        if not matched or any(merge.rows[n].part != LINE for n in own):
            continue
        span = range(min(matched), max(matched) + 1)
        inside = [at for at in span if merge.columns[at].text.strip()]
        texts = [merge.rows[n].text.rstrip() for n in own]
        theirs = [merge.columns[at].text.rstrip() for at in inside]
        head, tail = common(texts, theirs), common(texts[::-1], theirs[::-1])
        if head + tail >= min(len(texts), len(theirs) - 1):
            continue  # one line goes, or none; or nothing is new
        for at in range(head + 1, len(inside)):  # lines of the file above what is added
            counts = range(min(at, len(own) - 1), 0, -1)
            above = next((k for k in counts if texts[:k] == theirs[at - k : at]), 0)
            below = len(inside) - at
            if above and below <= tail and above + below < len(own):
                ats = [inside[head], inside[len(inside) - tail - 1]]
                yield merge.doubt(own[above], "may replace these lines, or stand beside them", ats)
                break


def _known(merge: Merge) -> Iterator[Ambiguity]:
    """The new lines at the ends of a chunk that the file has elsewhere. Case: serilog f82e3d5853,
    lazy-1, one line less."""
    best = _solid(merge.new)
    for n in sorted({n for chunk in merge.chunks for n in (chunk.start, chunk.stop - 1)}):
        row, step, text = merge.rows[n], merge.path[n], merge.rows[n].text.rstrip()
        if step.matched or step.gone or row.part != LINE or _in_new_block(merge, merge.path, n):
            continue
        ats = [at for at, column in enumerate(merge.columns) if column.text.rstrip() == text]
        ats = [at for at in ats if merge.columns[at].owner == row.owner][:MAX_LISTED_PLACES]
        others = (merge.alignment.through(n, at) for at in ats)
        if any(other and _solid(merge.written(other)) != best for other in others):
            yield merge.doubt(n, "may be new, or this line", ats)


def _elsewhere(merge: Merge) -> Iterator[Ambiguity]:
    """The rows that are as good in other alignments. Case: rust-analyzer 156f423434, lazy-2."""
    best = _solid(merge.new)
    places: dict[int, dict[int, _Path]] = {}
    for n, at in islice(merge.alignment.alternatives(CLEAR_MARGIN), MAX_OTHERS):
        other = merge.alignment.through(n, at)
        if other is not None and merge.rows[n].text.strip() and not _in_new_block(merge, other, n):
            places.setdefault(n, {})[at] = other
    for n, others in places.items():
        if any(_solid(merge.written(other)) != best for other in others.values()):
            ats = sorted({*others, *([merge.path[n].at] if merge.path[n].matched else [])})
            several = f"fits {len(ats)} places equally"
            yield merge.doubt(n, several if len(ats) > 1 else "may be new, or this line", ats)


def _in_new_block(merge: Merge, path: _Path, n: int) -> bool:
    """Whether a row is in a block that begins with a new line."""
    above = enclosing([row.text for row in merge.rows[: n + 1]], n)
    apart = above is None or any(row.apart for row in merge.rows[above + 1 : n + 1])
    return above is not None and not apart and not path[above].matched


LINES: tuple[Rule, ...] = (_many_dropped, _without_end, _unended)
DEFINITIONS: tuple[Rule, ...] = (_comments_for_code, _to_remove, _lost, _doubled)
DOUBTS: tuple[Rule, ...] = (
    _comments_lost,
    _tables_lost,
    _floating,
    _partial,
    _moved,
    _repeated,
    _never_run,
    _beside,
    _new_blocks,
    _only_added,
    _known,
    _elsewhere,
)
RULES = (LINES, DEFINITIONS, DOUBTS)


def reasons_to_refuse(
    merge: Merge, groups: Sequence[tuple[Rule, ...]] = RULES
) -> tuple[Ambiguity, ...]:
    """What the rules of the first group that finds something find."""
    for group in groups:
        if found := tuple(dict.fromkeys(each for rule in group for each in rule(merge))):
            return found
    return ()
