"""Peers side by side: runs alternate, each peer warmed up, medians and spread.

Knows tasks, runs and time. Does not know what a peer is made of, nor how results are shown.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from specedit.bench.peers import Name
from specedit.bench.peers.base import PeerRun, Task


class Runner(Protocol):
    """A worker, or a peer in this process."""

    def run(self, task: Task, way: str) -> PeerRun: ...


@dataclass(frozen=True)
class Measured:
    """One peer's runs of one task."""

    task: str
    peer: str
    runs: tuple[PeerRun, ...]
    same: bool | None = None  # as its own plain decoding; None where it was not asked

    def seconds(self, part: str) -> float:
        """The median of `prefill_s`, `decode_s` or `total_s`."""
        return statistics.median(float(getattr(r, part)) for r in self.runs)

    def spread(self, part: str = "total_s") -> float:
        """Largest less smallest, as a share of the median."""
        values = [float(getattr(r, part)) for r in self.runs]
        middle = statistics.median(values)
        return (max(values) - min(values)) / middle if middle else 0.0

    @property
    def tokens(self) -> int:
        return len(self.runs[-1].tokens)

    @property
    def tokens_per_second(self) -> float:
        """Of decoding: a token that came with the prompt's time is not counted."""
        seconds = self.seconds("decode_s")
        return (self.tokens - self.runs[-1].ahead) / seconds if seconds else 0.0


def alternate(
    task: Task,
    names: Sequence[Name],
    run: Callable[[Name, Task], PeerRun | None],
    *,
    rounds: int,
    said: Callable[[str], None] = lambda text: None,
) -> list[Measured]:
    """Every peer `rounds` times, the order turned by one each round. None: the peer is gone."""
    runs: dict[str, list[PeerRun]] = {n.name: [] for n in names}
    try:
        for turn in range(rounds):
            for name in rotated(names, turn):
                said(f"{task.id}: {name.name} ({turn + 1} of {rounds})")
                if (done := run(name, task)) is not None:
                    runs[name.name].append(done)
    except KeyboardInterrupt:
        raise Interrupted(_folded(task, names, runs)) from None
    return _folded(task, names, runs)


class Interrupted(Exception):
    """A person has seen enough; what was measured of the last task."""

    def __init__(self, measured: list[Measured]) -> None:
        super().__init__("interrupted")
        self.measured = measured


def _folded(
    task: Task, names: Sequence[Name], runs: Mapping[str, Sequence[PeerRun]]
) -> list[Measured]:
    ran = [n for n in names if runs[n.name]]
    plain = {n.family.removesuffix("_lookup"): runs[n.name][-1].tokens for n in ran if n.plain}
    return [
        Measured(task.id, n.name, tuple(runs[n.name]), _same(n, runs[n.name][-1], plain, task))
        for n in ran
    ]


def rotated(names: Sequence[Name], by: int) -> list[Name]:
    by %= len(names)
    return [*names[by:], *names[:by]]


def _same(
    name: Name, run: PeerRun, plain: Mapping[str, tuple[int, ...]], task: Task
) -> bool | None:
    """Whether a peer's answer is the one its plain decoding gave; dictated answers say nothing."""
    theirs = plain.get(name.family.removesuffix("_lookup"))
    if task.dictated or name.plain or theirs is None:
        return None
    return run.tokens == theirs


def speedup(measured: Sequence[Measured], own: str, other: str) -> float | None:
    """Two measured wall times of the same task; None unless both were measured."""
    seconds = {m.peer: m.seconds("total_s") for m in measured}
    if own not in seconds or other not in seconds or not seconds[own]:
        return None
    return seconds[other] / seconds[own]


def best(measured: Sequence[Measured], beginning: str) -> Measured | None:
    """The fastest of the peers whose name begins so."""
    found = [m for m in measured if m.peer.startswith(beginning)]
    return min(found, key=lambda m: m.seconds("total_s"), default=None)


def geometric(values: Sequence[float]) -> float:
    """The mean of ratios."""
    return statistics.geometric_mean(values) if values else 0.0
