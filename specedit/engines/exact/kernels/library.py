"""The shared library of kernels: found, loaded, and the variant that this processor runs chosen."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specedit.engines.exact.kernels import calls


@dataclass(frozen=True)
class Library:
    """The loaded library, and which of its variants serves."""

    lib: ctypes.CDLL
    variant: int
    name: str


@cache
def _load(path: str, wanted: str) -> Library | str:
    if wanted == "torch":
        return "SPECEDIT_KERNEL=torch"
    try:
        lib = calls.bind(ctypes.CDLL(path))
    except (OSError, AttributeError) as error:
        return f"the kernels cannot be loaded ({error})"
    index = 0
    while name := lib.specedit_variant(index):
        if name.decode() == wanted or (not wanted and lib.specedit_can(index)):
            return Library(lib, index, name.decode())
        index += 1
    return f"there are no kernels {wanted}"


def load() -> Library | str:
    """The library, or in words why there is none."""
    default = Path(__file__).parent / "kernels.so"
    path = os.environ.get("SPECEDIT_LIBRARY", str(default))
    return _load(path, os.environ.get("SPECEDIT_KERNEL", ""))
