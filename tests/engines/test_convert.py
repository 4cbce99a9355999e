"""Conversion happens once, whole, and again when the converted file is not what was written."""

import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from effort import some
from exact_models import kernel, kernels_here, save
from exact_reference import logits, matrix

from specedit.engines.exact import conversion, quantize
from specedit.engines.exact.checkpoint import open_checkpoint
from specedit.engines.exact.conversion import convert, converted_path, source_of
from specedit.engines.exact.engine import available, open_exact
from specedit.engines.exact.weights import (
    FORMAT_VERSION,
    MAGIC,
    PREFIX,
    Damaged,
    Weights,
    open_weights,
)
from specedit.errors import ModelError
from specedit.models.store import FetchProgress, ModelFiles, sized

IDS = list(range(40, 80))
NAMES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    return save("qwen2, grouped, tied", tmp_path_factory.mktemp("model"))[1]


@pytest.fixture
def store(files: ModelFiles, tmp_path: Path) -> Path:
    convert(files, tmp_path)
    return tmp_path


def rows(files: ModelFiles, store: Path, weights: str = "auto") -> list[bytes]:
    engine = open_exact(files, store=store, weights=weights)
    list(engine.begin(IDS[:2], audit=True))
    found = engine.forward(IDS[1:]).rows
    assert found is not None
    return list(found)


def test_the_size_of_blocks_changes_no_byte(files, store, tmp_path, monkeypatch):
    monkeypatch.setattr(conversion, "NUMBERS_PER_BLOCK", 6_000)
    steps: list[FetchProgress] = []
    convert(files, tmp_path / "other", report=steps.append)
    assert len(steps) > 50
    other = converted_path(files, tmp_path / "other")
    assert other.read_bytes() == converted_path(files, store).read_bytes()


def fail(step: FetchProgress) -> None:
    raise AssertionError(step)


def test_the_second_time_there_is_nothing_to_do(files, store):
    convert(files, store, report=fail)
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


@pytest.mark.parametrize("weights", ["int8", "int4"])
@pytest.mark.parametrize("harm", [cut, older, header, Path.unlink], ids=lambda f: f.__name__)
def test_a_damaged_or_older_file_is_built_again(harm, files, store, weights):
    expected = rows(files, store, weights)
    harm(converted_path(files, store, weights))
    assert rows(files, store, weights) == expected


def test_both_kinds_of_weights_lie_side_by_side(files, store):
    paths = [converted_path(files, store, weights) for weights in ("int8", "int4")]
    convert(files, store, "int4")
    assert sorted((store / "converted").iterdir()) == sorted(paths)
    assert paths[1].stat().st_size < paths[0].stat().st_size
    assert "int4" in open_exact(files, store=store, weights="int4").info.note
    for weights in ("int8", "int4"):
        convert(files, store, weights, report=fail)
    assert rows(files, store, "int4") != rows(files, store, "int8")
    assert list(conversion.kinds_of(store, source_of(files))) == [
        f"int4 {sized(paths[1].stat().st_size)} (8 of 9 matrices, the others 6 bits)",
        f"int8 {sized(paths[0].stat().st_size)}",
    ]


def test_a_file_under_the_name_of_the_other_kind_is_built_again(files, store):
    expected = {weights: rows(files, store, weights) for weights in ("int8", "int4")}
    eight, four = (converted_path(files, store, weights) for weights in expected)
    for from_file, to_file in ((eight, four), (four, eight)):
        shutil.copy(from_file, to_file)
        with pytest.raises(Damaged, match=f"are not {to_file.suffix[1:]}"):
            open_weights(to_file, source_of(files))
        assert {weights: rows(files, store, weights) for weights in expected} == expected


TYPES = {  # tensors of two layers, and the matrices that get 4 bits
    "a mixture": (
        {"output": "Q6_K", "blk.1.ffn_down": "Q6_K", "blk.0.attn_v": "Q6_K"},
        {"0.out", "0.gate_up", "0.down", "1.qkv", "1.out", "1.gate_up"},
    ),
    "8 bits for all": (
        {f"blk.{layer}.{name}": "Q8_0" for layer in (0, 1) for name in NAMES},
        {f"{layer}.{kind}" for layer in (0, 1) for kind in conversion.MATRICES},
    ),
    "4 bits for no whole matrix": (
        {f"blk.{layer}.{name}": "Q8_0" for layer in (0, 1) for name in NAMES[1:]},
        {f"{layer}.{kind}" for layer in (0, 1) for kind in conversion.MATRICES},
    ),
}


@pytest.mark.parametrize(("types", "expected"), TYPES.values(), ids=TYPES)
def test_4_bits_go_to_the_matrices_that_have_no_more(types, expected, files):
    from_file = open_checkpoint(files)
    usual = {f"blk.{layer}.{name}": "Q4_K" for layer in (0, 1) for name in NAMES}
    tensors = {f"{name}.weight": kind for name, kind in {**usual, **types}.items()}
    four = conversion.four_bits(replace(from_file, tensors=tensors, tied=False), Path("a-v3.int4"))
    assert four == {f"layer.{name}" for name in expected}


