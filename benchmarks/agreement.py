"""How often the exact engine chooses as bf16 does, and both perplexities, on real text.

    python -m benchmarks.agreement FILE... --set model=qwen2.5-coder-1.5b

Teacher-forced: every position sees the real text before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.common import parser, resolved, run
from specedit.engines.exact.engine import ExactEngine, open_exact

LENGTH = 1700  # tokens of each file
PART = 256  # positions of one pass
Judged = list[tuple[int, float]]  # per position: the choice, and the loss on the next id


def _judged(logits: torch.Tensor, targets: Sequence[int]) -> Judged:
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(targets), reduction="none")
    return list(zip(logits.argmax(-1).tolist(), loss.tolist(), strict=True))


@torch.inference_mode()
def judged_by_bf16(model: Any, texts: Sequence[list[int]]) -> Iterator[Judged]:
    for ids in texts:
        hidden = model.model(torch.tensor([ids])).last_hidden_state[0]
        found: Judged = []
        for at in range(0, len(ids) - 1, PART):
            end = min(at + PART, len(ids) - 1)
            found += _judged(model.lm_head(hidden[at:end]).float(), ids[at + 1 : end + 1])
        yield found


def judged_by_exact(engine: ExactEngine, texts: Sequence[list[int]]) -> Iterator[Judged]:
    for ids in texts:
        found: Judged = []
        engine.swap(engine.new_cache())
        for _ in engine.begin(ids[:1], audit=True):
            pass
        for at in range(0, len(ids) - 1, PART):
            end = min(at + PART, len(ids) - 1)
            logits = engine.forward(ids[at:end]).rows
            assert logits is not None
            rows = torch.frombuffer(bytearray(b"".join(logits)), dtype=torch.float32)
            found += _judged(rows.view(end - at, -1), ids[at + 1 : end + 1])
        yield found


def agreement(mine: Judged, other: Judged) -> dict[str, float]:
    losses = [sum(loss for _, loss in side) / len(side) for side in (mine, other)]
    same = sum(a == b for (a, _), (b, _) in zip(mine, other, strict=True))
    return {
        "tokens": len(mine),
        "agreement": same / len(mine),
        "perplexity": math.exp(losses[0]),
        "perplexity_bf16": math.exp(losses[1]),
        "ratio": math.exp(losses[0] - losses[1]),
    }


def main() -> int:
    from benchmarks.speed.peers.transformers import reference
    from specedit.models.resolve import present
    from specedit.models.store import store_path
    from specedit.models.vocabulary import load_tokenizer

    made = parser(__doc__, cases=False)
    made.add_argument("files", type=Path, nargs="+", metavar="FILE")
    made.add_argument("--precision", choices=("balanced", "close"), default="balanced")
    options = made.parse_args()
    settings = resolved(options)
    files = present(settings.model)
    encode = load_tokenizer(files).encode
    texts = [encode(path.read_text("utf-8"))[:LENGTH] for path in options.files]
    theirs = list(judged_by_bf16(reference(settings.model), texts))
    engine = open_exact(
        files, store=store_path(), precision=options.precision, weights=settings.weights
    )
    ours = list(judged_by_exact(engine, texts))
    pairs = {str(p): (a, b) for p, a, b in zip(options.files, ours, theirs, strict=True)}
    pairs["all"] = ([j for our in ours for j in our], [j for their in theirs for j in their])
    print("   tokens  same choice  perplexity  of bf16   ratio  file")
    for name, (mine, other) in pairs.items():
        one = agreement(mine, other)
        print(
            f"{one['tokens']:9} {one['agreement']:12.2%} {one['perplexity']:11.3f}"
            f" {one['perplexity_bf16']:8.3f} {one['ratio']:7.4f}  {name}"
        )
    return 0


if __name__ == "__main__":
    run(main)
