"""One request's drafts: the loop's drafters and widths, asked one step at a time.

The loop (`decode.loop`) owns an engine; here the engine is somebody else's, and calls.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from specedit.decode.cost import Curve
from specedit.decode.drafter import Codec, Draft
from specedit.decode.drafters.lookup_drafter import LookupDrafter
from specedit.decode.drafters.prediction_drafter import PredictionDrafter
from specedit.decode.drafters.predictions import MOST as MANY
from specedit.decode.width import Widths

MOST = 128  # ids of a draft that vLLM takes in one step
PREDICTION = "specedit_prediction"  # the argument of a request that brings the ids
START = 2.0  # of a request's shares of a step: what drafting may take before any draft held
ALLOWED = 0.01  # of plain decoding's time
REST = 32  # ids after which somebody who rests looks again at what the server's steps cost
SURE = 0.9  # a prediction this likely to go on needs no second opinion
READ_S = 1.5e-6  # for each id of a prediction or prompt that is read to find places in it
NEXT = -1  # stands between two predictions in one list of ids


@dataclass
class Purse:
    """Seconds that one request's drafting may take of the server, whose steps wait for it.

    A step earns half of what its draft saved: a request's share of a step for each id accepted,
    less what the offered ids cost; what a bad draft wastes is the widths' affair. A hundredth of
    plain decoding is given, and two ids' time to begin with. Who cannot pay for another look
    rests: so however wrong a prediction is, and however fast the server, drafting takes a few
    hundredths of its time."""

    clock: Callable[[], float] = time.thread_time
    left: float = 0.0
    share: float = 0.0  # of a step, in seconds, that is one request's
    _look: float = 0.0  # what a look takes

    def price(self, share: float) -> None:
        if not self.share:
            self.left = START * share
        self.share = share

    def earn(self, written: int, held: int = 0, paid: float = 0.0) -> None:
        """So many ids were written; `held` of them were drafted, for what the step cost more."""
        self.left += max(0.0, held * self.share - paid) / 2 + ALLOWED * written * self.share

    def spend(self, seconds: float) -> None:
        self.left -= seconds
        self._look = (self._look + seconds) / 2 if self._look else seconds

    def expect(self, seconds: float) -> None:
        """The next look takes so much more."""
        self._look += seconds

    @property
    def rest(self) -> int:
        """Ids to be written until another look can be paid for."""
        lacks = self._look - self.left
        return math.ceil(lacks / (ALLOWED * self.share)) if lacks > 0 else 0


class Drafting:
    """The drafters of one answer.

    `propose` before a step, `commit` after it; neither is needed while it rests. What was
    proposed and not offered (the batch was full, the request was preempted) is no trial:
    `offered` says how much was. The drafters read what the answer wrote when a draft is wanted
    next, and lookup is made when the prediction first goes wrong, so that who needs neither pays
    for neither."""

    def __init__(
        self,
        prompt: Sequence[int],
        predictions: Sequence[Sequence[int]],
        codec: Codec | None = None,
        *,
        most: int = MOST,
        purse: Purse | None = None,
    ) -> None:
        self._prompt = prompt
        self._followers = [PredictionDrafter(ids, codec) for ids in predictions if ids]
        self._lookup: LookupDrafter | None = None
        self._size = sum(map(len, predictions))
        self._strayed = False
        self._answer: list[int] = []  # what a lookup that is made late has to read
        self._unread: list[int] = []
        self._widths = Widths(_line(1.0), widest=1 + most)
        self._draft: Draft | None = None
        self._offered = 0
        self._ratio = 0.0
        self._purse = purse or Purse()
        self.rest = 0  # ids to be written before it is worth asking again
        self.written = 0  # ids of the answer that it was told

    def propose(self, room: int, ratio: float, share: float = math.inf) -> list[int]:
        """The ids worth offering, at most `room`; a step costs `ratio` ids besides its own, and
        `share` seconds of it are this request's."""
        self._purse.price(share)
        if ratio != self._ratio:
            self._widths.set_curve(_line(ratio))
            if not self._ratio:
                self._widths.begin()
            self._ratio = ratio
        self.rest = min(REST, max(self._purse.rest, self._widths.wait))
        if self.rest or room < 1:
            return []
        began = self._purse.clock()
        ids = self._proposed(min(room, self._widths.draft_limit))
        self._purse.spend(self._purse.clock() - began)
        return ids

    def _proposed(self, room: int) -> list[int]:
        for drafter in (*self._followers, *((self._lookup,) if self._lookup else ())):
            drafter.commit(self._unread)
        if self._lookup is None:
            self._answer += self._unread
        self._unread.clear()
        drafts = [draft for one in self._followers if (draft := one.propose(room))]
        if not any(draft.chances[0] >= SURE for draft in drafts):
            drafts += self._looked_up(room)
        chosen = self._widths.choose(drafts)
        self._draft, self._offered = chosen if chosen else (None, 0)
        return list(self._draft.ids[: self._offered]) if self._draft else []

    def _looked_up(self, room: int) -> list[Draft]:
        """Lookup's draft; it is made here, where reading the prompt can be paid for."""
        if self._lookup is None:
            if self._purse.left < READ_S * (len(self._prompt) + len(self._answer)):
                return []
            self._lookup = LookupDrafter()
            self._lookup.begin([*self._prompt, *self._answer])
            self._answer = []
        draft = self._lookup.propose(room)
        return [draft] if draft else []

    def offered(self, length: int) -> None:
        """The step took so many of the ids that were proposed."""
        self._offered = min(self._offered, length)
        if self._offered == 0:
            self._draft = None

    def commit(self, tokens: Sequence[int]) -> None:
        """The answer went on with `tokens`, in one step or, after a rest, in several."""
        if not tokens:
            return
        held = len(tokens) - 1 if self._draft else 0
        if held < self._offered and not self._strayed:
            self._strayed = True  # now the prediction's places are to be indexed
            self._purse.expect(READ_S * self._size)
        each = self._purse.share / (self._ratio + 1)
        self._purse.earn(len(tokens), held, self._offered * each)
        self._widths.learn(self._draft, self._offered, tokens, 0.0)
        self._draft, self._offered = None, 0
        self._unread += tokens
        self.written += len(tokens)


@lru_cache(maxsize=64)
def _line(ratio: float) -> Curve:
    return Curve.line(ratio, 1.0)


def joined(predictions: Sequence[Sequence[int]], most: int) -> list[int]:
    """Several predictions as one list of ids, which is what a request may carry: `MANY` at most,
    each cut where no answer can reach."""
    results: list[int] = []
    for ids in predictions[:MANY]:
        results += [*([NEXT] if results else []), *ids[:most]]
    return results


def parted(ids: Iterable[int], most: int) -> list[list[int]]:
    """The predictions in such a list, which may have come from anywhere."""
    results: list[list[int]] = [[]]
    for token in islice(ids, MANY * (most + 1)):
        if token == NEXT:
            results.append([])
        else:
            results[-1].append(token)
    return [part[:most] for part in results if part][:MANY]
