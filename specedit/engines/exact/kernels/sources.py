"""The C sources and the library made from them, for what runs without the package.

The build runs this file before the package is installed. The self-check of a machine runs it as a
process of its own, for a variant may crash it: `python sources.py LIBRARY [VARIANT...]` compares
the library's variants, all that this processor has except those named, with plain C. It prints each
result as a line of JSON at once, so that the last line tells where it crashed.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import sys
from pathlib import Path

SUFFIXES = {"win32": ".dll", "darwin": ".dylib"}
SEED, ROUNDS = 1, 12  # of the self-check
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


def probe(path: str, without: list[str]) -> None:
    library = ctypes.CDLL(path)
    for name in ("version", "variant", "difference"):
        getattr(library, f"specedit_{name}").restype = ctypes.c_char_p
    library.specedit_difference.argtypes = [ctypes.c_int] * 2 + [ctypes.c_uint64, ctypes.c_int]
    _say(version=library.specedit_version().decode())
    names: list[str] = []
    while result := library.specedit_variant(len(names)):
        names.append(result.decode())
    last = len(names) - 1
    for index, name in enumerate(names):
        if index == last or name in without or not library.specedit_can(index):
            continue
        _say(begins=name)
        different = library.specedit_difference(index, last, SEED, ROUNDS)
        _say(ends=name, different=different.decode() if different else "")


def _say(**what: str) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    try:
        probe(sys.argv[1], sys.argv[2:])
    except (OSError, AttributeError) as error:
        _say(fails=str(error))
