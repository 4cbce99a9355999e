"""Cost curves: kept, read back, distrusted when damaged, and forgotten when the shape changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from specedit import curves
from specedit.decode.cost import Curve
from specedit.engines.scripted import ScriptedEngine
from specedit.report import ModelLine

LINE = ModelLine("some/model", "abc", "exact", "cpu", 2)
CURVE = Curve.of([(1, 0.07), (8, 0.1), (32, 0.2), (128, 0.8)])


def test_a_curve_is_kept_and_read_back(tmp_path: Path) -> None:
    path = curves.place(tmp_path, LINE)
    assert curves.load(path) is None
    curves.save(path, CURVE)
    assert curves.load(path) == CURVE
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_another_engine_or_thread_count_has_another_curve(tmp_path: Path) -> None:
    others = [
        ModelLine("some/model", "abc", "huggingface", "cpu", 2),
        ModelLine("some/model", "abc", "exact", "cpu", 1),
        ModelLine("some/model", "def", "exact", "cpu", 2),
    ]
    assert len({curves.place(tmp_path, line) for line in [LINE, *others]}) == 4


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"points": []}', '{"points": [["a", 1]]}'])
def test_a_damaged_curve_is_no_curve(tmp_path: Path, damage: str) -> None:
    path = curves.place(tmp_path, LINE)
    path.parent.mkdir(parents=True)
    path.write_text(damage)
    assert curves.load(path) is None


def test_measuring_covers_narrow_and_wide_and_leaves_the_cache_empty() -> None:
    engine = ScriptedEngine([1, 2, 3])
    measured = curves.measure(engine)
    assert [width for width, _ in measured.points] == list(curves.WIDTHS)
    assert engine.length == 0


@pytest.mark.parametrize(
    ("narrow", "wide", "count", "expected"),
    [(1, 1, 10, False), (3, 3, 10, False), (1, 2, 10, True), (2, 1, 10, True), (1, 9, 3, False)],
    ids=["as measured", "slower throughout", "wide dearer", "wide cheaper", "too few passes"],
)
def test_only_another_shape_is_a_reason_to_measure_again(
    narrow: float, wide: float, count: int, expected: bool
) -> None:
    passes = [(1, narrow * CURVE.seconds(1)), (64, wide * CURVE.seconds(64))] * count
    assert curves.bent(CURVE, passes) is expected
