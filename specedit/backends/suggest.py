"""Which row of the catalogue suits this machine: its memory, and what a pass costs here.

What a pass costs is measured for the models that have run; for another it is scaled by the number
of parameters, which a pass reads all of. So its seconds are an estimate, and said to be one. Knows
the catalogue, cost curves and memory; runs and fetches nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specedit.decode import cost
from specedit.decode.cost import TYPICAL, Curve
from specedit.models import catalogue
from specedit.models.catalogue import Listed

LINES, TOKENS = 200, 10  # of the edit that is estimated; tokens a line
READ = 256  # the width that a prompt is read in
NARROW, WIDTH = 12, 8  # passes around a change, and how wide they are
SHARE = 0.75  # of the machine's memory that a model may take
PATIENCE = 30.0  # seconds of such an edit that a person waits for
TYPICAL_OF = 1.54  # billions of parameters that the typical curve is of


@dataclass(frozen=True)
class Pace:
    """What a pass costs on this machine, and for a model of how many parameters, in billions."""

    curve: Curve
    parameters: float
    model: str = ""  # "": never measured here, a typical machine's

    def seconds(self, parameters: float) -> float:
        """An edit of a few lines in a file of `LINES`, all of it read and written."""
        tokens = LINES * TOKENS
        each = self.curve.seconds(READ) / READ
        own = 2 * tokens * each + NARROW * self.curve.seconds(WIDTH)
        return own * parameters / self.parameters


@dataclass(frozen=True)
class Row:
    """One model of the catalogue on this machine."""

    entry: Listed
    fits: bool
    seconds: float

    @property
    def suits(self) -> bool:
        return self.fits and self.entry.free and self.seconds <= PATIENCE


def rows(pace: Pace, memory: int) -> list[Row]:
    """Every model, the smallest first. `memory`: the machine's bytes, 0 where nobody can say."""
    return [
        Row(
            entry,
            not memory or entry.memory <= SHARE * memory,
            pace.seconds(entry.parameters),
        )
        for entry in sorted(catalogue.CATALOGUE, key=lambda one: one.parameters)
    ]


def best(found: Sequence[Row]) -> Row:
    """The largest that suits, of two as large the one that is pinned; else the smallest."""
    suiting = [one for one in found if one.suits]
    return max(suiting, key=lambda one: (one.entry.parameters, one.entry.pinned), default=found[0])


def measured(root: Path, prefer: str = "") -> Pace:
    """The curve of the model called `prefer`, else of any of the catalogue that has run here: the
    quickest, for a busy moment's tells less of the machine."""
    known = {entry.sha256: entry for entry in catalogue.CATALOGUE if entry.pinned}
    found = [
        Pace(Curve.of(points), known[sha256].parameters, known[sha256].name)
        for key, points in cost.curves(root / "curves.json").items()
        if (sha256 := key.partition(" ")[0]) in known
    ]
    own = [one for one in found if one.model == prefer.lower()] or found
    typical = Pace(TYPICAL, TYPICAL_OF)
    return min(own, key=lambda one: one.seconds(one.parameters), default=typical)


def memory() -> int:
    """Bytes of this machine's memory; 0 where nobody can say."""
    if sys.platform == "win32":
        return _of_windows()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0


def _of_windows() -> int:
    """As `GlobalMemoryStatusEx` says: two words of 32 bits, then seven of 64, the first the sum."""
    import ctypes

    told = (ctypes.c_uint64 * 8)()
    told[0] = ctypes.sizeof(told)  # the structure's length, in its first word
    kernel = getattr(ctypes, "windll", None)
    if kernel is None or not kernel.kernel32.GlobalMemoryStatusEx(ctypes.byref(told)):
        return 0
    return int(told[1])
