"""One request's drafts: the loop's drafters and widths, asked one step at a time.

The loop (`decode.loop`) owns an engine; here the engine is somebody else's, and calls. Knows ids
and what a step costs. Does not know vLLM, requests or text beyond the codec.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specedit.decode.cost import Curve
from specedit.decode.drafters.base import Codec, Draft, Drafter
from specedit.decode.drafters.lookup import LookupDrafter
from specedit.decode.drafters.prediction import PredictionDrafter
from specedit.decode.width import Widths

MOST = 128  # ids of a draft that vLLM takes in one step
PREDICTION = "specedit_prediction"  # the argument of a request that brings the ids
START_S = 0.001  # of drafting, before any draft held
ALLOWED = 0.01  # of plain decoding's time
NEXT = -1  # stands between two predictions in one list of ids


@dataclass
class Purse:
    """Seconds that one request's drafting may take of the server, whose steps wait for it.

    A step earns half of what its draft saved: a request's share of a step for each id accepted,
    less what the offered ids cost; what a bad draft wastes is the widths' affair. A hundredth of
    plain decoding is given, and a little to begin with. Who has spent all sleeps: so however
    wrong a prediction is, and however fast the server, drafting takes a few hundredths of its
    time."""

    clock: Callable[[], float] = time.thread_time
    left: float = START_S
    share: float = 0.0  # of a step, in seconds, that is one request's

    def price(self, share: float) -> None:
        if not self.share:
            self.left += share
        self.share = share

    def earn(self, written: int, offered: int, each: float) -> None:
        """A step wrote so many ids, and was offered some at so much."""
        saved = (written - 1) * self.share - offered * each
        self.left += max(0.0, saved / 2) + ALLOWED * written * self.share

    @property
    def empty(self) -> bool:
        return self.left < 0


class Drafting:
    """The drafters of one answer.

    `propose` before a step, `commit` after it. What was proposed and not offered (the batch was
    full, the request was preempted) is no trial: `offered` says how much was. What the answer
    wrote is read when a draft is wanted next, so that one who sleeps costs nothing."""

    def __init__(
        self,
        prompt: Sequence[int],
        predictions: Sequence[Sequence[int]],
        codec: Codec | None = None,
        *,
        most: int = MOST,
        purse: Purse | None = None,
    ) -> None:
        self._drafters: list[Drafter] = [
            PredictionDrafter(ids, codec) for ids in predictions if ids
        ]
        self._drafters.append(LookupDrafter())
        self._widths = Widths(Curve.line(1.0, 1.0), widest=1 + most)
        self._draft: Draft | None = None
        self._offered = 0
        self._ratio = 0.0
        self._purse = purse or Purse()
        self._unread: list[tuple[Draft | None, int, list[int]]] = []
        for drafter in self._drafters:
            drafter.begin(prompt)
        self.written = 0  # ids of the answer that the drafters have been told

    def propose(self, room: int, ratio: float, share: float = math.inf) -> list[int]:
        """The ids worth offering, at most `room`; a step costs `ratio` ids besides its own, and
        `share` seconds of it are this request's."""
        self._purse.price(share)
        if self._purse.empty or room < 1:
            return []
        began = self._purse.clock()
        ids = self._proposed(room, ratio)
        self._purse.left -= self._purse.clock() - began
        return ids

    def _proposed(self, room: int, ratio: float) -> list[int]:
        self._read()
        if ratio != self._ratio:
            self._widths.take(Curve.line(ratio, 1.0))
            if not self._ratio:
                self._widths.begin()
            self._ratio = ratio
        room = min(room, self._widths.room)
        drafts = [d for drafter in self._drafters if room > 0 and (d := drafter.propose(room))]
        chosen = self._widths.choose(drafts)
        self._draft, self._offered = chosen if chosen else (None, 0)
        return list(self._draft.ids[: self._offered]) if self._draft else []

    def _read(self) -> None:
        for draft, offered, tokens in self._unread:
            self._widths.learn(draft, offered, tokens, 0.0)
            for drafter in self._drafters:
                drafter.commit(tokens)
        self._unread.clear()

    def offered(self, length: int) -> None:
        """The step took so many of the ids that were proposed."""
        self._offered = min(self._offered, length)
        if self._offered == 0:
            self._draft = None

    def commit(self, tokens: Sequence[int]) -> None:
        """The answer went on with `tokens`."""
        if not tokens:
            return
        each = self._purse.share / (self._ratio + 1)
        self._purse.earn(len(tokens), self._offered, each)
        if self._draft is None and self._unread and self._unread[-1][0] is None:
            self._unread[-1][2].extend(tokens)
        else:
            self._unread.append((self._draft, self._offered, list(tokens)))
        self._draft, self._offered = None, 0
        self.written += len(tokens)


def joined(predictions: Sequence[Sequence[int]]) -> list[int]:
    """Several predictions as one list of ids, which is what a request may carry."""
    found: list[int] = []
    for ids in predictions:
        found += [*([NEXT] if found else []), *ids]
    return found


def parted(ids: Sequence[int], most: int) -> list[list[int]]:
    """The predictions in such a list, each cut where no answer can reach."""
    found: list[list[int]] = [[]]
    for token in ids:
        if token == NEXT:
            found.append([])
        else:
            found[-1].append(token)
    return [part[:most] for part in found if part]
