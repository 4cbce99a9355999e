"""The engines themselves, apart from drafting: time per pass, context, memory, start.

    python -m specedit.bench.engine widths  MODEL [--context N]   exact, bf16, llama.cpp, in turn
    python -m specedit.bench.engine context MODEL                 time per pass from 1k to 32k
    python -m specedit.bench.engine start   MODEL                 from the command to the first pass

Knows the engines' insides (products and attention alone, a cache that holds nothing). Every
measurement runs in a process of its own, whose last line on stdout is JSON.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from specedit.bench.worker import peak_mb
from specedit.decode.cost import WIDTHS as ALL
from specedit.models.resolve import present
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.engines.exact.engine import ExactEngine

WIDTHS = tuple(w for w in ALL if w not in (2, 4))
CONTEXTS = (1024, 4096, 8192, 16384, 32512)
ROUNDS = 5


def open_engine(options: Namespace) -> ExactEngine:
    from specedit.engines.exact import open_exact
    from specedit.models.store import store_path

    return open_exact(
        present(options.model),
        store=store_path(),
        threads=options.threads,
        precision=options.precision,
    )


def median(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Median seconds, after one run that is not counted."""
    run()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def ids_of(count: int) -> list[int]:
    return [(7919 * i * i + 104729 * i) % 150_000 for i in range(count)]


def exact(options: Namespace) -> dict[str, Any]:
    """Seconds per pass, of whole passes and of two parts of them alone; and of a prefill."""
    engine, ids = open_engine(options), ids_of(options.context + 1)
    started = time.perf_counter()
    for _ in engine.begin(ids):
        pass
    prefill = time.perf_counter() - started

    def one(width: int) -> None:
        engine.crop(options.context)
        engine.forward(ids[:width])

    passes = {w: median(lambda w=w: one(w)) for w in WIDTHS}  # type: ignore[misc]
    found = {"passes": passes, "prefill_s": prefill, "peak_mb": peak_mb()}
    found["parts"] = {
        "int8 products": {w: products(engine, w) for w in WIDTHS},
        "attention": {w: attention(engine, w, options.context) for w in WIDTHS},
    }
    return found


def products(engine: ExactEngine, width: int) -> float:
    """Seconds of a pass's integer products and nothing else."""
    return median(lambda: engine.passes.products(width))


def attention(engine: ExactEngine, width: int, length: int) -> float:
    """Seconds of a pass's attention over `length` earlier positions and nothing else."""
    return median(lambda: engine.passes.attention(engine.cache, length, width))


def bf16(options: Namespace) -> dict[str, Any]:
    """The same of transformers in bf16, over the same file's weights."""
    import torch
    from transformers import DynamicCache

    model = reference(options)
    cache = DynamicCache(config=model.config)
    ids = torch.tensor([ids_of(options.context)])

    def feed(piece: Any, keep: int) -> None:
        with torch.inference_mode():
            out = model(input_ids=piece, past_key_values=cache, use_cache=True, logits_to_keep=keep)
            out.logits[0].argmax(-1)

    started = time.perf_counter()
    for at in range(0, options.context, 256):
        feed(ids[:, at : at + 256], 1)
    prefill = time.perf_counter() - started

    def one(width: int) -> None:
        feed(ids[:, :width], width)
        cache.crop(-width)

    passes = {w: median(lambda w=w: one(w)) for w in WIDTHS}  # type: ignore[misc]
    return {"passes": passes, "prefill_s": prefill, "peak_mb": peak_mb()}


def llama(options: Namespace) -> dict[str, Any]:
    """The same of llama.cpp on the same file, with logits of every position."""
    from llama_cpp import Llama

    model = Llama(
        str(present(options.model).path),
        n_ctx=options.context + 512,
        n_batch=512,
        n_ubatch=512,
        n_threads=options.threads,
        n_threads_batch=options.threads,
        logits_all=True,
        verbose=False,
    )
    ids = ids_of(options.context)
    started = time.perf_counter()
    for at in range(0, options.context, 256):
        model.eval(ids[at : at + 256])
    prefill = time.perf_counter() - started

    def one(width: int) -> None:
        model.n_tokens = options.context  # eval forgets what lies behind it
        model.eval(ids[:width])

    passes = {w: median(lambda w=w: one(w)) for w in WIDTHS}  # type: ignore[misc]
    return {"passes": passes, "prefill_s": prefill, "peak_mb": peak_mb()}


def reference(options: Namespace) -> Any:
    """transformers' model over the same weights, in bf16."""
    import torch

    from specedit.bench.peers import transformers

    torch.set_num_threads(options.threads)
    return transformers.reference(present(options.model))


def context(options: Namespace) -> dict[str, Any]:
    """Seconds per pass behind more and more positions (of nothing: only their number matters)."""
    engine = open_engine(options)
    found: dict[int, dict[int, float]] = {}
    for length in CONTEXTS:
        if length + 64 > engine.info.window:
            break
        engine.cache.reserve(length + 64)
        engine.cache.ids[:] = ids_of(length)

        def one(width: int, length: int = length) -> None:
            engine.crop(length)
            engine.forward(ids_of(width))

        found[length] = {w: median(lambda w=w: one(w), 3) for w in (1, 64)}  # type: ignore[misc]
        engine.crop(length)
    return {"contexts": found, "cache_mb": engine.cache.bytes / 2**20, "peak_mb": peak_mb()}


def start(options: Namespace) -> dict[str, Any]:
    """Seconds from an empty interpreter to the first pass, in parts (nothing overlaps here)."""
    marks = [("", time.perf_counter())]

    def mark(name: str) -> None:
        marks.append((name, time.perf_counter()))

    from specedit.models.vocabulary import load_tokenizer

    tokenizer = load_tokenizer(present(options.model))
    mark("tokenizer")
    engine = open_engine(options)
    mark("map the weights")
    ids = tokenizer.encode("def main():\n    pass\n")
    for _ in engine.begin(ids):
        pass
    engine.forward(ids[-1:])
    mark("first passes")
    parts = {name: at - marks[i][1] for i, (name, at) in enumerate(marks[1:])}
    return {"parts": parts, "total_s": marks[-1][1] - marks[0][1], "peak_mb": peak_mb()}


def widths(options: Namespace) -> dict[str, Any]:
    """The width table: each engine in a process of its own, one after the other."""
    found: dict[str, Any] = {}
    for what in ("exact", "bf16", "llama"):
        run = [sys.executable, "-m", __spec__.name if __spec__ else __name__, what, options.model]
        run += [f"--context={options.context}", f"--threads={options.threads}"]
        run += [f"--precision={options.precision}"]
        done = subprocess.run(run, capture_output=True, text=True, check=False)
        lines = done.stdout.strip().splitlines()
        if done.returncode or not lines:
            said = (done.stderr.strip() or "nothing said").splitlines()[-1]
            print(f"{what}: not measured ({said})", file=sys.stderr)
            continue
        found[what] = json.loads(lines[-1])
        passes = found[what]["passes"]
        print(what, *(f"{w}: {1000 * s:.0f} ms" for w, s in passes.items()), file=sys.stderr)
    return found


MEASUREMENTS: dict[str, Callable[[Namespace], dict[str, Any]]] = {
    f.__name__: f for f in (widths, exact, bf16, llama, context, start)
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(description="Measure the engines on this machine.")
    parser.add_argument("what", choices=MEASUREMENTS)
    parser.add_argument("model")
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--precision", default=Settings().precision)
    options = parser.parse_args(arguments)
    print(json.dumps(MEASUREMENTS[options.what](options)))


if __name__ == "__main__":
    main()
