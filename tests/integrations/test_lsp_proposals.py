"""Proposals of the language server: what an editor shows before it applies anything."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from git_repository import Repository
from lsp_client import Editor, edited
from test_lsp_session import editor_of

Play = Callable[..., Path]
TWO = "def first():\n    return 1\n\n\ndef second():\n    return 1\n"
SECOND = TWO[:-2] + "2\n"


@pytest.fixture
def editor() -> Iterator[Editor]:
    editor, session = editor_of()
    editor.start()
    yield editor
    assert session.close(10)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the server is started in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def propose(editor: Editor, uri: str, instruction: str, **more: Any) -> Any:
    params = {"textDocument": {"uri": uri}, "instruction": instruction, **more}
    return editor.wait(editor.request("specedit/propose", params))


def texts_of(editor: Editor, proposal: Any) -> dict[str, str]:
    """The texts that a proposal leads to, by the file's name; files on disk for those not open."""
    result = {}
    for change in proposal["documentChanges"]:
        uri = change["textDocument"]["uri"]
        text = editor.texts.get(uri) or Path(uri.removeprefix("file://")).read_bytes().decode()
        result[Path(uri).name] = edited(text, change["edits"])
    return result


def regions(editor: Editor) -> list[list[Any]]:
    sent = [one for one in editor.notices if one["method"] == "specedit/regions"]
    return [[region["lines"] for region in one["params"]["regions"]] for one in sent]


def test_a_proposal_is_returned_and_nothing_is_applied(editor, tmp_path, script):
    script(replace=[["1", "2"]])
    uri = editor.open_file(tmp_path / "a.py", TWO.replace("\n", "\r\n"))
    proposal = propose(editor, uri, "Return 2.", lines=[5, 6], workDoneToken="mine")["result"]
    assert proposal["status"] == "proposed"
    assert proposal["passes"] >= 1 and proposal["accepted"] <= proposal["proposed"]
    wanted = SECOND.replace("\n", "\r\n")
    assert texts_of(editor, proposal) == {"a.py": wanted}
    (change,) = proposal["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": 1}
    assert editor.edits == [], "the editor was not asked to apply it"
    assert regions(editor) == [[[5, 6]]]
    messages = [one.get("message") or "" for one in editor.progress()]
    assert any("% accepted" in one and "pass" in one for one in messages), messages


def test_the_regions_come_before_the_answer(editor, tmp_path, script):
    script(answer="ab" * 50_000, delay_s=0.005)
    uri = editor.open_file(tmp_path / "a.py", TWO)
    params = {"textDocument": {"uri": uri}, "instruction": "Let `second` return 2."}
    number = editor.request("specedit/propose", {**params, "workDoneToken": "mine"})
    editor.until(lambda: any(one["kind"] == "report" for one in editor.progress()))
    assert regions(editor) == [[[5, 6]]], "the instruction names this definition"
    editor.notify("window/workDoneProgress/cancel", {"token": "mine"})
    assert editor.wait(number)["error"]["code"] == -32800


def test_an_answer_without_a_change_is_unchanged(editor, tmp_path, script):
    script(replace=[])
    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    result = propose(editor, uri, "Leave it.", lines=[1, 1])["result"]
    assert (result["documentChanges"], result["status"]) == ([], "unchanged")


def test_a_refused_answer_says_why_and_proposes_nothing(editor, tmp_path, script):
    script(answer="def (:\n```")
    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    result = propose(editor, uri, "Break it.", lines=[1, 1])["result"]
    assert result["status"] == "refused" and result["documentChanges"] == []
    assert "a.py: " in result["problems"][0]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("specedit/propose", {"instruction": "Do it."}),
        ("specedit/propose", {"textDocument": {"uri": "file:///a.py"}}),
        ("specedit/propose", {"textDocument": {"uri": "untitled:a"}, "instruction": "Do it."}),
        ("specedit/apply", {"textDocument": {"uri": "file:///a.py"}, "change": 1}),
        ("specedit/apply", []),
    ],
    ids=["no document", "no instruction", "untitled", "no text", "a list"],
)
def test_a_request_that_lacks_something_is_an_error(editor, method, params):
    answer = editor.wait(editor.request(method, params))
    assert answer["error"]["code"] == -32602


def test_a_change_that_names_no_file_is_merged_into_the_document(editor, folder):
    uri = editor.open_file(folder / "a.py", TWO)
    change = "def second():\n    return 2\n"
    params = {"textDocument": {"uri": uri}, "change": change}
    proposal = editor.wait(editor.request("specedit/apply", params))["result"]
    assert texts_of(editor, proposal) == {"a.py": SECOND}


DIFF = """\
--- a/{0}
+++ b/{0}
@@ -1 +1 @@
-x = 1
+x = 2
"""


