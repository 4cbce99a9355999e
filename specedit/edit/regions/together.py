"""Regions that are asked about in one question: the model sees them in the file's order, with a
line for the lines between two of them, and its answer is divided at these lines.

A change of several places is one change: a small model that sees all of them gets a parameter and
its use right together more often than one by one, and in half of the time
(docs/research/2026-11-regions-together.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from specedit.edit.job import Job, RegionJob
from specedit.edit.splice import Region, dedented, taken
from specedit.files.source import Source
from specedit.syntax.lines import GAP, lines_of, opcodes

MAX_LINES = 250  # of regions that are asked about together
MAX_CHARACTERS = 12_000
FEW_LINES = 3  # between two regions, that are shown as they are
HASH_LANGUAGES = frozenset({"python", "ruby", "bash", "yaml", "toml", "elixir", "r", "perl"})

Group = tuple[RegionJob, ...]


def groups_of(source: Source, regions: Sequence[RegionJob]) -> list[Group]:
    """The regions that are asked about together: all, where they are not long."""
    texts = [taken(source, region.region) for region in regions]
    lines = sum(text.count("\n") for text in texts)
    if lines > MAX_LINES or sum(map(len, texts)) > MAX_CHARACTERS:
        return [(region,) for region in regions]
    return [tuple(regions)] if regions else []


def is_one_question(job: Job) -> bool:
    """Whether one answer is all that is asked for."""
    return len(groups_of(job.about, job.regions)) <= 1


def merged(source: Source, regions: Sequence[RegionJob]) -> tuple[RegionJob, ...]:
    """The regions, in the file's order; of those that are asked about together with what is hardly
    apart as one."""
    if len(groups_of(source, regions)) > 1:
        return tuple(regions)
    apart: list[RegionJob] = []
    for region in regions:
        before = apart[-1] if apart else None
        if before is not None and region.lines[0] - before.lines[1] - 1 <= FEW_LINES:
            apart[-1] = replace(
                before,
                region=Region(before.region.start, region.region.end),
                blocks=(*before.blocks, *region.blocks),
                chance=min(1.0, before.chance + region.chance),
            )
        else:
            apart.append(region)
    return tuple(apart)


def shown(source: Source, group: Group, texts: Sequence[str]) -> str:
    """The texts of a group's regions as the model sees them: a line for the lines between two of
    them, and without the indentation that all have."""
    pieces: list[str] = []
    for text, between in zip(texts, [*_between(source, group), ""], strict=True):
        pieces += [text if text.endswith("\n") or not between else f"{text}\n", between]
    return dedented("".join(pieces))


def divided(source: Source, group: Group, answer: str) -> list[str]:
    """What an answer puts in each region of a group. Where it lost a line that stands for others, a
    text that is refused stands there."""
    texts = [taken(source, region.region) for region in group]
    before, after = lines_of(shown(source, group, texts)), lines_of(answer)
    codes = opcodes([line.strip() for line in before], [line.strip() for line in after])
    pieces: list[str] = []
    line = start = 0
    for text in texts[:-1]:
        line += len(lines_of(text))
        tag, first, _, place, end = next(code for code in codes if code[1] <= line < code[2])
        if tag == "equal":
            place += line - first
            pieces.append("".join(after[start:place]))
            start = place + 1
        else:
            pieces.append("".join(after[start:end]) + f"{GAP}\n")
            start = end
        line += 1
    return [*pieces, "".join(after[start:])]


def _between(source: Source, group: Group) -> list[str]:
    """The line that stands for the lines between each two regions of a group."""
    language = source.language.name if source.language else ""
    comment = "#" if language in HASH_LANGUAGES else "//"
    lines = lines_of(source.text)
    stand_ins = []
    for before, after in pairwise(group):
        first = lines[after.lines[0] - 1]
        indentation = first[: len(first) - len(first.lstrip())].strip("\n")
        count = after.lines[0] - before.lines[1] - 1
        stand_ins.append(f"{indentation}{comment} ({count} lines of the file are not shown here)\n")
    return stand_ins
