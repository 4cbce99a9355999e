"""The model's own answers: what heads will have to guess is what it says.

Every second request is an edit of a text; the others ask for new text, whose ids are all its own
choice, where most of an edit's are copied. Each answer is kept in a list as it comes, so that none
is asked for twice. Heads that are there already make it faster.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from specedit.decode.drafters import Drafter
from specedit.decode.drafters.heads import HeadsDrafter
from specedit.decode.drafters.lookup import LookupDrafter
from specedit.heads import reading, shelf
from specedit.heads.corpus import Text
from specedit.heads.kinds import CHAINED
from specedit.heads.shards import Shards
from specedit.heads.shelf import HeadsPlace
from specedit.heads.target import HeadsTarget

ANSWER = 192  # ids of an answer
INSTRUCTIONS = (
    "Add a docstring to every function.",
    "Add a function that checks its arguments, and use it.",
    "Add type annotations.",
    "Add a function that formats what this file computes as text, with tests.",
    "Handle errors: say what went wrong and where.",
    "Add a class that wraps these functions.",
)
NEW = (
    "Write a {language} function `{name}`, and say what it is for.",
    "Write `{name}` in {language}, with types, and with checks of its arguments.",
    "Write tests in {language} for `{name}`.",
    "Write a small {language} program in which `{name}` is used.",
)
Turns = Sequence[tuple[str, Sequence[str]]]
NAMED = re.compile(r"\b(?:def|class|func|function|fn|struct|interface)\s+([A-Za-z]\w{4,40})\b")


@dataclass(frozen=True)
class AnswerRequest:
    """One request, by the name that its answer is kept under."""

    name: str
    held: bool
    turns: Turns
    opening: str


def given(
    target: HeadsTarget, texts: Sequence[Text], place: HeadsPlace, shards: Shards
) -> Iterator[str]:
    """The model's own answers about the texts, kept so that none is asked for twice."""
    from specedit.models.template import prompt_ids

    path = place.work / "answers.jsonl"
    known = _kept_answers(path)
    drafters: list[Drafter] = [*_heads(target, place), LookupDrafter()]
    for request in requests(texts):
        if shards.known(request.name):
            continue
        prompt = prompt_ids(target.tokenizer, target.template, request.turns, request.opening)
        answer = known.get(request.name)
        if answer is None:
            answer = _answered(target, prompt, drafters)
            line = json.dumps({"name": request.name, "answer": answer}) + "\n"
            with path.open("a", encoding="utf-8") as file:
                file.write(line)
        if len(answer) > 8:
            found = reading.rows_of(target.engine.passes, reading.Sample(prompt, answer))
            shards.add(request.name, request.held, found)
            shards.index["answers"] += len(answer)
        yield "answer"


def requests(texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    """All there are: one for an edit, one for new text, and so on."""
    for pair in zip_longest(_edits(texts), _new(texts)):
        yield from filter(None, pair)


def _edits(texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    from specedit.edit import prompt as words

    for turn, instruction in enumerate(INSTRUCTIONS):
        for text in texts[turn :: len(INSTRUCTIONS)]:
            part = "".join(text.text.splitlines(keepends=True)[:60])
            asked = words.messages(text.name.rsplit("/", 1)[-1], part, instruction)
            turns: Turns = [(message.role, message.segments) for message in asked]
            name = f"{text.digest}:answer"
            yield AnswerRequest(name, text.held, turns, words.opening("```"))


def _new(texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    """For a text's own names, at least so long that they say something."""
    from specedit.syntax.languages import language_of

    named = [sorted(set(NAMED.findall(text.text))) for text in texts]
    for turn, instruction in enumerate(NEW):
        for text, names in zip(texts, named, strict=True):
            language = language_of(text.name)
            if language is None or turn >= len(names):
                continue
            asked = instruction.format(language=language.name, name=names[turn])
            opening = f"```{language.lexer}\n"
            turns: Turns = [("user", (asked,))]
            yield AnswerRequest(f"{text.digest}:new{turn}", text.held, turns, opening)


def _heads(target: HeadsTarget, place: HeadsPlace) -> Iterator[HeadsDrafter]:
    """The heads that there are already."""
    heads = shelf.opened(place.store, target.digest, CHAINED, target.name)
    if heads is not None:
        yield heads.at_hand(target.engine.passes).drafter(CHAINED)


def _kept_answers(path: Any) -> dict[str, list[int]]:
    found = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            one = json.loads(line)
            found[one["name"]] = [int(id) for id in one["answer"]]
        except (ValueError, KeyError, TypeError):
            continue  # cut off in the middle of a line
    return found


def _answered(target: HeadsTarget, prompt: list[int], drafters: Sequence[Drafter]) -> list[int]:
    """What the model says, at temperature 0. Copied lines come in wide passes, as in an edit."""
    from specedit.decode.events import Chunk
    from specedit.decode.loop import decode
    from specedit.decode.width import Widths

    found: list[int] = []
    ends = target.tokenizer.ends
    if len(prompt) + ANSWER > target.engine.info.window:
        return found
    for event in decode(
        target.engine,
        prompt,
        drafters=drafters,
        widths=Widths(),
        ends=lambda id: id in ends,
        limit=ANSWER,
    ):
        if isinstance(event, Chunk):
            found.extend(event.tokens)
    return found
