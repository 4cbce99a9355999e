"""A model of transformers behind a cache that can be put back.

`StaticModule` gives every attention layer a cache of fixed size: a pass writes its rows at a
position in device memory, so cropping is setting a number, and one recorded CUDA graph serves every
position. A recurrent layer's state is copied before a pass and put back after a rejection.
`DynamicModule` runs the models that take no such cache.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import torch
from transformers.cache_utils import CacheLayerMixin

State = Any  # what `save` returns


class Runner:
    """Computes logits behind the positions that its cache holds."""

    name: str
    static = True  # passes may be padded, and recorded in a graph
    recurrent = False  # a rejection needs `restore`; else setting `start` is enough
    single = False  # a pass of several ids after others would be wrong
    start: torch.Tensor  # positions that the cache holds, in device memory
    capacity: int  # positions that fit

    def logits(self, ids: torch.Tensor, span: int, keep: int) -> torch.Tensor:
        """Logits of the last `keep` of these ids; attention sees the first `span` positions."""
        raise NotImplementedError

    def grow(self, capacity: int) -> None:
        """Make room for so many positions."""

    def save(self) -> State:
        return None

    def restore(self, state: State) -> None:
        pass


def cache_argument(model: Any) -> str:
    """The name of `forward`'s cache: it was `past_key_values` before transformers 5.24."""
    named = inspect.signature(model.forward).parameters
    return "cache" if "cache" in named else "past_key_values"


class Rows(CacheLayerMixin):  # type: ignore[no-untyped-call]
    """The keys and values of one attention layer, all positions of them."""

    is_compileable = True  # else a pass of one id is not masked

    def __init__(self, runner: StaticModule, sliding: bool) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.keys: Any
        self.values: Any
        self._runner = runner
        self.is_sliding = sliding  # the mask of such a layer is made from it

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        self.keys, self.values = (
            states.new_zeros(*states.shape[:2], self._runner.capacity, states.shape[3])
            for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        positions, span = self._runner.positions, self._runner.span
        self.keys.index_copy_(2, positions, key_states)
        self.values.index_copy_(2, positions, value_states)
        return self.keys[:, :, :span], self.values[:, :, :span]

    def grow(self, capacity: int) -> None:
        if self.is_initialized:
            more = capacity - self.keys.shape[2]
            self.keys, self.values = (
                torch.nn.functional.pad(held, (0, 0, 0, more)) for held in (self.keys, self.values)
            )

    def get_mask_sizes(self, *_: Any) -> tuple[int, int]:
        return self._runner.span, 0

    def get_seq_length(self, *_: Any) -> Any:
        return self._runner.start

    def get_max_length(self) -> int:
        return self._runner.capacity

    get_max_cache_shape = get_max_length  # its name in older versions


class StaticModule(Runner):
    """A module of transformers with a cache of fixed size."""

    name = "static cache"

    def __init__(self, model: Any, capacity: int) -> None:
        from transformers import StaticCache

        device = next(model.parameters()).device
        self.model, self.capacity, self.span = model, capacity, capacity
        self.start = torch.zeros((), dtype=torch.long, device=device)
        self.positions = torch.zeros(1, dtype=torch.long, device=device)
        self._argument = cache_argument(model)
        self._cache: Any = StaticCache(config=model.config, max_cache_len=capacity)
        self._rows: list[Rows] = []
        self._states: list[Any] = []
        layer: Any
        for at, layer in enumerate(self._cache.layers):
            kind = type(layer).__name__
            if kind == "LinearAttentionLayer":
                self._states.append(layer)
            elif kind in ("StaticLayer", "StaticSlidingWindowLayer"):
                self._rows.append(Rows(self, layer.is_sliding))
                self._cache.layers[at] = self._rows[-1]
            elif kind != "DummyLayer":
                raise ValueError(f"its cache has a {kind}")
        self.recurrent = bool(self._states)

    def logits(self, ids: torch.Tensor, span: int, keep: int) -> torch.Tensor:
        self.span = span
        self.positions = self.start + torch.arange(len(ids), device=ids.device)
        how = {"use_cache": True, "logits_to_keep": keep, self._argument: self._cache}
        out = self.model(input_ids=ids[None], position_ids=self.positions[None], **how)
        logits: torch.Tensor = out.logits[0]
        return logits

    def grow(self, capacity: int) -> None:
        self.capacity = capacity
        for rows in self._rows:
            rows.grow(capacity)

    def save(self) -> State:
        return [
            (
                dict(layer.has_previous_state),
                [
                    {at: None if tensor is None else tensor.clone() for at, tensor in held.items()}
                    for held in (layer.conv_states, layer.recurrent_states)
                ],
            )
            for layer in self._states
        ]

    @torch.inference_mode()
    def restore(self, state: State) -> None:
        """Copy the states back to where they lie: a graph reads them there."""
        for layer, (known, saved) in zip(self._states, state, strict=True):
            layer.has_previous_state.update(known)
            for held, kept in zip((layer.conv_states, layer.recurrent_states), saved, strict=True):
                for at, tensor in held.items():
                    if tensor is not None and kept[at] is not None:
                        tensor.copy_(kept[at])
                    elif tensor is not None:  # saved before the first pass
                        tensor.zero_()


class DynamicModule(Runner):
    """A module of transformers with the cache that it makes itself, which is copied whole."""

    name = "growing cache"
    static, recurrent = False, True
    capacity = 1 << 62

    def __init__(self, model: Any, *, single: bool = False) -> None:
        self.model, self.single = model, single
        self.start = torch.zeros((), dtype=torch.long)
        self._argument = cache_argument(model)
        self._cache: Any = None  # the first pass makes it

    def logits(self, ids: torch.Tensor, span: int, keep: int) -> torch.Tensor:
        how = {"use_cache": True, "logits_to_keep": keep, self._argument: self._cache}
        out = self.model(input_ids=ids[None], **how)
        self._cache = getattr(out, self._argument)
        logits: torch.Tensor = out.logits[0]
        return logits

    def save(self) -> State:
        return copy.deepcopy(self._cache)

    def restore(self, state: State) -> None:
        self._cache = copy.deepcopy(state)
