"""New code behind a definition: its place, and the answer as it is put there.

The model is asked for the new code alone. What it repeats of the file is taken out of its answer,
and indentation and blank lines become those of the definition that it stands behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from specedit.edit.regions.blocks import Block, blocks_of, title
from specedit.edit.splice import Region, dedented, fitted, indentation
from specedit.files.source import Source
from specedit.import_time import frozen
from specedit.syntax import trees
from specedit.syntax.lines import GAP, lines_of
from specedit.syntax.outline import CALLABLE

SHOWN = 40  # lines that are shown of the imports, a class's own lines, and a definition
NEAR = 6  # lines behind the definition
WIDE = 200  # characters of a line beyond which it is left out
CONSTRUCTORS = frozenset({"__init__", "constructor", "new", "init", "__new__"})
BLANK = 2  # blank lines between definitions, at most


@frozen
class Insertion:
    """Where new code stands: behind the definition in lines [first, last] of the file."""

    first: int
    last: int
    enclosing: tuple[str, ...]  # the first lines of what the definition stands in
    blank: int  # lines that separate definitions there


def insertion_behind(source: Source, first: int, last: int) -> tuple[Region, Insertion]:
    """The place behind lines [first, last], which are a definition with the comments above it."""
    lines = lines_of(source.text)
    end = len("".join(lines[:last])) - (lines[last - 1].endswith("\n"))
    around = _enclosing(lines[:first])
    above = _blank(lines[: first - 1][::-1])
    below = _blank(lines[last:])
    usual = 1 if around or source.language is None or source.language.name != "python" else BLANK
    alone = not any(line.strip() for line in lines[last:]) and above == 0
    blank = min(BLANK, max(above, below)) if not alone and (above or below) else usual
    place = Insertion(first, last, around, blank)
    return Region(end, end), place


def context_behind(text: str, blocks: Sequence[Block], sibling: Block) -> str:
    """What new code is shown with: the imports, the definition that it stands behind, and the first
    lines of its class with the constructor. Lines of the file in their order, gaps marked."""
    lines, holder = lines_of(text), sibling.name.rpartition(".")[0]
    makers = {f"{holder}.{name}" for name in CONSTRUCTORS}
    imports = [one for one in blocks if one.kind == "imports"]
    own = [one for one in blocks if holder and (one.name == holder or one.name in makers)]
    titles = [
        title(one, lines)[0]
        for one in blocks
        if one.head and one.name and sibling.name.startswith(f"{one.name}.")
    ]
    shown = {
        *_lines(imports)[:SHOWN],
        *titles,
        *_lines(own)[:SHOWN],
        *range(max(sibling.first, sibling.last - SHOWN), sibling.last + NEAR + 1),
    }
    parts, following = [], 1
    for number in sorted(n for n in shown if 1 <= n <= len(lines) and len(lines[n - 1]) <= WIDE):
        if number > following:
            parts.append(f"{GAP}\n")
        parts.append(lines[number - 1].removesuffix("\n") + "\n")
        following = number + 1
    return "".join([*parts, f"{GAP}\n" if following <= len(lines) else ""])


def _lines(blocks: Sequence[Block]) -> list[int]:
    return [n for one in blocks for n in range(one.first, one.last + 1)]


def placed(source: Source, place: Insertion, answer: str) -> str:
    """The answer as the text of the region."""
    lines = lines_of(source.text)
    theirs = lines[place.first - 1 : place.last]
    new = _without([line.rstrip() for line in answer.split("\n")], theirs)
    for one in trees.symbols(source.text, source.language):
        if one.kind in CALLABLE:
            new = _without(new, lines[one.first_line - 1 : one.last_line])
    while new and (not new[0].strip() or new[0].strip() in place.enclosing):
        del new[0]
    while new and not new[-1].strip():
        del new[-1]
    if not new:
        return ""
    while new and new[-1].strip() == "}" and _open(new) < 0:
        del new[-1]
    text = fitted("".join(theirs).rstrip("\n"), dedented("\n".join(new)))
    return "\n" * (1 + place.blank) + text


def definition_alone(source: Source, symbol: str, answer: str) -> str:
    """The answer for the region of one definition, without the class that it repeats around it, and
    without the other definitions of the file that it repeats beside it."""
    known = {one.qualified for one in trees.symbols(source.text, source.language)}
    holder, _, name = symbol.rpartition(".")
    symbols = trees.symbols(answer, source.language)
    own = [one for one in symbols if one.own_name == name]
    if len(own) != 1 or symbol not in known:
        return answer
    blocks = blocks_of(answer, source.language)
    path = own[0].qualified.rpartition(".")[0].split(".")
    if own[0].depth and path[-1] == holder.rpartition(".")[2]:
        lines = [n for one in blocks if one.name == own[0].qualified for n in _lines([one])]
        return _picked(answer, lines)
    others = {
        one.qualified
        for one in symbols
        if one.kind in CALLABLE and not one.depth and one is not own[0]
    }
    repeated = {one for one in others if one in known or f"{holder}.{one}" in known}
    kept = [n for one in blocks if one.name not in repeated for n in _lines([one])]
    return _picked(answer, kept) if repeated else answer


def _picked(text: str, numbers: Sequence[int]) -> str:
    """These lines of a text, without blank ones around them."""
    lines = text.split("\n")
    return "\n".join(lines[n - 1] for n in numbers if n <= len(lines)).strip("\n") + "\n"


def _enclosing(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines that the last one stands in, by indentation."""
    depth, result = len(indentation(lines[-1])), []
    for line in reversed(lines[:-1]):
        if line.strip() and len(indentation(line)) < depth:
            depth = len(indentation(line))
            result.append(line.strip())
        if not depth:
            break
    return tuple(result)


def _blank(lines: Sequence[str]) -> int:
    """How many lines at the beginning are blank."""
    return next((n for n, line in enumerate(lines) if line.strip()), len(lines))


def _without(new: list[str], known: Sequence[str]) -> list[str]:
    """The lines without a repetition of `known`, indented in any way."""
    wanted = [line.strip() for line in known if line.strip()]
    numbered = [(n, line.strip()) for n, line in enumerate(new) if line.strip()]
    for at in range(len(numbered) - len(wanted) + 1):
        if [line for _, line in numbered[at : at + len(wanted)]] == wanted:
            return new[: numbered[at][0]] + new[numbered[at + len(wanted) - 1][0] + 1 :]
    return new


def _open(lines: Sequence[str]) -> int:
    text = "".join(lines)
    return text.count("{") - text.count("}")
