"""Renames by language servers, each file alone: right, wrong, refused, seconds and memory.

    python -m benchmarks.rename.servers rename.jsonl --server "pyright-langserver --stdio" \\
        --language python --out pyright.jsonl

The cases are those of `benchmarks.rename.cases`. The name is the first one in code on the case's
line, else in the file. `--file go.mod=…` writes a file that the server wants beside each case's.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from benchmarks.common import parser, part, run
from benchmarks.rename.cases import RenameCase, load
from specedit.errors import InputError
from specedit.syntax.branch import grow, passages
from specedit.syntax.languages import language_of

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

    def memory(self) -> int:
        """MB of the server and the processes that it started."""
        listed = subprocess.run(["ps", "-eo", "pid,ppid,rss"], capture_output=True, text=True)
        rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()[1:]]
        own = {self.process.pid}
        for _ in rows:
            own |= {pid for pid, above, _ in rows if above in own}
        return sum(size for pid, _, size in rows if pid in own) // 1024

    def close(self) -> None:
        self.process.kill()
        self.process.wait()

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


def edited(text: str, edits: list[Any]) -> str:
    """The text after a server's edits."""
    for start, end, new in reversed(spans_of(text, edits)):
        text = text[:start] + new + text[end:]
    return text


def rename(server: Server, path: Path, text: str, pair: tuple[str, str], line: int | None) -> str:
    """The file's text after one rename."""
    old, new = pair
    first = sum(len(part) + 1 for part in text.split("\n")[: line - 1]) if line else 0
    word = re.compile(rf"(?<![\w$]){re.escape(old)}(?![\w$])")
    language = language_of(path.name, text)
    prose = passages(grow(text, language), text.encode()) if language and language.grammar else []
    for match in word.finditer(text, first):
        at = len(text[: match.start()].encode())
        if not any(one.start <= at < one.end for one in prose):
            break
    else:
        raise InputError("the name is not in the file")
    changes = server.rename(path, text, match.start(), new)
    own = [edit for file, edits in changes.items() if file.name == path.name for edit in edits]
    if not own:
        raise InputError("nothing to rename")
    return edited(text, own)


def measured(server: Server, case: RenameCase, root: Path, number: int) -> dict[str, Any]:
    folder = root / f"case{number}"
    folder.mkdir()
    path = folder / Path(case.filename).name
    text, problem, version = case.before, "", 1
    kinds = {".tsx": "typescriptreact", ".jsx": "javascriptreact"}
    language = kinds.get(path.suffix, case.language)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    document = {"uri": path.as_uri(), "languageId": language, "version": version, "text": text}
    started = time.perf_counter()
    server.tell("textDocument/didOpen", textDocument=document)
    for pair in case.pairs:
        try:
            text = rename(server, path, text, pair, case.line)
        except InputError as error:
            problem = str(error)
            break
        version += 1
        about = {"uri": path.as_uri(), "version": version}
        server.tell("textDocument/didChange", textDocument=about, contentChanges=[{"text": text}])
    seconds = time.perf_counter() - started
    server.tell("textDocument/didClose", textDocument={"uri": path.as_uri()})
    verdict = "refused" if problem else "right" if text == case.after else "wrong"
    return {"id": case.id, "verdict": verdict, "problem": problem, "seconds": round(seconds, 3)}


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--server", required=True, metavar="COMMAND")
    made.add_argument("--language", required=True, help="of the cases; several: a,b")
    made.add_argument("--file", action="append", default=[], metavar="NAME=TEXT")
    options = made.parse_args()
    wanted = options.language.split(",")
    cases = [case for case in part(load(options.cases), options) if case.language in wanted]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text in (one.split("=", 1) for one in options.file):
            (root / name).write_text(text + "\n", encoding="utf-8")
        started = time.perf_counter()
        server = Server(options.server, root)
        rows = []
        try:
            for number, case in enumerate(cases):
                rows.append(measured(server, case, root, number))
                if number == 0:
                    cold = time.perf_counter() - started
            memory = server.memory()
        finally:
            server.close()
    if options.out:
        options.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    counts = Counter(row["verdict"] for row in rows)
    warm = sorted(row["seconds"] for row in rows)[len(rows) // 2]
    print(f"{len(rows)} cases: {dict(counts)}, cold {cold:.1f} s, warm {warm:.2f} s, {memory} MB")
    return 0


if __name__ == "__main__":
    run(main)
