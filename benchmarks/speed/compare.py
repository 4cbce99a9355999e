"""Peers side by side: the same tasks, runs that alternate, medians of measured times."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from benchmarks.speed.cases import Case, generated
from benchmarks.speed.peers import (
    OWN,
    OWN_MODULE,
    PLAIN,
    TEXT,
    PeerLine,
    PeerName,
    PeerOptions,
    PeerProcess,
    PeerRun,
    Task,
    Words,
)
from specedit.decode.drafters import AUTO, FREE_NAMES, HEADS_NAMES, MODEL_NAMES
from specedit.edit.backend import Plan
from specedit.engines.base import appeared
from specedit.engines.cores import thread_count
from specedit.errors import ModelError
from specedit.settings import Settings

Progress = Callable[[str], None]
DRAFTED_TOKENS = 200  # tokens of an answer, unless the user says another number
WAYS = (*FREE_NAMES, ",".join(FREE_NAMES), *MODEL_NAMES, *HEADS_NAMES, AUTO)
DRAFTERS = [PeerName("none", OWN_MODULE, PLAIN), *(PeerName(way, OWN_MODULE, way) for way in WAYS)]
TEXTS = (
    "Write a Python function that merges overlapping intervals, with type hints and a docstring.",
    "Write a Python class for a least recently used cache with get and put in constant time.",
    "Write a Python function that finds the shortest path through a grid with walls.",
)
WARM_UP = Case("warm-up", "warm.py", "Return 2.", "def one(): return 1\n", "def one(): return 2\n")


@dataclass(frozen=True, slots=True)
class Measured:
    """One peer's runs of one task."""

    peer: str
    runs: tuple[PeerRun, ...]
    same: bool | None = None  # as its own plain decoding; None: not comparable

    def seconds(self, part: str = "total_s") -> float:
        """The median of `prefill_s`, `decode_s` or `total_s`."""
        return statistics.median(float(getattr(r, part)) for r in self.runs)

    @property
    def tokens(self) -> int:
        return len(self.runs[-1].tokens)

    @property
    def tokens_per_second(self) -> float:
        """Of decoding: a token that came with the prompt's time is not counted."""
        seconds = self.seconds("decode_s")
        return (self.tokens - self.runs[-1].early) / seconds if seconds else 0.0


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """One case, all peers."""

    case: Case
    task: Task
    measured: tuple[Measured, ...]

    def of(self, peer: str) -> Measured | None:
        return next((m for m in self.measured if m.peer == peer), None)

    def times(self, peer: str) -> float | None:
        """A peer's seconds over specedit's; None unless both were measured."""
        own, other = self.of(OWN), self.of(peer)
        if own is None or other is None or not own.seconds():
            return None
        return other.seconds() / own.seconds()


@dataclass
class Speeds:
    """Everything one run measured. Interrupted, it holds the cases that were done."""

    rows: list[SpeedRow] = field(default_factory=list)
    peers: list[PeerLine] = field(default_factory=list)
    interrupted: bool = False


def measure(
    cases: Sequence[Case],
    names: Sequence[PeerName],
    settings: Settings,
    progress: Progress,
    *,
    rounds: int = 3,
    own: bool = False,
    limit: int = 0,
) -> Speeds:
    """Every case by every peer, in turn. `own`: each peer writes its own answer; `limit`: tokens of
    an answer (0: all of it)."""
    model, speeds = words(settings), Speeds()
    tasks = [model.task(c, settings, own=own, limit=limit) for c in cases]
    warm_up = model.task(WARM_UP, settings, own=False)
    window = max(len(t.prompt) + t.limit for t in [*tasks, warm_up]) + 64
    opened = PeerOptions(settings, thread_count(settings.threads), window)
    processes: dict[Any, PeerProcess] = {}
    with ExitStack() as stack:
        for name in names:
            if name.process not in processes:
                progress(f"{name.name}: loading")
                processes[name.process] = PeerProcess(name, opened)
                stack.callback(processes[name.process].close)
        if all(process.problem for process in processes.values()):
            raise ModelError(f"{OWN}: {processes[names[0].process].problem}")
        try:
            for name in names:
                progress(f"{name.name}: warming up")
                processes[name.process].call("run", warm_up, name.way)
            for case, task in zip(cases, tasks, strict=True):
                measured = alternate(task, names, processes, rounds, progress)
                speeds.rows.append(SpeedRow(case, task, measured))
        except KeyboardInterrupt:
            if not speeds.rows:
                raise
            speeds.interrupted = True
        speeds.peers = [processes[name.process].line(name.name) for name in names]
    return speeds


