"""The beginning of a sampled answer that is unlike earlier answers to the same request."""

from __future__ import annotations

import random
from collections.abc import Sequence

from specedit.engines.base import Engine, Sampling

WIDTH = 32  # ids of one pass: each returns a row of logits
LEAST_REACHED = 1e-9  # chance of an answer's beginning below which no place after it is looked at


def first_difference(
    engine: Engine, last: int, earlier: Sequence[Sequence[int]], sampling: Sampling
) -> list[int]:
    """The ids of the first of the `earlier` answers up to a place where the model's distribution
    allows another id, and there an id that no earlier answer with the same beginning has. Empty
    where no place allows one.

    The place is sampled, too: an answer that continues from there is a sample of the model's
    distribution, on condition that it leaves the first earlier answer for none of the others.
    `engine` has begun with `audit`; `last` is the prompt's last id. The cache then holds all but
    the last of the ids, as after a pass.
    """
    from specedit.engines.sampling import distribution, sampled

    base, followed = engine.length, earlier[0]
    alike = [ids for ids in earlier if ids]  # the answers that begin as the first one does
    number = random.Random(f"difference {sampling.seed}").random
    reached, total = 1.0, 0.0  # the chance of this beginning; the chances of all differences
    best: tuple[int, int] | None = None
    most = min(len(followed), engine.info.window - base - 1)
    for start in range(0, most, WIDTH):
        fed = [last, *followed][start : min(start + WIDTH, most)]
        rows = engine.forward(fed).rows
        assert rows is not None, "the engine has begun without audit"
        for at, row in enumerate(rows, start):
            chances = distribution(row, sampling)
            follows = float(chances[followed[at]])
            chances[[ids[at] for ids in alike]] = 0.0
            differs = reached * float(chances.sum())
            total += differs
            aims = number(), number()
            if differs > 0 and aims[0] * total < differs:
                best = at, sampled(chances, aims[1])
            reached *= follows
            alike = [ids for ids in alike if ids[at] == followed[at] and len(ids) > at + 1]
        if reached < LEAST_REACHED:
            break
    engine.crop(base if best is None else base + 1 + best[0])
    return [] if best is None else [*followed[: best[0]], best[1]]
