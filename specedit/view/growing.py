"""The change so far, while its answer is still being written.

Guesses how far the answer has come in the old text; the finished change is compared anew by
`specedit.view.diff_view`.
"""

from __future__ import annotations

import time
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from specedit.edit.backend import Written
from specedit.syntax.diff import Hunk, Line, hunks
from specedit.syntax.lines import opcodes
from specedit.view import code, colours, diff_view
from specedit.view import provenance as prov

LARGEST = 200_000  # characters beyond which comparing again and again would slow the model
AHEAD = 200  # lines that an answer may have left out


class Growing:
    """Collects an answer and shows its last hunks. Draws rarely when drawing takes long."""

    def __init__(self, console: Console, path: str, before: str, margin: bool = True) -> None:
        self._margin = margin
        self._console = console
        self._path = path
        self._before = before
        self._written: list[Written] = []
        self._length = 0
        self._shown: list[Text] = []
        self._room = 0
        self._seen = 0
        self._next = 0.0

    def anew(self) -> Growing:
        """The same file's change from its beginning."""
        return Growing(self._console, self._path, self._before, self._margin)

    def add(self, event: Written) -> None:
        self._written.append(event)
        self._length += len(event.text)

    @property
    def share(self) -> float | None:
        """How much of the answer there is, if it gets as long as the old text."""
        return min(1.0, self._length / len(self._before)) if self._before else None

    def rows(self, room: int) -> list[Text]:
        """The last `room` rows of the change so far."""
        fresh = len(self._written) != self._seen or room != self._room
        if fresh and time.monotonic() >= self._next and len(self._before) <= LARGEST:
            started = time.monotonic()
            self._seen, self._room = len(self._written), room
            self._shown = self._compare(room)
            spent = time.monotonic() - started
            self._next = time.monotonic() + max(0.1, 15 * spent)
        return self._shown

    def _compare(self, room: int) -> list[Text]:
        provenance = prov.of(self._written)
        answer = provenance.text[: provenance.text.rfind("\n") + 1]
        result = so_far(self._before, answer)
        if not result or room < 2:
            return []
        console, tint = self._console, colours.tint(self._console)
        theme = tint.code if console.color_system else None

        def paint(line: Line) -> Text:
            return code.line(line.text, self._path, theme)

        digits = len(str(self._before.count("\n") + 1))
        origins = provenance if self._margin else None
        frame = diff_view.Frame(
            console, console.width, digits, tint, paint, origins, diff_view.starts(answer)
        )
        shown: list[Text] = []
        for hunk in reversed(result):
            last = replace(hunk, lines=hunk.lines[-room:])  # the others would be cut off again
            shown = [*diff_view.rows(last, frame), *shown]
            if len(shown) >= room:
                break
        return shown[-room:]


def so_far(before: str, answer: str) -> list[Hunk]:
    """The hunks of an unfinished answer (whole lines of it) against as much of the old text
    as it can have dealt with."""
    new = answer.split("\n")[:-1]
    old = before.removesuffix("\n").split("\n")[: len(new) + AHEAD] if before else []
    end = "\0"  # so that the answer's last lines are not taken for the file's last
    codes = opcodes(old, [*new, end])
    tag, a, _, c, d = codes[-1] if codes else ("equal", 0, 0, 0, 0)
    reached = a + (d - c - 1) if tag in ("replace", "insert") else a
    reached = min(len(old), max(reached, a))
    return hunks("".join(line + "\n" for line in old[:reached]), answer)
