"""The language server with an editor that follows the specification."""

import signal
from pathlib import Path
from typing import Any

import pytest
from case_files import rows
from effort import some
from git_repository import Repository
from lsp_client import CAPABILITIES, LINE_ENDS_OF_PYTHON, Editor, Process, edited, place, spans


def renamed(editor: Editor, uri: str, at: tuple[int, int], new: str) -> str:
    answer = editor.wait(editor.rename(uri, at, new))
    assert "result" in answer, answer
    assert editor.apply(answer["result"])
    return editor.texts[uri]


def prepared(editor: Editor, uri: str, at: tuple[int, int]) -> Any:
    params = {"textDocument": {"uri": uri}, "position": place(at)}
    return editor.wait(editor.request("textDocument/prepareRename", params))["result"]


def actions(editor: Editor, uri: str, start: Any, end: Any, **context: object) -> Any:
    span = {"start": place(start), "end": place(end)}
    params = {
        "textDocument": {"uri": uri},
        "range": span,
        "context": {"diagnostics": [], **context},
    }
    return editor.wait(editor.request("textDocument/codeAction", params))["result"]


def begun(editor: Editor, uri: str, **params: Any) -> int:
    """The number of an edit of line 1 that has reported its progress."""
    params |= {"command": "specedit.edit", "arguments": [uri, [1, 1], "Do it."]}
    number = editor.request("workspace/executeCommand", params)
    editor.until(lambda: any(value["kind"] == "report" for value in editor.progress()))
    return number


# positions


@pytest.mark.parametrize("character", LINE_ENDS_OF_PYTHON, ids=ascii)
def test_what_only_python_calls_a_line_end_moves_no_rename(editor, tmp_path, character):
    text = f"# head {character} tail\ndef aa():\n    x = 1\n    return x\n"
    uri = editor.open_file(tmp_path / "a.py", text)
    wanted = text.replace("x = 1", "email = 1").replace("return x", "return email")
    assert renamed(editor, uri, (2, 4), "email") == wanted


@pytest.mark.parametrize("ends", ["\r", "\r\n", "\n\r", "\r\r\n", "\r\n\n\r"], ids=repr)
def test_line_ends_of_the_protocol_are_counted_and_kept(editor, tmp_path, ends, play):
    text = f"# 🙂{ends}def aa():{ends}    '🙂'; x = 1{ends}    return x{ends}"
    line, last = len(spans(f"# 🙂{ends}def aa():{ends}")) - 1, len(spans(text)) - 1
    uri = editor.open_file(tmp_path / "a.py", text)
    wanted = text.replace("x = 1", "email = 1").replace("return x", "return email")
    assert renamed(editor, uri, (line, 10), "email") == wanted
    play(replace=[["email", "name"]])
    answer = editor.wait(editor.command("specedit.edit", uri, [2, last], "Rename it."))
    assert answer["result"] == {"status": "edited"}
    assert editor.texts[uri] == wanted.replace("email", "name")


def test_positions_past_an_end_are_that_end(editor, tmp_path):
    uri = editor.open_file(tmp_path / "a.py", "🙂b\r\nc\rd")
    words = {(0, 0): None, (0, 1): None, (0, 2): "b", (0, 3): "b", (0, 99): "b", (1, 5): "c"}
    words |= {(2, 1): "d", (2, 9): "d", (3, 0): "d", (99, 99): "d"}
    found = {at: prepared(editor, uri, at) for at in words}
    assert {at: word and word["placeholder"] for at, word in found.items()} == words


# What a later protocol may add to what an editor declares.
LATER = {"symbol": {"symbolKind": {"valueSet": [999]}}, "other": {"markup": ["later"]}}


@rows("offered chosen column")
def test_the_editor_chooses_how_columns_are_counted(tmp_path, offered, chosen, column):
    process = Process(tmp_path)
    editor = process.editor
    declared = CAPABILITIES | {"workspace": CAPABILITIES["workspace"] | LATER, "later": 7}
    capabilities = editor.start(declared | {"general": {"positionEncodings": offered}})
    assert capabilities["positionEncoding"] == chosen
    uri = editor.open_file(tmp_path / "a.py", "'🙂é'; email")
    span = {"start": place((0, column)), "end": place((0, column + 5))}
    assert prepared(editor, uri, (0, column + 1)) == {"range": span, "placeholder": "email"}
    edit = editor.wait(editor.rename(uri, (0, column), "name"))["result"]
    assert edit["documentChanges"][0]["edits"][0]["range"]["end"] == span["end"]
    assert process.leave() == 0


