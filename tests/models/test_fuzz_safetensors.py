"""Whatever a safetensors file claims, it is read as it is or refused with a ModelError."""

import contextlib
import struct
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from exact_models import save
from odd import Odd, dumped, target
from safetensors import safe_open

from specedit.engines.exact.checkpoint import open_checkpoint
from specedit.errors import ModelError
from specedit.models.configuration import BITS, header_of
from specedit.models.store import ModelFiles

NAMES = ("model.norm.weight", "model.embed_tokens.weight", "x", "__metadata__")
SMALL = {"vocab_size": 8, "hidden_size": 4, "intermediate_size": 4, "num_hidden_layers": 1}


@cache
def original() -> tuple[bytes, bytes]:
    """The configuration and the weights of a model."""
    heads = {"num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 4}
    with tempfile.TemporaryDirectory() as place:
        save("llama, no bias", Path(place), **heads, **SMALL)
        config, weights = Path(place, "config.json"), Path(place, "model.safetensors")
        return config.read_bytes(), weights.read_bytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "config.json").write_bytes(original()[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def any_file(odd: Odd) -> bytes:
    if odd.random() < 0.5:
        return odd.damaged(original()[1])

    def size() -> int:
        return odd.choice([0, 1, 2, 8, 64, odd.size()])

    def about() -> Any:
        said = {"dtype": odd.choice([*BITS, "F128"]), "shape": odd.list(size, 4)}
        said["data_offsets"] = [size(), *odd.list(size, 2)]
        return said if odd.random() < 0.7 else odd.value()

    named = odd.some([*NAMES, odd.word()], about)
    header = dumped(named if odd.random() < 0.8 else odd.value())
    claimed = len(header) if odd.random() < 0.7 else odd.size()
    return struct.pack("<Q", claimed) + header + odd.randbytes(odd.randrange(64))


def test_the_original_is_a_model(folder):
    (folder / "model.safetensors").write_bytes(original()[1])
    assert open_checkpoint(ModelFiles("any", folder, "folder")).matrix("output.weight").any()


@pytest.mark.usefixtures("folder")
@target(any_file)
def test_any_file_is_read_or_says_why(data):
    folder = Path.cwd()
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
