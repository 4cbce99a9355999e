"""Locates an edit: a Job for a whole file becomes one with regions, unless the file is small.

Names and quoted texts of the instruction decide first, then its words, and the model where these
leave it open.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress

from specedit.check.finding import Finding, Spot
from specedit.edit import prompt
from specedit.edit.backend import Backend, Event, Plan, Written
from specedit.edit.job import Job
from specedit.edit.regions.blocks import (
    MAX_BLOCK_LINES,
    MOST_LISTED,
    Block,
    BlockListing,
    blocks_of,
    listing_of,
    targets_of,
)
from specedit.edit.regions.choice import (
    FREE_CHANCES,
    BlockChoice,
    Chances,
    Evidence,
    about_all,
    choose,
    enough,
    evidence_of,
    grouped,
    likely,
    readable,
    with_asked,
    with_earlier,
)
from specedit.edit.regions.together import OpenRegion, merged, region_job, region_name
from specedit.edit.report import Figures
from specedit.edit.sink import Locating, Sink
from specedit.errors import listed
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.syntax import trees
from specedit.syntax.lines import lines_of, opcodes
from specedit.syntax.outline import CALLABLE, Symbol

SMALL_LINES = 120  # of a file that is open as a whole
SMALL_CHARACTERS = 5_000
WIDENED_LINES = 250  # of a file that a further try opens as a whole
LONG_TARGETS = 150  # lines of named definitions beyond which words choose among their parts
MAX_REPORTED_REGIONS = 8  # regions that the report names
MAX_ANSWER_TOKENS = 60  # tokens of the answer to which parts are meant


def locate(
    job: Job, backend: Backend, settings: Settings, sink: Sink
) -> tuple[Job, Figures | None]:
    """The Job with its regions, or as it was; and the cost of asking the model, if it was asked."""
    source = job.about
    if not may_divide(job, settings):
        return job, None
    symbols = trees.symbols(source.text, source.language)
    large = is_large(source, settings)
    if not readable(source.text):
        return (_whole(job, "its lines are too long to be lines of source") if large else job), None
    refined = job.about is not job.source
    targets = [] if refined else targets_of(symbols, source.text, job.instruction)
    if not large and (settings.focus != "auto" or not _is_one_function(targets, symbols)):
        return job, None
    blocks = blocks_of(source.text, source.language)
    regions = _regions(source, blocks, targets)
    asked: Figures | None = None
    if len(regions) > 1:
        chosen, asked = _meant(job, regions, backend, sink)
        regions = chosen or regions
    count = sum(last - first + 1 for first, last in (region.lines for region in regions))
    if regions and count <= LONG_TARGETS:
        return _with(job, regions, named=True), asked
    evidence = evidence_of(source.text, blocks, job.instruction)
    if regions:  # a class of many lines: its likely parts
        spans = [region.lines for region in regions]
        held = [any(a <= o.block.first and o.block.last <= b for a, b in spans) for o in evidence]
        evidence = list(compress(evidence, held))
    choice = choose(evidence, job.instruction)
    if refined:
        choice = with_earlier(choice, _changed(job, blocks), evidence, job.instruction)
    if choice.unsure:
        places, cost = ask_model(job, blocks, evidence, backend, sink)
        asked = cost if asked is None else asked + cost
        choice = choose(with_asked(evidence, places), job.instruction, asked=True)
    return (_whole(job, choice.why) if choice.whole else _some(job, choice)), asked


def may_divide(job: Job, settings: Settings) -> bool:
    """Whether regions may be chosen: the user has named none, and does not want the whole file."""
    if settings.prediction not in ("original", "none"):  # a file's is one of the whole answer
        return False
    if settings.whole or settings.focus == "off":
        return False
    return job.divisible and job.known is None


def is_large(source: Source, settings: Settings) -> bool:
    """Whether regions are chosen in a file. All of a small one is open: copying it costs little."""
    lines = source.text.count("\n")
    if settings.focus != "auto":
        return lines > int(settings.focus)
    return lines > SMALL_LINES or len(source.text) > SMALL_CHARACTERS


def shared_beginnings(job: Job, settings: Settings) -> Iterator[Plan]:
    """The Plans whose prompts begin as those of any instruction on the same file do: for a large
    file its outline, else the file."""
    if not (may_divide(job, settings) and is_large(job.about, settings)) or not readable(
        job.about.text
    ):
        yield job.plan
        return
    outline = listing_of(job.about.text, blocks_of(job.about.text, job.about.language))
    if len(outline.names) <= MOST_LISTED:  # a longer one depends on the instruction
        yield _question(job, outline)


def widened(job: Job) -> Job:
    """The Job of a further try, where the regions of the first proved too narrow: all of a file
    that is not long, else the regions with the blocks next to them."""
    source = job.about
    findings = tuple(finding for finding in job.findings if finding.kind != "focused")
    if source.text.count("\n") <= WIDENED_LINES:
        note = Finding("widened", "the first place proved too narrow: all of the file was open")
        return replace(job, regions=(), findings=(*findings, note))
    blocks = blocks_of(source.text, source.language)
    spans = [region.lines for region in job.regions]
    held = [any(a <= block.last and block.first <= b for a, b in spans) for block in blocks]
    near = [
        block for at, block in enumerate(blocks) if held[at] or any(held[max(0, at - 1) : at + 2])
    ]
    regions = tuple(
        replace(region_job(source, group, 1.0), why="next to a place that proved too narrow")
        for group in grouped(near, MAX_BLOCK_LINES)
    )
    return _with(replace(job, findings=findings), regions)


def in_parts(job: Job) -> Job | None:
    """The Job as regions that are all of its file, where its instruction is about all of it and
    the regions are not what was too long."""
    if job.regions or not about_all(job.instruction) or not readable(job.about.text):
        return None
    parts = grouped(blocks_of(job.about.text, job.about.language), MAX_BLOCK_LINES)
    if len(parts) < 2:
        return None
    text = f"too long for the window: edited in {len(parts)} parts, one after the other"
    findings = (finding for finding in job.findings if finding.kind != "whole")
    return replace(
        job,
        regions=tuple(region_job(job.about, part, 1.0) for part in parts),
        findings=(*findings, Finding("focused", text)),
    )


def ask_model(
    job: Job, blocks: Sequence[Block], evidence: Sequence[Evidence], backend: Backend, sink: Sink
) -> tuple[Chances, Figures]:
    """The blocks that the model names when it is shown the outline, with their chances."""
    outline = listing_of(job.about.text, blocks)
    if len(outline.names) > MOST_LISTED:
        chances = likely(evidence)
        best = sorted(chances, key=lambda block: -chances[block])[:MOST_LISTED]
        outline = listing_of(job.about.text, blocks, frozenset(best))
    return _asked(job, outline, backend, sink)


def _asked(
    job: Job, outline: BlockListing, backend: Backend, sink: Sink
) -> tuple[Chances, Figures]:
    plan = _question(job, outline)
    sink.emit(Locating(job, plan))
    started = time.perf_counter()

    def emit(event: Event) -> None:  # how far it is, and not the words of its answer
        if not isinstance(event, Written):
            sink.emit(event)

    answer = backend.run(plan, emit)
    figures = Figures.of(answer, time.perf_counter() - started)
    if answer.ranked:
        blocks = dict(zip(reversed(outline.names), reversed(outline.blocks), strict=True))
        return {blocks[name]: chance for name, chance in answer.ranked.items()}, figures
    return dict(zip(outline.named(answer.text), FREE_CHANCES, strict=False)), figures


def _changed(job: Job, blocks: Sequence[Block]) -> list[Block]:
    """The blocks in which the file differs by now from the text that is asked about."""
    old, new = lines_of(job.about.text), lines_of(job.source.text)
    spans = [(a, max(a + 1, b)) for tag, a, b, *_ in opcodes(old, new) if tag != "equal"]
    last = len(old)
    spans = [(min(a, last - 1), b) for a, b in spans]  # what was added after the last line
    return [block for block in blocks if any(a < block.last and block.first <= b for a, b in spans)]


def _regions(
    source: Source, blocks: Sequence[Block], targets: Sequence[Block]
) -> tuple[OpenRegion, ...]:
    """A region for each target, with the comments above it; none inside of another."""
    regions: list[OpenRegion] = []
    with_comments = [_with_comments(target, blocks) for target in targets]
    for target in sorted(with_comments, key=lambda target: (target.first, target.last)):
        if not regions or target.first > regions[-1].lines[1]:
            regions.append(replace(region_job(source, [target], 1.0), why=target.why))
    return tuple(regions)


def _with_comments(target: Block, blocks: Sequence[Block]) -> Block:
    """A target with the comments right above it."""
    heads = (block for block in blocks if block.head and block.name == target.name)
    starts = (block.first for block in heads if block.first <= target.first <= block.last)
    return replace(target, first=next(starts, target.first))


def _is_one_function(targets: Sequence[Block], symbols: Sequence[Symbol]) -> bool:
    """Whether an instruction names one function and nothing else."""
    named = [symbol for symbol in symbols if symbol.qualified in {each.name for each in targets}]
    return len(targets) == 1 and len(named) == 1 and named[0].kind in CALLABLE


def _meant(
    job: Job, regions: Sequence[OpenRegion], backend: Backend, sink: Sink
) -> tuple[tuple[OpenRegion, ...], Figures]:
    """Of several parts that the instruction names, those that the model says will be changed."""
    parts = [region.blocks[0] for region in regions]
    chances, figures = _asked(job, listing_of(job.about.text, parts), backend, sink)
    named = enough(chances)
    return tuple(region for region in regions if region.blocks[0] in named), figures


def _with(job: Job, regions: tuple[OpenRegion, ...], *, named: bool = False) -> Job:
    """The Job with these regions, and which they are. `named`: the instruction points at them."""
    regions = merged(job.about, regions)
    names = [region_name(region.symbol, region.lines) for region in regions]
    shown = listed(names, MAX_REPORTED_REGIONS)
    why = next(iter(dict.fromkeys(region.why for region in regions)))
    note = Finding(
        "focused",
        f"open to change: {shown}: {why}; --whole opens all of the file",
        tuple(Spot(region.lines[0]) for region in regions),
    )
    symbols = [region.symbol or name for region, name in zip(regions, names, strict=True)]
    place = listed(symbols, MAX_REPORTED_REGIONS) if named else ""
    return replace(job, regions=regions, place=place, findings=(*job.findings, note))


def _whole(job: Job, why: str) -> Job:
    note = Finding("whole", f"all of it was read and written: {why}")
    return replace(job, findings=(*job.findings, note))


def _some(job: Job, choice: BlockChoice) -> Job:
    chances = choice.blocks
    regions = tuple(
        replace(
            region_job(job.about, group, min(1.0, sum(chances[block] for block in group))),
            why=choice.why,
        )
        for group in grouped(list(chances), MAX_BLOCK_LINES)
    )
    return _with(job, regions)


def _question(job: Job, outline: BlockListing) -> Plan:
    marks = prompt.fence(outline.text)
    return Plan(
        messages=prompt.places(job.about.name, outline.text, job.instruction),
        opening=prompt.opening(marks),
        closing=marks,
        instruction=job.instruction,
        draft=("lookup",) if job.plan.draft else (),
        max_tokens=MAX_ANSWER_TOKENS,
        choices=tuple(dict.fromkeys(outline.names)),
    )
