"""Making heads: texts are read, answers are asked for, heads learn, a file is written.

Everything is kept as it comes, so that a run that is stopped loses nothing and the next one goes
on: rows in shards, answers in a list, what was learnt every few minutes and whenever a run ends.
Knows the order of things and the time. Does not know the screen; it yields what one would show.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from specedit.errors import ModelError, UsageError
from specedit.files.lock import Lock
from specedit.heads import reading, rows, shelf
from specedit.heads.answers import given
from specedit.heads.corpus import Text
from specedit.heads.file import About, write
from specedit.heads.kinds import Sizes
from specedit.heads.shards import Shards
from specedit.heads.shelf import HeadsPlace
from specedit.heads.target import HeadsTarget
from specedit.models.store import free, sized

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array
    from specedit.heads.training import Learner

LIKELY = 8192  # ids that heads may guess in any text
COUNTED = 3_000_000  # ids of the texts that those are found from
READING = 0.6  # of the time goes into reading, while there is anything new to read;
ANSWERING = 0.75  # of that, into answers of the model's own
MOST = 800_000  # places that are kept: 2.5 GB of a model 1,536 wide
REPEATED = 4  # times that a kept answer counts: drafts were wrong in it
OWN = 2  # times that the model's own answer counts: texts of others are easier to guess
SAVED = 120.0  # seconds between two savings of what was learnt


@dataclass(frozen=True)
class Stage:
    """What a person would see: what is done, how far it is, and what was reached."""

    what: str  # "read" | "answer" | "learn" | "write"
    done: float  # of 1
    said: str = ""
    accepted: tuple[float, ...] = ()
    loss: float = 0.0


def make(
    target: HeadsTarget, texts: Sequence[Text], place: HeadsPlace, sizes: Sizes, seconds: float
) -> Iterator[Stage]:
    """Train heads for so long, from where an earlier run stopped; the file is there afterwards."""
    lock = Lock(place.work / "lock")
    if not lock.take():
        raise UsageError(
            f"Heads of {target.name} are being trained already.", hint="Wait until that run ends."
        )
    try:
        _room(place, sizes, seconds)
        started = time.perf_counter()
        ids = reading.likely(
            texts, target.tokenizer, target.weights.config.vocabulary, LIKELY, COUNTED
        )
        yield from _read(target, texts, place, started, seconds * READING)
        found = [part for part in (rows.load(place.work), rows.load(place.kept)) if part]
        if not found:
            raise UsageError(
                "Not one text was read in that time.", hint="Give it longer: --minutes 30"
            )
        yield from _learn(target, place, sizes, ids, found, started, seconds)
    finally:
        lock.release()


def _room(place: HeadsPlace, sizes: Sizes, seconds: float) -> None:
    """Rows and what training goes on from need room; say so before an hour is spent."""
    needed = int(min(MOST, seconds * READING * 1000) * sizes.hidden * 2) + (64 << 20)
    if (here := free(place.work)) < needed:
        raise ModelError(
            f"Training heads needs up to {sized(needed)} in {place.work}, "
            f"and {sized(here)} are free.",
            hint="Free some space, give --minutes less, or set SPECEDIT_HOME to another disk.",
        )


# -- reading ---------------------------------------------------------------------------------------


def _read(
    target: HeadsTarget, texts: Sequence[Text], place: HeadsPlace, started: float, seconds: float
) -> Iterator[Stage]:
    shards = Shards(place)
    read = _new(target, _held_early(texts), shards)
    answers = given(target, texts, place, shards)
    answering = 0.0
    try:
        while (spent := time.perf_counter() - started) < seconds and shards.places < MOST:
            before = time.perf_counter()
            wanted = answering < ANSWERING * spent
            step = next(answers, None) if wanted else None
            if step is not None:
                answering += time.perf_counter() - before
            elif (step := next(read, None)) is None and not wanted:
                step = next(answers, None)
            if step is None:
                break
            what = f"{shards.places:,} places of {len(shards.index['texts'])} texts"
            yield Stage(step, min(1.0, spent / seconds), what)
    finally:
        answers.close()  # what is under way is kept
        shards.settle()


def _held_early(texts: Sequence[Text]) -> list[Text]:
    """One of the texts held out comes second: however short the time, there is a measure."""
    held = next((text for text in texts if text.held), None)
    others = [text for text in texts if text is not held]
    return [*others[:1], *([held] if held else []), *others[1:]]


def _new(target: HeadsTarget, texts: Sequence[Text], shards: Shards) -> Iterator[str]:
    """Read the parts of texts that were not yet: the first of every text, then the second…"""
    waiting = [(text, reading.samples(text, target.tokenizer, target.template)) for text in texts]
    number = 0
    while waiting:
        left = []
        for text, parts in waiting:
            sample = next(parts, None)
            if sample is None:
                continue
            left.append((text, parts))
            name = f"{text.digest}:{number}"
            if not shards.known(name):
                shards.add(name, text.held, reading.rows_of(target.engine.passes, sample))
                yield "read"
        waiting, number = left, number + 1


# -- learning --------------------------------------------------------------------------------------


def _learn(
    target: HeadsTarget,
    place: HeadsPlace,
    sizes: Sizes,
    ids: Array,
    found: list[rows.Rows],
    started: float,
    seconds: float,
) -> Iterator[Stage]:
    from specedit.heads.training import Held, Learner, Teacher, load_state, save_state

    index = rows.read_index(place.work)
    learn, held = _parted(found, index)
    teacher = Teacher(target.weights)
    learner = Learner(sizes, learn, teacher, ids)
    state = load_state(place.state(sizes.kind), learner)
    if state is None:
        heads = shelf.opened(place.store, target.digest, sizes.kind, target.name)
        if heads is not None and heads.about.sizes == sizes:
            yield Stage("learn", 0.0, f"from {heads.path}")
            learner.network.take(heads)
        else:
            yield Stage("learn", 0.0, "a first guess")
            learner.start()
    watched = Held(held, teacher, ids, sizes.depth)
    left = max(1.0, seconds - (time.perf_counter() - started))
    saved = time.perf_counter()
    try:
        for progress in learner.learn(left, watched):
            said = f"step {progress.step}, {len(learn):,} places"
            done = min(1.0, (time.perf_counter() - started) / seconds)
            yield Stage("learn", done, said, progress.accepted, progress.loss)
            if time.perf_counter() - saved > SAVED:
                save_state(place.state(sizes.kind), learner)
                saved = time.perf_counter()
    finally:  # also where it was interrupted: nothing learnt is lost
        save_state(place.state(sizes.kind), learner)
        _written(target, place, learner, watched, ids, index, found)
    yield Stage("write", 1.0, str(place.file(sizes.kind)), watched.accepted(learner.network))


def _parted(found: list[rows.Rows], index: dict[str, Any]) -> tuple[rows.Rows, rows.Rows]:
    """Rows to learn from and those held out; kept answers are all learnt from."""
    main = found[0]
    known = index.get("texts") or [("", False)]
    is_held = np.array([bool(held) for _, held in known])
    is_own = np.array([not _is_read(name) for name, _ in known])
    texts = np.clip(main.meta[rows.TEXTS], 0, len(is_held) - 1)
    held = main.only(is_held[texts])
    own = main.only((is_own & ~is_held)[texts])
    learn = [main.only(~is_held[texts]), *[own] * (OWN - 1), *(found[1:] * REPEATED)]
    return rows.together([part for part in learn if len(part)] or [main]), held


def _is_read(name: str) -> bool:
    """Whether these rows are of a part of a text, not of an answer."""
    return name.rsplit(":", 1)[-1].isdigit()


def _written(
    target: HeadsTarget,
    place: HeadsPlace,
    learner: Learner,
    held: Any,
    ids: Array,
    index: dict[str, Any],
    found: Sequence[rows.Rows],
) -> None:
    padded = np.zeros(-(-len(ids) // 16) * 16, np.int32)
    padded[: len(ids)] = ids
    about = About(
        sizes=learner.sizes,
        model=target.name,
        digest=target.digest,
        sharpness=held.sharpness(learner.network),
        guessed=len(ids),
        accepted=tuple(round(part, 4) for part in held.accepted(learner.network)),
        texts=sum(_is_read(name) for name, _ in index.get("texts", ())),
        positions=len(found[0]),
        answered=int(index.get("answers", 0)),
        rejected=sum(len(part) for part in found[1:]),
        steps=learner.step,
        seconds=round(learner.seconds, 1),
    )
    write(place.file(learner.sizes.kind), about, {**learner.network.packed(), "ids": padded})
