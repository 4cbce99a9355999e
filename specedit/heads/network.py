"""Heads while they learn: the arithmetic of the kernels, in floats that have gradients.

Rows are in units of their own spread (a few channels of a model's last rows are a hundred times as
large as the others). The spread is folded into the weights when they are packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import Linear, Module, ModuleList, Parameter
from torch.nn.functional import silu

from specedit.engines.exact import quantize
from specedit.heads.rows import IDS, Rows
from specedit.models.head_file import HeadsSizes

if TYPE_CHECKING:
    from specedit.models.head_file import Array, Heads

DROPPED = 51  # of 256 numbers, while learning
SAMPLE, PART = 100_000, 4096  # places that the regression uses, in all and at a time
RIDGE = 0.02  # of the mean variance, added to every direction
OPEN = 1.27846  # silu of it is 1: a gate of this opens a unit


class HeadStep(Module):
    """State and perhaps id to the next state."""

    def __init__(self, sizes: HeadsSizes) -> None:
        super().__init__()
        self.of_state = Linear(sizes.hidden, sizes.outputs, bias=False)
        self.of_id = Linear(sizes.hidden, sizes.outputs, bias=False) if sizes.of.chained else None
        self.down = Linear(sizes.inner, sizes.hidden, bias=False)
        for part in (self.of_state, self.of_id):
            if part is not None:
                torch.nn.init.normal_(part.weight, std=sizes.hidden**-0.5)
        torch.nn.init.normal_(self.down.weight, std=0.3 * sizes.inner**-0.5)


class Network(Module):
    """All steps of one file of heads."""

    spread: torch.Tensor
    id_spread: torch.Tensor

    def __init__(self, sizes: HeadsSizes, spread: Array, id_spread: float) -> None:
        super().__init__()
        self.sizes = sizes
        self._random = np.random.default_rng(0)
        self.steps = ModuleList(HeadStep(sizes) for _ in range(sizes.steps))
        self.biases = Parameter(torch.zeros(sizes.depth, sizes.outputs))
        self.register_buffer("spread", torch.from_numpy(spread.astype(np.float32)))
        self.register_buffer("id_spread", torch.tensor(float(id_spread)))

    def next(self, depth: int, state: torch.Tensor, ids: torch.Tensor | None) -> torch.Tensor:
        """The states that step `depth` makes of states and the embeddings of the ids after them."""
        step: Any = self.steps[min(depth, len(self.steps) - 1)]
        inner = step.of_state(self._dropout(state)) + self.biases[depth]
        if step.of_id is not None:
            assert ids is not None
            inner = inner + step.of_id(self._dropout(ids))
        if self.sizes.of.gated:
            gate, up = inner.chunk(2, -1)
            inner = silu(gate) * up
        else:
            inner = silu(inner)
        made: torch.Tensor = state + step.down(inner)
        return made

    def _dropout(self, rows: torch.Tensor) -> torch.Tensor:
        """Leave out random numbers while learning. Ten times as fast as torch's."""
        if not self.training:
            return rows
        numbers = bytearray(self._random.bytes(rows.numel()))
        mask = torch.frombuffer(numbers, dtype=torch.uint8).view(rows.shape) >= DROPPED
        return rows * mask * (256 / (256 - DROPPED))

    def states(
        self, first: torch.Tensor, ids: torch.Tensor | None, deepest: int | None = None
    ) -> Iterator[torch.Tensor]:
        """The states made at every depth. `ids`: embeddings, [rows, depth, hidden]."""
        state = first
        for depth in range(deepest or self.sizes.depth):
            if self.sizes.of.chained:
                assert ids is not None
                state = self.next(depth, state, ids[:, depth])
            else:
                state = self.next(depth, first, None)
            yield state

    def embedded(self, rows: torch.Tensor) -> torch.Tensor:
        """Embeddings in units of their spread."""
        scaled: torch.Tensor = rows / self.id_spread.to(rows.dtype)
        return scaled

    def take(self, heads: Heads) -> None:
        """Begin with the weights of a file of the same sizes."""
        hidden, spread = self.sizes.hidden, self.spread
        with torch.no_grad():
            for at, each in enumerate(self.steps):
                step: Any = each
                state = torch.from_numpy(heads.weight(f"{at}.state"))[:, :hidden]
                step.of_state.weight.copy_(state * spread)
                if step.of_id is not None:
                    ids = torch.from_numpy(heads.weight(f"{at}.id"))[:, :hidden]
                    step.of_id.weight.copy_(ids * self.id_spread)
                down = torch.from_numpy(heads.weight(f"{at}.down"))[:hidden]
                step.down.weight.copy_(down / spread[:, None])
            for depth in range(self.sizes.depth):
                self.biases[depth] = torch.from_numpy(heads.array(f"{depth}.bias").copy())

    def packed(self) -> dict[str, Array]:
        """The weights in the layout of a file of heads."""
        tensors: dict[str, Array] = {}
        spread = self.spread.numpy()
        with torch.no_grad():
            for at, each in enumerate(self.steps):
                step: Any = each
                weights = {"state": step.of_state.weight.numpy() / spread}
                if step.of_id is not None:
                    weights["id"] = step.of_id.weight.numpy() / float(self.id_spread)
                weights["down"] = step.down.weight.numpy() * spread[:, None]
                for name, weight in weights.items():
                    made = quantize.panels(quantize.linear(weight.astype(np.float32)))
                    tensors |= {f"{at}.{name}.{part}": array for part, array in made.items()}
            for depth, bias in enumerate(self.biases.numpy()):
                tensors[f"{depth}.bias"] = bias.astype(np.float32)
        return tensors


def linear_start(network: Network, rows: Rows, anchors: Array, embedding: torch.Tensor) -> None:
    """Set the first step of gated, chained heads to the best linear guess of the next row.

    It is a ridge regression from a row and the id after it, cut to half the rank of the inner row.
    A gated unit with a constant gate is linear, so half of the units hold the guess and learn from
    there; the others begin at random."""
    if len(anchors) > SAMPLE:
        anchors = np.random.default_rng(0).choice(anchors, SAMPLE, replace=False)
    hidden, inner, half = network.sizes.hidden, network.sizes.inner, network.sizes.inner // 2
    spread = network.spread.numpy()
    gram = np.zeros((2 * hidden, 2 * hidden), np.float32)
    cross = np.zeros((2 * hidden, hidden), np.float32)
    for at in range(0, len(anchors), PART):
        places = np.sort(anchors[at : at + PART])
        here, there = rows.take(places) / spread, rows.take(places + 1) / spread
        ids = torch.from_numpy(rows.meta[IDS][places + 1].astype(np.int64))
        inputs = np.concatenate((here, network.embedded(embedding[ids].float()).numpy()), 1)
        gram += inputs.T @ inputs
        cross += inputs.T @ (there - here)
    gram[np.diag_indices_from(gram)] += RIDGE * np.trace(gram) / len(gram)
    weights = np.linalg.solve(gram, cross)
    _, vectors = np.linalg.eigh(weights.T @ gram @ weights)
    strongest = vectors[:, -half:]  # the directions in which the guesses vary most
    up = (weights @ strongest).T
    step: Any = network.steps[0]
    with torch.no_grad():
        for part, columns in ((step.of_state, slice(0, hidden)), (step.of_id, slice(hidden, None))):
            part.weight[:half] = 0.0
            part.weight[inner : inner + len(up)] = torch.from_numpy(up[:, columns].copy())
        step.down.weight[:, : len(up)] = torch.from_numpy(strongest.copy())
        network.biases[:, :half] = OPEN
