"""The model's own answers: what heads will have to guess is what it says.

Most requests are for new text, whose ids are all the model's own choice; the others are edits of a
text, where most ids are copied. Each answer is kept in a list as it comes, so that none is asked
for twice. Many are written at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from specedit.files import regular, stored
from specedit.heads import reading
from specedit.heads.corpus import Text
from specedit.heads.shards import Shards
from specedit.heads.shelf import HeadsPlace
from specedit.heads.target import HeadsTarget
from specedit.heads.writing import AnswerWriter

ANSWER = 224  # ids of an answer
LEAST = 8  # of one that is learnt from
AT_ONCE = 64  # answers that are written at a time: more hardly make an id cheaper
IN_TURN = 7, 1  # so many requests for new text, then so many edits
SHOWN = 40  # lines of a text that is edited
INSTRUCTIONS = (
    "Add a docstring to every function.",
    "Add a function that checks its arguments, and use it.",
    "Add type annotations.",
    "Add a function that formats what this file computes as text, with tests.",
    "Handle errors: say what went wrong and where.",
    "Add a class that wraps these functions.",
)
NEW = (
    "Write a {language} function `{about}`, and say what it is for.",
    "Write `{about}` in {language}, with types, and with checks of its arguments.",
    "Write tests in {language} for `{about}`.",
    "Write a small {language} program in which `{about}` is used.",
)
SAID = (
    "Write a {language} function for this: {about}",
    "Write {language} code with a test. It is to do this: {about}",
)
Turns = Sequence[tuple[str, Sequence[str]]]
NAMED = re.compile(r"\b(?:def|class|func|function|fn|struct|interface)\s+([A-Za-z]\w{4,40})\b")
DESCRIBED = re.compile(r'(?:"""|/\*\*\s+(?:\*\s+)?|// )([A-Z][^"\n*]{20,120}\.)')


@dataclass(frozen=True)
class AnswerRequest:
    """One request, by the name that its answer is kept under."""

    name: str
    held: bool
    turns: Turns
    opening: str


@dataclass(frozen=True)
class KeptAnswer:
    """One line of the file of answers."""

    name: str
    answer: tuple[int, ...]


def given(
    target: HeadsTarget, texts: Sequence[Text], place: HeadsPlace, shards: Shards
) -> Generator[str, None, None]:
    """The model's own answers about the texts, kept so that none is asked for twice.

    Yields behind every pass. What is under way when it is closed is kept as far as it came.
    """
    from specedit.models.template import prompt_ids

    path = place.work / "answers.jsonl"
    known = _kept_answers(path)
    passes = target.engine.passes
    writer: AnswerWriter[AnswerRequest] = AnswerWriter(passes, target.tokenizer.ends, ANSWER)
    waiting = (one for one in requests(texts) if not shards.known(one.name))
    try:
        while True:
            one = next(waiting, None) if len(writer.under_way) < AT_ONCE else None
            if one is not None:  # one before every pass, so that they do not end together either
                prompt = prompt_ids(target.tokenizer, target.template, one.turns, one.opening)
                if answer := known.get(one.name):  # of which only the ids were kept
                    sample = reading.Sample(prompt, answer)
                    _keep(shards, one, answer, partial(reading.rows_of, passes, sample))
                elif len(prompt) + ANSWER <= target.engine.info.window:
                    writer.begin(one, prompt)
            elif not writer.under_way:
                return
            for done in writer.step():
                line = json.dumps({"name": done.asked.name, "answer": done.choices})
                with regular.appending(path) as file:
                    file.write(f"{line}\n".encode())
                _keep(shards, done.asked, done.choices, done.rows)
            yield "answer"
    finally:
        for rest in writer.under_way:
            _keep(shards, rest.asked, rest.choices, rest.rows)


def _keep(
    shards: Shards, asked: AnswerRequest, answer: Sequence[int], rows: Callable[[], Any]
) -> None:
    if len(answer) > LEAST:
        shards.add(asked.name, asked.held, rows())
        shards.index["answers"] += len(answer)


def requests(texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    """All there are: some for new text, one for an edit, and so on."""
    both = _new(texts), _edits(texts)
    while some := [
        one for kind, count in zip(both, IN_TURN, strict=True) for one in islice(kind, count)
    ]:
        yield from some


def _edits(texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    from specedit.edit import prompt as words

    for turn, instruction in enumerate(INSTRUCTIONS):
        for text in texts[turn :: len(INSTRUCTIONS)]:
            part = "".join(text.text.splitlines(keepends=True)[:SHOWN])
            asked = words.messages(text.name.rsplit("/", 1)[-1], part, instruction)
            turns: Turns = [(message.role, message.segments) for message in asked]
            name = f"{text.digest}:answer"
            yield AnswerRequest(name, text.held, turns, words.opening("```"))


def _new(texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    """For a text's own names, at least so long that they say something, and for what it says that
    its functions do."""
    from specedit.syntax.languages import language_of

    named = [sorted(set(NAMED.findall(text.text))) for text in texts]
    described = [sorted(set(DESCRIBED.findall(text.text))) for text in texts]
    for turn in range(max(len(NEW), len(SAID))):
        for text, names, said in zip(texts, named, described, strict=True):
            language = language_of(text.name)
            if language is None:
                continue
            opening = f"```{language.lexer}\n"
            for kind, forms, known in (("new", NEW, names), ("said", SAID, said)):
                if turn < min(len(forms), len(known)):
                    asked = forms[turn].format(language=language.name, about=known[turn])
                    turns: Turns = [("user", (asked,))]
                    yield AnswerRequest(f"{text.digest}:{kind}{turn}", text.held, turns, opening)


def _kept_answers(path: Path) -> dict[str, list[int]]:
    found = {}
    for line in regular.read(path).splitlines() if path.is_file() else ():
        try:
            one = stored.typed(KeptAnswer, stored.parsed(line))
        except ValueError:
            continue  # cut off in the middle of a line, or damaged
        found[one.name] = list(one.answer)
    return found
