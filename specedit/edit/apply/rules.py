"""The reasons to refuse a snippet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from specedit.edit.apply.alignment import AlignedLine
from specedit.edit.apply.comparison import END, LINE, NEW, WHOLE, Comparison, FileColumn, SnippetRow
from specedit.edit.apply.definitions import (
    CALLED,
    OVERLOAD,
    SPACE,
    TYPE,
    VALUE,
    Definition,
    rewritten,
    words_of_lines,
)
from specedit.edit.apply.lines import (
    MIN_LIKENESS,
    Ambiguity,
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
from specedit.edit.apply.markers import comment_text, is_remark
from specedit.edit.apply.scores import Alignment, enclosing
from specedit.syntax.lines import common, opcodes

MIN_LINE_WEIGHT = 0.6  # least weight of a line that says which definition it is of
LOST_TAIL_LINES = 5  # lines of code at the end of a definition that a snippet may leave out
MANY, MANY_FOR_ONE = 10, 3  # lines of code that two rows may drop, and more for each new one
MAX_REPLACED_LINES = 2  # lines of code that a comment may replace


def lost(
    comparison: Comparison,
    file: Sequence[str],
    old: Sequence[Definition],
    new: Sequence[str],
    now: Sequence[Definition],
) -> Iterator[Ambiguity]:
    """The file's definitions that are gone, although the change does not say so. `now`: those of
    the new lines."""
    found = list(_paths(now))
    left: dict[tuple[str, ...], dict[int, str]] = {}  # first lines of those that are there
    for path, definition in found:
        left.setdefault(path, {})[definition.first] = new[definition.first].strip()
    had = [(path, definition, file[definition.first].strip()) for path, definition in _paths(old)]
    for path, _, head in had:
        rest = left.get(path, {})
        rest.pop(next((n for n, line in rest.items() if line == head), -1), None)
    replaced = [block for block in opcodes(file, new) if block[0] == "replace"]
    paths = Counter(path for path, *_ in had)
    renamed = [definition for path, definition in found if path not in paths]
    known = {line.strip() for line in file}
    shown = words_of_lines(line for line in comparison.lines if line.strip() not in known)
    left_words = words_of_lines(new)
    there = {path for path, _ in found}
    heads = Counter((path, new[definition.first].strip()) for path, definition in found)
    for path, definition, head in had:
        if heads[path, head]:
            heads[path, head] -= 1
            continue
        rest = left.get(path, {})
        if paths[path] > 1:  # an overload has another first line in the same place
            rest = {
                n: line
                for n, line in rest.items()
                if likeness(head, line) >= OVERLOAD
                and any(a <= definition.first < b and c <= n < d for _, a, b, c, d in replaced)
            }
        if rest:
            left[path].pop(max(rest, key=lambda n: likeness(head, rest[n])))
            continue
        gone = (paths.keys() & {path[:n] for n in range(1, len(path))}) - left.keys()
        if gone or definition in comparison.removed:
            continue
        if definition.kind == VALUE and (definition.name in shown or path in there):
            continue
        if definition.kind == VALUE and definition.name not in left_words:
            continue  # nothing uses it
        other = next(
            (candidate for candidate in renamed if _continues(definition, candidate, file, new)),
            None,
        )
        if other is not None:
            renamed.remove(other)
            continue
        reason = f"removes `{'.'.join(path)}`, and the change does not say so"
        hint = f"put `...` where it stays, or a comment: `{definition.name} removed`"
        place = (definition.first + 1, definition.last)
        yield Ambiguity(file[definition.first].strip(), reason, (place,), hint)


def doubled(
    comparison: Comparison,
    file: Sequence[str],
    old: Sequence[Definition],
    new: Sequence[str],
    now: Sequence[Definition],
) -> Iterator[Ambiguity]:
    """The functions that would stay next to a new method of their name with most of their text, and
    methods next to such a function."""
    found = list(_by_holder(now))
    there = {(holder, name) for holder, name, _ in found}
    stay: dict[str, list[tuple[str, Definition]]] = {}
    had: set[tuple[str, str]] = set()
    for holder, name, definition in _by_holder(old):
        had.add((holder, name))
        if (holder, name) in there and definition not in comparison.shown:
            stay.setdefault(name, []).append((holder, definition))
    for holder, name, definition in found:
        for other, left in stay.get(name, ()) if (holder, name) not in had else ():
            called = definition.kind == left.kind == CALLED
            if called and bool(other) != bool(holder) and rewritten(definition, left, new, file):
                place = ((left.first + 1, left.last),)
                reason = f"is like `{left.name}`, which would stay"
                hint = f"show `{left.name}`, or say in a comment: `{left.name} removed`"
                yield Ambiguity(new[definition.first].strip(), reason, place, hint)


def _by_holder(tree: Sequence[Definition]) -> Iterator[tuple[str, str, Definition]]:
    """The names of holders and members."""
    for path, definition in _paths(tree):
        holder, _, name = ".".join(path).rpartition(".")
        yield holder, name, definition


def _continues(old: Definition, new: Definition, file: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether a definition has another name now, and its lines."""
    before = [line for line in file[old.first + 1 : old.last] if weight(line) == 1]
    after = [line for line in lines[new.first + 1 : new.last] if weight(line) == 1]
    same = (Counter(before) & Counter(after)).total()
    if old.kind != new.kind:
        return False
    if f".{old.name}".endswith(f".{new.name}") or f".{new.name}".endswith(f".{old.name}"):
        return old.name != new.name and rewritten(new, old, lines, file)
    return same > 0 and 2 * same >= max(len(before), len(after))


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


