"""Modified rejection sampling keeps the distribution: chi-square over many draws."""

from __future__ import annotations

import functools
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from drafting import answered
from effort import FULL, some

from specedit.decode import Draft, Drafter
from specedit.decode.cost import Curve
from specedit.decode.drafters import SmallModel
from specedit.decode.drafters.model_drafter import CandidatesDrafter, ModelDrafter
from specedit.decode.width import Widths
from specedit.edit.backend import Plan
from specedit.engines import sampling as rejection
from specedit.engines.base import GREEDY, REJECTION, Choices, EngineInfo, Prefill, Sampling, depths
from specedit.engines.sampling import choose, distribution
from specedit.errors import UsageError
from specedit.server.remote import PROFILES, request_json

VOCABULARY, LENGTH, DRAWS = 5, 3, 6000 if FULL else 900
FLAT = Curve.of([(1, 0.1), (512, 0.1)])
WARM = Sampling(0.9, 1.0, rule=REJECTION)
TOP_P = Sampling(1.3, 0.8, rule=REJECTION)


class TableEngine:
    """A model whose next id depends on the last two alone; trees are its own business."""

    def __init__(self, seed: int, like: TableEngine | None = None) -> None:
        numbers = np.random.default_rng(seed)
        table = numbers.normal(0, 1.5, (VOCABULARY, VOCABULARY, VOCABULARY))
        self.table: Any = (table if like is None else like.table + 0.5 * table).astype(np.float32)
        self.ids: list[int] = []
        self.info = EngineInfo("table", "cpu", 1, 1 << 20, VOCABULARY, exact=True, trees=True)

    @property
    def length(self) -> int:
        return len(self.ids)

    def begin(
        self, prompt: Sequence[int], sampling: Sampling = GREEDY, *, audit: bool = False
    ) -> Iterator[Prefill]:
        self.ids, self._sampling, self._audit = list(prompt[:-1]), sampling, audit
        yield Prefill(len(self.ids), len(self.ids), 0, 0.0)

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Choices:
        first, above = len(self.ids), range(-1, len(ids) - 1) if parents is None else parents
        rows = []
        for row, parent in enumerate(above):
            before = ids[parent] if parent >= 0 else self.ids[-1]
            rows.append(self.table[before, ids[row]])
        chosen = [
            choose(row, self._sampling, first + 1 + deep)
            for row, deep in zip(rows, depths(above), strict=True)
        ]
        self.ids.extend(ids)
        return Choices(chosen, [row.tobytes() for row in rows] if self._audit else None)

    def crop(self, length: int) -> None:
        del self.ids[length:]

    def keep(self, start: int, rows: Sequence[int]) -> None:
        self.ids[start:] = [self.ids[start + row] for row in rows]

    def watch(self, on: bool) -> None: ...


class Telling(ModelDrafter):
    """A chain beside which a prediction stands that is likelier or not, as what was drawn is:
    what was drawn is not offered then, and must not decide what is chosen."""

    def propose(self, most: int) -> Draft | None:
        draft = super().propose(most)
        if draft is None or draft.ids[0] % 2:
            return draft
        return Draft([3, 1], [0.99, 0.99], self.name, samples=draft.samples)


TARGET = TableEngine(1)
SMALL = TableEngine(2, like=TARGET)
KINDS: dict[str, type[ModelDrafter]] = {
    "chain": ModelDrafter,
    "tree": CandidatesDrafter,
    "not always offered": Telling,
}


@functools.cache
def expected(sampling: Sampling) -> dict[tuple[int, ...], float]:
    """The chance of each answer."""
    found = {}
    for ids in itertools.product(range(VOCABULARY), repeat=LENGTH):
        chance, before = 1.0, [0, 1]
        for token in ids:
            chance *= float(distribution(TARGET.table[before[-2], before[-1]], sampling)[token])
            before.append(token)
        found[ids] = chance
    return found


@functools.cache
def answers(kind: str | None, sampling: Sampling) -> tuple[Counter[tuple[int, ...]], float]:
    """How often each answer came, and the share of ids that passes settled beside their own."""
    found: Counter[tuple[int, ...]] = Counter()
    accepted = passes = 0
    widths = Widths(FLAT)
    small = SmallModel(SMALL)
    for seed in range(DRAWS):
        drawn = Sampling(sampling.temperature, sampling.top_p, seed, sampling.rule)
        drafters: list[Drafter] = [] if kind is None else [KINDS[kind](small, drawn, eager=True)]
        tokens, _, chunks = answered(
            TARGET, [0, 0, 1], drafters, widths=widths, limit=LENGTH, sampling=drawn, audit=False
        )
        found[tuple(tokens)] += 1
        accepted += sum(chunk.accepted for chunk in chunks)
        passes += len(chunks)
    return found, accepted / passes


def far(found: Counter[tuple[int, ...]], sampling: Sampling) -> float:
    """How far chi-square is above its mean, in standard deviations; rare answers are one."""
    chances = expected(sampling)
    rare = [ids for ids in chances if DRAWS * chances[ids] < 5]
    cells = [(found[ids], DRAWS * chances[ids]) for ids in chances if ids not in set(rare)]
    cells.append((sum(found[ids] for ids in rare), DRAWS * sum(chances[ids] for ids in rare)))
    cells = [(seen, wanted) for seen, wanted in cells if wanted > 0]
    total = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    free = len(cells) - 1
    return float((total - free) / (2 * free) ** 0.5)


LIMIT = 4.0


SAMPLED = [(kind, rule) for kind in (None, *KINDS) for rule in (WARM, TOP_P)]


@pytest.mark.parametrize(("kind", "sampling"), some([*SAMPLED[1:], SAMPLED[0]], 3))
def test_the_distribution_is_kept(kind, sampling):
    found, _ = answers(kind, sampling)
    assert far(found, sampling) < LIMIT


@pytest.mark.parametrize("kind", some(["tree", "chain"], 2))
def test_a_biased_rule_is_noticed(kind, monkeypatch):
    """The same test fails where draws are kept a little too readily."""
    monkeypatch.setattr(
        rejection, "accepts", lambda target, draft, noise: noise * draft < 1.3 * target
    )
    found, _ = answers.__wrapped__(kind, WARM)
    assert far(found, WARM) > LIMIT


def test_coupled_choices_are_distributed_the_same():
    sampling = Sampling(0.9)
    found, _ = answers("tree", sampling)
    assert far(found, sampling) < LIMIT


def test_rejection_accepts_more_of_what_was_drawn():
    _, coupled = answers("tree", Sampling(0.9))
    _, rejecting = answers("tree", WARM)
    assert rejecting > coupled


def test_a_run_is_repeated_by_its_seed_where_all_takes_as_long(monkeypatch):
    """What is drafted goes by the clock, and by this rule the text goes by what is drafted."""
    found = []
    for _ in range(2):
        clock = itertools.count()
        monkeypatch.setattr(time, "perf_counter", lambda clock=clock: next(clock) / 1000)
        small = SmallModel(SMALL)
        sampling = Sampling(0.9, seed=3, rule=REJECTION)
        drafter = ModelDrafter(small, sampling, eager=True)
        *_, chunks = answered(
            TARGET, [0, 0, 1], [drafter], curve=FLAT, limit=30, sampling=sampling, audit=False
        )
        found.append([chunk.tokens for chunk in chunks])
    assert found[0] == found[1]


def test_a_named_server_draws_as_it_likes():
    plan = Plan(messages=(), sampling=WARM)
    with pytest.raises(UsageError, match="in its own way"):
        request_json(plan, "m", PROFILES["plain"])
