"""Training from texts to a file, for a given time.

Everything is stored as it comes, so a run can be stopped at any moment and the next one continues:
rows in shards, and the state of learning every two minutes and when a run ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specedit.errors import ModelError, UsageError
from specedit.files import atomic
from specedit.files.lock import Lock
from specedit.heads.practice_requests import is_part
from specedit.heads.reading import HeadsTarget, likely_ids, read_parts, write_answers
from specedit.heads.rows import TEXTS, RowStore
from specedit.heads.texts import Text
from specedit.models.head_file import About, HeadsSizes, write
from specedit.models.head_store import HeadsFolder
from specedit.models.store import free, sized

if TYPE_CHECKING:
    from specedit.heads.training import Learner
    from specedit.models.head_file import Array

LIKELY = 8192  # ids that heads may guess in any text
READING = 0.6  # of the time is for reading and answering, while there is anything new;
ANSWERING = 0.75  # of that, for the model's own answers
MOST = 800_000  # places that are stored: 2.5 GB of a model 1,536 wide
OWN = 2  # weight of the model's own answers: other people's texts are easier to guess
SAVED_S = 120.0  # between two savings of the state


@dataclass(frozen=True)
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
        _check_space(folder, sizes, seconds)
        started = time.perf_counter()
        vocabulary = target.weights.config.vocabulary
        likely = likely_ids(texts, target.tokenizer, vocabulary, LIKELY)
        store = RowStore(folder.unfinished, sizes.hidden)
        yield from _read(target, texts, store, started, seconds * READING)
        if not store.places:
            raise UsageError(
                "Not one text was read in that time.", hint="Give it longer: --minutes 30"
            )
        yield from _learn(target, store, folder, sizes, likely, started + seconds, seconds)
    finally:
        lock.release()


def _check_space(folder: HeadsFolder, sizes: HeadsSizes, seconds: float) -> None:
    """Refuse a run whose rows and state do not fit on the disk."""
    needed = int(min(MOST, seconds * READING * 1000) * sizes.hidden * 2) + (64 << 20)
    if (available := free(folder.unfinished)) < needed:
        raise ModelError(
            f"Training heads needs up to {sized(needed)} in {folder.unfinished}, "
            f"and {sized(available)} are free.",
            hint="Free some space, use --minutes less, or set SPECEDIT_HOME to another disk.",
        )


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
    from specedit.heads.training import HeldOut, Learner, Teacher

    rows, teacher = store.load(), Teacher(target.weights)
    texts = rows.meta[TEXTS]
    held = np.array([is_held for _, is_held in store.texts])[texts]
    own = np.array([not is_part(name) for name, _ in store.texts])[texts]
    weights = np.where(held & ~held.all(), 0, np.where(own, OWN, 1))
    learner = Learner(sizes, rows, weights, teacher, likely)
    watched = HeldOut(rows, held, teacher, likely, sizes.depth)
    state, path = folder.state(sizes.kind), folder.file(sizes.kind)
    yield Stage("learn", 0.0, _begin(learner, state, folder, target.name))
    saved = time.perf_counter()
    try:
        for progress in learner.learn(max(1.0, ends - saved), watched):
            done = min(1.0, 1 - (ends - time.perf_counter()) / seconds)
            text = f"step {progress.step}, {len(texts):,} places"
            yield Stage("learn", done, text, progress.accepted, progress.loss)
            if time.perf_counter() - saved > SAVED_S:
                save_state(state, learner)
                saved = time.perf_counter()
    finally:  # also after Ctrl-C
        save_state(state, learner)
        about = About(
            sizes=sizes,
            model=target.name,
            digest=target.digest,
            sharpness=watched.sharpness(learner.network),
            guessed=len(likely),
            accepted=tuple(round(part, 4) for part in watched.accepted(learner.network)),
            texts=sum(is_part(name) for name, _ in store.texts),
            positions=len(texts),
            answered=int(own.sum()),
            steps=learner.step,
            seconds=round(learner.seconds, 1),
        )
        ids = np.zeros(-(-len(likely) // 16) * 16, np.int32)
        ids[: len(likely)] = likely
        write(path, about, {**learner.network.packed(), "ids": ids})
    yield Stage("write", 1.0, str(path), about.accepted)


def _begin(learner: Learner, state: Path, folder: HeadsFolder, model: str) -> str:
    """Continue from the state, else from existing heads of these sizes, else from scratch."""
    if load_state(state, learner):
        return f"from step {learner.step}"
    heads = folder.open(learner.sizes.kind, model)
    if heads is not None and heads.about.sizes == learner.sizes:
        learner.network.take(heads)
        return f"from {heads.path}"
    learner.start()
    return "a first guess"


def save_state(path: Path, learner: Learner) -> None:
    import torch

    with atomic.drafted(path) as file:
        torch.save(learner.state(), file)


def load_state(path: Path, learner: Learner) -> bool:
    """Whether the state was there, and fits these heads."""
    import torch

    if not path.is_file():
        return False
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
        learner.take(state)
    except Exception:  # torch raises many kinds; what cannot be read is learnt again
        return False
    return True
