"""The likeliest of some texts: found in few passes, with their shares of the probability."""

import math
from collections.abc import Sequence
from typing import Any, cast

import pytest
from effort import examples
from exact_models import kernels_here, save
from hypothesis import given
from hypothesis import strategies as st

from specedit.decode.likeliest import Weighing, likeliest

Ids = tuple[int, ...]


class Table:
    """An engine that chooses by the ids since the prompt, as a table of probabilities says."""

    def __init__(self, seed: int) -> None:
        self.seed, self.length, self.passes = seed, 0, 0

    def chance(self, before: Ids, id: int) -> float:
        return (hash((self.seed, before, id)) % 97 + 1) / 1000

    def weigh(self, ids: Sequence[int], wanted: Sequence[Sequence[int]]) -> list[list[float]]:
        self.length, self.passes = len(ids), self.passes + 1
        path, first = tuple(ids[1:]), len(ids) - len(wanted)
        return [
            [math.log(self.chance(path[: first + n], id)) for id in among]
            for n, among in enumerate(wanted)
        ]

    def crop(self, length: int) -> None:
        self.length = length


@examples(60)
@given(
    texts=st.sets(st.lists(st.integers(1, 3), max_size=4).map(tuple), min_size=1, max_size=12),
    seed=st.integers(0, 999),
    most=st.integers(1, 4),
)
def test_they_are_the_first_of_all_by_their_probabilities(texts, seed, most):
    ended = [(*text, 0) for text in texts]  # so that none begins with another
    engine = Table(seed)
    chances = {
        text: math.prod(engine.chance(text[:n], id) for n, id in enumerate(text)) for text in ended
    }
    found, passes = likeliest(cast(Weighing, cast(Any, engine)), 9, ended, most)
    assert engine.length == 0 and passes == engine.passes <= 1 + sum(map(len, ended))
    best = sorted(chances.values(), reverse=True)[:most]
    assert [chances[text] for text, _ in found] == pytest.approx(best)
    assert sum(share for _, share in found) <= 1 + 1e-9
    whole = sum(chances.values())
    assert all(share < chances[text] / whole + 1e-9 for text, share in found)


@pytest.mark.skipif(not kernels_here(), reason="no kernels were built here")
def test_the_exact_engine_tells_the_probabilities_that_its_logits_mean(tmp_path):
    import numpy as np

    from specedit.engines.exact.engine import open_exact

    engine = open_exact(save("qwen2, grouped, tied", tmp_path / "model")[1], store=tmp_path)
    prompt, texts = list(range(40, 60)), [(1, 2, 3), (1, 2, 9), (1, 7), (300, 5, 6, 8)]
    expected = {}
    for text in texts:
        engine.crop(0)
        list(engine.begin(prompt, audit=True))
        rows = engine.forward([prompt[-1], *text[:-1]]).rows or []
        logits = [np.frombuffer(row, np.float32).astype(float) for row in rows]
        pairs = zip(logits, text, strict=True)
        expected[text] = sum(row[id] - np.logaddexp.reduce(row) for row, id in pairs)
    engine.crop(0)
    list(engine.begin(prompt))
    found, _ = likeliest(engine, prompt[-1], texts, 4)
    assert [text for text, _ in found] == sorted(texts, key=lambda text: -expected[text])
    shares = np.exp([expected[text] for text, _ in found])
    assert np.allclose([share for _, share in found], shares / shares.sum(), atol=1e-6)
    assert engine.length == len(prompt) - 1
