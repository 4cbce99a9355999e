"""The model decides between the readings of a snippet: its question, and what its answer means.

What the readings have differently is open, with a few lines around it; all else is merged already.
The answer is given up to the first line in which two readings differ, and the best reading is its
prediction. The reading that the answer follows until all agree again is written, so that every line
of the part is there and no reading's other lines are lost; an answer that follows none is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.edit import prompt
from specedit.edit.apply.merged import Doubtful
from specedit.edit.backend import Plan
from specedit.edit.job import Job, expected, make_job
from specedit.edit.regions.blocks import Block
from specedit.edit.regions.together import RegionJob
from specedit.edit.splice import dedented, indentation, region_of, whole
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.syntax.lines import Opcode, common, opcodes

ABOVE, BELOW = 10, 3  # lines open around what the readings change
MAX_REGION_LINES = 150  # lines of a region
END = "\n"  # after the last line of an answer

_Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenRegion:
    """Lines that the model writes anew, in the file with every other part of the change."""

    above: _Lines
    before: _Lines
    below: _Lines
    readings: tuple[_Lines, ...]  # of the region, the best first
    shown: _Lines  # the doubtful lines as the change shows them
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


def open_region(doubtful: Doubtful) -> OpenRegion | None:
    """The region that a snippet leaves open, with some lines around it; None where it is too large,
    or where the readings begin at different indentations."""
    lines, best, others = doubtful.lines, doubtful.readings[0], doubtful.readings[1:]
    head = min(common(best, other) for other in others)
    shortest = min(map(len, doubtful.readings))
    tail = min(shortest - head, *(common(best[::-1], other[::-1]) for other in others))
    (start, first), (end, last) = _widened(opcodes(lines, best), head, len(best) - tail)
    low, high = max(0, start - ABOVE), min(len(best), end + BELOW)
    left = len(best) - high
    region = OpenRegion(
        best[:low],
        (*best[low:start], *lines[first:last], *best[end:high]),
        best[high:],
        tuple(dict.fromkeys(reading[low : len(reading) - left] for reading in doubtful.readings)),
        doubtful.shown,
        "; ".join(doubt.reason for doubt in doubtful.doubts),
    )
    depths = {indentation(_text(part)) for part in (region.before, *region.readings)}
    return region if high - low <= MAX_REGION_LINES and len(depths) == 1 else None


def _widened(
    blocks: Sequence[Opcode], start: int, end: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """A span of the new lines, widened to whole changes; its ends with those in the file."""
    low, high = (start, 0), (end, 0)
    for tag, a, _, c, d in blocks:
        if c <= start <= d:
            low = (start, a + start - c) if tag == "equal" else (c, a)
            break
    for tag, a, b, c, d in reversed(blocks):
        if c <= end <= d:
            high = (end, a + end - c) if tag == "equal" else (d, b)
            break
    return low, high


def merge_job(source: Source, region: OpenRegion, settings: Settings) -> Job:
    """The Job that asks the model about a region. It has no judge."""
    text = "\n".join((*region.above, *region.before, *region.below))
    text += "\n" if source.text.endswith("\n") else ""
    about = Source.from_bytes(source.name, source.encode(text), source.path)
    planned = make_job(about, whole(about), "", settings, expected(about, whole(about), settings))
    lines = (len(region.above) + 1, len(region.above) + len(region.before))
    plan = _plan(planned.plan, source.name, region)
    place, blocks = region_of(about, lines), (Block(*lines),)
    return replace(
        planned,
        source=source,
        about=about,
        divisible=False,
        regions=(RegionJob(place, blocks, 1.0, region.why, plan=plan, settled=region.settled),),
        partial=True,  # what stands after the doubtful lines is not used
        rated=False,
    )


def _plan(planned: Plan, name: str, region: OpenRegion) -> Plan:
    """The question about one region: its lines, and the change."""
    before, best = (dedented(_text(lines)) for lines in (region.before, region.readings[0]))
    change = dedented(_text(region.shown))
    marks = prompt.fence(before + change)
    given = "".join(best.splitlines(keepends=True)[: region.given])
    words = f"Merge this change into the code:\n\n{marks}\n{change}{marks}"
    rest = best.removeprefix(given)
    longest = max(len(_text(reading[region.given :]).encode()) for reading in region.readings)
    return replace(
        planned,
        messages=prompt.messages(name, before, words, part=prompt.A_PART),
        opening=prompt.opening(marks) + given,
        closing=marks,
        prediction=rest,
        max_tokens=planned.max_tokens or longest // 2 + 64,
        least=rest,
    )


def placed(text: str, region: OpenRegion) -> tuple[int, int] | None:
    """The lines [first, last) of the region in the merged text; None where it holds none of the
    readings."""
    lines, first = tuple(text.removesuffix("\n").split("\n")), len(region.above)
    for own in region.readings:
        if lines == (*region.above, *own, *region.below):
            return first, first + len(own)
    return None
