"""Heads learn to say what the model says: batches of neighbouring places, a loss, a step.

Each depth is asked for the model's own distribution at that place over the ids that may be guessed
(self-distillation), and for the row it makes there. Places whose text is not what the model would
have written count less: in an answer every id is the model's own choice.

Knows time and steps, yields progress, and stops where it is told to; `Learner.state` is all that is
needed to go on. Does not know texts, files or the screen.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy, smooth_l1_loss

from specedit.files import atomic
from specedit.heads.kinds import Sizes
from specedit.heads.network import Network
from specedit.heads.rows import CHOICES, IDS, Rows
from specedit.heads.start import linear_start

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array, Weights

SPAN = 16  # neighbouring places of a batch: what the model says at one serves several depths
PLACES = 512  # of a batch of all depths; of fewer depths, as many more
# until this share of the time so many are learnt, and then all
DEPTHS = ((0.2, 1), (0.35, 2), (0.45, 3))
RATE = 1e-3
WARM = 30  # steps until the rate is reached
LEAST_RATE = 0.05  # of the rate, at the end
FOREIGN = 0.3  # what a place counts whose text is not the model's own choice
NEARER = 0.85  # what each depth counts, of the one before
LIKENESS = 1.0  # what the row counts, beside what it says
WORST = 50.0  # a place of which more is lost teaches nothing: what is behind it would follow it
AMONG = 3072  # ids that a batch is asked about: its own, and likely ones drawn anew
SCALES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 2.0)
FEW = 30  # places from which nothing is calibrated
LOOK = 20  # steps between looks at held-out places


@dataclass(frozen=True)
class Learnt:
    """Where learning is: `accepted` by depth on held-out places, where the depths before held."""

    step: int
    seconds: float
    loss: float
    accepted: tuple[float, ...] = ()


class Teacher:
    """The model's own embedding and output layer, as its converted file has them."""

    def __init__(self, weights: Weights) -> None:
        hidden = weights.config.hidden
        table = weights.array("embedding")[:, :hidden].view(np.int16)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it cannot be written to, and nobody will
            self.embedding = torch.from_numpy(table).view(torch.bfloat16)
        self._panels, self._scales = weights.array("head.panels"), weights.array("head.scales")
        self._hidden = hidden

    def output(self, ids: Array) -> torch.Tensor:
        """The output layer's rows of these ids."""
        panel, lane = ids // 16, ids % 16
        rows = self._panels[panel, :, lane, :].reshape(len(ids), -1)[:, : self._hidden]
        scales = self._scales[panel, 0, lane]
        return torch.from_numpy(rows.astype(np.float32) * scales[:, None]).to(torch.bfloat16)


