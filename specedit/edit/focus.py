"""Which regions of a large file a Job is about: chosen by words, and by the model where they doubt.

Turns a Job for a whole file into one with regions, where that pays and one can be sure; says which
and why. Knows Jobs, settings and `focus`; what becomes of regions is `regions`' to know.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from specedit.check.finding import Finding, Spot
from specedit.decode.cost import TYPICAL, Curve
from specedit.edit import prompt
from specedit.edit.backend import Answer, Backend, Event, Written
from specedit.edit.fold import run
from specedit.edit.job import Job
from specedit.edit.plan import Plan
from specedit.edit.regions import plan_of, region_job, said
from specedit.edit.splice import whole
from specedit.files.source import Source
from specedit.focus.blocks import LONG, Block, blocks
from specedit.focus.chances import likely, with_opinion
from specedit.focus.choice import (
    Covering,
    about_all,
    chosen,
    joined,
    readable,
    with_earlier,
)
from specedit.focus.evidence import Evidence, gathered
from specedit.focus.listing import MOST, Contents, listing
from specedit.report import Figures
from specedit.settings import Settings
from specedit.text.lines import lines_of, opcodes

TOKEN = 3.5  # characters of source a token has
READ = 256  # tokens that a prompt is read in at a time
OUTLINE = 0.08  # of a file's tokens its outline has,
SHARE = 0.15  # and the regions that are chosen
SHOWN = 600  # tokens that a region is shown with,
NARROW = 12  # and narrow passes around its change
WIDTH = 8
TWICE = 2.0  # as fast as all of the file, or focus is not worth its risk
NAMED = 8  # regions that the report names
ANSWER = 60  # tokens of the answer to which parts are meant


def focused(
    work: Job, backend: Backend, settings: Settings
) -> Generator[Event, None, tuple[Job, Figures | None]]:
    """The Job with its regions, or as it was; and what asking the model cost, if it was asked."""
    source = work.about
    if not wanted(work, settings):
        return work, None
    if not readable(source.text):
        return _all(work, "its lines are too long to be lines of source"), None
    found = blocks(source.text, source.language)
    evidence = gathered(source.text, found, work.instruction)
    choice = chosen(evidence, work.instruction)
    if work.original is not None:
        choice = with_earlier(choice, _changed(work, found), evidence, work.instruction)
    asked: Figures | None = None
    if choice.unsure:
        named, asked = yield from opinion(work, found, evidence, backend)
        choice = chosen(with_opinion(evidence, named), work.instruction, asked=True)
    return (_all(work, choice.why) if choice.whole else _some(work, choice, len(found))), asked


def _changed(work: Job, found: Sequence[Block]) -> list[Block]:
    """Where the file is another by now than the text that is asked about."""
    old, new = lines_of(work.about.text), lines_of(work.source.text)
    spans = [(a, max(a + 1, b)) for tag, a, b, *_ in opcodes(old, new) if tag != "equal"]
    last = len(old)
    spans = [(min(a, last - 1), b) for a, b in spans]  # what was added behind the last line
    return [one for one in found if any(a < one.last and one.first <= b for a, b in spans)]


def wanted(work: Job, settings: Settings) -> bool:
    """Whether places are to be chosen in this file: nobody has named any, and it pays."""
    if settings.prediction not in ("original", "none"):  # a file's is one of the whole answer
        return False
    return work.divisible and work.region == whole(work.about) and large(work.about, settings)


def large(source: Source, settings: Settings) -> bool:
    """Whether a file is one of those that are done in parts."""
    if settings.whole or settings.focus == "off":
        return False
    if settings.focus != "auto":
        return len(lines_of(source.text)) > int(settings.focus)
    return pays(len(source.text) / TOKEN)


def pays(tokens: float, curve: Curve = TYPICAL) -> bool:
    """Whether places of a file so long are likely done in half the time that all of it takes."""
    each = curve.seconds(READ) / READ  # read or written, for what is written is mostly copied
    narrow = NARROW * curve.seconds(WIDTH)
    all_of_it = 2 * tokens * each + narrow
    places = (OUTLINE + 2 * SHARE) * tokens * each + 2 * (SHOWN * each + narrow)
    return all_of_it > TWICE * places


def beginnings(work: Job, settings: Settings) -> Iterator[Plan]:
    """The Plans whose prompts begin as those of any instruction on the same file do: for a large
    file its outline, and a region with its imports; else the file."""
    if not wanted(work, settings) or not readable(work.about.text):
        yield work.plan
        return
    found = blocks(work.about.text, work.about.language)
    listed = listing(work.about.text, found)
    if len(listed.names) <= MOST:  # a longer one depends on the instruction
        yield _question(work, listed)
    smallest = min(found, key=lambda one: (one.kind == "imports", one.lines))
    yield plan_of(work, found, region_job(work.about, [smallest], 0.0))


def _all(work: Job, why: str) -> Job:
    note = Finding("whole", f"all of it was read and written: {why}")
    return replace(work, findings=(*work.findings, note))


def in_parts(work: Job) -> Job | None:
    """The Job as regions that are all of its file, where its instruction is about all of it and
    the regions are not what was too long."""
    if work.regions or not about_all(work.instruction) or not readable(work.about.text):
        return None
    held = joined(blocks(work.about.text, work.about.language), LONG)
    if len(held) < 2:
        return None
    said = f"too long for the window: edited in {len(held)} parts, one after the other"
    told = (one for one in work.findings if one.kind != "whole")
    return replace(
        work,
        regions=tuple(region_job(work.about, part, 1.0) for part in held),
        findings=(*told, Finding("focused", said)),
    )


def _some(work: Job, choice: Covering, of: int) -> Job:
    chances = {one.block: one.chance for one in choice.taken}
    regions = tuple(
        region_job(work.about, held, min(1.0, sum(chances[one] for one in held)))
        for held in joined(list(chances), LONG)
    )
    shown = sorted(regions, key=lambda one: -one.chance)[:NAMED]
    names = ", ".join(said(one.symbol, one.lines) for one in shown)
    more = f" and {len(regions) - NAMED} more" if len(regions) > NAMED else ""
    note = Finding(
        "focused",
        f"only the likely places were edited: {names}{more}; --whole edits all of it",
        tuple(Spot(one.lines[0]) for one in regions),
    )
    return replace(work, regions=regions, findings=(*work.findings, note))


def opinion(
    work: Job, found: Sequence[Block], evidence: Sequence[Evidence], backend: Backend
) -> Generator[Event, None, tuple[list[Block], Figures]]:
    """The blocks that the model names when it is shown the outline."""
    listed = listing(work.about.text, found)
    if len(listed.names) > MOST:
        best = sorted(likely(evidence), key=lambda one: -one.chance)[:MOST]
        listed = listing(work.about.text, found, frozenset(one.block for one in best))
    asking = run(_question(work, listed), work.about.name, backend)
    while True:
        try:
            event = next(asking)
        except StopIteration as end:
            answer, figures = end.value
            return listed.named(answer.text), figures
        if not isinstance(event, Answer | Written):
            yield event


def _question(work: Job, listed: Contents) -> Plan:
    marks = prompt.fence(listed.text)
    return Plan(
        messages=prompt.places(work.about.name, listed.text, work.instruction),
        opening=prompt.opening(marks),
        closing=marks,
        instruction=work.instruction,
        draft=("lookup",) if work.plan.draft else (),
        max_tokens=ANSWER,
    )
