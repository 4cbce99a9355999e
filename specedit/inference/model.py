"""A model that can answer: it turns a Plan into ids, decodes them, and reports text as it comes.

`loading` makes one from a model's name. A request's prompt and prediction are tokenized once. The
KV caches of recent prompts are kept: the longest common prefix with a new prompt is reused, and the
least recently used cache is dropped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from specedit.decode import FREE, Chunk, Done, Tally, cost
from specedit.edit.backend import Answer, Certainty, Emit, ModelInfo, Plan, Written
from specedit.edit.prompt import CONSTANT
from specedit.engines.base import Engine, Prefill, appeared, common
from specedit.errors import ModelError, TooLong
from specedit.inference.reader import Reader, answer_ending
from specedit.syntax.lines import opcodes

if TYPE_CHECKING:
    from specedit.decode.drafters import SmallModel
    from specedit.decode.width import Widths
    from specedit.engines.exact.engine import ExactEngine
    from specedit.engines.exact.guessing import Guesser, MtpGuesser
    from specedit.engines.exact.kernels.passes import KernelCache


CACHE_BYTES = 1 << 30  # for the KV caches of recent prompts


class Prefixes:
    """The caches of one engine's recent prompts, within `limit` bytes."""

    def __init__(self, engine: ExactEngine, limit: int) -> None:
        self._engine = engine
        self._others: list[KernelCache] = []  # all but the engine's own, least recently used first
        self._prompts: WeakKeyDictionary[KernelCache, int] = WeakKeyDictionary()  # their lengths
        self._bytes_per_id = 0.0
        self.limit = limit
        self.hits = self.misses = 0

    @property
    def entries(self) -> int:
        return len(self._others) + bool(self._engine.length)

    @property
    def bytes(self) -> int:
        return self._engine.cache.bytes + sum(cache.bytes for cache in self._others)

    def choose(self, prompt: Sequence[int], *, fresh: bool = False) -> None:
        """Give the engine the cache with the longest common prefix, or an empty one."""
        best, length = self._engine.cache, 0
        for cache in () if fresh else (self._engine.cache, *self._others):
            if (shared := common(cache.ids, prompt)) > length:
                best, length = cache, shared
        self.hits, self.misses = self.hits + bool(length), self.misses + (not length)
        if length and 2 * length >= self._prompts.get(best, 0):
            self._install(best)
        elif self._engine.cache.ids:
            # Taking the old cache over would drop the rest of its prompt: a short file that begins
            # like a long one would cost the long one.
            copy = self._engine.new_cache()
            if length:
                copy.copy(best, length)
            self._install(copy)
        self._prompts[self._engine.cache] = len(prompt)
        self._drop_past(self.limit - int(self._bytes_per_id * len(prompt)))

    def settle(self) -> None:
        """After a run: drop caches beyond the limit, the run's own last."""
        own = self._engine.cache
        if own.ids:
            self._bytes_per_id = own.bytes / len(own.ids)
        self._drop_past(self.limit - own.bytes)
        if own.bytes > self.limit:
            self._engine.swap(self._engine.new_cache())

    def _install(self, cache: KernelCache) -> None:
        if cache is not self._engine.cache:
            self._others = [other for other in self._others if other is not cache]
            replaced = self._engine.swap(cache)
            if replaced.ids:
                self._others.append(replaced)

    def _drop_past(self, left: int) -> None:
        size = sum(cache.bytes for cache in self._others)
        while self._others and size > left:
            size -= self._others.pop(0).bytes


Render = Callable[[Sequence[tuple[str, Sequence[str]]], str], list[int]]
EXTRA_TOKENS = 1024  # tokens that an answer may have beyond twice its prompt
MAX_RANKED = 3  # of a plan's choices, those that are told
EXTRA_COPY_TOKENS = 128  # tokens that a changed copy may have beyond nine eighths of its prompt