def not_removed(
    comparison: Comparison, path: Sequence[AlignedLine], file: Sequence[str]
) -> Iterator[Ambiguity]:
    """The comments that say that lines are removed, where no such line goes."""
    texts = [comparison.columns[at].text for at in _dropped(path)]
    for n, names in comparison.words.items():
        if not any(name in text for text in texts for name in names):
            text = comparison.lines[n].strip()
            yield Ambiguity(text, "says what is removed, and it is not here")


def _dropped(path: Sequence[AlignedLine]) -> Iterator[int]:
    """The columns that an alignment drops."""
    at = 0
    for step in path:
        if not step.kept:
            yield from range(at, step.at)
        at = max(at, step.at + step.matched)


def comments_for_code(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], path: Sequence[AlignedLine]
) -> Iterator[Ambiguity]:
    """The new comments that replace lines of code, where nothing else replaces them."""
    at, new = 0, list[str]()
    for row, step in zip(rows, path, strict=True):
        if step.kept:
            at, new = step.at, []
        if not step.matched:
            new += [line for line in row.lines if line.strip()] if not step.gone else []
            continue
        gone = [
            column for column in columns[at : step.at] if _is_code(column.text) and not column.free
        ]
        if new and len(gone) > MAX_REPLACED_LINES and not any(map(_is_code, new)):
            places = ((gone[0].number + 1, gone[-1].number + len(gone[-1].lines)),)
            reason = "is a comment in place of this code"
            hint = "write `...` in it if the code stays"
            yield Ambiguity(new[0].strip(), reason, places, hint)
        at, new = step.at + 1, []


def many_dropped(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], path: Sequence[AlignedLine]
) -> Iterator[Ambiguity]:
    """The places where two rows stand side by side, and many lines of the file between them."""
    at, new = 0, 0
    for n, (row, step) in enumerate(zip(rows, path, strict=True)):
        if step.kept:
            at, new = step.at, 0
        if not step.matched:
            new += sum(map(_is_code, row.lines)) if not step.gone else 0
            continue
        gone = [
            column
            for column in columns[at : step.at]
            if _is_code(column.text) and not (column.free or column.moved)
        ]
        if len(gone) > MANY + MANY_FOR_ONE * new:
            places = ((gone[0].number + 1, gone[-1].number + len(gone[-1].lines)),)
            reason = f"leaves out {len(gone)} lines above it without `...`"
            first = next((row.text.strip() for row in rows[n:] if row.text.strip()), "")
            yield Ambiguity(first, reason, places, "put `...` where they stay")
        at, new = step.at + 1, 0


