"""The language server's session with an editor that follows the specification, in one process."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from git_repository import Repository
from lsp_client import CAPABILITIES, Editor, edited, place

from specedit.integrations.lsp.connection import RequestError, framed, read_messages
from specedit.integrations.lsp.document_edits import Document, split
from specedit.integrations.lsp.lsp_session import Session
from specedit.settings import Settings

Play = Callable[..., Path]
LINE_ENDS_OF_PYTHON = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # of str.splitlines, not of editors


def editor_of(settings: Settings | None = None) -> tuple[Editor, Session]:
    editor = Editor()
    settings = settings or Settings(model="scripted", server="off")
    session = Session(settings, lambda message: editor.inbox.put(json.loads(json.dumps(message))))
    editor.post = lambda message: session.receive(json.loads(json.dumps(message)))
    return editor, session


@pytest.fixture
def editor() -> Iterator[Editor]:
    editor, session = editor_of()
    editor.start()
    yield editor
    assert session.close(10)


def renamed(editor: Editor, uri: str, at: tuple[int, int], new: str) -> str:
    answer = editor.wait(editor.rename(uri, at, new))
    assert "result" in answer, answer
    assert editor.apply(answer["result"])
    return editor.texts[uri]


# positions


@pytest.mark.parametrize("character", LINE_ENDS_OF_PYTHON, ids=ascii)
def test_what_only_python_calls_a_line_end_moves_no_rename(editor, tmp_path, character):
    text = f"# head {character} tail\ndef aa():\n    x = 1\n    return x\n"
    uri = editor.open_file(tmp_path / "a.py", text)
    wanted = text.replace("x = 1", "email = 1").replace("return x", "return email")
    assert renamed(editor, uri, (2, 4), "email") == wanted


@pytest.mark.parametrize("ends", ["\r", "\r\n", "\n\r", "\r\r\n", "\r\n\n\r"], ids=repr)
def test_line_ends_of_the_protocol_are_counted_and_kept(editor, tmp_path, ends, script):
    text = f"# 🙂{ends}def aa():{ends}    '🙂'; x = 1{ends}    return x{ends}"
    line, last = len(split(f"# 🙂{ends}def aa():{ends}")) - 1, len(split(text)) - 1
    uri = editor.open_file(tmp_path / "a.py", text)
    wanted = text.replace("x = 1", "email = 1").replace("return x", "return email")
    assert renamed(editor, uri, (line, 10), "email") == wanted
    script(replace=[["email", "name"]])
    answer = editor.wait(editor.command("specedit.edit", uri, [2, last], "Rename it."))
    assert answer["result"] == {"status": "edited"}
    assert editor.texts[uri] == wanted.replace("email", "name")


def test_positions_past_an_end_are_that_end():
    document = Document.of("file:///a", 1, "🙂b\r\nc\rd")
    places = {(0, 0): (0, 0), (0, 1): (0, 0), (0, 2): (0, 1), (0, 3): (0, 2), (0, 99): (0, 2)}
    places |= {(1, 5): (1, 1), (2, 1): (2, 1), (2, 9): (2, 1), (3, 0): (2, 1), (99, 99): (2, 1)}
    assert {one: document.place(one) for one in places} == places


def test_a_byte_order_mark_moves_no_rename(editor, tmp_path):
    uri = editor.open_file(tmp_path / "a.py", "\ufeffx = 1; y = x\n")
    assert renamed(editor, uri, (0, 1), "email") == "\ufeffemail = 1; y = email\n"


def test_other_files_are_renamed_on_disk_and_keep_their_line_ends(editor, tmp_path):
    repository = Repository.init(tmp_path / "repository")
    other = "from a import aa\r# 🙂\r\nprint(aa)\n".encode()
    (repository.root / "b.py").write_bytes(b"\xef\xbb\xbf" + other)
    repository.stage({"a.py": "def aa():\n    pass\n"})
    uri = editor.open_file(
        repository.root / "a.py", "def aa():\r\n    return 1\r\n"
    )  # the editor is ahead of the disk
    answer = editor.wait(editor.rename(uri, (0, 5), "name"))
    changes = {one["textDocument"]["uri"]: one for one in answer["result"]["documentChanges"]}
    assert {Path(one).name for one in changes} == {"a.py", "b.py"}
    on_disk = changes.pop((repository.root / "b.py").as_uri())
    assert on_disk["textDocument"]["version"] is None
    assert edited(other.decode(), on_disk["edits"]) == other.decode().replace("aa", "name")
    (opened,) = changes.values()
    assert opened["textDocument"] == {"uri": uri, "version": 1}
    assert edited(editor.texts[uri], opened["edits"]) == "def name():\r\n    return 1\r\n"


def test_a_word_is_prepared_for_its_rename(editor, tmp_path):
    uri = editor.open_file(tmp_path / "a.py", "# \u2028\r'🙂'; email = 1\r")
    params = {"textDocument": {"uri": uri}, "position": place((1, 11))}
    answer = editor.wait(editor.request("textDocument/prepareRename", params))
    wanted = {"start": place((1, 6)), "end": place((1, 11))}
    assert answer["result"] == {"range": wanted, "placeholder": "email"}
    params["position"] = place((1, 3))
    assert editor.wait(editor.request("textDocument/prepareRename", params))["result"] is None


def test_the_selected_lines_are_those_of_the_action(editor, tmp_path):
    uri = editor.open_file(tmp_path / "a.py", "a = 1\r# \u2028\nb = 2")
    results = []
    for start, end in [((0, 0), (2, 0)), ((1, 1), (2, 1)), ((1, 1), (9, 9)), ((1, 1), (1, 1))]:
        span = {"start": place(start), "end": place(end)}
        params = {"textDocument": {"uri": uri}, "range": span, "context": {"diagnostics": []}}
        actions = editor.wait(editor.request("textDocument/codeAction", params))["result"]
        results.append([one["command"]["arguments"][1] for one in actions])
    assert results == [[[1, 2]], [[2, 3]], [[2, 3]], []]


def test_a_change_made_by_hand_is_repeated_in_other_files(editor, tmp_path):
    made = Repository.init(tmp_path)
    text = "x = 1\nold_call(1, a)\n"
    made.commit({"a.py": text, "b.py": "old_call(b.c,  2)\nold_call(3)\n", "c.py": "y = 1\n"})
    uri, other = (tmp_path / "a.py").as_uri(), (tmp_path / "b.py").as_uri()
    editor.open(uri, text)

    def actions() -> list[Any]:
        span = {"start": place((1, 3)), "end": place((1, 3))}
        params = {"textDocument": {"uri": uri}, "range": span, "context": {"diagnostics": []}}
        result: list[Any] = editor.wait(editor.request("textDocument/codeAction", params))["result"]
        return result

    assert actions() == []
    editor.replace(uri, "x = 1\npow(a, 1)\n")
    (action,) = actions()
    assert action["title"] == "Repeat this change"
    editor.open(other, made.read("b.py"))
    editor.agrees = False
    answer = editor.wait(editor.request("workspace/executeCommand", action["command"]))
    assert answer["result"] == {"status": "unchanged"} and not editor.edits
    editor.agrees = True
    answer = editor.wait(editor.request("workspace/executeCommand", action["command"]))
    assert editor.questions[1] == "specedit: old_call($A, $B) -> pow($B, $A) at 1 place?"
    assert answer["result"] == {"status": "edited"}
    assert editor.texts[other] == "pow(2, b.c)\nold_call(3)\n"
    assert editor.texts[uri] == "x = 1\npow(a, 1)\n"


# stale edits


def test_an_edit_of_a_text_that_changed_meanwhile_is_not_sent(editor, tmp_path, script):
    script(answer="new = 1\n```", delay_s=0.05)
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = editor.command("specedit.edit", uri, [1, 1], "Rename it.")
    editor.change(uri, (0, 0), (0, 0), "# typed\n")
    assert editor.wait(number)["result"]["status"] == "refused"
    assert editor.edits == []
    assert editor.shown() == ["specedit: the text changed meanwhile; nothing was edited"]
    assert editor.texts[uri] == "# typed\nold = 1\n"


def test_an_edit_has_the_version_that_it_was_made_from(editor, tmp_path, script):
    script(answer="new = 1\n```")
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = editor.command("specedit.edit", uri, [1, 1], "Rename it.")
    sent: list[Any] = []
    while not sent:  # the edit is on its way when the user types
        sent = [m for m in [editor.inbox.get(timeout=30)] if "applyEdit" in m.get("method", "")]
    editor.change(uri, (0, 0), (0, 0), "# typed\n")
    editor.handle(sent[0])
    assert [fits for fits, _ in editor.edits] == [False]
    assert editor.wait(number)["result"] == {"status": "refused"}
    assert editor.texts[uri] == "# typed\nold = 1\n"
    assert editor.wait(editor.command("specedit.undo"))["result"] == {"undone": 0}


def test_a_rename_of_a_text_that_changed_meanwhile_is_an_error(editor, tmp_path, monkeypatch):
    from specedit.integrations.lsp import lsp_session as session

    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    at_once = session.rename_at

    def slow(*arguments: Any) -> Any:
        editor.change(uri, (0, 0), (0, 0), "# typed\n")
        return at_once(*arguments)

    monkeypatch.setattr(session, "rename_at", slow)
    assert editor.wait(editor.rename(uri, (0, 0), "email"))["error"]["code"] == -32801


# cancelling and leaving


@pytest.mark.parametrize("how", ["request", "progress", "own progress"])
def test_a_cancelled_edit_stops_decoding_and_sends_nothing(editor, tmp_path, script, how):
    script(answer="ab" * 50_000, delay_s=0.005, then=[{"answer": "new = 1\n```"}])
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    params: dict[str, Any] = {"command": "specedit.edit", "arguments": [uri, [1, 1], "Do it."]}
    if how == "own progress":
        params["workDoneToken"] = "mine"
    number = editor.request("workspace/executeCommand", params)
    editor.until(lambda: any(one["kind"] == "report" for one in editor.progress()))
    if how == "request":
        editor.notify("$/cancelRequest", {"id": number})
    else:
        token = "mine" if how == "own progress" else editor.tokens[0]
        editor.notify("window/workDoneProgress/cancel", {"token": token})
    assert editor.wait(number)["error"]["code"] == -32800
    assert [one["kind"] for one in editor.progress()].count("end") == 1
    editor.rest()
    before = len(editor.notices)
    again = editor.command("specedit.undo")  # answered while the cancelled one ends
    assert editor.wait(again)["result"] == {"undone": 0}
    editor.rest(0.1)
    assert [one["method"] for one in editor.notices[before:]] == ["window/showMessage"]
    assert editor.edits == []


def test_an_edit_starts_when_a_cancelled_one_has_ended(editor, tmp_path, script):
    script(answer="ab" * 50_000, delay_s=0.005)  # minutes
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = editor.command("specedit.edit", uri, [1, 1], "Do it.")
    editor.until(lambda: any(one["kind"] == "report" for one in editor.progress()))
    refused = editor.wait(editor.command("specedit.edit", uri, [1, 1], "Do it."))
    assert refused["error"]["message"] == "an edit is running already; cancel it first"
    editor.notify("$/cancelRequest", {"id": number})
    script(replace=[["old", "new"]])
    done = editor.wait(editor.command("specedit.edit", uri, [1, 1], "Do it."))
    assert done["result"] == {"status": "edited"}
    assert editor.texts[uri] == "new = 1\n"


def test_leaving_stops_what_runs(tmp_path, script):
    script(answer="ab" * 50_000, delay_s=0.005)
    editor, session = editor_of()
    editor.start()
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = editor.command("specedit.edit", uri, [1, 1], "Do it.")
    editor.until(lambda: any(one["kind"] == "report" for one in editor.progress()))
    assert editor.wait(editor.request("shutdown", None))["result"] is None
    assert editor.wait(number)["error"]["code"] == -32800
    assert editor.wait(editor.rename(uri, (0, 0), "new"))["error"]["code"] == -32600
    editor.notify("exit", None)
    assert session.ended and session.shut_down
    assert session.close(10)


# errors


def test_one_summary_is_shown_for_a_rename(editor, tmp_path):
    repository = Repository.init(tmp_path / "repository")
    repository.write(
        "a.py", "".join(f"class {name}:\n    def title(self): pass\n" for name in "AB")
    )
    for number in range(40):
        repository.write(f"use_{number}.py", "def use(thing):\n    return thing.title()\n")
    repository.git("add", "-A")
    uri = editor.open_file(repository.root / "a.py", (repository.root / "a.py").read_text())
    assert renamed(editor, uri, (1, 10), "heading").count("title") == 1
    editor.until(lambda: bool(editor.shown()))
    editor.rest(0.1)
    assert len(editor.shown()) == 1
    (log,) = editor.shown("window/logMessage")
    assert all(f"use_{number}.py" in log for number in range(40))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("rename", {"position": {"line": "0", "character": 0}, "newName": "y"}),
        ("rename", {"position": {"line": 0, "character": 0.5}, "newName": "y"}),
        ("rename", {"position": {"line": True, "character": 0}, "newName": "y"}),
        ("rename", {"position": {"line": -1, "character": 0}, "newName": "y"}),
        ("rename", {"position": [0, 0], "newName": "y"}),
        ("rename", {"position": {"line": 0, "character": 0}}),
        ("prepareRename", {}),
        ("codeAction", {"range": {"start": {"line": 0}}, "context": {}}),
    ],
    ids=str,
)
def test_wrong_types_get_an_error(editor, tmp_path, method, params, capsys):
    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    items = {"textDocument": {"uri": uri}, **params}
    answer = editor.wait(editor.request(f"textDocument/{method}", items))
    assert answer["error"]["code"] == -32602
    assert "Traceback" not in capsys.readouterr().err
    assert renamed(editor, uri, (0, 0), "y") == "y = 1\n"


def test_ordinary_errors_print_no_traceback(editor, tmp_path, capsys):
    uri, missing = (tmp_path / "a.py").as_uri(), (tmp_path / "missing.py").as_uri()
    editor.open(uri, "x = 1\ny = 2\nprint(x, y)\n")
    errors = [
        editor.wait(editor.rename(uri, (0, 0), "y")),
        editor.wait(editor.rename(uri, (0, 0), "class")),
        editor.wait(editor.rename(missing, (0, 0), "y")),
        editor.wait(editor.rename("untitled:a", (0, 0), "y")),
        editor.wait(editor.command("specedit.edit", uri, [1, 1])),
        editor.wait(editor.command("specedit.edit", uri, [7, 9], "Do it.")),
        editor.wait(editor.command("specedit.edit", uri, ["1", 1], "Do it.")),
        editor.wait(editor.command("other.edit")),
        editor.wait(editor.request("textDocument/hover", {})),
    ]
    assert all(one["error"]["message"] for one in errors)
    assert editor.shown() == [], "the editor shows the reply"
    assert capsys.readouterr().err == ""


def test_no_edit_is_made_for_a_text_that_is_not_known(editor, tmp_path):
    repository = Repository.init(tmp_path / "repository")
    repository.stage({"a.py": "x = 1\n", "b.py": "import a\nprint(a.x)\n"})
    uri, other = ((repository.root / name).as_uri() for name in ("a.py", "b.py"))
    editor.open(uri, "x = 1\n")
    editor.open(other, "import a\nprint(a.x)\n")
    editor.open("untitled:one", "x")  # not a file: no rename fails because of it
    item = {"uri": uri, "version": 2}
    params = {"textDocument": item, "contentChanges": [{"range": 5, "text": "y = 2\n"}]}
    editor.notify("textDocument/didChange", params)
    for one, place_of_x in ((uri, (0, 0)), (other, (1, 8))):
        answer = editor.wait(editor.rename(one, place_of_x, "name"))
        assert "error" in answer and "Traceback" not in str(answer)
    editor.open(uri, "x = 1\n")
    assert renamed(editor, other, (1, 8), "name") == "import a\nprint(a.name)\n"


def test_requests_outside_the_session_get_an_error():
    editor, _ = editor_of()
    assert editor.wait(editor.request("textDocument/rename", {}))["error"]["code"] == -32002
    editor.start()
    again = editor.request("initialize", {"capabilities": {}})
    assert editor.wait(again)["error"]["code"] == -32600
    for message in ([], 7, {"id": 1}, {"id": None, "method": "shutdown"}):
        editor.post(message)
        assert editor.wait(None)["error"]["code"] == -32600


def test_an_editor_without_workspace_edits_gets_no_edit(tmp_path):
    editor, _ = editor_of()
    editor.start({**CAPABILITIES, "workspace": {}})
    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    answer = editor.wait(editor.command("specedit.edit", uri, [1, 1], "Do it."))
    assert "applyEdit" in answer["error"]["message"]


# framing


SHUTDOWN = {"jsonrpc": "2.0", "id": 1, "method": "shutdown"}


@pytest.mark.parametrize(
    "damaged",
    [
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: -5\r\n\r\n{}",
        b"Content-Length: 2x\r\n\r\n{}",
        b"Content-Length:\r\n\r\n{}",
        b"Content-Length: 99999999999\r\n\r\n{}",
        b"Content-Length: 9\r\n\r\nnot JSON!",
        b"Content-Length: 2\r\n\r\n\xff\xff",
        b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
    ],
    ids=lambda data: ascii(data[:40]),
)
def test_a_damaged_message_gets_an_error_and_the_next_is_read(damaged):
    results = list(read_messages(io.BytesIO(damaged + framed(SHUTDOWN))))
    assert isinstance(results[0], RequestError) and results[0].code == -32700
    assert results[1:] == [SHUTDOWN]


def test_other_headers_and_a_broken_end_are_no_messages():
    data = b"content-length: 2\nContent-Type: x\r\n\r\n{}" + framed({"a": "é\u2028🙂"})
    results = list(read_messages(io.BytesIO(data + b"Content-Length: 50\r\n\r\n{")))
    assert results == [{}, {"a": "é\u2028🙂"}]
