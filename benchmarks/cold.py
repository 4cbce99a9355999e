"""Cold start: from the start of a process to the first output of one edit, the page cache warm.

    python -m benchmarks.cold FOLDER [PEER...]

specedit's first output is the whole diff, its peers' the first token of the answer. FOLDER holds
what they start from: the weights in bf16 for transformers (made when they are missing), and
llama.cpp's build. Runs alternate; medians.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.llama_server import open_peer as open_llama
from benchmarks.speed import compare
from benchmarks.speed.cases import Case
from benchmarks.speed.peers import PeerOptions, Task
from specedit.engines.cores import thread_count
from specedit.settings import Settings, resolve

FILE = Path(__file__).parents[1] / "fixtures" / "user" / "before.cs"
INSTRUCTION = "Rename the property Username to Email"
ROUNDS = 3
TRANSFORMERS = """
import json, sys, torch, transformers
torch.set_num_threads(int(sys.argv[2]))
model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.bfloat16)
model.generate(torch.tensor([json.load(sys.stdin)]), max_new_tokens=1, do_sample=False)
print("first", flush=True)
"""


def main() -> None:
    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    settings = resolve({"server": "off"}).values
    case = Case("cold", FILE.name, INSTRUCTION, FILE.read_text(encoding="utf-8"))
    task = compare.words(settings).task(case, settings, own=True, limit=1)
    starts = {**programs(folder, task, settings), **servers(folder, task, settings)}
    chosen = {name: start for name, start in starts.items() if not wanted or name in wanted}
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in chosen}
    with suppress(KeyboardInterrupt):  # then the rounds that were done count
        for _ in range(ROUNDS + 1):
            for name, start in chosen.items():
                used = processor_seconds()
                measured[name].append((start(), processor_seconds() - used))
    for name, rounds in measured.items():  # the first round only fills the page cache
        wall, used = (statistics.median(one) for one in zip(*(rounds[1:] or rounds), strict=True))
        print(f"{name}: {wall:.2f} s, {used:.2f} processor seconds, {len(rounds)} rounds")


def processor_seconds() -> float:
    """Of all processes that this one ran until they ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def programs(folder: Path, task: Task, settings: Settings) -> dict[str, Callable[[], float]]:
    """Processes whose first line of output is timed."""
    threads = str(thread_count(settings.threads))

    def own(*flags: str) -> float:
        with tempfile.TemporaryDirectory() as place:
            name = shutil.copy(FILE, Path(place, "User.cs"))
            words = ["edit", INSTRUCTION, str(name), "--diff", "--server", "off", "-q", *flags]
            return first_output([sys.executable, "-m", "specedit", *words], "")

    def script(text: str, model: str) -> float:
        return first_output([sys.executable, "-c", text, model, threads], json.dumps(task.prompt))

    return {
        "specedit": own,
        "specedit-int4": lambda: own("--weights", "int4"),
        "transformers": lambda: script(TRANSFORMERS, bf16(folder, settings)),
    }


def first_output(command: list[str], text: str) -> float:
    started = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(text.encode())
        process.stdin.close()
        line = process.stdout.readline()
        seconds = time.perf_counter() - started
    assert line, f"no output: {command}"
    return seconds


def servers(folder: Path, task: Task, settings: Settings) -> dict[str, Callable[[], float]]:
    """llama.cpp's server with each of its weights, until its first token."""
    os.environ.setdefault("LLAMA_FOLDER", str(folder))
    options = PeerOptions(settings, thread_count(settings.threads), 2048)

    def start(way: str) -> float:
        server = open_llama(options)
        gguf, flags = server.start_of(way)
        started = time.perf_counter()
        with server.serving(gguf, flags) as address:
            server.answer(address, replace(task, limit=1))
            return time.perf_counter() - started

    return {way: partial(start, way) for way in ("q4_k_m-plain", "q4_0-plain")}


def bf16(folder: Path, settings: Settings) -> str:
    made = folder / "bf16"
    if not made.exists():
        from benchmarks.speed.peers.transformers import reference

        reference(settings.model).save_pretrained(made)
    return str(made)


if __name__ == "__main__":
    main()
