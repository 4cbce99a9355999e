"""Ids to text as they come, and the moment the answer is over."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from specedit.edit.fences import Fences
from specedit.models.tokenizer import NEXT_FILE

if TYPE_CHECKING:
    from specedit.edit.plan import Plan


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
