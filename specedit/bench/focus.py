"""Do the places chosen in large files hold what real edits changed, and how much less is read?

Reads cases (JSON lines with `instruction`, `before`, `after`); without a model it measures what the
words say, with one the whole choice. A case is covered when every changed line lies in a place that
was taken; all of a file covers everything, and costs all of it. Knows no terminal.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from specedit.bench.cases import Case
from specedit.edit.backend import Backend
from specedit.edit.focus import opinion, wanted
from specedit.edit.job import Job, plan_edit
from specedit.files.source import Source
from specedit.focus.blocks import LONG, Block, blocks
from specedit.focus.chances import with_opinion
from specedit.focus.choice import Covering, chosen, joined, readable
from specedit.focus.evidence import gathered
from specedit.focus.surroundings import surroundings
from specedit.settings import Settings
from specedit.text.lines import Opcode, lines_of, opcodes

_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Looked:
    """One case: what was taken, and whether the change lies in it."""

    id: str
    lines: int
    blocks: int
    places: int  # 0: all of the file
    why: str
    covered: bool
    share: float  # of the file's tokens, in the places
    read: float  # of the tokens read and written for all of it, surroundings counted
    asked: bool  # the model was asked


def measure(
    cases: Iterable[Case], settings: Settings, backend: Backend | None = None
) -> Iterator[Looked]:
    """Each case whose file is one that focus is for."""
    for case in cases:
        if case.after is None:
            continue
        source = Source.from_bytes(case.filename, case.before.encode("utf-8"))
        after = Source.from_bytes(case.filename, case.after.encode("utf-8")).text
        work = plan_edit(source, case.instruction.strip() or "-", settings)
        if wanted(work, settings) and readable(source.text):
            yield _looked(case, work, after, backend)


def _looked(case: Case, work: Job, after: str, backend: Backend | None) -> Looked:
    text = work.source.text
    found = blocks(text, work.source.language)
    evidence = gathered(text, found, work.instruction)
    choice, asked = chosen(evidence, work.instruction), False
    if choice.unsure and backend is not None:
        named, asked = _answer(opinion(work, found, evidence, backend)), True
        choice = chosen(with_opinion(evidence, named), work.instruction, asked=True)
    regions = joined([one.block for one in choice.taken], LONG)
    codes = [code for code in opcodes(lines_of(text), lines_of(after)) if code[0] != "equal"]
    taken = [block for held in regions for block in held]
    return Looked(
        id=case.id,
        lines=len(lines_of(text)),
        blocks=len(found),
        places=len(regions),
        why=choice.why,
        covered=choice.whole or covers(taken, codes),
        share=_share(text, taken, choice),
        read=_read(text, found, regions),
        asked=asked,
    )


def _answer(asking: Any) -> list[Block]:
    """What a generator returns, its events left aside."""
    while True:
        try:
            next(asking)
        except StopIteration as end:
            named: list[Block] = end.value[0]
            return named


def covers(taken: Sequence[Block], codes: Sequence[Opcode]) -> bool:
    """Whether every changed line lies in a block; what is put between two lines, beside one."""

    def inside(line: int) -> bool:
        return any(one.first <= line <= one.last for one in taken)

    for tag, start, end, _, _ in codes:
        if tag == "insert":
            if not (inside(start) or inside(start + 1)):
                return False
        elif not all(inside(line) for line in range(start + 1, end + 1)):
            return False
    return True


def _share(text: str, taken: Sequence[Block], choice: Covering) -> float:
    return 1.0 if choice.whole else _tokens(_text(text, taken)) / max(1, _tokens(text))


def _read(text: str, found: Sequence[Block], regions: Sequence[tuple[Block, ...]]) -> float:
    """Tokens read and written, against those of all the file read and written once."""
    if not regions:
        return 1.0
    shown = sum(_tokens(surroundings(text, found, held)) for held in regions)
    written = _tokens(_text(text, [one for held in regions for one in held]))
    return (shown + 2 * written) / max(1, 2 * _tokens(text))


def _text(text: str, taken: Sequence[Block]) -> str:
    lines = lines_of(text)
    return "".join("".join(lines[one.first - 1 : one.last]) for one in taken)


def _tokens(text: str) -> int:
    return len(_TOKEN.findall(text))


def as_json(looked: Sequence[Looked]) -> dict[str, Any]:
    """The cases and what they come to."""
    focused = [one for one in looked if one.places]
    return {
        "cases": len(looked),
        "focused": len(focused),
        "asked": sum(one.asked for one in looked),
        "covered": _mean([one.covered for one in looked]),
        "covered_of_focused": _mean([one.covered for one in focused]),
        "median_share": statistics.median([one.share for one in looked]) if looked else 0.0,
        "median_read": statistics.median([one.read for one in looked]) if looked else 0.0,
        "each": [asdict(one) for one in looked],
    }


def as_text(found: dict[str, Any]) -> str:
    """For people: one line a figure."""
    return "\n".join(
        (
            f"{found['cases']} large files; places were chosen in {found['focused']}, "
            f"the model was asked about {found['asked']}",
            f"every changed line in a place taken:   {found['covered']:.1%}",
            f"  of those with places:                {found['covered_of_focused']:.1%}",
            f"of the file's tokens in places, median: {found['median_share']:.1%}",
            f"read and written, median:               {found['median_read']:.1%}",
        )
    )


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
