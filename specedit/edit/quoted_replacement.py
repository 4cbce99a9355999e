"""`Change the message "not found" to "no such file"`: done without a model where it is unambiguous.

The whole instruction says so, and the first text is in one comment or string of the file.
"""

from __future__ import annotations

import re

from specedit.check.finding import Finding, Spot
from specedit.files.source import Source
from specedit.scoping.languages import rules_of
from specedit.syntax.branch import grow, passages
from specedit.syntax.languages import Language

_TEXT = r"""(?:"([^"\n]+)"|(?<!\w)'([^'\n]+)'(?!\w)|`([^`\n]+)`|“([^”\n]+)”)"""
_WORDS = (
    r"(?:(?!\b(?:and|also|then|if|when|where|all|every|each|both|except|unless)\b)[^\"'`“\n]){0,60}"
)
_OLD_FIRST = re.compile(
    rf"(?i)^\s*{_WORDS}{_TEXT}\s*[,;]?\s*(?:to|with|by|into|(?:it\s+)?should\s+(?:be|say|read)"
    rf"|must\s+be)\s+{_TEXT}{_WORDS}$"
)
_NEW_FIRST = re.compile(
    rf"(?i)^\s*{_WORDS}{_TEXT}\s*,?\s*(?:instead\s+of|not|rather\s+than)\s+{_TEXT}{_WORDS}$"
)
_BESIDE = re.compile(r"(?i)\b(?:append|add|after|before|behind|between|next to|prefix|insert)\b")
_NEEDS_CARE = re.compile(r"[\"'`\\{}%$]")  # what a string literal may have to escape or to fill in
_NAMES = re.compile(  # what stands before a text that is a name: `the default of "timeout"`
    r"(?i)\b(?:of|for|in|on|from|keys?|fields?|param\w*|options?|variables?|arg\w*|named|called"
    r"|types?|defaults?|values?|functions?|methods?|class(?:es)?|rename)\s+$"
)
SHORTEST = 3  # characters of a text that says where


def quoted_replacement(source: Source, instruction: str) -> tuple[str, Finding] | None:
    """The new text, and what was done; None where the instruction is not such a replacement."""
    if (
        source.language is None
        or _BESIDE.search(instruction)
        or (texts := _texts(instruction)) is None
    ):
        return None
    old, new = texts
    if len(old) < SHORTEST or old == new or source.text.count(new):
        return None
    if set(_NEEDS_CARE.findall(new)) - set(_NEEDS_CARE.findall(old)):
        return None
    begin = r"(?<![\w$])" if re.match(r"\w", old) else ""
    end = r"(?![\w$])" if re.search(r"\w$", old) else ""
    place = re.search(begin + re.escape(old) + end, source.text)
    if place is None or source.text.count(old) != 1:
        return None
    start, stop = place.span()
    if not _in_prose(source.text, source.language, start):
        return None
    line = source.text.count("\n", 0, start) + 1
    text = f"replaced the only place of `{old[:60]}`; no model was asked"
    return source.text[:start] + new + source.text[stop:], Finding("replaced", text, (Spot(line),))


def _in_prose(text: str, language: Language, at: int) -> bool:
    """Whether a place of a text is in a comment or a string."""
    rules, data = rules_of(language.name), text.encode("utf-8", "surrogatepass")
    offset = len(text[:at].encode("utf-8", "surrogatepass"))
    literals = rules.strings if rules else frozenset[str]()
    return any(
        one.start <= offset < one.end for one in passages(grow(text, language), data, literals)
    )


def _texts(instruction: str) -> tuple[str, str] | None:
    """The text that goes and the one that comes."""
    for form, new_first in ((_OLD_FIRST, False), (_NEW_FIRST, True)):
        if (match := form.match(instruction)) is None:
            continue
        before = instruction[
            : min(match.start(n) for n, one in enumerate(match.groups(), 1) if one)
        ]
        if new_first or not _NAMES.search(before[:-1]):
            first, second = (one for one in match.groups() if one is not None)
            return (second, first) if new_first else (first, second)
    return None
