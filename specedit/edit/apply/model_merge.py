"""The model decides between the readings of a snippet: its question, and what its answer means.

A few lines around each doubtful part are open; all other parts are merged already. The answer is
given up to the first line in which two readings differ, and the best reading is its prediction. The
reading that the answer follows until all agree again is written, so that every line of the part is
there and no reading's other lines are lost; an answer that follows none is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.edit import prompt
from specedit.edit.apply.merged import Doubtful, Splice, joined
from specedit.edit.backend import Plan
from specedit.edit.job import Job, RegionJob, expected, make_job
from specedit.edit.prompt_form import with_prompt
from specedit.edit.regions.blocks import Block
from specedit.edit.splice import dedented, indentation, region_of, whole
from specedit.files.source import Source
from specedit.models import catalogue
from specedit.models.catalogue import PromptForm
from specedit.settings import Settings
from specedit.syntax.lines import common

ABOVE, BELOW = 10, 3  # lines open around what the readings change
MOST = 150  # lines of one region
END = "\n"  # behind the last line of an answer

_Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenRegion:
    """Lines of the text in which every other part is merged, that the model writes anew."""

    first: int  # from 0
    before: _Lines
    readings: tuple[_Lines, ...]  # the best first
    shown: _Lines  # the doubtful parts as the change shows them
    why: str

    @property
    def given(self) -> int:
        """Lines with which all readings begin."""
        return common(*self.readings)

    def settled(self, answer: str) -> str:
        """The text of the reading that an answer follows until all agree again; of none, or of
        several, the text that was there."""
        tails = [
            (*(line.strip() for line in reading[self.given :]), END) for reading in self.readings
        ]
        same = min(common(*(tail[::-1] for tail in tails)), *map(len, tails))
        written = (*(line.strip() for line in answer.rstrip().split("\n") if answer.strip()), END)
        followed = [
            reading
            for reading, tail in zip(self.readings, tails, strict=True)
            if written[: len(tail) - same + 1] == tail[: len(tail) - same + 1]
        ]
        return _text(followed[0] if len(followed) == 1 else self.before)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def open_regions(doubtful: Doubtful) -> list[OpenRegion]:
    """What the doubtful parts open, in order; nothing where a region would be too large, or has one
    reading alone."""
    best, lines = doubtful.readings[0], doubtful.lines
    sure = [one for one in best if not one.doubts]
    spans: list[tuple[int, int, tuple[Splice, ...]]] = []
    for n, part in enumerate(best):
        if not part.doubts:
            continue
        own = [reading[n] for reading in doubtful.readings]
        first = max(0, min(one.first for one in own) - ABOVE)
        last = min(len(lines), max(one.last for one in own) + BELOW)
        for reading in doubtful.readings:
            for one in reading:  # a region ends beside another part, not in it
                first = one.first if one.first < first < one.last else first
                last = one.last if one.first < last < one.last else last
        parts: tuple[Splice, ...] = (part,)
        while spans and spans[-1][1] >= first:
            start, end, before = spans.pop()
            first, last, parts = min(start, first), max(end, last), (*before, *parts)
        spans.append((first, last, parts))
    result = []
    for first, last, parts in spans:
        readings = (tuple(joined(lines, one, first, last)) for one in doubtful.readings)
        region = OpenRegion(
            len(joined(lines, sure, 0, first)),
            tuple(joined(lines, sure, first, last)),
            tuple(dict.fromkeys(readings)),
            tuple(line for part in parts for line in part.lines),
            "; ".join(doubt.reason for part in parts for doubt in part.doubts),
        )
        depths = {indentation(_text(one)) for one in (region.before, *region.readings)}
        if last - first > MOST or len(region.readings) < 2 or len(depths) > 1:
            return []
        result.append(region)
    return result


def merge_job(
    source: Source, doubtful: Doubtful, regions: Sequence[OpenRegion], settings: Settings
) -> Job:
    """The Job that asks the model about each region. It has no judge."""
    text = "\n".join(joined(doubtful.lines, [s for s in doubtful.readings[0] if not s.doubts]))
    text += "\n" if source.text.endswith("\n") else ""
    about = Source.from_bytes(source.name, source.encode(text), source.path)
    planned = make_job(about, whole(about), "", settings, expected(about, whole(about), settings))
    form, jobs = catalogue.form_of(settings.model), []
    for region in regions:
        lines = (region.first + 1, region.first + len(region.before))
        place, blocks = region_of(about, lines), (Block(*lines),)
        plan = _plan(planned.plan, source.name, region, form)
        jobs.append(RegionJob(place, blocks, 1.0, region.why, plan=plan, settled=region.settled))
    return replace(
        planned,
        source=source,
        original=about,
        divisible=False,
        regions=tuple(jobs),
        partial=True,  # what stands behind the doubtful lines is not used
        rated=False,
    )


def _plan(planned: Plan, name: str, region: OpenRegion, form: PromptForm | None) -> Plan:
    """The question about one region: its lines, and the change. `form`: the model was trained to
    merge, with a prompt of its own."""
    before, best = (dedented(_text(one)) for one in (region.before, region.readings[0]))
    change = dedented(_text(region.shown))
    marks = prompt.fence(before + change)
    given = "".join(best.splitlines(keepends=True)[: region.given])
    words = f"Merge this change into the code:\n\n{marks}\n{change}{marks}"
    rest = best.removeprefix(given)
    longest = max(len(_text(reading[region.given :]).encode()) for reading in region.readings)
    planned = replace(planned, max_tokens=planned.max_tokens or longest // 2 + 64, least=rest)
    if form is not None and "{change}" in form.prompt:
        asked = replace(planned, closing="", stop=form.stop, prediction=rest + form.stop[0])
        return with_prompt(asked, form, {"text": before, "change": change}, given)
    return replace(
        planned,
        messages=prompt.messages(name, before, words, part=prompt.A_PART),
        opening=prompt.opening(marks) + given,
        closing=marks,
        prediction=rest,
    )


def placed(before: str, text: str, regions: Sequence[OpenRegion]) -> list[tuple[int, int]] | None:
    """The lines [first, last) of each region in the merged text; None where one of them is none of
    its readings, or anything else differs."""
    old, new = before.split("\n"), text.split("\n")
    result: list[tuple[int, int]] = []
    at = done = 0
    for region in regions:
        start = at + region.first - done
        if new[at:start] != old[done : region.first]:
            return None
        fitting = [own for own in region.readings if tuple(new[start : start + len(own)]) == own]
        if not fitting:
            return None
        at, done = start + max(map(len, fitting)), region.first + len(region.before)
        result.append((start, at))
    return result if new[at:] == old[done:] else None
