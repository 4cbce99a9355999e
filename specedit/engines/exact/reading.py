"""What a model has read: the ids. Where their keys and values lie is a cache's own business."""

from __future__ import annotations

from collections.abc import Sequence

from specedit.engines.base import common


class Reading:
    """Ids that are in a cache; what a server compares prompts with."""

    def __init__(self) -> None:
        self.ids: list[int] = []

    def crop(self, length: int) -> None:
        """Forget everything past the first `length` positions."""
        del self.ids[length:]

    def common(self, ids: Sequence[int]) -> int:
        """How many leading ids are already here."""
        return common(self.ids, ids)
