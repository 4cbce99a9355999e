"""KV caches of the constant text that prompts begin with, in the store.

A system message of this package is the same in every run, and reading it takes as long as a short
file. Its keys and values are kept, bit for bit as a pass computes them, for one file of weights and
one version and variant of the kernels. The files hold nothing of a user's text.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.files import atomic, regular, stored

if TYPE_CHECKING:
    from specedit.engines.exact.kernels.passes import KernelCache, KernelPasses

LEAST = 16  # ids that are worth a file
MOST_BYTES = 20_000_000  # of all files together
DIGEST = hashlib.sha256().digest_size


class FixedPrefixes:
    """The kept prefixes of one model."""

    def __init__(self, folder: Path, passes: KernelPasses) -> None:
        self._folder = folder
        self._passes = passes

    def read(self, ids: Sequence[int], cache: KernelCache) -> None:
        """Feed these ids to an empty cache, or fill it as a run before did."""
        if len(ids) < LEAST:
            return
        path = self._path(ids)
        try:
            data = bytearray(regular.read(path, MOST_BYTES))
            digest, rows = data[:DIGEST], data[DIGEST:]
            if hashlib.sha256(rows).digest() != digest:
                raise ValueError("it is not what was written")
            cache.fill(ids, rows)
            return
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            stored.note_unreadable(path, error)
        self._passes.read(ids, cache)
        rows = cache.rows()
        with suppress(OSError):  # a store that cannot be written: every run computes
            self._make_space(DIGEST + len(rows))
            atomic.whole(path, hashlib.sha256(rows).digest() + rows)

    def _path(self, ids: Sequence[int]) -> Path:
        """Its name holds the digest of the model's file, so that `model remove` deletes it."""
        name = hashlib.sha256(
            self._passes.identity.encode() + array("i", ids).tobytes()
        ).hexdigest()
        return self._folder / f"prefix-{self._passes.digest[:16]}-{name[:16]}.kv"

    def _make_space(self, needed: int) -> None:
        """Delete the oldest files that leave too little space for one more."""
        files = [(path.stat(), path) for path in self._folder.glob("prefix-*.kv")]
        files.sort(key=lambda one: one[0].st_mtime)
        size = needed + sum(one.st_size for one, _ in files)
        if needed > MOST_BYTES:
            raise OSError("it is too large to be kept")
        for one, path in files:
            if size > MOST_BYTES:
                path.unlink(missing_ok=True)
                size -= one.st_size
