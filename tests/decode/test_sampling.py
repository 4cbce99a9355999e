"""A sampled choice: the generator, temperature and top-p."""

import numpy as np
import pytest

from specedit.engines.base import Sampling
from specedit.engines.sampling import choose, uniform


def test_the_generator_depends_on_seed_and_position():
    drawn = {uniform(seed, position) for seed in range(40) for position in range(40)}
    assert len(drawn) == 1600 and uniform(3, 5) == uniform(3, 5)
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
def test_sampling_keeps_the_likely(sampling, allowed):
    row = np.array([1.0, 2.0, 0.5, 2.0], np.float32)
    assert {choose(row, sampling, position) for position in range(300)} == allowed


def test_a_sample_follows_the_probabilities():
    row = np.array([0.0, 1.0, 2.0], np.float32)
    share = np.exp(row) / np.exp(row).sum()
    drawn = [choose(row, Sampling(temperature=1.0, seed=9), p) for p in range(4000)]
    for id in range(3):
        assert drawn.count(id) / 4000 == pytest.approx(float(share[id]), abs=0.03)
