"""The exact engine beside a float reference, teacher-forced over the same ids."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from exact_models import save

from specedit.bench.agreement import agreement, judged_by_bf16, judged_by_exact
from specedit.engines.exact import open_exact


def test_agreement_counts_choices_and_compares_perplexities() -> None:
    mine = [(1, 0.0), (2, 0.0), (3, math.log(16))]
    other = [(1, 0.0), (9, 0.0), (3, math.log(2))]
    found = agreement(mine, other)
    assert found["tokens"] == 3
    assert found["agreement"] == pytest.approx(2 / 3)
    assert found["perplexity"] == pytest.approx(16 ** (1 / 3))
    assert found["ratio"] == pytest.approx(2.0)


def test_both_engines_judge_the_same_places(tmp_path: Path) -> None:
    model, files = save("qwen2, grouped, tied", tmp_path / "model")
    numbers = random.Random(5)
    rows = [[numbers.randrange(500) for _ in range(count)] for count in (2, 300)]
    theirs = list(judged_by_bf16(model, rows))
    ours = list(judged_by_exact(open_exact(files, store=tmp_path / "store"), rows))
    assert [len(one) for one in ours] == [len(one) for one in theirs] == [1, 299]
    found = agreement(ours[1], theirs[1])
    assert found["agreement"] > 0.8
    assert found["ratio"] == pytest.approx(1.0, abs=0.05)
