"""An editor that follows the language server protocol: a model of its documents, in UTF-16 units.

Shares no code with the server. An edit for another version than the document has is rejected.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from command_line import interruptible

CAPABILITIES = {
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "window": {"workDoneProgress": True},
    "textDocument": {
        "rename": {"prepareSupport": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}},
    },
}

LINE_ENDS_OF_PYTHON = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"  # of str.splitlines, not of editors
Position = tuple[int, int]


def units_of(text: str) -> str:
    """A text as UTF-16 code units, one character each."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(data[at] | data[at + 1] << 8) for at in range(0, len(data), 2))


def text_of(units: str) -> str:
    data = b"".join(ord(unit).to_bytes(2, "little") for unit in units)
    return data.decode("utf-16-le", "surrogatepass")


def spans(units: str) -> list[tuple[int, int]]:
    """Where each line starts, and where its content ends."""
    result, start, at = [], 0, 0
    while at < len(units):
        if units[at] in "\r\n":
            result.append((start, at))
            at += 2 if units[at : at + 2] == "\r\n" else 1
            start = at
        else:
            at += 1
    return [*result, (start, len(units))]


def offset(units: str, position: Position) -> int:
    lines = spans(units)
    if position[0] >= len(lines):
        return len(units)
    start, end = lines[position[0]]
    return min(start + position[1], end)


def edited(text: str, edits: Sequence[Any]) -> str:
    """The text after the edits of a TextDocumentEdit, which do not overlap."""
    units = units_of(text)
    places = []
    for one in edits:
        start, end = one["range"]["start"], one["range"]["end"]
        first = offset(units, (start["line"], start["character"]))
        last = offset(units, (end["line"], end["character"]))
        places.append((first, last, units_of(one["newText"])))
    places.sort(key=lambda place: place[:2])
    assert all(a[1] <= b[0] for a, b in pairwise(places)), "edits overlap"
    for first, last, new in reversed(places):
        units = units[:first] + new + units[last:]
    return text_of(units)


