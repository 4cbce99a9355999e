"""`Rename the local variable total to result in checkout`: done by scopes, without a model."""

from __future__ import annotations

import re

from specedit.check.finding import Finding, Spot
from specedit.files.source import Source
from specedit.scoping.languages import rules_of
from specedit.scoping.meaning import Meaning, meanings
from specedit.syntax import trees
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol

_NAME = r"[`'\"]?([A-Za-z_$][\w$]*)(?:\(\))?[`'\"]?"
_OLD = (
    r"(?:please\s+)?rename\s+(?:the\s+)?(?:(?:local|loop|private|static)\s+)*"
    r"(?:(?:variable|parameter|param|argument|arg|local|constant|function|method|field|class)\s+)?"
    + _NAME
)
_NEW = rf"(?:to|as|into)\s+{_NAME}"
_WHERE = (
    r"(?:in|inside|of|within)\s+(?:the\s+)?(?:function\s+|method\s+|constructor\s+)?"
    r"[`'\"]?([A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[\w$]+)*)(?:\(\))?[`'\"]?"
    r"(?:\s+(?:function|method|constructor))?"
    r"(?:\s+only)?"
)
_FORMS = (  # and which of the groups are the old name, the new one and the function
    (re.compile(rf"(?i)^\s*{_OLD}\s+{_NEW}\s+{_WHERE}\s*[.!]?\s*$"), (1, 2, 3)),
    (re.compile(rf"(?i)^\s*{_OLD}\s+{_WHERE}\s+{_NEW}\s*[.!]?\s*$"), (1, 3, 2)),
    (re.compile(rf"(?i)^\s*{_WHERE}\s*,?\s*{_OLD}\s+{_NEW}\s*[.!]?\s*$"), (2, 3, 1)),
    (re.compile(rf"(?i)^\s*{_OLD}\s+{_NEW}\s*[.!]?\s*$"), (1, 2, 0)),
    (
        re.compile(
            rf"(?i)^\s*{_NAME}\s+is\s+mis-?spel(?:led|t)\s*[;:,.]\s*rename\s+it\s+{_NEW}\s*[.!]?\s*$"
        ),
        (1, 2, 0),
    ),
)
LOCAL = frozenset({"local", "parameter"})
_Found = tuple[list[Meaning], str, tuple[int, int]]  # where, and its first and last line


def local_rename(source: Source, instruction: str) -> tuple[str, Finding] | None:
    """The new text, and what was done, where the whole instruction is a rename that the scopes of
    this file decide: of a local name of the one function that it names, or of a name that means one
    thing only in the file. Else None."""
    if (parts := _parts(instruction)) is None or source.language is None:
        return None
    old, new, function = parts
    if rules_of(source.language.name) is None or not _word(old).search(source.text):
        return None
    if trees.errors(source.text, source.language):
        return None
    found = (
        _in_function(source.text, source.language, old, function)
        if function
        else _in_file(source.text, source.language, old)
    )
    if found is None:
        return None
    chosen, where, (first, last) = found
    leaves = sorted({(leaf.start, leaf.end, leaf.line) for one in chosen for leaf in one.leaves})
    shorthand = any("shorthand" in leaf.type for one in chosen for leaf in one.leaves)
    if not leaves or shorthand:
        return None
    for other in meanings(source.text, source.language, new)[0]:
        if any(first <= leaf.line <= last for leaf in other.leaves):
            return None
    data = source.text.encode("utf-8", "surrogatepass")
    for start, end, _ in reversed(leaves):
        if data[start:end] != old.encode():
            return None  # a sigil, an escaped name
        data = data[:start] + new.encode() + data[end:]
    spots = tuple(Spot(line) for line in dict.fromkeys(line for *_, line in leaves))
    text = f"renamed {old} in {where} by its scope; no model was asked"
    if any(each.kind not in LOCAL for one in chosen for each in one.declared):
        text += f"; specedit rename {old} {new} renames it in other files too"
    return data.decode("utf-8", "surrogatepass"), Finding("renamed-local", text, spots)


def _in_function(text: str, language: Language, old: str, function: str) -> _Found | None:
    """What the name means as a local of the only function of that name."""
    holders: list[Symbol] = [
        one
        for one in trees.find_symbol(text, language, function)
        if one.kind in ("function", "method")
    ]
    if len(holders) != 1:
        return None
    first, last = holders[0].first_line, holders[0].last_line
    chosen = [
        one
        for one in meanings(text, language, old)[0]
        if one.declared
        and all(each.kind in LOCAL and first <= each.leaf.line <= last for each in one.declared)
    ]
    return chosen, holders[0].qualified, (first, last)


def _in_file(text: str, language: Language, old: str) -> _Found | None:
    """What the name means where it means one thing in all of the file."""
    every = meanings(text, language, old)[0]
    if len(every) != 1 or not every[0].declared:
        return None
    if any(one.kind == "import" for one in every[0].declared):
        return None
    return every, "the file", (1, text.count("\n") + 1)


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _parts(instruction: str) -> tuple[str, str, str] | None:
    """The old name, the new one and the function, "" without one."""
    for form, (old, new, function) in _FORMS:
        if match := form.match(instruction):
            return match[old], match[new], match[function] if function else ""
    return None
