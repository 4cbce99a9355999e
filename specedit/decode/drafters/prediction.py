"""Drafts the prediction: goes on where the answer left it, finds the place again after a change.

Knows the prediction's ids and the answer so far; with a codec, also their text. What a change
taught (`decode.drafters.learned`) is applied to the rest of the prediction until contradicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from specedit.decode.constants import Constants
from specedit.decode.drafters.base import Codec, Draft
from specedit.decode.drafters.learned import Learned, Substitution
from specedit.decode.fitted import FITTED
from specedit.decode.resync import Index, best

SETTLED = 3  # ids in a row after which a change is taken to be over
LEAST = 0.03  # a draft ends where less than this is left of its chance
RUNS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # ids in a row, from which a next risk holds


@lru_cache(maxsize=8)
def _by_run(risks: tuple[float, ...]) -> tuple[float, ...]:
    table, step = [], 0
    for run in range(RUNS[-1] + 1):
        if step < len(RUNS) and run >= RUNS[step]:
            step += 1
        table.append(risks[step])
    return tuple(table)


@dataclass(frozen=True)
class Waypoint:
    """One id of the way ahead, and where the prediction stands after it.

    `rule`: the learned change it is part of (`part` of its ids come before), or, with `part`
    -1, the one that it goes against."""

    token: int
    chance: float
    after: int
    rule: Substitution | None = None
    part: int = -1


class PredictionDrafter:
    """Follows the prediction with a cursor; `run` ids in a row have followed it."""

    name = "prediction"

    def __init__(
        self,
        prediction: Sequence[int],
        codec: Codec | None = None,
        instruction: Sequence[int] = (),
        constants: Constants = FITTED,
    ) -> None:
        self._constants = constants
        self._risks = _by_run(constants.risks)
        self._ids = list(prediction)
        self._codec = codec
        self._learned = Learned(self._ids, codec, instruction, constants)
        self._restart()

    @cached_property
    def _newlines(self) -> set[int]:
        codec = self._codec
        return {i for i in set(self._ids) if b"\n" in codec.piece(i)} if codec else set()

    @cached_property
    def _index(self) -> Index:
        """Made at the first divergence: a prediction that holds needs none."""
        newlines = self._newlines
        return Index(self._ids, [i in newlines for i in self._ids] if self._codec else None)

    def _restart(self) -> None:
        self._said: list[int] = []
        self._at: int | None = 0  # the place; None while lost
        self._run = 0
        self._chance = 1.0  # of the place, when it was found
        self._lost = 0  # where the prediction was left,
        self._mark = -1  # after how many ids of the answer; -1: since then it was found
        self._edits = 0
        self._rule: tuple[Substitution, int] | None = (
            None  # inside a learned change, after some of it
        )
        self._ahead: list[Waypoint] = []
        self._fresh = False  # the place was just found
        self._learned.begin()

    def begin(self, prompt: Sequence[int]) -> None:
        self._restart()

    def propose(self, room: int) -> Draft | None:
        if self._at is None:
            self._find()
        if self._at is None:
            return None
        self._ahead = self._way(room + 1)
        if not self._ahead:
            return None
        steps = self._ahead[:room]
        return Draft(
            [s.token for s in steps],
            [s.chance for s in steps],
            self.name,
            resynced=self._fresh,
            beyond=self._ahead[room].chance if len(self._ahead) > room else 0.0,
        )

    def commit(self, tokens: Sequence[int]) -> None:
        done = 0
        for token in tokens:
            if done >= len(self._ahead) and self._at is not None:
                self._ahead, done = self._way(2), 0
            step = self._ahead[done] if done < len(self._ahead) else None
            if step is not None and step.token == token:
                self._follow(step)
                done += 1
            else:
                self._leave(token, step)
                self._ahead, done = [], 0
            self._said.append(token)
            if self._mark >= 0 and self._run >= SETTLED and self._rule is None:
                self._settle()
        self._ahead = []

    def overhear(self, tokens: Sequence[int]) -> None:
        """Commit what somebody else proposed: lost in the midst of it, it looks for its place at
        each id, for nobody asks it to propose before the last."""
        for token in tokens:
            if self._at is None:
                self._find()
            self.commit((token,))

    def _follow(self, step: Waypoint) -> None:
        self._at = step.after
        self._run += 1
        self._fresh = False
        rule = step.rule
        self._rule = None
        if rule is None:
            return
        if step.part < 0:
            rule.trust.failed += 1
        elif step.part + 1 < len(rule.ids):
            self._rule = (rule, step.part + 1)
        else:
            rule.trust.held += 1

    def _leave(self, token: int, step: Waypoint | None) -> None:
        """The answer goes elsewhere than `step`."""
        at, rule, inside = self._at, step.rule if step else None, self._rule
        self._rule = None
        self._fresh = True
        if at is not None and step is not None and rule is not None:
            if step.part >= 0:
                rule.trust.failed += 1
                if step.part == 0 and self._ids[at : at + 1] == [token]:
                    self._at, self._run, self._chance = at + 1, 1, 1.0
                    return
            elif rule.ids and rule.ids[0] == token:
                self._edits += 1
                self._run = 1
                if len(rule.ids) > 1:
                    self._rule = (rule, 1)
                else:
                    rule.trust.held += 1
                    self._at = at + rule.span
                return
        if at is not None and (self._run >= SETTLED or not self._edits):
            self._lost = at
            self._mark = len(self._said) - (inside[1] if inside else 0)
        self._edits += 1
        self._at = None
        self._run = 0

    def _find(self) -> None:
        """Takes the likeliest place."""
        said = self._said
        since = len(said) - self._mark if self._mark >= 0 else 0
        place = best(
            self._index,
            said,
            self._lost,
            since,
            bool(said and said[-1] in self._newlines),
            self._constants,
        )
        same_text = self._constants.same_text
        chance = same_text[min(since, len(same_text) - 1)]
        if self._mark >= 0 and chance > (place.chance if place else 0.0):
            bridge = self._learned.bridge(self._lost, said[self._mark :])
            if bridge is not None and (since > 1 or len(bridge.ids) == since):
                self._chance, self._run = chance, since
                if len(bridge.ids) > since:
                    self._at, self._rule = self._lost, (bridge, since)
                else:
                    self._at = self._lost + bridge.span
                return
        if place is None:
            self._at = None
            return
        if place.at != self._at:
            self._fresh = True
        self._at, self._chance = place.at, place.chance
        self._run = place.held

    def _settle(self) -> None:
        """The change is over; what was it?"""
        assert self._at is not None
        run = min(self._run, len(self._said) - self._mark)
        back = self._at - run
        if back >= self._lost:
            new = self._said[self._mark : len(self._said) - run]
            self._learned.learn(self._lost, back - self._lost, new, run)
        self._mark = -1

    def _way(self, most: int) -> list[Waypoint]:
        """The next steps: the prediction from the place on, learned changes applied."""
        assert self._at is not None
        at, run, ids, size = self._at, self._run, self._ids, len(self._ids)
        steps: list[Waypoint] = []
        sure: float | None = self._chance if self._fresh else None
        applied = -1
        known = self._constants
        first = known.first_risk * (known.foreseen if self._learned.foreseen else 1)
        if self._rule is not None:
            rule, part = self._rule
            for n in range(part, len(rule.ids)):
                after = at + rule.span if n + 1 == len(rule.ids) else at
                steps.append(Waypoint(rule.ids[n], sure or known.inside, after, rule, n))
                run, sure = run + 1, None
            applied, at, sure = at, at + rule.span, None
        alive, risks = 1.0, self._risks
        while len(steps) < most and at < size and alive > LEAST:
            if sure is not None:
                stay = sure
            else:
                stay = 1 - (risks[run if run < len(risks) else -1] if self._edits else first)
            sure = None
            rule_here = self._learned.at(at) if at != applied else None
            if rule_here is not None and rule_here.ids and rule_here.chance >= 0.5:
                chance = rule_here.chance
                for n, token in enumerate(rule_here.ids):
                    after = at + rule_here.span if n + 1 == len(rule_here.ids) else at
                    steps.append(Waypoint(token, chance * stay, after, rule_here, n))
                    alive *= chance * stay
                    chance, stay = known.inside, 1.0
                    run += 1
                applied, at = at, at + rule_here.span
                continue
            if rule_here is not None:
                stay *= 1 - rule_here.chance
            at += 1
            run += 1
            steps.append(Waypoint(ids[at - 1], stay, at, rule_here))
            alive *= stay
        return steps[:most]
