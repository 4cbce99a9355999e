"""Is a large file edited in its places what it is edited whole? Both ways, case by case.

The model answers twice, with `--focus auto` and with `--whole`; where focus chooses all of the file
the two are one run. Needs no answer that somebody wrote down: what is compared is the two texts.
Knows no terminal.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from specedit.bench.cases import Case
from specedit.edit.backend import Backend
from specedit.edit.focus import wanted
from specedit.edit.job import Job, Planned, plan_edit
from specedit.edit.regions import carried
from specedit.edit.run import one
from specedit.edit.splice import region_of
from specedit.files.source import Source
from specedit.report import Edit
from specedit.settings import Settings

UNFINISHED = frozenset({"refused", "failed"})


@dataclass(frozen=True)
class OneWay:
    """One edit, and what it cost."""

    status: str
    text: str
    diff: str
    said: tuple[str, ...]  # findings and problems
    places: tuple[tuple[int, int], ...]  # lines of the text before; none: all of it was one answer
    jobs: int  # 2: what was written for places was refused, and wider ones came after them
    prompt: int  # tokens read, those of a cache left out,
    completion: int  # and written
    passes: int
    seconds: float
    cpu_s: float  # of this process; a server's is its own

    @property
    def finished(self) -> bool:
        return self.status not in UNFINISHED


@dataclass(frozen=True)
class BothWays:
    """One case both ways. `whole` is none where focus itself took all of the file."""

    id: str
    instruction: str
    lines: int
    parts: OneWay
    whole: OneWay | None
    within: bool  # the places themselves came out alike, whatever else became of the file

    @property
    def both(self) -> bool:
        """Whether both ways finished, and are two."""
        return self.whole is not None and self.parts.finished and self.whole.finished

    @property
    def equal(self) -> bool:
        return self.whole is None or self.parts.text == self.whole.text


def measure(cases: Iterable[Case], settings: Settings, backend: Backend) -> Iterator[BothWays]:
    """Each case whose file is one that focus is for."""
    for case in cases:
        source = Source.from_bytes(case.filename, case.before.encode("utf-8"))
        asked = case.instruction.strip() or "-"
        if not wanted(plan_edit(source, asked, settings), settings):
            continue
        parts = _made(source, asked, settings, backend)
        all_of_it = replace(settings, whole=True)
        whole = _made(source, asked, all_of_it, backend) if parts.places else None
        within = whole is None or alike(source, parts.places, parts.text, whole.text)
        yield BothWays(case.id, asked, case.lines, parts, whole, within)


def alike(source: Source, places: Iterable[tuple[int, int]], one: str, other: str) -> bool:
    """Whether two texts that a file became say the same where its places were."""
    spans = [region_of(source, lines) for lines in places]
    ways = [[carried(source.text, span, text) for span in spans] for text in (one, other)]
    return ways[0] == ways[1]


def _made(source: Source, asked: str, settings: Settings, backend: Backend) -> OneWay:
    began, cpu = time.perf_counter(), time.process_time()

    def planned(of: Source) -> Job:
        return plan_edit(of, asked, settings)

    *before, edit = one(source, planned, backend, settings)
    assert isinstance(edit, Edit)
    figures = edit.figures
    return OneWay(
        status=edit.status,
        text=(edit.after or b"").decode("utf-8", "replace"),
        diff=edit.diff,
        said=(*(found.text for found in edit.findings), *edit.problems),
        places=tuple(one.lines for one in figures.regions),
        jobs=sum(isinstance(it, Planned) for it in before),
        prompt=figures.prompt - figures.reused,
        completion=figures.completion,
        passes=figures.passes,
        seconds=round(time.perf_counter() - began, 1),
        cpu_s=round(time.process_time() - cpu, 1),
    )


def as_json(found: Sequence[BothWays]) -> dict[str, Any]:
    """The cases and what they come to. Of equal texts no diff need be read twice."""
    two = [one for one in found if one.both]
    return {
        "cases": len(found),
        "whole_by_choice": sum(one.whole is None for one in found),
        "asked_again": sum(one.parts.jobs > 1 for one in found),
        "unfinished": sum(one.whole is not None and not one.both for one in found),
        "both_finished": len(two),
        "equal": sum(one.equal for one in two),
        "equal_within": sum(one.within for one in two),
        "parts": _sums([one.parts for one in two]),
        "whole": _sums([one.whole for one in two if one.whole is not None]),
        "each": [_row(one) for one in found],
    }


def _sums(made: Sequence[OneWay]) -> dict[str, float]:
    names = ("prompt", "completion", "passes", "seconds", "cpu_s")
    return {name: round(sum(getattr(one, name) for one in made), 1) for name in names}


def _row(found: BothWays) -> dict[str, Any]:
    row = asdict(found)
    for made in (row["parts"], row["whole"]):
        if made is not None:
            del made["text"]
    return {**row, "both": found.both, "equal": found.equal}


def as_text(found: dict[str, Any]) -> str:
    """For people: one line a figure."""
    parts, whole = found["parts"], found["whole"]
    of = found["both_finished"]
    share, within = (found[key] / of if of else 0.0 for key in ("equal", "equal_within"))
    return "\n".join(
        (
            f"{found['cases']} large files; focus itself took all of {found['whole_by_choice']}, "
            f"and asked again with more around its places in {found['asked_again']}; "
            f"one way did not finish in {found['unfinished']}",
            f"the same text both ways: {found['equal']} of {of} ({share:.1%})",
            f"the same where the places are: {found['equal_within']} of {of} ({within:.1%})",
            *(
                f"{name} {one['seconds']:.0f} s, {one['passes']:.0f} passes, "
                f"{one['prompt']:.0f} tokens read, {one['completion']:.0f} written"
                for name, one in (("  places:", parts), ("  whole: ", whole))
            ),
        )
    )
