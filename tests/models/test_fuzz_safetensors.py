"""Whatever a safetensors file claims, it is read as it is or refused with a ModelError."""

import contextlib
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from exact_models import save
from hypothesis import given
from hypothesis import strategies as st
from mutations import EDGES, JSON, SECONDS, drawn, many, mutated
from safetensors import safe_open

from specedit.engines.exact.checkpoint import open_checkpoint
from specedit.errors import ModelError
from specedit.models.configuration import BITS, header_of
from specedit.models.store import ModelFiles

SIZES = st.sampled_from([0, 1, 2, 8, 64]) | EDGES
NAMES = st.sampled_from(["model.norm.weight", "model.embed_tokens.weight", "x", "__metadata__"])
ABOUT = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from([*BITS, "F128"]),
        "shape": st.lists(SIZES, max_size=4),
        "data_offsets": st.lists(SIZES, min_size=1, max_size=3),
    }
)


def whole(header: Any, claimed: int | None, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text) if claimed is None else claimed) + text + data


MADE = st.builds(
    whole,
    st.dictionaries(NAMES | st.text(max_size=5), ABOUT | JSON, max_size=4) | JSON,
    st.none() | st.none() | st.none() | EDGES,
    st.binary(max_size=64),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model")
    small = {"vocab_size": 8, "hidden_size": 4, "intermediate_size": 4, "num_hidden_layers": 1}
    save("llama, no bias", place, num_attention_heads=1, num_key_value_heads=1, head_dim=4, **small)
    return place


@pytest.fixture(scope="module")
def original(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def reads_or_says_why(folder: Path, data: bytes) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(data)
    with contextlib.suppress(ModelError):
        found = open_checkpoint(ModelFiles("any", folder, "folder"))
        for name in found.tensors:
            found.matrix(name)
    try:
        headers = header_of(path)
    except ModelError as problem:
        assert path.name in problem.message
        return
    # What is taken here is what the library, which reads the weights, takes it for.
    with safe_open(path, "np") as theirs:
        assert set(theirs.keys()) == set(headers)
        for name, header in headers.items():
            assert tuple(theirs.get_slice(name).get_shape()) == header.shape


def test_the_original_is_a_model(folder, original):
    (folder / "model.safetensors").write_bytes(original)
    assert open_checkpoint(ModelFiles("any", folder, "folder")).matrix("output.weight").any()


@SECONDS
@given(data=st.data())
def test_a_few_hundred_files(data, folder, original):
    reads_or_says_why(folder, data.draw(mutated(original) | MADE))


@pytest.mark.long
def test_a_hundred_thousand_files(folder, original):
    many([original] * 500 + drawn(MADE), lambda data: reads_or_says_why(folder, data))
