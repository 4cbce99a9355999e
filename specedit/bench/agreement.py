"""How often the exact engine chooses as bf16 does, and how surprised each is by real text.

Knows logits and targets, teacher-forced: every position sees the real text before it.
"""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.bench import engine as engines
from specedit.errors import InputError
from specedit.models.resolve import present
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.engines.exact.engine import ExactEngine

LENGTH = 1700  # tokens of each file that are read
Judged = list[tuple[int, float]]  # per position: the choice, and the loss on the next id


def _judge(logits: Any, targets: Sequence[int]) -> Judged:
    import torch

    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(targets), reduction="none")
    return list(zip(logits.argmax(-1).tolist(), loss.tolist(), strict=True))


def judged_by_bf16(model: Any, rows: list[list[int]]) -> Iterator[Judged]:
    import torch

    for ids in rows:
        with torch.inference_mode():
            hidden = model.model(torch.tensor([ids])).last_hidden_state[0]
            found: Judged = []
            for at in range(0, len(ids) - 1, 256):
                end = min(at + 256, len(ids) - 1)
                found += _judge(model.lm_head(hidden[at:end]).float(), ids[at + 1 : end + 1])
        yield found


def judged_by_exact(engine: ExactEngine, rows: list[list[int]]) -> Iterator[Judged]:
    import torch

    for ids in rows:
        found: Judged = []
        engine.swap(engine.new_cache())
        for _ in engine.begin(ids[:1], audit=True):
            pass
        for at in range(0, len(ids) - 1, 256):
            end = min(at + 256, len(ids) - 1)
            logits = engine.forward(ids[at:end]).rows
            assert logits is not None
            whole = torch.frombuffer(bytearray(b"".join(logits)), dtype=torch.float32)
            found += _judge(whole.view(end - at, -1), ids[at + 1 : end + 1])
        yield found


def agreement(mine: Judged, other: Judged) -> dict[str, float]:
    count = len(mine)
    losses = [sum(loss for _, loss in side) / count for side in (mine, other)]
    return {
        "tokens": count,
        "agreement": sum(a == b for (a, _), (b, _) in zip(mine, other, strict=True)) / count,
        "perplexity": math.exp(losses[0]),
        "perplexity_bf16": math.exp(losses[1]),
        "ratio": math.exp(losses[0] - losses[1]),
    }


def measure(
    settings: Settings, files: Sequence[Path], threads: int, said: Callable[[str], None]
) -> dict[str, Any]:
    """Both engines over the first `LENGTH` tokens of each file: by file, and in all."""
    from specedit.models.vocabulary import load_tokenizer

    options = Namespace(model=settings.model, threads=threads, precision=settings.precision)
    tokenizer = load_tokenizer(present(settings.model))
    rows = [tokenizer.encode(_text(path))[:LENGTH] for path in files]
    for path, ids in zip(files, rows, strict=True):
        if len(ids) < 2:
            raise InputError(f"{path} holds too little text to compare choices.")
    said("reading with bf16")
    theirs = list(judged_by_bf16(engines.reference(options), rows))
    said("reading with the exact engine")
    ours = list(judged_by_exact(engines.open_engine(options), rows))
    per = [agreement(mine, other) for mine, other in zip(ours, theirs, strict=True)]
    total = agreement([j for m in ours for j in m], [j for o in theirs for j in o])
    names = [str(path) for path in files]
    return {"files": dict(zip(names, per, strict=True)), "total": total}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: {problem}") from problem
