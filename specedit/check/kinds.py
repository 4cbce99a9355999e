"""The kinds of findings whose verdict the user chooses, and the table of verdicts.

Users write over it: `undefined=note, whitespace=off`. Imports nothing heavy: settings check values
against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

REFUSE, NOTE, OFF = "refuse", "note", "off"
QUESTION, CHECKER = "question", "checker"
NOTHING = "nothing"  # often right when many files share an instruction: `strict` leaves it a note
VERDICTS = (REFUSE, NOTE, OFF)

Verdicts = Mapping[str, str]  # by kind


@dataclass(frozen=True)
class Kind:
    """One kind of finding, its default verdict, and what it reports."""

    name: str
    verdict: str
    about: str


KINDS = (
    Kind(QUESTION, REFUSE, "the instruction asks for an answer, not for an edit: `specedit ask`"),
    Kind("undefined", REFUSE, "a name is used that nothing defines or imports"),
    Kind("elsewhere", NOTE, "a definition changed that the instruction does not name"),
    Kind("renamed", NOTE, "a definition lost its name, and the instruction does not ask for that"),
    Kind("whitespace", NOTE, "lines changed in white space only"),
    Kind(NOTHING, NOTE, "the answer changes nothing, or nothing but comments"),
    Kind(CHECKER, NOTE, "the program of `check-with` reports something new"),
    Kind("unreachable", NOTE, "new code stands behind a return, a raise, a break or a continue"),
)
DEFAULT: Verdicts = {kind.name: kind.verdict for kind in KINDS}
ALL_OFF: Verdicts = dict.fromkeys(DEFAULT, OFF)
OF_RENAMES = ("undefined", CHECKER)  # what a new name can break


def verdicts(
    table: Mapping[str, str] | None = None, *, strict: bool = False, allowed: Iterable[str] = ()
) -> Verdicts:
    """The verdict of each kind: the defaults, then `table`; `strict` refuses whatever is noted,
    and what is `allowed` is only noted."""
    chosen = {**DEFAULT, **(table or {})}
    if strict:
        exempt = {name for name, verdict in chosen.items() if verdict == OFF or name == NOTHING}
        chosen = {name: one if name in exempt else REFUSE for name, one in chosen.items()}
    return {**chosen, **_noted(chosen, allowed)}


def verdicts_of_rename(
    table: Mapping[str, str], *, strict: bool = False, allowed: Iterable[str] = ()
) -> Verdicts:
    """The same for a rename, whose places the scopes decide: only the kinds that a new name can
    break count, where the user names them, and the report of the user's own program."""
    chosen = {CHECKER: DEFAULT[CHECKER]}
    chosen |= dict.fromkeys(OF_RENAMES, REFUSE) if strict else {}
    chosen |= {
        name: REFUSE if strict and verdict == NOTE else verdict
        for name, verdict in table.items()
        if name in OF_RENAMES
    }
    return {**ALL_OFF, **chosen, **_noted(chosen, allowed)}


def _noted(chosen: Verdicts, allowed: Iterable[str]) -> dict[str, str]:
    return {name: NOTE for name in allowed if chosen.get(name) == REFUSE}


def parsed_verdicts(text: str) -> dict[str, str]:
    """`kind=verdict, …` as a table; a ValueError names the part that is not one."""
    table: dict[str, str] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, sign, verdict = (one.strip() for one in part.partition("="))
        if not sign:
            raise ValueError(f"{part!r} is not KIND=VERDICT")
        if verdict not in VERDICTS:
            raise ValueError(f"{name} is one of {', '.join(VERDICTS)}, not {verdict!r}")
        table[name] = verdict
    return table
