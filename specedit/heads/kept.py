"""Learning on the job: answers whose drafts were rejected are kept, for the next training.

What a model chose instead of a draft is the best example there is, and its rows were computed
anyway. Only where the user asked for it (`learn = true`), only on this machine, and only so many:
the oldest make room. Knows rows and ids as they come from passes; knows no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

MOST = 40_000  # places that are kept: 120 MB of a model 1,536 wide
LEAST = 8  # places of an answer that is worth keeping


class Keeper:
    """Watches the passes of one answer at a time; drafts nothing."""

    name = "learn"

    def __init__(self, folder: Path, heads: Sequence[str]) -> None:
        self._folder = folder
        self._heads = heads
        self.begin(())

    def begin(self, prompt: Sequence[int]) -> None:
        self._last = prompt[-1] if prompt else -1
        self._rows: list[Any] = []
        self._ids: list[int] = []
        self._rejected = 0

    def see(self, rows: Sequence[Any]) -> None:
        self._rows.extend(rows)

    def propose(self, room: int) -> None:
        return None

    def commit(self, tokens: Sequence[int]) -> None:
        self._ids.extend(tokens)

    def judged(self, source: str, proposed: int, accepted: int) -> None:
        """What became of a pass: a draft of heads that fell short is what is looked for."""
        if source in self._heads and proposed and not accepted:
            self._rejected += 1

    def settle(self) -> None:
        """The answer is over: keep it, if heads were wrong in it. Never at the answer's cost."""
        if self._rejected and len(self._ids) >= LEAST and len(self._rows) == len(self._ids):
            with suppress(OSError, MemoryError):
                self._keep()
        self.begin(())

    def _keep(self) -> None:
        import numpy as np

        from specedit.heads import rows

        states = np.stack([np.frombuffer(row, np.float32) for row in self._rows])
        number = (rows.shards(self._folder) or [-1])[-1] + 1
        ids = [self._last, *self._ids[:-1]]
        meta = np.stack([np.array(ids), np.array(self._ids), np.full(len(ids), number)])
        rows.add(self._folder, states, meta)
        _bounded(self._folder)


def _bounded(folder: Path) -> None:
    """Forget the oldest answers, where there are too many places."""
    import numpy as np

    from specedit.heads import rows

    numbers, total = rows.shards(folder), 0
    for number in reversed(numbers):
        meta = folder / f"meta-{number:05}.npy"
        try:
            total += int(np.load(meta, mmap_mode="r").shape[1])
        except (OSError, ValueError, EOFError, IndexError):  # damaged: training refuses the folder
            total = MOST + 1
        if total > MOST:
            meta.unlink(missing_ok=True)
            (folder / f"rows-{number:05}.npy").unlink(missing_ok=True)