def test_a_byte_order_mark_moves_no_rename(editor, tmp_path):
    uri = editor.open_file(tmp_path / "a.py", "\ufeffx = 1; y = x\n")
    assert renamed(editor, uri, (0, 1), "email") == "\ufeffemail = 1; y = email\n"


def test_a_rename_leaves_words_that_may_be_ordinary_language(editor, tmp_path):
    text = 'def user_agent():\n    """Return the user agent, as `user_agent` does."""\n'
    wanted = 'def ua():\n    """Return the user agent, as `ua` does."""\n'
    uri = editor.open_file(tmp_path / "a.py", text)
    assert renamed(editor, uri, (0, 5), "ua") == wanted


def test_other_files_are_renamed_on_disk_and_keep_their_line_ends(editor, tmp_path):
    repository = Repository.init(tmp_path / "repository")
    other = "from a import aa\r# 🙂\r\nprint(aa)\n".encode()
    (repository.root / "b.py").write_bytes(b"\xef\xbb\xbf" + other)
    repository.stage({"a.py": "def aa():\n    pass\n"})
    text = "def aa():\r\n    return 1\r\n"  # the editor is ahead of the disk
    uri = editor.open_file(repository.root / "a.py", text)
    answer = editor.wait(editor.rename(uri, (0, 5), "name"))
    changes = {
        change["textDocument"]["uri"]: change for change in answer["result"]["documentChanges"]
    }
    assert {Path(uri).name for uri in changes} == {"a.py", "b.py"}
    on_disk = changes.pop((repository.root / "b.py").as_uri())
    assert on_disk["textDocument"]["version"] is None
    assert edited(other.decode(), on_disk["edits"]) == other.decode().replace("aa", "name")
    (opened,) = changes.values()
    assert opened["textDocument"] == {"uri": uri, "version": 1}
    assert edited(text, opened["edits"]) == text.replace("aa", "name")


def test_the_selected_lines_are_those_of_the_action(editor, tmp_path):
    uri = editor.open_file(tmp_path / "a.py", "a = 1\r# \u2028\nb = 2")
    spans = [
        ((0, 0), (2, 0)),
        ((1, 1), (2, 1)),
        ((1, 1), (9, 9)),
        ((2, 1), (1, 1)),
        ((1, 1), (1, 1)),
    ]
    lines = [
        [action["command"]["arguments"][1] for action in actions(editor, uri, *span)]
        for span in spans
    ]
    assert lines == [[[1, 2]], [[2, 3]], [[2, 3]], [[2, 3]], []]
    kinds = {"": 1, "refactor": 1, "refactor.rewrite": 1, "refactor.rewrite.x": 0, "quickfix": 0}
    for kind, number in kinds.items():
        assert len(actions(editor, uri, (0, 0), (1, 0), only=[kind])) == number


# edits


def test_an_edit_shows_its_progress_is_applied_and_undone(editor, tmp_path, play):
    play(replace=[["old", "new"]], delay_s=0.01)
    uri = editor.open_file(tmp_path / "a.py", "x = 1\nold = 1\n")
    (action,) = actions(editor, uri, (1, 0), (2, 0))
    command = action["command"]
    asked = editor.wait(editor.request("workspace/executeCommand", command))
    assert "no instruction" in asked["error"]["message"]
    command["arguments"].append("Rename it.")
    answer = editor.wait(editor.request("workspace/executeCommand", command))
    assert answer["result"] == {"status": "edited"}
    assert editor.texts[uri] == "x = 1\nnew = 1\n"
    shown = editor.progress()[2:]  # those before are of the request without an instruction
    assert [shown[0]["kind"], shown[-1]["kind"]] == ["begin", "end"]
    assert any("new" in value.get("message", "") for value in shown), "the text as it grows"
    assert editor.wait(editor.command("specedit.undo"))["result"] == {"undone": 1}
    assert editor.texts[uri] == "x = 1\nold = 1\n"


