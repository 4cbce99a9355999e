"""Drafts what followed the last ids before: in the instruction, the prompt, the answer so far.

Knows ids. An index from the last few ids to what came after them grows with each id, in
constant time; the longest context that occurred before decides, and the older text it stands in
is followed from there. Where contexts are short, the id that followed most often is proposed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from specedit.decode.constants import Constants
from specedit.decode.drafters.base import Draft
from specedit.decode.fitted import FITTED

ORDERS = (8, 6, 4, 3)  # context lengths that point to their last occurrence
SHORT = (2, 1)  # context lengths that count what followed
LEAST = 0.03  # a draft ends where less than this is left of its chance

LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 32)  # of contexts, whose chances are known; from the last on
# it is that of a copy


def _by_length(chances: Sequence[float]) -> list[float]:
    known, table = 0.0, dict(zip(LENGTHS, chances, strict=True))
    return [known := table.get(n, known) for n in range(LENGTHS[-1] + 1)]


class LookupDrafter:
    """Follows older text."""

    name = "lookup"

    def __init__(self, instruction: Sequence[int] = (), constants: Constants = FITTED) -> None:
        self._chances = _by_length(constants.contexts)
        self._instruction = list(instruction)
        self.begin(())

    def begin(self, prompt: Sequence[int]) -> None:
        self._seen: list[int] = []
        self._last: list[dict[tuple[int, ...], int]] = [{} for _ in ORDERS]
        self._counts: dict[tuple[int, ...], dict[int, int]] = {}
        self._from = -1  # the place in `_seen` that is being followed
        self._run = 0  # ids it was right in a row
        self._read([*self._instruction, *prompt])

    def commit(self, tokens: Sequence[int]) -> None:
        self._extend(tokens)

    def _read(self, ids: list[int]) -> None:
        """`_extend` for a whole prompt that nothing stands before, in a third of the time."""
        self._seen = ids
        for order, last in zip(ORDERS, self._last, strict=True):
            contexts = zip(*(ids[at:] for at in range(order)), strict=False)
            last.update(zip(contexts, range(order, len(ids)), strict=False))
        for order in SHORT:
            contexts = zip(*(ids[at:] for at in range(order)), strict=False)
            for (context, token), count in Counter(
                zip(contexts, ids[order:], strict=False)
            ).items():
                self._counts.setdefault(context, {})[token] = count

    def _extend(self, tokens: Sequence[int]) -> None:
        seen, counts = self._seen, self._counts
        for token in tokens:
            size = len(seen)
            if 0 <= self._from < size and seen[self._from] == token:
                self._from += 1
                self._run += 1
            else:
                self._from, self._run = -1, 0
            for order, last in zip(ORDERS, self._last, strict=True):
                if size >= order:
                    last[tuple(seen[size - order :])] = size
            for order in SHORT:
                if size >= order:
                    after = counts.setdefault(tuple(seen[size - order :]), {})
                    after[token] = after.get(token, 0) + 1
            seen.append(token)

    def propose(self, room: int) -> Draft | None:
        ids, chances, (place, run) = self._way(self._seen, room, self._from, self._run)
        if not ids:
            return None
        self._from, self._run = place, run
        return Draft(ids, chances, self.name)

    def ahead(self, ids: Sequence[int], room: int) -> Draft | None:
        found, chances, _ = self._way(ids, room, -1, 0)
        return Draft(found, chances, self.name) if found else None

    def _way(
        self, said: Sequence[int], room: int, place: int, run: int
    ) -> tuple[list[int], list[float], tuple[int, int]]:
        """Ids that followed such a tail before, their chances, and what the first of them follows:
        its place, and for how long it has been right."""
        seen = self._seen
        tail = list(said[-ORDERS[0] :])
        first = (place, run)
        ids: list[int] = []
        chances: list[float] = []
        alive = 1.0
        while len(ids) < room and alive > LEAST:
            if not 0 <= place < len(seen) or run < ORDERS[0]:
                place, run = self._place(tail, place, run)
            if 0 <= place < len(seen):
                token, chance = seen[place], self._chances[min(run, LENGTHS[-1])]
                place += 1
                run += 1
            else:
                token, chance = self._common(tail)
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

    def _place(self, tail: list[int], place: int, run: int) -> tuple[int, int]:
        """What to follow: the last occurrence of the longest context, unless already on it."""
        for order, last in zip(ORDERS, self._last, strict=True):
            if order <= run and 0 <= place < len(self._seen):
                return place, run
            if len(tail) >= order:
                found = last.get(tuple(tail[-order:]))
                if found is not None:
                    return found, order
        return -1, 0

    def _common(self, tail: list[int]) -> tuple[int, float]:
        """What followed most often, and the chance that it does again; -1 when nothing did."""
        for order in SHORT:
            after = self._counts.get(tuple(tail[-order:])) if len(tail) >= order else None
            if after:
                token = max(after, key=after.__getitem__)
                total = sum(after.values())
                return token, self._chances[order] * 2 * (after[token] + 0.0) / (total + 1)
        return -1, 0.0