def test_half_of_a_uniform_models_layers_keep_8_bits_in_down(files):
    from_file = open_checkpoint(files)
    four = conversion.four_bits(
        replace(from_file, config=replace(from_file.config, layers=24)), Path("a-v3.int4")
    )
    kinds = Counter(name.rpartition(".")[2] for name in four)
    assert kinds == {"qkv": 24, "out": 24, "gate_up": 24, "down": 12}


def test_weights_on_a_grid_of_16_values_keep_the_error_of_8_bits():
    numbers = np.random.default_rng(4)
    steps = np.repeat(numbers.uniform(0.2, 1.0, (64, 40)), 32, 1)
    lowest = np.repeat(numbers.uniform(3.0, 9.0, (64, 40)), 32, 1)
    grid = (steps * (numbers.integers(0, 16, steps.shape) - lowest)).astype(np.float32)
    normal = numbers.standard_normal(grid.shape).astype(np.float32)

    def error(rows: Any, made: dict[str, Any]) -> float:
        of = SimpleNamespace(array=lambda name: made[name.removeprefix("a.")])
        return float(np.linalg.norm(matrix(of, "a") - rows) / np.linalg.norm(rows))  # type: ignore[arg-type]

    eight = error(grid, quantize.panels(quantize.linear(grid)))
    assert eight < 0.01 and error(grid, quantize.packed(grid, 4)) < 1.25 * eight
    for bits, most in ((4, 0.09), (6, 0.02)):
        assert error(normal, quantize.packed(normal, bits)) < most
        assert (
            not error(np.ones((16, 64)), quantize.packed(np.ones((16, 64), np.float32), bits))
            > 0.02
        )


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
    prefix = PREFIX.pack(MAGIC, FORMAT_VERSION, len(header), hashlib.sha256(header).digest())
    path.write_bytes((prefix + header).ljust(1 << 20, b"\0") + raw[1 << 20 :])


@pytest.mark.parametrize("change", some(FORGED.values(), 2), ids=some(FORGED, 2))
def test_a_header_that_names_what_is_not_in_the_file_is_built_again(change, files, store):
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
def test_a_header_that_is_not_one_is_damaged(text, files, store):
    path = converted_path(files, store)
    forge(path, text.encode())
    with pytest.raises(Damaged):
        open_weights(path, source_of(files))


def test_a_file_of_another_model_is_not_trusted(files, store):
    with pytest.raises(Damaged, match="another model"):
        open_weights(converted_path(files, store), "something else")


@pytest.mark.parametrize(
    ("precision", "weights", "close"),
    [("balanced", "int8", 0.05), ("close", "int8", 0.02), ("close", "int4", 0.02)],
)
def test_every_variant_computes_what_the_converted_weights_say(
    files, store, precision, weights, close
):
    same_as_converted(files, store, precision, weights, close)


@pytest.mark.parametrize(("weights", "groups"), [("int8", 2), ("int4", 3)])
def test_down_has_scales_for_each_group_of_its_inputs(weights, groups, tmp_path):
    wide = {"intermediate_size": 2000, "num_hidden_layers": 1}
    files = save("qwen2, grouped, tied", tmp_path / "model", **wide)[1]
    converted = same_as_converted(files, tmp_path, "close", weights, 0.02)
    assert converted.array("layer.0.down.scales").shape[1] == groups


def same_as_converted(
    files: ModelFiles, store: Path, precision: str, weights: str, close: float
) -> Weights:
    """Compare every variant's logits with the converted weights in numpy."""
    convert(files, store, weights)
    converted = open_weights(converted_path(files, store, weights), source_of(files))
    expected = logits(converted, IDS)[1:]
    for name in kernels_here():
        with kernel(name):
            engine = open_exact(files, store=store, precision=precision, weights=weights)
        list(engine.begin(IDS[:2], audit=True))
        rows = engine.forward(IDS[1:]).rows
        assert rows is not None
        found = np.stack([np.frombuffer(row, np.float32) for row in rows])
        assert np.abs(found - expected).mean() < close * np.abs(expected).mean(), name
    return converted


def test_a_changed_model_file_is_another_source(files, tmp_path):
    before = source_of(files)
    part = files.path / "model.safetensors"
    raw = part.read_bytes()
    time.sleep(0.01)
    part.write_bytes(raw)
    assert source_of(files) != before
    known = ModelFiles("small", files.path, "folder", sha256="ab" * 32)
    assert source_of(known) == "ab" * 32


def test_a_folder_without_weights_is_an_error(tmp_path, files):
    (tmp_path / "config.json").write_bytes((files.path / "config.json").read_bytes())
    with pytest.raises(ModelError, match="no safetensors"):
        convert(ModelFiles("none", tmp_path, "folder"), tmp_path)
    assert not list((tmp_path / "converted").glob("*"))


def test_an_unknown_family_is_refused_in_words(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}', "utf-8")
    said = available(ModelFiles("none", tmp_path, "folder"))
    assert said is not None and ("gpt2" in said or "processor" in said)


@pytest.mark.parametrize("name", ["m" * 250, "é" * 120, "a b;$(c)'\"", "../x", "-v3.int4"], ids=len)
def test_any_name_of_a_model_is_the_name_of_a_file(name, files, tmp_path):
    named = replace(files, name=name)
    convert(named, tmp_path)
    assert [*(tmp_path / "converted").iterdir()] == [converted_path(named, tmp_path)]
