"""What an edit changed where it must not: lines outside its places, definitions, imports. Blank
lines do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from benchmarks.edits.code import Code, Definition

SPECIAL = frozenset({"imports", "comments", "main block", "*"})


def strays(before: Code, after: Code, where: tuple[str, ...]) -> Iterator[str]:
    """What changed and must not have."""
    yield from _lost(before, after, where)
    if "*" in where:
        return
    if "imports" not in where:
        yield from _import_changes(before, after)
    old, new = _outside(before, after, where), _outside(after, before, where)
    if any(place.startswith("new:") for place in where):  # a comma may come before a new member
        old, new = ([line.removesuffix(",") for line in lines] for lines in (old, new))
    for mine, theirs in zip_longest(old, new, fillvalue=""):
        if mine != theirs:
            yield f"changed outside: {mine!r} is {theirs!r}"
            return


def _lost(before: Code, after: Code, where: tuple[str, ...]) -> Iterator[str]:
    counts = Counter(definition.name for definition in before.definitions)
    now = Counter(definition.name for definition in after.definitions)
    named = {definition.name for name in where for definition in before.named(name)}
    for name, count in counts.items():
        if now[name] < count and name not in named:
            yield f"lost: {name}"
        if name in named and now[name] > count:
            yield f"defined again: {name}"


def _import_changes(old: Code, new: Code) -> Iterator[str]:
    """Imports that are lost and needed, or were unused before; and new ones that nothing uses. A
    statement without new words is another form of the old ones."""
    for words in sorted(map(sorted, old.imports - new.imports)):
        lost = {*words} - new.imported
        if lost and (lost & new.used or not lost & old.used):
            yield f"import lost: {' '.join(words)}"
    for words in sorted(map(sorted, new.imports - old.imports)):
        added = {*words} - old.imported
        if added and not added & new.used and new.language.name != "csharp":
            yield f"import not used: {' '.join(words)}"
    if old.imports == new.imports and old.import_lines.keys() != new.import_lines.keys():
        yield "imports rewritten"


def _outside(code: Code, other: Code, where: tuple[str, ...]) -> list[str]:
    """The lines outside the places that may change; each of these places is one line."""
    lines = list(code.lines)
    hidden = _hidden(code, other, where)
    if "comments" in where:
        lines = code.blanked((*code.comments, *code.docstrings)).split("\n")
    places = [
        (f"<{name}>", range(definition.top, definition.end))
        for name in where
        if name not in SPECIAL and ":" not in name
        for definition in code.named(name)
    ]
    if "main block" in where and code.main:
        places.append(("<main>", code.main))
    for mark, rows in places:
        hidden.update(rows)
        if mark == "<main>" or other.named(mark.strip("<>")):
            hidden.discard(rows.start)
            lines[rows.start] = mark
    return [line.rstrip() for row, line in enumerate(lines) if row not in hidden and line.strip()]


def _hidden(code: Code, other: Code, where: tuple[str, ...]) -> set[int]:
    """Rows that may be there or not: changed imports, new definitions and doc strings."""
    rows: set[int] = set()
    for text, span in code.import_lines.items():
        if text not in other.import_lines or "imports" in where:
            rows.update(span)
    known = {definition.name for definition in other.definitions}
    for place in where:
        kind, _, parent = place.partition(":")
        if kind == "doc":
            for definition in code.named(parent):
                rows.update(range(definition.top, definition.first))
                for node in code.docstrings_of(definition):
                    rows.update(range(node.start_point[0], node.end_point[0] + 1))
        elif kind == "new" and ":" in place:
            for definition in code.definitions:
                if definition.name not in known and _belongs(definition, parent):
                    above = "\n".join(code.lines[definition.top : definition.first])
                    is_new = code.text.count(above) > other.text.count(above)
                    rows.update(
                        range(definition.top if is_new else definition.first, definition.end)
                    )
    return rows


def _belongs(definition: Definition, parent: str) -> bool:
    return definition.parent == parent or (
        bool(parent) and definition.parent.endswith(f".{parent}")
    )
