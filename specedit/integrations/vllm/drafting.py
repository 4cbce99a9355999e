"""One request's drafts: the drafters and widths of `decode`, asked one step of the server at a
time; what the server's steps cost; and the tokenizer of the model that it serves.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from specedit.decode import Codec, Draft
from specedit.decode.cost import Curve
from specedit.decode.drafters.lookup_drafter import LookupDrafter
from specedit.decode.drafters.prediction_drafter import MAX_PREDICTIONS, PredictionDrafter
from specedit.decode.width import Widths
from specedit.errors import SpeceditError
from specedit.models.tokenizer import Tokenizer

MAX_DRAFT_IDS = 128  # ids of a draft that vLLM takes in one step
PREDICTION = "specedit_prediction"  # the argument of a request that holds the ids
START = 2.0  # budget at first, in shares of a step
BUDGET_PER_ID = 0.01  # budget per id written, in shares of a step
REST = 32  # ids after which a resting request looks again at the server's costs
SURE_PROBABILITY = 0.9  # no lookup if a prediction is this likely to continue
READ_S = 1.5e-6  # seconds to index one id of a prediction or prompt
RECENT_STEPS = 9  # steps of a size whose median counts
STEPS_BETWEEN_LOOKS = 8  # steps between looks at the line
MIN_START = 1.001  # `start` in ids is at least this: never less than one id's cost
GRAIN = 8  # values of the ratio per power of two
NEXT = -1  # between two predictions in one list of ids
log = logging.getLogger("vllm.specedit")


@dataclass
class RequestBudget:
    """Seconds that drafting for one request may take while the server's step waits.

    A step adds half of what its draft saved: a request's share of a step for each id accepted,
    less the cost of the ids offered (`decode.width` limits what bad drafts cost). A hundredth of
    plain decoding is added, and two shares at first. A request whose budget is too small for its
    next draft rests, so drafting takes a few hundredths of the time however wrong a prediction is.
    """

    clock: Callable[[], float] = time.thread_time
    left: float = 0.0
    share: float = 0.0  # of a step, in seconds, that is one request's
    _draft_s: float = 0.0  # what the next draft takes, by the last ones

    def set_share(self, share: float) -> None:
        if not self.share:
            self.left = START * share
        self.share = share

    def earn(self, written: int, accepted: int = 0, paid: float = 0.0) -> None:
        """A step wrote `written` ids, `accepted` of them drafted, and offering cost `paid`."""
        self.left += max(0.0, accepted * self.share - paid) / 2
        self.left += BUDGET_PER_ID * written * self.share

    def spend(self, seconds: float) -> None:
        self.left -= seconds
        self._draft_s = (self._draft_s + seconds) / 2 if self._draft_s else seconds

    def expect(self, seconds: float) -> None:
        """The next draft takes this much more."""
        self._draft_s += seconds

    @property
    def rest(self) -> int:
        """Ids to be written until the budget allows the next draft."""
        missing = self._draft_s - self.left
        return math.ceil(missing / (BUDGET_PER_ID * self.share)) if missing > 0 else 0


class Drafting:
    """The drafters of one answer.

    Call `propose` before a step and `commit` after it, neither while it rests. `offered` says how
    many of the proposed ids the step took: the batch can be full. Drafters read the answer when a
    draft is wanted next, and lookup is created when the prediction is first wrong, so that a
    request pays for neither without need."""

    def __init__(
        self,
        prompt: Sequence[int],
        predictions: Sequence[Sequence[int]],
        codec: Codec | None = None,
        *,
        budget: RequestBudget | None = None,
    ) -> None:
        self._prompt = prompt
        self._followers = [PredictionDrafter(ids, codec) for ids in predictions if ids]
        for follower in self._followers:
            follower.begin(())
        self._lookup: LookupDrafter | None = None
        self._size = sum(map(len, predictions))
        self._diverged = False
        self._answer: list[int] = []  # for a lookup that is created later
        self._unread: list[int] = []
        self._widths = Widths(_line(1.0), widest=1 + MAX_DRAFT_IDS)
        self._draft: Draft | None = None
        self._offered = 0
        self._ratio = 0.0
        self._budget = budget or RequestBudget()
        self.rest = 0  # ids to be written before it is worth asking again
        self.written = 0  # ids of the answer that were committed

    def propose(self, most: int, ratio: float, share: float = math.inf) -> list[int]:
        """The ids worth offering; a step costs `ratio` ids more, `share` seconds of it ours."""
        self._budget.set_share(share)
        if ratio != self._ratio:
            self._widths.set_curve(_line(ratio))
            if not self._ratio:
                self._widths.begin()
            self._ratio = ratio
        self.rest = min(REST, max(self._budget.rest, self._widths.wait))
        if self.rest or most < 1:
            return []
        began = self._budget.clock()
        ids = self._proposed(min(most, self._widths.draft_limit))
        self._budget.spend(self._budget.clock() - began)
        return ids

    def _proposed(self, most: int) -> list[int]:
        for drafter in (*self._followers, *((self._lookup,) if self._lookup else ())):
            drafter.commit(self._unread)
        if self._lookup is None:
            self._answer += self._unread
        self._unread.clear()
        drafts = [draft for follower in self._followers if (draft := follower.propose(most))]
        if not any(draft.chances[0] >= SURE_PROBABILITY for draft in drafts):
            drafts += self._looked_up(most)
        chosen = self._widths.choose(drafts)
        self._draft, self._offered = chosen if chosen else (None, 0)
        return list(self._draft.ids[: self._offered]) if self._draft else []

    def _looked_up(self, most: int) -> list[Draft]:
        """Lookup's draft; lookup is created once the budget allows reading the prompt."""
        if self._lookup is None:
            if self._budget.left < READ_S * (len(self._prompt) + len(self._answer)):
                return []
            self._lookup = LookupDrafter()
            self._lookup.begin([*self._prompt, *self._answer])
            self._answer = []
        draft = self._lookup.propose(most)
        return [draft] if draft else []

    def offered(self, length: int) -> None:
        """The step took so many of the ids that were proposed."""
        self._offered = min(self._offered, length)
        if self._offered == 0:
            self._draft = None

    def commit(self, tokens: Sequence[int]) -> None:
        """The answer continues with `tokens`, from one step or, after a rest, from several."""
        if not tokens:
            return
        accepted = len(tokens) - 1 if self._draft else 0
        if accepted < self._offered and not self._diverged:
            self._diverged = True  # the next draft indexes the predictions
            self._budget.expect(READ_S * self._size)
        each = self._budget.share / (self._ratio + 1)
        self._budget.earn(len(tokens), accepted, self._offered * each)
        self._widths.learn(self._draft, self._offered, tokens, 0.0)
        self._draft, self._offered = None, 0
        self._unread += tokens
        self.written += len(tokens)


