"""Drafts the prediction: goes on where the answer left it, finds the place again after a change.

Knows the prediction's ids and the answer so far.
"""

from __future__ import annotations

from collections.abc import Sequence

from specedit.decode.drafters.base import Codec, Draft


class PredictionDrafter:
    """Follows the prediction with a cursor."""

    name = "prediction"

    def __init__(self, prediction: Sequence[int], codec: Codec | None = None) -> None:
        self._ids = list(prediction)
        self._codec = codec
        self._at = 0
        self._age = 0

    def begin(self, prompt: Sequence[int]) -> None:
        self._at = 0
        self._age = 0

    def propose(self, room: int) -> Draft | None:
        ids = self._ids[self._at : self._at + room]
        return Draft(ids, self.name, resynced=self._age == 0, age=self._age) if ids else None

    def commit(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            if self._at < len(self._ids) and self._ids[self._at] == token:
                self._age += 1
            else:
                self._age = 0
            self._at += 1
