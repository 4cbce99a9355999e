"""OpenVINO GenAI on the same GGUF file, plain and with its prompt lookup.

Its choices cannot be dictated, so it always writes its own answer, cut to the same number of
tokens; the report says so.
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.speed.peers import PLAIN, PeerOptions, PeerRun, Task, cut, stops
from specedit.errors import UsageError


class OpenVino:
    """One pipeline."""

    def __init__(self, pipeline: Any, tokenizer: Any, note: str) -> None:
        self._pipeline = pipeline
        self._tokenizer = tokenizer
        self.note = note

    def run(self, task: Task, way: str) -> PeerRun:
        import numpy
        import openvino
        import openvino_genai

        ids = numpy.array([task.prompt], dtype=numpy.int64)
        tensors = openvino.Tensor(ids), openvino.Tensor(numpy.ones_like(ids))
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens = task.limit
        config.do_sample = False
        config.apply_chat_template = False
        if task.dictated:
            config.ignore_eos = True
        else:
            config.stop_token_ids = set(self._tokenizer.ends)
        if way != PLAIN:
            config.num_assistant_tokens = int(way)
            config.max_ngram_size = 3
        clock = _clock(self._tokenizer, task)
        started = time.perf_counter()
        out = self._pipeline.generate(openvino_genai.TokenizedInputs(*tensors), config, clock)
        done = time.perf_counter()
        tokens = cut(self._tokenizer, task, [int(t) for t in out.tokens[0]])
        first = clock.first or done
        return PeerRun(first - started, done - first, tokens, early=1)


def _clock(tokenizer: Any, task: Task) -> Any:
    """A streamer that notes when the first token came, and stops where the answer ends."""
    from openvino_genai import StreamerBase, StreamingStatus

    ends = stops(tokenizer, task)

    class FirstToken(StreamerBase):  # type: ignore[misc]
        first: float | None = None

        def write(self, tokens: Any) -> Any:
            self.first = self.first or time.perf_counter()
            for token in [tokens] if isinstance(tokens, int) else tokens:
                if ends(int(token)):
                    return StreamingStatus.STOP
            return StreamingStatus.RUNNING

        def end(self) -> None:
            pass

    return FirstToken()


def open_peer(options: PeerOptions) -> OpenVino:
    import openvino_genai

    from specedit.models.resolve import present
    from specedit.models.vocabulary import load_tokenizer

    files = present(options.settings.model)
    if files.kind != "gguf":
        raise UsageError(f"OpenVINO is measured on GGUF files, and {files.name} is a folder.")
    if options.lookup:  # nothing of an earlier prompt is reused
        scheduler = openvino_genai.SchedulerConfig()
        scheduler.enable_prefix_caching = False
        ways = {"prompt_lookup": True, "scheduler_config": scheduler}
    else:
        ways = {}
    pipeline = openvino_genai.LLMPipeline(
        str(files.path), "CPU", INFERENCE_NUM_THREADS=options.threads, **ways
    )
    note = f"openvino-genai {openvino_genai.__version__}, its own answer, {options.threads} threads"
    return OpenVino(pipeline, load_tokenizer(files), note)
