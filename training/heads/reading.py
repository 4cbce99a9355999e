"""The model's rows of texts that it reads, and of answers that it writes, many at once.

Answers that are written at once share the reading of the weights: a pass with 64 of them takes
about twice as long as a pass with one. Each answer is the one that plain decoding gives.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specedit.engines.exact.engine import PREFILL, ExactEngine
from specedit.errors import UsageError
from specedit.files import regular, stored
from training.heads.texts import LONGEST, TeacherRequest, Text, parts, questions

if TYPE_CHECKING:
    from specedit.engines.exact.quantize import Array
    from specedit.engines.exact.weights import Weights

ANSWER = 224  # ids of an answer
LEAST = 8  # ids of an answer, and 16 of a part, that is learnt from
AT_ONCE = 64  # answers that are written at a time; more hardly make an id cheaper


@dataclass(frozen=True, slots=True)
class HeadsTarget:
    """The model that heads are trained for."""

    engine: ExactEngine
    weights: Weights
    tokenizer: Any
    name: str

    @property
    def digest(self) -> str:
        return self.weights.source


def rows_of(
    passes: Any, prompt: Sequence[int], answer: Sequence[int]
) -> tuple[Array, list[int], list[int]]:
    """The rows from the last id of the prompt on, their ids, and the model's choice after each."""
    ids = [*prompt, *answer]
    states = np.empty((len(ids), passes.config.hidden), np.float32)
    cache, choices = passes.new_cache(), []
    for at in range(0, len(ids), PREFILL):
        part = ids[at : at + PREFILL]
        chosen, _ = passes.choose(part, cache, rows=False, states=states[at : at + len(part)])
        choices += chosen
    first = len(prompt) - 1
    return states[first:], ids[first:], choices[first:]


def read_parts(
    target: HeadsTarget, texts: Sequence[Text], store: RowStore
) -> Generator[str, None, None]:
    """Read the parts of texts that are not stored: the first of every text, then the second, …"""
    waiting = [parts(text) for text in texts]
    while waiting:
        for one in [*waiting]:
            request, text = next(one, (None, ""))
            if request is None:
                waiting.remove(one)
                continue
            ids = target.tokenizer.encode(text)[:LONGEST]
            if len(ids) >= 2 * LEAST and not store.known(request.name):
                prompt = request.prompt(target.tokenizer)
                rows = rows_of(target.engine.passes, prompt, ids)
                store.add(request.name, request.held, *rows)
                yield "read"


@dataclass
class Answering:
    """One answer under way: the ids chosen so far, each with the row before it."""

    request: TeacherRequest
    first: int  # the last id of the prompt
    cache: Any
    chosen: list[tuple[int, Array]] = field(default_factory=list)  # one list: never out of step

    @property
    def ids(self) -> list[int]:
        return [id for id, _ in self.chosen]

    def rows(self) -> tuple[Array, list[int], list[int]]:
        """As `rows_of` gives them."""
        ids = self.ids
        return np.stack([row for _, row in self.chosen]), [self.first, *ids[:-1]], ids


class AnswerWriter:
    """Answers under way at temperature 0, each until the model ends it or has `most` ids."""

    def __init__(self, passes: Any, ends: Collection[int], most: int) -> None:
        self.under_way: list[Answering] = []
        self._passes, self._ends, self._most = passes, ends, most

    def begin(self, request: TeacherRequest, prompt: list[int]) -> None:
        """Read one more prompt; the next passes write its answer with the others."""
        cache = self._passes.new_cache()
        for at in range(0, len(prompt) - 1, PREFILL):
            self._passes.read(prompt[at : min(at + PREFILL, len(prompt) - 1)], cache)
        self.under_way.append(Answering(request, prompt[-1], cache))

    def step(self) -> list[Answering]:
        """One id for every answer under way; returns those that ended."""
        if not self.under_way:
            return []
        states = np.empty((len(self.under_way), self._passes.config.hidden), np.float32)
        last = [one.chosen[-1][0] if one.chosen else one.first for one in self.under_way]
        caches = [one.cache for one in self.under_way]
        ended: list[Answering] = []
        left: list[Answering] = []
        chosen = self._passes.choose_each(last, caches, states)
        for one, id, row in zip(self.under_way, chosen, states, strict=True):
            one.chosen.append((id, row))
            full = len(one.chosen) == self._most
            (ended if full or id in self._ends else left).append(one)
        self.under_way = left
        return ended


