"""Whatever a GGUF file holds, it is a model or a ModelError."""

import contextlib
import struct
from pathlib import Path
from typing import Any

import pytest
from exact_models import model_of, save_gguf
from hypothesis import given
from hypothesis import strategies as st
from model_sources import tiny_gguf
from mutations import EDGES, SECONDS, drawn, many, mutated

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
TEXTS = st.sampled_from(
    ["llama", "qwen2", "gpt2", "yarn", "a", "a b", "", "{{ 1 / 0 }}"]
) | st.text(max_size=6)


def string(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(data)) + data


def scalar(kind: int, number: int) -> bytes:
    size = struct.calcsize("<" + SCALARS[kind])
    return number.to_bytes(8, "little")[:size]


SCALAR = st.tuples(st.sampled_from(sorted(SCALARS)), EDGES)
VALUES = st.one_of(
    TEXTS.map(lambda text: struct.pack("<I", 8) + string(text)),
    SCALAR.map(lambda one: struct.pack("<I", one[0]) + scalar(*one)),
    st.lists(TEXTS, max_size=6).map(
        lambda texts: struct.pack("<IIQ", 9, 8, len(texts)) + b"".join(map(string, texts))
    ),
    st.tuples(st.sampled_from(sorted(SCALARS)), st.lists(EDGES, max_size=6)).map(
        lambda one: (
            struct.pack("<IIQ", 9, one[0], len(one[1]))
            + b"".join(scalar(one[0], number) for number in one[1])
        )
    ),
)
TENSORS = st.builds(
    lambda name, shape, kind, offset: (
        string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
    ),
    st.sampled_from(["token_embd.weight", "output_norm.weight", "rope_freqs.weight", "x"]),
    st.lists(st.sampled_from([0, 1, 32, 256]) | EDGES, max_size=5),
    st.sampled_from([0, 1, 2, 8, 12, 30, 31, 99]),
    st.sampled_from([0, 32, 4096]) | EDGES,
)


def whole(entries: dict[str, bytes], tensors: list[bytes], claims: tuple[int, int]) -> bytes:
    head = struct.pack("<IQQ", 3, len(tensors) + claims[0], len(entries) + claims[1])
    said = b"".join(string(key) + value for key, value in entries.items())
    return b"GGUF" + head + said + b"".join(tensors) + b"\0" * 4096


CLAIMS = st.sampled_from([(0, 0), (0, 0), (0, 0), (1 << 60, 0), (0, 1 << 60), (1, 1)])
MADE = st.builds(
    whole,
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=12),
    st.lists(TENSORS, max_size=4),
    CLAIMS,
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, ...]:
    folder = tmp_path_factory.mktemp("whole")
    small = {"vocab_size": 40, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    tiny = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, **small}
    model = model_of("llama, slow frequencies", **tiny)
    save_gguf(model, folder / "weights.gguf")
    tiny_gguf(folder / "words.gguf", tokenizer__chat_template="{{ messages[0].content }}")
    return tuple(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "any.gguf"


def opens_or_says_why(path: Path, data: bytes) -> None:
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


def test_the_originals_are_models(originals, place):
    place.write_bytes(originals[0])
    assert architecture.of_gguf(open_gguf(place)).rope_factors
    place.write_bytes(originals[1])
    assert vocabulary.of_gguf(ModelFiles("any", place, "gguf")).encode("int")


@SECONDS
@given(data=st.data())
def test_a_few_hundred_files(data, originals, place):
    opens_or_says_why(place, data.draw(mutated(*originals) | MADE))


@pytest.mark.long
def test_a_hundred_thousand_files(originals, place):
    begin = [*originals * 200, *drawn(MADE)]
    many(begin, lambda data: opens_or_says_why(place, data))
