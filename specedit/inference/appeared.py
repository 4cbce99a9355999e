"""How many ids of a prediction appear in a completion, as OpenAI's usage fields count them."""

from __future__ import annotations

from collections.abc import Sequence

from specedit.engines.base import common


def appeared(prediction: Sequence[int], completion: Sequence[int]) -> int:
    """How many of the prediction's ids appear in the completion, in order: the longest common
    subsequence. A shared beginning and end cost nothing; the middle is one row of bits per
    distinct id of the shorter side, walked once over the longer."""
    start, most = common(prediction, completion), min(len(prediction), len(completion))
    end = 0
    while end < most - start and prediction[-1 - end] == completion[-1 - end]:
        end += 1
    middle = (
        prediction[start : len(prediction) - end],
        completion[start : len(completion) - end],
    )
    short, long = sorted(middle, key=len)
    return start + end + _longest_common(short, long)


def _longest_common(short: Sequence[int], long: Sequence[int]) -> int:
    """Crochemore and others, 2001: a zero bit per matched position of `short`."""
    positions: dict[int, int] = {}
    in_long = set(long)
    for at, token in enumerate(short):
        if token in in_long:
            positions[token] = positions.get(token, 0) | (1 << at)
    every = (1 << len(short)) - 1
    row = every
    for token in long:
        if bits := positions.get(token):
            hit = row & bits
            row = ((row + hit) | (row - hit)) & every
    return len(short) - row.bit_count()
