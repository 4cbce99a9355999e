"""Training from texts to a file for a given time, and how often heads are right.

Everything is stored as it comes, so a run can be stopped at any moment and the next one continues:
the rows that were read, and the file of heads every two minutes and when a run ends.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specedit.errors import UsageError
from specedit.files import atomic
from specedit.files.regular import Lock
from specedit.models.head_file import (
    ALIGN,
    FORMAT,
    About,
    DamagedHeads,
    Heads,
    HeadsFolder,
    HeadsSizes,
    digest_of,
)
from specedit.models.store import require_space
from training.heads.reading import (
    TEXTS,
    HeadsTarget,
    Rows,
    RowStore,
    likely_ids,
    read_parts,
    rows_of,
    write_answers,
)
from training.heads.texts import LONGEST, Text, is_part, parts

if TYPE_CHECKING:
    from specedit.engines.exact.quantize import Array

LIKELY = 8192  # ids that heads may guess in any text
READING = 0.6  # of the time is for reading and answering, while there is anything new;
ANSWERING = 0.75  # of that, for the model's own answers
MOST = 800_000  # places that are stored: 2.5 GB of a model 1,536 wide
OWN = 2  # weight of the model's own answers: other people's texts are easier to guess
SAVED_S = 120.0  # between two writings of the file


@dataclass(frozen=True, slots=True)
class Stage:
    """The progress of a run."""

    what: str  # "read" | "answer" | "learn" | "write"
    done: float  # of 1
    text: str = ""
    accepted: tuple[float, ...] = ()
    loss: float = 0.0


def train(
    target: HeadsTarget,
    texts: Sequence[Text],
    folder: HeadsFolder,
    sizes: HeadsSizes,
    seconds: float,
) -> Iterator[Stage]:
    """Train for so long, from where an earlier run stopped. Afterwards the file of heads exists."""
    lock = Lock(folder.unfinished / "lock")
    if not lock.take():
        raise UsageError(
            f"Heads of {target.name} are being trained already.", hint="Wait until that run ends."
        )
    try:
        rows = int(min(MOST, seconds * READING * 1000)) * sizes.hidden * 2
        require_space(folder.unfinished, rows + (64 << 20), "training heads")
        started = time.perf_counter()
        vocabulary = target.weights.config.vocabulary
        likely = likely_ids(texts, target.tokenizer, vocabulary, LIKELY)
        store = RowStore(folder.unfinished, sizes.hidden)
        yield from _read(target, texts, store, started, seconds * READING)
        if not store.places:
            raise UsageError(
                "No file could be read in that time.", hint="Use a longer time: --minutes 30"
            )
        yield from _learn(target, store, folder, sizes, likely, started + seconds, seconds)
    finally:
        lock.release()


def _read(
    target: HeadsTarget, texts: Sequence[Text], store: RowStore, started: float, seconds: float
) -> Iterator[Stage]:
    """Read parts and write answers in turn, until the time is over or nothing is new."""
    # a held-out text comes second: even a short run has something to measure on
    held = next((text for text in texts if text.held), texts[0])
    others = [text for text in texts if text is not held]
    reading = read_parts(target, [*others[:1], held, *others[1:]], store)
    answering_s = 0.0
    with closing(write_answers(target, texts, store)) as answering:  # stores what is under way
        while (spent := time.perf_counter() - started) < seconds and store.places < MOST:
            before, first = time.perf_counter(), answering_s < ANSWERING * spent
            step = next(answering if first else reading, None)
            if step is None:
                step = next(reading if first else answering, None)
            if step is None:
                return
            answering_s += (time.perf_counter() - before) * (step == "answer")
            text = f"{store.places:,} places of {len(store.texts)} texts"
            yield Stage(step, min(1.0, spent / seconds), text)


def _learn(
    target: HeadsTarget,
    store: RowStore,
    folder: HeadsFolder,
    sizes: HeadsSizes,
    likely: Array,
    ends: float,
    seconds: float,
) -> Iterator[Stage]:
    from training.heads.learning import HeldOut, Learner, Teacher

    rows, teacher = store.load(), Teacher(target.weights)
    texts = rows.meta[TEXTS]
    held = np.array([is_held for _, is_held in store.texts])[texts]
    own = np.array([not is_part(name) for name, _ in store.texts])[texts]
    weights = np.where(held & ~held.all(), 0, np.where(own, OWN, 1))
    learner = Learner(sizes, rows, weights, teacher, likely)
    watched = HeldOut(rows, held, teacher, likely, sizes.depth)
    ids = np.zeros(-(-len(likely) // 16) * 16, np.int32)
    ids[: len(likely)] = likely

    def save() -> tuple[float, ...]:
        accepted = tuple(round(part, 4) for part in watched.accepted(learner.network))
        about = About(
            sizes=sizes,
            model=target.name,
            digest=target.digest,
            sharpness=watched.sharpness(learner.network),
            guessed=len(likely),
            accepted=accepted,
            texts=sum(is_part(name) for name, _ in store.texts),
            positions=len(texts),
            answered=int(own.sum()),
            steps=learner.step,
            seconds=round(learner.seconds, 1),
        )
        write(path, about, {**learner.network.packed(), "ids": ids})
        return accepted

    path = folder.file(sizes.kind)
    with suppress(DamagedHeads):  # it is written anew
        heads = folder.open(sizes.kind, target.name)
        if heads is not None and heads.about.sizes == sizes:
            learner.take(heads)
    yield Stage("learn", 0.0, f"from step {learner.step}")
    saved = time.perf_counter()
    try:
        for loss, accepted in learner.learn(max(1.0, ends - saved), watched):
            done = min(1.0, 1 - (ends - time.perf_counter()) / seconds)
            text = f"step {learner.step}, {len(texts):,} places"
            yield Stage("learn", done, text, accepted, loss)
            if time.perf_counter() - saved > SAVED_S:
                save()
                saved = time.perf_counter()
    finally:  # also after Ctrl-C
        accepted = save()
    yield Stage("write", 1.0, str(path), accepted)


DTYPES = {"int8": "I8", "int32": "I32", "float32": "F32"}


def write(path: Path, about: About, tensors: Mapping[str, Array]) -> None:
    """Write a file whole. `tensors`: of each step `N.state`, `N.id`, `N.down` as panels, scales
    and offsets, of each depth `N.bias`, and `ids`."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    at = 0
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        if len(raw) % ALIGN:
            raise ValueError(f"{name} is {len(raw)} bytes long, not a multiple of {ALIGN}")
        header[name] = {
            "dtype": DTYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, at + len(raw)],
        }
        parts.append(raw)
        at += len(raw)
    body = b"".join(parts)
    described = json.dumps({**vars(about), "sizes": vars(about.sizes)}, sort_keys=True)
    digest = digest_of(header, described, body)
    header["__metadata__"] = {"format": FORMAT, "about": described, "sha256": digest}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % ALIGN)
    atomic.whole(path, struct.pack("<Q", len(text)) + text + body)


