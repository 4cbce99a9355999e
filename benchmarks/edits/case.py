"""A case of the benchmark, and what an answer to it is worth.

An answer is *wrong* when it does not parse, uses a Python name that nothing defines, or misses what
was asked. It is *partly* right when what was asked is there and something else changed: a byte
outside the places in `where`, a definition lost, or an unasked change that `keeps` finds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.edits.code import Code, Definition
from specedit.syntax.languages import Language, language_of

if TYPE_CHECKING:
    from tree_sitter import Node

Replacements = tuple[tuple[str, str], ...]
SPECIAL = frozenset({"imports", "comments", "main block", "*"})


class Edited:
    """A file before and after an edit."""

    def __init__(self, before: Code, after: Code) -> None:
        self.before = before
        self.after = after

    def symbol(self, name: str | None, *, comments: bool = False) -> str:
        """The new text of a definition, of the whole file for None; "" where it is not there."""
        return self.after.source(name, comments=comments)

    def old(self, name: str | None, *, comments: bool = False) -> str:
        return self.before.source(name, comments=comments)

    @cached_property
    def undefined(self) -> frozenset[str]:
        """Names that only the new Python text uses and that nothing in it defines."""
        return self.after.loose - self.before.loose


Predicate = Callable[[Edited], bool]


@dataclass(frozen=True)
class Case:
    """One instruction on one file of the data folder."""

    id: str  # "python-requests_auth-guard"
    file: str  # "files/python/requests__auth.py", "commits/RECORD ID" or "large/RECORD ID"
    kind: str
    instruction: str
    right: Replacements  # of strings that occur once: one right answer
    # What may change: definitions ("Class.method"), "imports", "comments" (and doc strings),
    # "main block" (of Python), "new:Class" (new members), "new:" (new definitions at the top),
    # "doc:Class" (its doc string and the comments above it), "*" (anything). Added imports that are
    # used, and the removal of imports that the edit made unused, are always allowed.
    where: tuple[str, ...]
    asked: tuple[Predicate, ...]
    keeps: tuple[Predicate, ...] = ()
    spoilt: tuple[Replacements, ...] = ()  # answers that are not right

    @property
    def language(self) -> str:
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Judgement:
    """What an answer is worth, and why it is not right."""

    verdict: str  # "right" | "partly" | "wrong"
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Original:
    """The file of a case."""

    name: str  # as it is called where it comes from
    text: str

    @cached_property
    def language(self) -> Language:
        language = language_of(self.name)
        assert language is not None, self.name
        return language


def original(data: Path, file: str) -> Original:
    """The file of a case, from the data folder."""
    kind, _, rest = file.partition("/")
    if kind == "files":
        return Original(file.rpartition("__")[2], (data / file).read_bytes().decode("utf-8"))
    records = _records(data / f"{kind}.jsonl")
    name, text = records.get(rest) or records[f"{kind.removesuffix('s')}/{rest}"]
    return Original(name, text)


@lru_cache(maxsize=4)
def _records(path: Path) -> dict[str, tuple[str, str]]:
    lines = path.read_text("utf-8", errors="surrogatepass").split("\n")
    found = [json.loads(line) for line in lines if line]
    return {one["id"]: (Path(one["filename"]).name, one["before"]) for one in found}


def replaced(text: str, replacements: Replacements) -> str:
    """The text with each replacement made; what is replaced must occur once."""
    for old, new in replacements:
        if text.count(old) != 1:
            raise ValueError(f"occurs {text.count(old)} times: {old!r}")
        text = text.replace(old, new)
    return text


def judged(case: Case, file: Original, answer: str) -> Judgement:
    """What an answer to the case is worth."""
    if answer == file.text:
        return Judgement("wrong", ("unchanged",))
    edited = Edited(_code(file.text, file.language), Code(answer, file.language))
    reasons = list(_faults(edited)) or [_name(one) for one in case.asked if not one(edited)]
    if reasons:
        return Judgement("wrong", tuple(reasons))
    reasons = [*_strays(edited, case.where), *(_name(one) for one in case.keeps if not one(edited))]
    return Judgement("partly" if reasons else "right", tuple(reasons))


@lru_cache(maxsize=8)
def _code(text: str, language: Language) -> Code:
    return Code(text, language)


def _name(predicate: Predicate) -> str:
    return getattr(predicate, "__name__", str(predicate))


def _faults(edited: Edited) -> Iterator[str]:
    if edited.after.faults > edited.before.faults:
        yield "does not parse"
    elif edited.undefined:
        yield f"not defined: {', '.join(sorted(edited.undefined))}"


# -- what changed where it must not ----------------------------------------------------------------


def _strays(edited: Edited, where: tuple[str, ...]) -> Iterator[str]:
    yield from _lost(edited, where)
    if "*" in where:
        return
    if "imports" not in where:
        yield from _import_changes(edited)
    old, new = (
        _skeleton(one, other, where)
        for one, other in ((edited.before, edited.after), (edited.after, edited.before))
    )
    adds = any(place.startswith("new:") for place in where)
    for index, (mine, theirs) in enumerate(zip(old, new, strict=False)):
        grows = adds and any(
            one.beside for part in (old, new) for one in part[index + 1 : index + 2]
        )
        texts = (mine.text, theirs.text)
        if mine.text != theirs.text and not (grows and _without_comma(*texts)):
            yield f"changed outside: {mine.text!r} is {theirs.text!r}"
            return
        if mine.blank != theirs.blank and not (mine.beside or theirs.beside):
            yield f"blank lines changed above {mine.text!r}"
            return
    if len(old) != len(new):
        yield "lines outside added or lost"


def _without_comma(old: str, new: str) -> bool:
    """Whether a comma was added because a new member follows."""
    return old.rstrip().removesuffix(",") == new.rstrip().removesuffix(",")


def _lost(edited: Edited, where: tuple[str, ...]) -> Iterator[str]:
    counts = Counter(one.name for one in edited.before.definitions)
    after = Counter(one.name for one in edited.after.definitions)
    named = {one.name for name in where for one in edited.before.named(name)}
    for name, count in counts.items():
        if after[name] < count and name not in named:
            yield f"lost: {name}"
        if name in named and after[name] > count:
            yield f"defined again: {name}"


def _import_changes(edited: Edited) -> Iterator[str]:
    old, new = edited.before, edited.after
    for one in sorted(old.imports - new.imports, key=lambda one: one.key):
        if not one.bound or one.bound in new.used or one.bound not in old.used:
            yield f"import lost: {' '.join(one.key)}"
    for one in sorted(new.imports - old.imports, key=lambda one: one.key):
        if one.bound and one.bound not in new.used:
            yield f"import not used: {' '.join(one.key)}"
    if old.imports == new.imports and _import_lines(old) != _import_lines(new):
        yield "imports rewritten"


def _import_lines(code: Code) -> set[str]:
    return {_whole_lines(code, *_span(node)) for node in code.import_nodes}


def _span(node: Node) -> tuple[int, int]:
    row, column = node.end_point
    first = node.start_point[0]
    return first, max(first, row if column else row - 1) + 1


def _whole_lines(code: Code, first: int, end: int) -> str:
    return "\n".join(code.lines[first:end])


@dataclass(frozen=True)
class Line:
    """A line that must stay, the blank lines above it, and whether something went or came there."""

    text: str
    blank: tuple[str, ...]
    beside: bool


def _skeleton(code: Code, other: Code, where: tuple[str, ...]) -> list[Line]:
    """The lines outside the places that may change; each of these places is one line."""
    lines = list(code.lines)
    dropped = _dropped(code, other, where)
    if "comments" in where:
        bare = code.blanked((*code.comments, *code.docstrings)).split("\n")
        for row, (line, rest) in enumerate(zip(lines, bare, strict=True)):
            if line != rest and not rest.strip():
                dropped.add(row)
            elif line != rest:
                lines[row] = rest.rstrip()
    regions: dict[int, tuple[str, int]] = {}
    for name in where:
        for one in code.named(name) if name not in SPECIAL and ":" not in name else ():
            if other.named(name):
                regions[one.top] = (f"<{name}>", max(one.end, regions.get(one.top, ("", 0))[1]))
            else:
                dropped.update(range(one.top, one.end))
    if "main block" in where and code.main:
        regions[code.main.start] = ("<main>", code.main.stop)
    found: list[Line] = []
    blank: list[str] = []
    beside, row = False, 0
    while row < len(lines):
        text, end = regions.get(row, (lines[row], row + 1))
        if row in dropped:
            beside = True
        elif not text.strip():
            blank.append(text)
        else:
            found.append(Line(text, tuple(blank), beside))
            blank, beside = [], False
        row = row + 1 if row in dropped else end
    return [*found, Line("<end>", tuple(blank), beside)]


def _dropped(code: Code, other: Code, where: tuple[str, ...]) -> set[int]:
    """Lines that may be there or not: changed imports and new definitions."""
    rows: set[int] = set()
    theirs = _import_lines(other)
    for node in code.import_nodes:
        first, end = _span(node)
        if _whole_lines(code, first, end) not in theirs or "imports" in where:
            rows.update(range(first, end))
            group = node.parent
            if group is None or group.type != "import_spec_list":  # Go's `import (`
                continue
            if len(group.named_children) == 1 or not _grouped(other):
                top, bottom = _span(group)
                rows.update((top, bottom - 1))
    known = {one.name for one in other.definitions}
    for place in where:
        kind, _, parent = place.partition(":")
        if place.startswith("new:"):
            for one in code.definitions:
                if one.name not in known and _belongs(one, parent):
                    above = _whole_lines(code, one.top, one.first)
                    moved = code.text.count(above) <= other.text.count(above)
                    rows.update(range(one.first if moved else one.top, one.end))
        elif kind == "doc":
            for one in code.named(parent):
                rows.update(range(one.top, one.first))
                rows.update(row for node in code.docstrings_of(one) for row in range(*_span(node)))
    return rows


def _grouped(code: Code) -> bool:
    """Whether Go's imports stand in brackets."""
    return any(
        node.parent is not None and node.parent.type == "import_spec_list"
        for node in code.import_nodes
    )


def _belongs(one: Definition, parent: str) -> bool:
    return one.parent == parent or (bool(parent) and one.parent.endswith(f".{parent}"))