def unended(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], path: Sequence[AlignedLine]
) -> Iterator[Ambiguity]:
    """The new lines that a definition ends with in the snippet, where lines of the file follow that
    it does not show."""
    for n, (row, step) in enumerate(zip(rows, path, strict=True)):
        above = path[n - 1]
        if not n or row.part != END or row.apart or above.matched or above.gone:
            continue
        left = [column for column in columns[above.at : step.at] if _is_code(column.text)]
        if left and rows[n - 1].owner == row.owner:
            place = (left[0].number + 1, left[-1].number + len(left[-1].lines))
            reason = "ends what it shows of a definition, and lines of the file follow"
            hint = "put `...` below it if they stay, or remove them with a diff"
            yield Ambiguity(rows[n - 1].text.strip(), reason, (place,), hint)


def broken(
    comparison: Comparison, path: Sequence[AlignedLine], file: Sequence[str]
) -> Iterator[Ambiguity]:
    """The new definitions that would stand in the middle of one of the file's, and those that are
    shown whole and end early in the file's."""
    rows, columns = comparison.rows, comparison.columns
    called = [definition for definition in comparison.defined if definition.kind == CALLED]
    at_first = {definition.first: definition for definition in called}
    for n, (row, step) in enumerate(zip(rows, path, strict=True)):
        if row.part == NEW and (n + 1 == len(rows) or path[n + 1].kept):
            number = columns[step.at].number if step.at < len(columns) else len(file)
            depth = len(margin(row.text))
            for function in called:
                rest = any(line.strip() for line in file[number : function.last])
                if function.first < number and rest and len(margin(file[function.first])) >= depth:
                    reason = f"would stand in the middle of `{function.name}`"
                    hint = "show the line above it and the line below it"
                    yield Ambiguity(row.text.strip(), reason, ((number, number + 1),), hint)
        elif row.part == WHOLE and step.matched:
            old = at_first.get(columns[step.at].number)
            left = _left_after(row, file[old.first : old.last]) if old else []
            if old and len(left) >= LOST_TAIL_LINES:
                reason = f"shows `{old.name}` without its last {len(left)} lines"
                hint = "put `...` if they stay, or remove them with a diff"
                yield Ambiguity(row.text.strip(), reason, ((old.first + 1, old.last),), hint)


def _left_after(row: SnippetRow, old: Sequence[str]) -> list[str]:
    """The lines of code of a definition after the last one that a snippet shows, where it ends with
    a line of the definition."""
    shown = [line.strip() for line in row.lines if weight(line) >= MIN_LINE_WEIGHT]
    texts = [line.strip() for line in old]
    if not shown or texts.count(shown[-1]) != 1:
        return []
    left = [line for line in old[texts.index(shown[-1]) + 1 :] if weight(line) >= MIN_LINE_WEIGHT]
    return [] if any(line.strip() in shown for line in left) else left


def _is_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and comment_text(line) is None and text[:1] != "*" and text[:2] != "/*"


CLEAR_MARGIN = 0.6  # by which the best alignment must lead
MAX_ALTERNATIVES = 60  # alternatives that are looked at
OPENING = 0.8  # least likeness of first lines of one block,
NEIGHBOUR_LINES = 200  # where no other line of so many around it is so like it
MIN_MOVED_LIKENESS = 0.7  # least likeness of a line that may have moved
ENDS_BLOCK = frozenset(("return", "throw", "raise", "break", "continue"))
MAX_LISTED_PLACES = 8  # places that a message lists
BESIDE = "may replace this line, or stand beside it"
EITHER = "may be new, or this line"
INSTEAD = "may replace these lines, or stand beside them"
BRANCHES = frozenset(  # heads of blocks of which there are several side by side, and "- " of YAML
    ("if", "elif", "else", "case", "for", "foreach", "while", "catch", "except", "finally", "-")
)
MIN_EQUAL_LINES = 2  # equal lines that say which block theirs is
MIN_SHARED_WORDS = 5  # words that two first lines of a branch share
MAY_ADD = "may be a new block, or one in place of this"
NOWHERE = "shows no line of the file beside it, so nothing says where it belongs"

