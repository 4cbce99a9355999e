"""Texts become rows: the model reads them as if it had written them, at the speed of a prompt.

A part of a text stands as the answer to a request for it, so the rows are those of answers. Knows
prompts, ids and passes. Does not know where texts come from nor what is learnt.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from specedit.edit import prompt as words
from specedit.engines.exact.engine import PREFILL

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array
    from specedit.heads.corpus import Text

LINES = 220  # of a part,
LONGEST = 900  # and ids of it
AHEAD = 8  # lines before it that the request shows
ASKED = (
    "Complete the file.",
    "Add the functions that are missing.",
    "Write the rest.",
    "Add what is not implemented yet.",
    "Add error handling.",
)


@dataclass(frozen=True)
class Sample:
    """What the model reads at a time: a prompt, and ids that stand for its answer."""

    prompt: list[int]
    answer: list[int]


def samples(text: Text, tokenizer: Any, template: str) -> Iterator[Sample]:
    """The parts of a text, the same for the same text, beginning at a place of it by chance."""
    from specedit.models.template import prompt_ids

    chance = random.Random(text.digest)
    lines = text.text.splitlines(keepends=True)
    starts = list(range(0, len(lines), LINES))
    chance.shuffle(starts)
    for start in starts:
        part = tokenizer.encode("".join(lines[start : start + LINES]))[:LONGEST]
        if len(part) < 16:
            continue
        head = "".join(lines[max(0, start - AHEAD) : start]) or "\n"
        asked = words.messages(text.name.rsplit("/", 1)[-1], head, chance.choice(ASKED))
        turns = [(message.role, message.segments) for message in asked]
        yield Sample(prompt_ids(tokenizer, template, turns, words.opening("```")), part)


def rows_of(passes: Any, sample: Sample) -> tuple[Array, list[int], list[int]]:
    """The rows from the last of the prompt on, their ids, and what the model says behind each."""
    ids = [*sample.prompt, *sample.answer]
    states = np.empty((len(ids), passes.config.hidden), np.float32)
    cache, choices = passes.new_cache(), []
    for at in range(0, len(ids), PREFILL):
        part = ids[at : at + PREFILL]
        found, _ = passes.choose(part, cache, rows=False, states=states[at : at + len(part)])
        choices += found
    first = len(sample.prompt) - 1
    return states[first:], ids[first:], choices[first:]


def likely(texts: Sequence[Text], tokenizer: Any, vocabulary: int, count: int, most: int) -> Array:
    """The ids that occur most often in the texts, as far as `most` ids of them are read; equals,
    and what does not occur, in the order of the vocabulary, which is that of all texts."""
    seen = np.zeros(vocabulary, np.int64)
    left = most
    for text in texts:
        ids = tokenizer.encode(text.text[:40_000])
        seen += np.bincount([id for id in ids if id < vocabulary], minlength=vocabulary)
        left -= len(ids)
        if left < 0:
            break
    found = np.argsort(-seen, kind="stable")[: min(count, vocabulary)]
    return np.sort(found).astype(np.int64)
