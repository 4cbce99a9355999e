"""The texts that heads learn from: files of code that git tracks.

A file is held out by its content, so the same files are held out when training continues.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from specedit.edit import prompt as prompts
from specedit.errors import FileError, UsageError

NOT_CODE = ("json", "yaml", "toml", "html", "css", "markdown")
HELD = 12  # one file of so many is held out
LEAST, MOST = 400, 200_000  # characters of a text


@dataclass(frozen=True, slots=True)
class Text:
    """One file to learn from."""

    name: str
    text: str
    held: bool = False  # out of learning, to measure acceptance

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]


def read_texts(paths: Sequence[Path]) -> list[Text]:
    """The tracked files of these folders, and these tracked files, in the order of digests."""
    unique: dict[str, Text] = {}
    for path in _tracked(paths):
        text = _read(path)
        if text is not None:
            unique.setdefault(text.digest, text)
    if not unique:
        where = ", ".join(map(str, paths))
        raise UsageError(
            f"There is nothing to learn from in {where}: no file that git tracks holds code.",
            hint="Name a folder of a repository with source files, or commit them first.",
        )
    held = {digest for digest in unique if int(digest[:8], 16) % HELD == 0}
    if not held or len(held) == len(unique):  # few files: the first one, if another one is left
        held = set(sorted(unique)[: int(len(unique) > 1)])
    return [replace(unique[digest], held=digest in held) for digest in sorted(unique)]


def _tracked(paths: Sequence[Path]) -> Iterator[Path]:
    from specedit.files import git
    from specedit.files.git import real

    for path in paths:
        if not path.exists():
            raise UsageError(f"{path} does not exist.", hint="Name folders or files.")
        if path.is_dir():
            yield from git.under(path)
        elif real(path) in {real(one) for one in git.under(path.parent)}:
            yield path
        else:
            raise UsageError(f"{path} is not tracked by git.", hint=f"git add {path}")


def _read(path: Path) -> Text | None:
    """A file of code; None for other files."""
    from specedit.files.source import read
    from specedit.syntax.languages import language_of

    language = language_of(path.name)
    if language is None or language.name in NOT_CODE:
        return None
    try:
        text = read(path).text
    except FileError:
        return None
    return Text(str(path), text) if LEAST <= len(text) <= MOST and text.strip() else None


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


@dataclass(frozen=True, slots=True)
class TeacherRequest:
    """One prompt, under the name of its rows."""

    name: str
    held: bool
    turns: Turns
    opening: str

    def prompt(self, tokenizer: Any) -> list[int]:
        from specedit.models.tokenizer import prompt_ids

        return prompt_ids(tokenizer, self.turns, self.opening)


def is_part(name: str) -> bool:
    """Whether rows of this name are of a part of a text, not of an answer."""
    return name.rsplit(":", 1)[-1].isdigit()


def parts(text: Text) -> Iterator[tuple[TeacherRequest, str]]:
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


def questions(texts: Sequence[Text]) -> Iterator[TeacherRequest]:
    """All prompts for the model to answer: some for new text, one for an edit, and so on."""
    both = _new(texts), _edits(texts)
    while batch := [
        one for kind, count in zip(both, IN_TURN, strict=True) for one in islice(kind, count)
    ]:
        yield from batch


def _edits(texts: Sequence[Text]) -> Iterator[TeacherRequest]:
    for turn, instruction in enumerate(EDITS):
        for text in texts[turn :: len(EDITS)]:
            part = "".join(text.text.splitlines(keepends=True)[:EDITED])
            yield _edit(text, part, instruction, "answer")


def _edit(text: Text, part: str, instruction: str, name: str) -> TeacherRequest:
    messages = prompts.messages(text.name.rsplit("/", 1)[-1], part, instruction)
    turns: Turns = [(message.role, message.segments) for message in messages]
    return TeacherRequest(f"{text.digest}:{name}", text.held, turns, prompts.opening("```"))


def _new(texts: Sequence[Text]) -> Iterator[TeacherRequest]:
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
                    yield TeacherRequest(name, text.held, turns, f"```{language.lexer}\n")
