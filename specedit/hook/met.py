"""Whether a text has what a rule wants, where that can be told without a model.

Knows steps, syntax and where a rename would begin. Does not know the index or the work tree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specedit.edit.job import Job
from specedit.files.source import Source
from specedit.hook.rules import Step
from specedit.settings import Settings
from specedit.syntax.lacking import ANNOTATIONS, DOCSTRINGS, Lack, lacking

MOST = 3  # places that a sentence names
WANTING = {
    DOCSTRINGS: ("has no docstring", "have no docstring"),
    ANNOTATIONS: ("lacks type annotations", "lack type annotations"),
}


def unmet(source: Source, step: Step, settings: Settings) -> str | None:
    """What the text lacks, as a clause; "" when it has all; None when only a model can tell."""
    if step.requires:
        lacks = lacking(source.text, source.language, step.requires)
        return None if lacks is None else _clause(lacks, step)
    if step.instruction:
        return None
    from specedit.rename.planning import plan_rename

    if not isinstance(plan_rename(source, step.old, step.new, settings, absent_ok=True), Job):
        return ""
    found = re.compile(rf"\b{re.escape(step.old.rpartition('.')[2])}\b")
    lines = [n for n, text in enumerate(source.text.splitlines(), 1) if found.search(text)]
    where = ", ".join(map(str, lines[:MOST])) + (", …" if len(lines) > MOST else "")
    return f"`{step.old}` still stands" + (f" on line {where}" if lines else "")


def _clause(lacks: Sequence[Lack], step: Step) -> str:
    if not lacks:
        return ""
    named = [f"`{one.name}` (line {one.line})" for one in lacks[:MOST]]
    if len(lacks) > MOST:
        named.append(f"{len(lacks) - MOST} more")
    who = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return f"{who} {WANTING[step.requires][len(lacks) > 1]}"