@dataclass(frozen=True, slots=True)
class HeadsScore:
    """`accepted` by depth: of the places where all depths before it hold, the share that holds.
    `ids_per_pass`: what one guess of each depth commits, with the model's own id."""

    texts: int
    places: int
    accepted: tuple[float, ...]

    @property
    def ids_per_pass(self) -> float:
        return 1 + float(np.cumprod(self.accepted).sum())


def evaluate(target: HeadsTarget, texts: Sequence[Text], heads: Heads, places: int) -> HeadsScore:
    """Read a part of each text, the held-out texts first, up to so many places."""
    from training.heads.learning import HeldOut, Teacher
    from training.heads.network import Network

    states, metas, read = [], [], 0
    for number, text in enumerate(sorted(texts, key=lambda one: not one.held)):
        request, part = next(parts(text))
        prompt = request.prompt(target.tokenizer)
        answer = target.tokenizer.encode(part)[:LONGEST]
        rows, ids, choices = rows_of(target.engine.passes, prompt, answer)
        states.append(rows)
        metas.append(np.array([ids, choices, [number] * len(ids)]))
        read += len(ids)
        if read >= places:
            break
    together = Rows(np.concatenate(states), np.concatenate(metas, 1))
    sizes = heads.about.sizes
    network = Network(sizes, np.ones(sizes.hidden), 1.0).eval()
    network.take(heads)
    likely, everywhere = np.array(heads.ids), np.ones(read, bool)
    held = HeldOut(together, everywhere, Teacher(target.weights), likely, sizes.depth)
    return HeadsScore(len(states), read, held.accepted(network))
