"""The model's own answers to edits of texts: what heads will have to guess is what it says.

Each is kept in a list as it comes, so that none is asked for twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from specedit.heads import reading
from specedit.heads.corpus import Text
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


def given(
    target: HeadsTarget, texts: Sequence[Text], place: HeadsPlace, shards: Shards
) -> Iterator[str]:
    """The model's own answers to edits of the texts, kept so that none is asked for twice."""
    path = place.work / "answers.jsonl"
    known = _kept_answers(path)
    for turn, instruction in enumerate(INSTRUCTIONS):
        for text in texts[turn :: len(INSTRUCTIONS)]:
            name = f"{text.digest}:answer"
            if shards.known(name):
                continue
            prompt = _request(target, text, instruction)
            answer = known.get(name)
            if answer is None:
                answer = _answered(target, prompt)
                line = json.dumps({"name": name, "answer": answer}) + "\n"
                with path.open("a", encoding="utf-8") as file:
                    file.write(line)
            if len(answer) > 8:
                found = reading.rows_of(target.engine.passes, reading.Sample(prompt, answer))
                shards.add(name, text.held, found)
                shards.index["answers"] += len(answer)
            yield "answer"


def _kept_answers(path: Any) -> dict[str, list[int]]:
    found = {}
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            one = json.loads(line)
            found[one["name"]] = [int(id) for id in one["answer"]]
        except (ValueError, KeyError, TypeError):
            continue  # cut off in the middle of a line
    return found


def _request(target: HeadsTarget, text: Text, instruction: str) -> list[int]:
    from specedit.edit import prompt as words
    from specedit.models.template import prompt_ids

    part = "".join(text.text.splitlines(keepends=True)[:60])
    asked = words.messages(text.name.rsplit("/", 1)[-1], part, instruction)
    turns = [(message.role, message.segments) for message in asked]
    return prompt_ids(target.tokenizer, target.template, turns, words.opening("```"))


def _answered(target: HeadsTarget, prompt: list[int]) -> list[int]:
    """What the model says, at temperature 0. Copied lines come in wide passes, as in an edit."""
    from specedit.decode.drafters.lookup import LookupDrafter
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
        drafters=[LookupDrafter()],
        widths=Widths(),
        ends=lambda id: id in ends,
        limit=ANSWER,
    ):
        if isinstance(event, Chunk):
            found.extend(event.tokens)
    return found
