"""Everything that the gate has to say of one edit: the seam to those who judge.

Runs each check, and turns what it finds into findings by the table of verdicts. A check that a
text makes fail has nothing to say: the gate is a second look, and never in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

from specedit.finding import Finding, Spot
from specedit.gate import (
    asked,
    callers,
    calls,
    checker,
    comments,
    duplicates,
    effect,
    elsewhere,
    formats,
    imports,
    library,
    names,
    nothing,
    paths,
    returns,
    unasked,
    undefined,
    unreachable,
    whitespace,
)
from specedit.gate.facts import LONGEST, facts
from specedit.gate.hit import Change, Hit
from specedit.gate.kinds import CHECKER, DEFAULT, NOTHING, OFF, REFUSE, Verdicts
from specedit.syntax import trees
from specedit.syntax.languages import Language

MOST = 5  # findings of one kind that are said of one file

Check = Callable[[Change], Iterator[Hit]]
CHECKS: tuple[Check, ...] = (
    undefined.hits,
    calls.hits,
    formats.hits,
    library.hits,
    returns.hits,
    callers.hits,
    unreachable.hits,
    duplicates.hits,
    elsewhere.hits,
    imports.hits,
    names.hits,
    asked.hits,
    paths.hits,
    unasked.hits,
    effect.hits,
    nothing.hits,
    comments.hits,
    whitespace.hits,
)


def findings(
    before: str,
    after: str,
    language: Language | None,
    instruction: str = "",
    verdicts: Verdicts = DEFAULT,
) -> list[Finding]:
    """What `after` does as an edit of `before` that a person should know; lines are those of
    `after`. Empty for an edit that changes nothing, and for one that does not parse."""
    if before == after or language is None or not language.grammar:
        return []
    if max(len(before), len(after)) > LONGEST or trees.errors(after, language):
        return []
    if all(verdict == OFF for verdict in verdicts.values()):
        return []
    found: dict[Hit, None] = {}
    change = Change(facts(before, language), facts(after, language), instruction)
    for check in CHECKS:
        found |= dict.fromkeys(check(change))
    return [
        _finding(hit, verdicts)
        for kind in verdicts
        for hit in _of_kind(kind, list(found))
        if verdicts[kind] != OFF
    ]


def checked(
    commands: str,
    before: str,
    after: str,
    language: Language | None,
    place: tuple[Path, PurePath],
    verdicts: Verdicts = DEFAULT,
) -> list[Finding]:
    """What the programs of `check-with` say of `after` and not of `before`; `place` is the work
    tree, and the file's path in it."""
    if before == after or not commands or verdicts[CHECKER] == OFF:
        return []
    try:
        name = language.name if language else ""
        found = list(checker.hits(commands, before, after, name, *place))
    except checker.CheckerError as problem:
        return [Finding("not-checked", f"check-with: {problem}")]
    return [_finding(hit, verdicts) for hit in found[:MOST]]


def idle(verdicts: Verdicts = DEFAULT) -> list[Finding]:
    """What is to be said of an answer that changes nothing."""
    if verdicts[NOTHING] == OFF:
        return []
    refuses = verdicts[NOTHING] == REFUSE
    return [Finding(NOTHING, "the answer changes nothing", refuses=refuses, gate=True)]


def _of_kind(kind: str, hits: list[Hit]) -> list[Hit]:
    return sorted((hit for hit in hits if hit.kind == kind), key=lambda hit: hit.line)[:MOST]


def _finding(hit: Hit, verdicts: Verdicts) -> Finding:
    said = f"line {hit.line}: {hit.text}"
    return Finding(hit.kind, said, (Spot(hit.line),), verdicts[hit.kind] == REFUSE, gate=True)
