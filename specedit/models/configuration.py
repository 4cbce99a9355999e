"""What a model's files say about it: JSON of a folder, numbers with a type and a limit.

A file may hold anything; what is not of the kind that belongs there is a `ModelError` that names
the file and the key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specedit.errors import ModelError
from specedit.files import regular

LEAST = 1e-12  # of a real number; the largest is as far from 1
MOST_BYTES = 64 << 20  # of a JSON file; the largest vocabularies take 35 MB


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file; empty when there is no such file."""
    if not path.is_file():
        return {}
    result = parse_json(path, read_text(path))
    if not isinstance(result, dict):
        raise ModelError(f"{path} cannot be read: it holds no JSON object")
    return result


def read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ModelError(f"{path} cannot be read: it is no UTF-8 text") from problem


def read_bytes(path: Path) -> bytes:
    """All of a file that is neither weights nor endless."""
    try:
        if not path.is_file():
            raise ModelError(f"{path} cannot be read: it is no file")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise ModelError(f"{path} cannot be read: {size:,} bytes are too many for its kind")
        return regular.read(path)
    except OSError as problem:
        raise ModelError(f"{path} cannot be read: {problem.strerror or problem}") from problem


def parse_json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ModelError(f"{path} cannot be read: it is nested too deeply") from None
    except ValueError as problem:
        raise ModelError(f"{path} cannot be read: {problem}") from problem


@dataclass(frozen=True)
class Fields:
    """Keys of one file, asked for by type. `prefix` stands before every key."""

    path: Path
    known: Mapping[str, Any]
    prefix: str = ""

    def has(self, key: str) -> bool:
        return self.known.get(self.prefix + key) is not None

    def whole(self, key: str, default: int | None = None, *, most: int = 1 << 24) -> int:
        """A whole number from 1 to `most`."""
        result = self._given(key, default)
        if isinstance(result, bool) or not isinstance(result, int) or not 1 <= result <= most:
            raise self.wrong(key, f"a whole number from 1 to {most:,}")
        return result

    def real(self, key: str, default: float | None = None) -> float:
        """A number above 0, neither tiny nor huge."""
        result = self._given(key, default)
        fits = isinstance(result, int | float) and not isinstance(result, bool)
        if not fits or not LEAST <= result <= 1 / LEAST:
            raise self.wrong(key, "a number above 0")
        return float(result)

    def text(self, key: str, default: str | None = None) -> str:
        result = self._given(key, default)
        if not isinstance(result, str):
            raise self.wrong(key, "a text")
        return result

    def truth(self, key: str, default: bool) -> bool:
        result = self._given(key, default)
        if not isinstance(result, bool):
            raise self.wrong(key, "true or false")
        return result

    def texts(self, key: str) -> list[str]:
        """A list of texts; empty when there is none."""
        result = self._given(key, ())
        if not isinstance(result, list | tuple) or not all(isinstance(one, str) for one in result):
            raise self.wrong(key, "a list of texts")
        return list(result)

    def inside(self, key: str) -> Fields | None:
        """The object of that key, if there is one."""
        if not self.has(key):
            return None
        result = self.known[self.prefix + key]
        if not isinstance(result, dict):
            raise self.wrong(key, "an object")
        return Fields(self.path, result)

    def wrong(self, key: str, wanted: str) -> ModelError:
        result = repr(self.known.get(self.prefix + key))
        shown = result if len(result) <= 60 else result[:57] + "..."
        return ModelError(
            f"{self.path}: {self.prefix}{key} is {shown} where {wanted} belongs",
            hint="The file is damaged or of another kind: fetch the model again, or name another.",
        )

    def _given(self, key: str, default: Any) -> Any:
        result = self.known.get(self.prefix + key)
        if result is None and default is None:
            raise ModelError(f"{self.path} lacks {self.prefix}{key}.")
        return default if result is None else result
