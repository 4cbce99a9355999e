"""A finding: what a check, a plan or a run reports about an edit; and the kinds that the user may
allow, with their verdicts. Imports nothing heavy: settings check values against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

REFUSE, NOTE, OFF = "refuse", "note", "off"
QUESTION, CHECKER = "question", "checker"
REMOVAL, EXISTING_NAME = "removal", "existing-name"  # that only `allow` speaks of
NOTHING = "nothing"  # often right when many files share an instruction: `strict` leaves it a note
SEVERAL = "several"  # of a rename: the name means several things, which change together
UNSURE = "unsure"  # it is likely wrong, and nobody confirmed it
DECLINED = "declined"  # the user was asked, and chose nothing of a change

Verdicts = Mapping[str, str]  # by kind


KINDS: Verdicts = {  # kinds of findings that the user may allow, with their default verdicts
    QUESTION: REFUSE,  # the instruction asks for an answer, not for an edit
    "undefined": REFUSE,  # a name is used that nothing defines or imports
    "copied-run": NOTE,  # ten lines or more of the file stand there a second time
    "whitespace": NOTE,  # lines changed in white space only
    NOTHING: NOTE,  # the answer changes nothing, or nothing but comments
    CHECKER: NOTE,  # the program of `check-with` reports something new
}
ALL_OFF: Verdicts = dict.fromkeys(KINDS, OFF)
ALLOWED = (*KINDS, REMOVAL, EXISTING_NAME)  # what a user may allow
REMOVED_KINDS = ("renamed", "returns", "unreachable")  # kinds that are no more
OF_RENAMES = ("undefined", CHECKER)  # what a new name can break


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file, from 1; `column` 0 means the line. Of the new text where the finding is
    about what the model wrote (syntax, placeholders, KINDS), else of the text that was there."""

    line: int
    column: int = 0


WARNINGS = KINDS.keys() | {  # notes that a reader should look at twice
    "not-checked",  # no grammar says whether the new text parses
    "unclosed",  # the model ended without its closing line
    "unsure",  # of a rename: which places, or what was written there
    SEVERAL,
    "left",  # the name itself stands in comments or strings, where the scope does not reach
    "undecided",  # of a rename: what a place means cannot be told, so it stays
    "elsewhere",  # other files use what was renamed, and were not named
    "lost-definition",  # of `apply`: the change removes it
    "left-out",  # of `apply`: an example of use
    "disagreed",  # of a rename: a mention that the model left as it was
    "unnamed-loss",  # of an edit: a definition is gone, and the instruction does not name it
    "second-choice",  # the model's likeliest answer changed nothing
    "uncommitted",  # the file's text before was in no commit
}


DETAILS = {  # shown with `-v` only
    "other",  # of a rename: places of the name known to mean another
    "prose",  # of a rename: mentions that may be ordinary language, and stay
    "reverted",  # changes that the instruction does not ask for
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the user should know of an edit. `refuses`: why it was refused or failed.

    Kinds that refuse: "syntax", "placeholder", "lost-definition", "lost-lines", "repeated",
    "copied", "empty", "cut-off", UNSURE, those of a `FileError`, and those of KINDS whose verdict
    says so. Others: those of WARNINGS and DETAILS; of a rename "outside" (what the scope leaves
    alone), "moved", "by-rule" (decided without a model), "stays" (a file that is not changed);
    "skipped" (nothing was asked), "backend" (what answered), "renamed-local", "replaced",
    "focused" (what was open to change), "whole" (why all of a large file was)."""

    kind: str
    text: str
    places: tuple[Spot, ...] = ()
    refuses: bool = False

    @property
    def warns(self) -> bool:
        """Whether a reader should look at the edit twice."""
        return self.kind in WARNINGS

    @property
    def is_detail(self) -> bool:
        """Whether it is shown with `-v` only."""
        return self.kind in DETAILS

    @property
    def verdict(self) -> str:
        return "refuse" if self.refuses else "note"

    @property
    def line(self) -> int | None:
        """Its first place."""
        return self.places[0].line if self.places else None

    def __str__(self) -> str:
        return self.text


def fresh(before: Iterable[str], after: Iterable[T], text_of: Callable[[T], str]) -> list[T]:
    """The items that are in `after` more often than their texts are in `before`."""
    known, new = Counter(before), []
    for item in after:
        text = text_of(item)
        if known[text]:
            known[text] -= 1
        else:
            new.append(item)
    return new


def at(kind: str, line: int, text: str) -> Finding:
    """A finding about one line of the new text."""
    return Finding(kind, f"line {line}: {text}", (Spot(line),))


def verdicts(*, strict: bool = False, allowed: Iterable[str] = ()) -> Verdicts:
    """The verdict of each kind: `strict` refuses whatever is noted, and what is `allowed` is only
    noted."""
    chosen = dict(KINDS)
    if strict:
        chosen = {name: NOTE if name == NOTHING else REFUSE for name in chosen}
    return {**chosen, **_noted(chosen, allowed)}


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks that a new text has to pass."""

    may_remove: bool = False  # lost definitions are not looked for
    verdicts: Verdicts = field(default_factory=verdicts)
    check_with: str = ""  # commands that the user named
    shown: tuple[tuple[str, str], ...] = ()  # name and text of what the model saw next to the file


def verdicts_of_rename(*, strict: bool = False, allowed: Iterable[str] = ()) -> Verdicts:
    """The same for a rename, whose places the scopes decide: the report of the user's own program,
    and with `strict` what a new name can break."""
    chosen = {CHECKER: KINDS[CHECKER]}
    chosen |= dict.fromkeys(OF_RENAMES, REFUSE) if strict else {}
    return {**ALL_OFF, **chosen, **_noted(chosen, allowed)}


def _noted(chosen: Verdicts, allowed: Iterable[str]) -> dict[str, str]:
    return {name: NOTE for name in allowed if chosen.get(name) == REFUSE}
