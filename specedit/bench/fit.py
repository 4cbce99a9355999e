"""Fitting the constants of drafting to cases: `specedit replay CASES --fit`.

One half of the cases decides: each constant is moved, first as a whole, then number by number, and
a move that makes the replay cheaper stays. The other half confirms: what was found is kept only
where it is cheaper there as well. Knows replays and constants; knows no tokenizer's insides.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from specedit.bench.cases import Case
from specedit.decode.constants import AMOUNT, CHANCE, Constants, Origin
from specedit.decode.cost import Curve
from specedit.decode.replay import replay

STEPS = (0.6, 0.2)  # of log odds, or of a logarithm: a far move, then a near one
GAIN = 2e-5  # of the price, that a move must save to stay
LOST = 0.002  # of the price so far, from which on a move is given up
LEAST = 8  # cases, before any move is given up

Price = Callable[[Case, Constants], float]


@dataclass(frozen=True)
class Move:
    """One constant, or one number of it, was moved and stayed."""

    name: str
    at: int  # -1: all of it
    seconds: float  # what the deciding half costs now


@dataclass(frozen=True)
class Fit:
    """What a search found; seconds of (the deciding half, the other half)."""

    constants: Constants
    before: tuple[float, float]
    after: tuple[float, float]
    cases: tuple[int, int]

    @property
    def confirmed(self) -> bool:
        return self.after[1] < self.before[1]


def price(tokenizer: Any, end: int, names: Sequence[str], on: Curve) -> Price:
    """Seconds of one case's replay on a curve."""

    ids = cache(tokenizer.encode)

    def seconds(case: Case, constants: Constants) -> float:
        played = replay(
            ids(case.before),
            ids(case.after or ""),
            end,
            codec=tokenizer,
            instruction=ids(case.instruction),
            names=names,
            curve=on,
            constants=constants,
        )
        return played.seconds(on)

    return seconds


def fit(cases: Sequence[Case], constants: Constants, price: Price) -> Iterator[Move | Fit]:
    """The moves that stay, then the Fit. An interrupt ends the search: what was found counts."""
    deciding, other = cases[::2], cases[1::2]
    known = [price(case, constants) for case in deciding]
    before = sum(known), sum(price(case, constants) for case in other)
    best = constants
    for name, at, step in _ways(best):
        moved = move(best, name, at, step)
        if moved == best:
            continue
        try:
            costs = _tried(deciding, moved, price, known)
        except KeyboardInterrupt:
            break
        if costs is not None:
            best, known = moved, costs
            yield Move(name, at, sum(known))
    after = sum(known), sum(price(case, best) for case in other)
    yield Fit(best, before, after, (len(deciding), len(other)))


def _tried(
    cases: Sequence[Case], constants: Constants, price: Price, known: Sequence[float]
) -> list[float] | None:
    """What each case costs, where they are cheaper in all; None as soon as they are not."""
    costs: list[float] = []
    spent = was = 0.0
    for number, (case, cost) in enumerate(zip(cases, known, strict=True), 1):
        costs.append(price(case, constants))
        spent, was = spent + costs[-1], was + cost
        if number >= LEAST and spent > was * (1 + LOST):
            return None
    return costs if spent < was * (1 - GAIN) else None


def _ways(constants: Constants) -> Iterator[tuple[str, int, float]]:
    """Every constant as a whole, then each of its numbers: up and down, far and near."""
    values = {f.name: getattr(constants, f.name) for f in fields(constants)}
    whole = [(name, -1) for name in values]
    parts = [(n, at) for n, v in values.items() if isinstance(v, tuple) for at in range(len(v))]
    for step in STEPS:
        for name, at in whole + parts:
            yield name, at, step
            yield name, at, -step


def move(constants: Constants, name: str, at: int, way: float) -> Constants:
    """One constant (or its number `at`) moved by `way`, rounded to three digits."""
    kind = next(f.metadata["kind"] for f in fields(constants) if f.name == name)
    value: Any = getattr(constants, name)
    if isinstance(value, tuple):
        value = tuple(_moved(v, kind, way) if at in (-1, n) else v for n, v in enumerate(value))
    else:
        value = _moved(value, kind, way)
    return replace(constants, **{name: value})


def _moved(value: float, kind: str, way: float) -> float:
    if kind == CHANCE:
        if value <= 0:
            return value  # never, and that is a rule
        value = 1 / (1 + math.exp(-(math.log(value / (1 - value)) + way)))
        return min(float(f"{value:.3g}"), 0.999) if value > 0.9 else float(f"{value:.3g}")
    value = value * math.exp(way) if kind == AMOUNT else value + way
    return float(f"{value:.3g}")


HEAD = '''\
"""Constants that were fitted to data, each with the data and the date it came from.

`specedit replay CASES --fit` writes this file; `decode.constants` says what they mean.
"""

from __future__ import annotations

from specedit.decode.constants import Constants, Origin

'''


def table(fit: Fit) -> str:
    """What both halves cost, before and after."""
    lines = []
    for half, cases, before, after in zip(
        ("deciding", "other"), fit.cases, fit.before, fit.after, strict=True
    ):
        saved = f"{after / before - 1:+.2%}" if before else ""
        lines.append(
            f"{half:>8} half  {cases:>4} cases {before:>9.2f} s -> {after:>9.2f} s {saved}"
        )
    return "\n".join(lines)


def origins(old: Mapping[str, Origin], fit: Fit, was: Constants, now: Origin) -> dict[str, Origin]:
    """Where each constant comes from, those that the fit moved from `now`."""
    moved = {f.name for f in fields(was) if getattr(was, f.name) != getattr(fit.constants, f.name)}
    return {name: now if name in moved else origin for name, origin in old.items()}


def module(constants: Constants, origins: Mapping[str, Origin]) -> str:
    """The file `decode/fitted.py` that holds them."""
    lines = ["FITTED = Constants("]
    for one in fields(constants):
        lines += _argument(one.name, getattr(constants, one.name))
    lines += [")", "", "ORIGINS = {"]
    for one in fields(constants):
        origin = origins[one.name]
        lines.append(f'    "{one.name}": Origin({json.dumps(origin.data)}, "{origin.date}"),')
    return HEAD + "\n".join([*lines, "}", ""])


def _argument(name: str, value: float | tuple[float, ...]) -> list[str]:
    if not isinstance(value, tuple):
        return [f"    {name}={value!r},"]
    line = f"    {name}=({', '.join(map(repr, value))}),"
    if len(line) <= 100:
        return [line]
    return [f"    {name}=(", *(f"        {one!r}," for one in value), "    ),"]
