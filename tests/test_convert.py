"""Conversion happens once, whole, and again when the converted file is not what was written."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact_models import kernel, kernels_here, save
from exact_reference import logits, matrix

from specedit.engines.exact import available, conversion, open_exact, quantize
from specedit.engines.exact.checkpoint import open_checkpoint
from specedit.engines.exact.conversion import convert, converted_path, source_of
from specedit.engines.exact.weights import (
    MAGIC,
    PREFIX,
    VERSION,
    Damaged,
    checksum,
    open_weights,
)
from specedit.errors import ModelError
from specedit.models.store import ModelFiles

IDS = list(range(40, 80))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    return save("qwen2, grouped, tied", tmp_path_factory.mktemp("model"))[1]


@pytest.fixture
def store(files: ModelFiles, tmp_path: Path) -> Path:
    list(convert(files, tmp_path))
    return tmp_path


def rows(files: ModelFiles, store: Path) -> list[bytes]:
    engine = open_exact(files, store=store)
    list(engine.begin(IDS[:2], audit=True))
    found = engine.forward(IDS[1:]).rows
    assert found is not None
    return list(found)


def test_progress_goes_from_nothing_to_all(files: ModelFiles, tmp_path: Path) -> None:
    steps = list(convert(files, tmp_path))
    assert steps[0].done == 0 and steps[-1].done == steps[-1].total > 0
    assert [s.done for s in steps] == sorted(s.done for s in steps)
    assert list((tmp_path / "converted").iterdir()) == [converted_path(files, tmp_path)]


def test_the_size_of_blocks_changes_no_byte(
    files: ModelFiles, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion, "BLOCK", 6_000)
    steps = list(convert(files, tmp_path / "other"))
    assert len(steps) > 50
    other = converted_path(files, tmp_path / "other")
    assert other.read_bytes() == converted_path(files, store).read_bytes()


def test_the_second_time_there_is_nothing_to_do(files: ModelFiles, store: Path) -> None:
    assert list(convert(files, store)) == []
    assert open_exact(files, store=store).info.exact


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])


def older(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[8:12] = (0).to_bytes(4, "little")
    path.write_bytes(raw)


def header(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[80] ^= 1
    path.write_bytes(raw)


@pytest.mark.parametrize("harm", [cut, older, header, Path.unlink], ids=lambda f: f.__name__)
def test_a_damaged_or_older_file_is_built_again(
    harm: Callable[[Path], None], files: ModelFiles, store: Path
) -> None:
    expected = rows(files, store)
    harm(converted_path(files, store))
    assert rows(files, store) == expected


def tensor(name: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda header: header["tensors"][name].update(values)


def config(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda header: header["config"].update(values)


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "an offset behind the file": tensor("layer.0.qkv.panels", offset=1 << 40),
    "an offset before the file": tensor("layer.0.qkv.panels", offset=-(1 << 20)),
    "an offset that is not aligned": tensor("norm", offset=(1 << 20) + 4),
    "an offset that is not a number": tensor("norm", offset="1048576"),
    "an offset near the end": lambda header: tensor(
        "layer.1.down.panels", offset=header["size"] // 4096 * 4096
    )(header),
    "a smaller shape": tensor("embedding", shape=[1, 128], nbytes=256),
    "another type": tensor("head.offsets", dtype="float32"),
    "a wrong length": tensor("layer.0.norm", nbytes=1 << 40),
    "no tensor": lambda header: header["tensors"].pop("layer.1.down.offsets"),
    "more ids": config(vocabulary=1 << 20),
    "more layers than there are": config(layers=3),
    "a billion layers": config(layers=10**9),
    "no heads": config(heads=0),
    "no inner width": config(inner=0),
    "a width that is not a number": config(hidden="88"),
    "an unknown number": config(windows=1),
    "tensors as a list": lambda header: header.update(tensors=[]),
}


def forge(path: Path, header: bytes) -> None:
    """Another header, with its right digest."""
    raw = path.read_bytes()
    prefix = PREFIX.pack(MAGIC, VERSION, len(header), hashlib.sha256(header).digest())
    path.write_bytes((prefix + header).ljust(1 << 20, b"\0") + raw[1 << 20 :])


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_a_header_that_names_what_is_not_in_the_file_is_built_again(
    change: Callable[[dict[str, Any]], object], files: ModelFiles, store: Path
) -> None:
    expected, path = rows(files, store), converted_path(files, store)
    raw = path.read_bytes()
    known = json.loads(raw[PREFIX.size :][: PREFIX.unpack(raw[: PREFIX.size])[2]])
    change(known)
    forge(path, json.dumps(known).encode())
    with pytest.raises(Damaged):
        open_weights(path, source_of(files))
    assert rows(files, store) == expected


@pytest.mark.parametrize(
    "text", ["[]", "1", "{", "[" * 100_000, '{"size": 1}'], ids=lambda t: t[:9]
)
def test_a_header_that_is_not_one_is_damaged(text: str, files: ModelFiles, store: Path) -> None:
    path = converted_path(files, store)
    forge(path, text.encode())
    with pytest.raises(Damaged):
        open_weights(path, source_of(files))


def test_a_file_of_another_model_is_not_trusted(files: ModelFiles, store: Path) -> None:
    with pytest.raises(Damaged, match="another model"):
        open_weights(converted_path(files, store), "something else")


def test_verifying_finds_one_bit(files: ModelFiles, store: Path) -> None:
    path, source = converted_path(files, store), source_of(files)
    found = open_weights(path, source)
    names = list(found.verify())
    assert names == list(found.entries) and "layer.1.down.panels" in names
    at = found.entries["layer.1.down.panels"]["offset"] + 77
    raw = bytearray(path.read_bytes())
    raw[at] ^= 4
    path.write_bytes(raw)
    with pytest.raises(Damaged, match=r"layer\.1\.down\.panels"):
        list(open_weights(path, source).verify())


def test_panels_are_the_same_weights_in_another_order(files: ModelFiles, store: Path) -> None:
    found = open_weights(converted_path(files, store), source_of(files))
    checkpoint = open_checkpoint(files)
    for kind, name in (("out", "attn_output"), ("down", "ffn_down")):
        rows = checkpoint.matrix(f"blk.1.{name}.weight")
        if kind == "out":  # heads of 22 lie in 32
            rows = quantize.pad_heads(rows, 1, 11, 16)
        back = matrix(found, f"layer.1.{kind}")[: rows.shape[0], : rows.shape[1]]
        steps = np.abs(rows).max(1, keepdims=True) / 127
        assert (np.abs(back - rows) <= steps / 1.99).all()


def test_an_offset_is_128_times_the_sum_of_an_outputs_weights(
    files: ModelFiles, store: Path
) -> None:
    found = open_weights(converted_path(files, store), source_of(files))
    tiled = found.array("layer.0.qkv.panels").astype(np.int64)
    sums = tiled.sum((1, 3))  # panel, output
    assert (found.array("layer.0.qkv.offsets")[:, 0] == 128 * sums).all()


@pytest.mark.parametrize(("precision", "close"), [("balanced", 0.05), ("close", 0.02)])
def test_every_variant_computes_what_the_converted_weights_say(
    files: ModelFiles, store: Path, precision: str, close: float
) -> None:
    expected = logits(open_weights(converted_path(files, store), source_of(files)), IDS)[1:]
    for name in kernels_here():
        with kernel(name):
            engine = open_exact(files, store=store, precision=precision)
        list(engine.begin(IDS[:2], audit=True))
        rows = engine.forward(IDS[1:]).rows
        assert rows is not None
        found = np.stack([np.frombuffer(row, np.float32) for row in rows])
        assert np.abs(found - expected).mean() < close * np.abs(expected).mean(), name


def test_a_changed_model_file_is_another_source(files: ModelFiles, tmp_path: Path) -> None:
    before = source_of(files)
    part = files.path / "model.safetensors"
    raw = part.read_bytes()
    time.sleep(0.01)
    part.write_bytes(raw)
    assert source_of(files) != before
    known = ModelFiles("small", files.path, "folder", sha256="ab" * 32)
    assert source_of(known) == "ab" * 32


def test_a_folder_without_weights_is_an_error(tmp_path: Path, files: ModelFiles) -> None:
    (tmp_path / "config.json").write_bytes((files.path / "config.json").read_bytes())
    with pytest.raises(ModelError, match="no safetensors"):
        list(convert(ModelFiles("none", tmp_path, "folder"), tmp_path))
    assert not list((tmp_path / "converted").glob("*"))


def test_an_unknown_family_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}', "utf-8")
    said = available(ModelFiles("none", tmp_path, "folder"))
    assert said is not None and ("gpt2" in said or "processor" in said)


def test_weights_round_to_the_nearest_of_255_steps() -> None:
    given = np.random.default_rng(8).standard_normal((9, 50)).astype(np.float32)
    given[3] = 0
    found, scales = quantize.quantize(given)
    assert int(np.abs(found).max()) == 127
    assert (np.abs(found * scales[:, None] - given) <= scales[:, None] / 1.99).all()


def test_a_checksum_sees_one_bit_and_a_moved_page() -> None:
    given = np.random.default_rng(3).integers(0, 256, 99_999, dtype=np.uint8)
    before = checksum(given)
    flipped = given.copy()
    flipped[70_000] ^= 1
    moved = np.concatenate((given[4096:8192], given[:4096], given[8192:]))
    assert len({before, checksum(flipped), checksum(moved), checksum(given[:-1])}) == 4
    assert checksum(given.copy()) == before
