"""Drafts from several predictions: the original and every earlier answer, the likeliest first.

Each is followed by a `PredictionDrafter` of its own, which finds its place again, and learns, after
every change by itself; so all of them know where they are at every id, and the draft changes over
from one to another inside a line. Which of them goes on is a matter of record: where they disagreed
about an id, who was right. Knows ids; knows no text and no costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from specedit.decode.constants import Constants
from specedit.decode.drafters.base import Codec, Draft
from specedit.decode.drafters.prediction import PredictionDrafter
from specedit.decode.fitted import FITTED

MOST = 16  # predictions that are followed; each costs its time at every id
FADES = 0.9  # of what a disagreement said, with each that comes after it
PRIOR = 1.0  # disagreements that the order of the predictions is worth
SURE = 0.7  # from this chance on it counts who was right; one that is lost only guesses


class PredictionsDrafter:
    """Follows whichever of the predictions agrees with what was just written."""

    name = "prediction"

    def __init__(
        self,
        predictions: Sequence[Sequence[int]],
        codec: Codec | None = None,
        instruction: Sequence[int] = (),
        constants: Constants = FITTED,
    ) -> None:
        self._tracks = [
            PredictionDrafter(ids, codec, instruction, constants)
            for ids in list(dict.fromkeys(map(tuple, predictions)))[:MOST]
        ]
        self._restart()

    def _restart(self) -> None:
        count = len(self._tracks)
        # right and wrong where they disagreed; the earlier in the list, the better to begin with
        self._right = [PRIOR * (count - at) / count for at in range(count)]
        self._wrong = [PRIOR * (at + 1) / count for at in range(count)]
        self._drafts: list[Draft | None] = [None] * count
        self._which = 0

    @property
    def which(self) -> int:
        """The prediction that the last draft came from, from 0."""
        return self._which

    def begin(self, prompt: Sequence[int]) -> None:
        for track in self._tracks:
            track.begin(prompt)
        self._restart()

    def propose(self, room: int) -> Draft | None:
        self._drafts = [track.propose(room) for track in self._tracks]
        found = [at for at, draft in enumerate(self._drafts) if draft is not None]
        if not found:
            return None
        self._which = max(found, key=self._worth)
        best = self._drafts[self._which]
        assert best is not None
        return self._agreed(best, [self._drafts[at] for at in found])

    def _trust(self, at: int) -> float:
        return self._right[at] / (self._right[at] + self._wrong[at])

    def _worth(self, at: int) -> tuple[float, int]:
        """How likely its next id is: its own chance, and its record where they disagree."""
        draft = self._drafts[at]
        assert draft is not None
        return _odds(draft.chances[0]) + _odds(self._trust(at)), -at

    def _agreed(self, best: Draft, others: Sequence[Draft | None]) -> Draft:
        """The draft, less sure of the first id that another would not write."""
        apart = len(best.ids)
        for other in others:
            if other is not None and other is not best:
                apart = min(apart, _common(best.ids, other.ids))
        if apart >= len(best.ids):
            return Draft(
                best.ids, best.chances, best.source, best.resynced, best.beyond, which=self._which
            )
        chances = list(best.chances)
        chances[apart] = min(chances[apart], max(0.5, self._trust(self._which)))
        return Draft(best.ids, chances, best.source, best.resynced, best.beyond, which=self._which)

    def commit(self, tokens: Sequence[int]) -> None:
        self._judge(tokens)
        for track, draft in zip(self._tracks, self._drafts, strict=True):
            if draft is not None and list(draft.ids[: len(tokens) - 1]) == list(tokens[:-1]):
                track.commit(tokens)
            else:
                track.overhear(tokens)
        self._drafts = [None] * len(self._tracks)

    def _judge(self, tokens: Sequence[int]) -> None:
        """Who was right about the first id on which not all of them agreed."""
        ids = [draft.ids for draft in self._drafts if draft is not None]
        if len(ids) < 2:
            return
        for place, token in enumerate(tokens):
            said = {found[place] for found in ids if len(found) > place}
            if len(said) > 1:
                self._count(place, token)
            if said != {token}:
                return

    def _count(self, place: int, token: int) -> None:
        for at, draft in enumerate(self._drafts):
            if draft is None or len(draft.ids) <= place:
                continue
            if draft.chances[place] < SURE:
                continue
            held = draft.ids[place] == token
            self._right[at] = self._right[at] * FADES + held
            self._wrong[at] = self._wrong[at] * FADES + (not held)


def _odds(chance: float) -> float:
    return math.log(max(chance, 1e-6) / max(1 - chance, 1e-6))


def _common(ids: Sequence[int], others: Sequence[int]) -> int:
    """How many leading ids agree; one that ends first has no other id there."""
    for at, (one, other) in enumerate(zip(ids, others, strict=False)):
        if one != other:
            return at
    return max(len(ids), len(others))
