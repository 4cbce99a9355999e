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

import torch
from torch import rms_norm

from specedit.engines.exact.attention import Attention
from specedit.engines.exact.cache import Cache
from specedit.engines.exact.linear import Linear, combined, digits, pack, product
from specedit.engines.exact.weights import Weights

TURNS = 4096  # positions per piece of the rotary tables


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
        self.embedding = weights.tensor("embedding")  # stays in the file; rows are read as needed
        weights.release("embedding")
        self.norm = weights.tensor("norm").clone()
        self.cosines = self.sines = torch.empty(0, config.head_size)

        def linear(name: str) -> Linear:
            weight, scales = weights.tensor(f"{name}.weight"), weights.tensor(f"{name}.scales")
            packed = pack(weight, scales, two=close)
            weights.release(f"{name}.weight")
            return packed

        def layer(index: int) -> Layer:
            at = f"layer.{index}"

            def vector(name: str) -> torch.Tensor | None:
                name = f"{at}.{name}"
                return weights.tensor(name).clone() if name in weights.entries else None

            norm, inner = vector("norm"), vector("inner_norm")
            assert norm is not None and inner is not None
            return Layer(
                norm,
                linear(f"{at}.qkv"),
                vector("bias"),
                vector("head_norms"),
                linear(f"{at}.out"),
                inner,
                [
                    (linear(f"{at}.gate_up.{piece}"), linear(f"{at}.down.{piece}"))
                    for piece in range(pieces)
                ],
            )

        pieces = sum(name.startswith("layer.0.down.") for name in weights.entries) // 2
        # packing is single-threaded work of many tensors: one worker per core, one thread each
        threads = torch.get_num_threads()
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            parts = sum(name.startswith("head.") for name in weights.entries) // 2
            head = [pool.submit(linear, f"head.{part}") for part in range(parts)]
            layers = [pool.submit(layer, index) for index in range(config.layers)]
            self.layers = [job.result() for job in layers]
            self.head = [job.result() for job in head]
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
        rows = self.embedding[torch.tensor(ids)].float()
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

    def logits(self, rows: torch.Tensor) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Logits of final hidden rows in parts of the vocabulary, and each row's positive factor.

        The logits proper are part * factor; who only wants the largest need not multiply.
        """
        normed = rms_norm(rows, (self.config.hidden,), self.norm, self.config.epsilon)
        taken, scale = digits(normed, self.close)
        return [combined(linear, taken) for linear in self.head], scale

    def _turns(self, start: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and signed sines of positions, from tables that grow in pieces of one shape."""
        while self.cosines.shape[0] < end:
            half = self.config.head_size // 2
            speed = self.config.rope_base ** (-torch.arange(half, dtype=torch.float64) / half)
            if self.config.rope_factors:
                speed /= torch.tensor(self.config.rope_factors, dtype=torch.float64)
            at = torch.arange(TURNS, dtype=torch.float64) + self.cosines.shape[0]
            cos, sin = (at[:, None] * speed).cos().float(), (at[:, None] * speed).sin().float()
            self.cosines = torch.cat((self.cosines, torch.cat((cos, cos), -1)))
            self.sines = torch.cat((self.sines, torch.cat((-sin, sin), -1)))
        return self.cosines[start:end, None], self.sines[start:end, None]
