"""Drafts from trained heads: a tree of the likeliest ids after the last hidden state.

Heads are small trained additions to the target model, or a layer that came with it (MTP); the
engine computes them (`Guesser`, `MtpGuesser`).
Each step costs time, so the tree grows by one depth only while the ids that it adds are worth it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specedit.decode import Draft
from specedit.engines.base import Row

if TYPE_CHECKING:
    from specedit.engines.exact.guessing import Guess, Guesser, MtpGuesser

DEEPER = 2  # depths beyond the trained ones that chained heads may add
MAX_CONTINUED_NODES = 8  # nodes of a depth that are continued
MAX_TREE_NODES = 64  # nodes of a tree
EXPECTED_HITS = 0.5  # expected probability of a node's children, relative to the node
SMOOTHING = 0.9  # weight of earlier measurements of a step's time


@dataclass(frozen=True, slots=True)
class _Node:
    id: int
    parent: int
    chance: float  # given its parent
    alive: float  # of the whole path
    state: Row  # before this id


class HeadsDrafter:
    """Guesses after the last hidden state. Of chained heads each depth continues the one before;
    of others all depths guess from the same state, independently."""

    def __init__(self, guesser: Guesser | MtpGuesser) -> None:
        kind = guesser.kind
        self.name, self._chained, self._most = kind.name, kind.chained, kind.most
        self._guesser = guesser
        self._step = 0.0  # seconds of one depth
        self.begin(())

    def begin(self, prompt: Sequence[int]) -> None:
        self._guesser.begin()
        self._guesser.add(prompt)
        self._row: Row | None = None
        self._rows: Sequence[Row] = ()  # before each id of the next commit
        self._last = -1
        self._seconds, self._once, self._each = math.inf, 1.0, 0.02

    @property
    def cost(self) -> float:
        return self._step

    def set_budget(
        self, seconds: float, once: float, each: float, drafts: Sequence[Draft] = ()
    ) -> None:
        self._seconds, self._once, self._each = seconds, once, each

    def see(self, rows: Sequence[Row]) -> None:
        self._row, self._rows = rows[-1], rows

    def commit(self, tokens: Sequence[int]) -> None:
        self._last = tokens[-1]
        self._guesser.add(tokens, self._rows)
        self._rows = ()

    def propose(self, most: int) -> Draft | None:
        if self._row is None or most < 1:
            return None
        started = time.perf_counter()
        nodes = self._nodes(started)
        order = sorted(range(len(nodes)), key=lambda at: -nodes[at].alive)[
            : min(most, MAX_TREE_NODES)
        ]
        if not order:
            return None
        place = {at: index for index, at in enumerate(order)} | {-1: -1}
        return Draft(
            [nodes[at].id for at in order],
            [nodes[at].chance for at in order],
            self.name,
            seconds=time.perf_counter() - started,
            parents=[place[nodes[at].parent] for at in order],
        )

    def _nodes(self, started: float) -> list[_Node]:
        """All nodes that may be worth offering; parents before their children."""
        least = min(0.5, max(0.01, self._each / self._once / 2))
        nodes: list[_Node] = []
        begin = _Node(self._last, -1, 1.0, 1.0, self._row)
        frontier = [(-1, begin)]
        deepest = self._guesser.depth + (DEEPER if self._chained else 0)
        for depth in range(deepest):
            before = time.perf_counter()
            guesses = self._guesses(depth, [node for _, node in frontier])
            fresh: list[tuple[int, _Node]] = []
            for (at, node), guessed in zip(frontier, guesses, strict=True):
                for id, log in zip(guessed.ids, guessed.chances, strict=True):
                    chance = math.exp(log)
                    if node.alive * chance < least:
                        break  # they are sorted by probability
                    fresh.append(
                        (len(nodes), _Node(id, at, chance, node.alive * chance, guessed.state))
                    )
                    nodes.append(fresh[-1][1])
            now = time.perf_counter()
            weight = SMOOTHING if self._step else 0.0
            self._step = self._step * weight + (now - before) * (1 - weight)
            fresh.sort(key=lambda pair: -pair[1].alive)
            frontier = fresh[:MAX_CONTINUED_NODES]
            expected = EXPECTED_HITS * sum(node.alive for _, node in frontier)
            if expected * self._once < self._step or now - started + self._step > self._seconds:
                break
            if not frontier:
                break
        return nodes

    def _guesses(self, depth: int, nodes: Sequence[_Node]) -> Sequence[Guess]:
        if self._chained:
            ids = [node.id for node in nodes]
            return self._guesser.guess(depth, [node.state for node in nodes], ids, self._most)
        return [self._guesser.guess(depth, [self._row], [self._last], self._most)[0]] * len(nodes)
