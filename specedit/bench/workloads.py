"""Edits of our own making: seven kinds, any length, six languages, the same on every machine.

A file is a header and many small functions from one template, filled from word lists by
arithmetic. Knows text only. `after` is exactly what the instruction asks for.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from specedit.bench.cases import Case
from specedit.bench.templates import TEMPLATES, Template
from specedit.errors import UsageError

LINES = (50, 200, 800, 2000)
VERBS = (
    *("load", "sort", "find", "merge", "split", "count"),
    *("check", "reset", "group", "parse", "store", "trim"),
)
NOUNS = (
    *("user", "order", "page", "line", "task", "note", "file", "city"),
    *("team", "game", "song", "book", "step", "plan", "item", "rate"),
)
FIELDS = ("size", "price", "age", "score", "weight", "depth")
OLD, NEW = "scale", "factor"


@dataclass(frozen=True)
class Unit:
    """What one function of a file is filled with. `rewritten` takes the template's other body."""

    number: int
    start: int
    scale: str
    rewritten: bool = False

    @property
    def name(self) -> str:
        verb = VERBS[self.number % len(VERBS)]
        noun = NOUNS[self.number // len(VERBS) % len(NOUNS)]
        again = self.number // (len(VERBS) * len(NOUNS))
        return f"{verb}_{noun}{again + 1}" if again else f"{verb}_{noun}"


Named = Callable[[str], str]
Change = Callable[[list[Unit], Named], tuple[list[Unit], str]]


def workload(kind: str, lines: int, language: str) -> Case:
    """One generated edit."""
    if kind not in KINDS:
        raise UsageError(f"There is no kind of edit {kind!r}.", hint=f"Known: {', '.join(KINDS)}")
    if language not in TEMPLATES:
        known = ", ".join(TEMPLATES)
        raise UsageError(f"No edits are made for {language!r}.", hint=f"Known: {known}")
    template = TEMPLATES[language]
    units = _units(template, lines)
    padding = _padding(template, lines - len(_text(template, units).splitlines()))
    changed, instruction = KINDS[kind](units, template.named)
    head = template.head.replace(OLD, NEW) if kind == "rename" else template.head
    if kind == "new":
        head = template.other_head
    return Case(
        id=f"{kind}-{lines}-{language}",
        filename=template.filename,
        instruction=instruction,
        before=_text(template, units) + padding,
        after=_text(template, changed, head) + ("" if kind == "new" else padding),
        kind=kind,
    )


def workloads(
    kinds: Iterable[str], lines: Iterable[int], languages: Iterable[str]
) -> Iterator[Case]:
    wanted_kinds, wanted_languages = list(kinds), list(languages)
    for count in lines:
        for language in wanted_languages:
            for kind in wanted_kinds:
                yield workload(kind, count, language)


def share_changed(before: str, after: str) -> float:
    """The share of the file that changed: lines replaced, added or gone, of the longer text."""
    old, new = before.splitlines(), after.splitlines()
    same = sum(
        block.size
        for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    )
    longer = max(len(old), len(new))
    return 1 - same / longer if longer else 0.0


def _units(template: Template, lines: int) -> list[Unit]:
    fixed = len((template.head + template.foot).splitlines())
    each = len(template.body.splitlines())
    count = max(2, (lines - fixed) // each)
    units = [Unit(n, start=n * 37 % 90 + 5, scale=str(n * 7 % 9 + 2)) for n in range(count)]
    spread = _spread(count, min(count, 5))  # the header's name, and two uses in each of these
    return [Unit(u.number, u.start, OLD) if u.number in spread else u for u in units]


def _spread(count: int, places: int) -> list[int]:
    """`places` different numbers below `count`, evenly apart."""
    return [(2 * n + 1) * count // (2 * places) for n in range(places)]


def _padding(template: Template, missing: int) -> str:
    return "".join(f"{template.comment} {n + 1}\n" for n in range(max(0, missing)))


def _text(template: Template, units: list[Unit], head: str | None = None) -> str:
    return (
        (template.head if head is None else head)
        + "".join(_filled(template, u) for u in units)
        + template.foot
    )


def _filled(template: Template, unit: Unit) -> str:
    text = template.other if unit.rewritten else template.body
    field = FIELDS[unit.number % len(FIELDS)]
    values = {
        "NAME": template.named(unit.name),
        "FIELD": template.named(field),
        "START": str(unit.start),
        "SCALE": unit.scale,
        "LIMIT": str(unit.number * 13 % 70 + 20),
    }
    for mark, value in values.items():
        text = text.replace(mark, value)
    return text


def _copy(units: list[Unit], named: Named) -> tuple[list[Unit], str]:
    return units, "Change nothing: reply with the file exactly as it is."


def _line(units: list[Unit], named: Named) -> tuple[list[Unit], str]:
    at = len(units) // 2
    name, new = named(units[at].name), units[at].start + 1000
    done = [_started(u, 1000) if u.number == at else u for u in units]
    return done, f"In {name}, let the total start at {new}."


def _rename(units: list[Unit], named: Named) -> tuple[list[Unit], str]:
    done = [Unit(u.number, u.start, NEW) if u.scale == OLD else u for u in units]
    return done, f"Rename {OLD} to {NEW}, everywhere."


def _scattered(units: list[Unit], named: Named) -> tuple[list[Unit], str]:
    places = _spread(len(units), min(5, len(units)))
    done = [_started(u, 500) if u.number in places else u for u in units]
    wanted = ", ".join(f"{named(units[n].name)} ({units[n].start + 500})" for n in places)
    return done, f"Let the totals of these functions start at: {wanted}."


def _insert(units: list[Unit], named: Named) -> tuple[list[Unit], str]:
    at = len(units) // 2
    fresh = Unit(len(units), start=77, scale="3")
    done = [*units[:at], fresh, *units[at:]]
    like, before = named(units[at - 1].name), named(units[at].name)
    return done, f"Add a function {named(fresh.name)} like {like}, before {before}."


def _half(units: list[Unit], named: Named) -> tuple[list[Unit], str]:
    done = [Unit(u.number, u.start, u.scale, rewritten=u.number % 2 == 1) for u in units]
    return done, "Rewrite every second function as a single expression."


def _new(units: list[Unit], named: Named) -> tuple[list[Unit], str]:
    count = len(units)
    done = [Unit(u.number + count, u.start + 100, "6", rewritten=True) for u in units]
    return done, "Replace this file by one with other functions, each a single expression."


def _started(unit: Unit, more: int) -> Unit:
    return Unit(unit.number, unit.start + more, unit.scale)


KINDS: dict[str, Change] = {
    "copy": _copy,
    "line": _line,
    "rename": _rename,
    "scattered": _scattered,
    "insert": _insert,
    "half": _half,
    "new": _new,
}
