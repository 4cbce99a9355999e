"""Reverts what stands next to what an instruction asks for, before an answer is judged: the
instruction itself, and changes of form: white space, quotes, wrapping, comments.

A change of form is reverted where it stands alone. A changed line next to it may need it: new
indentation, a comment about the new code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specedit.check.answer import bare, python_error
from specedit.check.finding import Finding, Spot
from specedit.check.instruction import ABOUT_COMMENTS
from specedit.check.parsed import parsed_text
from specedit.syntax.languages import Language
from specedit.syntax.lines import changed_runs, lines_of

INDENTED = frozenset({"python", "yaml"})  # where indentation alone has a meaning
_Lines = tuple[Sequence[str], Sequence[str]]  # before, after
PROSE = frozenset({"markdown", "html", "yaml", "toml", "css", "json"})


def without_form_changes(
    before: str, after: str, language: Language | None, instruction: str
) -> tuple[str, list[Finding]]:
    """`after` without the changes of form. Where nothing else changed, they are what was asked
    for; and so are comments, where the instruction is about comments."""
    if language is None or not language.grammar or language.name in PROSE or before == after:
        return after, []
    old, new = lines_of(before), lines_of(after)
    old_code, new_code = (parsed_text(text, language).code_lines for text in (before, after))
    pieces: list[str] = []
    form: list[Spot] = []
    runs = list(changed_runs(old, new))
    at = 0
    for a, b, c, d in runs:
        pieces += new[at:c]
        at = d
        code = old_code[a:b], new_code[c:d]
        if _is_form((old[a:b], new[c:d]), code, language.name, instruction):
            form.append(Spot(a + 1))
            pieces += old[a:b]
        else:
            pieces += new[c:d]
    if not form or len(form) == len(runs):
        return after, []
    what = "reverted, as the instruction does not ask for it: white space, quotes or comments"
    return "".join([*pieces, *new[at:]]), [Finding("reverted", what, tuple(form))]


def without_instruction(
    before: str, after: str, language: Language | None, instruction: str
) -> tuple[str, list[Finding]]:
    """`after` without added lines that are the whole instruction, which the model repeats in front
    of an answer that is else right."""
    asked = instruction.strip()
    if language is None or not language.grammar or language.name in PROSE or asked in before:
        return after, []
    words = " " in asked and asked.isprintable() and len(asked) < 200
    if words and language.name == "python" and python_error(asked) is None:
        return after, []  # it is code: `import os`
    lines = lines_of(after)
    kept = [line for line in lines if line.strip() != asked]
    if len(kept) == len(lines):
        return after, []
    first = next(line for line, text in enumerate(lines, 1) if text.strip() == asked)
    if first == 1 and not before.startswith("\n"):  # with the blank lines that follow it
        kept = lines_of("".join(kept).lstrip("\n"))
    text = "left out: the instruction, which the answer repeats"
    return "".join(kept), [Finding("reverted", text, (Spot(first),))]


def _is_form(lines: _Lines, code: _Lines, language: str, instruction: str) -> bool:
    """Whether lines of both texts say the same in another form. `code`: without their comments."""
    if language in INDENTED and not _same_depth(*lines):
        return False
    if _bare(lines[0]) == _bare(lines[1]):
        return True
    if _bare(code[0]) != _bare(code[1]) or ABOUT_COMMENTS.search(instruction):
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


def _bare(lines: Sequence[str]) -> str:
    """The lines without what does not change their meaning."""
    return re.sub(r",(?=[)\]}])", "", bare(lines)).replace("'", '"')
