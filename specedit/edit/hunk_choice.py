"""`--ask`: which hunks of a change are applied, one answer at a time, as `git add -p` asks.

The text it returns is a new one, which nobody has checked yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specedit.edit.hunks import Cut, applied, edited, part_of, split
from specedit.syntax.diff import Hunk, hunks

HELP = """\
y - apply this hunk
n - do not apply this hunk
a - apply this hunk and all later ones
d - do not apply this hunk nor any of the later ones
q - quit; apply neither this hunk nor any of the later ones
s - split this hunk into smaller ones
e - edit this hunk by hand
? - print help"""
KEYS = "ynadq"
MISFIT = "the lines that were there are other ones now; the hunk is as it was"
ONE_PIECE = "this hunk cannot be split: no line that stays stands between its changes"


@dataclass(frozen=True)
class Question:
    """One hunk, and where it stands among the others."""

    hunk: Hunk
    number: int  # from 1
    of: int
    help: bool = False  # the last answer was none of the keys: say what they mean
    why: str = ""  # the last answer could not be done
    keys: str = KEYS

    @property
    def prompt(self) -> str:
        return f"({self.number}/{self.of}) Apply this hunk [{','.join(self.keys)},?]? "


@dataclass(frozen=True)
class Chosen:
    """What a person wants of a change."""

    text: str
    applied: int
    of: int
    quit: bool = False  # nothing more is to be asked, in later files neither
    whole: bool = False  # all of it, as it was proposed


Edited = Callable[[Hunk], str]  # a hunk's text as a person left it


def choose(
    before: str, after: str, ask: Callable[[Question], str], edit: Edited | None = None
) -> Chosen:
    """`before` with the hunks that were answered y or a. An answer that is no key asks again;
    the end of the answers ("" after stripping counts as ?) is for `ask` to raise or to say q.
    Without `edit`, nobody can edit a hunk by hand."""
    asking = _Picking(before, after, ask, edit)
    asking.run()
    text = applied(before, asking.parts)
    of = asking.done + len(asking.left)
    return Chosen(text, len(asking.parts), of, asking.quit, whole=text == after)


class _Picking:
    """The hunks that are still to be asked about, and what is applied of those before."""

    def __init__(
        self, before: str, after: str, ask: Callable[[Question], str], edit: Edited | None
    ) -> None:
        self._after = after
        self._ask = ask
        self._edit = edit
        self.left: list[Hunk] = hunks(before, after)
        self.parts: list[Cut] = []
        self.done = 0
        self.quit = False

    def run(self) -> None:
        help_, why = False, ""
        while self.left:
            hunk = self.left[0]
            keys = KEYS + ("s" if len(split(hunk)) > 1 else "") + ("e" if self._edit else "")
            of = self.done + len(self.left)
            asked = Question(hunk, self.done + 1, of, help_, why, keys)
            key = self._ask(asked).strip().lower()[:1]
            help_ = not key or key not in "ynadqse"
            why = "" if help_ else self._answered(key, hunk)
            if key in ("d", "q"):
                self.quit = key == "q"
                return

    def _answered(self, key: str, hunk: Hunk) -> str:
        """Do what was answered; why that cannot be done, otherwise."""
        if key == "s":
            pieces = split(hunk)
            self.left[:1] = pieces
            return "" if len(pieces) > 1 else ONE_PIECE
        if key == "e":
            return self._by_hand(hunk)
        if key == "y":
            self._take(part_of(hunk, self._after))
        elif key == "n":
            self._pass()
        elif key == "a":
            while self.left:
                self._take(part_of(self.left[0], self._after))
        return ""

    def _by_hand(self, hunk: Hunk) -> str:
        if self._edit is None:
            return "nobody can edit a hunk here"
        part = edited(hunk, self._edit(hunk))
        if part is None or any(part.first < one.last for one in self.parts):
            return MISFIT
        self._take(part)
        return ""

    def _take(self, part: Cut) -> None:
        self.parts.append(part)
        self._pass()

    def _pass(self) -> None:
        self.left.pop(0)
        self.done += 1
