"""The table of the gate: every kind of finding, and what becomes of an edit that has one.

Data, and how a person writes over it: `undefined=refuse, comments=off`. Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

REFUSE, NOTE, OFF = "refuse", "note", "off"
VERDICTS = (REFUSE, NOTE, OFF)

Verdicts = Mapping[str, str]  # by kind


@dataclass(frozen=True)
class Kind:
    """One kind of finding, its verdict where nobody says another, and what it is."""

    name: str
    verdict: str
    about: str


KINDS = (
    Kind("undefined", REFUSE, "a name is used that nothing defines or imports"),
    Kind("unreachable", NOTE, "new code stands behind a return, a raise, a break or a continue"),
)
DEFAULT: Verdicts = {kind.name: kind.verdict for kind in KINDS}
SILENT: Verdicts = dict.fromkeys(DEFAULT, OFF)


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
        found = {name: OFF if one == OFF else REFUSE for name, one in found.items()}
    return {**found, **{name: NOTE for name in allowed if found.get(name) == REFUSE}}
