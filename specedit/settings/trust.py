"""Which repositories' words count: those that the user has trusted, as they were then.

What is trusted is a `[tool.specedit]` table (its digest) at a real path; when either is another,
nothing is trusted. Kept in `trusted.json` of the user's folder, which counts only when it is the
user's own and nobody else can write to it. Knows paths and digests; knows no setting.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specedit.files import regular
from specedit.settings.folder import config_folder, put

TRUSTED, DECLINED, CHANGED, UNKNOWN = "trusted", "declined", "changed", "unknown"


@dataclass(frozen=True)
class Word:
    """What the user said of one repository's table."""

    digest: str
    trusted: bool


def record_file() -> Path:
    return config_folder() / "trusted.json"


def digest(table: Mapping[str, Any]) -> str:
    """The same for the same table, however it is laid out. Values that are not JSON's carry their
    type, so that a date is never a string."""
    text = json.dumps(table, sort_keys=True, default=lambda v: [type(v).__name__, str(v)])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def place(folder: Path) -> str:
    """What a repository is known by: its real path."""
    return os.path.realpath(folder)


def words() -> dict[str, Word]:
    """Everything that was said, by real path; nothing when the file is damaged or not the
    user's alone."""
    try:
        with regular.reading(record_file()) as file:
            if not _ours(os.fstat(file.fileno())):
                return {}
            data = json.load(file)
        found = {str(at): Word(str(w["digest"]), w["trusted"] is True) for at, w in data.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return found


def state(folder: Path, wanted: str) -> str:
    """Whether the table with this digest is trusted at `folder`."""
    word = words().get(place(folder))
    if word is None:
        return UNKNOWN
    if word.digest != wanted:
        return CHANGED if word.trusted else UNKNOWN
    return TRUSTED if word.trusted else DECLINED


def say(folder: Path, wanted: str, *, trusted: bool) -> None:
    """Remember what the user says of this table at this place."""
    _write({**words(), place(folder): Word(wanted, trusted)})


def forget(folder: Path) -> bool:
    """Whether anything was known of it. A folder that is gone is known by the path it had."""
    known = words()
    gone = {place(folder), str(folder.absolute())} & known.keys()
    if gone:
        _write({at: word for at, word in known.items() if at not in gone})
    return bool(gone)


def _write(known: Mapping[str, Word]) -> None:
    put(record_file(), json.dumps({at: asdict(w) for at, w in known.items()}, indent=1) + "\n")


def _ours(info: os.stat_result) -> bool:
    if not hasattr(os, "getuid"):
        return True
    return info.st_uid in (os.getuid(), 0) and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
