"""What a person should know of an edit: a kind, a sentence, its places, and whether it refuses.

A value that every room from the gate to the report hands on. Finds nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Spot:
    """A place in a file, from 1; `column` 0 means the line. Of the new text where the finding is
    about what the model wrote (syntax, placeholder, the gate), else of the text that was there."""

    line: int
    column: int = 0


LOOK_TWICE = frozenset(
    (
        "not-checked",  # no grammar says whether the new text parses
        "unclosed",  # the model ended without its closing line
        "narrowed",  # only a part of the file was edited
        "unsure",  # of a rename: which places, or what was written there
        "left",  # the name itself stands in comments or strings, where the scope does not reach
        "undecided",  # of a rename: nobody can say what a place means, so it stays
        "elsewhere",  # other files use what was renamed, and were not named
        "disagreed",  # the model and tree-sitter say different things of a place
        "dropped",  # the model wanted more than the scope allows
        "uncommitted",  # the file's text before was in no commit
    )
)


DETAILS = frozenset(
    (
        "dropped",  # what the model wanted, and no place of the identifier is about
        "other",  # places of the name that are known to mean something else
    )
)


@dataclass(frozen=True)
class Finding:
    """Something a person should know of an edit. `refuses`: why it was refused or failed.

    Kinds that refuse: those of the guard (`syntax.guard`) and of a `FileError`, "cut-off", and of
    the gate's those that its table says.
    Others: those of LOOK_TWICE, "outside" (another name, or another thing of that name, that the
    scope leaves alone), "skipped" (nothing was asked, and why), "backend" (what answered),
    "focused" (which regions of a large file were asked about), "whole" (why all of one was),
    "drawn" (regions asked about because of what was written in others)."""

    kind: str
    text: str
    places: tuple[Spot, ...] = ()
    refuses: bool = False
    gate: bool = False  # found by the gate for meaning: the kind is one of `gate.kinds`

    @property
    def warns(self) -> bool:
        """Whether a reader should look at the edit twice."""
        return self.gate or self.kind in LOOK_TWICE

    @property
    def is_detail(self) -> bool:
        """Whether only who asks for everything wants to read it."""
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
