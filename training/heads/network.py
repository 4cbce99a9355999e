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
from specedit.models.head_file import HeadsSizes

if TYPE_CHECKING:
    from specedit.engines.exact.quantize import Array
    from specedit.models.head_file import Heads

DROPPED = 51  # of 256 numbers, while learning


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

    def _weights(self) -> Iterator[tuple[str, Parameter, torch.Tensor]]:
        """Each product's name in a file, its weight, and the factor of the weight in the file."""
        for at, each in enumerate(self.steps):
            step: Any = each
            yield f"{at}.state", step.of_state.weight, 1 / self.spread
            if step.of_id is not None:
                yield f"{at}.id", step.of_id.weight, 1 / self.id_spread
            yield f"{at}.down", step.down.weight, self.spread[:, None]

    def take(self, heads: Heads) -> None:
        """Begin with the weights of a file of the same sizes."""
        with torch.no_grad():
            for name, weight, factor in self._weights():
                outputs, inputs = weight.shape
                stored = torch.from_numpy(heads.weight(name))[:outputs, :inputs]
                weight.copy_(stored / factor)
            for depth in range(self.sizes.depth):
                self.biases[depth] = torch.from_numpy(heads.array(f"{depth}.bias").copy())

    def packed(self) -> dict[str, Array]:
        """The weights in the layout of a file of heads."""
        tensors: dict[str, Array] = {}
        with torch.no_grad():
            for name, weight, factor in self._weights():
                made = quantize.panels(quantize.linear((weight * factor).numpy()))
                tensors |= {f"{name}.{part}": array for part, array in made.items()}
            for depth, bias in enumerate(self.biases.numpy()):
                tensors[f"{depth}.bias"] = bias.astype(np.float32)
        return tensors
