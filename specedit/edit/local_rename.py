"""`Rename the local variable total to result in checkout`: done by scopes, without a model."""

from __future__ import annotations

import re

from specedit.check.finding import Finding, Spot
from specedit.files.source import Source
from specedit.scoping.languages import rules_of
from specedit.scoping.meaning import meanings
from specedit.syntax import trees

_NAME = r"[`'\"]?([A-Za-z_$][\w$]*)[`'\"]?"
_OLD = (
    r"(?:please\s+)?rename\s+(?:the\s+)?(?:(?:local|loop)\s+)?"
    rf"(?:(?:variable|parameter|param|argument|arg|local|constant)\s+)?{_NAME}"
)
_NEW = rf"(?:to|as|into)\s+{_NAME}"
_WHERE = (
    r"(?:in|inside|of|within)\s+(?:the\s+)?(?:function\s+|method\s+|constructor\s+)?"
    r"[`'\"]?([A-Za-z_$][\w$.:#]*)(?:\(\))?[`'\"]?(?:\s+(?:function|method|constructor))?"
    r"(?:\s+only)?"
)
_FORMS = (  # and which of the groups are the old name, the new one and the function
    (re.compile(rf"(?i)^\s*{_OLD}\s+{_NEW}\s+{_WHERE}\s*[.!]?\s*$"), (1, 2, 3)),
    (re.compile(rf"(?i)^\s*{_OLD}\s+{_WHERE}\s+{_NEW}\s*[.!]?\s*$"), (1, 3, 2)),
    (re.compile(rf"(?i)^\s*{_WHERE}\s*,?\s*{_OLD}\s+{_NEW}\s*[.!]?\s*$"), (2, 3, 1)),
)
LOCAL = frozenset({"local", "parameter"})


def local_rename(source: Source, instruction: str) -> tuple[str, Finding] | None:
    """The new text, and what was done, where the whole instruction is the rename of a local name of
    one function that has it and no other of the new name; else None."""
    if (parts := _parts(instruction)) is None or source.language is None:
        return None
    old, new, function = parts
    if rules_of(source.language.name) is None or not re.search(
        rf"\b{re.escape(old)}\b", source.text
    ):
        return None
    holders = [
        one
        for one in trees.find_symbol(source.text, source.language, function)
        if one.kind in ("function", "method")
    ]
    if len(holders) != 1 or trees.errors(source.text, source.language):
        return None
    first, last = holders[0].first_line, holders[0].last_line
    chosen = [
        one
        for one in meanings(source.text, source.language, old)[0]
        if one.declared
        and all(each.kind in LOCAL and first <= each.leaf.line <= last for each in one.declared)
    ]
    leaves = sorted({(leaf.start, leaf.end, leaf.line) for one in chosen for leaf in one.leaves})
    shorthand = any("shorthand" in leaf.type for one in chosen for leaf in one.leaves)
    body = "\n".join(source.text.split("\n")[first - 1 : last])
    if not leaves or shorthand or re.search(rf"(?<![\w$]){re.escape(new)}(?![\w$])", body):
        return None
    data = source.text.encode("utf-8", "surrogatepass")
    for start, end, _ in reversed(leaves):
        if data[start:end] != old.encode():
            return None  # a sigil, an escaped name
        data = data[:start] + new.encode() + data[end:]
    spots = tuple(Spot(line) for line in dict.fromkeys(line for *_, line in leaves))
    text = f"renamed {old} in {holders[0].qualified} by its scope; no model was asked"
    return data.decode("utf-8", "surrogatepass"), Finding("renamed-local", text, spots)


def _parts(instruction: str) -> tuple[str, str, str] | None:
    """The old name, the new one and the function."""
    for form, (old, new, function) in _FORMS:
        if match := form.match(instruction):
            return match[old], match[new], match[function]
    return None
