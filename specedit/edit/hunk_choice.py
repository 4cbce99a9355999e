"""`--ask`: which hunks of a change are applied, one answer at a time, as `git add -p` asks: whole,
in parts, or as the user edits them. The text that this gives is not checked yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby

from specedit.syntax.lines import Hunk, Line, common, hunks, lines_of

GUIDE = """\
# Edit the hunk; what you leave is what is applied.
# To leave out a '-' line, make it a ' ' line (so that it stays).
# To leave out a '+' line, delete it. Lines that begin with # are left out.
# A hunk without lines leaves everything as it was.
"""


@dataclass(frozen=True, slots=True)
class Cut:
    """Lines [first, last) of the old text become `new`."""

    first: int
    last: int
    new: tuple[str, ...]  # each with its newline


def part_of(hunk: Hunk) -> Cut:
    """All that a hunk changes."""
    return _cut(hunk, _side(hunk, "+"), _side(hunk, "-"))


def _side(hunk: Hunk, other: str) -> list[str]:
    """A hunk's lines of one text: without those of the other."""
    lines = (line for line in hunk.lines if line.kind != other)
    return [f"{line.text}\n" if line.ends else line.text for line in lines]


def _cut(hunk: Hunk, old: list[str], new: list[str]) -> Cut:
    """The new lines for a hunk's old ones, without those that stay at both ends."""
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


NO_END = "\\ No newline at end of file"


def shown(hunk: Hunk) -> str:
    """The text that the user edits."""
    rows = []
    for line in hunk.lines:
        rows.append(f"{line.kind}{line.text}")
        rows += [] if line.ends else [NO_END]
    return "\n".join([*rows, ""]) + GUIDE


def edited(hunk: Hunk, text: str) -> Cut | None:
    """The change of a hunk that was edited by hand; None when its old lines are not the file's."""
    old: list[str] = []
    new: list[str] = []
    for row in text.splitlines():
        kind, line = (row[:1] or " "), f"{row[1:]}\n"
        if kind == "#":
            continue
        if row == NO_END:
            for side in (old, new):
                side[-1:] = [line.removesuffix("\n") for line in side[-1:]]
            continue
        if kind not in " -+":
            return None
        old += [line] if kind != "+" else []
        new += [line] if kind != "-" else []
    held = _side(hunk, "+")
    if not old and not new:
        new = old = held
    if [name.rstrip("\n") for name in old] != [line.rstrip("\n") for line in held]:
        return None
    if new and held and new[-1] == f"{held[-1]}\n":  # a last line without a newline keeps none
        new[-1:] = held[-1:]
    return _cut(hunk, held, new)


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


Edited = Callable[[Hunk], str]  # a hunk's text as the user left it


def choose_whole(before: str, after: str, ask: Callable[[HunkQuestion], str]) -> Chosen:
    """All of a file's change or none: a renamed definition and its uses belong together. An answer
    that is not a key asks again."""
    changed = hunks(before, after)
    question = HunkQuestion(changed[0], 1, len(changed), keys="ynq", whole=True)
    while (key := ask(question).strip().lower()[:1]) not in ("y", "n", "q"):
        question = replace(question, why="y, n or q (quit: this file and later ones stay)")
    text = after if key == "y" else before
    return Chosen(text, len(changed) * (key == "y"), len(changed), key == "q", whole=key == "y")


def choose(
    before: str, after: str, ask: Callable[[HunkQuestion], str], edit: Edited | None = None
) -> Chosen:
    """`before` with the hunks that were answered y or a. An answer that is not a key asks again;
    at the end of its input `ask` raises or answers q. Without `edit` the key e is not offered."""
    left, done = hunks(before, after), 0
    parts: list[Cut] = []
    key, help_, why = "", False, ""
    while left and key not in ("d", "q"):
        hunk, pieces = left[0], split(left[0])
        keys = KEYS + ("s" if len(pieces) > 1 else "") + ("e" if edit else "")
        question = HunkQuestion(hunk, done + 1, done + len(left), help_, why, keys)
        key, why = ask(question).strip().lower()[:1], ""
        help_ = key not in [*KEYS, "s", *("e" if edit else "")]
        answered: list[Cut | None] = []  # a cut for each hunk that is answered, None to leave it
        if key == "s":
            left[:1] = pieces
            why = "" if len(pieces) > 1 else ONE_PIECE
        elif key == "e" and edit:
            part = edited(hunk, edit(hunk))
            if part is None or any(part.first < cut.last for cut in parts):
                why = MISFIT
            else:
                answered = [part]
        elif key == "a":
            answered = [part_of(hunk) for hunk in left]
        elif key in ("y", "n"):
            answered = [part_of(hunk) if key == "y" else None]
        parts += filter(None, answered)
        del left[: len(answered)]
        done += len(answered)
    text = applied(before, parts)
    return Chosen(text, len(parts), done + len(left), key == "q", whole=text == after)