_Path = Sequence[AlignedLine]


def doubtful(
    comparison: Comparison,
    file: Sequence[str],
    alignment: Alignment,
    best: Sequence[str],
    written: Callable[[_Path], list[str]],
) -> tuple[Ambiguity, ...]:
    """The doubts about an alignment. Readings that differ in blank lines alone are one."""
    path, bind = alignment.path, comparison.bound
    rows, columns = comparison.rows, comparison.columns
    essence = _essence(best)
    doubts: dict[Ambiguity, None] = {}

    def doubt(n: int, reason: str, numbers: Sequence[int], readings: Sequence[_Path]) -> None:
        if any(_essence(written(reading)) != essence for reading in readings):
            places = tuple((number + 1, number + 1) for number in numbers[:MAX_LISTED_PLACES])
            hint = clearer(file, numbers, [row.text for row in rows if row.lines])
            doubts[Ambiguity(rows[n].text.strip(), reason, places, hint)] = None

    for n, ats, new in _edges(rows, columns, path, bind):
        numbers = [columns[at].number for at in ats]
        if path[n].matched:
            doubt(n, BESIDE, numbers, [_beside(path, n, new)])
        else:
            paths = (alignment.through(n, at) for at in ats)
            doubt(n, EITHER, numbers, [path for path in paths if path is not None])
    for chunk in _chunks(rows, path):
        for n, reading in _new_blocks(rows, columns, path, chunk, bind):
            numbers = [columns[path[k].at].number for k in chunk if k >= n and path[k].matched]
            doubt(n, MAY_ADD, numbers[:1], [reading])
        if (added := _only_added(rows, columns, path, chunk)) is not None:
            n, first, last, adding = added
            numbers = [columns[first].number, columns[last].number]
            doubt(n, INSTEAD, numbers, [adding])
    places: dict[int, dict[int, _Path]] = {}
    for n, at in islice(alignment.alternatives(CLEAR_MARGIN), MAX_ALTERNATIVES):
        alternative = alignment.through(n, at)
        if alternative is None or not rows[n].text.strip():
            continue
        if not in_new_block(rows, alternative, n):
            places.setdefault(n, {})[at] = alternative
    for n, others in places.items():
        matched = [path[n].at] if path[n].matched else []
        numbers = sorted({columns[at].number for at in (*others, *matched)})
        reason = f"fits {len(numbers)} places equally" if len(numbers) > 1 else EITHER
        doubt(n, reason, numbers, list(others.values()))
    refused = (*_floating(rows, path), *_moved(rows, columns, path), *_partial(rows, path))
    refused += (*_repeated(comparison, file), *_unreached(rows, columns, path))
    return (*refused, *doubts)


def _essence(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip()]


def _beside(path: _Path, n: int, new: range) -> list[AlignedLine]:
    """The alignment with a matched row, and the rows from it to the end of its chunk, as new ones
    next to its line."""
    head = n > new.start  # the old lines stay above
    at = path[n].at + head
    rows = [AlignedLine(at, False, k == new.start and (head or path[k].kept)) for k in new]
    rest = list(path[new.stop :])
    if rest and not head:
        rest[0] = replace(rest[0], kept=True)
    return [*path[: new.start], *rows, *rest]


def _chunks(rows: Sequence[SnippetRow], path: _Path) -> Iterator[range]:
    """The rows between lines that stay or are left out."""
    starts = [n for n in range(len(path)) if path[n].kept or rows[n].apart or not n]
    for start, end in pairwise([*starts, len(path)]):
        yield range(start, end)


