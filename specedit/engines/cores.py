"""The default number of threads: one for each performance core of one NUMA node, of those that
this process may use. `--threads` overrides it, and no bit depends on it. Also what torch could do,
without importing it (1 s): a yes to a GPU is a maybe; a no is a no.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import struct
import sys
from collections.abc import Hashable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from specedit.errors import UsageError

# of Nvidia, of Windows' Linux, of AMD
DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")
BUILT_FOR = re.compile(r"^(cuda|hip)\b[^=]*=\s*['\"]", re.MULTILINE)


def require_torch(what: str, because: str = "") -> None:
    """An error that names the extra where `what` cannot run without it; `because`: why it runs."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        reason = f"{because}; " if because else ""
        message = f"{reason}{what} needs {' and '.join(missing)}, which this installation lacks."
        raise UsageError(message, hint="pip install 'specedit[torch]'")


def may_have_gpu() -> bool:
    """False where there is no torch, or no GPU for it."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "linux" and not any(Path(driver).exists() for driver in DRIVERS):
        return False
    try:
        version = Path(spec.origin).with_name("version.py").read_text("utf-8")
    except OSError:
        return True
    return BUILT_FOR.search(version) is not None


def processor_name() -> str:
    """The processor's name, or its architecture where the system does not name it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            named = (line for line in lines if line.startswith("model name"))
            return next(named).partition(":")[2].strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


SYSFS = Path("/sys")
# An efficiency core is slower than this part of the fastest core: ARM's have 0.37 to 0.53, and
# those of Apple's M2 0.56.
SLOW = 0.6
CPU_SET = struct.Struct("<I8xHxBxBB")  # length, group, core, node, efficiency class


class Threads(NamedTuple):
    """The default number of threads, and what it leaves out."""

    number: int
    left_out: tuple[str, ...]


class Processor(NamedTuple):
    """A logical processor. Those of one `core` share its arithmetic units."""

    core: Hashable
    node: Hashable
    speed: float  # compared with the others


def logical_cores() -> int:
    """Processors that this process may run on, a core's second thread included."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def thread_count(wanted: int) -> int:
    """The number of threads of a setting; 0: the default."""
    return min(wanted, logical_cores()) or default_threads().number


def default_threads(sysfs: Path = SYSFS) -> Threads:
    """A slow core delays each step, a core's second thread adds nothing to products, and a second
    node reads the weights from the first one's memory."""
    try:
        processors = list(_processors(sysfs))
    except (OSError, ValueError, AttributeError):  # the system does not tell
        processors = []
    fastest = max((processor.speed for processor in processors), default=0)
    fast = [processor for processor in processors if processor.speed >= SLOW * fastest]
    nodes: dict[Hashable, set[Hashable]] = {}
    for processor in fast:
        nodes.setdefault(processor.node, set()).add(processor.core)
    cores = sum(map(len, nodes.values()))
    count = max(map(len, nodes.values()), default=logical_cores())
    limit = _container_limit(sysfs) or count
    reasons = {
        "efficiency cores": len(fast) < len(processors),
        "second threads of cores": cores < len(fast),
        "other NUMA nodes": len(nodes) > 1,
        "cores beyond the container's CPU limit": limit < count,
    }
    return Threads(min(count, limit), tuple(what for what, true in reasons.items() if true))


def _processors(sysfs: Path) -> Iterator[Processor]:
    if sys.platform == "linux":
        return _of_linux(sysfs)
    return _of_mac() if sys.platform == "darwin" else _cpu_sets(_windows_records())


def _of_linux(sysfs: Path) -> Iterator[Processor]:
    """Intel lists the performance cores; ARM gives each core a capacity."""
    devices = sysfs / "devices"
    performance = _numbers(devices / "cpu_core/cpus")
    nodes = {
        number: at
        for at, folder in enumerate(devices.glob("system/node/node[0-9]*"))
        for number in _numbers(folder / "cpulist")
    }
    for number in os.sched_getaffinity(0):
        cpu = devices / f"system/cpu/cpu{number}"
        core = _text(cpu / "topology/thread_siblings_list") or number
        speed = number in performance if performance else float(_text(cpu / "cpu_capacity") or 1)
        yield Processor(core, nodes.get(number, 0), speed)


def _of_mac() -> Iterator[Processor]:
    library = ctypes.CDLL(None)

    def number(name: bytes) -> int:
        value, size = ctypes.c_int(0), ctypes.c_size_t(4)
        failed = library.sysctlbyname(name, ctypes.byref(value), ctypes.byref(size), None, 0)
        return 0 if failed else value.value

    cores = number(b"hw.physicalcpu")
    fast = number(b"hw.perflevel0.physicalcpu") or cores
    for at in range(cores):
        yield Processor(at, 0, at < fast)


def _cpu_sets(records: bytes) -> Iterator[Processor]:
    """Windows' SYSTEM_CPU_SET_INFORMATION, one for each logical processor."""
    at = 0
    while at + CPU_SET.size <= len(records):
        size, group, core, node, speed = CPU_SET.unpack_from(records, at)
        yield Processor((group, core), (group, node), speed)
        at += size or len(records)


def _windows_records() -> bytes:
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 - typeshed has it on Windows only
    size, here = ctypes.c_ulong(0), ctypes.c_void_p(-1)
    kernel.GetSystemCpuSetInformation(None, 0, ctypes.byref(size), here, 0)
    records = ctypes.create_string_buffer(size.value)
    done = kernel.GetSystemCpuSetInformation(records, size, ctypes.byref(size), here, 0)
    return records.raw if done else b""


def _container_limit(sysfs: Path) -> int:
    """The time that a control group may use (version 2, or 1), in whole processors; 0: no limit."""
    group = sysfs / "fs/cgroup"
    old = (_text(group / f"cpu/cpu.cfs_{name}_us") for name in ("quota", "period"))
    quota, _, period = (_text(group / "cpu.max") or " ".join(old)).partition(" ")
    limited = quota.isdigit() and period.isdigit()  # otherwise `max`, -1 or nothing
    return max(1, int(quota) // int(period)) if limited else 0


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except OSError:
        return ""


def _numbers(path: Path) -> set[int]:
    """A list of the system, such as `0-3,8`."""
    spans = [part.split("-") for part in _text(path).split(",") if part]
    return {number for span in spans for number in range(int(span[0]), int(span[-1]) + 1)}
