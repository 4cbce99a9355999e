"""vLLM for tests: tiny models with random weights, and a server with one, by our own command."""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warm_server import Listening

VOCABULARY = 512
START, END = 510, 511  # <|im_start|>, <|im_end|>
SPOKEN = "abcdefghij \n(){}=é😀"  # what the speaking model writes
LOAD_S, COMPILE_S = 240.0, 120.0
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny(folder: Path) -> Path:
    """A model of two layers with random weights, and a tokenizer whose ids are bytes."""
    _save(folder, _model(tied=True))
    return _words(folder)


def speaking(folder: Path) -> Path:
    """The same, with a chat template, and it writes SPOKEN only: some characters in one id, some
    in several."""
    import torch

    model = _model(tied=False)
    words = _words(folder, chat=True)
    spoken = sorted(set(_ids(words, SPOKEN)))
    with torch.no_grad():
        head = model.lm_head.weight
        kept = head[spoken].clone()
        head.zero_()
        head[spoken] = kept
    return _save(folder, model)


def _model(*, tied: bool) -> Any:
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(7)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2 if not tied else 1,
        max_position_embeddings=2048,
        tie_word_embeddings=tied,
        eos_token_id=END,
        bos_token_id=START,
    )
    model = Qwen2ForCausalLM(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(6.0)  # choices that depend on what was written
    return model


def _save(folder: Path, model: Any) -> Path:
    import torch

    model.to(torch.bfloat16).save_pretrained(folder)
    return folder


def _words(folder: Path, *, chat: bool = False) -> Path:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    ids = {c: n for n, c in enumerate(alphabet)}
    letter = tuple(pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str("é")[0][0])
    merges = [letter] if chat else []
    if chat:
        ids["".join(letter)] = len(ids)
        ids |= {f"<unused{n}>": n for n in range(len(ids), START)}
    words = Tokenizer(models.BPE(vocab=ids, merges=merges))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    settings: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 2048,
    }
    if chat:
        words.add_special_tokens(
            [AddedToken(name, special=True) for name in ("<|im_start|>", "<|im_end|>")]
        )
        settings |= {"chat_template": TEMPLATE, "eos_token": "<|im_end|>"}
    words.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def _ids(folder: Path, text: str) -> list[int]:
    from tokenizers import Tokenizer

    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    words.encode_special_tokens = True  # as text: no content is a special token
    result: list[int] = words.encode(text, add_special_tokens=False).ids
    return result


@dataclass(frozen=True)
class Vllm(Listening):
    """vLLM's server with the plugin, in a process of its own."""

    port: int
    folder: Path
    model: str = "tiny"

    def connect(self) -> http.client.HTTPConnection:
        """vLLM compiles some of its parts when they are asked for first."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=COMPILE_S)

    def ids(self, text: str) -> list[int]:
        return _ids(self.folder, text)

    def written(self, text: str, **fields: Any) -> list[int]:
        body = self.chat(text, return_token_ids=True, **fields).json
        result: list[int] = body["choices"][0]["token_ids"]
        return result

    def running(self) -> int:
        return self._metric("vllm:num_requests_running")

    def steps(self) -> int:
        return self._metric("vllm:iteration_tokens_total_count")

    def _metric(self, name: str) -> int:
        lines = self.ask("GET", "/metrics").body.decode().splitlines()
        return int(sum(float(x.split()[-1]) for x in lines if x.startswith(name)))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        result: int = free.getsockname()[1]
    return result


@contextlib.contextmanager
def serving(model: Path, log: Path, *flags: str, **env: str) -> Iterator[Vllm]:
    """`specedit vllm serve`, until the end of the block."""
    port = free_port()
    words = [sys.executable, "-m", "specedit", "vllm", "serve", str(model)]
    words += ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "tiny"]
    more = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    more |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "1", **env}
    result = Vllm(port, model)
    with until_terminated([*words, *flags], log, more) as process:
        _until_up(result, process, log)
        yield result


@contextlib.contextmanager
def until_terminated(
    words: list[str], log: Path, variables: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended at the end of the block."""
    with log.open("wb") as out:
        env = {**os.environ, **variables}
        process = subprocess.Popen(words, env=env, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _until_up(server: Vllm, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + LOAD_S
    while True:
        with contextlib.suppress(OSError):
            if server.ask("GET", "/health").status == 200:
                break
        assert process.poll() is None, log.read_text(errors="replace")[-3000:]
        assert time.monotonic() < end, log.read_text(errors="replace")[-3000:]
        time.sleep(0.2)
