"""Opening, memory, time of a pass, and one edit of 200 lines, with a model whose text may be noise.

    python -m benchmarks.synthetic qwen2.5-coder-7b 7b.gguf --tokenizer MODEL.gguf
    python -m benchmarks.large --set model=7b.gguf

The edit is a real file with two lines changed. Every pass is the model's own; its choices are
replaced by the known answer's. One token is compared with its bytes over the memory bandwidth of
the same run (two threads read 1 GB, the best of twelve).
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import specedit
from benchmarks.common import parser, resolved, run
from specedit.decode import Chunk, drafters
from specedit.decode.cost import Clock, Curve
from specedit.decode.loop import decode
from specedit.decode.width import Widths
from specedit.engines.base import Choices, depths
from specedit.models.resolve import local
from specedit.models.store import ModelFiles, store_path
from specedit.models.vocabulary import load_tokenizer

WIDTHS = (1, 8, 16, 32, 64, 128, 256)
EDITED = "models/gguf.py"
CHANGED = (59, 139)  # lines


class Taught:
    """An engine that computes each pass and then chooses what the answer has."""

    def __init__(self, engine: Any, prompt: int, answer: Sequence[int]) -> None:
        self._engine, self._prompt, self._answer = engine, prompt, answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        at = self._engine.length - self._prompt + 1
        choices: Choices = self._engine.forward(ids, parents)
        steps = range(len(ids)) if parents is None else depths(parents)
        known = [self._answer[min(at + step, len(self._answer) - 1)] for step in steps]
        return replace(choices, ids=known)


def bandwidth() -> float:
    """Bytes per second that two threads read."""
    import numpy as np

    numbers = np.ones(1 << 27, np.int64)
    best, step = 0.0, 1 << 19

    def read(part: Any) -> None:
        for at in range(0, part.size, step):
            part[at : at + step].max()

    for _ in range(12):
        started = time.perf_counter()
        threads = [Thread(target=read, args=(part,)) for part in np.split(numbers, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        best = max(best, numbers.nbytes / (time.perf_counter() - started))
    return best


def pass_times(engine: Any) -> dict[int, float]:
    ids = random.Random(1).choices(range(1000), k=300)
    list(engine.begin(ids[:9]))
    times = dict.fromkeys(WIDTHS, float("inf"))
    for turn in range(4):
        for width in WIDTHS:
            if width < 64 or turn < 2:
                engine.crop(8)
                started = time.perf_counter()
                engine.forward(ids[8 : 8 + width])
                times[width] = min(times[width], time.perf_counter() - started)
    return times


def edit(engine: Any, files: ModelFiles, curve: Curve) -> Iterator[tuple[str, Any]]:
    tokenizer = load_tokenizer(files)
    text = (Path(specedit.__file__).parent / EDITED).read_text("utf-8")
    lines = text.splitlines(keepends=True)[:200]
    predicted = tokenizer.encode("".join(lines))
    for line in CHANGED:
        lines[line] = f"{lines[line].rstrip()}  # one more kind of error\n"
    answer = tokenizer.encode("".join(lines))
    prompt = [*tokenizer.encode("Read one more kind of error.\n"), *predicted]
    engine.crop(0)
    started = time.perf_counter()
    chunks = decode(
        Taught(engine, len(prompt), answer),
        prompt,
        drafters=drafters.build(("prediction", "lookup"), prediction=predicted, codec=tokenizer),
        widths=Widths(clock=Clock(curve)),
        ends=lambda token: False,
        limit=len(answer),
    )
    passes = [event.seconds for event in chunks if isinstance(event, Chunk)]
    seconds = time.perf_counter() - started
    yield "ids of the prompt", len(prompt)
    yield "ids of the answer", len(answer)
    yield "passes", len(passes)
    yield "seconds of the prompt", round(seconds - sum(passes), 1)
    yield "seconds of the answer", round(sum(passes), 1)


def measured(model: str, positions: int, **more: Any) -> Iterator[tuple[str, Any]]:
    from specedit.engines.exact.engine import open_exact

    files = local(model)
    assert files is not None
    started = time.perf_counter()
    engine: Any = open_exact(files, store=store_path(), **more)
    yield "engine", engine.info.note
    yield "seconds to open", round(time.perf_counter() - started, 3)
    ids = random.Random(2).choices(range(1000), k=positions)
    started = time.perf_counter()
    list(engine.begin(ids))
    yield f"seconds to read {positions} ids", round(time.perf_counter() - started, 1)
    engine.forward(ids[-1:])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    yield f"peak memory with {positions} positions, GB", round(peak, 2)
    entries = engine.passes._weights.entries
    size = sum(entry["nbytes"] for name, entry in entries.items() if name != "embedding")
    times = pass_times(engine)
    yield "milliseconds by width", {width: round(s * 1000) for width, s in times.items()}
    speed = bandwidth()
    yield "GB of a token, GB/s", (round(size / 1e9, 2), round(speed / 1e9, 1))
    yield "one token, times its bytes over the bandwidth", round(times[1] * speed / size, 2)
    yield from edit(engine, files, Curve.of(times.items()))


def main() -> int:
    made = parser(__doc__, cases=False)
    made.add_argument("--positions", type=int, default=4096)
    options = made.parse_args()
    settings = resolved(options)
    more = {"weights": settings.weights} if hasattr(settings, "weights") else {}
    for name, value in measured(settings.model, options.positions, **more):
        print(f"{name}: {value}", flush=True)
    return 0


if __name__ == "__main__":
    run(main)
