"""Proposals of the language server: what an editor shows before it applies anything."""

from pathlib import Path
from typing import Any

import pytest
from lsp_client import Editor, Process, edited

TWO = "def first():\n    return 1\n\n\ndef second():\n    return 1\n"
SECOND = TWO[:-2] + "2\n"


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


def test_a_proposal_is_returned_and_nothing_is_applied(editor, tmp_path, play):
    play(replace=[["1", "2"]])
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
    assert any("% copied" in one and "pass" in one for one in messages), messages


def test_the_regions_come_before_the_answer(editor, tmp_path, play):
    play(answer="ab" * 50_000, delay_s=0.005)
    uri = editor.open_file(tmp_path / "a.py", TWO)
    params = {"textDocument": {"uri": uri}, "instruction": "Let `second` return 2."}
    number = editor.request("specedit/propose", {**params, "workDoneToken": "mine"})
    editor.until(lambda: any(one["kind"] == "report" for one in editor.progress()))
    assert regions(editor) == [[[5, 6]]], "the instruction names this definition"
    editor.notify("window/workDoneProgress/cancel", {"token": "mine"})
    assert editor.wait(number)["error"]["code"] == -32800


def test_an_answer_without_a_change_is_unchanged(editor, tmp_path, play):
    play(replace=[])
    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    result = propose(editor, uri, "Leave it.", lines=[1, 1])["result"]
    assert (result["documentChanges"], result["status"]) == ([], "unchanged")


def test_a_refused_answer_says_why_and_proposes_nothing(editor, tmp_path, play):
    play(answer="def (:\n```")
    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    result = propose(editor, uri, "Break it.", lines=[1, 1])["result"]
    assert result["status"] == "refused" and result["documentChanges"] == []
    assert "a.py: " in result["problems"][0]


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


def test_the_report_is_of_the_last_proposal(editor, tmp_path, play):
    play(replace=[["1", "2"]])
    uri = editor.open_file(tmp_path / "a.py", TWO)
    answer = editor.wait(editor.request("specedit/report", None))
    assert "no report" in answer["error"]["message"]
    assert propose(editor, uri, "Return 2.", lines=[1, 2])["result"]["status"] == "proposed"
    html = editor.wait(editor.request("specedit/report", None))["result"]["html"]
    assert "<h1>specedit trace</h1>" in html and "Content-Security-Policy" in html


def test_the_trace_of_a_report_is_deleted_with_the_session(tmp_path):
    process = Process(tmp_path, TMPDIR=str(tmp_path))
    process.play(replace=[["1", "2"]])
    process.editor.start()
    uri = process.editor.open_file(tmp_path / "a.py", TWO)
    for _ in range(2):
        propose(process.editor, uri, "Return 2.", lines=[1, 2])
        assert len(list(tmp_path.glob("specedit-*/*.jsonl"))) == 1
    assert process.leave() == 0
    assert list(tmp_path.glob("specedit-*")) == []