def test_an_instruction_may_be_a_comment_of_the_selection(editor, tmp_path, play):
    play(replace=[["old", "new"]])
    uri = editor.open_file(tmp_path / "a.py", "# specedit: Rename it.\nold = 1\n")
    answer = editor.wait(editor.command("specedit.edit", uri, [1, 2]))
    assert answer["result"] == {"status": "edited"}
    assert editor.texts[uri] == "new = 1\n"


def test_an_instruction_that_changes_nothing_stays_where_it_is(editor, tmp_path, play):
    play(replace=[])
    text = "# specedit: Rename it.\nold = 1\n"
    uri = editor.open_file(tmp_path / "a.py", text)
    answer = editor.wait(editor.command("specedit.edit", uri, [1, 2]))
    assert (answer["result"], editor.texts[uri]) == ({"status": "unchanged"}, text)


# stale edits


def test_an_edit_of_a_text_that_changed_meanwhile_is_not_sent(editor, tmp_path, play):
    play(answer="new = 1\n```", delay_s=0.05)
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = editor.command("specedit.edit", uri, [1, 1], "Rename it.")
    editor.change(uri, (0, 0), (0, 0), "# typed\n")
    assert editor.wait(number)["result"]["status"] == "refused"
    assert editor.edits == []
    assert editor.shown() == ["specedit: the text changed meanwhile; nothing was edited"]
    assert editor.texts[uri] == "# typed\nold = 1\n"


def sent_edit(editor: Editor) -> Any:
    """The edit that is on its way to the editor."""
    while "applyEdit" not in (message := editor.inbox.get(timeout=30)).get("method", ""):
        if "id" in message:
            editor.handle(message)
    return message


def test_an_edit_has_the_version_that_it_was_made_from(editor, tmp_path, play):
    play(answer="new = 1\n```")
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = editor.command("specedit.edit", uri, [1, 1], "Rename it.")
    sent = sent_edit(editor)
    editor.change(uri, (0, 0), (0, 0), "# typed\n")
    editor.handle(sent)
    assert [fits for fits, _ in editor.edits] == [False]
    assert editor.wait(number)["result"] == {"status": "refused"}
    assert editor.texts[uri] == "# typed\nold = 1\n"
    assert editor.wait(editor.command("specedit.undo"))["result"] == {"undone": 0}


def test_an_edit_that_is_on_its_way_is_not_cancelled(editor, tmp_path, play):
    play(answer="new = 1\n```")
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = editor.command("specedit.edit", uri, [1, 1], "Rename it.")
    sent = sent_edit(editor)
    editor.notify("$/cancelRequest", {"id": number})
    editor.handle(sent)
    assert editor.wait(number)["result"] == {"status": "edited"}
    assert editor.wait(editor.command("specedit.undo"))["result"] == {"undone": 1}
    assert editor.texts[uri] == "old = 1\n"


def test_an_edit_that_the_editor_answers_with_an_error_is_refused(editor, tmp_path, play):
    play(answer="new = 1\n```")
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    for answer in ({"error": {"code": -1, "message": "no"}}, {"result": 7}, {"result": None}):
        number = editor.command("specedit.edit", uri, [1, 1], "Rename it.")
        editor.post({"jsonrpc": "2.0", "id": sent_edit(editor)["id"], **answer})
        assert editor.wait(number)["result"] == {"status": "refused"}


def test_a_rename_of_a_text_that_changed_meanwhile_is_an_error(editor, tmp_path):
    repository = Repository.init(tmp_path / "repository")  # git is asked: that takes a while
    repository.stage({"a.py": "x = 1\n"})
    uri = editor.open_file(repository.root / "a.py", "x = 1\n" * 2000)
    number = editor.rename(uri, (0, 0), "email")
    editor.change(uri, (0, 0), (0, 0), "# typed\n")
    assert editor.wait(number)["error"]["code"] == -32801


# cancelling and leaving

ENDLESS = {"answer": "ab" * 50_000, "delay_s": 0.005}  # minutes


