"""transformers' `generate` in bf16: greedy, and with `prompt_lookup_num_tokens`.

The weights are those of the same file, dequantised. A dictated task is a logits processor that
leaves one id possible, which costs about 0.03 ms a position.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from specedit.bench.peers import ASSISTED
from specedit.bench.peers.base import PeerOptions, PeerRun, Task, cut, ender
from specedit.errors import ModelError
from specedit.models.resolve import present

if TYPE_CHECKING:
    from specedit.models.files import ModelFiles


class Transformers:
    """One model, `generate` for every task."""

    def __init__(self, model: Any, tokenizer: Any, assistant: str = "") -> None:
        self._model = model
        self._assistant = assistant  # the draft model's name, loaded when it is first asked
        self._assisting: Any = None
        self._tokenizer = tokenizer
        dtype = str(next(model.parameters()).dtype).removeprefix("torch.")
        self.note = f"{dtype}, {torch.get_num_threads()} threads"

    @torch.inference_mode()
    def run(self, task: Task, way: str) -> PeerRun:
        prompt = torch.tensor([list(task.prompt)])
        clock = _FirstToken()
        ends = sorted(self._tokenizer.ends)
        more = self._more(way)
        if task.dictated:
            more["logits_processor"] = [_Dictated(len(task.prompt), task.answer)]
        else:
            more["stopping_criteria"] = [_Ended(self._tokenizer, task)]
        out = self._model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            max_new_tokens=min(task.limit, len(task.answer) or task.limit),
            eos_token_id=None if task.dictated else ends,
            pad_token_id=ends[0],
            streamer=clock,
            **more,
        )
        done = time.perf_counter()
        tokens = cut(self._tokenizer, task, out[0, len(task.prompt) :].tolist())
        first = clock.first or done
        ahead = min(clock.ahead, len(tokens))
        return PeerRun(first - clock.start, done - first, tokens, passes=clock.passes, ahead=ahead)

    def _more(self, way: str) -> dict[str, Any]:
        """What `generate` is told beside the prompt."""
        if way == "greedy":
            return {}
        if way != ASSISTED:
            return {"prompt_lookup_num_tokens": int(way)}
        if not self._assistant:
            raise ModelError("Assisted generation needs --draft-model NAME.")
        if self._assisting is None:
            from transformers import GenerationConfig

            self._assisting = reference(present(self._assistant))
            self._assisting.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
        return {"assistant_model": self._assisting}


class _FirstToken:
    """A streamer that notes when the first token came, and how many passes there were."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.first: float | None = None
        self.passes = -1  # the first call is the prompt
        self.ahead = 0  # tokens of the first pass: with a lookup it may accept a draft already

    def put(self, value: torch.Tensor) -> None:
        self.passes += 1
        if self.passes == 1:
            self.first, self.ahead = time.perf_counter(), value.numel()

    def end(self) -> None:
        pass


class _Dictated:
    """Leaves one id possible."""

    def __init__(self, start: int, answer: tuple[int, ...]) -> None:
        self._start = start
        self._answer = answer

    def __call__(self, ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        at = ids.shape[1] - self._start
        if at < len(self._answer):
            scores.fill_(float("-inf"))
            scores[0, self._answer[at]] = 0.0
        return scores


class _Ended:
    """Stops where specedit's own reader says that the answer is over."""

    def __init__(self, tokenizer: Any, task: Task) -> None:
        self._reader = ender(tokenizer, task)
        self._seen = len(task.prompt)

    def __call__(self, ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        over = False
        for token in ids[0, self._seen :].tolist():
            over = over or self._reader.ends(token)
        self._seen = ids.shape[1]
        return torch.tensor([over])


def open_peer(options: PeerOptions) -> Transformers:
    from transformers import GenerationConfig

    from specedit.models.vocabulary import load_tokenizer

    files = present(options.model)
    torch.set_num_threads(options.threads)
    model = reference(files)
    # a folder's own configuration may punish repetition
    model.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
    return Transformers(model, load_tokenizer(files), options.settings.draft_model)


def reference(files: ModelFiles) -> Any:
    """transformers' model over the same weights, in bf16."""
    from specedit.engines.huggingface import load

    return load(files, torch.bfloat16).eval()
