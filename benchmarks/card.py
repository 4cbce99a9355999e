"""A graphics card in one command: what a pass costs, four edits, transformers beside it, equality.

    python -m benchmarks.card                       random weights of the shape of a 1.5B
    python -m benchmarks.card --shape 7b            or of a 7B or 32B
    python -m benchmarks.card --model NAME          a model that is here
    python -m benchmarks.card --cases commits.jsonl the four edits of CASES, else generated ones

The answers are dictated: every pass is computed and its choices made, and then the wanted ids are
taken. Nothing is downloaded. Without a card it runs on the processor (--shape tiny).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.common import run
from benchmarks.speed.cases import generated, read_cases
from benchmarks.speed.peers.own import Dictated
from specedit.decode import Chunk, cost, drafters
from specedit.decode.loop import decode
from specedit.decode.width import Widths
from specedit.engines.base import Prefill
from specedit.engines.huggingface.engine import HuggingFaceEngine
from specedit.engines.huggingface.loading import open_huggingface, pick_device, pick_dtype
from specedit.engines.huggingface.passes import WIDTHS
from specedit.errors import ModelError
from specedit.models.resolve import present

CASES = (
    "commit/psf_black/f311d82569",
    "commit/golang_tools/50df761c64",
    "commit/Textualize_rich/8f738c7f2a",
    "commit/astral-sh_ruff/1ad72261f1",
)
CONTEXT, ROUNDS = 1024, 5
PLAIN_IDS = 128  # that plain decoding is measured on; the whole answer is extrapolated
EQUAL_PROMPTS, EQUAL_IDS = 20, 64
NUMBERS = (
    *("hidden_size", "intermediate_size", "num_hidden_layers"),
    *("num_attention_heads", "num_key_value_heads", "vocab_size"),
)
SHAPES: dict[str, dict[str, Any]] = {
    name: dict(zip(NUMBERS, numbers, strict=True))
    for name, numbers in {
        "tiny": (64, 128, 2, 4, 2, 2000),
        "1.5b": (1536, 8960, 28, 12, 2, 151936),
        "7b": (3584, 18944, 28, 28, 4, 152064),
        "32b": (5120, 27648, 64, 40, 8, 152064),
    }.items()
}


@dataclass(frozen=True, slots=True)
class Task:
    """One edit in ids."""

    id: str
    prompt: list[int]
    before: list[int]
    after: list[int]


def random_model(shape: str, device: str) -> Any:
    """A model of this shape with random weights, made on the device."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        **SHAPES[shape],
        max_position_embeddings=32768,
        tie_word_embeddings=shape in ("tiny", "1.5b"),
    )
    torch.manual_seed(0)
    torch.set_default_dtype(pick_dtype(device))
    try:
        with torch.device(device):
            return Qwen2ForCausalLM(config).eval()  # type: ignore[no-untyped-call]
    finally:
        torch.set_default_dtype(torch.float32)


class Pieces:
    """Ids for words, spaces and signs: about as many as a tokenizer makes."""

    def __init__(self, vocabulary: int) -> None:
        self._known: dict[str, int] = {}
        self._most = vocabulary

    def encode(self, text: str) -> list[int]:
        pieces = re.findall(r" ?[A-Za-z]+|\d|\n\s*|\s|[^\w\s]{1,2}|\w", text)
        return [self._known.setdefault(p, len(self._known) % self._most) for p in pieces]


def tasks_of(cases: Path | None, tokenizer: Any, quick: bool) -> list[Task]:
    if cases is not None:
        found = {case.id: case for case in read_cases(cases, "after")}
        chosen = [found[name] for name in CASES if name in found] or list(found.values())[:4]
    else:
        chosen = generated(("line", "rename"), (250, 500))
    encode = tokenizer.encode
    return [
        Task(
            case.id,
            encode(f"{case.before}\n{case.instruction}\n"),
            encode(case.before),
            encode(case.after or ""),
        )
        for case in chosen[: 2 if quick else 4]
    ]


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - started


def curve(engine: HuggingFaceEngine) -> dict[int, float]:
    """Milliseconds of a pass behind 1,024 positions, by its width."""
    ids = [n * 7919 % min(engine.info.vocabulary, 50_000) for n in range(CONTEXT + 1)]
    for _ in engine.begin(ids):
        pass

    def once(width: int) -> float:
        seconds = timed(lambda: engine.forward(ids[:width]))
        engine.crop(CONTEXT)
        return seconds

    return {
        width: 1000 * statistics.median([once(width) for _ in range(ROUNDS + 1)][1:])
        for width in WIDTHS
    }


