"""Reads JSON that this package wrote itself: caches and records of the store.

A file that cannot be read, or whose values do not have the declared types, counts as absent: what
it held is measured or computed again. `-v` shows a note about it, through the logger `specedit`.

The newest refused answers lie in the store too, for some days, for the user to look at.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from dataclasses import is_dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from specedit.files import regular

REFUSED_FOLDER = "answers"
MAX_REFUSED = 20
REFUSED_DAYS = 7
MAX_NAME = 60  # characters of a file's name


def keep_refused(store: Path, name: str, before: bytes, data: bytes) -> str:
    """Write an answer that is refused for a file that holds `before`; its path, or ""."""
    ending = (Path(name).name or "answer")[-MAX_NAME:]
    path = store / REFUSED_FOLDER / f"{time.time_ns()}-{_mark(before)}-{ending}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | regular.NO_LINK
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(regular.opened(path, flags, 0o600), "wb") as file:
            file.write(data)
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        return ""
    clear_refused(store)
    return os.fspath(path)


def _mark(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def is_refused(store: Path, path: Path) -> bool:
    """Whether a file is an answer that was kept."""
    with contextlib.suppress(OSError):
        return path.resolve().parent == (store / REFUSED_FOLDER).resolve()
    return False


def is_of(path: Path, data: bytes) -> bool:
    """Whether an answer that was kept is one for a file that holds `data`."""
    return path.resolve().name.split("-")[1:2] == [_mark(data)]


def clear_refused(store: Path) -> None:
    """Remove the answers that are old, and all but the newest."""
    with contextlib.suppress(OSError):
        written = {path: path.lstat().st_mtime for path in (store / REFUSED_FOLDER).iterdir()}
        newest = sorted(written, key=lambda path: (written[path], path.name), reverse=True)
        for number, path in enumerate(newest):
            if number >= MAX_REFUSED or written[path] < time.time() - REFUSED_DAYS * 24 * 3600:
                path.unlink(missing_ok=True)


T = TypeVar("T")
LARGEST_FILE = 4 << 20  # bytes of one cache
# Of a whole number: what does not fit 64 bits was not written by this package
MAX_WHOLE_NUMBER = 1 << 63


class WrongShapeError(ValueError):
    """A value that does not have the declared type."""


def read(path: Path, hint: type[T]) -> T | None:
    """The value in the file, of the type `hint`; None where the file is missing or unreadable."""
    try:
        return typed(hint, parsed(regular.read(path, LARGEST_FILE)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        note_unreadable(path, error)
        return None


def parsed(text: str | bytes) -> Any:
    """JSON's value; a ValueError also where it is nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def note_unreadable(path: Path, why: object) -> None:
    """Tell the user of `-v` that a file of the store was not used."""
    import logging

    reason = getattr(why, "strerror", None) or why
    logging.getLogger("specedit").info("%s cannot be read and is made again: %s", path, reason)


def typed(hint: type[T], value: Any) -> T:
    """The value as the type `hint` wants it: lists as tuples, objects as dataclasses.

    Types are str, int, float, bool, dataclasses of such, `tuple[X, ...]`, `tuple[X, Y]`,
    `dict[str, X]` and `X | None`. Anything else, NaN included, is a `WrongShapeError`."""
    return cast(T, _typed(hint, value))


def _typed(hint: Any, value: Any) -> Any:
    if isinstance(hint, UnionType):  # always `some type | None`
        return None if value is None else _typed(get_args(hint)[0], value)
    if is_dataclass(hint):
        return _instance(hint, value)
    of = get_origin(hint)
    if of is tuple and isinstance(value, list | tuple):
        kinds = get_args(hint)
        if kinds[-1] is Ellipsis:
            kinds = kinds[:1] * len(value)
        if len(kinds) == len(value):
            return tuple(map(_typed, kinds, value))
    if of is dict and isinstance(value, dict):
        return {str(key): _typed(get_args(hint)[1], element) for key, element in value.items()}
    if hint is float and type(value) is int and abs(value) < MAX_WHOLE_NUMBER:
        return float(value)
    fits = type(value) is hint
    if not fits or (hint is float and not isfinite(value)):
        raise WrongShapeError(
            f"{type(value).__name__} where {getattr(hint, '__name__', hint)} is expected"
        )
    if hint is int and abs(value) > MAX_WHOLE_NUMBER:
        raise WrongShapeError("a number of more than 64 bits")
    return value


def _instance(kind: Any, value: Any) -> Any:
    hints = _hints(kind)
    if not isinstance(value, dict) or not value.keys() <= hints.keys():
        raise WrongShapeError(
            f"{type(value).__name__} where {getattr(kind, '__name__', kind)} is expected"
        )
    fields = {name: _typed(hints[name], element) for name, element in value.items()}
    try:
        return kind(**fields)
    except TypeError:
        raise WrongShapeError(f"a field of {getattr(kind, '__name__', kind)} is missing") from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
