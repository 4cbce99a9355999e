"""Which fence line ends an answer, and which belong to code blocks that the answer holds.

In code the first line that is the closing fence ends it. In prose (`nested`) an answer may hold
blocks of its own, and a bare fence may open one as well as end everything; what follows decides.
Small models also close a long fence with three backticks.
"""

from __future__ import annotations

import re

from specedit.errors import RefusedEdit

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


class Unfenced:
    """The text inside the block that an endpoint writes itself: our own engine has it opened.

    What comes before the opening fence is no part of the answer, nor is the closing line and what
    follows it. A plan without a closing line has no block."""

    def __init__(self, closing: str, *, nested: bool = False) -> None:
        self._closing = closing
        self._fences = Fences(closing, nested)
        self._seen = ""  # not shown yet
        self._read = 0  # of it, whole lines that were read
        self._inside = not closing
        self._mid = False  # what was shown ends within a line
        self.closed = False
        self.text = ""

    def more(self, delta: str) -> str:
        """What can be shown now."""
        self._seen += "" if self.closed else delta
        if not self._inside and not self._opened():
            return ""
        return self._lines() if self._closing else self._give(len(self._seen))

    def end(self) -> str:
        """The rest."""
        if not self._inside:
            raise RefusedEdit("The answer holds no code block, so it is no file.")
        if not self.closed and not self._mid:
            at = self._fences.end(self._seen[self._read :], len(self.text) + self._read)
            if at is not None:
                self.closed, self._seen = True, self._seen[: at - len(self.text)]
        self.closed = self.closed or not self._closing
        return self._give(len(self._seen))

    def _opened(self) -> bool:
        while (end := self._seen.find("\n")) >= 0:
            line, self._seen = self._seen[:end], self._seen[end + 1 :]
            if line.lstrip().startswith(self._closing):
                self._inside = True
                return True
        return False

    def _lines(self) -> str:
        """Whole lines, and of the last one what cannot become a fence; nothing that is in doubt."""
        while (end := self._seen.find("\n", self._read)) >= 0:
            line = self._seen[self._read : end]
            if not (self._read == 0 and self._mid):
                cut = self._fences.line(line, len(self.text) + self._read)
                if cut is not None:
                    text = self._give(cut - len(self.text))
                    self._seen, self.closed = "", True
                    return text
            self._read = end + 1
        if self._fences.doubt is not None:
            return self._give(self._fences.doubt - len(self.text))
        last = self._seen[self._read :]
        whole = self._read == 0 and self._mid
        if whole or not ("```".startswith(last[:3]) or bare(last)):
            return self._give(len(self._seen))
        return self._give(self._read)

    def _give(self, end: int) -> str:
        text, self._seen = self._seen[:end], self._seen[end:]
        self._read = max(0, self._read - end)
        self._mid = not text.endswith("\n") if text else self._mid
        self.text += text
        return text
