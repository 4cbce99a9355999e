"""What this machine has: processor, cores, and what torch could do, without importing torch (1 s).

torch and transformers are the extra `specedit[torch]`. A yes to a GPU is a maybe; a no is a no.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from specedit.errors import UsageError

# of Nvidia, of Windows' Linux, of AMD
DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/kfd")
BUILT_FOR = re.compile(r"^(cuda|hip)\b[^=]*=\s*['\"]", re.MULTILINE)


def require_torch(what: str, because: str = "") -> None:
    """An error that names the extra where `what` cannot run without it; `because`: why it runs."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        reason = f"{because}; " if because else ""
        raise UsageError(
            f"{reason}{what} needs {' and '.join(missing)}, which this installation lacks.",
            hint="pip install 'specedit[torch]'",
        )


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


SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


def logical_cores() -> int:
    """Processors that this process may run on, a core's second thread included."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def physical_cores() -> int:
    """The number of cores; a second thread of one core adds nothing to products."""
    logical = logical_cores()
    physical = {"linux": _of_linux, "darwin": _of_mac}.get(sys.platform, int)()
    return max(1, min(physical or logical, logical))


def processor_name() -> str:
    """The processor's name, or its architecture where the system does not name it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            named = (line for line in lines if line.startswith("model name"))
            return next(named).partition(":")[2].strip()
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


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
