"""A model that can answer: it turns Plans into ids, runs them, and gives text back as events.

Knows decoding and the tokenizer's seam. Does not know where a model comes from; `starting` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from specedit.decode import cost
from specedit.decode.events import Chunk, Done
from specedit.edit.answer import reader_of, whole_answer
from specedit.edit.backend import Answer, Event, Written
from specedit.edit.plan import Plan
from specedit.edit.report import ModelLine
from specedit.engines.base import Engine, Prefill
from specedit.errors import TooLong

if TYPE_CHECKING:
    from specedit.decode.drafters import LoadedHeads, SmallModel
    from specedit.decode.width import Widths
    from specedit.heads.kept import Keeper

Render = Callable[[Sequence[tuple[str, Sequence[str]]], str], list[int]]
ROOM = 1024  # tokens an answer may have beyond twice its prompt,
COPY_ROOM = 128  # and a copy, beyond nine eighths of it


class Loaded:
    """A model that can answer: tokenizer, template, engine and what its passes cost here."""

    def __init__(
        self,
        line: ModelLine,
        engine: Engine,
        tokenizer: Any,
        render: Render,
        widths: Widths,
        curve: tuple[Path, str] | None = None,  # the file and key its cost curve is kept under
        small: SmallModel | None = None,  # drafts for it
        heads: Mapping[str, LoadedHeads] | None = None,  # likewise
        keeper: Keeper | None = None,  # keeps answers in which heads were wrong
    ) -> None:
        self.line = line
        self.engine = engine
        self.tokenizer = tokenizer
        self._render = render
        self._widths = widths
        self._curve = curve
        self.small = small
        self.heads = heads or {}
        self._keeper = keeper
        self._measured = widths.curve

    def close(self) -> None:
        """A curve that this run's passes did not follow is measured again, some time."""
        if self._curve is not None and self._widths.curve != self._measured:
            with suppress(OSError):
                cost.invalidate(*self._curve)

    def prompt(self, plan: Plan) -> list[int]:
        return self._render([(m.role, m.segments) for m in plan.messages], plan.opening)

    def expected(self, plan: Plan) -> list[int] | None:
        """The prediction's ids, its closing line and the end included."""
        return None if plan.prediction is None else self._ids(plan.prediction, plan)

    def _ids(self, text: str, plan: Plan) -> list[int]:
        return whole_answer(text, plan.closing, self.tokenizer)

    def _trees(self, plan: Plan) -> bool:
        """Whether a pass may be a tree, asked only where somebody could draft one."""
        if isinstance(self.engine, Provable) and plan.draft and (self.small or self.heads):
            self.engine.prove()
        return self.engine.info.trees

    def run(self, plan: Plan) -> Iterator[Event]:
        from specedit.decode import drafters
        from specedit.decode.loop import decode

        prompt, expected = self.prompt(plan), self.expected(plan)
        window = self.engine.info.window
        left = window - len(prompt)
        least = expected if plan.least == plan.prediction else self._ids(plan.least, plan)
        needed = len(least or ())
        if left < max(1, needed):
            raise TooLong(
                f"The prompt and the answer need {len(prompt) + needed} tokens, and the model's "
                f"window has {window}.",
                hint="Edit a part of the file: --lines A:B, or --symbol NAME.",
            )
        if plan.fresh:
            self.engine.crop(0)
        reader = reader_of(plan, self.tokenizer)
        keeper = self._keeper
        chunks = decode(
            self.engine,
            prompt,
            drafters=[
                *([keeper] if keeper else []),
                *drafters.build(
                    plan.draft,
                    prediction=expected,
                    predictions=[self._ids(text, plan) for text in plan.predictions],
                    codec=self.tokenizer,
                    instruction=self.tokenizer.encode(plan.instruction),
                    small=self.small,
                    sampling=plan.sampling,
                    trees=self._trees(plan),
                    heads=self.heads,
                ),
            ],
            widths=self._widths,
            ends=reader.ends,
            limit=min(left, plan.max_tokens or _most(plan, len(prompt))),
            sampling=plan.sampling,
            audit=plan.audit,
        )
        prefill_s = decode_s = 0.0
        reused = completion = 0
        for event in chunks:
            match event:
                case Prefill():
                    prefill_s, reused = event.seconds, event.reused
                    yield event
                case Chunk():
                    if keeper:
                        keeper.judged(event.source, event.proposed, event.accepted)
                    decode_s += event.seconds
                    completion += len(event.tokens)
                    yield Written(event, reader.take())
                case Done():
                    if keeper:
                        keeper.settle()
                    yield Answer(
                        text=reader.text(),
                        reason=event.reason,
                        closed=reader.closed,
                        prompt=len(prompt),
                        reused=reused,
                        completion=completion,
                        prefill_s=prefill_s,
                        decode_s=decode_s,
                        logits_digest=event.logits_digest,
                    )


@runtime_checkable
class Provable(Protocol):
    """An engine that finds out by trying whether its model takes trees."""

    def prove(self) -> None: ...


def _most(plan: Plan, prompt: int) -> int:
    """How many tokens an answer may have before the model is taken to have lost the thread. The
    prediction has no say in it: it changes the speed, never the text."""
    return prompt + prompt // 8 + COPY_ROOM if plan.copies else 2 * prompt + ROOM
