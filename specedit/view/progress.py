"""A run over many files: how far it is, how fast, and how much longer.

Files weigh what their texts weigh.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

SURE = 2.0  # seconds of work before the time left is worth saying


class Progress:
    """Fed with files that begin and end and with what was decoded."""

    def __init__(
        self, sizes: Mapping[str, int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sizes = sizes
        self._clock = clock
        self._since: float | None = None
        self._tokens = 0
        self._decoding = 0.0
        self._total = sum(sizes.values())  # bytes
        self._done = 0
        self._before = 0  # done before any model was asked, in no time
        self.finished = 0
        self.files = len(sizes)

    def begin(self) -> None:
        """The first file that asks a model: from here on time is measured."""
        if self._since is None:
            self._since, self._before = self._clock(), self._done

    def decoded(self, tokens: int, seconds: float) -> None:
        self._tokens += tokens
        self._decoding += seconds

    def finish(self, name: str) -> None:
        self.finished += 1
        self._done += self._sizes.get(name, 0)

    def share(self, of_this: float = 0.0, name: str = "") -> float:
        """How much of all the text is done; `of_this` is the share of the file at work."""
        if not self._total:
            return self.finished / max(1, self.files)
        return min(1.0, (self._done + of_this * self._sizes.get(name, 0)) / self._total)

    @property
    def pace(self) -> float:
        """Tokens a second over all files; 0 as long as nobody knows."""
        return self._tokens / self._decoding if self._decoding else 0.0

    def left(self, of_this: float = 0.0, name: str = "") -> float | None:
        """Seconds that the rest will take at the rate so far; None as long as nobody knows."""
        if self._since is None:
            return None
        spent = self._clock() - self._since
        done = self._done + of_this * self._sizes.get(name, 0)
        if spent < SURE or done <= self._before:
            return None
        return max(0.0, spent * (self._total - done) / (done - self._before))


def sizes(names: Sequence[str]) -> dict[str, int]:
    """What each file weighs; a file that cannot be asked weighs nothing."""
    results = {}
    for name in names:
        try:
            results[name] = Path(name).stat().st_size
        except OSError:
            results[name] = 0
    return results