def alternate(
    task: Task,
    names: Sequence[PeerName],
    processes: Mapping[Any, Any],
    rounds: int,
    progress: Progress,
) -> tuple[Measured, ...]:
    """Every peer `rounds` times; each round begins with another peer."""
    runs: dict[PeerName, list[PeerRun]] = {name: [] for name in names}
    for number in range(rounds):
        at = number % len(names)
        for name in [*names[at:], *names[:at]]:
            progress(f"{task.id}: {name.name} ({number + 1} of {rounds})")
            if (run := processes[name.process].call("run", task, name.way)) is not None:
                runs[name].append(run)
    done = {name: group for name, group in runs.items() if group}
    plain = {name.module: group[-1].tokens for name, group in done.items() if name.way == PLAIN}
    measured = []
    for name, group in done.items():
        comparable = not (task.dictated or name.way == PLAIN) and name.module in plain
        same = group[-1].tokens == plain[name.module] if comparable else None
        measured.append(Measured(name.name, tuple(group), same))
    return tuple(measured)


def hosted_bill(
    rows: Sequence[SpeedRow], settings: Settings, prompt: float, completion: float
) -> dict[str, float]:
    """What a hosted service with predicted outputs would charge for all edits, at these dollars a
    million tokens. It bills rejected prediction tokens as completion tokens."""
    encode, dollars, rejected = words(settings).tokenizer.encode, 0.0, 0
    for row in rows:
        answer = list(row.measured[0].runs[-1].tokens)
        expected = encode(row.task.plan.prediction or "")
        dollars += (len(row.task.prompt) * prompt + len(answer) * completion) / 1e6
        rejected += len(expected) - appeared(expected, answer)
    predicted = dollars + rejected * completion / 1e6
    return {"plain_dollars": dollars, "predicted_dollars": predicted, "rejected": rejected}


def words(settings: Settings) -> Words:
    """Of the model in use; its weights are not opened."""
    from specedit.models.resolve import present
    from specedit.models.tokenizer import prompt_ids
    from specedit.models.vocabulary import load_tokenizer

    files = present(settings.model)
    tokenizer = load_tokenizer(files)

    def prompt_of(plan: Plan) -> list[int]:
        turns = [(m.role, m.segments) for m in plan.messages]
        return prompt_ids(tokenizer, turns, plan.opening)

    return Words(tokenizer, prompt_of)


def built_in() -> list[Case]:
    """New text, and renames in whole files."""
    texts = [Case(f"text-{n}", "new.py", text, "", kind=TEXT) for n, text in enumerate(TEXTS)]
    return [*texts, *generated(("rename",), (50, 200))]


def summed(rows: Sequence[SpeedRow]) -> list[dict[str, Any]]:
    """An object for each kind of case and drafter; times compare the cases that both wrote."""
    results = []
    for kind in dict.fromkeys(row.case.kind for row in rows):
        for name in DRAFTERS:
            pairs = [
                (plain, own)
                for row in rows
                if row.case.kind == kind
                and (plain := row.of(DRAFTERS[0].name))
                and (own := row.of(name.name))
            ]
            seconds = sum(own.seconds("decode_s") for _, own in pairs)
            tokens = sum(own.tokens for _, own in pairs)
            if not pairs:
                continue
            results.append(
                {
                    "workload": kind,
                    "drafter": name.name,
                    "cases": len(pairs),
                    "tokens": tokens,
                    "tokens_per_pass": round(tokens / sum(o.runs[-1].passes for _, o in pairs), 3),
                    "ms_per_token": round(1000 * seconds / tokens, 2),
                    "times_plain": round(sum(p.seconds("decode_s") for p, _ in pairs) / seconds, 3)
                    if seconds
                    else None,
                    "same_as_plain": all(p.runs[-1].tokens == o.runs[-1].tokens for p, o in pairs),
                }
            )
    return results
