"""How often two engines choose alike, and how surprised each is by real text.

Knows logits and targets, teacher-forced: every position sees the real text before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specedit.engines.exact.engine import ExactEngine

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
        for at in range(0, len(ids) - 1, 256):
            end = min(at + 256, len(ids) - 1)
            with torch.inference_mode():
                hidden = engine.model.read(ids[at:end], engine.cache)
                assert hidden is not None
                parts, factor = engine.model.logits(hidden)
                logits = torch.cat([part * factor for part in parts], -1)
            found += _judge(logits, ids[at + 1 : end + 1])
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