def _edges(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], path: _Path, bind: Mapping[int, int]
) -> Iterator[tuple[int, list[int], range]]:
    """The rows that are unsure at the open ends of chunks, with the columns that they replace, or
    may be, and the rows from each to that end."""

    def equal(n: int) -> bool:
        step = path[n]
        return step.matched and (n in bind or rows[n].text.strip() == columns[step.at].text.strip())

    def certain(n: int) -> bool:
        """Whether a changed row is its line, and no other one next to it."""
        text, other = rows[n].text, columns[path[n].at].text
        same = text.strip() != other.strip() and same_line(text, other)
        same &= not sets_again(text, other)
        ends = closes(text) and closes(other) and margin(text) == margin(other)
        return same or (ends and (opens(text) or not opens(other)))

    def heads(n: int) -> bool:
        """Whether a changed comment stands directly above its definition."""
        below = n + 1 in bind and path[n + 1].at == path[n].at + 1
        return below and is_remark(rows[n].text) and is_remark(columns[path[n].at].text)

    for chunk in _chunks(rows, path):
        strong = [n for n in chunk if equal(n) and rows[n].text.strip()]
        first, last = (strong[0], strong[-1]) if strong else (chunk.stop, chunk.stop)
        for n in (*range(chunk.start, first), *range(last + 1, chunk.stop)):
            changed = path[n].matched and not equal(n) and rows[n].part == LINE
            if not changed or _in_run(path, n, certain) or heads(n):
                continue
            if not certain(n) and not _one_opening(rows[n], columns, path[n].at):
                new = range(chunk.start, n + 1) if n < first else range(n, chunk.stop)
                yield n, [path[n].at], new
        for n in sorted({chunk.start, chunk.stop - 1}):
            row = rows[n]
            if path[n].matched or path[n].gone or row.fresh or row.part != LINE:
                continue
            text = row.text.rstrip()
            at = [
                k
                for k, column in enumerate(columns)
                if column.owner == row.owner and column.text.rstrip() == text and not column.fixed
            ]
            if at and not in_new_block(rows, path, n):
                yield n, at[:MAX_LISTED_PLACES], range(n, n)


def _new_blocks(
    rows: Sequence[SnippetRow],
    columns: Sequence[FileColumn],
    path: _Path,
    chunk: range,
    bind: Mapping[int, int],
) -> Iterator[tuple[int, list[AlignedLine]]]:
    """The blocks at the ends of a chunk of which some lines are the file's, but not the first: with
    the alignments in which all of their lines are new."""
    ours = [row.text for row in rows[: chunk.stop]]
    own = [n for n in chunk if ours[n].strip()]

    new = words_of_lines(
        row.text
        for row, step in zip(rows, path, strict=True)
        if not step.matched or row.text.strip() != columns[step.at].text.strip()
    )

    def known(n: int) -> bool:
        """Whether a row is the line that it stands for: most of that is in it, what is not is in
        other new rows, or the lines of its block are the file's."""
        step = path[n]
        word = next(iter(ours[n].strip(" \t}").split(None, 1)), "").partition("(")[0]
        if n in bind or rows[n].part != LINE or word not in BRANCHES:
            return True
        if step.matched and ours[n].strip() == columns[step.at].text.strip():
            return True
        depth = len(margin(ours[n]))
        end = next((k for k in chunk if k > n and len(margin(ours[k])) <= depth), chunk.stop)
        telling = [k for k in range(n + 1, min(end, chunk.stop)) if weight(ours[k]) == 1]
        same = [k for k in telling if path[k].matched and ours[k] == columns[path[k].at].text]
        if len(same) >= MIN_EQUAL_LINES:
            return True
        if step.matched:
            other = columns[step.at].text
        else:  # the first line that it may replace
            below = next((k for k in telling if path[k].matched), None)
            above = max((path[k].at for k in chunk if k < n and path[k].matched), default=step.at)
            gone = columns[above : path[below].at] if below is not None else []
            other = next((column.text for column in gone if opens(column.text)), "")
        words, others = words_of_lines([ours[n]]), words_of_lines([other])
        branch = closes(ours[n]) and closes(other)
        if branch and (not others or len(others & words) >= MIN_SHARED_WORDS):
            return True
        likely = step.matched and same_line(ours[n], other) and not words < others
        return likely or (bool(others) and others <= new | words)

    def replaces(block: range) -> bool:
        """Whether lines of the file go, or change, where a block stands."""
        at = {path[k].at: k for k in block if path[k].matched and ours[k].strip()}
        low = min((path[k].at for k in block if not path[k].gone), default=0)
        return bool(at) and any(
            columns[k].text.strip() and (k not in at or columns[k].text != ours[at[k]])
            for k in range(low, max(at) + 1)
        )

    start: int | None = own[-1] if own else None
    first = None
    while start is not None:
        start = enclosing(ours, start)
        if start is None or start not in chunk or known(start):
            break
        first = start
    if first is not None and first > own[0] and replaces(range(first, chunk.stop)):
        at = path[first - 1].at + path[first - 1].matched
        rest = list(path[chunk.stop :])
        rest[:1] = [replace(step, kept=True) for step in rest[:1]]
        yield first, [*path[:first], *(AlignedLine(at, False) for _ in ours[first:]), *rest]
    if not own or known(own[0]):
        return
    depth = len(margin(ours[own[0]]))
    after = next((n for n in own[1:] if len(margin(ours[n])) <= depth), chunk.stop)
    while after < chunk.stop and closes(ours[after]) and len(margin(ours[after])) == depth:
        after += 1
    while after < chunk.stop and not ours[after].strip():
        after += 1
    block = range(chunk.start, after)
    if after < chunk.stop and path[after].matched and len(block) > 1 and replaces(block):
        added = [AlignedLine(path[after].at, False, k == chunk.start) for k in block]
        yield own[0], [*path[: chunk.start], *added, *path[after:]]