@dataclass
class LoadedModel:
    """A model that can answer: tokenizer, template, engine and what its passes cost here."""

    line: ModelInfo
    engine: Engine
    tokenizer: Any
    render: Render
    widths: Widths
    curve: tuple[Path, str] | None = None  # file and key of its stored cost curve
    small: SmallModel | None = None  # the draft model
    heads: Mapping[str, Guesser | MtpGuesser] = field(default_factory=dict)
    prefixes: Prefixes | None = None

    def keep_prefixes(self, limit: int) -> None:
        """Keep the KV caches of recent prompts, within `limit` bytes, if the engine can swap it."""
        if hasattr(self.engine, "swap"):
            self.prefixes = Prefixes(cast("ExactEngine", self.engine), limit)

    def close(self) -> None:
        """Mark a cost curve that the passes of this process did not follow."""
        if self.curve is not None and self.widths.curve != self.widths.measured:
            with suppress(OSError):
                cost.invalidate(*self.curve)

    def prompt(self, plan: Plan) -> list[int]:
        return self.render([(m.role, m.segments) for m in plan.messages], plan.opening)

    def warm(self, plan: Plan, emit: Emit) -> None:
        """Read the prompt into the cache."""
        prompt = self.prompt(plan)
        with self._prepared(plan, prompt):
            for event in self.engine.begin(prompt):
                emit(event)

    def answer(self, plan: Plan, emit: Emit, *, count: bool = False) -> Answer:
        """The answer to a plan. `count`: with the numbers of predicted ids that appear in it."""
        from specedit.decode import drafters
        from specedit.decode.loop import decode

        prompt = self.prompt(plan)
        if plan.choices and hasattr(self.engine, "weigh"):
            return self._ranked(plan, prompt, emit)
        encode, ending = self.tokenizer.encode, answer_ending(plan.closing, self.tokenizer)
        predicted = None if plan.prediction is None else encode(plan.prediction)
        least = predicted if plan.least == plan.prediction else encode(plan.least)
        left = self._room(prompt, predicted, len(least or ()) + len(ending))
        # Not by the prediction, which changes the speed and never the text
        copied = len(prompt) + len(prompt) // 8 + EXTRA_COPY_TOKENS
        most = copied if plan.copies else 2 * len(prompt) + EXTRA_TOKENS
        expected = plan.prediction or plan.least
        reader = Reader(
            self.tokenizer, plan.closing, plan.stop, nested=plan.nested, expected=expected
        )
        events = decode(
            self.engine,
            prompt,
            drafters=drafters.build(
                plan.draft,
                prediction=None if predicted is None else [*predicted, *ending],
                predictions=[[*encode(text), *ending] for text in plan.predictions],
                codec=self.tokenizer,
                instruction=encode(plan.instruction),
                small=self.small,
                sampling=plan.sampling,
                trees=self.engine.info.trees,
                heads=self.heads,
            ),
            widths=self.widths,
            ends=reader.ends,
            limit=min(left, plan.max_tokens or most),
            sampling=plan.sampling,
            audit=plan.audit,
            unlike=[[*encode(text), *ending[:1]] for text in plan.unlike],
        )
        prefill_s = decode_s = 0.0
        reused = passes = 0
        drafts: dict[str, Tally] = {}
        written: list[int] = []
        margins: list[float] = []
        reason, digest = "stop", None
        with self._prepared(plan, prompt), closing(events):
            for event in events:
                match event:
                    case Prefill():
                        prefill_s, reused = event.seconds, event.reused
                        emit(event)
                    case Chunk():
                        passes += 1
                        decode_s += event.seconds
                        written += event.tokens
                        margins += event.margins
                        if event.source != FREE:
                            tally = Tally(event.proposed, event.accepted)
                            drafts[event.source] = drafts.get(event.source, Tally()) + tally
                        emit(Written(event, reader.take()))
                    case Done():
                        reason, digest = event.reason, event.logits_digest
        hits = appeared(predicted, written) if count and predicted else 0
        return Answer(
            text=reader.text(),
            reason=reason,
            closed=reader.closed,
            prompt=len(prompt),
            reused=reused,
            completion=len(written),
            passes=passes,
            drafts=drafts,
            prefill_s=prefill_s,
            decode_s=decode_s,
            logits_digest=digest,
            appeared=hits,
            absent=len(predicted) - hits if count and predicted else 0,
            reasoning=reader.reasoning,
            certainty=certainty_of(written, margins, predicted or (), len(prompt))
            if margins
            else None,
        )

    def _ranked(self, plan: Plan, prompt: list[int], emit: Emit) -> Answer:
        """The likeliest of the plan's choices."""
        from specedit.decode.likeliest import Weighing, likeliest

        lines = {tuple(self.tokenizer.encode(f"{line}\n")): line for line in plan.choices}
        self._room(prompt, None, max(map(len, lines)))
        prefill = Prefill(0, 0, 0, 0.0)
        with self._prepared(plan, prompt):
            for prefill in self.engine.begin(prompt):
                emit(prefill)
            started = time.perf_counter()
            found, passes = likeliest(cast(Weighing, self.engine), prompt[-1], [*lines], MAX_RANKED)
        return Answer(
            text="".join(f"{lines[ids]}\n" for ids, _ in found),
            reason="stop",
            closed=True,
            prompt=len(prompt),
            reused=prefill.reused,
            completion=passes,
            passes=passes,
            prefill_s=prefill.seconds,
            decode_s=time.perf_counter() - started,
            ranked={lines[ids]: chance for ids, chance in found},
        )

    @contextmanager
    def _prepared(self, plan: Plan, prompt: list[int]) -> Iterator[None]:
        """The cache as a plan needs it: empty, or with what is known of the prompt. An engine
        may keep the ids that no text of the user is in; one that keeps states is told the end of
        what the next prompt likely shares."""
        engine: Any = self.engine
        if self.prefixes is not None:
            self.prefixes.choose(prompt, fresh=plan.fresh)
        try:
            if getattr(engine, "keeps_states", False) and plan.messages:
                *before, last = plan.messages
                turns = [(message.role, message.segments) for message in before]
                empty = self.render([*turns, (last.role, (*last.segments[:-1], ""))], "")
                engine.mark([common(prompt, empty)])
            if plan.fresh:
                engine.crop(0)
            elif hasattr(engine, "read_fixed"):
                for constant in CONSTANT:
                    if plan.messages[: len(constant)] == constant:
                        turns = [(message.role, message.segments) for message in constant]
                        empty = self.render([*turns, ("user", ("",))], "")
                        engine.read_fixed(prompt[: common(empty, prompt)])
            yield
        finally:
            if self.prefixes is not None:
                self.prefixes.settle()

    def _room(self, prompt: list[int], predicted: list[int] | None, needed: int) -> int:
        """How many ids the window has left for the answer; an error where `needed` do not fit."""
        largest = max((*prompt, *(predicted or ())), default=0)
        if largest >= self.engine.info.vocabulary:
            raise ModelError(
                f"the tokenizer writes the id {largest}, and the model has ids up to "
                f"{self.engine.info.vocabulary - 1}",
                hint="The tokenizer is another model's: fetch the model again, or use another.",
            )
        window, need = self.engine.info.window, f"need {len(prompt) + needed} tokens"
        if window - len(prompt) < max(1, needed):
            message = f"The prompt and the answer {need}, and the model's window has {window}."
            raise TooLong(message, hint="Edit a part of the file: --lines A:B, or --symbol NAME.")
        return window - len(prompt)


def certainty_of(
    written: Sequence[int], margins: Sequence[float], predicted: Sequence[int], prompt: int
) -> Certainty:
    """How sure an answer's choices were. It depends on the texts, and not on what was drafted."""
    chances = [-math.log1p(math.exp(-margin)) for margin in margins]
    kept: set[int] = set()
    for tag, _, _, first, last in opcodes(predicted, written):
        if tag == "equal":
            kept.update(range(first, last))
    changed = [chance for at, chance in enumerate(chances) if at not in kept]
    least = min(chances, default=0.0)
    return Certainty(
        sum(chances),
        sum(changed),
        len(changed),
        least,
        min((chances[at] for at in kept if at < len(chances)), default=0.0),
        prompt + chances.index(least) if chances else 0,
    )
