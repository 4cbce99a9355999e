"""GGUF files are read whole or refused with a reason."""

import os
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import gguf
import numpy as np
import pytest

from specedit.errors import ModelError
from specedit.models.gguf import READABLE, open_gguf

NUMBERS = np.random.default_rng(5).normal(0, 0.1, (6, 512)).astype(np.float32)


def written(path: Path, kind: str, metadata: dict[str, object] | None = None) -> Path:
    """A file with one tensor of this type, written by the gguf package."""
    writer = gguf.GGUFWriter(path, "llama")
    for key, value in (metadata or {}).items():
        if isinstance(value, list):
            writer.add_array(key, value)
        else:
            writer.add_string(key, str(value))
    form = gguf.GGMLQuantizationType[kind]
    writer.add_tensor("plain", np.arange(3, dtype=np.float32))
    if kind in ("Q4_K", "Q5_K", "Q6_K"):  # the package reads these and cannot write them
        _, size = gguf.GGML_QUANT_SIZES[form]
        raw = np.random.default_rng(6).integers(0, 60, (6, 2 * size), dtype=np.uint8)
        writer.add_tensor("blocks", raw, raw_dtype=form)
    else:
        writer.add_tensor("blocks", gguf.quantize(NUMBERS, form), raw_dtype=form)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("kind", [name for name, _, _ in READABLE.values()])
def test_every_readable_type_is_read_as_gguf_reads_it(kind, tmp_path):
    path = written(tmp_path / "a.gguf", kind)
    found = open_gguf(path)
    assert found.tensors["blocks"].type_name == kind
    assert found.rows("plain").reshape(-1).tolist() == [0, 1, 2]
    theirs = next(t for t in gguf.GGUFReader(path).tensors if t.name == "blocks")
    expected = gguf.dequantize(theirs.data, theirs.tensor_type).reshape(6, 512)
    assert found.rows("blocks").tobytes() == expected.astype(np.float32).tobytes()
    assert found.rows("blocks", 2, 5).tobytes() == found.rows("blocks")[2:5].tobytes()


def test_metadata_is_read_with_or_without_its_long_arrays(tmp_path):
    given = {"words": ["a", "ü", ""], "numbers": [1, 2, 3], "name": "käse"}
    path = written(tmp_path / "a.gguf", "F16", given)
    full = open_gguf(path).metadata
    assert {key: full[key] for key in given} == given
    short = open_gguf(path, arrays=False).metadata
    assert (short["name"], short["words"], short["numbers"]) == ("käse", None, None)


def test_an_unknown_type_names_the_tensor_and_the_type(tmp_path):
    path = written(tmp_path / "a.gguf", "F16")
    raw = bytearray(path.read_bytes())
    at = raw.index(b"blocks") + len("blocks") + 4 + 16
    raw[at : at + 4] = (16).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(ModelError, match="tensor blocks has type IQ2_XXS"):
        open_gguf(path)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.3, 0.6, 0.99], ids=str)
def test_a_cut_off_file_is_an_error_at_any_length(share, tmp_path):
    path = written(tmp_path / "a.gguf", "Q8_0", {"words": ["one", "two"]})
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])
    with pytest.raises(ModelError, match=r"too short|cut off|runs past the end"):
        open_gguf(path)


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (0, b"GGML", "not a GGUF file"),
        (4, b"\x09\0\0\0", "version 9"),
        (16, b"\xff" * 8, "damaged GGUF header"),
        (24, b"\xff" * 8, "damaged GGUF header"),
    ],
    ids=["magic", "version", "entries", "a string's length"],
)
def test_a_damaged_header_is_an_error(at, value, said, tmp_path):
    path = written(tmp_path / "a.gguf", "F32")
    raw = bytearray(path.read_bytes())
    raw[at : at + len(value)] = value
    path.write_bytes(raw)
    with pytest.raises(ModelError, match=said):
        open_gguf(path)


def header(
    entries: Sequence[tuple[str, bytes]] = (),
    tensors: Sequence[bytes] = (),
    claims: tuple[int, int] | None = None,
) -> bytes:
    """A header of its own, with 256 bytes of room for tensors."""
    count, keys = claims or (len(tensors), len(entries))
    said = b"".join(struct.pack("<Q", len(key)) + key.encode() + value for key, value in entries)
    head = b"GGUF" + struct.pack("<IQQ", 3, count, keys) + said + b"".join(tensors)
    return head + b"\0" * 512


def tensor(name: str, shape: tuple[int, ...], offset: int, kind: int = 0) -> bytes:
    named = struct.pack("<Q", len(name)) + name.encode()
    return named + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


NUMBER = struct.pack("<II", 4, 7)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (header(claims=(1 << 60, 0)), "0 dimensions"),
        (header(claims=(0, 1 << 60)), "twice"),
        (header([("a", struct.pack("<IIQ", 9, 0, 1 << 60))]), "an array claims"),
        (header([("a", struct.pack("<IIQ", 9, 8, 1 << 60))]), "an array claims"),
        (header([("a", struct.pack("<IQ", 8, 1 << 60))]), "runs past the end"),
        (header([("a", NUMBER), ("a", NUMBER)]), "'a' is there twice"),
        (header([("general.alignment", struct.pack("<II", 4, 0))]), "alignment is 0"),
        (header([("general.alignment", struct.pack("<If", 6, 8.0))]), "alignment is 8.0"),
        (header(tensors=[tensor("t", (1,) * 5, 0)]), "5 dimensions"),
        (header(tensors=[tensor("t", (1 << 32, 1 << 32), 0)]), "is cut off"),
        (header(tensors=[tensor("t", (4,), 0), tensor("t", (4,), 32)]), "'t' is there twice"),
        (header(tensors=[tensor("t", (9,), 0), tensor("u", (4,), 32)]), "'u' lies upon another"),
        (header(tensors=[tensor("t", (0,), 0)]), "impossible shape"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_header_cannot_claim_what_the_file_does_not_hold(data, said, tmp_path):
    path = tmp_path / "claims.gguf"
    path.write_bytes(data)
    for arrays in (True, False):
        with pytest.raises(ModelError, match=re.escape(said)) as caught:
            open_gguf(path, arrays=arrays)
        assert str(path) in caught.value.message


def test_what_is_no_file_is_not_waited_for(tmp_path):
    for path in (tmp_path, tmp_path / "none.gguf", Path(os.devnull)):
        with pytest.raises(ModelError, match="cannot be read"):
            open_gguf(path)
