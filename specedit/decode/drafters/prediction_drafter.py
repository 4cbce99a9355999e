"""Drafts from the prediction: continues where the answer is in it, and resyncs after a divergence.

Learned substitutions (`decode.drafters.learned`) are applied to the rest of the prediction until
they are contradicted. Where there are several predictions (the original and every earlier answer),
each resyncs and learns on its own, and the one is followed that was right most often where they
disagreed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from specedit.decode import PREDICTION, Codec, Draft, constants
from specedit.decode.drafters.learned import Learned, Substitution
from specedit.decode.resync import Index, best_resync
from specedit.engines.base import common

SETTLED = 3  # matching ids in a row after which a change counts as finished
MIN_DRAFT_PROBABILITY = 0.03  # a draft ends where its cumulative probability falls below this
RUNS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # matching ids from which a risk applies


@dataclass(frozen=True, slots=True)
class Waypoint:
    """One proposed id, and the position in the prediction after it.

    `rule`: the substitution that it is part of (`part` of its ids come before), or, with `part`
    -1, the substitution that it contradicts."""

    token: int
    chance: float
    after: int
    rule: Substitution | None = None
    part: int = -1


class PredictionDrafter:
    """Follows the prediction with a cursor; the last `run` ids matched it."""

    name = PREDICTION

    def __init__(
        self, prediction: Sequence[int], codec: Codec | None = None, instruction: Sequence[int] = ()
    ) -> None:
        self._ids = list(prediction)
        self._codec = codec
        self._instruction = instruction

    @cached_property
    def _newlines(self) -> set[int]:
        codec = self._codec
        return {i for i in set(self._ids) if b"\n" in codec.piece(i)} if codec else set()

    @cached_property
    def _index(self) -> Index:
        """Built at the first divergence: a prediction without divergence does not need it."""
        newlines = self._newlines
        return Index(self._ids, [i in newlines for i in self._ids] if self._codec else None)

    def begin(self, prompt: Sequence[int]) -> None:
        self._answer: list[int] = []
        self._at: int | None = 0  # the position in the prediction; None while diverged
        self._run = 0
        self._chance = 1.0  # probability of the position at the last resync
        self._lost = 0  # where in the prediction the last divergence began,
        self._mark = -1  # and after how many ids of the answer; -1: resynced since
        self._edits = 0
        self._rule: tuple[Substitution, int] | None = None  # inside a substitution, ids done
        self._steps: list[Waypoint] = []
        self._fresh = False  # resynced just now
        self._learned = Learned(self._ids, self._codec, self._instruction)

    def propose(self, most: int) -> Draft | None:
        if self._at is None:
            self._resync()
        if self._at is None:
            return None
        self._steps = self._next_steps(most + 1)
        if not self._steps:
            return None
        steps = self._steps[:most]
        return Draft(
            [s.token for s in steps],
            [s.chance for s in steps],
            self.name,
            resynced=self._fresh,
            beyond=self._steps[most].chance if len(self._steps) > most else 0.0,
        )

    def commit(self, tokens: Sequence[int]) -> None:
        done = 0
        for token in tokens:
            if done >= len(self._steps) and self._at is not None:
                self._steps, done = self._next_steps(2), 0
            step = self._steps[done] if done < len(self._steps) else None
            if step is not None and step.token == token:
                self._follow(step)
                done += 1
            else:
                self._diverge(token, step)
                self._steps, done = [], 0
            self._answer.append(token)
            if self._mark >= 0 and self._run >= SETTLED and self._rule is None:
                self._finish_change()
        self._steps = []

    def overhear(self, tokens: Sequence[int]) -> None:
        """Commit ids that another prediction proposed: after a divergence among them, try to resync
        at each id, since `propose` is not called in between."""
        for token in tokens:
            if self._at is None:
                self._resync()
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
            rule.trust.wrong += 1
        elif step.part + 1 < len(rule.ids):
            self._rule = (rule, step.part + 1)
        else:
            rule.trust.right += 1

    def _diverge(self, token: int, step: Waypoint | None) -> None:
        """The answer differs from `step`."""
        at, rule, inside = self._at, step.rule if step else None, self._rule
        self._rule = None
        self._fresh = True
        if at is not None and step is not None and rule is not None:
            if step.part >= 0:
                rule.trust.wrong += 1
                if step.part == 0 and self._ids[at : at + 1] == [token]:
                    self._at, self._run, self._chance = at + 1, 1, 1.0
                    return
            elif rule.ids and rule.ids[0] == token:
                self._edits += 1
                self._run = 1
                if len(rule.ids) > 1:
                    self._rule = (rule, 1)
                else:
                    rule.trust.right += 1
                    self._at = at + rule.span
                return
        if at is not None and (self._run >= SETTLED or not self._edits):
            self._lost = at
            self._mark = len(self._answer) - (inside[1] if inside else 0)
        self._edits += 1
        self._at = None
        self._run = 0

    def _resync(self) -> None:
        """Continue at the likeliest position of the prediction."""
        answer = self._answer
        since = len(answer) - self._mark if self._mark >= 0 else 0
        point = best_resync(
            self._index, answer, self._lost, since, bool(answer and answer[-1] in self._newlines)
        )
        if point is not None:
            self._fresh = True
            self._at, self._chance, self._run = point.at, point.chance, point.matched

    def _finish_change(self) -> None:
        """Learn from a change after which the answer follows the prediction again."""
        assert self._at is not None
        run = min(self._run, len(self._answer) - self._mark)
        back = self._at - run
        if back >= self._lost:
            new = self._answer[self._mark : len(self._answer) - run]
            self._learned.learn(self._lost, back - self._lost, new, run)
        self._mark = -1

    def _next_steps(self, most: int) -> list[Waypoint]:
        """The next ids of the prediction, with learned substitutions applied."""
        assert self._at is not None
        at, run, ids, size = self._at, self._run, self._ids, len(self._ids)
        steps: list[Waypoint] = []
        sure: float | None = self._chance if self._fresh else None
        applied = -1
        fitted = constants.FITTED
        first = fitted.first_risk * (fitted.foreseen if self._learned.foreseen else 1)
        if self._rule is not None:
            rule, part = self._rule
            for n in range(part, len(rule.ids)):
                after = at + rule.span if n + 1 == len(rule.ids) else at
                steps.append(Waypoint(rule.ids[n], sure or fitted.inside, after, rule, n))
                run, sure = run + 1, None
            applied, at, sure = at, at + rule.span, None
        alive, named = 1.0, self._learned.named
        while len(steps) < most and at < size and alive > MIN_DRAFT_PROBABILITY:
            if sure is not None:
                stay = sure
            else:
                stay = 1 - (fitted.risks[bisect_right(RUNS, run)] if self._edits else first)
            sure = None
            if at in named:
                stay *= 1 - fitted.named_line
            rule_here = self._learned.at(at) if at != applied else None
            if rule_here is not None and rule_here.ids and rule_here.trust.chance >= 0.5:
                chance = rule_here.trust.chance
                for n, token in enumerate(rule_here.ids):
                    after = at + rule_here.span if n + 1 == len(rule_here.ids) else at
                    steps.append(Waypoint(token, chance * stay, after, rule_here, n))
                    alive *= chance * stay
                    chance, stay = fitted.inside, 1.0
                    run += 1
                applied, at = at, at + rule_here.span
                continue
            if rule_here is not None:
                stay *= 1 - rule_here.trust.chance
            at += 1
            run += 1
            steps.append(Waypoint(ids[at - 1], stay, at, rule_here))
            alive *= stay
        return steps[:most]


MAX_PREDICTIONS = 16  # predictions that are followed; each costs time at every id
DECAY = 0.9  # weight of a disagreement after each later one
PRIOR = 1.0  # weight of the order of the predictions, in disagreements
SURE_PROBABILITY = 0.7  # least probability of an id that counts as right or wrong


class PredictionsDrafter:
    """Follows the prediction that agrees best with the answer so far."""

    name = PREDICTION

    def __init__(
        self,
        predictions: Sequence[Sequence[int]],
        codec: Codec | None = None,
        instruction: Sequence[int] = (),
    ) -> None:
        self._tracks = [
            PredictionDrafter(ids, codec, instruction)
            for ids in list(dict.fromkeys(map(tuple, predictions)))[:MAX_PREDICTIONS]
        ]

    def begin(self, prompt: Sequence[int]) -> None:
        for track in self._tracks:
            track.begin(prompt)
        count = len(self._tracks)
        # right and wrong ids where they disagreed; earlier predictions start with a better record
        self._right = [PRIOR * (count - at) / count for at in range(count)]
        self._wrong = [PRIOR * (at + 1) / count for at in range(count)]
        self._drafts: list[Draft | None] = [None] * count
        self._which = 0  # the prediction that the last draft came from

    def propose(self, most: int) -> Draft | None:
        self._drafts = [track.propose(most) for track in self._tracks]
        proposing = [at for at, draft in enumerate(self._drafts) if draft is not None]
        if not proposing:
            return None
        self._which = max(proposing, key=self._worth)
        best = self._drafts[self._which]
        assert best is not None
        return self._with_doubt(best, [self._drafts[at] for at in proposing])

    def _trust(self, at: int) -> float:
        return self._right[at] / (self._right[at] + self._wrong[at])

    def _worth(self, at: int) -> tuple[float, int]:
        """Rank of a prediction: the probability of its next id, and its record."""
        draft = self._drafts[at]
        assert draft is not None
        return _odds(draft.chances[0]) + _odds(self._trust(at)), -at

    def _with_doubt(self, best: Draft, others: Sequence[Draft | None]) -> Draft:
        """The draft, less certain of the first id that another prediction contradicts."""
        apart = len(best.ids)
        for other in others:
            if other is not None and other is not best:
                same = common(best.ids, other.ids)
                if same < len(other.ids):
                    apart = min(apart, same)
        chances = list(best.chances)
        if apart < len(chances):
            chances[apart] = min(chances[apart], max(0.5, self._trust(self._which)))
        return replace(best, chances=chances, which=self._which)

    def commit(self, tokens: Sequence[int]) -> None:
        self._judge(tokens)
        for track, draft in zip(self._tracks, self._drafts, strict=True):
            if draft is not None and list(draft.ids[: len(tokens) - 1]) == list(tokens[:-1]):
                track.commit(tokens)
            else:
                track.overhear(tokens)
        self._drafts = [None] * len(self._tracks)

    def _judge(self, tokens: Sequence[int]) -> None:
        """Record which predictions were right about the first id on which they disagree."""
        ids = [draft.ids for draft in self._drafts if draft is not None]
        if len(ids) < 2:
            return
        for place, token in enumerate(tokens):
            proposed = {draft[place] for draft in ids if len(draft) > place}
            if len(proposed) > 1:
                self._count(place, token)
            if proposed != {token}:
                return

    def _count(self, place: int, token: int) -> None:
        for at, draft in enumerate(self._drafts):
            if draft is None or len(draft.ids) <= place:
                continue
            if draft.chances[place] < SURE_PROBABILITY:
                continue
            right = draft.ids[place] == token
            self._right[at] = self._right[at] * DECAY + right
            self._wrong[at] = self._wrong[at] * DECAY + (not right)


def _odds(chance: float) -> float:
    return math.log(max(chance, 1e-6) / max(1 - chance, 1e-6))
