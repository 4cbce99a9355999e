"""A choice from one row of logits, and probabilities for drafting.

Temperature, top-p and a counter-based generator. A choice depends on (seed, position, row) alone,
never on the other rows of a pass. An imprecise probability of a draft costs time and never changes
an id (`likeliest`), so its sums may run in any order.

With `--sampling rejection` (`settle`), samples of a draft model are accepted so that the
distribution of the answer does not change: a sample x from q is accepted with probability
min(1, p(x) / q(x)), where p is the target's distribution. If it is rejected, the choice is sampled
from the part of p above q (Leviathan et al., Chen et al., 2023). Ids of a tree that were not
sampled need no rule: a sample from p either is one of them or is not.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from specedit.engines.base import SampledIds, Sampling

CANDIDATES = 1024  # tried first; the whole vocabulary is sorted only when these do not reach top-p


def uniform(seed: int, position: int) -> float:
    """The number in [0, 1) of this seed and position."""
    key = struct.pack("<qq", seed, position)
    number: int = struct.unpack("<Q", hashlib.blake2b(key, digest_size=8).digest())[0]
    return (number >> 11) / (1 << 53)


Numbers = npt.NDArray[np.float64]


def choose(
    row: npt.NDArray[np.float32] | memoryview | bytes, sampling: Sampling, position: int
) -> int:
    """The id chosen from a float32 row of logits for `position`; the lowest id wins a tie."""
    logits = np.frombuffer(row, np.float32)
    if sampling.temperature <= 0:
        return int(logits.argmax())
    # sums run in float64 and one after another, so no number of threads can change them
    wide = logits.astype(np.float64)
    weight = np.exp((wide - wide.max()) / sampling.temperature)
    aim = uniform(sampling.seed, position)
    if sampling.top_p >= 1:
        return _pick(weight.cumsum(), aim)
    order, reach = _kept(weight, sampling.top_p)
    return int(order[_pick(reach, aim)])


def second_best(row: npt.NDArray[np.float32] | memoryview | bytes) -> int:
    """The id of the second largest logit; the lowest id wins a tie."""
    logits = np.array(np.frombuffer(row, np.float32))
    logits[logits.argmax()] = -np.inf
    return int(logits.argmax())


def distribution(row: npt.NDArray[np.float32] | memoryview | bytes, sampling: Sampling) -> Numbers:
    """The probability of each id, by temperature and top-p."""
    wide = np.frombuffer(row, np.float32).astype(np.float64)
    weight: Numbers = np.exp((wide - wide.max()) / sampling.temperature)
    if sampling.top_p < 1:
        order, _ = _kept(weight, sampling.top_p)
        all_of = weight
        weight = np.zeros_like(all_of)
        weight[order] = all_of[order]
    weight /= weight.sum()
    return weight


def sampled(probabilities: Numbers, aim: float) -> int:
    """The id at a number in [0, 1) of the cumulated probabilities."""
    return _pick(probabilities.cumsum(), aim)


def _kept(weight: Numbers, top_p: float) -> tuple[npt.NDArray[np.intp], Numbers]:
    """The likeliest ids that make up that share, and their cumulated weights."""
    total = float(weight.cumsum()[-1])
    order = _descending(weight, CANDIDATES)
    reach = weight[order].cumsum()
    if float(reach[-1]) < top_p * total:
        order = _descending(weight, weight.size)
        reach = weight[order].cumsum()
    kept = int(np.searchsorted(reach, top_p * total)) + 1
    return order[:kept], reach[:kept]


def _pick(reach: Numbers, aim: float) -> int:
    """The first index whose cumulated weight is beyond `aim` of the last."""
    return min(int(np.searchsorted(reach, aim * float(reach[-1]), side="right")), reach.size - 1)


def _descending(weight: Numbers, count: int) -> npt.NDArray[np.intp]:
    """Ids by falling weight, ties by rising id; at least `count` of them."""
    count = min(count, weight.size)
    least = np.partition(weight, weight.size - count)[weight.size - count]
    ids = np.flatnonzero(weight >= least)
    return ids[np.argsort(-weight[ids], kind="stable")]


def likeliest(
    row: Any,
    temperature: float,
    chosen: int,
    count: int,
    also: Sequence[int] = (),
    among: Any = None,
) -> list[tuple[int, float]]:
    """The chosen id with its probability, then the `count` - 1 likeliest others, then those of
    `also` that are not among them. `among`: the ids that the row has logits of, in its order."""
    if among is not None:
        places = among.places
        others = [places[id] for id in also if id in places]
        results = likeliest(row, temperature, places[chosen], count, others)
        return [(among.ids[place], chance) for place, chance in results]
    logits = np.frombuffer(row, np.float32)
    most = float(logits.max())
    scaled = logits - most
    if temperature > 0:
        scaled /= temperature
    np.exp(scaled, out=scaled)
    scaled /= scaled.sum()
    results = [(chosen, float(scaled[chosen]))]
    if count > 1:
        near = min(count, scaled.size - 1)
        ids = np.argpartition(scaled, scaled.size - near - 1)[-near - 1 :]
        ranked = ids[np.argsort(-scaled[ids], kind="stable")]
        results += [(int(id), float(scaled[id])) for id in ranked if id != chosen][: count - 1]
    listed = {id for id, _ in results}
    results += [(id, float(scaled[id])) for id in also if id not in listed and id < scaled.size]
    return results


def accepts(target: float, draft: float, noise: float) -> bool:
    """Whether a sample is accepted: its probability under both models, a number in [0, 1)."""
    return noise * draft < target


def settle(
    ids: Sequence[int],
    parents: Sequence[int] | None,
    rows: Sequence[Any],
    samples: Sequence[SampledIds],
    sampling: Sampling,
    noise: Callable[[], float],
) -> tuple[list[int], list[int]]:
    """The accepted rows of a pass, and the choice after each of them.

    Every sample at a position that is reached is tested, whether or not it was offered: the value
    of a sample must not decide whether it is tested."""
    above = range(-1, len(ids) - 1) if parents is None else parents
    children: dict[tuple[int, int], int] = {}
    for row in range(1, len(ids)):
        children.setdefault((above[row], ids[row]), row)
    path, at = [0], 0
    tokens: list[int] = []
    live = list(samples)
    while True:
        depth = len(tokens)
        live = [tried for tried in live if len(tried.ids) > depth]
        token = _choice(distribution(rows[at], sampling), live, depth, noise)
        tokens.append(token)
        live = [tried for tried in live if tried.ids[depth] == token]
        child = children.get((at, token))
        if child is None:
            return path, tokens
        path.append(child)
        at = child


def _choice(
    target: Numbers, live: Sequence[SampledIds], depth: int, noise: Callable[[], float]
) -> int:
    for tried in live:
        token, draft = tried.ids[depth], tried.distributions[depth]
        size = min(target.size, draft.size)  # padding of a vocabulary has probability 0
        probability = float(target[token]) if token < target.size else 0.0
        if accepts(probability, float(draft[token]), noise()):
            return token
        rest = target.copy()
        rest[:size] = np.maximum(rest[:size] - draft[:size], 0.0)
        total = float(rest.sum())
        if total <= 0.0:  # the two distributions are equal up to rounding
            return token
        target = rest / total
    return sampled(target, noise())
