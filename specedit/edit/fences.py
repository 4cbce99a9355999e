"""Which fence line ends an answer, and which belong to code blocks that the answer holds.

In code the first line that is the closing fence ends it. In prose (`nested`) an answer may hold
blocks of its own, and a bare fence may open one as well as end everything; what follows decides.
Small models also close a long fence with three backticks.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"(?P<run>`{3,})(?P<info>[^`]*)")


def bare(line: str) -> bool:
    """Whether a line is a fence and nothing else, from its first column on."""
    match = _FENCE.fullmatch(line)
    return match is not None and not match["info"].strip()


class Fences:
    """Reads an answer line by line. `closing` "": nothing but the end ends it."""

    def __init__(self, closing: str, nested: bool = False) -> None:
        self._closing = closing
        self._nested = nested
        self._inside = 0  # the length of the fence that opened a block of the answer's own
        self.doubt: int | None = None  # where a bare fence stands that opened one, or ended all

    def line(self, line: str, at: int) -> int | None:
        """A whole line, which begins at `at`: where the answer ended, if it has."""
        if not self._closing:
            return None
        ends = line.rstrip() == self._closing
        if not self._nested or (ends and len(self._closing) > 3):
            return at if ends else None
        match = _FENCE.fullmatch(line.strip())
        if match is None:
            return None
        run, text = len(match["run"]), bool(match["info"].strip())
        if not self._inside:
            self._inside = run
            self.doubt = at if bare(line) else None
        elif text:
            return self.doubt  # no block opens inside a block: the bare fence ended the answer
        elif run >= self._inside:
            self._inside, self.doubt = 0, None
        return None

    def end(self, line: str, at: int) -> int | None:
        """The answer is over, in mid-line or behind a last whole line: where its text ended."""
        if not self._closing:
            return None
        if self._inside:
            return None if bare(line.strip()) else self.doubt
        return at if bare(line) else None
