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
from typing import TYPE_CHECKING, Any

from specedit.errors import RefusedEdit

if TYPE_CHECKING:
    from specedit.models.tokenizer import Tokenizer

_FENCE = re.compile(r"(?P<run>`{3,})(?P<info>[^`]*)")


def bare(line: str) -> bool:
    """Whether a line is a fence and nothing else, from its first column on."""
    match = _FENCE.fullmatch(line)
    return match is not None and not match["info"].strip()


class Fences:
    """Reads an answer as it comes, and finds its end. `closing` "": nothing but the end ends it."""

    def __init__(self, closing: str, nested: bool = False) -> None:
        self.closing = closing
        self._nested = nested
        self._pieces: list[str] = []  # what follows the last newline,
        self._at = 0  # and where that begins
        self._inside = 0  # the length of the fence that opened a block of the answer's own
        self._doubt: int | None = None  # where a bare fence stands that opened one, or ended all

    def read(self, delta: str) -> int | None:
        """More of the answer: where it ended, if it has."""
        self._pieces.append(delta)
        if "\n" not in delta:
            return None
        *whole, rest = self._line.split("\n")
        self._pieces = [rest]
        for line in whole:
            if (cut := self._ended_at(line)) is not None:
                return cut
            self._at += len(line) + 1
        return None

    @property
    def _line(self) -> str:
        return "".join(self._pieces)

    def _ended_at(self, line: str) -> int | None:
        if not self.closing:
            return None
        ends = line.rstrip() == self.closing
        if not self._nested or (ends and len(self.closing) > 3):
            return self._at if ends else None
        match = _FENCE.fullmatch(line.strip())
        if match is None:
            return None
        run, text = len(match["run"]), bool(match["info"].strip())
        if not self._inside:
            self._inside = run
            self._doubt = self._at if bare(line) else None
        elif text:
            return self._doubt  # no block opens inside a block: the bare fence ended the answer
        elif run >= self._inside:
            self._inside, self._doubt = 0, None
        return None

    @property
    def sure(self) -> int:
        """Up to where the text belongs to the answer, whatever follows."""
        if self._doubt is not None:
            return self._doubt
        line = self._line
        fence = self.closing and ("```".startswith(line[:3]) or bare(line))
        return self._at if fence else self._at + len(line)

    def end(self) -> int | None:
        """The answer is over, in mid-line or after a last whole line: where its text ended."""
        if not self.closing:
            return None
        if self._inside:
            return None if bare(self._line.strip()) else self._doubt
        return self._at if bare(self._line) else None


REASONING = {"<think>": "</think>", "[THINK]": "[/THINK]", "<seed:think>": "</seed:think>"}


class Reasoning:
    """Takes the reasoning off an answer that begins with it.

    `expected`: a text like the answer; where that begins with such a mark, the mark is text.
    `fenced`: the answer's code block is open already, so that the line with which the model opens
    one after its reasoning is not the answer's."""

    def __init__(self, expected: str = "", *, fenced: bool = False) -> None:
        self.found = self.inside = False
        self._held = ""  # text that may be reasoning, its end, or the opening line
        self._ends_with = ""
        self._fenced = fenced
        self._done = expected.lstrip().startswith(tuple(REASONING))

    def more(self, delta: str) -> str:
        """Return what of the text so far belongs to the answer."""
        if self._done:
            return delta
        self._held += delta
        if not self.found:
            text = self._held.lstrip()
            mark = next((mark for mark in REASONING if text.startswith(mark)), "")
            if not mark:
                possible = any(mark.startswith(text) for mark in REASONING)
                return "" if possible else self._release(self._held)
            self.found = self.inside = True
            self._ends_with, self._held = REASONING[mark], text[len(mark) :]
        if self.inside:
            _, end, after = self._held.partition(self._ends_with)
            if not end:
                self._held = self._held[-len(self._ends_with) :]
                return ""
            self.inside, self._held = False, after
        text = self._held[re.match(r"(?:\s*\n)?", self._held).end() :]  # type: ignore[union-attr]
        if self._fenced and "```".startswith(text.lstrip()[:3]):
            _, end, text = text.partition("\n")
            return self._release(text) if end else ""
        return self._release(text) if text.strip() else ""

    def _release(self, text: str) -> str:
        self._done, self._held = True, ""
        return text

    def rest(self) -> str:
        """Return what is held back when the answer is over."""
        return "" if self._done or self.found else self._release(self._held)


