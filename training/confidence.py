"""Fit how likely an edit is right to answers that were checked, and write `confidence.json`.

    python -m benchmarks.edits DATA --half even --out edits.jsonl
    python -m benchmarks.quality editeval.jsonl --half even --out tests.jsonl
    python -m training.states edits.jsonl tests.jsonl --out answers.jsonl
    python -m training.confidence answers.jsonl --model qwen2.5-coder-1.5b --write

Each line of an input is an answer: `signals` as the Python API gives them, `passed` or `verdict`,
`state` as `training.states` adds it, and perhaps `group` (answers about one file are never split).
An answer that the checks refuse teaches the direction of the states only.

The direction is a ridge regression on the states, scaled to length 1; the fit is logistic, with a
penalty on the weights. Each group counts once, whatever its number of answers. What is printed is
measured on groups that neither saw: the area under the curve, next to those of the signals without
the review, of the log-probability and of the size of the change, the calibration error, and for
several thresholds how many of the right and of the wrong answers are called sure. The threshold
that is written is the lowest one with which at most WRONG of all answers are wrong and called sure.
"""

from __future__ import annotations

import argparse
import json
import random
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from specedit.edit import fitted
from specedit.edit.confidence import SIGNALS

PENALTY = 3.0  # on the weights of signals of unit variance
RIDGE = 10_000.0  # on the direction, for states whose numbers have a mean square of 1
FOLDS, INNER, ROUNDS = 10, 5, 3
WRONG = 0.04  # of all answers, wrong and called sure; on other data it is more
STEPS = 50
Table = dict[str, Any]
OWN = len(SIGNALS) - 1  # signals before the review


def answers(paths: Sequence[Path]) -> list[Table]:
    """The answers with a state. `x`: the signals, None where a check refuses the answer."""
    rows = []
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            if "state" not in row:
                continue
            written = row.get("signals") and row.get("status") in ("would-edit", "edited")
            state = np.frombuffer(b64decode(row["state"]), np.float16).astype(np.float64)
            rows.append(
                {
                    "x": row["signals"][:OWN] if written else None,
                    "state": state / np.sqrt(np.mean(state**2)),
                    "right": bool(row["passed"] if "passed" in row else row["verdict"] == "right"),
                    "size": row.get("added", 0) + row.get("removed", 0),
                    "group": f"{path.stem} {row.get('group', row['id'])}",
                }
            )
    return rows


class Answers:
    """All answers as arrays."""

    def __init__(self, rows: Sequence[Table]) -> None:
        self.groups = np.array([row["group"] for row in rows])
        count = Counter(self.groups.tolist())
        self.weight = np.array([1 / count[group] for group in self.groups.tolist()])
        self.right = np.array([float(row["right"]) for row in rows])
        self.written = np.array([row["x"] is not None for row in rows])
        self.x = np.array([row["x"] or [0.0] * OWN for row in rows])
        self.states = np.array([row["state"] for row in rows])
        self.size = np.array([row["size"] for row in rows])
        self._products = self.states @ self.states.T

    def held(self, seed: int, folds: int, among: Any) -> Iterator[Any]:
        """Masks of the groups that a fit does not see, fold by fold."""
        names = sorted(set(self.groups[among].tolist()))
        random.Random(seed).shuffle(names)
        for fold in range(folds):
            yield among & np.isin(self.groups, names[fold::folds])

    def shares(self, seen: Any) -> tuple[Any, Any, Any]:
        """A ridge regression on the states of some answers: the share of each of these answers in
        the direction, their mean weights, and the direction's own middle."""
        at = np.flatnonzero(seen)
        mean = self.weight[at] / self.weight[at].sum()
        products = self._products[np.ix_(at, at)]
        row = products @ mean
        centred = products - row[:, None] - row[None, :] + mean @ row
        off = self.right[at] - mean @ self.right[at]
        alpha = np.linalg.solve(centred + RIDGE * np.diag(1 / self.weight[at]), off)
        return at, alpha - alpha.sum() * mean, mean

    def views(self, seen: Any, wanted: Any) -> Any:
        """The wanted answers' scores along the direction that others give."""
        at, shares, mean = self.shares(seen)
        length = np.sqrt(shares @ self._products[np.ix_(at, at)] @ shares)
        rows = self._products[np.ix_(np.flatnonzero(wanted), at)]
        middle = mean @ self._products[np.ix_(at, at)] @ shares
        return (rows @ shares - middle) / length

    def unseen_views(self, seen: Any, seed: int) -> Any:
        """Scores of these answers, each along a direction that its group has no part in."""
        scores = np.zeros(len(self.right))
        for held in self.held(seed, INNER, seen):
            scores[held] = self.views(seen & ~held, held)
        return scores


def fit(x: Any, y: Any, weight: Any) -> tuple[Any, float]:
    """Weights and bias of a logistic regression, for signals as they are."""
    mean, deviation = x.mean(0), x.std(0)
    deviation[deviation == 0] = 1.0
    scaled = np.hstack([(x - mean) / deviation, np.ones((len(x), 1))])
    penalty = np.diag([PENALTY] * x.shape[1] + [1e-6])
    w = np.zeros(scaled.shape[1])
    for _ in range(STEPS):  # Newton's method
        chance = 1 / (1 + np.exp(-scaled @ w))
        gradient = scaled.T @ (weight * (chance - y)) + penalty @ w
        curvature = (scaled * (weight * chance * (1 - chance))[:, None]).T @ scaled + penalty
        w -= np.linalg.solve(curvature, gradient)
    weights = w[:-1] / deviation
    return weights, float(w[-1] - (weights * mean).sum())