def test_a_diff_of_two_files_is_one_proposal(editor, folder):
    uri = (folder / "a.py").as_uri()
    (folder / "a.py").write_text("x = 1\n")
    (folder / "b.py").write_bytes(b"x = 1\r\n")
    editor.open(uri, "# typed\nx = 1\n")
    params = {"change": DIFF.format("a.py") + DIFF.format("b.py")}
    proposal = editor.wait(editor.request("specedit/apply", params))["result"]
    assert texts_of(editor, proposal) == {"a.py": "# typed\nx = 2\n", "b.py": "x = 2\r\n"}
    versions = {one["textDocument"]["version"] for one in proposal["documentChanges"]}
    assert versions == {1, None}
    assert (folder / "b.py").read_bytes() == b"x = 1\r\n"


@pytest.mark.parametrize("name", ["../a.py", ".git/config", "absent.py"])
def test_a_change_of_a_file_outside_is_an_error(editor, folder, name):
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x = 1\n")
    answer = editor.wait(editor.request("specedit/apply", {"change": DIFF.format(name)}))
    assert name in answer["error"]["message"]


def test_the_report_is_of_the_last_proposal(editor, tmp_path, script):
    script(replace=[["1", "2"]])
    uri = editor.open_file(tmp_path / "a.py", TWO)
    answer = editor.wait(editor.request("specedit/report", None))
    assert "no report" in answer["error"]["message"]
    assert propose(editor, uri, "Return 2.", lines=[1, 2])["result"]["status"] == "proposed"
    html = editor.wait(editor.request("specedit/report", None))["result"]["html"]
    assert "<h1>specedit trace</h1>" in html and "Content-Security-Policy" in html


def test_the_trace_of_a_report_is_deleted_with_the_session(tmp_path, script, monkeypatch):
    script(replace=[["1", "2"]])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    editor, session = editor_of()
    editor.start()
    uri = editor.open_file(tmp_path / "a.py", TWO)
    for _ in range(2):
        propose(editor, uri, "Return 2.", lines=[1, 2])
        assert len(list(tmp_path.glob("specedit-*.jsonl"))) == 1
    assert session.close(10)
    assert list(tmp_path.glob("specedit-*.jsonl")) == []


# the change that was made by hand, repeated


CALLS = "x = 1\nold_call(1, a)\n"


@pytest.fixture
def calls(tmp_path: Path) -> Repository:
    made = Repository.init(tmp_path)
    made.commit({"a.py": CALLS, "b.py": "old_call(b.c,  2)\nold_call(3)\n", "c.py": "y = 1\n"})
    return made


def repeat(editor: Editor, uri: str, first: int, last: int) -> Any:
    params = {"textDocument": {"uri": uri}, "lines": [first, last]}
    return editor.wait(editor.request("specedit/repeat", params))


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_what_changed_since_the_last_commit_is_repeated(editor, calls, end):
    uri, other = (calls.root / "a.py").as_uri(), (calls.root / "b.py").as_uri()
    editor.open(uri, CALLS.replace("old_call(1, a)", "pow(a, 1)").replace("\n", end))
    editor.open(other, f"unsaved = 1{end}old_call(4, u){end}")
    result = repeat(editor, uri, 2, 2)["result"]
    proposed = {"documentChanges": result["proposed"]}
    assert texts_of(editor, proposed) == {"b.py": f"unsaved = 1{end}pow(u, 4){end}"}
    assert result["rule"] == "old_call($A, $B) -> pow($B, $A)"
    assert editor.edits == [], "the editor was not asked to apply it"


def test_each_place_is_an_edit_with_its_kind(editor, calls):
    calls.commit({"d.py": "def g():\n    log(1)\n    log(2)\n", "e.py": "log(3)\n"})
    uri = editor.open_file(calls.root / "d.py", "def g():\n    log(1, 0)\n    log(2)\n")
    result = repeat(editor, uri, 2, 2)["result"]
    found = {
        Path(change["textDocument"]["uri"]).name: [
            (edit["range"]["start"]["line"], edit["newText"]) for edit in change["edits"]
        ]
        for change in result["proposed"]
    }
    assert found == {"d.py": [(2, "    log(2, 0)\n")], "e.py": [(0, "log(3, 0)\n")]}
    assert all(edit["why"] for change in result["proposed"] for edit in change["edits"])


@pytest.mark.parametrize(
    ("name", "lines", "problem"),
    [
        ("a.py", (1, 1), "lines 1 to 1 have not changed since the last commit"),
        ("new.py", (1, 1), "the last commit does not have it"),
        ("a.txt", (1, 1), "the language is not known"),
    ],
)
def test_lines_that_are_no_example_are_an_error(editor, calls, name, lines, problem):
    calls.commit({"a.txt": "x\n"})
    uri = (calls.root / name).as_uri()
    editor.open(uri, "x = 1\npow(a, 1)\n")
    error = repeat(editor, uri, *lines)["error"]
    assert name in error["message"] and problem in error["message"]


def test_a_file_that_the_checks_would_refuse_stays_with_the_reason(editor, calls):
    uri = editor.open_file(calls.root / "a.py", "import h\nx = 1\nh.run(a, 1)\n")
    result = repeat(editor, uri, 1, 3)["result"]
    assert result["proposed"] == []
    assert result["notes"] == ["b.py: not changed: line 1: `h` is used, and nothing defines it"]
