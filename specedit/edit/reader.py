"""Ids to text as they come, and the moment the answer is over.

A fence line ends an answer, or belongs to a code block that the answer holds. In code the first
line that is the closing fence ends it. In prose (`nested`) an answer may hold blocks of its own,
and a bare fence may open one as well as end everything; what follows decides. Small models also
close a long fence with three backticks.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from specedit.errors import RefusedEdit
from specedit.models.tokenizer import NEXT_FILE

if TYPE_CHECKING:
    from specedit.edit.plan import Plan

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

    The answer ends before the closing line. Text in front of the opening fence does not belong to
    it. A plan without a closing line has no block."""

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


class Pieces(Protocol):
    """What reading needs of a tokenizer."""

    @property
    def ends(self) -> frozenset[int]: ...

    def piece(self, token: int) -> bytes: ...

    def special(self, name: str) -> int | None: ...


class Reader:
    """Reads one answer. `ends` is asked once per committed id, in order; `take` gives the texts
    of the ids since the last call, a character split over ids belonging to the last of them.

    A stop text, or one of `tokens`, that names a special token ends the answer at this token."""

    def __init__(
        self,
        tokenizer: Pieces,
        closing: str = "",
        stop: Sequence[str] = (),
        *,
        nested: bool = False,
        tokens: Sequence[str] = (),
    ) -> None:
        self._tokenizer = tokenizer
        self._fences = Fences(closing, nested)
        self._stop = tuple(s for s in stop if s)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parts: list[str] = []
        self._fresh: list[str] = []
        self._line = ""  # what follows the last newline,
        self._at = 0  # and where that begins
        self._tail = ""  # enough of the end to find a stop text across pieces
        self._cut: int | None = None  # characters to drop from the end
        named = (tokenizer.special(text) for text in (*self._stop, *tokens))
        self._ends = tokenizer.ends | {token for token in named if token is not None}
        self.closed = not closing

    def ends(self, token: int) -> bool:
        ended = token in self._ends
        piece = "" if ended else self._decoder.decode(self._tokenizer.piece(token))
        if ended:
            piece = self._decoder.decode(b"", final=True)
        self._parts.append(piece)
        self._fresh.append(piece)
        return self._stopped(piece) or self._fenced(piece, ended) or ended

    def _fenced(self, piece: str, ended: bool) -> bool:
        """Whether a fence has ended the answer; on the last line only the end can tell."""
        *whole, last = (self._line + piece).split("\n")
        length = self._at + len(self._line) + len(piece)
        for line in whole:
            if (cut := self._fences.line(line, self._at)) is not None:
                return self._close(length - cut)
            self._at += len(line) + 1
        self._line = last
        if ended and (cut := self._fences.end(last, self._at)) is not None:
            return self._close(length - cut)
        return False

    def _close(self, drop: int) -> bool:
        self._cut, self.closed = drop, True
        return True

    def _stopped(self, piece: str) -> bool:
        if not self._stop:
            return False
        self._tail += piece
        if (at := stop_at(self._tail, self._stop)) is not None:
            self._cut, self.closed = len(self._tail) - at, True
            return True
        self._tail = self._tail[-max(len(s) for s in self._stop) :]
        return False

    def take(self) -> tuple[str, ...]:
        fresh, self._fresh = tuple(self._fresh), []
        return fresh

    def text(self) -> str:
        """The answer without its closing line or stop text."""
        whole = "".join(self._parts) + self._decoder.decode(b"", final=True)
        return whole[: len(whole) - self._cut] if self._cut else whole


def stop_at(text: str, stop: Sequence[str]) -> int | None:
    """Where the first of the stop texts begins: the answer ends there."""
    return min((at for one in stop if (at := text.find(one)) >= 0), default=None)


def reader_of(plan: Plan, tokenizer: Pieces) -> Reader:
    """What reads the answer to a plan."""
    tokens = NEXT_FILE if plan.raw is not None else ()
    return Reader(tokenizer, plan.closing, plan.stop, nested=plan.nested, tokens=tokens)


def whole_answer(text: str, closing: str, tokenizer: Any) -> list[int]:
    """The ids of a whole answer: the text, its closing line, the end."""
    return [*tokenizer.encode(text), *answer_ending(closing, tokenizer)]


def answer_ending(closing: str, tokenizer: Any) -> list[int]:
    """The ids behind the text of a whole answer: its closing line and the end."""
    ids: list[int] = tokenizer.encode(closing) if closing else []
    return [*ids, *end_of(tokenizer)]


def end_of(tokenizer: Any) -> list[int]:
    """The id that usually ends an answer: what the model's files call its end of sequence, else
    the first that ends one; none for a tokenizer without ends."""
    if len(tokenizer.ends) > 1:
        named = tokenizer.special(tokenizer.texts.get("eos_token", ""))
        if named is not None:
            return [named]
    return sorted(tokenizer.ends)[:1]
