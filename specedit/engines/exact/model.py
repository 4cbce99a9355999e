"""The transformer: ids and a cache in, hidden rows and logits out.

Knows the Qwen2, Qwen3 and Llama layer. Does not know choices, prompts or passes' reasons.

Only operations that passed the exactness tests are used: SiLU is written x / (1 + exp(-x)) because
torch's own rounds differently in the vector body and the scalar tail, and rotary embedding is
written in real numbers because the complex product does, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import rms_norm

from specedit.engines.exact import panels
from specedit.engines.exact.attention import Attention
from specedit.engines.exact.cache import Cache
from specedit.engines.exact.geometry import PIECE, Geometry
from specedit.engines.exact.linear import Linear, combined, digits, pack, product
from specedit.engines.exact.weights import Weights

TURNS = 4096  # positions per piece of the rotary tables
HEAD_PARTS = 8  # the output layer is cut so that a part's logits stay in the processor's cache


@dataclass(frozen=True)
class Layer:
    """One layer's weights. `head_norms` are the query's and key's, side by side per head."""

    norm: torch.Tensor
    qkv: Linear
    bias: torch.Tensor | None
    head_norms: torch.Tensor | None
    out: Linear
    inner_norm: torch.Tensor
    gated: list[tuple[Linear, Linear]]  # gate and up, then down, a piece of the inner width each


