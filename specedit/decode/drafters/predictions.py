"""Drafts from several predictions: the original and every earlier answer, the likeliest first.

Each prediction has a `PredictionDrafter` that resyncs and learns on its own, so the draft can
switch between predictions within a line. The one that is followed is the one that was right most
often where the predictions disagreed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from specedit.decode.drafter import Codec, Draft
from specedit.decode.drafters.prediction_drafter import PredictionDrafter
from specedit.engines.base import common

MOST = 16  # predictions that are followed; each costs time at every id
DECAY = 0.9  # weight of a disagreement after each later one
PRIOR = 1.0  # weight of the order of the predictions, in disagreements
SURE = 0.7  # least probability of an id that counts as right or wrong


class PredictionsDrafter:
    """Follows the prediction that agrees best with the answer so far."""

    name = "prediction"

    def __init__(
        self,
        predictions: Sequence[Sequence[int]],
        codec: Codec | None = None,
        instruction: Sequence[int] = (),
    ) -> None:
        self._tracks = [
            PredictionDrafter(ids, codec, instruction)
            for ids in list(dict.fromkeys(map(tuple, predictions)))[:MOST]
        ]
        self._restart()

    def _restart(self) -> None:
        count = len(self._tracks)
        # right and wrong ids where they disagreed; earlier predictions start with a better record
        self._right = [PRIOR * (count - at) / count for at in range(count)]
        self._wrong = [PRIOR * (at + 1) / count for at in range(count)]
        self._drafts: list[Draft | None] = [None] * count
        self._which = 0  # the prediction that the last draft came from

    def begin(self, prompt: Sequence[int]) -> None:
        for track in self._tracks:
            track.begin(prompt)
        self._restart()

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
            if draft.chances[place] < SURE:
                continue
            right = draft.ids[place] == token
            self._right[at] = self._right[at] * DECAY + right
            self._wrong[at] = self._wrong[at] * DECAY + (not right)


def _odds(chance: float) -> float:
    return math.log(max(chance, 1e-6) / max(1 - chance, 1e-6))
