"""What a draft model gains for a large target that is not at hand.

    python -m benchmarks.pairs --times 1:331,8:387,16:396,32:444,64:595 \\
        --set model=qwen2.5-coder-1.5b --set draft_model=qwen2.5-coder-0.5b

The target's choices are those of `model`; each of its passes is delayed until it takes the
milliseconds of `--times`, a larger model's measured cost curve. Drafts take the time they take, and
the draft budget decides by those costs. New text only, where nothing can be copied.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from benchmarks.common import parser, resolved, run
from specedit.decode.cost import Clock, Curve
from specedit.decode.width import Widths
from specedit.edit.backend import Event, Message, Plan, Written, unreported
from specedit.inference.loading import load
from specedit.inference.model import LoadedModel

ASKED = (
    "Explain what a Bloom filter is, and when not to use one.",
    "Write a Python class LRUCache with get, put and a maximum size, with docstrings.",
    "Write a TypeScript function that groups an array of orders by customer and sums them.",
    "Write a Go function that reads a CSV file and returns the mean of each numeric column.",
)
LIMIT = 80


class Delayed:
    """An engine whose passes take as long as those of a larger model."""

    def __init__(self, engine: Any, curve: Curve) -> None:
        self._engine, self._curve = engine, curve

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def forward(self, ids: Sequence[int], parents: Sequence[int] | None = None) -> Any:
        end = time.perf_counter() + self._curve.seconds(len(ids))
        choices = self._engine.forward(ids, parents)
        time.sleep(max(0.0, end - time.perf_counter()))
        return choices


def measured(loaded: LoadedModel, curve: Curve, draft: tuple[str, ...]) -> dict[str, Any]:
    tokens = passes = 0
    drafting = seconds = 0.0
    loaded.widths = Widths(clock=Clock(curve))
    for text in ASKED:
        plan = Plan((Message("user", (text,)),), draft=draft, max_tokens=LIMIT, fresh=True)
        events: list[Event] = []
        passes += loaded.answer(plan, events.append).passes
        for chunk in (event.chunk for event in events if isinstance(event, Written)):
            tokens += len(chunk.tokens)
            drafting += chunk.drafting
            seconds += chunk.seconds
    return {
        "draft": ",".join(draft),
        "tokens": tokens,
        "passes": passes,
        "ms per token": round(seconds / tokens * 1000, 1),
        "drafting": round(drafting / seconds, 3),
        "times plain": round(curve.seconds(1) / (seconds / tokens), 2),
    }


def main() -> int:
    made = parser(__doc__, cases=False)
    made.add_argument("--times", required=True, help="WIDTH:MILLISECONDS,... of the target")
    options = made.parse_args()
    points = (pair.split(":") for pair in options.times.split(","))
    curve = Curve.of((int(width), float(ms) / 1000) for width, ms in points)
    loaded = load(resolved(options, draft="auto"), unreported)
    loaded.engine = Delayed(loaded.engine, curve)
    for draft in (("model",), ("candidates",), ("lookup", "candidates")):
        print(measured(loaded, curve, draft), flush=True)
    return 0


if __name__ == "__main__":
    run(main)
