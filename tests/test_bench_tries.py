"""pass@k on a scripted engine: who judges, what is kept of each try, and what a table counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from specedit.backends.local import LocalBackend
from specedit.bench import ask, tries
from specedit.bench.cases import Case
from specedit.bench.plots import draw
from specedit.bench.wanted import Wanted
from specedit.errors import UsageError
from specedit.settings import Settings, resolve

TESTS = "def check():\n    assert one() == 2\n"
CASE = Case("c", "main.py", "Return 2.", "def one():\n    return 1\n", tests=TESTS)
WRONG, WORSE = "def one():\n    return 3\n", "def one():\n    return (\n"
RIGHT = "def one():\n    return 2\n"
Script = Callable[..., Path]


@pytest.fixture
def backend(script: Script) -> Iterator[Callable[..., tuple[LocalBackend, Settings]]]:
    made: list[LocalBackend] = []

    def says(*answers: str, **settings: object) -> tuple[LocalBackend, Settings]:
        first, *others = [{"answer": f"{text}```"} for text in answers]
        script(**first, then=others)
        chosen = resolve({"tries": 4, **settings}).values
        made.append(LocalBackend(chosen))
        return made[-1], chosen

    yield says
    for one in made:
        one.close()


def attempts(
    found: tuple[LocalBackend, Settings], judge: str = tries.TESTS, beside: bool = False
) -> list[tries.Attempt]:
    return list(tries.attempts(CASE, *found, judge=judge, beside=beside))


def test_the_tests_judge_until_one_passes(
    backend: Callable[..., tuple[LocalBackend, Settings]],
) -> None:
    made = attempts(backend(WRONG, WORSE, WRONG, RIGHT))
    assert [one.passed for one in made] == [False, False, False, True]
    assert [bool(one.refused) for one in made] == [False, True, False, False]
    assert made[2].same_as == 1 and made[2].test_s < 0.01, "not tested again"
    assert "assert one() == 2" in made[0].said
    assert made[3].reused > 0


def test_the_gate_takes_the_first_answer_that_it_does_not_refuse(
    backend: Callable[..., tuple[LocalBackend, Settings]],
) -> None:
    made = attempts(backend(WORSE, WRONG, RIGHT), tries.GATE)
    assert len(made) == 2 and not made[1].passed
    (row,) = tries.curve([made], tries.GATE, 2)[1:]
    assert (row.k, row.passed) == (2, 0)


def test_the_gate_asks_again_where_an_answer_changes_nothing(
    backend: Callable[..., tuple[LocalBackend, Settings]],
) -> None:
    made = attempts(backend(CASE.before, CASE.before, RIGHT), tries.GATE)
    assert [(one.idle, one.passed) for one in made] == [*[(True, False)] * 2, (False, True)]
    assert [row.passed for row in tries.curve([made], tries.GATE, 3)] == [0, 0, 1]
    made = attempts(backend(*[CASE.before] * 4), tries.GATE)
    assert len(made) == tries.IDLE
    assert tries.curve([made], tries.GATE, 4)[-1].passed == 0, "the first is taken, and is wrong"


def test_a_recorded_try_is_looked_at_anew(
    backend: Callable[..., tuple[LocalBackend, Settings]],
) -> None:
    made = attempts(backend(CASE.before, RIGHT))
    old = [replace(one, refused="once refused", noted="", idle=False) for one in made]
    found, chosen = backend(WRONG)
    again = list(tries.attempts(CASE, found, chosen, old))
    assert [(one.idle, one.refused) for one in again] == [(True, ""), (False, "")]


def test_beside_each_try_stands_the_same_without_predictions(
    backend: Callable[..., tuple[LocalBackend, Settings]],
) -> None:
    # the scripted model says each answer to two prompts: the try, and the same one alone
    made = attempts(backend(WRONG, WRONG, RIGHT, RIGHT), beside=True)
    assert len(made) == 2
    assert all(one.alone_passes is not None and one.passes < one.alone_passes for one in made)
    rows = tries.curve([made], tries.TESTS, 3)
    assert [row.passed for row in rows] == [0, 1, 1]
    assert rows[0].passes < rows[1].passes == rows[2].passes
    assert rows[1].alone_passes == sum(one.alone_passes or 0 for one in made)


def test_what_is_kept_is_not_asked_again(
    backend: Callable[..., tuple[LocalBackend, Settings]], tmp_path: Path
) -> None:
    path = tmp_path / "attempts.jsonl"

    def every(*answers: str) -> list[tries.Attempt]:
        found = backend(*answers)
        return next(tries.run([CASE], *found, path, lambda text: None))

    first = every(WRONG, WORSE, WRONG, WRONG)
    assert len(first) == len(path.read_text().splitlines()) == 4
    again = every("def no(): pass\n")
    assert again == first
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:2]) + "\n")
    assert [one.passed for one in every(RIGHT)] == [False, False, True]


def test_a_run_shows_the_table_and_draws_it(
    backend: Callable[..., tuple[LocalBackend, Settings]], tmp_path: Path
) -> None:
    found, chosen = backend(WRONG, RIGHT)
    with closing(found):
        cases = tmp_path / "cases.jsonl"
        record = {"id": "c", "filename": "main.py", "instruction": CASE.instruction}
        record |= {"before": CASE.before, "tests": TESTS}
        cases.write_text(json.dumps(record))
        wanted = Wanted("none", (), (), (), 1, "all", quality=cases, tries=4)
        result = ask.run(wanted, chosen, lambda text: None)
    assert "0 of 1 in one try, 1 in at most 4" in result.line
    curve = result.json["tries"]["curve"]
    assert [row["passed"] for row in curve] == [0, 1, 1, 1]
    assert "text" not in result.json["tries"]["attempts"][0][0]
    pytest.importorskip("matplotlib")
    assert {path.name for path in draw([result.json], tmp_path)} == {"tries.svg", "tries.png"}


def test_what_belongs_to_tries_is_refused_without_them() -> None:
    for given in ({"judge": "gate"}, {"beside": True}, {"attempts": Path("x")}):
        with pytest.raises(UsageError, match="goes with"):
            Wanted("none", ("line",), (50,), ("python",), 1, "all", quality=Path("x"), **given)
    with pytest.raises(UsageError, match="goes with --quality"):
        Wanted("none", ("line",), (50,), ("python",), 1, "all", tries=3)
