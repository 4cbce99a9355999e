"""Digests that nobody published: the first download's is kept, and every later one must be it.

    HOME/pins/NAME      the digest of what was fetched first under that name of the catalogue

Removing a model leaves its pin: what is fetched again is what was fetched before, or it is refused.
Knows the store's folder; fetches nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from specedit.files import atomic, regular
from specedit.models.catalogue import Listed
from specedit.models.store import Slot

_DIGEST = re.compile(r"[0-9a-f]{64}")


def slot_of(entry: Listed, root: Path) -> Slot:
    """Where a model of the catalogue lies."""
    return Slot(root, entry.file or entry.hub.replace("/", "--"))


def digest_of(entry: Listed, root: Path) -> str:
    """What a model's bytes must have: the catalogue's digest, or the first download's; "" where
    none is known yet."""
    if entry.pinned:
        return entry.sha256
    try:
        said = regular.read(_place(entry, root)).decode().strip()
    except (OSError, ValueError):
        return ""
    return said if _DIGEST.fullmatch(said) else ""


def hold(entry: Listed, root: Path, sha256: str) -> None:
    """Keep the digest of a first download."""
    if not entry.pinned and not digest_of(entry, root):
        atomic.whole(_place(entry, root), f"{sha256}\n".encode())


def _place(entry: Listed, root: Path) -> Path:
    return root / "pins" / entry.name
