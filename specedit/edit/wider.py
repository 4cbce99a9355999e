"""The places of a file with the lines around them, where the answer for them alone is refused.

A model that is shown a part at times answers with a line of it, or with its beginning; shown more,
it writes all of it. Asked again so, once; all of the file would be more, but of it a small model
spoils what nobody spoke of. Knows Jobs and their outcome; `answering` runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specedit.check.finding import Finding, Spot
from specedit.edit.job import Job
from specedit.edit.regions import region_job, said
from specedit.focus.blocks import LONG, Block, blocks
from specedit.focus.choice import joined
from specedit.report import Edit

AROUND = 30  # lines on each side that a place is shown with again
FINAL = frozenset({"cut-off"})  # what stands against a wider place as well


def wider(work: Job, done: Job, edit: Edit) -> Job | None:
    """The Job once more, its places wider, where focus chose them and what was written for them is
    refused: `work` as it was before, `done` as it was asked."""
    if work.regions or not done.regions or edit.status != "refused":
        return None
    if any(one.kind in FINAL for one in edit.findings):
        return None
    source = work.about
    found = blocks(source.text, source.language)
    taken = [block for one in done.regions for block in one.blocks]
    more = _around(found, taken)
    if len(more) == len(taken):
        return None
    regions = tuple(region_job(source, held, 1.0) for held in joined(more, 2 * LONG))
    first = said(done.regions[0].symbol, done.regions[0].lines)
    why = edit.problems[0] if edit.problems else "it was refused"
    told = f"what was written for {first} alone is not kept: {why}; asked again with more around it"
    spots = tuple(Spot(one.lines[0]) for one in regions)
    return replace(
        work, regions=regions, findings=(*done.findings, Finding("focused", told, spots))
    )


def _around(found: Sequence[Block], taken: Sequence[Block]) -> list[Block]:
    """The places and the blocks next to them, as many as AROUND lines on each side reach into."""
    kept = set(taken)
    for one in taken:
        kept |= {
            near
            for near in found
            if near.last >= one.first - AROUND and near.first <= one.last + AROUND
        }
    return [one for one in found if one in kept]
