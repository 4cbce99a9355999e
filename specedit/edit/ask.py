"""`--ask`: which hunks of a change are applied, one answer at a time, as `git add -p` asks.

Knows hunks and answers. Does not know terminals: who asks shows the hunk and brings the answer.
The text it returns is a new one, which nobody has checked yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specedit.text.diff import Hunk, apply, hunks

HELP = """\
y - apply this hunk
n - do not apply this hunk
a - apply this hunk and all later ones
d - do not apply this hunk nor any of the later ones
q - quit; apply neither this hunk nor any of the later ones
? - print help"""
KEYS = "y,n,a,d,q,?"


@dataclass(frozen=True)
class Question:
    """One hunk, and where it stands among the others."""

    hunk: Hunk
    number: int  # from 1
    of: int
    help: bool = False  # the last answer was none of the keys: say what they mean

    @property
    def prompt(self) -> str:
        return f"({self.number}/{self.of}) Apply this hunk [{KEYS}]? "


@dataclass(frozen=True)
class Chosen:
    """What a person wants of a change."""

    text: str
    applied: int
    of: int
    quit: bool = False  # nothing more is to be asked, in later files neither

    @property
    def whole(self) -> bool:
        return self.applied == self.of


def choose(before: str, after: str, ask: Callable[[Question], str]) -> Chosen:
    """`before` with the hunks that were answered y or a. An answer that is no key asks again;
    the end of the answers ("" after stripping counts as ?) is for `ask` to raise or to say q."""
    found = hunks(before, after)
    applied, quit_ = _picked(found, ask)
    text = after if len(applied) == len(found) else apply(before, after, applied)
    return Chosen(text, len(applied), len(found), quit_)


def _picked(found: Sequence[Hunk], ask: Callable[[Question], str]) -> tuple[list[Hunk], bool]:
    picked: list[Hunk] = []
    for number, hunk in enumerate(found, 1):
        question = Question(hunk, number, len(found))
        while (key := ask(question).strip().lower()[:1]) not in tuple("ynadq"):
            question = Question(hunk, number, len(found), help=True)
        if key in "ya":
            picked.append(hunk)
        if key == "a":
            return picked + list(found[number:]), False
        if key in "dq":
            return picked, key == "q"
    return picked, False
