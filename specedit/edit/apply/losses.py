"""The parts of a file that a snippet would take away without saying so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from specedit.edit.apply.alignment import AlignedLine
from specedit.edit.apply.comparison import END, NEW, WHOLE, Comparison, FileColumn, SnippetRow
from specedit.edit.apply.markers import comment_text
from specedit.edit.apply.merged import Ambiguity
from specedit.edit.apply.part_places import likeness, margin, weight
from specedit.edit.apply.structure import (
    CALLED,
    OVERLOAD,
    SPACE,
    TYPE,
    VALUE,
    Definition,
    rewritten,
    words_of_lines,
)
from specedit.syntax.lines import opcodes

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
