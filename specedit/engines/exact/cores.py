"""The processor: its name, and how many physical cores this process may use."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from pathlib import Path

SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def logical_cores() -> int:
    """Processors that this process may run on, a core's second thread included."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def physical_cores() -> int:
    """The number of cores; a second thread of one core adds nothing to products."""
    logical = logical_cores()
    found = _of_linux() if sys.platform == "linux" else _of_mac() if _is_mac() else 0
    return max(1, min(found or logical, logical))


def processor_name() -> str:
    """The processor's name, or its architecture where the system does not name it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            named = (line for line in lines if line.startswith("model name"))
            return next(named).partition(":")[2].strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _is_mac() -> bool:
    return sys.platform == "darwin"


def _of_linux() -> int:
    """Groups of siblings among the processors that this process may run on."""
    groups = set()
    try:
        for number in os.sched_getaffinity(0):
            groups.add(Path(SIBLINGS.format(number)).read_text("ascii").strip())
    except (OSError, AttributeError):
        return 0
    return len(groups)


def _of_mac() -> int:
    """The fast cores where there are two kinds: others would delay each step."""
    try:
        library = ctypes.CDLL(None)
        for name in (b"hw.perflevel0.physicalcpu", b"hw.physicalcpu"):
            count, size = ctypes.c_int(0), ctypes.c_size_t(4)
            if not library.sysctlbyname(name, ctypes.byref(count), ctypes.byref(size), None, 0):
                return count.value
    except (OSError, AttributeError):
        pass
    return 0
