"""llama.cpp through llama-cpp-python on the same GGUF file, plain and with its prompt lookup.

A dictated task samples as always and then takes the dictated id.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from benchmarks.speed.peers import PeerOptions, PeerRun, Task, stops
from specedit.errors import UsageError


class LlamaCpp:
    """One llama.cpp context."""

    def __init__(self, llama: Any, tokenizer: Any, note: str) -> None:
        self._llama = llama
        self._tokenizer = tokenizer
        self.note = note

    def run(self, task: Task, way: str) -> PeerRun:
        llama = self._llama
        if llama.draft_model is not None:
            llama.draft_model.num_pred_tokens = int(way)
        llama.reset()  # nothing of an earlier prompt is reused
        llama.passes = 0
        llama.dictate(len(task.prompt), task.answer)
        ends = stops(self._tokenizer, task)
        tokens: list[int] = []
        started = first = time.perf_counter()
        for token in llama.generate(list(task.prompt), temp=0.0, top_k=1, repeat_penalty=1.0):
            if not tokens:
                first = time.perf_counter()
            tokens.append(int(token))
            if ends(tokens[-1]) or len(tokens) == task.limit:
                break
        done = time.perf_counter()
        return PeerRun(first - started, done - first, tuple(tokens), passes=llama.passes, early=1)


def _dictating() -> Any:
    """`llama_cpp.Llama` that chooses dictated ids, and counts its passes."""
    from llama_cpp import Llama

    class Dictating(Llama):
        passes = 0
        _prompt = 0
        _answer: tuple[int, ...] = ()

        def dictate(self, prompt: int, answer: tuple[int, ...]) -> None:
            self._prompt, self._answer = prompt, answer

        def eval(self, tokens: Sequence[int]) -> None:
            self.passes += 1
            super().eval(tokens)

        def sample(self, *args: Any, **kwargs: Any) -> int:
            chosen: int = super().sample(*args, **kwargs)
            idx = kwargs.get("idx")
            at = (self.n_tokens if idx is None else idx + 1) - self._prompt
            return self._answer[at] if 0 <= at < len(self._answer) else chosen

    return Dictating


def open_peer(options: PeerOptions) -> LlamaCpp:
    from llama_cpp import __version__
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    from specedit.models.resolve import present
    from specedit.models.vocabulary import load_tokenizer

    files = present(options.settings.model)
    if files.kind != "gguf":
        raise UsageError(f"llama.cpp reads GGUF files, and {files.name} is a folder.")
    llama = _dictating()(
        model_path=str(files.path),
        n_ctx=options.window,
        n_threads=options.threads,
        n_threads_batch=options.threads,
        draft_model=LlamaPromptLookupDecoding(num_pred_tokens=10) if options.lookup else None,
        logits_all=options.lookup,  # a lookup needs every row, and memory for it
        verbose=False,
    )
    note = f"llama-cpp-python {__version__}, the GGUF as it is, {options.threads} threads"
    return LlamaCpp(llama, load_tokenizer(files), note)
