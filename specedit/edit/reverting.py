"""Reverts changes that an instruction does not ask for, before an answer is judged: white space,
quotes, wrapping, comments; and all of the code where it asks for comments only.

A change of form is reverted where it stands alone. A changed line next to it may need it: new
indentation, a comment about the new code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specedit.check.finding import Finding, Spot
from specedit.check.new_code import ABOUT_COMMENTS, ABOUT_SPACE, bare
from specedit.check.parsed import parsed_text
from specedit.import_time import regex
from specedit.syntax.languages import Language
from specedit.syntax.lines import changed_runs, lines_of

COMMENTS_ONLY = regex(  # nothing but comments is to change
    r"(?i)\b(?:has|have|without|lacks?|misses|missing)\s+(?:no|a|any|its)?\s*"
    r"(?:docs?|doc ?strings?|doc comments?|comments?|documentation|java-?docs?|jsdocs?)\b"
    r"[^.;,]*(?:[.;,]|$)"
    r"\W*(?:please\s+)?(?:(?:write|add)\s+(?:one|it|them))?\W*$"
    r"|^\W*(?:please\s+)?(?:translate|correct|fix|spell[- ]?check|improve|reword|rephrase"
    r"|rewrite|update|capitali[sz]e|proofread|shorten|clarify|add|write|complete|remove|delete)\b"
    r"(?:\s+(?:\w+\s+){0,3}?(?:spelling|typos?|errors?|mistakes?)\s+(?:in|of))?"
    r"(?:(?!\b(?:to|with|in|for|of|and|that|behind|after|from)\b)[^.;\n])*?\b(?:comments?"
    r"|doc ?strings?|javadocs?|jsdocs?|documentation|xml docs?|license header|copyright)\b"
    r"(?!.*\b(?:and|then|also)\s+(?:add|change|rename|remove|make|use|return|raise|convert)\b)"
    r"(?!.*\b(?:type hints?|annotations?|strings? literals?|messages?)\b)"
)
ABOUT_QUOTES = regex(r"(?i)quot|style|format|consisten|lint|string literal")
INDENTED = frozenset({"python", "yaml"})  # where indentation alone has a meaning
_Lines = tuple[Sequence[str], Sequence[str]]  # before, after
PROSE = frozenset({"markdown", "html", "yaml", "toml", "css", "json"})


def without_form_changes(
    before: str, after: str, language: Language | None, instruction: str
) -> tuple[str, list[Finding]]:
    """`after` without the changes that the instruction does not ask for."""
    if language is None or not language.grammar or language.name in PROSE or before == after:
        return after, []
    old, new = lines_of(before), lines_of(after)
    old_code, new_code = (parsed_text(text, language).code_lines for text in (before, after))
    comments_only = bool(COMMENTS_ONLY.search(instruction))
    pieces: list[str] = []
    form: list[Spot] = []
    code: list[Spot] = []
    at = 0
    for a, b, c, d in changed_runs(old, new):
        pieces += new[at:c]
        at = d
        lines = old_code[a:b], new_code[c:d]
        if comments_only and _bare(lines[0], False) != _bare(lines[1], False):
            code.append(Spot(a + 1))
        elif _is_form((old[a:b], new[c:d]), lines, language.name, instruction):
            form.append(Spot(a + 1))
        else:
            pieces += new[c:d]
            continue
        pieces += old[a:b]
    findings = [
        Finding("reverted", f"reverted, as the instruction does not ask for it: {what}", (*spots,))
        for what, spots in (("white space, quotes or comments", form), ("changes of code", code))
        if spots
    ]
    return ("".join([*pieces, *new[at:]]) if findings else after), findings


def _is_form(lines: _Lines, code: _Lines, language: str, instruction: str) -> bool:
    """Whether lines of both texts say the same in another form. `code`: without their comments."""
    if language in INDENTED and not _same_depth(*lines):
        return False
    quotes = not ABOUT_QUOTES.search(instruction)
    if _bare(lines[0], quotes) == _bare(lines[1], quotes):
        return not ABOUT_SPACE.search(instruction)
    if _bare(code[0], quotes) != _bare(code[1], quotes) or ABOUT_COMMENTS.search(instruction):
        return False
    return any(line.strip() for line in lines[0])  # new comments alone may be what is asked for


def _same_depth(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the lines stand equally deep, or are wrapped otherwise from the same depth."""
    before, after = (
        [len(line) - len(line.lstrip()) for line in lines if line.strip()] for lines in (old, new)
    )
    if not before or not after or before == after:
        return True
    return len(before) != len(after) and before[0] == after[0]


def _bare(lines: Sequence[str], quotes: bool) -> str:
    """The lines without what does not change their meaning."""
    text = re.sub(r",(?=[)\]}])", "", bare(lines))
    return text.replace("'", '"') if quotes else text
