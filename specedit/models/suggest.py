"""Chooses the catalogue's model for this machine, by its memory and its cores.

Time grows with the number of parameters, because each pass reads all of them: on two cores an edit
of a 200-line file takes the 1.5B model about 25 s when all of it is read and written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from specedit.models import catalogue
from specedit.models.catalogue import Listed

SHARE = 0.75  # of the machine's memory that a model may take
PER_CORE = 1.1  # billions of parameters per core: an edit as above takes about 30 s


@dataclass(frozen=True)
class Machine:
    """What the choice depends on; `memory` 0: the system does not tell."""

    memory: int
    cores: int


@dataclass(frozen=True)
class Row:
    """One model of the catalogue on this machine."""

    entry: Listed
    fits: bool  # into memory
    suits: bool  # fits, is quick enough, and its licence allows every use


def rows(machine: Machine) -> list[Row]:
    """Every model, the smallest first."""
    return [_row(entry, machine) for entry in sorted(catalogue.CATALOGUE, key=_parameters)]


def _row(entry: Listed, machine: Machine) -> Row:
    fits = not machine.memory or entry.memory <= SHARE * machine.memory
    quick = entry.parameters <= PER_CORE * machine.cores
    return Row(entry, fits, fits and quick and entry.free)


def _parameters(entry: Listed) -> float:
    return entry.parameters


def best(rows_by_size: Sequence[Row]) -> Row:
    """The largest that suits, a pinned one before an equal; else the smallest."""
    suiting = [row for row in rows_by_size if row.suits]
    return max(
        suiting, key=lambda row: (row.entry.parameters, row.entry.pinned), default=rows_by_size[0]
    )


def this_machine(cores: int) -> Machine:
    return Machine(_memory(), cores)


def _memory() -> int:
    """Bytes of this machine's memory; 0 where the system does not tell."""
    if sys.platform == "win32":
        return _of_windows()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0


def _of_windows() -> int:
    """`GlobalMemoryStatusEx`: two numbers of 32 bits, then seven of 64, the first the total."""
    import ctypes

    status = (ctypes.c_uint64 * 8)()
    status[0] = ctypes.sizeof(status)  # the structure's length, in its first 32 bits
    kernel = getattr(ctypes, "windll", None)
    if kernel is None or not kernel.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return 0
    return int(status[1])
