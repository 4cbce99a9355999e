"""Fit the constants of drafting to cases: prints new values for `specedit/decode/constants.py`.

    python -m benchmarks.fit commits.jsonl

One half of the cases decides: each constant is moved, first as a whole, then number by number, and
a move that makes the replay cheaper stays. The other half confirms: values are printed only if the
replay is cheaper there as well. Ctrl-C ends the search, and what it found counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from benchmarks.common import parser, part, resolved, run
from benchmarks.replay import curve_of, replay, tokenizer_of
from benchmarks.speed.cases import Case, read_cases
from specedit.decode import constants as current
from specedit.decode.constants import FITTED, Constants
from specedit.decode.cost import Curve
from specedit.errors import UsageError
from specedit.inference.reader import answer_ending

STEPS = (0.6, 0.2)  # of log odds, or of a logarithm: a far move, then a near one
GAIN = 2e-5  # of the price, that a move must save to stay
LOST = 0.002  # of the price so far, from which on a move is given up
LEAST = 8  # cases, before any move is given up

CHANCE, AMOUNT, ODDS = "chance", "amount", "odds"  # in (0, 1); above 0; any number
KINDS = {
    **dict.fromkeys((field.name for field in fields(Constants)), CHANCE),
    **dict.fromkeys(("foreseen", "learned_words", "asked_words", "context_rule"), AMOUNT),
    **dict.fromkeys(("overhead", "inertia"), AMOUNT),
    **dict.fromkeys(("start", "held", "forward", "behind"), ODDS),
    **dict.fromkeys(("occurrences", "since", "fresh_line"), ODDS),
}

Price = Callable[[Case, Constants], float]


@dataclass(frozen=True)
class Move:
    """One constant, or one number of it, was moved and stayed."""

    name: str
    at: int  # -1: all of it
    seconds: float  # what the deciding half costs now


@dataclass(frozen=True)
class Fit:
    """The result of a search; seconds of (the deciding half, the other half)."""

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
        current.FITTED = constants  # what the drafters read
        return replay(
            ids(case.before),
            ids(case.after or ""),
            end,
            codec=tokenizer,
            instruction=ids(case.instruction),
            names=names,
            curve=on,
        ).seconds(on)

    return seconds


def fit(cases: Sequence[Case], constants: Constants, price: Price) -> Iterator[Move | Fit]:
    """The moves that stay, then the Fit."""
    deciding, other = cases[::2], cases[1::2]
    known = [price(case, constants) for case in deciding]
    before = sum(known), sum(price(case, constants) for case in other)
    best = constants
    for name, at, step in _moves(best):
        moved = move(best, name, at, step)
        if moved == best:
            continue
        try:
            costs = _costs(deciding, moved, price, known)
        except KeyboardInterrupt:
            break
        if costs is not None:
            best, known = moved, costs
            yield Move(name, at, sum(known))
    after = sum(known), sum(price(case, best) for case in other)
    yield Fit(best, before, after, (len(deciding), len(other)))


def _costs(
    cases: Sequence[Case], constants: Constants, price: Price, known: Sequence[float]
) -> list[float] | None:
    """The cost of each case, where they are cheaper in all; None as soon as they are not."""
    costs: list[float] = []
    spent = before = 0.0
    for number, (case, cost) in enumerate(zip(cases, known, strict=True), 1):
        costs.append(price(case, constants))
        spent, before = spent + costs[-1], before + cost
        if number >= LEAST and spent > before * (1 + LOST):
            return None
    return costs if spent < before * (1 - GAIN) else None


def _moves(constants: Constants) -> Iterator[tuple[str, int, float]]:
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
    kind = KINDS[name]
    value: Any = getattr(constants, name)
    if isinstance(value, tuple):
        value = tuple(_moved(v, kind, way) if at in (-1, n) else v for n, v in enumerate(value))
    else:
        value = _moved(value, kind, way)
    return replace(constants, **{name: value})


def _moved(value: float, kind: str, way: float) -> float:
    if kind == CHANCE:
        if value <= 0:
            return value  # 0 is a rule: never
        value = 1 / (1 + math.exp(-(math.log(value / (1 - value)) + way)))
        return min(float(f"{value:.3g}"), 0.999) if value > 0.9 else float(f"{value:.3g}")
    value = value * math.exp(way) if kind == AMOUNT else value + way
    return float(f"{value:.3g}")


def table(found: Fit) -> str:
    """The cost of both halves, before and after."""
    lines = []
    halves = zip(("deciding", "other"), found.cases, found.before, found.after, strict=True)
    for half, cases, before, after in halves:
        saved = f"{after / before - 1:+.2%}" if before else ""
        lines.append(
            f"{half:>8} half  {cases:>4} cases {before:>9.2f} s -> {after:>9.2f} s {saved}"
        )
    return "\n".join(lines)


def fitted_to(cases: Sequence[Case], price: Price, was: Constants) -> Fit:
    """Search, and print the values where the other half confirms them."""
    if len(cases) < 2:
        raise UsageError("At least two cases: one half decides, the other confirms.")
    for step in fit(cases, was, price):
        if isinstance(step, Move):
            print(f"{step.seconds:9.2f} s  {step.name}")
        else:
            result = step
    print(table(result))
    if not result.confirmed:
        print("not confirmed")
        return result
    for field in fields(was):
        if (value := getattr(result.constants, field.name)) != getattr(was, field.name):
            print(f"{field.name} = {value!r}")
    return result


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--curve", default="70+6w", help="milliseconds of a pass of width w")
    options = made.parse_args()
    settings = resolved(options)
    tokenizer = tokenizer_of(settings)
    (end,) = answer_ending("", tokenizer)
    names = [name.strip() for name in settings.draft.split(",")]
    costs = price(tokenizer, end, names, curve_of(options.curve))
    cases = part(read_cases(options.cases, "after"), options)
    fitted_to(cases, costs, FITTED)
    return 0


if __name__ == "__main__":
    run(main)
