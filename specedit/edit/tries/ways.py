"""What sets one try apart from the others: its seed, its temperature, what it is shown.

The first is what a run without tries asks for. After it come samples of the same prompt, and later
tries that are shown what stood against the one before: those are often the same answer again. Seeds
are fixed (the settings' seed and the try's number): the same command line gives the same tries.
Knows settings; knows no prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from specedit.edit.job import drawing
from specedit.engines.base import Sampling
from specedit.settings import Settings

MANY = 6  # tries where somebody judges them and nobody said how many
SHARE = 0.95  # of the likeliest tokens that a sample draws from, where nobody said another


@dataclass(frozen=True)
class Manner:
    """How one try differs: the temperature it draws with at least, and whether it is told."""

    temperature: float
    told: bool = False


ORDER = (  # after the first try; decided on one half of a set of edits with tests (`help tries`)
    Manner(0.8),
    Manner(1.0),
    Manner(0.8),
    Manner(1.0),
    Manner(0.8, told=True),
    Manner(1.2),
    Manner(1.0, told=True),
)


@dataclass(frozen=True)
class Way:
    """One try."""

    number: int  # from 1
    sampling: Sampling
    told: bool = False


def most(settings: Settings) -> int:
    """How many tries there are where the first does not do."""
    if settings.compare and not settings.tries:
        return 1
    return settings.tries or MANY


def ways(settings: Settings) -> Iterator[Way]:
    """The tries, in order."""
    first = drawing(settings)
    yield Way(1, first)
    for number in range(2, most(settings) + 1):
        at = number - 2
        step = ORDER[at] if at < len(ORDER) else Manner(1.0, told=at % 2 == 0)
        temperature = max(step.temperature, settings.temperature)
        share = settings.top_p if settings.top_p < 1 else SHARE
        seed = (settings.seed + number - 1) % (1 << 63)
        drawn = replace(first, temperature=temperature, top_p=share, seed=seed)
        yield Way(number, drawn if temperature else first, step.told)
