"""Fit how likely an edit is right to answers that were checked, and write `confidence.json`.

    python -m benchmarks.edits DATA --half even --out edits.jsonl
    python -m benchmarks.quality editeval.jsonl --half even --out tests.jsonl
    python -m training.confidence edits.jsonl tests.jsonl --model qwen2.5-coder-1.5b --write

Each line of an input is an answer: `signals` as the Python API gives them, `passed` or `verdict`,
and perhaps `group` (answers about one file are never split). The fit is logistic, with a penalty on
the weights. What is printed is measured on groups that the fit did not see: the area under the
curve, next to those of the log-probability and of the size of the change, the calibration error,
and for several thresholds how many of the right and of the wrong answers are called sure. The
threshold that is written is the lowest one with which at most WRONG of all answers are wrong and
called sure.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from specedit.edit import confidence
from specedit.edit.confidence import SIGNALS
from training.edits.commits import read_rows

PENALTY = 3.0  # on the weights of signals of unit variance
FOLDS, ROUNDS = 10, 5
FEWEST = 150  # answers of a fit; with fewer its threshold is chance
WRONG = 0.04  # of all answers, wrong and called sure; on other data it is more
STEPS = 50
Table = dict[str, Any]


def answers(paths: Sequence[Path]) -> tuple[list[Table], int]:
    """The answers that can be written, which are those with signals that no check refuses; and the
    number of all."""
    rows, asked = [], 0
    for path in paths:
        for row in read_rows(path):
            asked += 1
            if row.get("signals") and row.get("status") in ("would-edit", "edited"):
                right = bool(row["passed"] if "passed" in row else row["verdict"] == "right")
                group = f"{path.stem} {row.get('group', row['id'])}"
                size = row.get("added", 0) + row.get("removed", 0)
                rows.append({"x": row["signals"], "right": right, "size": size, "group": group})
    return rows, asked


def fit(x: Any, y: Any) -> tuple[Any, float]:
    """Weights and bias of a logistic regression, for signals as they are."""
    mean, deviation = x.mean(0), x.std(0)
    deviation[deviation == 0] = 1.0
    scaled = np.hstack([(x - mean) / deviation, np.ones((len(x), 1))])
    penalty = np.diag([PENALTY] * x.shape[1] + [1e-6])
    w = np.zeros(scaled.shape[1])
    for _ in range(STEPS):  # Newton's method
        chance = 1 / (1 + np.exp(-scaled @ w))
        gradient = scaled.T @ (chance - y) + penalty @ w
        curvature = (scaled * (chance * (1 - chance))[:, None]).T @ scaled + penalty
        w -= np.linalg.solve(curvature, gradient)
    weights = w[:-1] / deviation
    return weights, float(w[-1] - (weights * mean).sum())


def unseen(rows: Sequence[Table], seed: int) -> Iterator[tuple[int, float]]:
    """Each answer's index and its chance by a fit to other groups."""
    groups = sorted({row["group"] for row in rows})
    random.Random(seed).shuffle(groups)
    x, y = np.array([row["x"] for row in rows]), np.array([float(row["right"]) for row in rows])
    for fold in range(FOLDS):
        held = set(groups[fold::FOLDS])
        out = np.array([row["group"] in held for row in rows])
        if out.all() or not out.any():
            continue
        weights, bias = fit(x[~out], y[~out])
        for at in np.flatnonzero(out):
            yield int(at), float(1 / (1 + np.exp(-(x[at] @ weights + bias))))


def area(scores: Sequence[float], right: Sequence[bool]) -> float:
    """The area under the curve: how often a right answer scores above a wrong one."""
    good = [score for score, is_right in zip(scores, right, strict=True) if is_right]
    bad = [score for score, is_right in zip(scores, right, strict=True) if not is_right]
    pairs = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
    return pairs / max(1, len(good) * len(bad))


def calibration_error(chances: Sequence[float], right: Sequence[bool], bins: int = 8) -> float:
    """The mean distance between chance and share of right answers, over bins of equal size."""
    ordered = sorted(zip(chances, right, strict=True))
    total = 0.0
    for at in range(bins):
        part = ordered[at * len(ordered) // bins : (at + 1) * len(ordered) // bins]
        if part:
            total += abs(sum(chance - is_right for chance, is_right in part))
    return total / max(1, len(ordered))


def threshold(chances: Sequence[float], right: Sequence[bool], asked: int) -> float:
    """The lowest chance from which on at most WRONG of all answers are wrong."""
    pairs = zip(chances, right, strict=True)
    wrong = sorted((chance for chance, is_right in pairs if not is_right), reverse=True)
    allowed = int(WRONG * asked)
    return wrong[allowed] + 1e-6 if allowed < len(wrong) else 0.0


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    made.add_argument("answers", nargs="+", type=Path)
    made.add_argument("--model", default="qwen2.5-coder-1.5b")
    made.add_argument("--weights", default="int8")
    made.add_argument("--write", action="store_true", help="change confidence.json")
    options = made.parse_args()
    rows, asked = answers(options.answers)
    if len(rows) < FEWEST:
        raise SystemExit(f"{len(rows)} answers that can be written; a fit needs {FEWEST}")
    right = [row["right"] for row in rows]
    sums = np.zeros(len(rows))
    for seed in range(ROUNDS):
        for at, chance in unseen(rows, seed):
            sums[at] += chance / ROUNDS
    chances = sums.tolist()
    print(f"{asked} answers, of these {len(rows)} to write, {sum(right)} right")
    for name, scores in (
        ("fit", chances),
        ("log-probability", [-row["x"][0] for row in rows]),
        ("size", [-row["size"] for row in rows]),
    ):
        print(f"area under the curve, {name}: {area(scores, right):.3f}")
    print(f"calibration error: {calibration_error(chances, right):.3f}")
    sure = threshold(chances, right, asked)
    for limit in sorted({sure, 0.4, 0.5, 0.6, 0.7, 0.8}):
        kept = [is_right for c, is_right in zip(chances, right, strict=True) if c >= limit]
        print(
            f"sure from {limit:.3f}: {sum(kept)} of {sum(right)} right ones, "
            f"{len(kept) - sum(kept)} of {asked} wrong and sure"
        )
    x, y = np.array([row["x"] for row in rows]), np.array([float(one) for one in right])
    weights, bias = fit(x, y)
    for name, weight in zip(SIGNALS, weights, strict=True):
        print(f"{name:14} {weight:8.3f}")
    if options.write:
        write(options.model, options.weights, weights.tolist(), bias, sure)
    return 0


def write(model: str, kind: str, weights: Sequence[float], bias: float, sure: float) -> None:
    """Add a model's fit to the file that is shipped."""
    from specedit.models import catalogue

    entry = catalogue.find(model)
    if entry is None or not entry.sha256:
        raise SystemExit(f"{model} is not a row of the catalogue with a digest")
    path = Path(confidence.__file__).with_name("confidence.json")
    data = json.loads(path.read_text("utf-8"))
    models = data["models"] if data["signals"] == list(SIGNALS) else {}
    models[f"{entry.sha256[:16]}-{kind}"] = {
        "bias": round(bias, 4),
        "weights": [round(weight, 4) for weight in weights],
        "sure": round(sure, 3),
    }
    text = json.dumps({"signals": list(SIGNALS), "models": models}, indent=1)
    path.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
