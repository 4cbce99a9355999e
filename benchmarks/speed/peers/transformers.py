"""transformers' `generate` in bf16: greedy, with a prompt lookup, or with an assistant model.

The weights are those of the same file, dequantised. A dictated task is a logits processor that
leaves one id possible; it costs about 0.03 ms a position.
"""

from __future__ import annotations

import time
from typing import Any

import torch

from benchmarks.speed.peers import ASSISTED, PLAIN, PeerOptions, PeerRun, Task, cut, stops
from specedit.errors import ModelError
from specedit.models.resolve import present


class Transformers:
    """One model, `generate` for every task."""

    def __init__(self, model: Any, tokenizer: Any, assistant: str = "") -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._assistant_name = assistant
        self._assistant: Any = None  # loaded when it is first needed
        dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
        self.note = f"{dtype}, {torch.get_num_threads()} threads"

    @torch.inference_mode()
    def run(self, task: Task, way: str) -> PeerRun:
        prompt = torch.tensor([list(task.prompt)])
        clock, eos = _Clock(), sorted(self._tokenizer.ends)
        out = self._model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            max_new_tokens=task.limit,
            eos_token_id=None if task.dictated else eos,
            pad_token_id=eos[0],
            streamer=clock,
            stopping_criteria=[_stopping(self._tokenizer, task)],
            logits_processor=[dictating(task)] if task.dictated else [],
            **self._options(way),
        )
        done = time.perf_counter()
        tokens = cut(self._tokenizer, task, out[0, len(task.prompt) :].tolist())
        first, early = clock.first or done, min(clock.early, len(tokens))
        return PeerRun(first - clock.start, done - first, tokens, clock.passes, early=early)

    def _options(self, way: str) -> dict[str, Any]:
        if way == PLAIN:
            return {}
        if way != ASSISTED:
            return {"prompt_lookup_num_tokens": int(way)}
        if not self._assistant_name:
            raise ModelError("Assisted generation needs --draft-model NAME.")
        self._assistant = self._assistant or reference(self._assistant_name)
        return {"assistant_model": self._assistant}


class _Clock:
    """A streamer that notes when the first token came, and counts the passes."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.first: float | None = None
        self.passes = -1  # the first call is the prompt
        self.early = 0  # tokens of the first pass; a lookup may accept a draft in it

    def put(self, value: torch.Tensor) -> None:
        self.passes += 1
        if self.passes == 1:
            self.first, self.early = time.perf_counter(), value.numel()

    def end(self) -> None:
        pass


def dictating(task: Task) -> Any:
    """A logits processor that leaves one id possible."""

    def processor(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        at = ids.shape[1] - len(task.prompt)
        if at < len(task.answer):
            scores.fill_(float("-inf"))
            scores[0, task.answer[at]] = 0.0
        return scores

    return processor


def _stopping(tokenizer: Any, task: Task) -> Any:
    """A stopping criterion: the answer is over."""
    ends, seen = stops(tokenizer, task), len(task.prompt)

    def criterion(ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        nonlocal seen
        over = [ends(token) for token in ids[0, seen:].tolist()]
        seen = ids.shape[1]
        return torch.tensor([any(over)])

    return criterion


def open_peer(options: PeerOptions) -> Transformers:
    from specedit.models.vocabulary import load_tokenizer

    torch.set_num_threads(options.threads)
    settings = options.settings
    tokenizer = load_tokenizer(present(settings.model))
    return Transformers(reference(settings.model), tokenizer, settings.draft_model)


def reference(name: str) -> Any:
    """transformers' model over the same weights, in bf16. A folder's own generation settings, such
    as a repetition penalty, are left out."""
    from transformers import GenerationConfig

    from specedit.engines.huggingface.loading import load

    model = load(present(name), torch.bfloat16).eval()
    model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
    return model
