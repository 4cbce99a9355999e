"""The lines of a large file that a rename has to do with: windows around every mention.

Not only the places: a line that holds the name where nothing is renamed is one where the model may
think otherwise, and is asked about, too. What stands in no window holds no mention, so there is
nothing in it to verify.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from specedit.check.finding import Finding, Spot
from specedit.edit.job import RegionJob
from specedit.edit.regions.assemble import region_job
from specedit.edit.regions.blocks import Block, blocks_of
from specedit.edit.regions.choice import readable
from specedit.edit.regions.context import enclosing
from specedit.edit.regions.narrowing import is_large
from specedit.files.source import Source
from specedit.rename.guess import Place, RenameGuess
from specedit.settings import Settings
from specedit.syntax.identifiers import SHORT, variants
from specedit.syntax.lines import lines_of

AROUND = 4  # lines on each side of a mention
MOST = 0.5  # share of the lines beyond which all of the file is verified


def windows_of(source: Source, guess: RenameGuess, settings: Settings) -> tuple[RegionJob, ...]:
    """The windows of a large file; none where all of it is to be verified."""
    if settings.prediction != "original" or not is_large(source, settings):
        return ()
    if not readable(source.text):
        return ()
    lines = lines_of(source.text)
    spans = list(spans_of(_mentions(lines, guess), len(lines)))
    if not spans or sum(last - first + 1 for first, last in spans) > MOST * len(lines):
        return ()
    result = blocks_of(source.text, source.language)
    return tuple(_window(source, guess, result, first, last) for first, last in spans)


def spans_of(numbers: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    """Lines [first, last] around each of `numbers`, joined where they meet."""
    first = last = 0
    for number in sorted(numbers):
        begin, end = max(1, number - AROUND), min(count, number + AROUND)
        if last and begin <= last + 1:
            last = max(last, end)
            continue
        if last:
            yield first, last
        first, last = begin, end
    if last:
        yield first, last


def checked_in(windows: Sequence[RegionJob]) -> Iterator[Finding]:
    """What is said of a file that was verified in windows."""
    if windows:
        count = sum(one.lines[1] - one.lines[0] + 1 for one in windows)
        where = "one window" if len(windows) == 1 else f"{len(windows)} windows"
        message = f"verified in {where} of {count} lines around every mention; --whole verifies all"
        yield Finding("focused", message, tuple(Spot(one.lines[0]) for one in windows))


def _mentions(lines: Sequence[str], guess: RenameGuess) -> list[int]:
    """The lines of the places, and all that hold the name in any spelling."""
    names = {guess.old, *(v for v in variants(guess.old, guess.new) if len(v) >= SHORT)}
    pattern = re.compile("|".join(rf"(?<![\w$]){re.escape(n)}(?![\w$])" for n in sorted(names)))
    numbers = {number for number, line in enumerate(lines, 1) if pattern.search(line)}
    for place in guess.places:
        height = place.replaced.count("\n")
        numbers.update(range(place.line, place.line + height + 1))
    return sorted(numbers)


def _window(
    source: Source, guess: RenameGuess, found: Sequence[Block], first: int, last: int
) -> RegionJob:
    inside = next((one for one in found if one.first <= first <= one.last), None)
    held = Block(first, last, inside.name if inside else "", "window", head=False)
    target = region_job(source, [held], 1.0)
    return replace(
        target,
        expected=_renamed(source.text, guess.places, target.region.start, target.region.end),
        context=enclosing(source.text, found, [held]),
    )


def _renamed(text: str, places: Sequence[Place], start: int, end: int) -> str:
    """Characters [start, end) with the places in them replaced."""
    parts: list[str] = []
    at = start
    for place in sorted(places, key=lambda one: one.offset):
        if at <= place.offset < end:
            parts += [text[at : place.offset], place.replacement]
            at = place.offset + len(place.replaced)
    return "".join([*parts, text[at:end]])
