"""Whether another model has room in this machine's memory.

Knows the systems' words for free memory and the size of a model's files. Does not know servers.
A figure is a guess on the safe side; where the system tells nothing, there is no room.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from specedit.settings import Settings

WORKING = 512 << 20  # what a process has beside its weights and caches
EXACT, PLAIN = 2.0, 4.0  # a model in memory, as times its four-bit file: eight bits, and sixteen
_CGROUP = Path("/sys/fs/cgroup")


def needed(settings: Settings) -> int:
    """Bytes that a server with these settings may come to hold."""
    names = filter(None, (settings.model, settings.draft_model))
    return sum(weights(name, settings.engine) for name in names) + settings.cache_bytes + WORKING


def weights(model: str, engine: str) -> int:
    """Bytes of a model in memory; 0 for one that is not here, which nothing says the size of."""
    if engine == "scripted":
        return 0
    from specedit.errors import ModelError
    from specedit.models.resolve import local
    from specedit.models.store import size_of

    try:
        files = local(model)
    except ModelError:
        return 0
    if files is None:
        return 0
    if files.kind == "folder":
        return size_of(files.path)
    return int(size_of(files.path) * (PLAIN if engine == "huggingface" else EXACT))


def free() -> int:
    """Bytes that a new process may take without another one being pushed out."""
    found = _of_system()
    limit = _of_group()
    return found if limit is None else min(found, limit)


def _of_system() -> int:
    with suppress(OSError, ValueError, subprocess.SubprocessError, AttributeError):
        if sys.platform == "win32":
            return _windows()
        if sys.platform == "darwin":
            return _macos(subprocess.check_output(["/usr/bin/vm_stat"], text=True, timeout=5))
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        if found := re.search(r"^MemAvailable:\s*(\d+) kB", text, re.MULTILINE):
            return int(found[1]) << 10
    return 0


def _macos(said: str) -> int:
    """Of `vm_stat`: the pages that nobody holds, and those that can be had back at once."""
    size = re.search(r"page size of (\d+) bytes", said)
    pages = re.findall(r"^Pages (?:free|inactive|speculative|purgeable):\s*(\d+)", said, re.M)
    return sum(map(int, pages)) * int(size[1] if size else os.sysconf("SC_PAGE_SIZE"))


def _windows() -> int:
    import ctypes

    names = ("total", "free", "page", "page_free", "room", "room_free", "extended")

    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in names),
        )

    status = Status()
    status.length = ctypes.sizeof(status)
    windll = getattr(ctypes, "windll")  # noqa: B009  (other systems' ctypes has none)
    windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.free)


def _of_group() -> int | None:
    """What a container leaves; None where it has no bound."""
    try:
        most = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        held = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        stat = (_CGROUP / "memory.stat").read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    idle = re.search(r"^inactive_file (\d+)", stat, re.MULTILINE)  # can be had back at once
    return max(0, most - held + (int(idle[1]) if idle else 0))
