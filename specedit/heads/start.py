"""Where chained heads begin: the best linear guess of the next row, found without steps.

Ridge regression from a row and the id behind it to the next row, cut to half the rank that the
inner row has. A gated unit whose gate is constant is linear, so half of the units hold that, and
learn on from there; the others begin at random. Knows numbers only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from specedit.engines.exact.weights import Array
    from specedit.heads.network import Network
    from specedit.heads.rows import Rows

SAMPLE = 100_000  # places that the regression looks at
PART = 4096
RIDGE = 0.02  # of the mean variance, added to every direction
OPEN = 1.27846  # a gate of this opens a unit by 1


def linear_start(
    network: Network, rows: Rows, embedding: torch.Tensor, random: np.random.Generator
) -> None:
    """Set the first step of a gated, chained network."""
    anchors = rows.anchors(1)
    if len(anchors) > SAMPLE:
        anchors = random.choice(anchors, SAMPLE, replace=False)
    hidden, half = network.sizes.hidden, network.sizes.inner // 2
    gram = np.zeros((2 * hidden, 2 * hidden), np.float32)
    cross = np.zeros((2 * hidden, hidden), np.float32)
    for at in range(0, len(anchors), PART):
        given, off = _part(network, rows, embedding, np.sort(anchors[at : at + PART]))
        gram += given.T @ given
        cross += given.T @ off
    gram[np.diag_indices_from(gram)] += RIDGE * np.trace(gram) / len(gram)
    weights = np.linalg.solve(gram, cross)
    _, found = np.linalg.eigh(weights.T @ gram @ weights)
    kept = found[:, -half:]  # the directions in which the guesses vary most
    step: Any = network.steps[0]
    up = (weights @ kept).T
    with torch.no_grad():
        inner = network.sizes.inner
        for part, columns in ((step.of_state, slice(0, hidden)), (step.of_id, slice(hidden, None))):
            weight = part.weight
            weight[:half] = 0.0
            weight[inner : inner + len(up)] = torch.from_numpy(up[:, columns].copy())
        step.down.weight[:, : len(up)] = torch.from_numpy(kept.copy())
        network.biases[:, :half] = OPEN


def _part(
    network: Network, rows: Rows, embedding: torch.Tensor, anchors: Array
) -> tuple[Array, Array]:
    spread = network.spread.numpy()
    here, there = rows.take(anchors) / spread, rows.take(anchors + 1) / spread
    ids = torch.from_numpy(rows.meta[0][anchors + 1].astype(np.int64))
    behind = network.embedded(embedding[ids].float()).numpy()
    return np.concatenate((here, behind), 1), there - here