class Unfenced:
    """The text inside the block that an endpoint writes itself: our own engine has it opened. A
    plan without a closing line has no block."""

    def __init__(self, closing: str, *, nested: bool = False, expected: str = "") -> None:
        self._fences = Fences(closing, nested)
        self._thought = Reasoning(expected)
        self.reasoning = 0  # calls of `more` that brought reasoning
        self._opens = re.compile(rf"^[^\S\n]*{closing}.*\n", re.MULTILINE) if closing else None
        self._head = ""  # in front of the opening fence
        self._inside = ""
        self._shown = 0
        self.closed = False

    @property
    def text(self) -> str:
        """The text that was shown."""
        return self._inside[: self._shown]

    def more(self, delta: str) -> str:
        """Return the text that can be shown now."""
        if self.closed:
            return ""
        delta = self._thought.more(delta)
        self.reasoning += self._thought.inside
        return self._more(delta)

    def _more(self, delta: str) -> str:
        if self._opens is not None:
            self._head += delta
            if (opening := self._opens.search(self._head)) is None:
                return ""
            self._opens, delta = None, self._head[opening.end() :]
        self._inside += delta
        cut = self._fences.read(delta)
        self.closed = cut is not None
        return self._show(self._fences.sure if cut is None else cut)

    def end(self) -> str:
        """The rest."""
        text = "" if self.closed else self._more(self._thought.rest())
        if self._opens is not None:
            raise RefusedEdit("The answer contains no code block.")
        if self.closed:
            return text
        cut = self._fences.end()
        self.closed = cut is not None or not self._fences.closing
        return text + self._show(len(self._inside) if cut is None else cut)

    def _show(self, end: int) -> str:
        shown, self._shown = self._shown, end
        return self._inside[shown:end]


class Reader:
    """Reads one answer. `ends` is asked once per committed id, in order; `take` gives the texts
    of the ids since the last call, a character split over ids belonging to the last of them.

    A stop text that names a special token ends the answer at this token."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        closing: str = "",
        stop: Sequence[str] = (),
        *,
        nested: bool = False,
        expected: str | None = None,
    ) -> None:
        """`expected`: a text like the answer; None: what looks like reasoning is text."""
        self._tokenizer = tokenizer
        self._thought = None
        if expected is not None:
            self._thought = Reasoning(expected, fenced=bool(closing))
        marks = (*REASONING, *REASONING.values())
        self._marks = dict(zip(map(tokenizer.special, marks), marks, strict=True))
        self.reasoning = 0  # ids of reasoning
        self._fences = Fences(closing, nested)
        self._stop = tuple(filter(None, stop))
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parts: list[str] = []
        self._fresh: list[str] = []
        self._length = 0
        self._tail = ""  # enough of the end to find a stop text across pieces
        self._cut: int | None = None  # characters to drop from the end
        self._ends = {*tokenizer.ends, *map(tokenizer.special, self._stop)}
        self.closed = not closing

    def ends(self, token: int) -> bool:
        ended = token in self._ends
        if ended:
            piece = self._decoder.decode(b"", final=True)
        else:
            piece = self._decoder.decode(self._tokenizer.piece(token))
        if self._thought is not None:
            piece = self._answered(self._thought, piece or self._marks.get(token, ""), ended)
        self._parts.append(piece)
        self._fresh.append(piece)
        return self._stopped(piece) or self._fenced(piece, ended) or ended

    def _answered(self, thought: Reasoning, piece: str, ended: bool) -> str:
        """Return what of a piece is not reasoning."""
        inside = thought.inside
        piece = thought.more(piece) + (thought.rest() if ended else "")
        if inside or thought.inside:
            self.reasoning = len(self._parts) + 1
        if thought.inside and ended and self._fences.closing:
            raise RefusedEdit(
                "The answer is nothing but reasoning.",
                hint="Use a model whose chat template can switch it off, or another model.",
            )
        return piece

    def _fenced(self, piece: str, ended: bool) -> bool:
        """Whether a fence has ended the answer; on the last line only the end can tell."""
        self._length += len(piece)
        cut = self._fences.read(piece)
        if cut is None and ended:
            cut = self._fences.end()
        if cut is None:
            return False
        self._cut, self.closed = self._length - cut, True
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
        whole = "".join(self._parts)
        if self._cut is not None:
            return whole[: len(whole) - self._cut]
        whole += self._decoder.decode(b"", final=True)
        return whole + (self._thought.rest() if self._thought is not None else "")


def stop_at(text: str, stop: Sequence[str]) -> int | None:
    """Where the first of the stop texts begins: the answer ends there."""
    return min((at for mark in stop if (at := text.find(mark)) >= 0), default=None)


def whole_answer(text: str, closing: str, tokenizer: Any) -> list[int]:
    """The ids of a whole answer: the text, its closing line, the end."""
    return [*tokenizer.encode(text), *answer_ending(closing, tokenizer)]


def answer_ending(closing: str, tokenizer: Any) -> list[int]:
    """The ids after the text of a whole answer: its closing line and the id that usually ends an
    answer; a tokenizer may have none."""
    ids: list[int] = tokenizer.encode(closing) if closing else []
    if len(tokenizer.ends) > 1:
        named = tokenizer.special(tokenizer.texts.get("eos_token", ""))
        if named is not None:
            return [*ids, named]
    return [*ids, *sorted(tokenizer.ends)[:1]]