@pytest.mark.parametrize("how", ["request", "progress", "own progress"])
def test_a_cancelled_edit_stops_decoding_and_sends_nothing(editor, tmp_path, play, how):
    play(**ENDLESS, then=[{"answer": "new = 1\n```"}])
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = begun(editor, uri, **({"workDoneToken": "mine"} if how == "own progress" else {}))
    if how == "request":
        editor.notify("$/cancelRequest", {"id": number})
    else:
        token = "mine" if how == "own progress" else editor.tokens[0]
        editor.notify("window/workDoneProgress/cancel", {"token": token})
    assert editor.wait(number)["error"]["code"] == -32800
    assert [value["kind"] for value in editor.progress()].count("end") == 1
    editor.rest()
    before = len(editor.notices)
    again = editor.command("specedit.undo")  # answered while the cancelled one ends
    assert editor.wait(again)["result"] == {"undone": 0}
    editor.rest(0.1)
    assert [notice["method"] for notice in editor.notices[before:]] == ["window/showMessage"]
    assert editor.edits == []


def test_an_edit_starts_when_a_cancelled_one_has_ended(editor, tmp_path, play):
    play(**ENDLESS)
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = begun(editor, uri)
    refused = editor.wait(editor.command("specedit.edit", uri, [1, 1], "Do it."))
    assert refused["error"]["message"] == "an edit is running already; cancel it first"
    editor.notify("$/cancelRequest", {"id": number})
    play(replace=[["old", "new"]])
    done = editor.wait(editor.command("specedit.edit", uri, [1, 1], "Do it."))
    assert done["result"] == {"status": "edited"}
    assert editor.texts[uri] == "new = 1\n"


def test_requests_are_answered_while_an_edit_runs(editor, tmp_path, play):
    play(**ENDLESS)
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = begun(editor, uri)
    assert prepared(editor, uri, (0, 0))["placeholder"] == "old"
    assert renamed(editor, uri, (0, 0), "email") == "email = 1\n"
    editor.notify("$/cancelRequest", {"id": number})
    assert editor.wait(number)["error"]["code"] == -32800


def test_leaving_stops_what_runs(tmp_path):
    process = Process(tmp_path)
    process.play(**ENDLESS)
    editor = process.editor
    editor.start()
    uri = editor.open_file(tmp_path / "a.py", "old = 1\n")
    number = begun(editor, uri)
    assert editor.wait(editor.request("shutdown", None))["result"] is None
    assert editor.wait(number)["error"]["code"] == -32800
    assert editor.wait(editor.rename(uri, (0, 0), "new"))["error"]["code"] == -32600
    editor.notify("exit", None)
    assert process.popen.wait(30) == 0
    assert process.stderr == ""


ENDS = [("exit", 1), ("end of input", 1), ("interrupt", 130)]
ENDINGS = [(*end, busy) for end in ENDS for busy in (False, True)]


@pytest.mark.parametrize(("how", "code", "busy"), some(ENDINGS[::-1], 2))
def test_the_server_ends_with_its_editor(tmp_path, how, code, busy):
    process = Process(tmp_path)
    process.play(**ENDLESS)
    process.editor.start()
    if busy:
        begun(process.editor, process.editor.open_file(tmp_path / "a.py", "old = 1\n"))
    if how == "exit":
        process.editor.notify("exit", None)
    elif how == "interrupt":
        process.popen.send_signal(signal.SIGINT)
    else:
        assert process.popen.stdin is not None
        process.popen.stdin.close()
    assert process.popen.wait(30) == code
    assert "Traceback" not in process.stderr


# errors


@rows("method params problem")
def test_wrong_parameters_get_an_error_that_names_them(editor, tmp_path, method, params, problem):
    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    params = {"textDocument": {"uri": uri}, **params}
    error = editor.wait(editor.request(f"textDocument/{method}", params))["error"]
    assert error["code"] == -32602 and problem in error["message"]
    assert renamed(editor, uri, (0, 0), "y") == "y = 1\n"


def test_ordinary_errors_are_answers_and_nothing_else(editor, tmp_path):
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
        editor.wait(editor.request("specedit/unknown", {})),
    ]
    assert all(answer["error"]["message"] for answer in errors)
    assert errors[-1]["error"]["code"] == -32601
    assert editor.shown() == [], "the editor shows the reply"


