"""Requests about texts: their own parts as answers to read, and prompts for the model to answer.

Most prompts are for new text, whose ids are all the model's own choice; the others are edits of a
text, where most ids are copied.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from specedit.edit import prompt as prompts
from specedit.heads.texts import Text

LINES, LONGEST = 220, 900  # of a part that is read: lines, and ids
BEFORE = 8  # lines before a part that its request shows
EDITED = 40  # lines of a text that is edited
IN_TURN = 7, 1  # so many prompts for new text, then so many edits
COMPLETIONS = ("Complete the file.", "Write the rest.", "Add the functions that are missing.")
EDITS = (
    "Add a docstring to every function.",
    "Add a function that checks its arguments, and use it.",
    "Add type annotations.",
    "Handle errors: say what went wrong and where.",
)
BY_NAME = (
    "Write a {language} function `{about}`, and say what it is for.",
    "Write `{about}` in {language}, with types, and with checks of its arguments.",
    "Write tests in {language} for `{about}`.",
    "Write a small {language} program in which `{about}` is used.",
)
BY_DESCRIPTION = (
    "Write a {language} function for this: {about}",
    "Write {language} code with a test. It is to do this: {about}",
)
NAME = re.compile(r"\b(?:def|class|func|function|fn|struct|interface)\s+([A-Za-z]\w{4,40})\b")
DESCRIPTION = re.compile(r'(?:"""|/\*\*\s+(?:\*\s+)?|// )([A-Z][^"\n*]{20,120}\.)')
Turns = Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Request:
    """One prompt, under the name of its rows."""

    name: str
    held: bool
    turns: Turns
    opening: str

    def prompt(self, tokenizer: Any, template: str) -> list[int]:
        from specedit.models.template import prompt_ids

        return prompt_ids(tokenizer, template, self.turns, self.opening)


def is_part(name: str) -> bool:
    """Whether rows of this name are of a part of a text, not of an answer."""
    return name.rsplit(":", 1)[-1].isdigit()


def parts(text: Text) -> Iterator[tuple[Request, str]]:
    """The parts of a text in random order (the same for the same text), each as the answer to a
    request for it."""
    numbers = random.Random(text.digest)
    lines = text.text.splitlines(keepends=True)
    starts = list(range(0, len(lines), LINES))
    numbers.shuffle(starts)
    for number, start in enumerate(starts):
        before = "".join(lines[max(0, start - BEFORE) : start]) or "\n"
        asked = _edit(text, before, numbers.choice(COMPLETIONS), str(number))
        yield asked, "".join(lines[start : start + LINES])


def questions(texts: Sequence[Text]) -> Iterator[Request]:
    """All prompts for the model to answer: some for new text, one for an edit, and so on."""
    both = _new(texts), _edits(texts)
    while batch := [
        one for kind, count in zip(both, IN_TURN, strict=True) for one in islice(kind, count)
    ]:
        yield from batch


def _edits(texts: Sequence[Text]) -> Iterator[Request]:
    for turn, instruction in enumerate(EDITS):
        for text in texts[turn :: len(EDITS)]:
            part = "".join(text.text.splitlines(keepends=True)[:EDITED])
            yield _edit(text, part, instruction, "answer")


def _edit(text: Text, part: str, instruction: str, name: str) -> Request:
    messages = prompts.messages(text.name.rsplit("/", 1)[-1], part, instruction)
    turns: Turns = [(message.role, message.segments) for message in messages]
    return Request(f"{text.digest}:{name}", text.held, turns, prompts.opening("```"))


def _new(texts: Sequence[Text]) -> Iterator[Request]:
    """For the names that a text defines, and for its descriptions of functions."""
    from specedit.syntax.languages import language_of

    kinds = (("new", BY_NAME, NAME), ("said", BY_DESCRIPTION, DESCRIPTION))
    for turn in range(max(len(forms) for _, forms, _ in kinds)):
        for text in texts:
            language = language_of(text.name)
            for kind, forms, pattern in kinds if language else ():
                subjects = sorted(set(pattern.findall(text.text)))
                if language and turn < min(len(forms), len(subjects)):
                    asked = forms[turn].format(language=language.name, about=subjects[turn])
                    name = f"{text.digest}:{kind}{turn}"
                    turns: Turns = [("user", (asked,))]
                    yield Request(name, text.held, turns, f"```{language.lexer}\n")
