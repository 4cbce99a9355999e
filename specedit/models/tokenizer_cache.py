"""The tokenizer metadata of a GGUF file, cached in a form that loads in a sixth of the time.

Reading 300,000 strings of a GGUF header takes longer than the forward passes of a short edit. The
cache has a line of JSON with the single values and one with the long lists, each with a checksum.
A damaged cache is written again.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from pathlib import Path
from typing import Any

from specedit.files import atomic, regular, stored
from specedit.models.store import ModelFiles, store_path

PREFIX = "tokenizer."
VERSION = 2


def tokenizer_metadata(files: ModelFiles, *, lists: bool = True) -> dict[str, Any]:
    """The `tokenizer.` values of a GGUF file; without `lists` only the single values."""
    if not files.sha256:  # without a digest a changed file would not be noticed
        return _read(files.path, lists)
    place = _cache_file(files)
    values = _cached(place, lists)
    if values is None:
        whole = _read(files.path, True)
        short = {key: value for key, value in whole.items() if not isinstance(value, list)}
        long = {key: value for key, value in whole.items() if isinstance(value, list)}
        with contextlib.suppress(OSError):  # the next run reads the header again
            atomic.whole(place, _line(short) + _line(long))
        values = whole if lists else short
    return values


def _read(path: Path, lists: bool) -> dict[str, Any]:
    from specedit.models.gguf import open_gguf

    metadata = open_gguf(path, arrays=lists).metadata
    return {key: value for key, value in metadata.items() if key.startswith(PREFIX)}


def _cache_file(files: ModelFiles) -> Path:
    """The cache file. Its name holds the model's digest, so `model remove` deletes it."""
    name = f"{files.path.stem}-{files.sha256[:16]}-v{VERSION}.tokenizer"
    return store_path() / "converted" / name


def _line(values: dict[str, Any]) -> bytes:
    text = json.dumps(values).encode("ascii")
    return f"{zlib.crc32(text):08x} ".encode("ascii") + text + b"\n"


def _cached(place: Path, lists: bool) -> dict[str, Any] | None:
    try:
        with os.fdopen(regular.opened(place), "rb") as file:
            values = _values(file.readline())
            if lists:
                values |= _values(file.readline())
            return values
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        stored.note_unreadable(place, error)
        return None


def _values(line: bytes) -> dict[str, Any]:
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if checksum != f"{zlib.crc32(text):08x}".encode("ascii"):
        raise ValueError("a line is not what was written")
    values: dict[str, Any] = stored.parsed(text)
    return values