@lru_cache(maxsize=64)
def _line(ratio: float) -> Curve:
    return Curve.line(ratio, 1.0)


class Steps:
    """Seconds of a server's step of n ids: `start + each * n`, a line through the medians of recent
    steps of each size. At first, a step costs as much as forty ids more."""

    def __init__(self) -> None:
        self.start, self.each = 40.0, 1.0
        self._recent: dict[int, deque[tuple[int, float]]] = {}
        self._count = 0

    def add(self, ids: int, seconds: float) -> None:
        """A step without a prompt took so many seconds for `ids` ids."""
        if ids < 1 or seconds <= 0:
            return
        size = ids.bit_length()
        self._recent.setdefault(size, deque(maxlen=RECENT_STEPS)).append((ids, seconds))
        self._count += 1
        if self._count == 1 or self._count % STEPS_BETWEEN_LOOKS == 0:
            self._fit()

    @property
    def known(self) -> bool:
        """Whether a step was measured."""
        return self._count > 0

    def _fit(self) -> None:
        """The line through the medians, by relative errors; of one size, the last line scaled."""
        import numpy as np

        medians = [np.median(list(recent), axis=0) for recent in self._recent.values()]
        ids, seconds = np.array(medians).T
        if len(medians) == 1:
            scale = float(seconds[0]) / (self.start + self.each * float(ids[0]))
            self.start, self.each = self.start * scale, self.each * scale
            return
        self.each, self.start = map(float, np.polyfit(ids, seconds, 1, w=1 / seconds))
        if self.each <= 0:  # wider steps were no dearer: an id more is nearly free
            self.start = float(np.average(seconds, weights=1 / seconds**2))
            self.each = self.start / 1000
        if self.start < self.each:
            relative = ids / seconds
            self.each = float(relative.sum() / (relative**2).sum())
            self.start = self.each * MIN_START

    def share(self, requests: int) -> float:
        """One request's seconds of a step without drafts, of so many requests."""
        return self.start / max(1, requests) + self.each

    def ratio(self, requests: int) -> float:
        """The cost of a request's share of a step besides its own id, in ids.

        An id more costs the server `each`; a step less of one request saves its id and its share
        of `start`, because the others continue. So the fuller the batch, the less a draft may
        cost. The drafts of other requests do not count: they are verified anyway. The result is
        rounded, so that few curves are needed."""
        exact = max(self.share(requests) / self.each - 1, 1 / 64)
        return float(2 ** (round(math.log2(exact) * GRAIN) / GRAIN))


def joined(predictions: Sequence[Sequence[int]], most: int) -> list[int]:
    """Several predictions as one list of ids, each cut where no answer can reach."""
    results: list[int] = []
    for ids in predictions[:MAX_PREDICTIONS]:
        results += [*([NEXT] if results else []), *ids[:most]]
    return results


def parted(ids: Iterable[int], most: int) -> list[list[int]]:
    """The predictions in such a list, which a client may have made."""
    results: list[list[int]] = [[]]
    for token in islice(ids, MAX_PREDICTIONS * (most + 1)):
        if token == NEXT:
            results.append([])
        else:
            results[-1].append(token)
    return [part[:most] for part in results if part][:MAX_PREDICTIONS]


def served_tokenizer(model: str) -> Tokenizer | None:
    """The tokenizer of a folder or hub id; None without a readable `tokenizer.json`."""
    from specedit.models.store import ModelFiles
    from specedit.models.vocabulary import load_tokenizer

    folder = Path(model)
    try:
        if not folder.is_dir():
            from huggingface_hub import hf_hub_download

            folder = Path(hf_hub_download(model, "tokenizer.json", local_files_only=True)).parent
        return load_tokenizer(ModelFiles(model, folder, "folder"))
    except (SpeceditError, OSError, ValueError, KeyError) as problem:
        log.warning("specedit: no tokenizer for %s: %s", model, problem)
        return None
