"""What of an answer follows from a change elsewhere: lines with the name it is about, or imports.

A small model that is asked whether an import is missing writes the import, and at times the file's
doc string anew. The second round is for the one thing; what else it changed stays as it was. Knows
lines and names.
"""

from __future__ import annotations

import re

from specedit.text.lines import lines_of, opcodes

_UNNAMED = re.compile(r"\s*(?:#\s*include\b|using\s)")  # imports that do not say what they bring


def pertinent(before: str, after: str, name: str, *, imports: bool = False) -> str:
    """The text after, with only those of its changes that hold the name; among imports also those
    that do not say what they bring. What such a change takes away besides stays, before it."""
    if not name:
        return after
    holds = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    ended = after if after.endswith("\n") or not before.endswith("\n") else f"{after}\n"
    old, new = lines_of(before), lines_of(ended)
    kept: list[str] = []
    for tag, a, b, c, d in opcodes(old, new):
        was, is_ = old[a:b], new[c:d]
        about = [one for one in is_ if holds.search(one) or (imports and _UNNAMED.match(one))]
        if tag == "equal" or not (about or any(holds.search(line) for line in was)):
            kept += was
        elif len(is_) >= len(was) or all(holds.search(line) for line in was):
            kept += is_
        else:
            kept += [*was, *(line for line in about if line not in was)]
    return "".join(kept)
