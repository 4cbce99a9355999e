"""A faster forward pass for models of Llama's form: Qwen2, Qwen3, Llama, Mistral.

The weights of queries, keys and values lie in one matrix, and so do those of the gate and the
layer above it. Keys and values lie in one buffer and are written together; the heads that share a
key are rows of one product. Per layer that is about 20 kernels where transformers' module starts
45, and a narrow pass on a card takes as long as its kernels take to start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as functional

from specedit.engines.huggingface.modules import Runner

FAMILIES = ("qwen2", "qwen3", "llama", "mistral")
FIXED_ROPE = ("default", "linear", "llama3", "yarn")  # the same at any length
WIDEST_PRODUCT = 512  # ids of a pass; of wider ones the scores take more memory than they save time
Product = Callable[[torch.Tensor], torch.Tensor]


def fits(model: Any) -> bool:
    """Whether this forward pass computes what the model's own does."""
    config = model.config
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    rope = getattr(config, "rope_parameters", None) or {}
    return (
        config.model_type in FAMILIES
        and type(model).__name__.endswith("ForCausalLM")
        and kinds == {"full_attention"}
        and not (config.model_type == "mistral" and config.sliding_window)
        and config.hidden_act == "silu"
        and not getattr(config, "mlp_bias", False)
        and rope.get("rope_type", "default") in FIXED_ROPE
    )