def unseen(given: Answers, seed: int, *, reviewed: bool) -> Any:
    """Each answer's chance by a fit to other groups."""
    chances = np.zeros(len(given.right))
    everything = np.ones(len(given.right), bool)
    for held in given.held(seed, FOLDS, everything):
        x = given.x
        if reviewed:
            views = given.unseen_views(~held, seed)
            views[held] = given.views(~held, held)
            x = np.hstack([x, views[:, None]])
        seen = given.written & ~held
        weights, bias = fit(x[seen], given.right[seen], given.weight[seen])
        chances[held] = 1 / (1 + np.exp(-(x[held] @ weights + bias)))
    return chances


def area(scores: Any, right: Any, weight: Any) -> float:
    """The area under the curve: how often a right answer scores above a wrong one."""
    good, bad = right == 1, right == 0
    above = (scores[good][:, None] > scores[bad]) + 0.5 * (scores[good][:, None] == scores[bad])
    pairs = weight[good][:, None] * weight[bad]
    return float((above * pairs).sum() / pairs.sum())


def calibration_error(chances: Any, right: Any, bins: int = 8) -> float:
    """The mean distance between chance and share of right answers, over bins of equal size."""
    parts = np.array_split(np.argsort(chances), bins)
    return float(sum(abs((chances[part] - right[part]).sum()) for part in parts) / len(right))


def threshold(chances: Any, right: Any, weight: Any, asked: float) -> float:
    """The lowest chance from which on at most WRONG of all answers are wrong."""
    order = np.argsort(-chances)
    wrong = np.cumsum((weight * (1 - right))[order])
    beyond = np.flatnonzero(wrong > WRONG * asked)
    return float(chances[order][beyond[0]] + 1e-6) if len(beyond) else 0.0


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    made.add_argument("answers", nargs="+", type=Path)
    made.add_argument("--model", default="qwen2.5-coder-1.5b")
    made.add_argument("--weights", default="int8")
    made.add_argument("--write", action="store_true", help="change confidence.json")
    options = made.parse_args()
    given = Answers(answers(options.answers))
    chances = sum(unseen(given, seed, reviewed=True) for seed in range(ROUNDS)) / ROUNDS
    plain = sum(unseen(given, seed, reviewed=False) for seed in range(ROUNDS)) / ROUNDS
    own, right, weight = given.written, given.right, given.weight
    asked = weight.sum()
    print(f"{len(right)} answers to {asked:.0f} tasks, of these {own.sum()} that can be written")
    for name, scores in (
        ("fit", chances),
        ("without the review", plain),
        ("log-probability", -given.x[:, 0]),
        ("size", -given.size),
    ):
        value = area(scores[own], right[own], weight[own])
        print(f"area under the curve, {name}: {value:.3f}")
    print(f"calibration error: {calibration_error(chances[own], right[own]):.3f}")
    sure = threshold(chances[own], right[own], weight[own], asked)
    for limit in sorted({sure, 0.4, 0.5, 0.6, 0.7, 0.8}):
        kept = own & (chances >= limit)
        good, all_good = (weight * right)[kept].sum(), (weight * right)[own].sum()
        bad = (weight * (1 - right))[kept].sum()
        print(
            f"sure from {limit:.3f}: {good / all_good:.0%} of the right ones, "
            f"{bad / asked:.1%} of all are wrong and sure"
        )
    everything = np.ones(len(right), bool)
    views = sum(given.unseen_views(everything, seed) for seed in range(ROUNDS)) / ROUNDS
    x = np.hstack([given.x, views[:, None]])
    weights, bias = fit(x[own], right[own], weight[own])
    for name, value in zip(SIGNALS, weights, strict=True):
        print(f"{name:14} {value:8.3f}")
    if options.write:
        at, shares, mean = given.shares(everything)
        direction = shares @ given.states[at]
        middle = float(mean @ (given.states[at] @ direction) / np.linalg.norm(direction))
        review = direction / np.linalg.norm(direction)
        write(options.model, options.weights, weights.tolist(), bias, sure, review, middle)
    return 0


def write(
    model: str,
    kind: str,
    weights: Sequence[float],
    bias: float,
    sure: float,
    direction: Any,
    middle: float,
) -> None:
    """Add a model's fit to the file that is shipped."""
    from specedit.models import catalogue

    entry = catalogue.find(model)
    if entry is None or not entry.sha256:
        raise SystemExit(f"{model} is not a row of the catalogue with a digest")
    data = json.loads(fitted.PATH.read_text("utf-8"))
    models = data["models"] if data["signals"] == list(SIGNALS) else {}
    step = np.abs(direction).max() / 127
    models[f"{entry.sha256[:16]}-{kind}"] = {
        "bias": round(bias, 4),
        "weights": [round(weight, 4) for weight in weights],
        "sure": round(sure, 3),
        "direction": b64encode(np.round(direction / step).astype(np.int8).tobytes()).decode(),
        "scale": round(float(step * np.sqrt(len(direction))), 8),  # a state has the length 1 there
        "middle": round(middle, 5),
    }
    text = json.dumps({"signals": list(SIGNALS), "models": models}, indent=1)
    fitted.PATH.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
