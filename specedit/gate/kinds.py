"""The table of the gate: every kind of finding, and what becomes of an edit that has one.

Data, and how a person writes over it: `undefined=refuse, comments=off`. Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

REFUSE, NOTE, OFF = "refuse", "note", "off"
QUESTION, CHECKER = "question", "checker"
NOTHING = "nothing"  # often right, of an instruction for many files: `strict` leaves it alone
VERDICTS = (REFUSE, NOTE, OFF)

Verdicts = Mapping[str, str]  # by kind


@dataclass(frozen=True)
class Kind:
    """One kind of finding, its verdict where nobody says another, and what it is."""

    name: str
    verdict: str
    about: str


KINDS = (
    Kind(QUESTION, REFUSE, "the instruction asks for an answer and no edit: `specedit ask`"),
    Kind("undefined", REFUSE, "a name is used that nothing defines or imports"),
    Kind("arguments", REFUSE, "a call gives other arguments than a definition in the file takes"),
    Kind("parameters", REFUSE, "a definition takes other parameters, and a call of it stayed"),
    Kind("format", REFUSE, "a text's places do not fit the values that are put into them"),
    Kind("library", NOTE, "Python's own modules have no such name, or take no such argument"),
    Kind("returns", NOTE, "a return contradicts its function's annotation"),
    Kind("callers", OFF, "a definition needs a parameter that its callers elsewhere do not give"),
    Kind("duplicate", NOTE, "a definition stands twice, or lines stand behind themselves"),
    Kind("elsewhere", NOTE, "a definition changed that the instruction does not name"),
    Kind("renamed", NOTE, "a definition lost its name, and nobody asked for that"),
    Kind("missing", NOTE, "the instruction asks for something that the answer does not have"),
    Kind("paths", NOTE, "a function can end without its value, a loop never, a local is not set"),
    Kind("unasked", NOTE, "new code runs when the file is loaded, or nothing uses it"),
    Kind(
        "effect", NOTE, "new code that runs and changes nothing, or a new name that nothing reads"
    ),
    Kind("imports", NOTE, "an import is new and not used, or not used any more"),
    Kind("comments", NOTE, "a comment or a doc string is lost, and its code is still there"),
    Kind("whitespace", NOTE, "lines changed in white space only"),
    Kind(NOTHING, NOTE, "the answer changes nothing, or nothing but comments"),
    Kind(CHECKER, NOTE, "the program of `check-with` says something of it that is new"),
    Kind("unreachable", NOTE, "new code stands behind a return, a raise, a break or a continue"),
)
DEFAULT: Verdicts = {kind.name: kind.verdict for kind in KINDS}
SILENT: Verdicts = dict.fromkeys(DEFAULT, OFF)
OF_RENAMES = ("undefined", "arguments", "format", CHECKER)  # what a new name can break


def of_rename(
    table: Mapping[str, str], *, strict: bool = False, allowed: Iterable[str] = ()
) -> Verdicts:
    """The same for a rename, whose places are the scopes' own word: of the kinds that a new name
    can break only those count that a person speaks of, and what a program of theirs says."""
    spoken = {CHECKER: DEFAULT[CHECKER]}
    spoken |= dict.fromkeys(OF_RENAMES, REFUSE) if strict else {}
    spoken |= {
        name: REFUSE if strict and one == NOTE else one
        for name, one in table.items()
        if name in OF_RENAMES
    }
    let = {name: NOTE for name in allowed if spoken.get(name) == REFUSE}
    return {**SILENT, **spoken, **let}


def known() -> list[str]:
    return list(DEFAULT)


def parsed(text: str) -> dict[str, str]:
    """`kind=verdict, …` as a table; a ValueError says what of it is none."""
    found: dict[str, str] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, sign, verdict = (one.strip() for one in part.partition("="))
        if not sign:
            raise ValueError(f"{part!r} is not KIND=VERDICT")
        if verdict not in VERDICTS:
            raise ValueError(f"{name} is one of {', '.join(VERDICTS)}, not {verdict!r}")
        found[name] = verdict
    return found


def verdicts(
    table: Mapping[str, str] | None = None, *, strict: bool = False, allowed: Iterable[str] = ()
) -> Verdicts:
    """What becomes of each kind: the defaults, then `table`; `strict` refuses whatever is noted,
    and what is `allowed` is only noted."""
    found = {**DEFAULT, **(table or {})}
    if strict:
        kept = {name for name, one in found.items() if one == OFF or name == NOTHING}
        found = {name: one if name in kept else REFUSE for name, one in found.items()}
    return {**found, **{name: NOTE for name in allowed if found.get(name) == REFUSE}}
