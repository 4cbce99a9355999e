"""Whatever a GGUF file holds, it is a model or a ModelError."""

import contextlib
import struct
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from exact_models import model_of, save_gguf
from model_sources import tiny_gguf
from odd import Odd, target

from specedit.errors import ModelError
from specedit.models import architecture, vocabulary
from specedit.models.gguf import SCALARS, open_gguf
from specedit.models.resolve import check_usable
from specedit.models.store import ModelFiles
from specedit.models.tokenizer import split

KEYS = (
    *("general.architecture", "general.alignment", "llama.block_count", "llama.context_length"),
    *("llama.embedding_length", "llama.feed_forward_length", "llama.attention.head_count"),
    *("llama.attention.head_count_kv", "llama.attention.layer_norm_rms_epsilon"),
    *("llama.rope.freq_base", "llama.rope.scaling.type", "llama.rope.scaling.factor"),
    *("tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.ggml.tokens"),
    *("tokenizer.ggml.token_type", "tokenizer.ggml.merges", "tokenizer.ggml.scores"),
    *("tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id", "tokenizer.chat_template"),
)
TEXTS = ("llama", "qwen2", "gpt2", "yarn", "a", "a b", "", "{{ 1 / 0 }}")
TENSORS = ("token_embd.weight", "output_norm.weight", "rope_freqs.weight", "x")
CLAIMS = ((0, 0), (0, 0), (0, 0), (1 << 60, 0), (0, 1 << 60), (1, 1))


def string(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(data)) + data


def value(odd: Odd) -> bytes:
    """A value with its type: a text, a number, or a list of either."""
    kind, count = odd.choice([8, *sorted(SCALARS)]), odd.randrange(7)

    def one() -> bytes:
        if kind == 8:
            return string(odd.choice(TEXTS) if odd.random() < 0.5 else odd.word())
        return odd.size().to_bytes(8, "little")[: struct.calcsize("<" + SCALARS[kind])]

    if odd.random() < 0.5:
        return struct.pack("<I", kind) + one()
    return struct.pack("<IIQ", 9, kind, count) + b"".join(one() for _ in range(count))


def tensor(odd: Odd) -> bytes:
    shape = odd.list(lambda: odd.choice([0, 1, 32, 256, odd.size()]), 5)
    kind, offset = odd.choice([0, 1, 2, 8, 12, 30, 31, 99]), odd.choice([0, 32, 4096, odd.size()])
    name = string(odd.choice(TENSORS))
    return name + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def whole(entries: dict[str, bytes], tensors: list[bytes], claims: tuple[int, int]) -> bytes:
    head = struct.pack("<IQQ", 3, len(tensors) + claims[0], len(entries) + claims[1])
    said = b"".join(string(key) + value for key, value in entries.items())
    return b"GGUF" + head + said + b"".join(tensors) + b"\0" * 4096


@cache
def originals() -> tuple[bytes, ...]:
    small = {"vocab_size": 40, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    tiny = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, **small}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        save_gguf(model_of("llama, slow frequencies", **tiny), folder / "weights.gguf")
        tiny_gguf(folder / "words.gguf", tokenizer__chat_template="{{ messages[0].content }}")
        return tuple(path.read_bytes() for path in sorted(folder.iterdir()))


def any_file(odd: Odd) -> bytes:
    if odd.random() < 0.5:
        return odd.damaged(odd.choice(originals()))
    entries = odd.some(KEYS, lambda: value(odd), 12)
    return whole(entries, odd.list(lambda: tensor(odd), 4), odd.choice(CLAIMS))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("any.gguf")


def test_the_originals_are_models(place):
    place.write_bytes(originals()[0])
    assert architecture.of_gguf(open_gguf(place)).rope_factors
    place.write_bytes(originals()[1])
    assert vocabulary.of_gguf(ModelFiles("any", place, "gguf")).encode("int")


@pytest.mark.usefixtures("place")
@target(any_file, few=40)
def test_any_file_opens_or_says_why(data):
    path = Path("any.gguf")
    path.write_bytes(data)
    files = ModelFiles("any", path, "gguf")
    uses: list[Any] = [
        lambda: open_gguf(path),
        lambda: architecture.of_gguf(open_gguf(path, arrays=False)),
        lambda: vocabulary.of_gguf(ModelFiles("any", path, "gguf")).encode("int x;"),
        lambda: split(vocabulary.of_gguf(files).template, [("user", ("x",))]),
        lambda: check_usable(files),
    ]
    for use in uses:
        with contextlib.suppress(ModelError):
            use()
