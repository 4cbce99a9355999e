"""The files of this folder: C sources, the library made from them, or the reason why there is none.

Imports nothing of the package, for the build runs this file before the package is installed.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

SUFFIXES = {"win32": ".dll", "darwin": ".dylib"}
NOT_BUILT = "not-built.txt"  # next to the sources: why the build left no library


def library_name(suffix: str = SUFFIXES.get(sys.platform, ".so")) -> str:
    return f"kernels{suffix}"


def version(folder: Path) -> str:
    """The version of a library that is made from the sources in `folder`: their digest."""
    digest = hashlib.sha256()
    for path in sorted((*folder.glob("*.c"), *folder.glob("*.h")), key=lambda path: path.name):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
