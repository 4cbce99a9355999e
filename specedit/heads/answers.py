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
    prompt: list[int]


def given(
    target: HeadsTarget, texts: Sequence[Text], place: HeadsPlace, shards: Shards
) -> Iterator[str]:
    """The model's own answers to edits of the texts, kept so that none is asked for twice."""
    path = place.work / "answers.jsonl"
    known = _kept_answers(path)
    drafters: list[Drafter] = [*_heads(target, place), LookupDrafter()]
    for request in requests(target, texts):
        if shards.known(request.name):
            continue
        answer = known.get(request.name)
        if answer is None:
            answer = _answered(target, request.prompt, drafters)
            line = json.dumps({"name": request.name, "answer": answer}) + "\n"
            with path.open("a", encoding="utf-8") as file:
                file.write(line)
        if len(answer) > 8:
            found = reading.rows_of(target.engine.passes, reading.Sample(request.prompt, answer))
            shards.add(request.name, request.held, found)
            shards.index["answers"] += len(answer)
        yield "answer"


def requests(target: HeadsTarget, texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    """All there are: one for an edit, one for new text, and so on."""
    for pair in zip_longest(_edits(target, texts), _new(target, texts)):
        yield from filter(None, pair)


def _edits(target: HeadsTarget, texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    from specedit.edit import prompt as words

    for turn, instruction in enumerate(INSTRUCTIONS):
        for text in texts[turn :: len(INSTRUCTIONS)]:
            part = "".join(text.text.splitlines(keepends=True)[:60])
            asked = words.messages(text.name.rsplit("/", 1)[-1], part, instruction)
            turns: Turns = [(message.role, message.segments) for message in asked]
            prompt = _prompt(target, turns, words.opening("```"))
            yield AnswerRequest(f"{text.digest}:answer", text.held, prompt)


def _new(target: HeadsTarget, texts: Sequence[Text]) -> Iterator[AnswerRequest]:
    """For a text's own names, at least so long that they say something."""
    from specedit.syntax.languages import language_of

    for turn, instruction in enumerate(NEW):
        for text in texts:
            language = language_of(text.name)
            names = sorted(set(NAMED.findall(text.text)))
            if language is None or turn >= len(names):
                continue
            asked = instruction.format(language=language.name, name=names[turn])
            opening = f"```{language.lexer}\n"
            prompt = _prompt(target, [("user", (asked,))], opening)
            yield AnswerRequest(f"{text.digest}:new{turn}", text.held, prompt)


def _heads(target: HeadsTarget, place: HeadsPlace) -> Iterator[HeadsDrafter]:
    """The heads that there are already."""
    heads = shelf.opened(place.store, target.digest, CHAINED, target.name)
    if heads is not None:
        of = heads.about.sizes.of
        guesser = heads.guesser(target.engine.passes)  # type: ignore[arg-type]
        yield HeadsDrafter(of.name, guesser, chained=of.chained, most=of.most)


def _kept_answers(path: Any) -> dict[str, list[int]]:
    found = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            one = json.loads(line)
            found[one["name"]] = [int(id) for id in one["answer"]]
        except (ValueError, KeyError, TypeError):
            continue  # cut off in the middle of a line
    return found


def _prompt(target: HeadsTarget, turns: Turns, opening: str) -> list[int]:
    from specedit.models.template import prompt_ids

    return prompt_ids(target.tokenizer, target.template, turns, opening)


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
