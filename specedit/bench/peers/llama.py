"""llama.cpp through llama-cpp-python, one token at a time, from the same GGUF file.

A dictated task samples as always and then takes the dictated id.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from specedit.bench.peers.base import PeerOptions, PeerRun, Task, ender
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
        reader = None if task.dictated else ender(self._tokenizer, task)
        limit = min(task.limit, len(task.answer) or task.limit)
        tokens: list[int] = []
        started = time.perf_counter()
        first = started
        for token in llama.generate(list(task.prompt), temp=0.0, top_k=1, repeat_penalty=1.0):
            if not tokens:
                first = time.perf_counter()
            tokens.append(int(token))
            if len(tokens) >= limit or (reader is not None and reader.ends(int(token))):
                break
        done = time.perf_counter()
        return PeerRun(first - started, done - first, tuple(tokens), passes=llama.passes, ahead=1)


def dictating() -> Any:
    """`llama_cpp.Llama` that can be told what to choose, and counts its passes."""
    from llama_cpp import Llama

    class Dictating(Llama):
        passes = 0
        _start = 0
        _answer: tuple[int, ...] = ()

        def dictate(self, start: int, answer: tuple[int, ...]) -> None:
            self._start, self._answer = start, answer

        def eval(self, tokens: Sequence[int]) -> None:
            self.passes += 1
            super().eval(tokens)

        def sample(self, *args: Any, **kwargs: Any) -> int:
            chosen: int = super().sample(*args, **kwargs)
            idx = kwargs.get("idx")
            at = (self.n_tokens if idx is None else idx + 1) - self._start
            return self._answer[at] if 0 <= at < len(self._answer) else chosen

    return Dictating


def open_llama(options: PeerOptions, draft: Any) -> LlamaCpp:
    from specedit.models.resolve import present
    from specedit.models.vocabulary import load_tokenizer

    files = present(options.model)
    if files.kind != "gguf":
        raise UsageError(f"llama.cpp reads GGUF files, and {files.name} is a folder.")
    llama = dictating()(
        model_path=str(files.path),
        n_ctx=options.window,
        n_threads=options.threads,
        n_threads_batch=options.threads,
        draft_model=draft,
        logits_all=draft
        is not None,  # with a draft it keeps every row, and must make room for them
        verbose=False,
    )
    from llama_cpp import __version__

    note = f"llama-cpp-python {__version__}, the GGUF as it is, {options.threads} threads"
    return LlamaCpp(llama, load_tokenizer(files), note)


def open_peer(options: PeerOptions) -> LlamaCpp:
    return open_llama(options, None)
