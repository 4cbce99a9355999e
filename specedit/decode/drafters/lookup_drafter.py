"""Drafts what followed the last few ids earlier: in the instruction, the prompt or the answer.

An index from contexts of a few ids to what came after them grows with each id in constant time. The
longest context that occurred before decides, and the text after it is followed. For short contexts,
the id that followed most often is proposed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from specedit.decode import Draft, constants

ORDERS = (8, 6, 4, 3)  # context lengths that point to their last occurrence
SHORT_CONTEXTS = (2, 1)  # context lengths that count what followed
MIN_DRAFT_PROBABILITY = 0.03  # a draft ends where its cumulative probability falls below this

# context lengths with fitted probabilities; the last one applies to all longer contexts
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 32)


class LookupDrafter:
    """Follows earlier text."""

    name = "lookup"

    def __init__(self, instruction: Sequence[int] = ()) -> None:
        self._instruction = list(instruction)

    def begin(self, prompt: Sequence[int]) -> None:
        """Index a whole prompt; a third of the time of `commit`."""
        self._ids = ids = [*self._instruction, *prompt]
        self._last: dict[tuple[int, ...], int] = {}  # contexts of ORDERS -> what came after them
        self._counts: dict[tuple[int, ...], dict[int, int]] = {}
        self._from = -1  # the position in `_ids` that is followed
        self._run = 0  # ids that matched in a row
        for order in ORDERS:
            contexts = zip(*(ids[at:] for at in range(order)), strict=False)
            self._last.update(zip(contexts, range(order, len(ids)), strict=False))
        for order in SHORT_CONTEXTS:
            contexts = zip(*(ids[at:] for at in range(order)), strict=False)
            for (context, token), count in Counter(
                zip(contexts, ids[order:], strict=False)
            ).items():
                self._counts.setdefault(context, {})[token] = count

    def commit(self, tokens: Sequence[int]) -> None:
        seen, counts = self._ids, self._counts
        for token in tokens:
            size = len(seen)
            if 0 <= self._from < size and seen[self._from] == token:
                self._from += 1
                self._run += 1
            else:
                self._from, self._run = -1, 0
            for order in ORDERS:
                if size >= order:
                    self._last[tuple(seen[size - order :])] = size
            for order in SHORT_CONTEXTS:
                if size >= order:
                    after = counts.setdefault(tuple(seen[size - order :]), {})
                    after[token] = after.get(token, 0) + 1
            seen.append(token)

    def propose(self, most: int) -> Draft | None:
        ids, chances, (place, run) = self._follow(self._ids, most, self._from, self._run)
        if not ids:
            return None
        self._from, self._run = place, run
        return Draft(ids, chances, self.name)

    def continue_from(self, ids: Sequence[int], most: int) -> Draft | None:
        following, chances, _ = self._follow(ids, most, -1, 0)
        return Draft(following, chances, self.name) if following else None

    def _follow(
        self, before: Sequence[int], most: int, place: int, run: int
    ) -> tuple[list[int], list[float], tuple[int, int]]:
        """Ids that followed the end of `before` earlier, their probabilities, and what the first of
        them follows: its position, and how many ids matched in a row."""
        seen, fitted = self._ids, constants.FITTED.contexts
        tail = list(before[-ORDERS[0] :])
        first = (place, run)
        ids: list[int] = []
        chances: list[float] = []
        alive = 1.0
        while len(ids) < most and alive > MIN_DRAFT_PROBABILITY:
            if not 0 <= place < len(seen) or run < ORDERS[0]:
                place, run = self._occurrence(tail, place, run)
            if 0 <= place < len(seen):
                token, chance = seen[place], fitted[bisect_right(LENGTHS, run) - 1]
                place += 1
                run += 1
            else:
                token, chance = self._most_frequent(tail)
                place, run = -1, 0
                if token < 0:
                    break
            if not ids:
                first = (place - 1 if place > 0 else -1, max(run - 1, 0))
            ids.append(token)
            chances.append(chance)
            alive *= chance
            tail = [*tail[-ORDERS[0] + 1 :], token]
        return ids, chances, first

    def _occurrence(self, tail: list[int], place: int, run: int) -> tuple[int, int]:
        """The last occurrence of the longest context, unless it is followed already."""
        for order in ORDERS:
            if order <= run and 0 <= place < len(self._ids):
                return place, run
            if len(tail) >= order:
                position = self._last.get(tuple(tail[-order:]))
                if position is not None:
                    return position, order
        return -1, 0

    def _most_frequent(self, tail: list[int]) -> tuple[int, float]:
        """The id that followed most often, and its probability; -1 when there is none."""
        for order in SHORT_CONTEXTS:
            after = self._counts.get(tuple(tail[-order:])) if len(tail) >= order else None
            if after:
                token = max(after, key=after.__getitem__)
                chance = constants.FITTED.contexts[LENGTHS.index(order)]
                return token, chance * 2 * after[token] / (sum(after.values()) + 1)
        return -1, 0.0
