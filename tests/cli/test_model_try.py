"""`specedit model try`: cases, what is right, what is printed, exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from specedit.edit.trial import SHIPPED, read_cases

CASE = {"file": "a.py", "instruction": "In f, return two", "before": "def f():\n    return 1\n"}
TWO = CASE["before"].replace("1", "2")


def own(folder: Path, *cases: object) -> Path:
    path = folder / "cases.jsonl"
    path.write_text("".join(f"{json.dumps({**CASE, **case})}\n" for case in cases))
    return path


@pytest.mark.parametrize("case", read_cases(SHIPPED), ids=lambda case: case.id)
def test_a_shipped_case_takes_its_answers_and_not_its_text(case):
    assert case.after and all(map(case.accepts, case.after)) and not case.accepts(case.before)
    for text in case.after if case.must or case.must_not else ():
        assert all(pattern.search(text) for pattern in case.must)
        assert not any(pattern.search(text) for pattern in case.must_not)


JUDGED = {
    "after": ({"after": TWO}, True),
    "blank lines and spaces": ({"after": [TWO.replace(":\n", ":  \n\n")]}, True),
    "other text": ({"after": "def f():\n    return 3\n"}, False),
    "must": ({"must": r"^    return \d$"}, True),
    "must, not there": ({"must": ["return 2", "return 3"]}, False),
    "must not": ({"must_not": "return 1"}, True),
    "must not, and there": ({"must": "return", "must_not": ["2"]}, False),
    "one accepted text, though patterns differ": ({"after": TWO, "must": "return 3"}, True),
}


def test_own_cases_are_judged_and_nothing_is_written(tmp_path, script, inside, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script(replace=[["return 1", "return 2"]])
    path = own(tmp_path, *({"id": id, **case} for id, (case, _) in JUDGED.items()))
    files = {*tmp_path.rglob("*")}
    done = inside("model", "try", "scripted", "--cases", path, "--json")
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["cases"] == len(JUDGED)
    rights = {row["id"]: row["right"] for row in result["results"]}
    assert rights == {id: right for id, (_, right) in JUDGED.items()}
    assert (result["right"], result["wrong"]) == (5, 3)
    assert result["results"][0]["confidence"] is None and "+    return 2" in done.stdout.decode()
    assert b"other text: wrong (another text)" in done.stderr
    assert {*tmp_path.rglob("*")} == files | {tmp_path / "calls"}


def test_a_refused_answer_is_wrong_and_not_kept(tmp_path, script, inside):
    script(replace=[["return 1", "return (1"]])
    path = own(tmp_path, {"must": "return"})
    done = inside("model", "try", "scripted", "--cases", path)
    assert done.returncode == 0
    assert b"scripted: 0 of 1 right, 1 wrong" in done.stdout
    assert b"wrong (refused: " in done.stderr
    assert not [*Path(os.environ["SPECEDIT_HOME"]).rglob("refused/*")]


BAD = {
    "no JSON": ("{", "line 2: "),
    "no object": ("[]", "line 2: it is not an object"),
    "unknown field": ('{"musst": "a"}', "line 2: 'musst' is not a field"),
    "no before": ('{"instruction": "a", "must": "a"}', "line 2: 'before' must be a text"),
    "nothing right": ('{"instruction": "a", "before": "b"}', "does not say what is right"),
    "a pattern": ('{"instruction": "a", "before": "b", "must": "("}', "not a regular expression"),
    "a number": ('{"instruction": "a", "before": "b", "after": 1}', "'after' must be a text or a"),
    "half a character": ('{"instruction": "a", "before": "\\ud800", "after": "b"}', "line 2: "),
}


@pytest.mark.parametrize(("line", "message"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_with_the_line(line, message, tmp_path, script, inside):
    script()
    path = own(tmp_path, {"must": "a"})
    path.write_text(f"{path.read_text()}{line}\n")
    done = inside("model", "try", "scripted", "--cases", path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe"], ids=["missing", "empty", "binary"])
def test_a_file_without_cases_is_refused(content, tmp_path, script, inside):
    script()
    path = tmp_path / "cases.jsonl"
    if content is not None:
        path.write_bytes(content)
    done = inside("model", "try", "scripted", "--cases", path)
    assert done.returncode == 2 and str(path).encode() in done.stderr


def test_a_model_that_is_not_here_is_not_fetched(inside):
    done = inside("model", "try", "qwen3.5-4b")
    assert done.returncode == 2 and b"specedit model pull qwen3.5-4b" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_prints_what_there_is(tmp_path, script):
    script(replace=[["return 1", "return 2"]], delay_s=0.01)
    path = own(tmp_path, *[{"must": "2"}] * 500)
    words = [sys.executable, "-m", "specedit", "model", "try", "scripted", "--cases", str(path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr is not None
    while b"right" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and b"(of 500 cases) right, 0 wrong" in out
