"""The engines apart from drafting: time of a pass, by width, context and start.

    python -m benchmarks.engine widths  --set model=NAME   exact, transformers bf16, llama.cpp
    python -m benchmarks.engine context --set model=NAME   a pass behind 1,024 to 32,512 positions
    python -m benchmarks.engine bound   --set model=NAME   the least a token can cost here
    python -m benchmarks.engine start   --set model=NAME   from an empty interpreter to a first pass

Each engine of `widths` runs in a process of its own, one after the other.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.common import parser, resolved, run
from benchmarks.speed.peers import peak_mb
from benchmarks.speed.peers.own import Own, medians
from specedit.decode.cost import WIDTHS
from specedit.edit.backend import unreported
from specedit.engines.cores import thread_count
from specedit.engines.exact.engine import ExactEngine
from specedit.inference.loading import load
from specedit.models.resolve import present
from specedit.settings import Settings

CONTEXT = 1024
CONTEXTS = (1024, 4096, 8192, 16384, 32512)


def exact(settings: Settings) -> dict[str, Any]:
    """Milliseconds of a pass by its width, and of two parts of it."""
    return _milliseconds(Own(load(settings, unreported)).passes(CONTEXT, WIDTHS))


def bf16(settings: Settings) -> dict[str, Any]:
    import torch
    from transformers import DynamicCache

    from benchmarks.speed.peers.transformers import reference
    from specedit.engines.huggingface.modules import cache_argument

    torch.set_num_threads(thread_count(settings.threads))
    model = reference(settings.model)
    cache = DynamicCache(config=model.config)
    named: Any = {cache_argument(model): cache}
    ids = torch.tensor([_ids(CONTEXT)])

    @torch.inference_mode()
    def feed(part: torch.Tensor, rows: int) -> None:
        out = model(input_ids=part, **named, use_cache=True, logits_to_keep=rows)
        out.logits[0].argmax(-1)

    for at in range(0, CONTEXT, 256):
        feed(ids[:, at : at + 256], 1)

    def one(width: int) -> None:
        feed(ids[:, :width], width)
        cache.crop(-width)

    return _milliseconds({"transformers bf16": medians(one, WIDTHS)})


def llama(settings: Settings) -> dict[str, Any]:
    """llama.cpp on the same file, with the logits of every position."""
    from llama_cpp import Llama

    threads = thread_count(settings.threads)
    model = Llama(
        str(present(settings.model).path),
        n_ctx=CONTEXT + 512,
        n_threads=threads,
        n_threads_batch=threads,
        logits_all=True,
        verbose=False,
    )
    ids = _ids(CONTEXT)
    for at in range(0, CONTEXT, 256):
        model.eval(ids[at : at + 256])

    def one(width: int) -> None:
        model.n_tokens = CONTEXT  # eval forgets what lies behind it
        model.eval(ids[:width])

    return _milliseconds({"llama.cpp": medians(one, WIDTHS)})


def _ids(count: int) -> list[int]:
    return [n * 7919 % 50_000 for n in range(count)]


def _milliseconds(table: dict[str, dict[int, float]]) -> dict[str, Any]:
    return {
        name: {width: round(1000 * seconds, 2) for width, seconds in row.items()}
        for name, row in table.items()
    }


def widths(settings: Settings) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for what in ("exact", "bf16", "llama"):
        command = [sys.executable, "-m", "benchmarks.engine", what, *sys.argv[2:]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{what}: not measured ({done.stderr.strip()[-200:]})", file=sys.stderr)
        else:
            found |= json.loads(done.stdout.splitlines()[-1])
    return found


def context(settings: Settings) -> dict[str, Any]:
    """Milliseconds of a pass behind more and more positions. Only their number matters."""
    engine = load(settings, unreported).engine
    assert isinstance(engine, ExactEngine), "contexts are measured on the exact engine"
    found: dict[str, Any] = {}
    for length in CONTEXTS:
        if length + 64 > engine.info.window:
            break
        engine.cache.reserve(length + 64)
        engine.cache.ids[:] = _ids(length)

        def one(width: int, length: int = length) -> None:
            engine.crop(length)
            engine.forward(_ids(width))

        found[str(length)] = medians(one, (1, 64))
        engine.crop(length)
    return {**_milliseconds(found), "cache_mb": round(engine.cache.bytes / 2**20)}


def bound(settings: Settings) -> dict[str, Any]:
    """The least milliseconds of an id of the prompt and of the answer: all int8 products at their
    fastest. An id of the prompt needs no output layer; attention and the rest are left out."""
    engine = load(settings, unreported).engine
    assert isinstance(engine, ExactEngine), "the bound is of the exact engine's products"
    of, width = engine.passes.config, WIDTHS[-1]
    answer = 1000 * medians(engine.passes.products, [width])[width] / width
    layer = 2 * of.hidden * of.head_size * (of.heads + of.kv_heads) + 3 * of.hidden * of.inner
    layers = of.layers * layer
    prompt = answer * layers / (layers + of.hidden * of.vocabulary)
    return {"prompt_ms": round(prompt, 3), "answer_ms": round(answer, 3)}


def start(settings: Settings) -> dict[str, Any]:
    """Seconds of each part of a start; nothing overlaps here."""
    marks = [("", time.perf_counter())]
    from specedit.models.vocabulary import load_tokenizer

    tokenizer = load_tokenizer(present(settings.model))
    marks.append(("tokenizer", time.perf_counter()))
    engine = load(settings, unreported).engine
    marks.append(("load", time.perf_counter()))
    ids = tokenizer.encode("def main():\n    pass\n")
    for _ in engine.begin(ids):
        pass
    engine.forward(ids[-1:])
    marks.append(("first passes", time.perf_counter()))
    return {name: round(at - marks[n][1], 3) for n, (name, at) in enumerate(marks[1:])}


MEASUREMENTS: dict[str, Callable[[Settings], dict[str, Any]]] = {
    f.__name__: f for f in (widths, exact, bf16, llama, context, bound, start)
}


def main() -> int:
    made = parser(__doc__, cases=False)
    made.add_argument("what", choices=MEASUREMENTS)
    options = made.parse_args()
    found = MEASUREMENTS[options.what](resolved(options))
    print(json.dumps({**found, "peak_mb": round(peak_mb())}))
    return 0


if __name__ == "__main__":
    run(main)