def _only_added(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], path: _Path, chunk: range
) -> tuple[int, int, int, _Path] | None:
    """Where a chunk replaces lines, and may as well add all its new lines between two of them that
    it shows: its first new row, the lines that go, and the alignment in which they stay."""
    own = [n for n in chunk if rows[n].text.strip()]
    matched = [path[n].at for n in own if path[n].matched]
    if not matched or any(rows[n].part != LINE for n in own):
        return None
    inside = [k for k in range(min(matched), max(matched) + 1) if columns[k].text.strip()]
    texts, theirs = [rows[n].text.rstrip() for n in own], [columns[k].text.rstrip() for k in inside]
    head, tail = common(texts, theirs), common(texts[::-1], theirs[::-1])
    if head + tail >= min(len(texts), len(theirs) - 1):
        return None  # one line goes, or none; or nothing is new
    for at in range(head + 1, len(inside)):  # lines of the file above what is added
        above = next(
            (k for k in range(min(at, len(own) - 1), 0, -1) if texts[:k] == theirs[at - k : at]), 0
        )
        below = len(inside) - at
        if not above or below > tail or above + below >= len(own):
            continue
        steps = {own[k]: inside[at - above + k] for k in range(above)}
        steps |= {own[len(own) - below + k]: inside[at + k] for k in range(below)}
        new = [*path]
        place = inside[at - above]
        for n in chunk:
            place = steps.get(n, place)
            new[n] = AlignedLine(place, n in steps, path[n].kept)
            place += n in steps
        return own[above], inside[head], inside[len(inside) - tail - 1], new
    return None


def _one_opening(row: SnippetRow, columns: Sequence[FileColumn], at: int) -> bool:
    """Whether a row is the first line of a block and like that of one block alone."""
    near = columns[max(0, at - NEIGHBOUR_LINES) : at + NEIGHBOUR_LINES]
    alike = [column for column in near if likeness(row.text, column.text) >= MIN_LIKENESS]
    both = opens(row.text) and opens(columns[at].text)
    return both and alike == [columns[at]] and likeness(row.text, columns[at].text) >= OPENING


def _in_run(path: _Path, n: int, certain: Callable[[int], bool]) -> bool:
    """Whether a row and one next to it that is certain replace lines next to each other."""
    beside = [k for k in (n - 1, n + 1) if 0 <= k < len(path) and not path[max(n, k)].kept]
    sure = [k for k in beside if path[k].matched and certain(k)]
    return any(path[k].at - path[n].at == k - n for k in sure)


