"""The tokenizer of a GGUF file in the store, in the form that `byte_pairs` uses as it is (4 MB).

Reading 300,000 strings of the header and building a vocabulary takes longer than the forward passes
of a short edit. The file has a line of JSON with the header's single values, one with what else a
tokenizer holds, and the tables; each has a checksum. A damaged file is made again.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from array import array
from pathlib import Path
from typing import Any, BinaryIO

from specedit.files import atomic, regular, stored
from specedit.models.byte_pairs import CUTS, TYPES, BytePairs
from specedit.models.store import ModelFiles, store_path
from specedit.models.tokenizer import Tokenizer

PREFIX = "tokenizer."
VERSION = 3
UNUSABLE = (OSError, ValueError, KeyError, TypeError, EOFError)


def place_of(files: ModelFiles) -> Path | None:
    """Its name holds the model's digest, so that `model remove` deletes it; None without a digest:
    a changed file would not be noticed."""
    if not files.sha256:
        return None
    name = f"{files.path.stem}-{files.sha256[:16]}-v{VERSION}.tokenizer"
    return store_path() / "converted" / name


def single_values(files: ModelFiles) -> dict[str, Any]:
    """The `tokenizer.` values of a GGUF file that are not lists."""
    place = place_of(files)
    with contextlib.suppress(*UNUSABLE):
        if place is not None:
            with regular.reading(place) as file:
                return _values(file)
    return header_values(files.path, lists=False)


def header_values(path: Path, *, lists: bool) -> dict[str, Any]:
    """The `tokenizer.` values as the GGUF file itself has them."""
    from specedit.models.gguf import open_gguf

    metadata = open_gguf(path, arrays=lists).metadata
    return {key: value for key, value in metadata.items() if key.startswith(PREFIX)}


def write(place: Path, header: dict[str, Any], tokenizer: Tokenizer, pairs: BytePairs) -> None:
    """Keep a tokenizer; if the store cannot be written, the next run reads the header again."""
    single = {key: value for key, value in header.items() if not isinstance(value, list)}
    tables = b"".join(pairs.tables[name].tobytes() for name in TYPES)
    about = {
        "specials": tokenizer.specials,
        "ends": sorted(tokenizer.ends),
        "begin": tokenizer.begin,
        "texts": tokenizer.texts,
        "style": pairs.style,
        "lengths": [len(pairs.tables[name]) for name in TYPES],
        "checksum": zlib.crc32(tables),
    }
    with contextlib.suppress(OSError):
        atomic.whole(place, _line(single) + _line(about) + tables)


def read(place: Path) -> Tokenizer | None:
    """The tokenizer that was kept; None where there is none or it is damaged."""
    try:
        with regular.reading(place) as file:
            _values(file)
            about = _values(file)
            pairs = BytePairs(about["style"], _tables(file, about["lengths"], about["checksum"]))
        if pairs.style not in CUTS:
            raise ValueError("it cuts words in an unknown way")
    except FileNotFoundError:
        return None
    except UNUSABLE as error:
        stored.note_unreadable(place, error)
        return None
    return Tokenizer(
        ids_of=pairs.encode,
        pieces=pairs.pieces,
        specials=about["specials"],
        ends=frozenset(about["ends"]),
        begin=about["begin"],
        texts=about["texts"],
    )


def _tables(file: BinaryIO, lengths: list[int], checksum: int) -> dict[str, Any]:
    data = memoryview(file.read())
    if zlib.crc32(data) != checksum:
        raise ValueError("a table is not what was written")
    tables, at = {}, 0
    for (name, kind), length in zip(TYPES.items(), lengths, strict=True):
        tables[name] = table = array(kind)
        table.frombytes(data[at : at + length * table.itemsize])
        at += length * table.itemsize
    return tables


def _line(values: dict[str, Any]) -> bytes:
    text = json.dumps(values).encode("ascii")
    return f"{zlib.crc32(text):08x} ".encode("ascii") + text + b"\n"


def _values(file: BinaryIO) -> dict[str, Any]:
    checksum, _, text = file.readline().rstrip(b"\n").partition(b" ")
    if checksum != f"{zlib.crc32(text):08x}".encode("ascii"):
        raise ValueError("a line is not what was written")
    values: dict[str, Any] = stored.parsed(text)
    return values
