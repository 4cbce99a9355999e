"""Which of many files an instruction means, where their words leave it open: one question.

The model is shown a line a file, its name and what it defines, and answers with names; one that is
not in the list counts for nothing. Knows texts, Plans and a backend. Reads and writes no file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from specedit.edit import prompt
from specedit.edit.backend import Answer, Backend
from specedit.edit.plan import Plan
from specedit.errors import InputError
from specedit.syntax.languages import language_of
from specedit.syntax.trees import symbols

MOST = 40  # files of one question
WIDE = 160  # characters of a file's line
ANSWER = 200  # tokens of the answer


def meant(
    texts: Mapping[str, str], names: Sequence[str], instruction: str, backend: Backend
) -> list[str]:
    """Of the files named, those that the model says will be changed."""
    names = names[:MOST]
    listed = "".join(_line(name, texts[name]) for name in names)
    marks = prompt.fence(listed)
    plan = Plan(
        messages=prompt.which(listed, instruction),
        opening=prompt.opening(marks),
        closing=marks,
        instruction=instruction,
        draft=("lookup",),
        max_tokens=ANSWER,
    )
    for event in backend.run(plan):
        if isinstance(event, Answer):
            said = {_name(line) for line in event.text.splitlines()}
            return [name for name in names if name in said]
    raise InputError("the backend gave no answer", file="--find")


def _line(name: str, text: str) -> str:
    tops = [one.name for one in symbols(text, language_of(name, text)) if one.depth < 2]
    shown = name.encode("utf-8", "replace").decode()
    return f"{shown}: {', '.join(dict.fromkeys(tops))}"[:WIDE].rstrip(", :") + "\n"


def _name(line: str) -> str:
    """The file that a line of an answer names."""
    return re.sub(r"^[\s\-*`]+", "", line).partition(": ")[0].strip().strip("`")
