"""How far a run is: over its files, and in the change that an answer makes so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from specedit.edit.backend import Written
from specedit.syntax.diff import Hunk, hunks
from specedit.syntax.lines import opcodes
from specedit.view import diff_view
from specedit.view import provenance as prov

SURE = 2.0  # seconds of work before the time left is shown
LARGEST = 200_000  # characters beyond which comparing again and again would slow the model
AHEAD = 200  # lines that an answer may have left out


class FilesProgress:
    """Counts files as they begin and end, by their sizes, and what was decoded."""

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
        self._before = 0  # done before a model was asked, in no time
        self.finished = 0
        self.files = len(sizes)

    def begin(self) -> None:
        """A model is asked about a file: time is measured from the first one."""
        if self._since is None:
            self._since, self._before = self._clock(), self._done

    def decoded(self, tokens: int, seconds: float) -> None:
        self._tokens += tokens
        self._decoding += seconds

    def finish(self, name: str) -> None:
        self.finished += 1
        self._done += self._sizes.get(name, 0)

    def share(self, of_this: float = 0.0, name: str = "") -> float:
        """The share of all text that is done; `of_this` is that of the file at work."""
        if not self._total:
            return self.finished / max(1, self.files)
        return min(1.0, (self._done + of_this * self._sizes.get(name, 0)) / self._total)

    @property
    def pace(self) -> float:
        """Tokens per second over all files; 0: unknown."""
        return self._tokens / self._decoding if self._decoding else 0.0

    def left(self, of_this: float = 0.0, name: str = "") -> float | None:
        """Seconds that the rest takes at the rate so far; None: unknown."""
        if self._since is None:
            return None
        spent = self._clock() - self._since
        done = self._done + of_this * self._sizes.get(name, 0)
        if spent < SURE or done <= self._before:
            return None
        return max(0.0, spent * (self._total - done) / (done - self._before))


def sizes(names: Sequence[str]) -> dict[str, int]:
    """The bytes of each file; 0 for a file that cannot be read."""
    results = {}
    for name in names:
        try:
            results[name] = Path(name).stat().st_size
        except OSError:
            results[name] = 0
    return results


class ChangeSoFar:
    """Collects an answer and renders the last hunks of its change, rarely where that is slow."""

    def __init__(
        self, console: Console, path: str, before: str, numbers: Sequence[int] = ()
    ) -> None:
        self._numbers = numbers  # the line of the file of each line of `before`; none: the same
        self._console = console
        self._path = path
        self._before = before
        self._written: list[Written] = []
        self._length = 0
        self._rendered: list[Text] = []
        self._of: tuple[int, int] = (0, 0)  # events and height that were rendered
        self._next = 0.0

    def restart(self) -> None:
        """The answer starts over."""
        self._written, self._length = [], 0
        self._rendered, self._next = [], 0.0

    def add(self, event: Written) -> None:
        self._written.append(event)
        self._length += len(event.text)

    @property
    def share(self) -> float:
        """The share of the answer that is written, if it gets as long as the old text."""
        return min(1.0, self._length / len(self._before))

    def rows(self, height: int) -> list[Text]:
        """The last `height` rows of the change so far."""
        state = (len(self._written), height)
        started = time.monotonic()
        if state != self._of and started >= self._next and len(self._before) <= LARGEST:
            self._of = state
            self._rendered = self._render(height)
            ended = time.monotonic()
            self._next = ended + max(0.1, 15 * (ended - started))
        return self._rendered

    def _render(self, height: int) -> list[Text]:
        provenance = prov.of(self._written)
        answer = provenance.text[: provenance.text.rfind("\n") + 1]
        changed = so_far(self._before, answer)
        if not changed or height < 2:
            return []
        texts = (self._before, answer)
        frame = diff_view.Frame(self._console, self._path, texts, provenance, whole=False)
        frame.digits = max(frame.digits, *(len(str(number)) for number in self._numbers[-1:]), 0)
        rows: list[Text] = []
        for hunk in reversed(changed):
            if self._numbers:
                first = min(hunk.before[0], len(self._numbers) - 1)
                frame.shift = self._numbers[first] - first - 1
            last = replace(hunk, lines=hunk.lines[-height:])  # more would be cut off again
            rows = [*diff_view.rows(last, frame), *rows]
            if len(rows) >= height:
                break
        return rows[-height:]


def so_far(before: str, answer: str) -> list[Hunk]:
    """The hunks of an unfinished answer (whole lines of it) against as much of the old text as it
    has reached, which is a guess."""
    new = answer.split("\n")[:-1]
    old = before.removesuffix("\n").split("\n")[: len(new) + AHEAD] if before else []
    end = "\0"  # so that the answer's last lines are not matched with the file's last
    codes = opcodes(old, [*new, end])
    tag, a, _, c, d = codes[-1] if codes else ("equal", 0, 0, 0, 0)
    reached = a + (d - c - 1) if tag in ("replace", "insert") else a
    reached = min(len(old), max(reached, a))
    return hunks("".join(line + "\n" for line in old[:reached]), answer)
