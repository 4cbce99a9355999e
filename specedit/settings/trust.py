"""Which repositories the user trusts.

The user trusts one `[tool.specedit]` table (its digest) at one real path; if either changes, the
repository is not trusted. The decisions are in `trusted.json` in the user's folder. The file counts
only if it belongs to the user and no other user can write to it.
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
class Decision:
    """The user's decision about one repository's table."""

    digest: str
    trusted: bool


def record_file() -> Path:
    return config_folder() / "trusted.json"


def digest(table: Mapping[str, Any]) -> str:
    """Equal for equal tables, however they are laid out. Values that are not JSON values carry
    their type, so a date never equals a string."""
    text = json.dumps(table, sort_keys=True, default=lambda v: [type(v).__name__, str(v)])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def key(folder: Path) -> str:
    """The key of a repository: its real path."""
    return os.path.realpath(folder)


def decisions() -> dict[str, Decision]:
    """All decisions by key; none if the file is damaged or another user can write to it."""
    try:
        with regular.reading(record_file()) as file:
            if not _ours(os.fstat(file.fileno())):
                return {}
            data = json.load(file)
        return {
            str(key): Decision(str(one["digest"]), one["trusted"] is True)
            for key, one in data.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def state(folder: Path, wanted: str) -> str:
    """Whether the table with this digest is trusted at `folder`."""
    decision = decisions().get(key(folder))
    if decision is None:
        return UNKNOWN
    if decision.digest != wanted:
        return CHANGED if decision.trusted else UNKNOWN
    return TRUSTED if decision.trusted else DECLINED


def decide(folder: Path, wanted: str, *, trusted: bool) -> None:
    """Record the user's decision about the table with this digest at `folder`."""
    _write({**decisions(), key(folder): Decision(wanted, trusted)})


def forget(folder: Path) -> bool:
    """Delete the decision; returns whether there was one. `folder` may be deleted already."""
    known = decisions()
    gone = {key(folder), str(folder.absolute())} & known.keys()
    if gone:
        _write({at: decision for at, decision in known.items() if at not in gone})
    return bool(gone)


def _write(known: Mapping[str, Decision]) -> None:
    put(record_file(), json.dumps({at: asdict(w) for at, w in known.items()}, indent=1) + "\n")


def _ours(info: os.stat_result) -> bool:
    if not hasattr(os, "getuid"):
        return True
    return info.st_uid in (os.getuid(), 0) and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