def bandwidth(device: str) -> float:
    """Bytes a second that a copy reads and writes."""
    size = 1 << (30 if device == "cuda" else 26)
    there = torch.zeros(size, dtype=torch.uint8, device=device)
    here = torch.empty_like(there)
    return 2 * size / min(timed(lambda: here.copy_(there)) for _ in range(5))


def edit(engine: HuggingFaceEngine, task: Task, widths: Widths) -> dict[str, Any]:
    """Seconds and passes of one edit whose answer is dictated."""
    left = len(task.after)

    def ends(_: int) -> bool:
        nonlocal left
        left -= 1
        return left <= 0

    engine.crop(0)
    events = decode(
        Dictated(engine, len(task.prompt), task.after),
        task.prompt,
        drafters=drafters.build(("prediction", "lookup"), prediction=task.before, codec=None),
        widths=widths,
        ends=ends,
        limit=len(task.after),
    )
    ids: list[int] = []
    prompt_s, parts, started = 0.0, [], time.perf_counter()
    for event in events:
        if isinstance(event, Prefill):
            prompt_s = event.seconds
        elif isinstance(event, Chunk):
            ids += event.tokens
            parts.append(event.proposed + 1)
    seconds = time.perf_counter() - started
    if ids != task.after:
        raise ModelError(f"{task.id}: another text was written")
    table = sum(widths.curve.seconds(width) for width in parts)
    return {
        "ids": len(ids),
        "seconds": seconds,
        "passes": len(parts),
        "prompt_s": prompt_s,
        "prompt_and_table_s": prompt_s + table,
    }


def generated_ids(model: Any, prompt: list[int], most: int, **options: Any) -> list[int]:
    """So many ids of transformers' greedy `generate`."""
    tensor = torch.tensor([prompt], device=model.device)
    ids: list[int] = model.generate(
        tensor,
        attention_mask=torch.ones_like(tensor),
        do_sample=False,
        max_new_tokens=most,
        pad_token_id=0,
        eos_token_id=None,
        **options,
    )[0, len(prompt) :].tolist()
    return ids


def theirs(model: Any, task: Task, lookup: int) -> float:
    """Seconds of transformers' `generate`; plain decoding is extrapolated from its first ids."""
    from benchmarks.speed.peers import Task as PeerTask
    from benchmarks.speed.peers.transformers import dictating

    count = len(task.after) if lookup else min(PLAIN_IDS, len(task.after))
    dictated: Any = PeerTask(task.id, None, tuple(task.prompt), tuple(task.after), count)  # type: ignore[arg-type]
    options: dict[str, Any] = {"prompt_lookup_num_tokens": lookup} if lookup else {}
    options["logits_processor"] = [dictating(dictated)]
    seconds = timed(lambda: generated_ids(model, task.prompt, count, **options))
    if lookup or count == len(task.after):
        return seconds
    first = timed(lambda: generated_ids(model, task.prompt, 1, **options))
    return first + (seconds - first) / (count - 1) * (len(task.after) - 1)