class Learner:
    """A network, and the moments of its steps."""

    def __init__(
        self, sizes: Sizes, rows: Rows, teacher: Teacher, likely: Array, seed: int = 0
    ) -> None:
        self.sizes, self.rows, self.teacher, self.likely = sizes, rows, teacher, likely
        self._random = np.random.default_rng(seed)
        torch.manual_seed(seed)
        sample = rows.take(self._random.integers(0, len(rows), min(len(rows), 2000)))
        spread = np.maximum(sample.std(0), 1e-3)
        id_spread = float(teacher.embedding[torch.from_numpy(likely[:1000])].float().std())
        self.network = Network(sizes, spread, id_spread).eval()
        self._optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.1, fused=True
        )
        self.step = 0
        self.seconds = 0.0
        texts = rows.anchors(SPAN + sizes.depth)
        self._starts = texts if len(texts) else rows.anchors(sizes.depth + 1)
        self._span = SPAN if len(texts) else 1
        self._agrees = rows.agrees()

    def start(self) -> None:
        """Begin with the best linear guess, where the kind allows it."""
        if self.sizes.of.chained and self.sizes.of.gated:
            linear_start(self.network, self.rows, self.teacher.embedding, self._random)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "step": self.step,
            "seconds": self.seconds,
        }

    def take(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.step, self.seconds = int(state["step"]), float(state["seconds"])
        self._random = np.random.default_rng(self.step)  # not the same batches again

    def learn(self, seconds: float, held: Held | None = None) -> Iterator[Learnt]:
        """Learn for so long. The rate falls over the time that was given."""
        started, before, first = time.perf_counter(), self.seconds, self.step
        recent: list[float] = []
        while (spent := time.perf_counter() - started) < seconds:
            share = min(1.0, spent / seconds)
            rate = RATE * (LEAST_RATE + (1 - LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * share)))
            for group in self._optimizer.param_groups:
                group["lr"] = rate * min(1.0, (self.step - first + 1) / WARM)
            deep = next((deep for until, deep in DEPTHS if share < until), self.sizes.depth)
            recent.append(self._once(min(deep, self.sizes.depth)))
            self.step += 1
            self.seconds = before + time.perf_counter() - started
            if self.step % LOOK == 0:
                accepted = held.accepted(self.network) if held else ()
                yield Learnt(self.step, self.seconds, float(np.mean(recent)), accepted)
                recent = []
        accepted = held.accepted(self.network) if held else ()
        loss = float(np.mean(recent)) if recent else math.nan
        yield Learnt(self.step, self.seconds, loss, accepted)

    def _once(self, deep: int) -> float:
        spans = max(1, PLACES * self.sizes.depth // deep // self._span)
        starts = self._random.choice(self._starts, spans)
        self.network.train()
        loss = self.loss(starts, self._span, deep)
        self.network.eval()
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self._optimizer.step()
        return float(loss.detach())

    def loss(self, starts: Array, span: int, depth: int) -> torch.Tensor:
        """Of all places of these spans, down to a depth."""
        rows = self.rows
        length = span + depth
        places = starts[:, None] + np.arange(length)
        spread, bf16 = self.network.spread, torch.bfloat16
        states = torch.from_numpy(rows.take(places.reshape(-1))).div_(spread)
        states = states.view(len(starts), length, -1)
        ids = torch.from_numpy(rows.meta[IDS][places].astype(np.int64))
        agrees = torch.from_numpy(self._agrees[places])
        output = (self._output(places) * spread).to(bf16).T
        near = states.to(bf16)
        with torch.no_grad():
            # of two dimensions: a product of three copies the output layer for every span
            teacher = (near[:, 1:].reshape(-1, near.shape[-1]) @ output).float().softmax(-1)
            teacher = teacher.view(len(starts), length - 1, -1)
        embedded = None
        if self.sizes.of.chained:
            table = self.network.embedded(self.teacher.embedding[ids[:, 1:].reshape(-1)])
            table = table.view(len(starts), length - 1, -1)
            embedded = torch.stack([table[:, d : d + span] for d in range(depth)], 2)
            embedded = embedded.view(-1, depth, states.shape[-1])
        first = near[:, :span].reshape(-1, states.shape[-1])
        total, whole = torch.zeros(()), 0.0
        with torch.autocast("cpu", bf16):
            weight = torch.ones(len(starts), span)
            for d, made in enumerate(self.network.states(first, embedded, depth)):
                weight = weight * torch.where(agrees[:, d : d + span], 1.0, FOREIGN)
                flat = weight.reshape(-1)
                target = teacher[:, d : d + span].reshape(len(flat), -1)
                said = (made @ output).float().log_softmax(-1)
                loss = -(target * said).sum(-1).clamp(min=-WORST)
                aim = near[:, d + 1 : d + 1 + span].reshape(made.shape)
                off = smooth_l1_loss(made, aim, reduction="none").mean(-1).float().clamp(max=WORST)
                count = NEARER**d
                total = total + count * ((loss + LIKENESS * off) * flat).sum() / flat.sum()
                whole += count
        return total / whole

    def _output(self, places: Array) -> torch.Tensor:
        """The output layer's rows that these places are asked about: what stands there, what the
        model says there, and others by chance. All ids at every step would take twice as long."""
        found = np.unique(self.rows.meta[: CHOICES + 1, places.reshape(-1)])
        count = min(AMONG, len(self.likely))
        more = np.setdiff1d(self._random.choice(self.likely, count, replace=False), found)
        # always as many: products of a new shape are compiled anew
        return self.teacher.output(np.concatenate((found, more))[:count].astype(np.int64))


class Held:
    """Held-out places: how often each depth's first guess is the model's own choice."""

    def __init__(
        self, rows: Rows, teacher: Teacher, likely: Array, depth: int, most: int = 1500
    ) -> None:
        anchors, agrees = rows.anchors(depth + 1), rows.agrees()
        anchors = anchors[agrees[anchors]]
        if len(anchors) > most:
            anchors = np.random.default_rng(1).choice(anchors, most, replace=False)
        anchors.sort()
        behind = anchors[:, None] + np.arange(1, depth + 1)
        self.states = torch.from_numpy(rows.take(anchors)) if len(anchors) else None
        self.ids, self.choices = rows.meta[IDS][behind], rows.meta[CHOICES][behind]
        known = np.union1d(likely, self.ids)  # a text's own ids may be guessed, too
        self.known = known.astype(np.int64)
        self.output = teacher.output(self.known)
        self.embedded = teacher.embedding[torch.from_numpy(self.ids.astype(np.int64))]

    def sharpness(self, network: Network) -> tuple[float, ...]:
        """By depth, what logits are multiplied by so that a chance is what happens."""
        found = [1.0] * network.sizes.depth
        if self.states is None:
            return tuple(found)
        place = np.searchsorted(self.known, self.choices)
        there = self.known[np.minimum(place, len(self.known) - 1)] == self.choices
        for d, logits, alive in self._said(network):
            kept = np.flatnonzero(alive & there[:, d])
            if len(kept) < FEW:
                found[d] = found[d - 1] if d else 1.0
                continue
            logits = logits[kept].float()
            aims = torch.from_numpy(place[kept, d].astype(np.int64))
            losses = [float(cross_entropy(logits * scale, aims)) for scale in SCALES]
            found[d] = SCALES[int(np.argmin(losses))]
        return tuple(found)

    def accepted(self, network: Network) -> tuple[float, ...]:
        """By depth: of the places where all before held, how many hold."""
        if self.states is None:
            return ()
        found = []
        for d, logits, alive in self._said(network):
            right = self.known[logits.argmax(-1).numpy()] == self.choices[:, d]
            found.append(float(right[alive].mean()) if alive.any() else 0.0)
        return tuple(found)

    def _said(self, network: Network) -> Iterator[tuple[int, torch.Tensor, Array]]:
        """Each depth, its logits, and the places where all before it held."""
        assert self.states is not None
        alive, bf16 = np.ones(len(self.states), bool), torch.bfloat16
        with torch.no_grad(), torch.autocast("cpu", bf16):
            first = (self.states / network.spread).to(bf16)
            output = (self.output * network.spread).to(bf16).T
            for d, made in enumerate(network.states(first, network.embedded(self.embedded))):
                logits = made.to(bf16) @ output
                yield d, logits, alive
                right = self.known[logits.argmax(-1).numpy()] == self.choices[:, d]
                if d + 1 < self.ids.shape[1]:  # the text goes on as the model would have
                    alive = alive & right & (self.ids[:, d + 1] == self.choices[:, d])


def save_state(path: Path, learner: Learner) -> None:
    """Keep all that training goes on from; whole or not at all."""
    with atomic.drafted(path) as file:
        torch.save(learner.state(), file)


def load_state(path: Path, learner: Learner) -> dict[str, Any] | None:
    """Go on from what was kept; None where nothing was, or it is of heads of another shape."""
    if not path.is_file():
        return None
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True)
        learner.take(state)
    except Exception:  # torch says it in many ways: what cannot be read is learnt anew
        return None
    return state
