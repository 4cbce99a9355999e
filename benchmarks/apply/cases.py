"""The cases: every commit in every form that determines its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random

from benchmarks.apply import blocks, snippets
from benchmarks.apply.record import Record

Form = Callable[[Record, Random], str | None]


def _lazy(context: int) -> Form:
    return lambda record, random: snippets.lazy(record, random, context, headers=context % 2 == 0)


FORMS: dict[str, Form] = {
    "lazy-1": _lazy(1),
    "lazy-2": _lazy(2),
    "lazy-3": _lazy(3),
    "functions": snippets.functions,
    "search-replace": blocks.search_replace,
    "search-replace-damaged": blocks.damaged,
    "diff-numbers": blocks.wrong_numbers,
    "diff-context": blocks.wrong_context,
}
FENCED = 0.3  # share of the changes in a fence


@dataclass(frozen=True)
class Case:
    """One change to one file; `record.after` is the right answer."""

    form: str
    record: Record
    change: str
    path: str = ""  # of the file, where the change may name it
    also: tuple[str, ...] = ()  # other right answers
    ambiguous: bool = False  # a refusal is right
    exact: bool = True  # blank lines and white space at the ends of lines are compared

    @property
    def id(self) -> str:
        return f"{self.record.id}/{self.form}"


def cases(records: Iterable[Record], forms: Iterable[str] = FORMS) -> Iterator[Case]:
    for record in records:
        for form in forms:
            random = Random(f"{record.id}/{form}")
            if (change := FORMS[form](record, random)) is not None:
                yield Case(form, record, _fenced(change, record, random))


def _fenced(change: str, record: Record, random: Random) -> str:
    if random.random() >= FENCED or "```" in change:
        return change
    diff = change.startswith("--- ")
    language = "diff" if diff else record.language.lexer if record.language else ""
    return f"```{language}\n{change}```\n"
