"""The scripts of `benchmarks/`, small: on a scripted engine and in a real sandbox."""

import json
import math
import random
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from replaying import WORDS
from warm_server import Running, running

from benchmarks import card, common, load, peers, quality, sandbox
from benchmarks.rename import cases as renames
from benchmarks.speed import compare
from benchmarks.speed.cases import Case
from specedit.settings import Settings

TESTS = "def check():\n    assert one() == 2\n"
BEFORE, RIGHT = "def one():\n    return 1\n", "def one():\n    return 2\n"
CASE = {"id": "c", "filename": "main.py", "instruction": "Return 2.", "before": BEFORE}


def run_script(module: Any, monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setattr(sys, "argv", [module.__name__, *map(str, arguments)])
    assert module.main() == 0


def written(path: Path, *cases: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    return path


# -- the sandbox -----------------------------------------------------------------------------------

WRITES = """
import os
for number in range(64):
    try:
        os.write(number, b"passed 86 0 ok True " * 4)
    except OSError:
        pass
os._exit(0)
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("x = 1", "", id="ends-well"),
        pytest.param("assert 1 == 2, 'odd'", "AssertionError: odd", id="fails"),
        pytest.param("import time\ntime.sleep(60)", "took more than 1 s", id="takes-too-long"),
        pytest.param("x = 'a' * (3 << 30)", "MemoryError", id="takes-too-much"),
        pytest.param("open('big', 'wb').write(b'0' * (1 << 25))", "OSError", id="writes-too-much"),
        pytest.param("raise SystemExit(0)", "ended early", id="leaves-before-its-tests"),
        pytest.param("import os\nos._exit(0)", "ended early", id="leaves-at-once"),
        pytest.param(WRITES, "0 ok True", id="writes-into-everything-that-is-open"),
    ],
)
def test_a_program_runs_within_limits(text, reason):
    verdict = sandbox.run(text, seconds=1 if "sleep" in text else 60, memory=2 << 30)
    assert verdict.passed == (not reason)
    assert reason in verdict.reason


def test_a_program_sees_neither_our_folder_nor_our_variables(monkeypatch):
    monkeypatch.setenv("OUR_SECRET", "x")
    here = str(Path.cwd())
    text = f"import os\nassert os.getcwd() != {here!r}\nassert 'OUR_SECRET' not in os.environ"
    assert sandbox.run(text).passed


@pytest.mark.skipif(sandbox.isolation() is None, reason="unshare is not allowed here")
def test_a_program_has_no_network():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = ("127.0.0.1", server.getsockname()[1])
        verdict = sandbox.run(f"import socket\nsocket.create_connection({address})")
    assert not verdict.passed and "Network is unreachable" in verdict.reason


# -- edits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "passed", "status"),
    [
        pytest.param(RIGHT, True, "would-edit", id="right"),
        pytest.param(RIGHT.replace("2", "3"), False, "would-edit", id="wrong"),
        pytest.param("def one():\n    return (\n", False, "refused", id="does-not-parse"),
    ],
)
def test_an_edit_is_right_when_its_tests_pass(
    script, tmp_path, monkeypatch, answer, passed, status
):
    script(answer=f"{answer}```")
    cases = written(tmp_path / "cases.jsonl", {**CASE, "tests": TESTS})
    out = tmp_path / "out.jsonl"
    run_script(quality, monkeypatch, cases, "--out", out)
    (row,) = common.rows(out)
    assert (row["passed"], row["status"]) == (passed, status)
    assert row["text"] == (BEFORE if status == "refused" else answer)


def test_a_run_continues_where_it_stopped_and_two_are_compared(
    script, tmp_path, monkeypatch, capsys
):
    calls = script(answer=f"{RIGHT}```")
    cases = written(
        tmp_path / "cases.jsonl",
        *({**CASE, "id": name, "tests": TESTS} for name in ("one", "two", "three")),
    )
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    known = {"id": "one", "passed": False, "status": "would-edit", "text": "x", "seconds": 1.0}
    written(first, known)
    run_script(quality, monkeypatch, cases, "--half", "even", "--out", first)
    assert [row["id"] for row in common.rows(first)] == ["one", "three"]
    count = len(calls.read_text().splitlines())
    run_script(quality, monkeypatch, cases, "--half", "even", "--out", first)
    assert len(calls.read_text().splitlines()) == count, "nothing is measured twice"
    assert "1 of 2 pass (50.0 %)" in capsys.readouterr().out
    run_script(quality, monkeypatch, cases, "--first", "1", "--out", second)
    run_script(quality, monkeypatch, "--compare", first, second)
    shown = capsys.readouterr().out
    assert "the same text: 0 of 1" in shown
    assert "passes only in the second: one" in shown


def test_the_tests_of_a_case_can_be_the_test_command(script, tmp_path, monkeypatch):
    script(answer=f"{RIGHT.replace('2', '33')}```", then=[{"answer": f"{RIGHT}```"}])
    cases = written(tmp_path / "cases.jsonl", {**CASE, "tests": TESTS})
    out = tmp_path / "out.jsonl"
    run_script(quality, monkeypatch, cases, "--tests-judge", "--out", out)
    (row,) = common.rows(out)
    assert (row["passed"], row["tries"], row["text"]) == (True, 2, RIGHT)


# -- renames ---------------------------------------------------------------------------------------

NAMES = {"language": "python", "filename": "a.py", "old_name": "x", "new_name": "y"}


def test_renames_are_counted_in_every_way(script, tmp_path, monkeypatch, capsys):
    script(replace=[])
    before, after = "x = 1\ns = 'x'\n", "y = 1\ns = 'x'\n"
    taken = {"id": "taken", "before": "x = 1\ny = 2\nprint(x, y)\n", "after": "-"}
    cases = written(
        tmp_path / "renames.jsonl",
        {**NAMES, "id": "one", "before": before, "after": after},
        {**NAMES, **taken},
    )
    out = tmp_path / "out.jsonl"
    run_script(renames, monkeypatch, cases, "--model", "--out", out)
    first, second = common.rows(out)
    assert not first["search"]
    assert [first["ways"][way]["right"] for way in ("no-model", "model")] == [True, True]
    assert [second["ways"][way]["refused"] for way in ("no-model", "model")] == [True, True]
    last = capsys.readouterr().out.splitlines()[-1].split()
    assert last == ["all", "2", "0", "1", "1", "0", "1", "1", "0"]


# -- servers under load ----------------------------------------------------------------------------

CASES = [
    Case(f"case {n}", "a.py", "Rename it.", f"username = {n}\n" + "size = 1\n" * 9)
    for n in range(3)
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("load"), {"replace": [["username", "email"]]}) as found:
        yield found


def loads(url: str, requests: int, model: str = "m") -> load.Loads:
    server = load.Server.of(f"own={url}")
    return load.Loads(server, model, load.plans(CASES, Settings()), requests)


def test_a_server_is_measured_with_predictions_and_without(server):
    url = f"http://127.0.0.1:{server.port}"
    asked = loads(url, 3, load.Server.of(url).model())
    one, predicted, *many = load.levels(asked, (1, 4), (False, True))
    assert [level.predicted for level in (one, predicted, *many)] == [False, True] * 2
    texts = [[served.text for served in level.served] for level in (one, predicted, *many)]
    assert texts.count(texts[0]) == 4 and "email = 2" in texts[0][2]
    rows = [level.row() for level in (one, predicted, *many)]
    assert len({row["tokens"] for row in rows}) == 1 and not any(row["failed"] for row in rows)
    assert 0 < rows[1]["steps"] < rows[0]["steps"]
    assert all(row["p95_s"] >= row["p50_s"] >= row["first_s"] > 0 for row in rows)


# -- agreement with bf16 ---------------------------------------------------------------------------


@pytest.mark.tools  # loads torch
def test_both_engines_judge_the_same_places(tmp_path):
    from exact_models import save

    from benchmarks.agreement import agreement, judged_by_bf16, judged_by_exact
    from specedit.engines.exact.engine import open_exact

    counted = agreement([(1, 0.0), (2, 0.0), (3, math.log(16))], [(1, 0.0), (9, 0.0), (3, 0.0)])
    assert counted["agreement"] == pytest.approx(2 / 3)
    assert counted["ratio"] == pytest.approx(16 ** (1 / 3))
    model, files = save("qwen2, grouped, tied", tmp_path / "model")
    numbers = random.Random(5)
    texts = [[numbers.randrange(500) for _ in range(count)] for count in (2, 300)]
    theirs = list(judged_by_bf16(model, texts))
    ours = list(judged_by_exact(open_exact(files, store=tmp_path / "store"), texts))
    assert [len(one) for one in ours] == [len(one) for one in theirs] == [1, 299]
    found = agreement(ours[1], theirs[1])
    assert found["agreement"] > 0.8
    assert found["ratio"] == pytest.approx(1.0, abs=0.05)


# -- peers -----------------------------------------------------------------------------------------


def test_every_peer_writes_each_case_and_each_run_is_a_line(script, monkeypatch, tmp_path):
    script(answer=f"{RIGHT}```")
    monkeypatch.setattr(compare, "words", lambda settings: WORDS)
    cases, out = written(tmp_path / "cases.jsonl", CASE | {"after": RIGHT}), tmp_path / "runs.jsonl"
    more = ("--against", "specedit-plain", "--rounds", "2", "--out", out)
    run_script(peers, monkeypatch, cases, *more)
    done = common.rows(out)
    assert [row["peer"] for row in done] == ["specedit", "specedit-plain"] * 2
    assert done[0]["tokens"] == done[1]["tokens"] == done[1]["passes"] > done[0]["passes"]


@pytest.mark.tools
def test_a_card_is_measured_by_one_command(tmp_path, monkeypatch, capsys):
    before = "".join(f"total_{n} = count_{n} + {n}\n" for n in range(30))
    edit = {"instruction": "Add 2.", "before": before, "after": before.replace("+ 20", "+ 22")}
    path = written(tmp_path / "c.jsonl", {**CASE, **edit})
    options = ("--shape", "tiny", "--device", "cpu", "--quick", "--cases", path)
    run_script(card, monkeypatch, *options, "--json")
    result = json.loads(capsys.readouterr().out)
    (row,) = result["edits"]
    assert (result["prompts"], result["differing"]) == (5, [])
    assert 1 < row["passes"] < row["ids"] / 4 and row["lookup_32_s"] > 0
    assert set(result["pass_ms"]) == {str(1 << n) for n in range(10)} and result["start_s"] > 0
    assert "equal to transformers' own answer: 5 of 5" in card.shown(
        {**result, "pass_ms": {1: 2.0}}
    )
