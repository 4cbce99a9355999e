"""Self-distillation: heads learn the model's own distributions and rows, for a given time.

The target of each depth is the model's distribution at that place over the ids that may be guessed,
and its row there. Places whose text is not the model's own choice count less.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import cross_entropy, smooth_l1_loss

from specedit.errors import UsageError
from specedit.models.head_file import HeadsSizes
from training.heads.network import Network
from training.heads.reading import CHOICES, IDS, Rows

if TYPE_CHECKING:
    from specedit.engines.exact.quantize import Array
    from specedit.engines.exact.weights import Weights
    from specedit.models.head_file import Heads

SPAN = 16  # neighbouring places of a batch: one target serves several depths
PLACES = 512  # of a batch of all depths; of fewer depths, as many more
# depths that are learnt until this share of the time; after it, all
DEPTHS = ((0.2, 1), (0.35, 2), (0.45, 3))
RATE = 1e-3
WARM = 30  # steps until the rate is reached
LEAST_RATE = 0.05  # of the rate, at the end
FOREIGN = 0.3  # weight of a place whose text is not the model's own choice
NEARER = 0.85  # weight of each depth, of the one before
LIKENESS = 1.0  # weight of the row, beside the distribution
WORST = 50.0  # bound of a place's loss: one broken place must not turn the weights
AMONG = 3072  # ids in a batch's distributions: its own, and a random sample of the likely ones
SCALES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 2.0)
FEW = 30  # places: with fewer, a depth is not calibrated
HELD = 1500  # held-out places
LOOK = 20  # steps between measurements on held-out places


class Teacher:
    """The model's own embedding and output layer, as its converted file has them."""

    def __init__(self, weights: Weights) -> None:
        hidden = weights.config.hidden
        table = weights.array("embedding")[:, :hidden].view(np.int16)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the array is read-only, and nothing writes to it
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
    """A network, its optimizer, and the rows it learns from."""

    def __init__(
        self,
        sizes: HeadsSizes,
        rows: Rows,
        weights: Array,
        teacher: Teacher,
        likely: Array,
        seed: int = 0,
    ) -> None:
        """`weights`: for each place, how often it counts (0: it is not learnt from)."""
        self.sizes, self.rows, self.teacher, self.likely = sizes, rows, teacher, likely
        self._random = np.random.default_rng(seed)
        torch.manual_seed(seed)
        for self._span in (SPAN, 1):
            places = rows.anchors(self._span + sizes.depth)
            self._starts = np.repeat(places, weights[places])
            if len(self._starts):
                break
        else:
            raise UsageError("The texts are too short to learn from.", hint="Name more files.")
        sample = rows.take(self._random.choice(self._starts, min(len(self._starts), 2000)))
        spread = np.maximum(sample.std(0), 1e-3)
        id_spread = float(teacher.embedding[torch.from_numpy(likely[:1000])].float().std())
        self.network = Network(sizes, spread, id_spread).eval()
        self._optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.1, fused=True
        )
        self.step = 0
        self.seconds = 0.0
        self._agrees = rows.agrees()

    def take(self, heads: Heads) -> None:
        """Continue from a file of the same sizes."""
        self.network.take(heads)
        self.step, self.seconds = heads.about.steps, heads.about.seconds
        self._random = np.random.default_rng(self.step)  # not the same batches again

    def learn(self, seconds: float, held: HeldOut) -> Iterator[tuple[float, tuple[float, ...]]]:
        """Learn for so long; the learning rate falls over that time. Yields the loss, and for each
        depth the share of held-out places where it is right, after the depths before it."""
        started, before, first = time.perf_counter(), self.seconds, self.step
        recent: list[float] = []
        while (spent := time.perf_counter() - started) < seconds:
            share = min(1.0, spent / seconds)
            rate = RATE * (LEAST_RATE + (1 - LEAST_RATE) * 0.5 * (1 + math.cos(math.pi * share)))
            for group in self._optimizer.param_groups:
                group["lr"] = rate * min(1.0, (self.step - first + 1) / WARM)
            deep = next((deep for until, deep in DEPTHS if share < until), self.sizes.depth)
            recent.append(self.one_step(min(deep, self.sizes.depth)))
            self.step += 1
            self.seconds = before + time.perf_counter() - started
            if self.step % LOOK == 0:
                yield float(np.mean(recent)), held.accepted(self.network)
                recent = []
        loss = float(np.mean(recent)) if recent else math.nan
        yield loss, held.accepted(self.network)

    def one_step(self, deep: int) -> float:
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
        """The loss of all places of these spans, down to a depth."""
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
            # two dimensions: a product of three copies the output layer for every span
            teacher = (near[:, 1:].reshape(-1, near.shape[-1]) @ output).float().softmax(-1)
            teacher = teacher.view(len(starts), length - 1, -1)
        embedded = None
        if self.sizes.of.chained:
            table = self.network.embedded(self.teacher.embedding[ids[:, 1:].reshape(-1)])
            table = table.view(len(starts), length - 1, -1)
            embedded = torch.stack([table[:, d : d + span] for d in range(depth)], 2)
            embedded = embedded.view(-1, depth, states.shape[-1])
        first = near[:, :span].reshape(-1, states.shape[-1])
        total, weights = torch.zeros(()), 0.0
        with torch.autocast("cpu", bf16):
            weight = torch.ones(len(starts), span)
            for d, made in enumerate(self.network.states(first, embedded, depth)):
                weight = weight * torch.where(agrees[:, d : d + span], 1.0, FOREIGN)
                flat = weight.reshape(-1)
                target = teacher[:, d : d + span].reshape(len(flat), -1)
                logs = (made @ output).float().log_softmax(-1)
                loss = -(target * logs).sum(-1).clamp(min=-WORST)
                aim = near[:, d + 1 : d + 1 + span].reshape(made.shape)
                off = smooth_l1_loss(made, aim, reduction="none").mean(-1).float().clamp(max=WORST)
                mean = ((loss + LIKENESS * off) * flat).sum() / flat.sum()
                total, weights = total + NEARER**d * mean, weights + NEARER**d
        return total / weights

    def _output(self, places: Array) -> torch.Tensor:
        """The output layer's rows of the ids at these places, of the model's choices there, and of
        a random sample. All ids at every step would take twice as long."""
        own = np.unique(self.rows.meta[: CHOICES + 1, places.reshape(-1)])
        count = min(AMONG, len(self.likely))
        more = np.setdiff1d(self._random.choice(self.likely, count, replace=False), own)
        # always as many: torch compiles products of each new shape
        return self.teacher.output(np.concatenate((own, more))[:count].astype(np.int64))