class Model:
    """Packed weights of one model."""

    def __init__(self, weights: Weights, attention: Attention, *, close: bool) -> None:
        self.config = config = weights.config
        self.close = close
        self.attention = attention
        self.embedding = weights.array("embedding")  # stays in the file; rows are read as needed
        self.speeds = _tensor(weights.array("speeds"))
        self.norm = _tensor(weights.array("norm")[: config.hidden])
        self.cosines = self.sines = torch.empty(0, config.head_size)
        read = _Unpacker(weights, two=close)
        # packing is single-threaded work of many tensors: one worker per core, one thread each
        threads = torch.get_num_threads()
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            head = pool.submit(read.head)
            layers = [pool.submit(read.layer, index) for index in range(config.layers)]
            self.layers = [job.result() for job in layers]
            self.head = head.result()
        torch.set_num_threads(threads)

    def new_cache(self) -> Cache:
        """An empty cache of this model."""
        return Cache(self.config, self.attention.dtype)

    def read(self, ids: Sequence[int], cache: Cache, *, last: bool = True) -> torch.Tensor | None:
        """Feed ids behind what the cache holds; the final hidden rows, or None without `last`.

        Without `last` the topmost layer only leaves its keys and values.
        """
        config = self.config
        start, width = len(cache.ids), len(ids)
        cache.reserve(start + width)
        spans = self.attention.spans(start, width)
        cos, sin = self._turns(start, start + width)
        table = self.embedding[np.array(ids), : config.hidden].astype(np.uint32)
        rows = _tensor((table << 16).view(np.float32))
        for index, layer in enumerate(self.layers):
            keys, values = cache.keys[index], cache.values[index]
            normed = rms_norm(rows, (config.hidden,), layer.norm, config.epsilon)
            queries = self._queries(layer, normed, cos, sin, keys, values, start)
            if index == config.layers - 1 and not last:
                break
            mixed = self.attention.attend(queries, keys, values, spans).view(width, -1)
            found, scale = product(layer.out, mixed)
            rows.addcmul_(found, scale)
            normed = rms_norm(rows, (config.hidden,), layer.inner_norm, config.epsilon)
            self._gated(layer, normed, rows)
        cache.ids.extend(ids)
        return rows if last else None

    def _queries(
        self,
        layer: Layer,
        normed: torch.Tensor,
        cos: torch.Tensor,
        sin: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        start: int,
    ) -> torch.Tensor:
        """Rotated queries [width x heads, size]; keys and values go into the cache."""
        config = self.config
        width, size, both = normed.shape[0], config.head_size, config.heads + config.kv_heads
        mixed, scale = product(layer.qkv, normed)
        if layer.bias is None:
            mixed.mul_(scale)
        else:
            mixed = torch.addcmul(layer.bias, mixed, scale)
        heads = mixed.view(width, both + config.kv_heads, size)
        turned = heads[:, :both]
        if layer.head_norms is not None:
            turned = rms_norm(turned, (size,), None, config.epsilon).mul_(layer.head_norms)
        swapped = turned.roll(size // 2, -1)
        turned = (turned * cos).add_(swapped.mul_(sin))
        end = start + width
        keys[:, start:end] = turned[:, config.heads :].transpose(0, 1)
        values[:, start:end] = heads[:, both:].transpose(0, 1)
        return turned[:, : config.heads].reshape(-1, size)

    def _gated(self, layer: Layer, normed: torch.Tensor, rows: torch.Tensor) -> None:
        """rows += down(silu(gate) * up), piece by piece.

        Each piece of the inner activations has digits and a scale of its own, so that an outlier
        coarsens its piece only; and a piece of a width-64 pass stays in the processor's cache.
        """
        taken, scale = digits(normed, self.close)
        back, square = -scale, scale * scale
        for gate_up, down in layer.gated:
            gate, up = combined(gate_up, taken).chunk(2, -1)
            below = (gate * back).exp_().add_(1.0)
            found, step = product(down, up.mul_(gate).div_(below))  # `square` is still missing
            rows.addcmul_(found, step.mul_(square))

    def normed(self, rows: torch.Tensor) -> torch.Tensor:
        """Final hidden rows behind the last norm: what the output layer takes."""
        return rms_norm(rows, (self.config.hidden,), self.norm, self.config.epsilon)

    def logits(self, rows: torch.Tensor) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Logits of final hidden rows in parts of the vocabulary, and each row's positive factor.

        The logits proper are part * factor; who only wants the largest need not multiply.
        """
        taken, scale = digits(self.normed(rows), self.close)
        return [combined(linear, taken) for linear in self.head], scale

    def _turns(self, start: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and signed sines of positions, from tables that grow in pieces of one shape."""
        while self.cosines.shape[0] < end:
            at = torch.arange(TURNS, dtype=torch.float64) + self.cosines.shape[0]
            turned = at[:, None] * self.speeds
            cos, sin = turned.cos().float(), turned.sin().float()
            self.cosines = torch.cat((self.cosines, torch.cat((cos, cos), -1)))
            self.sines = torch.cat((self.sines, torch.cat((-sin, sin), -1)))
        return self.cosines[start:end, None], self.sines[start:end, None]


def _tensor(found: Any) -> torch.Tensor:
    """A tensor of its own: what is mapped must not be written to."""
    return torch.from_numpy(np.array(found))


@dataclass(frozen=True)
class _Unpacker:
    """Weights back from their panels, and into the layout that oneDNN likes."""

    weights: Weights
    two: bool

    def head(self) -> list[Linear]:
        """The output layer in parts."""
        config = self.weights.config
        whole = self._plain("head", config.vocabulary, config.hidden)
        step = -(-config.vocabulary // HEAD_PARTS // 16) * 16
        return [
            self._packed(whole.weight[at : at + step], whole.scales[at : at + step, 0])
            for at in range(0, config.vocabulary, step)
        ]

    def layer(self, index: int) -> Layer:
        config, at = self.weights.config, f"layer.{index}"
        to, half = Geometry.of(config), config.head_size // 2
        qkv = self._plain(f"{at}.qkv", to.qkv, config.hidden)
        out = self._plain(f"{at}.out", config.hidden, config.heads * 2 * to.half)
        bias = self._vector(f"{at}.bias")
        query, key = self._vector(f"{at}.query_norm"), self._vector(f"{at}.key_norm")
        norms = None
        if query is not None and key is not None:
            norms = torch.stack([query] * config.heads + [key] * config.kv_heads)
        return Layer(
            _tensor(self.weights.array(f"{at}.norm")[: config.hidden]),
            self._packed(
                panels.gathered(qkv.weight, 0, half, to.half),
                panels.gathered(qkv.scales[:, 0], 0, half, to.half),
            ),
            bias,
            norms,
            self._packed(panels.gathered(out.weight, 1, half, to.half), out.scales[:, 0]),
            _tensor(self.weights.array(f"{at}.inner_norm")[: config.hidden]),
            self._gated(at),
        )

    def _gated(self, at: str) -> list[tuple[Linear, Linear]]:
        config = self.weights.config
        whole = self._plain(f"{at}.gate_up", 2 * Geometry.of(config).inner, config.hidden)
        gate, up = panels.unwoven(whole, config.inner)
        down = self._plain(f"{at}.down", config.hidden, config.inner)
        found = []
        for piece, start in enumerate(range(0, config.inner, PIECE)):
            here = slice(start, min(start + PIECE, config.inner))
            both = [np.concatenate((a[here], b[here])) for a, b in _sides(gate, up)]
            found.append(
                (
                    self._packed(both[0], both[1][:, 0]),
                    self._packed(down.weight[:, here], down.scales[:, piece]),
                )
            )
        return found

    def _plain(self, name: str, outputs: int, inputs: int) -> panels.Quantised:
        return panels.plain(self.weights, name, outputs, inputs, PIECE)

    def _packed(self, weight: Any, scales: Any) -> Linear:
        return pack(_tensor(weight), _tensor(scales), two=self.two)

    def _vector(self, name: str) -> torch.Tensor | None:
        if name not in self.weights.entries:
            return None
        config = self.weights.config
        found = self.weights.array(name)
        return _tensor(panels.gathered(found, 0, config.head_size // 2, Geometry.of(config).half))


def _sides(gate: panels.Quantised, up: panels.Quantised) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    return (gate.weight, up.weight), (gate.scales, up.scales)
