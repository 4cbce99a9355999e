"""A language server over stdio, asked for renames."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from specedit.errors import InputError

LIMIT = 60  # seconds of an answer


class Server:
    """A language server over stdio."""

    def __init__(self, command: str, root: Path) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            shlex.split(command), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=root
        )
        self.last = 0
        capabilities = {
            "textDocument": {"rename": {"prepareSupport": True}},
            "workspace": {"workspaceEdit": {"documentChanges": True}, "configuration": True},
        }
        self.ask(
            "initialize",
            processId=None,
            rootUri=root.as_uri(),
            capabilities=capabilities,
            workspaceFolders=[{"uri": root.as_uri(), "name": "root"}],
        )
        self.tell("initialized")

    def tell(self, method: str, **parameters: Any) -> None:
        self._send({"method": method, "params": parameters})

    def ask(self, method: str, **parameters: Any) -> Any:
        """The answer; an error of the server is an InputError."""
        self.last += 1
        self._send({"id": self.last, "method": method, "params": parameters})
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            message = self._read()
            if "method" in message and "id" in message:  # of the server's own
                items = message.get("params", {}).get("items", [])
                asked = message["method"] == "workspace/configuration"
                self._send({"id": message["id"], "result": [{} for _ in items] if asked else None})
            elif message.get("id") == self.last:
                if "error" in message:
                    raise InputError(str(message["error"].get("message")))
                return message.get("result")
        raise InputError("no answer in time")

    def rename(self, path: Path, text: str, start: int, new: str) -> dict[Path, list[Any]]:
        """The edits of each file that rename what stands at a character."""
        before = text[:start]
        result = self.ask(
            "textDocument/rename",
            textDocument={"uri": path.as_uri()},
            position={
                "line": before.count("\n"),
                "character": len(before.rpartition("\n")[2].encode("utf-16-le")) // 2,
            },
            newName=new,
        )
        changes = dict((result or {}).get("changes") or {})
        for one in (result or {}).get("documentChanges") or ():
            if "edits" in one:
                changes.setdefault(one["textDocument"]["uri"], []).extend(one["edits"])
        return {Path(unquote(urlsplit(uri).path)): edits for uri, edits in changes.items()}

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            elif not line and self.process.poll() is not None:
                raise InputError("the server ended")
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message


def spans_of(text: str, edits: list[Any]) -> list[tuple[int, int, str]]:
    """The characters that a server's edits replace, whose columns count UTF-16 units."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def at(place: Any) -> int:
        number = min(int(place["line"]), len(lines))
        units = "".join(lines[number : number + 1]).encode("utf-16-le")[: 2 * place["character"]]
        return starts[number] + len(units.decode("utf-16-le", "replace"))

    spans = {(at(e["range"]["start"]), at(e["range"]["end"]), e["newText"]) for e in edits}
    return sorted(spans)