class HeldOut:
    """Held-out places: how often each depth's first guess is the model's own choice."""

    def __init__(
        self, rows: Rows, held: Array, teacher: Teacher, likely: Array, depth: int
    ) -> None:
        """`held`: a mask of the places."""
        anchors = rows.anchors(depth + 1)
        anchors = anchors[(rows.agrees() & held)[anchors]]
        if len(anchors) > HELD:
            anchors = np.random.default_rng(1).choice(anchors, HELD, replace=False)
        anchors.sort()
        after = anchors[:, None] + np.arange(1, depth + 1)
        self.states = torch.from_numpy(rows.take(anchors))
        self.ids, self.choices = rows.meta[IDS][after], rows.meta[CHOICES][after]
        # a text's own ids may be guessed, too
        self.known = np.union1d(likely, self.ids).astype(np.int64)
        self.output = teacher.output(self.known)
        self.embedded = teacher.embedding[torch.from_numpy(self.ids.astype(np.int64))]

    def sharpness(self, network: Network) -> tuple[float, ...]:
        """For each depth, the factor of the logits that calibrates the probabilities."""
        factors = [1.0] * network.sizes.depth
        place = np.searchsorted(self.known, self.choices)
        there = self.known[np.minimum(place, len(self.known) - 1)] == self.choices
        for d, logits, alive in self._depths(network):
            rows = np.flatnonzero(alive & there[:, d])
            if len(rows) < FEW:
                factors[d] = factors[d - 1] if d else 1.0
                continue
            targets = torch.from_numpy(place[rows, d].astype(np.int64))
            chosen = logits[rows].float()
            losses = [float(cross_entropy(chosen * scale, targets)) for scale in SCALES]
            factors[d] = SCALES[int(np.argmin(losses))]
        return tuple(factors)

    def accepted(self, network: Network) -> tuple[float, ...]:
        """For each depth: of the places where all depths before it hold, the share that holds."""
        shares = []
        for d, logits, alive in self._depths(network):
            right = self.known[logits.argmax(-1).numpy()] == self.choices[:, d]
            shares.append(float(right[alive].mean()) if alive.any() else 0.0)
        return tuple(shares)

    def _depths(self, network: Network) -> Iterator[tuple[int, torch.Tensor, Array]]:
        """Each depth, its logits, and the places where all depths before it hold."""
        if not len(self.states):
            return
        alive, bf16 = np.ones(len(self.states), bool), torch.bfloat16
        with torch.no_grad(), torch.autocast("cpu", bf16):
            first = (self.states / network.spread).to(bf16)
            output = (self.output * network.spread).to(bf16).T
            for d, made in enumerate(network.states(first, network.embedded(self.embedded))):
                logits = made.to(bf16) @ output
                yield d, logits, alive
                right = self.known[logits.argmax(-1).numpy()] == self.choices[:, d]
                if d + 1 < self.ids.shape[1]:  # the text continues as the model would
                    alive = alive & right & (self.ids[:, d + 1] == self.choices[:, d])