def equality(
    engine: HuggingFaceEngine, model: Any, tasks: Sequence[Task], count: int, widths: Widths
) -> list[dict[str, Any]]:
    """Where the engine's own answer differs from transformers' greedy one, and by what margin."""
    differing = []
    for number in range(count):
        task = tasks[number % len(tasks)]
        prompt = task.prompt[: len(task.prompt) - 7 * (number // len(tasks))]
        wanted = generated_ids(model, prompt, EQUAL_IDS)
        made = drafters.build(("prediction", "lookup"), prediction=wanted, codec=None)
        chunks: Iterator[Any] = decode(
            engine, prompt, drafters=made, widths=widths, ends=lambda _: False, limit=EQUAL_IDS
        )
        ids: list[int] = []
        margins: list[float] = []
        for event in chunks:
            if isinstance(event, Chunk):
                ids += event.tokens
                margins += event.margins
        at = next((n for n, (a, b) in enumerate(zip(ids, wanted, strict=True)) if a != b), None)
        if at is not None:
            differing.append({"prompt": number, "id": at, "margin": round(margins[at], 4)})
    return differing


def start(options: argparse.Namespace) -> float:
    """Seconds from the start of a process to its first pass."""
    command = [sys.executable, "-m", "benchmarks.card", "--only-start", "--shape", options.shape]
    command += ["--device", options.device]
    command += ["--model", options.model] if options.model else []
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def opened(options: argparse.Namespace, device: str) -> tuple[HuggingFaceEngine, Any]:
    """The engine, and the module of transformers over the same weights."""
    if options.model:
        engine = open_huggingface(present(options.model), device=device, weights=options.weights)
        return engine, engine.model
    model = random_model(options.shape, device)
    return HuggingFaceEngine(model), model


def main() -> int:
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--model", default="", help="a model that is here; else random weights")
    made.add_argument("--shape", choices=SHAPES, default="1.5b", help="of the random weights")
    made.add_argument("--cases", type=Path, help="JSON lines with the four edits")
    made.add_argument("--device", default="auto")
    made.add_argument("--weights", default="auto", choices=("auto", "int8", "int4"))
    made.add_argument("--quick", action="store_true", help="two edits, five prompts, no plain peer")
    made.add_argument("--json", action="store_true")
    made.add_argument("--only-start", action="store_true", help=argparse.SUPPRESS)
    options = made.parse_args()
    device = pick_device(options.device)
    engine, model = opened(options, device)
    if options.only_start:
        list(engine.begin([1, 2, 3]))
        engine.forward([3])
        return 0
    result: dict[str, Any] = {"card": engine.info.note, "weights_gb": _gigabytes(model)}
    result["bandwidth_gb_s"] = bandwidth(device) / 1e9
    result["least_ms"] = 1000 * result["weights_gb"] / result["bandwidth_gb_s"]
    result["measuring_s"] = timed(lambda: cost.measure(engine))
    result["pass_ms"] = curve(engine)
    points = [(width, ms / 1000) for width, ms in result["pass_ms"].items()]
    tokenizer: Any = Pieces(engine.info.vocabulary)
    if options.model:
        from specedit.models.vocabulary import load_tokenizer

        tokenizer = load_tokenizer(present(options.model))
    tasks = tasks_of(options.cases, tokenizer, options.quick)
    result["edits"] = rows = []
    for task in tasks:
        for _ in range(2):  # the first run records its graphs
            row = edit(engine, task, Widths(clock=cost.Clock(cost.Curve.of(points))))
        rows.append({"id": task.id, **row})
    if device == "cuda":
        result["peak_gb"] = torch.cuda.max_memory_allocated() / 1e9
    for task, row in zip(tasks, rows, strict=True):
        row["lookup_10_s"], row["lookup_32_s"] = theirs(model, task, 10), theirs(model, task, 32)
        if not options.quick:
            row["plain_s"] = theirs(model, task, 0)
        row["times_lookup"] = min(row["lookup_10_s"], row["lookup_32_s"]) / row["seconds"]
    widths = Widths(clock=cost.Clock(cost.Curve.of(points)))
    count = 5 if options.quick else EQUAL_PROMPTS
    result["prompts"], result["differing"] = count, equality(engine, model, tasks, count, widths)
    if device != "cuda" or not options.model:
        del engine, model
    result["start_s"] = start(options)
    print(json.dumps(result, indent=1) if options.json else shown(result))
    return 0


def _gigabytes(model: Any) -> float:
    return float(sum(one.numel() * one.element_size() for one in model.parameters()) / 1e9)


def shown(result: dict[str, Any]) -> str:
    """The result as a page."""
    lines = [
        f"{result['card']}; weights {result['weights_gb']:.2f} GB over "
        f"{result['bandwidth_gb_s']:.0f} GB/s: {result['least_ms']:.2f} ms at least",
        f"start {result['start_s']:.1f} s, of it measuring {result['measuring_s']:.2f} s; "
        f"peak {result.get('peak_gb', 0):.2f} GB",
        "",
        "| width | " + " | ".join(str(width) for width in result["pass_ms"]) + " |",
        "|---" * (len(result["pass_ms"]) + 1) + "|",
        "| ms | " + " | ".join(f"{ms:.2f}" for ms in result["pass_ms"].values()) + " |",
        "",
        "| edit | ids | seconds (passes) | prompt + table | plain | lookup 10 | 32 | times |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in result["edits"]:
        lines.append(
            f"| {row['id']} | {row['ids']} | {row['seconds']:.2f} ({row['passes']}) "
            f"| {row['prompt_and_table_s']:.2f} | {row.get('plain_s', 0):.1f} "
            f"| {row['lookup_10_s']:.1f} | {row['lookup_32_s']:.1f} | {row['times_lookup']:.1f} |"
        )
    equal = result["prompts"] - len(result["differing"])
    lines += ["", f"equal to transformers' own answer: {equal} of {result['prompts']}"]
    return "\n".join(lines + [f"  differs: {row}" for row in result["differing"]])


if __name__ == "__main__":
    run(main)
