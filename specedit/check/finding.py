"""A finding: what a check, a plan or a run reports about an edit."""

from __future__ import annotations

from dataclasses import dataclass

from specedit.check.kinds import DEFAULT


@dataclass(frozen=True)
class Spot:
    """A place in a file, from 1; `column` 0 means the line. Of the new text where the finding is
    about what the model wrote (syntax, placeholders, the kinds of `check.kinds`), else of the text
    that was there."""

    line: int
    column: int = 0


WARNINGS = DEFAULT.keys() | {  # notes that a reader should look at twice
    "not-checked",  # no grammar says whether the new text parses
    "unclosed",  # the model ended without its closing line
    "narrowed",  # only a part of the file was edited
    "unsure",  # of a rename: which places, or what was written there
    "left",  # the name itself stands in comments or strings, where the scope does not reach
    "undecided",  # of a rename: what a place means cannot be told, so it stays
    "elsewhere",  # other files use what was renamed, and were not named
    "disagreed",  # of a rename: a mention that the model left as it was
    "uncommitted",  # the file's text before was in no commit
}


DETAILS = frozenset(  # shown with `-v` only
    (
        "other",  # of a rename: places of the name known to mean another
        "reverted",  # changes that the instruction does not ask for
    )
)


@dataclass(frozen=True)
class Finding:
    """Something the user should know of an edit. `refuses`: why it was refused or failed.

    Kinds that refuse: "syntax", "placeholder", "lost-definition", "lost-lines", "repeated" (a
    definition), "copied" (lines of another file) and "empty" of `check.answer`, "cut-off", those
    of a `FileError`, and those of `check.kinds` whose verdict says so.
    Others: those of WARNINGS and DETAILS, "outside" (another name, or another thing of that name,
    that the scope leaves alone), "moved" (to which place), "by-rule" (mentions decided without a
    model), "stays" (a file of code that holds the name and is not changed), "skipped" (nothing was
    asked, and why), "backend" (what answered), "imports" (an import that was added, moved or
    removed), "renamed-local" (by its scope), "replaced" (a quoted text), "focused" (which regions
    were open to change), "whole" (why all of a large file was)."""

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


def at(kind: str, line: int, text: str) -> Finding:
    """A finding about one line of the new text."""
    return Finding(kind, f"line {line}: {text}", (Spot(line),))
