"""Parts of the exact engine: digits, attention's layout, the choice, the generator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from specedit.engines.base import Sampling
from specedit.engines.exact import assemble, check, machine
from specedit.engines.exact.attention import Attention
from specedit.engines.exact.blocks import BlockAttention
from specedit.engines.exact.linear import REMAINDER, digits
from specedit.engines.exact.rows import ROWS, RowAttention
from specedit.engines.exact.stock import _largest
from specedit.engines.sampling import choose, uniform
from specedit.models.numbers import Config


def config(heads: int, kv_heads: int, size: int) -> Config:
    return Config("llama", 1, heads * size, 8, heads, kv_heads, size, 10, 4096, 1e-6, 1e4)


@pytest.mark.parametrize("two", [False, True], ids=["one digit", "two digits"])
@pytest.mark.parametrize("spread", [0.0, 1e-20, 1.0, 1e20], ids=str)
def test_digits_stand_for_the_row(two: bool, spread: float) -> None:
    rows = torch.randn(7, 93, generator=torch.Generator().manual_seed(3)) * spread
    taken, scale = digits(rows.clone(), two)
    value = taken[:7].double() - 128
    if two:
        value += (taken[7:].double() - 128) / REMAINDER
    step = scale.double()
    assert ((value * step - rows).abs() <= step * (0.003 if two else 0.501)).all()


@pytest.mark.parametrize(
    ("heads", "kv_heads", "size"),
    [(4, 2, 16), (12, 2, 128), (14, 2, 64), (3, 3, 8), (8, 1, 24)],
    ids=str,
)
@pytest.mark.parametrize(("kind", "close"), [(BlockAttention, 1e-5), (RowAttention, 0.03)])
def test_attention_is_causal_attention(
    heads: int, kv_heads: int, size: int, kind: Callable[[Config], Attention], close: float
) -> None:
    attention, numbers = kind(config(heads, kv_heads, size)), torch.Generator().manual_seed(4)
    keys, values = (torch.randn(kv_heads, 1024, size, generator=numbers) for _ in range(2))
    queries = torch.randn(1024, heads, size, generator=numbers)
    flat = queries.view(-1, size)
    for start, width in [(0, 1), (0, 300), (127, 2), (511, 130), (1000, 24)]:
        end = start + width
        spans = attention.spans(start, width)
        dtype = attention.dtype
        found = attention.attend(
            flat[start * heads : end * heads], keys.to(dtype), values.to(dtype), spans
        )
        mask = torch.arange(end)[None] <= torch.arange(start, end)[:, None]
        expected = torch.nn.functional.scaled_dot_product_attention(
            queries[start:end].transpose(0, 1)[None],
            keys[None, :, :end].repeat_interleave(heads // kv_heads, 1),
            values[None, :, :end].repeat_interleave(heads // kv_heads, 1),
            attn_mask=mask,
        )
        assert torch.allclose(found, expected[0].transpose(0, 1).reshape(-1, size), atol=close)


@pytest.mark.parametrize(
    ("products", "found", "chosen"),
    [
        (True, "", RowAttention),
        (True, "attention depends on the pass's width", BlockAttention),
        (False, "", BlockAttention),
    ],
    ids=["checked", "not exact here", "no bf16"],
)
def test_plain_products_are_used_only_where_the_check_found_them_exact(
    products: bool, found: str, chosen: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assemble, "bf16_products", lambda: products)
    monkeypatch.setattr(check, "_attention", lambda *_: iter([found] if found else []))
    for _ in range(2):  # the second time from what was kept
        assert type(assemble.attention(config(4, 2, 16), tmp_path)) is chosen


@pytest.mark.parametrize(
    ("bf16", "amx", "expected"),
    [(True, False, True), (True, True, False), (False, False, False)],
    ids=["bf16", "AMX", "neither"],
)
def test_bf16_products_of_amx_are_not_even_asked_about(
    bf16: bool, amx: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A row's sum depends on the pass's height there, so rarely that a small check misses it.
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: bf16, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx, raising=False)
    assert machine.bf16_products() is expected


class Largest(TorchDispatchMode):
    """The most numbers that any operation had or made."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple) else (made,):
            if isinstance(one, torch.Tensor):  # of a view, what it looks at
                held = one.untyped_storage().nbytes() // one.element_size()
                self.numbers = max(self.numbers, held)
        return made


@pytest.mark.parametrize("kind", [BlockAttention, RowAttention])
def test_no_tensor_of_width_by_context_by_heads_is_made(kind: Callable[[Config], Any]) -> None:
    width, context, heads = 256, 8192, 12
    attention = kind(config(heads, 2, 8))
    keys = torch.zeros(2, context, 8, dtype=attention.dtype)
    with Largest() as largest:
        spans = attention.spans(context - width, width)
        attention.attend(torch.zeros(width * heads, 8), keys, keys, spans)
    assert width * heads * 8 <= largest.numbers <= ROWS * context < width * heads * context / 4


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_the_choice_is_the_lowest_id_of_the_largest_logit(seed: int, ties: bool) -> None:
    numbers = torch.Generator().manual_seed(seed)
    raw = torch.randn(5, 60, generator=numbers)
    if ties:  # neighbours of the float format, some of which a factor rounds together
        raw = (1 + torch.randint(0, 4, (5, 60), generator=numbers) * 2.0**-23) * (-1) ** (seed % 2)
    factor = torch.rand(5, 1, generator=numbers) + 0.5
    expected = (raw * factor).argmax(-1).tolist()
    assert _largest(list(raw.split((17, 30, 13), -1)), factor) == expected


def test_the_generator_depends_on_seed_and_position() -> None:
    drawn = {uniform(seed, position) for seed in range(40) for position in range(40)}
    assert len(drawn) == 1600
    assert all(0 <= number < 1 for number in drawn)
    assert abs(np.mean(list(drawn)) - 0.5) < 0.03


@pytest.mark.parametrize(
    ("sampling", "allowed"),
    [
        (Sampling(), {1}),
        (Sampling(temperature=1.0, top_p=0.2), {1}),
        (Sampling(temperature=1.0, top_p=0.7), {1, 3}),
        (Sampling(temperature=1.0), {0, 1, 2, 3}),
        (Sampling(temperature=1e-9), {1, 3}),
    ],
    ids=["argmax", "narrow", "two", "all", "cold"],
)
def test_sampling_keeps_the_likely(sampling: Sampling, allowed: set[int]) -> None:
    row = np.array([1.0, 2.0, 0.5, 2.0], np.float32)
    assert {choose(row, sampling, position) for position in range(300)} == allowed


def test_a_sample_follows_the_probabilities() -> None:
    row = np.array([0.0, 1.0, 2.0], np.float32)
    share = np.exp(row) / np.exp(row).sum()
    drawn = [choose(row, Sampling(temperature=1.0, seed=9), p) for p in range(4000)]
    for id in range(3):
        assert drawn.count(id) / 4000 == pytest.approx(float(share[id]), abs=0.03)
