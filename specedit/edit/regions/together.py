"""Regions that are asked about in one question: the model sees them in the file's order, with a
line for the lines between two of them, and its answer is divided at these lines. A small model gets
a change of several places right more often so (docs/research/2026-11-regions-together.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specedit.edit.regions.blocks import Block
from specedit.edit.splice import dedented, region_of
from specedit.files.source import Source
from specedit.syntax.lines import GAP, NOT_SHOWN, lines_of, opcodes

MAX_LINES = 250  # of regions that are asked about together
MAX_CHARACTERS = 12_000
FEW_LINES = 3  # between two regions, that are shown as they are
HASH_LANGUAGES = frozenset({"python", "ruby", "bash", "yaml", "toml", "elixir", "r", "perl"})


@dataclass(frozen=True, slots=True)
class OpenRegion:
    """One region of a large file, that may change."""

    region: slice  # of the file's characters
    blocks: tuple[Block, ...]
    chance: float  # that the change belongs there
    why: str = ""  # why it is open to change

    @property
    def lines(self) -> tuple[int, int]:
        return self.blocks[0].first, self.blocks[-1].last

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(block.name for block in self.blocks if block.name))

    @property
    def symbol(self) -> str:
        return ", ".join(self.names)


def region_job(source: Source, blocks: Sequence[Block], chance: float) -> OpenRegion:
    """The region of consecutive blocks."""
    return OpenRegion(region_of(source, (blocks[0].first, blocks[-1].last)), tuple(blocks), chance)


def region_name(symbol: str, lines: tuple[int, int]) -> str:
    """A region as the report names it."""
    where = f"lines {lines[0]}:{lines[1]}"
    return f"{symbol} ({where})" if symbol else where


Group = tuple[OpenRegion, ...]  # that are asked about together


def groups_of(source: Source, regions: Sequence[OpenRegion]) -> list[Group]:
    """The regions that are asked about together: all, where they are not long."""
    texts = [source.text[region.region] for region in regions]
    lines = sum(text.count("\n") for text in texts)
    if lines > MAX_LINES or sum(map(len, texts)) > MAX_CHARACTERS:
        return [(region,) for region in regions]
    return [tuple(regions)] if regions else []


def merged(source: Source, regions: Sequence[OpenRegion]) -> tuple[OpenRegion, ...]:
    """The regions, in the file's order; of those that are asked about together with what is hardly
    apart as one."""
    if len(groups_of(source, regions)) > 1:
        return tuple(regions)
    apart: list[OpenRegion] = []
    for region in regions:
        before = apart[-1] if apart else None
        if before is not None and region.lines[0] - before.lines[1] - 1 <= FEW_LINES:
            apart[-1] = replace(
                before,
                region=slice(before.region.start, region.region.stop),
                blocks=(*before.blocks, *region.blocks),
                chance=min(1.0, before.chance + region.chance),
            )
        else:
            apart.append(region)
    return tuple(apart)


def shown(source: Source, group: Group, texts: Sequence[str]) -> str:
    """The texts of a group's regions as the model sees them: of several with a line for the lines
    before each, of one alone without its indentation."""
    if len(group) == 1:
        return dedented(texts[0])
    pieces: list[str] = []
    for stand_in, text in zip(_stand_ins(source, group), texts, strict=True):
        if pieces and not pieces[-1].endswith("\n"):
            pieces.append("\n")
        pieces += [stand_in, text]
    return "".join(pieces)


def all_shown(source: Source, regions: Sequence[OpenRegion]) -> str:
    """What the model is shown of these regions, of one question after the other."""
    return "".join(
        shown(source, group, [source.text[region.region] for region in group])
        for group in groups_of(source, regions)
    )


def divided(source: Source, group: Group, answer: str) -> list[str]:
    """What an answer puts in each region of a group. Where it lost a line that stands for others
    between two regions, a text that is refused stands there; a second such line, or another form of
    one, is refused where it stands (`check.answer.stands_in`)."""
    texts = [source.text[region.region] for region in group]
    before, after = lines_of(shown(source, group, texts)), lines_of(answer)
    codes = opcodes([line.strip() for line in before], [line.strip() for line in after])
    pieces: list[str] = []
    line = start = 0
    for stand_in, text in zip(_stand_ins(source, group), texts, strict=True):
        if stand_in:
            tag, first, _, place, end = next(code for code in codes if code[1] <= line < code[2])
            is_there = tag == "equal"
            end = place + line - first if is_there else end
            is_lost = line > 0 and not is_there
            pieces.append("".join(after[start:end]) + (f"{GAP}\n" if is_lost else ""))
            start = end + is_there
            line += 1
        line += len(lines_of(text))
    pieces.append("".join(after[start:]))
    if len(pieces) > len(group):  # what stands before the first line for others
        pieces[:2] = ["".join(pieces[:2])]
    return pieces


def _stand_ins(source: Source, group: Group) -> list[str]:
    """The line that stands for the lines before each region of a group; "" where there are none."""
    if len(group) == 1:
        return [""]
    language = source.language.name if source.language else ""
    comment = "#" if language in HASH_LANGUAGES else "//"
    lines = lines_of(source.text)
    stand_ins = []
    last = 0
    for region in group:
        first = lines[region.lines[0] - 1]
        indentation = first[: len(first) - len(first.lstrip())].strip("\n")
        count = region.lines[0] - last - 1
        text = f"{indentation}{comment} ({count} {NOT_SHOWN})\n"
        stand_ins.append(text if count else "")
        last = region.lines[1]
    return stand_ins
