"""`specedit model suggest`: memory, what a pass costs here, and which model suits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from specedit.backends import suggest
from specedit.cli.model import app
from specedit.decode.cost import TYPICAL
from specedit.models import catalogue
from specedit.models.store import store_path

DEFAULT = catalogue.CATALOGUE[0]
GB = 10**9
QUICK = [(1, 0.002), (8, 0.003), (256, 0.01)]
USUAL = [(1, 0.05), (8, 0.06), (256, 0.9)]


def curves(root: Path, **found: object) -> None:
    root.mkdir(exist_ok=True)
    (root / "curves.json").write_text(json.dumps(found))


def names(memory: int, points: list[tuple[int, float]]) -> tuple[str, list[str]]:
    measured = suggest.Pace(suggest.Curve.of(points), DEFAULT.parameters)
    found = suggest.rows(measured, memory)
    return suggest.best(found).entry.name, [one.entry.name for one in found if one.suits]


@pytest.mark.parametrize(
    ("memory", "points", "best"),
    [
        (3 * GB, USUAL, "qwen2.5-coder-0.5b"),
        (8 * GB, USUAL, "qwen2.5-coder-1.5b"),
        (64 * GB, USUAL, "qwen2.5-coder-1.5b"),  # a larger one takes too long
        (8 * GB, QUICK, "qwen3-4b"),  # not the 3B, whose licence binds
        (16 * GB, QUICK, "qwen3-8b"),
        (64 * GB, QUICK, "qwen2.5-coder-14b"),
        (0, QUICK, "qwen2.5-coder-14b"),  # nobody can say how much there is
        (1 * GB, USUAL, "qwen2.5-coder-0.5b"),  # none fits: the smallest
    ],
)
def test_the_largest_that_fits_and_is_quick_enough(
    memory: int, points: list[tuple[int, float]], best: str
) -> None:
    assert names(memory, points)[0] == best
    assert "qwen2.5-coder-3b" not in names(memory, points)[1]


def test_seconds_grow_with_the_parameters() -> None:
    measured = suggest.Pace(suggest.Curve.of(USUAL), DEFAULT.parameters)
    found = suggest.rows(measured, 0)
    seconds = [one.seconds for one in found]
    assert seconds == sorted(seconds)
    own = next(one for one in found if one.entry is DEFAULT)
    assert own.seconds == pytest.approx(2 * 2000 * 0.9 / 256 + 12 * 0.06)


def test_the_quickest_curve_of_the_model_in_use_counts(tmp_path: Path) -> None:
    assert suggest.measured(tmp_path).curve == TYPICAL
    small = catalogue.CATALOGUE[1]
    busy = [(1, 5.0), (256, 50.0)]
    curves(
        tmp_path,
        **{
            f"{DEFAULT.sha256} exact busy cpu 2": busy,
            f"{DEFAULT.sha256} exact amx cpu 2": USUAL,
            f"{small.sha256} exact amx cpu 2": QUICK,
            "nobody's exact cpu 2": QUICK,
        },
    )
    assert suggest.measured(tmp_path, DEFAULT.name).curve == suggest.Curve.of(USUAL)
    assert suggest.measured(tmp_path, small.name).parameters == small.parameters
    assert suggest.measured(tmp_path, "a/b").model in (DEFAULT.name, small.name)


@pytest.mark.parametrize("said", ["", "[]", '{"x": 1}', '{"x": [["a", "b"]]}'])
def test_curves_that_nobody_can_read_are_none(tmp_path: Path, said: str) -> None:
    (tmp_path / "curves.json").write_text(said)
    assert suggest.measured(tmp_path).model == ""


def test_this_machine_has_memory() -> None:
    assert suggest.memory() > GB / 4


def test_the_table_marks_one_row_and_says_what_it_rests_on() -> None:
    said = CliRunner().invoke(app, ["suggest"])
    assert said.exit_code == 0 and said.stdout.count(" *") == 1
    assert "not pinned" in said.stdout and "research" in said.stdout
    assert "of a typical machine" in said.stderr.replace("\n", " ")


def test_json_is_one_object() -> None:
    curves(store_path(), **{f"{DEFAULT.sha256} exact amx cpu 2": QUICK})
    found = json.loads(CliRunner().invoke(app, ["suggest", "--json"]).stdout)
    assert found["measured"] == DEFAULT.name
    assert found["suggested"] in [one["name"] for one in found["rows"] if one["suits"]]
    assert {"parameters", "size", "memory", "seconds", "licence", "pinned"} <= found["rows"][
        0
    ].keys()
