"""Drafts of heads: what follows the last hidden row, as a tree of the likeliest ids.

Heads are small trained additions to the target (`specedit.heads`); what they compute is the
engine's business (`HeadsGuesser`). Each step costs time, so the tree grows by a depth only while
the ids that it would add are worth it. Knows ids, rows as things to hand on, chances and seconds.
Does not know how heads are trained or where they lie.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from specedit.decode.drafters.base import Draft
from specedit.engines.base import Row

DEEPER = 2  # depths beyond those trained that chained heads may go
WIDE = 8  # nodes of a depth that the next one goes on from
LARGEST = 64  # nodes of a tree
HITS = 0.5  # of what a node stands for, its children's part that is reckoned with beforehand
FOLLOWS = 0.9  # of an earlier measurement that a new one leaves


class Guessed(Protocol):
    """What is behind one state."""

    @property
    def state(self) -> Row: ...

    @property
    def ids(self) -> Sequence[int]: ...

    @property
    def chances(self) -> Sequence[float]:
        """Their logarithms."""
        ...


class HeadsGuesser(Protocol):
    """Heads at work."""

    @property
    def depth(self) -> int: ...

    def begin(self) -> None: ...

    def add(self, ids: Iterable[int]) -> None: ...

    def guess(
        self, step: int, states: Sequence[Row], ids: Sequence[int], most: int
    ) -> Sequence[Guessed]: ...


@dataclass(frozen=True)
class HeadsAtHand:
    """Heads of one kind, ready to guess."""

    guesser: HeadsGuesser
    chained: bool
    most: int  # guesses behind one state

    def drafter(self, name: str) -> HeadsDrafter:
        """A drafter of that name which asks them."""
        return HeadsDrafter(name, self.guesser, chained=self.chained, most=self.most)


@dataclass(frozen=True)
class _Node:
    id: int
    parent: int
    chance: float  # given its parent
    alive: float  # of the whole path
    state: Row  # before this id


class HeadsDrafter:
    """Guesses behind the last row. With `chained` each depth goes on from the one before; without,
    all depths guess from the same row, whatever was chosen before."""

    def __init__(self, name: str, guesser: HeadsGuesser, *, chained: bool, most: int) -> None:
        self.name = name
        self._guesser = guesser
        self._chained = chained
        self._most = most
        self._step = 0.0  # seconds of one depth
        self.begin(())

    def begin(self, prompt: Sequence[int]) -> None:
        self._guesser.begin()
        self._guesser.add(prompt)
        self._row: Row | None = None
        self._last = -1
        self._seconds, self._once, self._each = math.inf, 1.0, 0.02

    @property
    def cost(self) -> float:
        return self._step

    def spend(self, seconds: float, once: float, each: float) -> None:
        self._seconds, self._once, self._each = seconds, once, each

    def see(self, rows: Sequence[Row]) -> None:
        self._row = rows[-1]

    def commit(self, tokens: Sequence[int]) -> None:
        self._last = tokens[-1]
        self._guesser.add(tokens)

    def propose(self, room: int) -> Draft | None:
        if self._row is None or room < 1:
            return None
        started = time.perf_counter()
        found = self._grown(started)
        order = sorted(range(len(found)), key=lambda at: -found[at].alive)[: min(room, LARGEST)]
        if not order:
            return None
        place = {at: index for index, at in enumerate(order)} | {-1: -1}
        return Draft(
            [found[at].id for at in order],
            [found[at].chance for at in order],
            self.name,
            seconds=time.perf_counter() - started,
            parents=[place[found[at].parent] for at in order],
        )

    def _grown(self, started: float) -> list[_Node]:
        """All nodes that may be worth their place in a pass; parents before their children."""
        least = min(0.5, max(0.01, self._each / self._once / 2))
        found: list[_Node] = []
        begin = _Node(self._last, -1, 1.0, 1.0, self._row)
        frontier = [(-1, begin)]
        deepest = self._guesser.depth + (DEEPER if self._chained else 0)
        for depth in range(deepest):
            before = time.perf_counter()
            behind = self._behind(depth, [node for _, node in frontier])
            fresh: list[tuple[int, _Node]] = []
            for (at, node), guessed in zip(frontier, behind, strict=True):
                for id, log in zip(guessed.ids, guessed.chances, strict=True):
                    chance = math.exp(log)
                    if node.alive * chance < least:
                        break  # the likeliest come first
                    fresh.append(
                        (len(found), _Node(id, at, chance, node.alive * chance, guessed.state))
                    )
                    found.append(fresh[-1][1])
            now = time.perf_counter()
            self._took(now - before)
            fresh.sort(key=lambda pair: -pair[1].alive)
            frontier = fresh[:WIDE]
            hope = HITS * sum(node.alive for _, node in frontier)
            if hope * self._once < self._step or now - started + self._step > self._seconds:
                break
            if not frontier:
                break
        return found

    def _behind(self, depth: int, nodes: Sequence[_Node]) -> Sequence[Guessed]:
        if self._chained:
            ids = [node.id for node in nodes]
            return self._guesser.guess(depth, [node.state for node in nodes], ids, self._most)
        return [self._guesser.guess(depth, [self._row], [self._last], self._most)[0]] * len(nodes)

    def _took(self, seconds: float) -> None:
        self._step = seconds if not self._step else self._step * FOLLOWS + seconds * (1 - FOLLOWS)
