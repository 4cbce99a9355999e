"""An answer for one symbol holds that symbol, and new private helpers beside it; nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from specedit.check.finding import Finding
from specedit.edit.job import Job
from specedit.edit.outcome import Judged
from specedit.edit.report import Edit
from specedit.edit.splice import region_of
from specedit.files.source import Source
from specedit.syntax import trees
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol

_PUBLIC = frozenset({"export", "public", "pub", "protected", "internal", "open"})
_REMARK = ("#", "//", "/*", "*", "@", "[", "--", '"""', "'''")


def within_symbol(job: Job | Edit, source: Source, symbol: str) -> Job | Edit:
    """The Job with a judge that refuses whatever else an answer has."""
    if isinstance(job, Edit):
        return job
    region = region_of(source, None, symbol)
    head, tail = source.text[: region.start], source.text[region.end :]
    judge = job.judge

    def judged(text: str) -> Judged:
        if not (text.startswith(head) and text.endswith(tail)):
            return judge(text)  # what is beside the symbol is not the answer's
        others = list(_others(source, symbol, head, tail, text))
        if not others:
            return judge(text)
        shown = ", ".join(f"`{other}`" for other in others[:5])
        reason = f"the answer for `{symbol}` has more than that and private helpers: {shown}"
        return Judged(text, (Finding("elsewhere", reason, refuses=True),))

    return replace(job, judge=judged)


def _others(source: Source, symbol: str, head: str, tail: str, text: str) -> Iterator[str]:
    """What the answer has beside the symbol and new private helpers."""
    first = head.count("\n") + 1
    last = first + text.count("\n", len(head), len(text) - len(tail))
    lines = text.split("\n")
    name = symbol.strip("`").rpartition(".")[2]
    known = {one.qualified for one in trees.symbols(source.text, source.language)}
    inside = [
        one
        for one in trees.symbols(text, source.language)
        if first <= one.first_line and one.last_line <= last
    ]
    depth = min((one.depth for one in inside), default=0)
    level = [one for one in inside if one.depth == depth]
    if not level:
        return
    covered: set[int] = set()
    for one in level:
        covered |= set(range(one.first_line, one.last_line + 1))
        helper = one.qualified not in known and _is_private(one, lines, source.language)
        if one.own_name != name and not helper:
            yield lines[one.first_line - 1].strip()[:80]
    for number in range(first, last + 1):
        line = lines[number - 1].strip() if number <= len(lines) else ""
        bracket = len(line) < 3
        if line and not bracket and number not in covered and not line.startswith(_REMARK):
            yield line[:80]


def _is_private(one: Symbol, lines: list[str], language: Language | None) -> bool:
    name, words = one.own_name, lines[one.first_line - 1].split()
    if language is not None and language.name == "go":
        return name[:1].islower() or name[:1] == "_"
    if language is not None and language.name == "python":
        return name.startswith("_") and not name.endswith("__")
    return not _PUBLIC & set(words)


Planner = Callable[[Source], Job | Edit]


def planned_within(planner: Planner, symbol: str) -> Planner:
    """A planner whose answers may change one symbol alone."""
    return lambda source: within_symbol(planner(source), source, symbol)
