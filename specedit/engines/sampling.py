"""A choice from one row of logits.

Knows temperature, top-p and a counter-based generator. Does not know the model. A row's choice
depends on (seed, position, row) alone: never on which rows stood beside it in the pass.
"""

from __future__ import annotations

import hashlib
import struct

import torch

from specedit.engines.base import Sampling

CANDIDATES = 1024  # tried first; the whole vocabulary is sorted only when these do not reach top-p


def uniform(seed: int, position: int) -> float:
    """A number in [0, 1) that belongs to this seed and position."""
    key = struct.pack("<qq", seed, position)
    number: int = struct.unpack("<Q", hashlib.blake2b(key, digest_size=8).digest())[0]
    return (number >> 11) / (1 << 53)


def choose(row: torch.Tensor, sampling: Sampling, position: int) -> int:
    """The id chosen from a float32 row of logits for `position`; the lowest id wins a tie."""
    if sampling.temperature <= 0:
        return int(row.argmax())
    # sums run in float64 and one after another, so the thread count cannot change them
    weight = ((row.double() - row.max().double()) / sampling.temperature).exp_()
    aim = uniform(sampling.seed, position)
    if sampling.top_p >= 1:
        return _pick(weight.cumsum(0), aim)
    total = float(weight.cumsum(0)[-1])
    order = _descending(weight, CANDIDATES)
    reach = weight[order].cumsum(0)
    if float(reach[-1]) < sampling.top_p * total:
        order = _descending(weight, weight.numel())
        reach = weight[order].cumsum(0)
    kept = int(torch.searchsorted(reach, sampling.top_p * total)) + 1
    return int(order[_pick(reach[:kept], aim)])


def _pick(reach: torch.Tensor, aim: float) -> int:
    """The first index whose cumulated weight is beyond `aim` of the last."""
    target = torch.tensor(aim * float(reach[-1]), dtype=torch.float64)
    return min(int(torch.searchsorted(reach, target, right=True)), reach.numel() - 1)


def _descending(weight: torch.Tensor, count: int) -> torch.Tensor:
    """Ids by falling weight, ties by rising id; at least `count` of them."""
    count = min(count, weight.numel())
    least = weight.topk(count).values[-1]
    ids = (weight >= least).nonzero().view(-1)
    return ids[torch.sort(weight[ids], descending=True, stable=True).indices]