class Editor:
    """`post` takes its messages; what the server sends goes to `inbox` and is handled by `wait`."""

    def __init__(self, post: Callable[[Any], None] = print) -> None:
        self.post = post
        self.inbox: queue.Queue[Any] = queue.Queue()
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.answers: dict[Any, Any] = {}
        self.notices: list[Any] = []
        self.edits: list[tuple[bool, Any]] = []  # accepted or not, and the edit
        self.tokens: list[Any] = []
        self._last_id = 0

    # what an editor sends

    def request(self, method: str, params: object) -> int:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    def notify(self, method: str, params: object) -> None:
        self._send({"method": method, "params": params})

    def start(self, declared: object = CAPABILITIES) -> Any:
        number = self.request("initialize", {"processId": None, "capabilities": declared})
        answer = self.wait(number)
        self.notify("initialized", {})
        return answer["result"]["capabilities"]

    def open(self, uri: str, text: str) -> None:
        self.texts[uri], self.versions[uri] = text, 1
        item = {"uri": uri, "languageId": "any", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def open_file(self, path: Path, text: str) -> str:
        """Open a file, whose text is the editor's; its URI."""
        self.open(path.as_uri(), text)
        return path.as_uri()

    def close_all(self) -> None:
        """Close every document, and forget what happened to it."""
        for uri in self.texts:
            self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.wait(self.request("specedit/status", None))
        for happened in (self.texts, self.versions, self.answers, self.notices, self.edits):
            happened.clear()
        self.tokens.clear()

    def change(self, uri: str, start: Position, end: Position, text: str) -> None:
        span = {"start": place(start), "end": place(end)}
        self.replace(uri, edited(self.texts[uri], [{"range": span, "newText": text}]))

    def replace(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self.versions[uri] += 1
        item = {"uri": uri, "version": self.versions[uri]}
        params = {"textDocument": item, "contentChanges": [{"text": text}]}
        self.notify("textDocument/didChange", params)

    def rename(self, uri: str, position: Position, new: str) -> int:
        document = {"uri": uri}
        params = {"textDocument": document, "position": place(position), "newName": new}
        return self.request("textDocument/rename", params)

    def command(self, name: str, *arguments: object) -> int:
        params = {"command": name, "arguments": list(arguments)}
        return self.request("workspace/executeCommand", params)

    def _send(self, message: Any) -> None:
        self.post({"jsonrpc": "2.0", **message})

    # what it does with what comes

    def wait(self, number: object, timeout_s: float = 30) -> Any:
        """The answer to a request; everything that comes before it is handled."""
        while number not in self.answers:
            self.handle(self.inbox.get(timeout=timeout_s))
        return self.answers.pop(number)

    def until(self, happened: Callable[[], bool], timeout_s: float = 30) -> None:
        while not happened():
            self.handle(self.inbox.get(timeout=timeout_s))

    def rest(self, quiet_s: float = 0.0) -> None:
        """Handle what has come, until nothing more comes for a while."""
        while True:
            try:
                self.handle(self.inbox.get(timeout=quiet_s) if quiet_s else self.inbox.get_nowait())
            except queue.Empty:
                return

    def handle(self, message: Any) -> None:
        method = message.get("method")
        if method is None:
            self.answers[message["id"]] = message
        elif "id" not in message:
            self.notices.append(message)
        elif method == "workspace/applyEdit":
            done = self.apply(message["params"]["edit"])
            self._send({"id": message["id"], "result": {"applied": done}})
        else:
            if method == "window/workDoneProgress/create":
                self.tokens.append(message["params"]["token"])
            self._send({"id": message["id"], "result": None})

    def apply(self, edit: Any) -> bool:
        """Apply a workspace edit, unless it is for other versions than the documents have."""
        changes = edit["documentChanges"]
        open_here = [one for one in changes if one["textDocument"]["uri"] in self.texts]
        fits = all(
            one["textDocument"]["version"] == self.versions[one["textDocument"]["uri"]]
            for one in open_here
        )
        self.edits.append((fits, edit))
        for one in open_here if fits else ():
            uri = one["textDocument"]["uri"]
            self.replace(uri, edited(self.texts[uri], one["edits"]))
        return fits

    def shown(self, method: str = "window/showMessage") -> list[str]:
        return [one["params"]["message"] for one in self.notices if one["method"] == method]

    def progress(self) -> list[Any]:
        return [one["params"]["value"] for one in self.notices if one["method"] == "$/progress"]


def place(position: Position) -> dict[str, int]:
    return {"line": position[0], "character": position[1]}


class Process:
    """`specedit lsp` in a process of its own, and the editor that started it. Its model plays the
    script of `play`."""

    def __init__(self, folder: Path, script: Path | None = None, **more: str) -> None:
        self.folder = folder
        self.script = script or folder.parent / f"{folder.name}.script.json"
        env = {"TESTS_SCRIPT": str(self.script), "SPECEDIT_SERVER": "off", **more}
        inherited = {name: value for name, value in os.environ.items() if name != "SPECEDIT_DATA"}
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "specedit", "lsp", "--model", "scripted"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**inherited, **env},  # without the place of the evaluation data
            preexec_fn=interruptible if os.name == "posix" else None,
        )
        self.editor = Editor(self.post)
        self.errors: list[bytes] = []
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def play(self, **parts: object) -> None:
        """Set the script of the model: `play(replace=[[OLD, NEW]])`, `play(answer=TEXT)`."""
        self.script.write_text(json.dumps(parts), encoding="utf-8")

    def post(self, message: Any) -> None:
        body = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def raw(self, data: bytes) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(data)
        self.popen.stdin.flush()

    def _read(self) -> None:
        stream = self.popen.stdout
        assert stream is not None
        while line := stream.readline():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
            elif not line.strip():
                self.editor.inbox.put(json.loads(stream.read(size)))

    def _read_errors(self) -> None:
        assert self.popen.stderr is not None
        self.errors.append(self.popen.stderr.read())

    def leave(self, timeout_s: float = 60) -> int:
        """`shutdown`, `exit`; returns the exit code."""
        self.editor.wait(self.editor.request("shutdown", None), timeout_s)
        self.editor.notify("exit", None)
        return self.popen.wait(timeout_s)

    @property
    def stderr(self) -> str:
        for reader in self._readers:
            reader.join(10)
        return b"".join(self.errors).decode()