@pytest.mark.parametrize("other", ["untitled:one", "file:///%00", "file://[", "file:///\ud83d"])
def test_what_is_open_and_not_a_file_ends_no_rename(editor, tmp_path, other):
    repository = Repository.init(tmp_path / "repository")
    repository.stage({"a.py": "x = 1\n", "b.py": "import a\nprint(a.x)\n"})
    editor.open(other, "x")
    uri = editor.open_file(repository.root / "b.py", "import a\nprint(a.x)\n")
    assert renamed(editor, uri, (1, 8), "name") == "import a\nprint(a.name)\n"
    assert (
        "does not name a file" in editor.wait(editor.rename(other, (0, 0), "y"))["error"]["message"]
    )


@pytest.mark.parametrize(
    "change",
    [
        {"range": 5, "text": "y = 2\n"},
        {"range": {"start": place((0, 0)), "end": place((0, 1))}, "text": "y"},
        {},
    ],
    ids=["not a range", "a part", "no text"],
)
def test_no_edit_is_made_for_a_text_that_is_not_known(editor, tmp_path, change):
    repository = Repository.init(tmp_path / "repository")
    repository.stage({"a.py": "x = 1\n", "b.py": "import a\nprint(a.x)\n"})
    uri, other = ((repository.root / name).as_uri() for name in ("a.py", "b.py"))
    editor.open(uri, "x = 1\n")
    editor.open(other, "import a\nprint(a.x)\n")
    params = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
    editor.notify("textDocument/didChange", params)
    for document, place_of_x in ((uri, (0, 0)), (other, (1, 8))):
        answer = editor.wait(editor.rename(document, place_of_x, "name"))
        assert "error" in answer and "Traceback" not in str(answer)
    editor.replace(uri, "x = 1\n")
    assert renamed(editor, other, (1, 8), "name") == "import a\nprint(a.name)\n"


def test_an_editor_that_declares_nothing_gets_nothing_else(tmp_path):
    process = Process(tmp_path)
    editor = process.editor
    assert editor.start({})["renameProvider"] is True
    uri = editor.open_file(tmp_path / "a.py", "x = 1\n")
    (command,) = actions(editor, uri, (0, 0), (1, 0))
    assert command["command"] == "specedit.edit"
    answer = editor.wait(editor.request("workspace/executeCommand", command))
    assert "applyEdit" in answer["error"]["message"]
    assert process.leave() == 0


# damaged messages

DAMAGED = [
    b"Content-Length: -5\r\n\r\n",
    b"Content-Length: -5\r\n\r\n{}",
    b"Content-Length: 2x\r\n\r\n{}",
    b"Content-Length:\r\n\r\n{}",
    b"Content-Length: 99999999999\r\n\r\n{}",
    b"Content-Length: 9\r\n\r\nnot JSON!",
    b"Content-Length: 2\r\n\r\n\xff\xff",
    b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
]


def test_a_damaged_message_gets_an_error_and_the_next_is_read(language_server, editor):
    for data in DAMAGED:
        language_server.raw(data)
        assert editor.wait(None)["error"]["code"] == -32700, data[:40]
        assert "result" in editor.wait(editor.request("specedit/status", None)), data[:40]


def test_messages_that_do_not_fit_the_session_get_an_error(tmp_path):
    process = Process(tmp_path)
    editor = process.editor
    editor.notify("textDocument/didOpen", {})
    assert editor.wait(editor.request("textDocument/rename", {}))["error"]["code"] == -32002
    editor.start()
    again = editor.request("initialize", {"processId": None, "capabilities": {}})
    assert editor.wait(again)["error"]["code"] == -32600
    no_requests: list[Any] = [[], 7, {"id": 1}, {"id": None, "method": "shutdown"}]
    for message in (*no_requests, *({"jsonrpc": "2.0", **part} for part in no_requests[2:])):
        editor.post(message)
        assert editor.wait(None)["error"]["code"] == -32600
    editor.notify("other/unknown", {})
    editor.post({"jsonrpc": "2.0", "id": "unknown", "result": 1})
    assert process.leave() == 0
    assert process.stderr == ""
