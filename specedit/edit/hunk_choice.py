"""`--ask`: which hunks of a change are applied, one answer at a time, as `git add -p` asks. The
text that this gives is not checked yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby

from specedit.syntax.lines import Hunk, Line, common, hunks, lines_of


@dataclass(frozen=True, slots=True)
class Cut:
    """Lines [first, last) of the old text become `new`."""

    first: int
    last: int
    new: tuple[str, ...]  # each with its newline


def part_of(hunk: Hunk) -> Cut:
    """All that a hunk changes, without the lines that stay at both ends."""
    old, new = (
        [f"{line.text}\n" if line.ends else line.text for line in hunk.lines if line.kind != other]
        for other in "+-"
    )
    start = common(old, new)
    end = common(old[start:][::-1], new[start:][::-1])
    first = _starts(hunk.lines)[0]
    return Cut(first + start, first + len(old) - end, tuple(new[start : len(new) - end]))


def _starts(lines: tuple[Line, ...]) -> tuple[int, int]:
    """Where a hunk's lines begin in the old text and in the new, from 0."""
    old = next((line.before for line in lines if line.before is not None), 1)
    new = next((line.after for line in lines if line.after is not None), 1)
    return old - 1, new - 1


def applied(before: str, parts: list[Cut]) -> str:
    """The old text with these parts, which do not overlap."""
    lines = lines_of(before)
    for part in sorted(parts, key=lambda part: (part.first, part.last), reverse=True):
        lines[part.first : part.last] = part.new
    return "".join(lines)


def split(hunk: Hunk) -> list[Hunk]:
    """Its changes one by one, where lines that stay stand between them. The lines between two
    belong to both, as their context."""
    runs = [list(run) for _, run in groupby(hunk.lines, lambda line: line.kind == " ")]
    pieces = []
    for n, run in enumerate(runs):
        if run[0].kind == " ":
            continue
        lines = tuple(line for run in runs[max(0, n - 1) : n + 2] for line in run)
        above = len(runs[n - 1]) if n else 0
        old, new = (start + above for start in _starts(lines))
        gone, come = (sum(line.kind == kind for line in run) for kind in "-+")
        pieces.append(Hunk(lines, (old, old + gone), (new, new + come)))
    return pieces


HELP = """\
y - apply this hunk
n - do not apply this hunk
a - apply this hunk and all later ones
d - do not apply this hunk nor any of the later ones
q - quit; apply neither this hunk nor any of the later ones
s - split this hunk into smaller ones
? - print help"""
KEYS = "ynadq"
ONE_PIECE = "this hunk cannot be split: no line that stays stands between its changes"


@dataclass(frozen=True, slots=True)
class HunkQuestion:
    """One hunk, and where it stands among the others."""

    hunk: Hunk
    number: int  # from 1
    of: int
    help: bool = False  # the last answer was none of the keys: say what they mean
    why: str = ""  # the last answer could not be done
    keys: str = KEYS
    whole: bool = False  # all hunks of the file, of which this is the first

    @property
    def prompt(self) -> str:
        if self.whole:
            return f"Apply the {self.of} hunks of this file [{','.join(self.keys)}]? "
        return f"({self.number}/{self.of}) Apply this hunk [{','.join(self.keys)},?]? "


@dataclass(frozen=True, slots=True)
class Chosen:
    """The part of a change that the user applies."""

    text: str
    applied: int
    of: int
    quit: bool = False  # nothing more is to be asked, in later files neither
    whole: bool = False  # all of it, as it was proposed


def choose_whole(before: str, after: str, ask: Callable[[HunkQuestion], str]) -> Chosen:
    """All of a file's change or none: a renamed definition and its uses belong together. An answer
    that is not a key asks again."""
    changed = hunks(before, after)
    question = HunkQuestion(changed[0], 1, len(changed), keys="ynq", whole=True)
    while (key := ask(question)[:1]) not in ("y", "n", "q"):
        question = replace(question, why="y, n or q (quit: this file and later ones stay)")
    text = after if key == "y" else before
    return Chosen(text, len(changed) * (key == "y"), len(changed), key == "q", whole=key == "y")


def choose(before: str, after: str, ask: Callable[[HunkQuestion], str]) -> Chosen:
    """`before` with the hunks that were answered y or a. An answer that is not a key asks again;
    at the end of its input `ask` raises or answers q."""
    left, done = hunks(before, after), 0
    parts: list[Cut] = []
    key, help_, why = "", False, ""
    while left and key not in ("d", "q"):
        hunk, pieces = left[0], split(left[0])
        keys = KEYS + ("s" if len(pieces) > 1 else "")
        question = HunkQuestion(hunk, done + 1, done + len(left), help_, why, keys)
        key, why = ask(question)[:1], ""
        help_ = key not in [*KEYS, "s"]
        if key == "s":
            left[:1] = pieces
            why = "" if len(pieces) > 1 else ONE_PIECE
        elif key in ("y", "n", "a"):
            answered = left if key == "a" else left[:1]
            parts += map(part_of, answered if key != "n" else ())
            done += len(answered)
            left = left[len(answered) :]
    text = applied(before, parts)
    return Chosen(text, len(parts), done + len(left), key == "q", whole=text == after)
