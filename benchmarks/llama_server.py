"""llama.cpp's server as a peer, with speculation that needs no draft model.

    python -m benchmarks.llama_server FOLDER

builds `llama-server` and `llama-quantize` for this processor from the sources inside
llama-cpp-python's source distribution, in FOLDER, and makes Q4_0 of the default model's GGUF.
cmake, ninja and a C++ compiler must be installed. `benchmarks.peers` finds them by LLAMA_FOLDER.

A dictated answer is a grammar that allows these ids alone: the server samples as always and then
takes what the grammar allows. (A grammar of the text would let a model with random weights spell
it with other ids, which no n-gram of the prompt predicts.) Each run has a server of its own,
because n-grams of an earlier request would help; loading it is not timed.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.speed.compare import WARM_UP
from benchmarks.speed.peers import PeerOptions, PeerRun, Task, stops
from specedit.errors import ModelError, UsageError
from specedit.models.resolve import present

SERVER, QUANTIZE, Q4_0 = "build/bin/llama-server", "build/bin/llama-quantize", "q4_0.gguf"
OFF = (
    *("LLAMA_BUILD_TESTS", "LLAMA_BUILD_EXAMPLES", "LLAMA_BUILD_UI", "LLAMA_BUILD_APP"),
    *("LLAMA_USE_PREBUILT_UI", "LLAMA_OPENSSL", "BUILD_SHARED_LIBS"),
)
# GCC 12 drops the stores of AMX's tile configuration, because its `_tile_loadconfig` names 8 bytes
# of the 64 as read; llama.cpp then ends at its first AMX product.
TILES = ("ggml/src/ggml-cpu/amx/mmq.cpp", "_tile_loadconfig(&tc);")
KEPT = f'__asm__ volatile("" : : "r"(&tc) : "memory"); {TILES[1]}'
START_S = 120


def _ngram(kind: str, **values: int) -> str:
    sizes = (f"--spec-ngram-{kind}-{name.replace('_', '-')} {n}" for name, n in values.items())
    return " ".join([f"--spec-type ngram-{kind}", *sizes])


SETTINGS = {
    "plain": "",
    "simple-12-48": _ngram("simple"),  # the server's own sizes
    "simple-3-16": _ngram("simple", size_n=3, size_m=16),
    "simple-4-32": _ngram("simple", size_n=4, size_m=32),
    "simple-6-64": _ngram("simple", size_n=6, size_m=64),
    "map-k-6-32": _ngram("map-k", size_n=6, size_m=32),
    "mod-24-48-64": _ngram("mod", n_match=24, n_min=48, n_max=64),  # of its documentation
    "mod-8-4-64": _ngram("mod", n_match=8, n_min=4, n_max=64),
    "mod-6-1-32": _ngram("mod", n_match=6, n_min=1, n_max=32),
    "cache": "--spec-type ngram-cache --spec-draft-n-max 16",
    "draft-16": "--spec-draft-model {draft} --spec-type draft-simple --spec-draft-n-max 16",
}
WAYS = [f"{weights}-{name}" for weights in ("q4_k_m", "q4_0") for name in SETTINGS]


class LlamaServer:
    """The folder of the build, and the model."""

    def __init__(self, options: PeerOptions, tokenizer: Any) -> None:
        self._folder = Path(os.environ.get("LLAMA_FOLDER", ""))
        if not (self._folder / SERVER).exists():
            raise UsageError(f"LLAMA_FOLDER has no {SERVER}: python -m benchmarks.llama_server")
        self._options, self._tokenizer = options, tokenizer
        self._pid, self._cpu_s = 0, 0.0
        version = subprocess.run(
            [self._folder / SERVER, "--version"], capture_output=True, text=True, check=True
        )
        lines = (version.stdout + version.stderr).splitlines()
        self.note = next((line for line in lines if line.startswith("version")), "llama-server")

    def run(self, task: Task, way: str) -> PeerRun | None:
        if task.id == WARM_UP.id:
            return None  # nothing of it would remain
        with self.serving(*self.start_of(way)) as address:
            return self.answer(address, task)

    def start_of(self, way: str) -> tuple[Path, list[str]]:
        """The weights' file and the flags of one of WAYS."""
        weights, _, setting = way.partition("-")
        settings = self._options.settings
        gguf = self._folder / Q4_0 if weights == "q4_0" else present(settings.model).path
        flags = SETTINGS[setting]
        if "{draft}" in flags:
            flags = flags.format(draft=present(settings.draft_model).path)
        return gguf, flags.split()

    def cpu_s(self) -> float:
        """Processor seconds of the last answer, without loading."""
        return self._cpu_s

    @contextmanager
    def serving(self, gguf: Path, flags: list[str]) -> Iterator[str]:
        """A server on a free port until the end of the block."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        threads, window = str(self._options.threads), str(self._options.window)
        command = [str(self._folder / SERVER), "--model", str(gguf), "--port", str(port)]
        command += ["--threads", threads, "--threads-batch", threads, "--ctx-size", window]
        command += ["--parallel", "1", "--cache-ram", "0", "--no-warmup", *flags]
        log = self._folder / "server.log"
        with log.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out)
        self._pid = process.pid
        try:
            yield _ready(process, f"http://127.0.0.1:{port}", log)
        finally:
            process.terminate()
            process.wait()

    def answer(self, address: str, task: Task) -> PeerRun:
        request: dict[str, Any] = {
            "prompt": list(task.prompt),
            "n_predict": task.limit,
            "temperature": 0,
            "top_k": 1,
            "samplers": ["top_k"],
            "cache_prompt": False,
            "stream": True,
            "return_tokens": True,
            "timings_per_token": True,
        }
        dictated = [number for number in task.answer if self._tokenizer.piece(number)]
        if dictated:
            request["grammar"] = "root ::= " + " ".join(f"<[{number}]>" for number in dictated)
        ends = stops(self._tokenizer, task)
        tokens: list[int] = []
        timings: dict[str, Any] = {}
        used = cpu_s(self._pid)
        started = done = time.perf_counter()
        first: float | None = None
        for event in _events(f"{address}/completion", request):
            ids = event.get("tokens") or []
            if ids or event.get("content"):
                done = time.perf_counter()
                first = first or done
            tokens += ids
            timings = event.get("timings") or timings
            if len(tokens) >= len(dictated) if dictated else any(map(ends, ids)):
                break
        self._cpu_s = cpu_s(self._pid) - used
        proposed, accepted = (int(timings.get(name, 0)) for name in ("draft_n", "draft_n_accepted"))
        first, passes = first or done, len(tokens) - accepted
        return PeerRun(
            first - started, done - first, tuple(tokens), passes, proposed, accepted, early=1
        )


def cpu_s(pid: int) -> float:
    """Processor seconds of a process until now (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _ready(process: subprocess.Popen[bytes], address: str, log: Path) -> str:
    """The address, once the server answers there."""
    for _ in range(START_S * 50):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return address
        except OSError:
            time.sleep(0.02)
    last = log.read_text(errors="replace").splitlines()[-3:]
    raise ModelError(f"llama-server did not start ({process.poll()}): {' / '.join(last)}")


def _events(url: str, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The server's events of a streamed answer."""
    data = json.dumps(request).encode()
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as response:
        for line in response:
            if line.startswith(b"data: ") and line[6:7] == b"{":
                yield json.loads(line[6:])


def open_peer(options: PeerOptions) -> LlamaServer:
    from specedit.models.vocabulary import load_tokenizer

    return LlamaServer(options, load_tokenizer(present(options.settings.model)))


def build(folder: Path) -> None:
    """Fetch the sources, compile, and make the Q4_0 file."""
    folder.mkdir(parents=True, exist_ok=True)
    name = "llama-cpp-python"
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", name, name]
    subprocess.run([*pip, "--dest", str(folder)], check=True)
    archive = max(folder.glob("llama_cpp_python-*.tar.gz"))
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    source = folder / archive.name.removesuffix(".tar.gz") / "vendor" / "llama.cpp"
    tiles = source / TILES[0]
    tiles.write_text(tiles.read_text().replace(TILES[1], KEPT))
    cmake = ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(folder / "build")]
    flags = ["-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON", *(f"-D{name}=OFF" for name in OFF)]
    subprocess.run([*cmake, *flags], check=True)
    targets = ["llama-server", "llama-quantize"]
    subprocess.run(["cmake", "--build", str(folder / "build"), "--target", *targets], check=True)
    gguf = present("qwen2.5-coder-1.5b").path
    quantize = [str(folder / QUANTIZE), "--allow-requantize", str(gguf), str(folder / Q4_0), "Q4_0"]
    subprocess.run(quantize, check=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