class FusedModule(Runner):
    """The forward pass over a model's weights, which become parts of the joined ones."""

    name = "joined weights"

    def __init__(self, model: Any, capacity: int) -> None:
        config, inner = model.config, model.model
        self.heads, self.keys = config.num_attention_heads, config.num_key_value_heads
        self.size = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.epsilon = config.rms_norm_eps
        self.embedding = inner.embed_tokens.weight
        self.norm, self.head = inner.norm.weight, model.lm_head
        self._rotary = inner.rotary_emb
        self.layers = [_Layer(layer, self.heads, self.keys) for layer in inner.layers]
        device = self.embedding.device
        self.start = torch.zeros((), dtype=torch.long, device=device)
        self._rows: list[torch.Tensor] = []
        self.grow(capacity)

    def grow(self, capacity: int) -> None:
        if not self._rows:
            shape = (2 * self.keys, capacity, self.size)
            self._rows = [self.embedding.new_zeros(shape) for _ in self.layers]
        for at, rows in enumerate(self._rows):  # one at a time: the old one is freed
            self._rows[at] = functional.pad(rows, (0, 0, 0, capacity - rows.shape[1]))
        self.capacity = capacity
        self._columns = torch.arange(capacity, device=self.embedding.device)
        cosines, sines = self._rotary(self.embedding, self._columns[None])
        # The first half of a head gets minus its second half times the sine
        sines = torch.cat([-sines[0, :, : self.size // 2], sines[0, :, self.size // 2 :]], -1)
        self._turns = torch.stack([cosines[0], sines])

    def logits(self, ids: torch.Tensor, span: int, keep: int) -> torch.Tensor:
        width, groups = len(ids), self.heads // self.keys
        positions = self.start + torch.arange(width, device=ids.device)
        cosines, sines = self._turns[:, positions, None]
        seen = self._columns[:span] <= positions[:, None]
        product = width <= WIDEST_PRODUCT
        mask = torch.zeros(seen.shape, dtype=self.embedding.dtype, device=ids.device)
        mask = mask.masked_fill_(~seen, float("-inf"))
        if product:  # the rows of one key head are its query heads, position by position
            mask = mask[:, None].expand(width, groups, span).reshape(1, width * groups, span)
        x = functional.embedding(ids, self.embedding)
        for layer, rows in zip(self.layers, self._rows, strict=True):
            heads = layer.qkv(self._normed(x, layer.attention_norm))
            heads = heads.view(width, self.heads + 2 * self.keys, self.size)
            turned = heads[:, : self.heads + self.keys]
            if layer.head_norms is not None:
                turned = self._normed(turned, None) * layer.head_norms
            turned = torch.addcmul(turned * cosines, turned.roll(self.size // 2, -1), sines)
            keys, values = rows.chunk(2)
            keys.index_copy_(1, positions, turned[:, self.heads :].transpose(0, 1))
            values.index_copy_(1, positions, heads[:, self.heads + self.keys :].transpose(0, 1))
            attend = self._attend if product else self._attend_wide
            out = attend(turned[:, : self.heads], keys[:, :span], values[:, :span], mask)
            _add(x, layer.out, out)
            gate, up = layer.gate_up(self._normed(x, layer.inner_norm)).chunk(2, -1)
            _add(x, layer.down, functional.silu(gate) * up)
        logits: torch.Tensor = self.head(self._normed(x[width - keep :], self.norm))
        return logits

    def _normed(self, x: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
        return functional.rms_norm(x, (x.shape[-1],), weight, self.epsilon)

    def _attend(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        """Two products: with a mask, the fused kernels repeat the keys for every head."""
        width, groups = len(queries), self.heads // self.keys
        rows = queries.view(width, self.keys, groups, self.size).permute(1, 0, 2, 3)
        rows = rows.reshape(self.keys, width * groups, self.size)
        scores = torch.baddbmm(
            mask.expand(self.keys, -1, -1), rows, keys.transpose(1, 2), alpha=self.size**-0.5
        )
        out = (scores.softmax(-1) @ values).view(self.keys, width, groups, self.size)
        return out.permute(1, 0, 2, 3).reshape(width, -1)

    def _attend_wide(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        groups = self.heads // self.keys
        out = functional.scaled_dot_product_attention(
            queries.transpose(0, 1)[None],
            keys.repeat_interleave(groups, 0)[None],
            values.repeat_interleave(groups, 0)[None],
            attn_mask=mask[None, None],
        )
        return out[0].transpose(0, 1).reshape(len(queries), -1)


class _Layer:
    """One layer's weights."""

    def __init__(self, layer: Any, heads: int, keys: int) -> None:
        attention, gated = layer.self_attn, layer.mlp
        self.attention_norm = layer.input_layernorm.weight
        self.inner_norm = layer.post_attention_layernorm.weight
        self.head_norms: torch.Tensor | None = None
        if hasattr(attention, "q_norm"):
            counts = ((attention.q_norm, heads), (attention.k_norm, keys))
            self.head_norms = torch.cat([norm.weight.expand(n, -1) for norm, n in counts])
        self.qkv = _joined(attention, "q_proj", "k_proj", "v_proj")
        self.gate_up = _joined(gated, "gate_proj", "up_proj")
        self.out, self.down = attention.o_proj, gated.down_proj


def _joined(module: Any, *names: str) -> Product:
    """One product for several: their weights in one matrix, unless they are quantised."""
    parts = [getattr(module, name) for name in names]
    if any(_quantised(part) for part in parts):
        return lambda x: torch.cat([part(x) for part in parts], -1)
    weight = torch.cat([part.weight for part in parts])
    biases = [part.bias for part in parts if part.bias is not None]
    bias = torch.cat(biases) if biases else None
    row = 0
    for part in parts:  # layer by layer, so that no more than one layer lies in memory twice
        part.weight = torch.nn.Parameter(weight[row : row + part.out_features], False)
        row += part.out_features
    return lambda x: functional.linear(x, weight, bias)


def _add(x: torch.Tensor, linear: Any, out: torch.Tensor) -> None:
    """Add a product to `x` in place, with one kernel where the weight is a plain matrix."""
    if linear.bias is None and not _quantised(linear):
        x.addmm_(out, linear.weight.t())
    else:
        x.add_(linear(out))


def _quantised(linear: Any) -> bool:
    return type(linear.weight) is not torch.nn.Parameter