def in_new_block(rows: Sequence[SnippetRow], path: _Path, n: int) -> bool:
    """Whether a row is in a block that begins with a new line."""
    depth = len(margin(rows[n].text))
    for above in range(n - 1, -1, -1):
        if rows[above + 1].apart:
            return False
        if rows[above].text.strip():
            size = len(margin(rows[above].text))
            ends = closes(rows[n].text) and size == depth
            if size < depth or (ends and rows[above].text.rstrip()[-1:] in "{(["):
                return not path[above].matched and not path[above].gone
    return False


def _floating(rows: Sequence[SnippetRow], path: _Path) -> Iterator[Ambiguity]:
    """The parts between what is left out that show no line of the file."""
    start = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows) and not rows[end].apart:
            continue
        own = [n for n in range(start, end) if rows[n].part != END]
        anchored = any(
            (path[n].matched or path[n].gone)
            and (n in own or any(rows[k].owner != rows[n].owner for k in own))
            for n in range(start, end)
        )
        if own and not anchored:
            yield Ambiguity(rows[own[0]].text.strip(), NOWHERE, hint="show the line above it")
        start = end


def _partial(rows: Sequence[SnippetRow], path: _Path) -> Iterator[Ambiguity]:
    """New definitions of which the snippet leaves lines out that the file does not have."""
    for row, step in zip(rows, path, strict=True):
        if row.partial and not step.matched:
            reason = "is shown in part, and the file does not have it"
            yield Ambiguity(row.text.strip(), reason, hint="show all of its lines")


def _repeated(comparison: Comparison, file: Sequence[str]) -> Iterator[Ambiguity]:
    """New definitions with the lines of one that would stay: either may be what is meant."""
    bodies = {
        tuple(_solid(file[old.first + 1 : old.last])): old
        for old in comparison.defined
        if old not in comparison.shown and old not in comparison.removed
    }
    for row in comparison.rows:
        old = bodies.get(tuple(_solid(row.lines[1:]))) if row.part == NEW else None
        if old is not None and any(weight(line) == 1 for line in row.lines[1:]):
            reason = f"has the lines of `{old.name}`, which would stay"
            hint = f"show `{old.name}`, or say in a comment: `{old.name} removed`"
            yield Ambiguity(row.text.strip(), reason, ((old.first + 1, old.last),), hint)


def _solid(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _moved(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], path: _Path
) -> Iterator[Ambiguity]:
    """New lines above one that stays and that a new definition has, too: it may have moved."""
    new = [line for row in rows if row.part == NEW for line in row.lines]
    for n, row in enumerate(rows):
        ends = n + 1 == len(rows) or path[n + 1].kept
        if row.part != LINE or path[n].matched or path[n].gone or not ends:
            continue
        below = next((column for column in columns[path[n].at :] if column.text.strip()), None)
        if below is None or below.owner != row.owner or weight(below.text) < 1:
            continue
        if any(likeness(below.text, line) >= MIN_MOVED_LIKENESS for line in new):
            reason = f"a new definition has the line below it, too: `{short(below.text.strip())}`"
            place = (below.number + 1, below.number + 1)
            yield Ambiguity(row.text.strip(), reason, (place,), "show the line after it")


def _unreached(
    rows: Sequence[SnippetRow], columns: Sequence[FileColumn], path: _Path
) -> Iterator[Ambiguity]:
    """New lines that end a block above lines of it that the snippet does not show."""
    for n, row in enumerate(rows):
        ends = n + 1 == len(rows) or path[n + 1].kept
        word = row.text.split(None, 1)[0].rstrip(";") if row.text.strip() else ""
        if row.part != LINE or path[n].matched or not ends or word not in ENDS_BLOCK:
            continue
        below = next((column for column in columns[path[n].at :] if column.text.strip()), None)
        if below is None or below.owner != row.owner or opens(below.text):
            continue
        if margin(below.text) == margin(row.text) and not closes(below.text):
            place = (below.number + 1, below.number + 1)
            hint = "show the line below it, or remove that with a diff"
            reason = f"would keep the line below it from running: `{short(below.text.strip())}`"
            yield Ambiguity(row.text.strip(), reason, (place,), hint)
