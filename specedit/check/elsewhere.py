"""Changes in definitions that the instruction does not name, where it names one.

What uses the named one may change with it, and so may constructors and what encloses either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.check.finding import Finding, at
from specedit.check.parsed import Change
from specedit.syntax.lines import opcodes
from specedit.syntax.outline import Symbol

WIDE = re.compile(
    r"(?i)\b(?:all|every\w*|each|both|callers?|calls|usages?|uses|throughout|file|module)\b"
)
_CONSTRUCTORS = frozenset({"__init__", "constructor", "new", "init", "setup", "setUp"})
_CALLABLE = frozenset({"function", "method"})


def changes_elsewhere(change: Change) -> Iterator[Finding]:
    """One for each definition that changed without being named."""
    symbols = change.before.symbols
    named = [one for one in symbols if _is_named(one, change.instruction)]
    if not named or WIDE.search(change.instruction):
        return
    old, new = change.before.text.split("\n"), change.after.text.split("\n")
    names = {one.own_name for one in named}
    reported: set[str] = set()
    for tag, a, b, c, d in opcodes(old, new):
        if tag != "replace" and tag != "delete":
            continue
        around = (
            one for one in reversed(symbols) if one.first_line <= a + 1 and b <= one.last_line
        )
        other = next(around, None)
        if other is None or other.kind not in _CALLABLE or other.qualified in reported:
            continue
        if other.own_name in _CONSTRUCTORS:
            continue
        if any(_encloses(one, other) or _encloses(other, one) for one in named):
            continue
        body = "\n".join((*old[other.first_line - 1 : other.last_line], *new[c:d]))
        if names & set(re.findall(r"[\w$]+", body)):
            continue
        reported.add(other.qualified)
        text = f"`{other.qualified}` changed, and the instruction names `{min(names)}`"
        yield at("elsewhere", c + 1, text)


def _encloses(one: Symbol, other: Symbol) -> bool:
    return one.first_line <= other.first_line and other.last_line <= one.last_line


def _is_named(one: Symbol, instruction: str) -> bool:
    """Whether an instruction names this definition: by a name that is not a plain word, or in
    quotes, or with its kind beside it."""
    if one.kind not in (*_CALLABLE, "class"):
        return False
    name = re.escape(one.own_name)
    kinds = r"(?:function|method|class|def|func|fn)"
    pattern = rf"[`'\"]{name}(?:\(\))?[`'\"]|\b{name}\(\)|\b{kinds}\s+{name}\b|\b{name}\s+{kinds}\b"
    if re.search(r"_|\d|[a-z][A-Z]", name):
        pattern = rf"(?<![\w$]){name}(?![\w$])"
    return re.search(pattern, instruction) is not None
