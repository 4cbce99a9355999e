"""What a snippet would take away from a file without saying so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from specedit.edit.apply.alignment import AlignedLine
from specedit.edit.apply.comparison import Comparison, FileColumn, SnippetRow
from specedit.edit.apply.markers import comment_text
from specedit.edit.apply.merged import Ambiguity
from specedit.edit.apply.part_places import likeness
from specedit.edit.apply.structure import (
    SPACE,
    TYPE,
    VALUE,
    Definition,
    file_definitions,
    words_of_lines,
)
from specedit.syntax.languages import Language

OVERLOAD = 0.9  # least likeness of first lines of one overload
FEW = 2  # lines of code that a comment may replace


def lost(
    comparison: Comparison,
    file: Sequence[str],
    old: Sequence[Definition],
    new: Sequence[str],
    language: Language | None,
) -> Iterator[Ambiguity]:
    """The file's definitions that are gone, although the change does not say so."""
    found = list(_paths(file_definitions(new, language)))
    left: dict[tuple[str, ...], list[str]] = {}  # first lines of the definitions that are there
    for path, definition in found:
        left.setdefault(path, []).append(new[definition.first].strip())
    had = [(path, definition, file[definition.first].strip()) for path, definition in _paths(old)]
    for path, _, head in had:
        if head in left.get(path, ()):
            left[path].remove(head)
    paths = Counter(path for path, *_ in had)
    renamed = [definition for path, definition in found if path not in paths]
    shown, left_words = words_of_lines(comparison.lines), words_of_lines(new)
    there = {path for path, _ in found}
    heads = Counter((path, new[definition.first].strip()) for path, definition in found)
    for path, definition, head in had:
        if heads[path, head]:
            heads[path, head] -= 1
            continue
        rest = left.get(path, [])
        if rest:
            near = max(rest, key=lambda other: likeness(head, other))
            if paths[path] == 1 or likeness(head, near) >= OVERLOAD:
                rest.remove(near)
                continue
        gone = {path[:n] for n in range(1, len(path))} - left.keys()
        if gone or definition in comparison.removed:
            continue
        if definition.kind == VALUE and (definition.name in shown or path in there):
            continue
        if definition.kind == VALUE and definition.name not in left_words:
            continue  # nothing uses it
        now = next((one for one in renamed if _continues(definition, one, file, new)), None)
        if now is not None:
            renamed.remove(now)
            continue
        reason = f"removes `{'.'.join(path)}`, and the change does not say so"
        hint = f"put `...` where it stays, or a comment: `{definition.name} removed`"
        place = (definition.first + 1, definition.last)
        yield Ambiguity(file[definition.first].strip(), reason, (place,), hint)


def _continues(old: Definition, new: Definition, file: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether a definition has another name now, and its lines."""
    before = [line for line in file[old.first + 1 : old.last] if line.strip()]
    after = [line for line in lines[new.first + 1 : new.last] if line.strip()]
    same = (Counter(before) & Counter(after)).total()
    return old.kind == new.kind and same > 0 and 2 * same >= max(len(before), len(after))


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
    dropped = [comparison.columns[at].text for at in _dropped(path)]
    for n, names in comparison.words.items():
        if not any(name in text for text in dropped for name in names):
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
        gone = [one for one in columns[at : step.at] if _is_code(one.text) and not one.free]
        if new and len(gone) > FEW and not any(map(_is_code, new)):
            places = ((gone[0].number + 1, gone[-1].number + len(gone[-1].lines)),)
            reason = "is a comment in place of this code"
            hint = "write `...` in it if the code stays"
            yield Ambiguity(new[0].strip(), reason, places, hint)
        at, new = step.at + 1, []


def _is_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and comment_text(line) is None and text[:1] != "*" and text[:2] != "/*"