def write_answers(
    target: HeadsTarget, texts: Sequence[Text], store: RowStore
) -> Generator[str, None, None]:
    """The model's own answers about the texts, as far as they are not stored. Yields after every
    pass. When it is closed, answers under way are stored as far as they are written."""
    writer = AnswerWriter(target.engine.passes, target.tokenizer.ends, ANSWER)
    waiting = (question for question in questions(texts) if not store.known(question.name))

    def add(answering: Answering) -> None:
        if len(answering.chosen) > LEAST:
            store.add(answering.request.name, answering.request.held, *answering.rows())

    try:
        while True:
            # one more before every pass: they do not all end together either
            request = next(waiting, None) if len(writer.under_way) < AT_ONCE else None
            if request is not None:
                prompt = request.prompt(target.tokenizer)
                if len(prompt) + ANSWER <= target.engine.info.window:
                    writer.begin(request, prompt)
            elif not writer.under_way:
                return
            for one in writer.step():
                add(one)
            yield "answer"
    finally:
        for one in writer.under_way:
            add(one)


def likely_ids(texts: Sequence[Text], tokenizer: Any, vocabulary: int, count: int) -> Array:
    """The ids that occur most often in the texts, as far as 3,000,000 ids of them; ids of the same
    count in the order of the vocabulary, which is the order of their frequency in all texts."""
    seen = np.zeros(vocabulary, np.int64)
    for text in texts:
        ids = [id for id in tokenizer.encode(text.text[:40_000]) if id < vocabulary]
        seen += np.bincount(ids, minlength=vocabulary)
        if seen.sum() > 3_000_000:
            break
    return np.sort(np.argsort(-seen, kind="stable")[:count]).astype(np.int64)


IDS, CHOICES, TEXTS = range(3)


@dataclass(frozen=True, slots=True)
class Rows:
    """All places. The rows stay in their file until they are taken."""

    states: Array  # float16, [places, hidden]
    meta: Array  # int32, [3, places]: ids, choices, texts

    def take(self, places: Array) -> Array:
        """The rows at these places, as float32."""
        return np.asarray(self.states[places], np.float32)

    def anchors(self, depth: int) -> Array:
        """Places with at least `depth` places of the same text after them."""
        texts = self.meta[TEXTS]
        count = max(0, len(texts) - depth)
        return np.flatnonzero(texts[:count] == texts[len(texts) - count :])

    def agrees(self) -> Array:
        """For each place, whether the next id in the text is the model's own choice."""
        mask = np.zeros(self.meta.shape[1], bool)
        mask[:-1] = self.meta[IDS][1:] == self.meta[CHOICES][:-1]
        return mask


class RowStore:
    """A folder of rows, of `hidden` numbers each: a file of records, one of the texts' names."""

    def __init__(self, folder: Path, hidden: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._rows, self._names = folder / "rows.bin", folder / "names.jsonl"
        self._record = np.dtype([("state", np.float16, (hidden,)), ("place", np.int32, (3,))])
        names = regular.read(self._names) if self._names.is_file() else b""
        names = names[: names.rfind(b"\n") + 1]
        try:
            texts = [stored.typed(tuple[str, bool], stored.parsed(n)) for n in names.splitlines()]
        except ValueError as error:
            hint = "Remove that folder and train again: the texts are read again."
            raise UsageError(f"The rows in {folder} are damaged: {error}", hint=hint) from None
        self.texts: list[tuple[str, bool]] = texts
        self._known = {name for name, _ in self.texts}
        size = self._rows.stat().st_size if self._rows.is_file() else 0
        self.places = size // self._record.itemsize
        whole = ((self._rows, self.places * self._record.itemsize), (self._names, len(names)))
        for path, size in whole:  # an interrupted run may have written a part of a record
            if path.is_file():
                os.truncate(path, size)

    def known(self, name: str) -> bool:
        return name in self._known

    def add(self, name: str, held: bool, states: Array, ids: list[int], choices: list[int]) -> None:
        """The rows of one text or answer."""
        rows = np.empty(len(ids), self._record)
        rows["state"] = states
        rows["place"] = np.array([ids, choices, [len(self.texts)] * len(ids)]).T
        self.texts.append((name, held))
        self._known.add(name)
        parts = (
            (self._names, (json.dumps([name, held]) + "\n").encode()),
            (self._rows, rows.tobytes()),
        )
        for path, data in parts:
            with regular.appending(path) as file:
                file.write(data)
        self.places += len(ids)

    def load(self) -> Rows:
        """What is stored; at least one place must be."""
        rows = np.memmap(self._rows, self._record, "r")
        return Rows(rows["state"], np.ascontiguousarray(rows["place"].T))
