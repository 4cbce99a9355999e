"""What this machine and this torch can do for the exact engine."""

from __future__ import annotations

import ctypes
import platform
import sys
from pathlib import Path

import torch

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # of mallopt(3)
KEPT = 256 << 20


def reason() -> str | None:
    """Why int8 products would not be fast here; None when they are."""
    machine = platform.machine().lower()
    if machine not in ("x86_64", "amd64"):
        return f"it needs an x86 processor, and this is {machine}"
    if not hasattr(torch.ops.onednn, "qlinear_prepack"):
        return "this torch was built without oneDNN"
    if not (_torch_says("_is_vnni_supported") or _vnni_of_linux()):
        return "this processor has no VNNI (int8 products) instructions"
    return None


def bf16_products() -> bool:
    """Whether this processor's bf16 products may be exact at every width: asked before any check.

    With AMX they are not: oneDNN then cuts a row's sum by how many rows stand beside it. One
    number in 100,000 differs, which a check of a small head misses (1 pass of 152; with
    ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 none of 4,000 on the same processor).
    """
    return _torch_says("_is_avx512_bf16_supported") and not _torch_says("_is_amx_tile_supported")


def keep_memory() -> None:
    """Ask glibc to keep freed blocks: a pass frees and takes back the same 40 MB each time.

    Given back to the system, they cost 9,500 page faults in a pass of width 64.
    """
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    mallopt(MMAP_THRESHOLD, KEPT)
    mallopt(TRIM_THRESHOLD, KEPT)


def processor() -> str:
    """The processor's name, for keeping a verdict about it."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith(("model name", "flags")):
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    found = value.strip()
                else:
                    return f"{found} {torch.backends.cpu.get_cpu_capability()}"
    except (OSError, UnboundLocalError):
        pass
    return f"{platform.processor()} {torch.backends.cpu.get_cpu_capability()}"


def _torch_says(name: str) -> bool:
    check = getattr(torch.cpu, name, None)
    return bool(check and check())


def _vnni_of_linux() -> bool:
    try:
        flags = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return False
    return "avx512_vnni" in flags or "avx_vnni" in flags
