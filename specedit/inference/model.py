"""A model that can answer: it turns a Plan into ids, decodes them, and reports text as it comes.

`loading` makes one from a model's name. A request's prompt and prediction are tokenized once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from specedit.decode import FREE, Chunk, Done, Tally, cost
from specedit.edit.backend import Answer, Certainty, ModelInfo, Plan, Progress, Written
from specedit.edit.prompt import CONSTANT
from specedit.engines.base import Engine, Prefill, common
from specedit.errors import ModelError, TooLong
from specedit.inference.appeared import appeared
from specedit.inference.prefixes import Prefixes
from specedit.inference.reader import answer_ending, reader_of
from specedit.models.tokenizer import raw_ids
from specedit.syntax.lines import opcodes

if TYPE_CHECKING:
    from specedit.decode.drafters import SmallModel
    from specedit.decode.width import Widths
    from specedit.engines.exact.engine import ExactEngine
    from specedit.engines.exact.guessing import Guesser

Render = Callable[[Sequence[tuple[str, Sequence[str]]], str], list[int]]
EXTRA = 1024  # tokens that an answer may have beyond twice its prompt
COPY_EXTRA = 128  # tokens that a changed copy may have beyond nine eighths of its prompt


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
    heads: Mapping[str, Guesser] = field(default_factory=dict)
    prefixes: Prefixes | None = None

    def __post_init__(self) -> None:
        self._measured = self.widths.curve

    def keep_prefixes(self, limit: int) -> None:
        """Keep the KV caches of recent prompts, within `limit` bytes, if the engine can swap it."""
        if hasattr(self.engine, "swap"):
            self.prefixes = Prefixes(cast("ExactEngine", self.engine), limit)

    def close(self) -> None:
        """Mark a cost curve that the passes of this process did not follow."""
        if self.curve is not None and self.widths.curve != self._measured:
            with suppress(OSError):
                cost.invalidate(*self.curve)

    def prompt(self, plan: Plan) -> list[int]:
        if plan.raw is not None:
            raw = plan.raw
            return raw_ids(self.tokenizer, raw.text, raw.ids, raw.suffix, raw.parts)
        return self.render([(m.role, m.segments) for m in plan.messages], plan.opening)

    def _read_fixed(self, plan: Plan, prompt: list[int]) -> None:
        """Begin with the ids that no text of the user is in: the engine may have kept them."""
        read = getattr(self.engine, "read_fixed", None)
        if read is None:
            return
        for constant in CONSTANT:
            if plan.messages[: len(constant)] == constant:
                turns = [(message.role, message.segments) for message in constant]
                empty = self.render([*turns, ("user", ("",))], "")
                read(prompt[: common(empty, prompt)])
                break

    def warm(self, plan: Plan, progress: Progress) -> None:
        """Read the prompt into the cache."""
        prompt = self.prompt(plan)
        with self._cache_for(prompt, plan):
            for event in self.engine.begin(prompt):
                progress.prefill(event)

    def answer(self, plan: Plan, progress: Progress, *, count: bool = False) -> Answer:
        """The answer to a plan. `count`: with the numbers of predicted ids that appear in it."""
        from specedit.decode import drafters
        from specedit.decode.loop import decode

        prompt = self.prompt(plan)
        encode, ending = self.tokenizer.encode, answer_ending(plan.closing, self.tokenizer)
        predicted = None if plan.prediction is None else encode(plan.prediction)
        least = predicted if plan.least == plan.prediction else encode(plan.least)
        left = self._room(prompt, predicted, len(least or ()) + len(ending))
        reader = reader_of(plan, self.tokenizer)
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
            limit=min(left, plan.max_tokens or _most(plan, len(prompt))),
            sampling=plan.sampling,
            audit=plan.audit,
            unlike=[[*encode(text), *ending[:1]] for text in plan.unlike],
        )
        prefill_s = decode_s = 0.0
        reused = passes = 0
        drafts: dict[str, Tally] = {}
        written: list[int] = []
        margins: list[float] = []
        done = Done("stop")
        with self._cache_for(prompt, plan), closing(events):
            if plan.fresh:
                self.engine.crop(0)
            else:
                self._read_fixed(plan, prompt)
            for event in events:
                match event:
                    case Prefill():
                        prefill_s, reused = event.seconds, event.reused
                        progress.prefill(event)
                    case Chunk():
                        passes += 1
                        decode_s += event.seconds
                        written += event.tokens
                        margins += event.margins
                        if event.source != FREE:
                            tally = Tally(event.proposed, event.accepted)
                            drafts[event.source] = drafts.get(event.source, Tally()) + tally
                        progress.written(Written(event, reader.take()))
                    case Done():
                        done = event
        hits = appeared(predicted, written) if count and predicted else 0
        return Answer(
            text=reader.text(),
            reason=done.reason,
            closed=reader.closed,
            prompt=len(prompt),
            reused=reused,
            completion=len(written),
            passes=passes,
            drafts=drafts,
            prefill_s=prefill_s,
            decode_s=decode_s,
            logits_digest=done.logits_digest,
            appeared=hits,
            absent=len(predicted) - hits if count and predicted else 0,
            reasoning=reader.reasoning,
            certainty=certainty_of(written, margins, predicted or (), len(prompt))
            if margins
            else None,
        )

    @contextmanager
    def _cache_for(self, prompt: Sequence[int], plan: Plan) -> Iterator[None]:
        if self.prefixes is None:
            yield
            return
        self.prefixes.choose(prompt, fresh=plan.fresh)
        try:
            yield
        finally:
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
        left = self.engine.info.window - len(prompt)
        if left < max(1, needed):
            raise TooLong(
                f"The prompt and the answer need {len(prompt) + needed} tokens, and the model's "
                f"window has {self.engine.info.window}.",
                hint="Edit a part of the file: --lines A:B, or --symbol NAME.",
            )
        return left


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


def _most(plan: Plan, prompt: int) -> int:
    """Tokens after which an answer is cut off. It does not depend on the prediction, which changes
    the speed and never the text."""
    return prompt + prompt // 8 + COPY_EXTRA if plan.copies else 2 * prompt + EXTRA
