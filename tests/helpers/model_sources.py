"""Tiny models and the places they come from: a GGUF writer, a hub on this machine, wheels."""

import hashlib
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from specedit.models.catalogue import Listed, Wheels
from specedit.models.tokenizer import byte_table

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
USER = ("<tool_call>",)


def tiny_gguf(
    path: Path,
    architecture: str = "qwen2",
    *,
    kind: str = "gpt2",
    cuts: str = "qwen2",
    **metadata: Any,
) -> Path:
    """A GGUF file with a byte-level vocabulary of 256 bytes, two merges and special tokens."""
    writer = gguf.GGUFWriter(path, architecture)
    letters = list(byte_table())
    tokens = [*letters, "in", "int", *SPECIALS, *USER]
    kinds = [1] * (len(letters) + 2) + [3] * len(SPECIALS) + [4] * len(USER)
    writer.add_context_length(4096)
    writer.add_tokenizer_model(kind)
    writer.add_tokenizer_pre(cuts)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(["i n", "in t"])
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    for key, value in metadata.items():
        name = key.replace("__", ".")
        if isinstance(value, str):
            writer.add_string(name, value)
        elif isinstance(value, bool):
            writer.add_bool(name, value)
        else:
            writer.add_uint32(name, value)
    writer.add_tensor("token_embd.weight", np.zeros((len(tokens), 32), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def entry_of(data: bytes, part_size: int) -> Listed:
    """A catalogue entry for these bytes."""
    count = -(-len(data) // part_size)
    wheels = Wheels("specedit-test-part{n}", "1.0", "stp{n}/data/part{n:02d}.bin", count, part_size)
    sha256 = hashlib.sha256(data).hexdigest()
    memory = 300_000_000  # of which 250 million are the program
    row = Listed("tiny", "tiny.gguf", len(data), sha256, "MIT", "someone/tiny", wheels)
    return replace(row, memory=memory, memory_int4=memory)


def write_wheels(folder: Path, entry: Listed, data: bytes) -> None:
    """What a package index would give: one wheel for each part."""
    folder.mkdir(parents=True, exist_ok=True)
    wheels = entry.wheels
    for n in range(1, wheels.count + 1):
        name = wheels.project.format(n=n).replace("-", "_")
        info = f"{name}-{wheels.version}.dist-info"
        about = f"Metadata-Version: 2.1\nName: {wheels.project.format(n=n)}\nVersion: 1.0\n"
        tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            start = (n - 1) * wheels.part_size
            wheel.writestr(wheels.inside(n), data[start : start + wheels.part_size])
            wheel.writestr(f"{info}/METADATA", about)
            wheel.writestr(f"{info}/WHEEL", tags)
            wheel.writestr(f"{info}/RECORD", "")


@dataclass
class Hub:
    """A hub on this machine: repositories as dictionaries of files."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)  # (path, Range)
    cut_after: int = 0  # close each connection after so many bytes
    missing_once: set[str] = field(default_factory=set)  # names to deny the first time
    damaged: set[str] = field(default_factory=set)  # names whose last byte is sent as another
    url: str = ""


@contextmanager
def hub_server() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            path = self.path.partition("?")[0].strip("/")
            hub.asked.append((path, self.headers.get("Range", "")))
            if path.startswith("api/models/"):
                return self._listing("/".join(path.split("/")[2:4]))
            parts = path.split("/")  # owner, name, "resolve", revision, file…
            repository, file = "/".join(parts[:2]), "/".join(parts[4:])
            data = hub.files.get(repository, {}).get(file)
            if data is None or file in hub.missing_once:
                hub.missing_once.discard(file)
                return self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
            if file in hub.damaged:
                data = data[:-1] + bytes([data[-1] ^ 1])
            wanted = self.headers.get("Range", "").removeprefix("bytes=").rstrip("-")
            start = int(wanted or 0)
            said = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
            self._send(206 if wanted else 200, data[start:], said if wanted else {})

        def _listing(self, repository: str) -> None:
            files = hub.files.get(repository)
            if files is None:
                return self._send(404, b"", {"X-Error-Code": "RepoNotFound"})
            siblings = [
                {
                    "rfilename": file,
                    "size": len(data),
                    "lfs": {
                        "sha256": hashlib.sha256(data).hexdigest(),
                        "size": len(data),
                        "pointerSize": 1,
                    }
                    if file.endswith((".safetensors", ".gguf"))
                    else None,
                }
                for file, data in files.items()
            ]
            found = {
                "id": repository,
                "sha": "c0ffee",
                "siblings": siblings,
                "cardData": {"license": "mit"},
            }
            self._send(200, json.dumps(found).encode(), {"Content-Type": "application/json"})

        def _send(self, code: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(code)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if hub.cut_after and code in (200, 206):
                self.wfile.write(data[: hub.cut_after])
                self.close_connection = True
            else:
                self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
