"""The table of drafters on a scripted engine: rows, what is kept, and what is left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from specedit import cli
from specedit.bench import ask, drafting
from specedit.bench.cases import Case
from specedit.bench.peers import NAMES, wanted
from specedit.bench.plots import draw
from specedit.bench.wanted import Wanted
from specedit.errors import UsageError
from specedit.settings import resolve

Script = Callable[..., Path]
LONG = "def one():\n    return 'a long way to say one, and longer'\n"
CASE = {"id": "c", "instruction": "Return 2.", "filename": "m.py", "before": LONG}
WANTED = Wanted("none", ("line",), (50,), ("python",), 1, "all")


@pytest.fixture
def cases(tmp_path: Path, script: Script) -> Path:
    script(answer=LONG.replace("one():", "two():") + "```")
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(CASE))
    return path


@pytest.fixture
def drafts(tmp_path: Path) -> str:
    path = tmp_path / "draft.json"
    path.write_text(json.dumps({"answer": LONG.replace("one():", "two():") + "```", "sure": 0.9}))
    return str(path)


def test_each_drafter_writes_the_same(cases: Path, drafts: str, tmp_path: Path) -> None:
    settings = resolve({"draft_model": drafts, "model": "scripted"}).values
    kept = tmp_path / "kept.jsonl"
    asked = replace(WANTED, drafters=(str(cases),), own=True, attempts=kept)
    found = ask.run(asked, settings, lambda _: None)
    rows = {row["row"]: row for row in found.json["drafters"]}
    assert {"none", "lookup", "prediction", "model", "candidates", "all"} <= set(rows)
    assert all(row["same"] for row in rows.values())
    assert len({row["tokens"] for row in rows.values()}) == 1
    assert rows["none"]["tokens_a_pass"] == 1.0
    assert rows["none"]["times_plain"] == 1.0
    assert rows["prediction"]["tokens_a_pass"] > 2
    assert rows["model"]["acceptance"][0] == 1.0
    assert rows["lookup"]["cases"] == 1
    before = kept.read_text()
    assert len(before.splitlines()) == len(rows)
    again = ask.run(asked, settings, lambda _: None)
    assert kept.read_text() == before, "nothing is measured twice"
    assert again.json["drafters"] == found.json["drafters"]
    drawn = draw([found.json], tmp_path / "plots")
    assert {"drafters.svg", "drafters.png"} <= {path.name for path in drawn}


def test_a_given_answer_is_written_whatever_the_model_says(
    tmp_path: Path, script: Script, drafts: str
) -> None:
    script(answer="nonsense```")
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({**CASE, "after": LONG.replace("longer", "shorter")}))
    settings = resolve({"draft_model": drafts, "model": "scripted"}).values
    found = ask.run(replace(WANTED, drafters=(str(path),)), settings, lambda _: None)
    rows = {row["row"]: row for row in found.json["drafters"]}
    assert len({row["tokens"] for row in rows.values()}) == 1
    assert rows["prediction"]["passes"] < rows["none"]["passes"]


def test_what_is_not_there_is_said(cases: Path) -> None:
    settings = resolve({"model": "scripted"}).values
    found = ask.run(replace(WANTED, drafters=(str(cases), "text")), settings, lambda _: None)
    skipped = {one["name"]: one["skipped"] for one in found.json["peers"]}
    assert "needs a draft model" in skipped["model"]
    assert "needs a draft model" in skipped["candidates"]
    assert {row["workload"] for row in found.json["drafters"]} == {"cases", "text"}


def test_kept_runs_of_something_else_are_refused(cases: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text('{"a": 1}')
    settings = resolve({"model": "scripted"}).values
    asked = replace(WANTED, drafters=(str(cases),), attempts=kept)
    with pytest.raises(UsageError, match="not a run"):
        ask.run(asked, settings, lambda _: None)
    assert kept.read_text() == '{"a": 1}'


def test_times_compare_the_cases_that_both_have() -> None:
    runs = [
        drafting.Drafted("w", "1", "none", 10, 10, 1.0),
        drafting.Drafted("w", "2", "none", 10, 10, 9.0),
        drafting.Drafted("w", "1", "model", 10, 5, 0.5),
    ]
    rows = {row["row"]: row for row in drafting.as_json(runs)}
    assert rows["model"]["times_plain"] == 2.0
    assert rows["none"]["cases"] == 2


def test_assisted_generation_is_asked_for_by_its_whole_name() -> None:
    assert "transformers-assisted" in {name.name for name in NAMES}
    for word in ("all", "transformers"):
        assert "transformers-assisted" not in {name.name for name in wanted(word)}
    assert wanted("transformers-assisted")[1].way == "assisted"


def test_an_edit_says_which_drafter_its_ids_came_from(
    tmp_path: Path,
    script: Script,
    drafts: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script(answer=LONG.replace("one():", "two():") + "```")
    file = tmp_path / "m.py"
    file.write_text(LONG)
    trace = tmp_path / "trace.jsonl"
    words = ["edit", "Call it two", str(file), "--json", "--allow", "undefined"]
    named = ["--draft", "candidates", "--draft-model", drafts, "--trace", str(trace)]
    code = cli.run([*words, *named, "--server", "off", "--tries", "1"])
    assert code == 0
    found = json.loads(capsys.readouterr().out)["files"][0]
    assert set(found["drafts"]) == {"candidates"}
    assert found["prediction"]["proposed"] == 0, "only what the request predicted is a prediction"
    assert found["drafts"]["candidates"]["accepted"] > 0
    passes = [json.loads(line) for line in trace.read_text().splitlines()]
    assert any(one["source"] == "candidates" and one["drafting"] > 0 for one in passes)
    assert cli.run([*words, "--draft", "model", "--server", "off", "--tries", "1"]) == 2
    assert "needs a draft model" in capsys.readouterr().err


def test_a_case_is_a_case() -> None:
    loads = drafting.workloads(["functions", "text"])
    assert all(isinstance(case, Case) for made in loads.values() for case in made)
