"""Conversion happens once, whole, and again when the converted file is not what was written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from exact_models import save

from specedit.engines.exact import available, open_exact
from specedit.engines.exact.conversion import convert, converted_path, quantise, source_of
from specedit.engines.exact.weights import Damaged, checksum, open_weights
from specedit.errors import ModelError, UsageError
from specedit.models.files import ModelFiles

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


def test_progress_goes_from_nothing_to_all_and_then_checks(
    files: ModelFiles, tmp_path: Path
) -> None:
    steps = list(convert(files, tmp_path))
    counted = [s for s in steps if s.total]
    assert counted[0].done == 0 and counted[-1].done == counted[-1].total
    assert [s.done for s in counted] == sorted(s.done for s in counted)
    assert steps[-1].what == "Checking that every pass is exact here"
    folder = tmp_path / "converted"
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        ["exact.json", converted_path(files, tmp_path).name]
    )


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


def weights(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    entry = open_weights(path, json.loads(_header(raw))["source"]).entries["layer.1.down.0.weight"]
    raw[entry["offset"] + 77] ^= 4
    path.write_bytes(raw)


def _header(raw: bytes) -> bytes:
    length = int.from_bytes(raw[12:20], "little")
    return bytes(raw[52 : 52 + length])


@pytest.mark.parametrize(
    "harm", [cut, older, header, weights, Path.unlink], ids=lambda f: f.__name__
)
def test_a_damaged_or_older_file_is_built_again(
    harm: Callable[[Path], None], files: ModelFiles, store: Path
) -> None:
    expected = rows(files, store)
    harm(converted_path(files, store))
    assert rows(files, store) == expected


def test_a_file_of_another_model_is_not_trusted(files: ModelFiles, store: Path) -> None:
    with pytest.raises(Damaged, match="another model"):
        open_weights(converted_path(files, store), "something else")


def test_what_is_not_exact_says_so(files: ModelFiles, store: Path) -> None:
    verdicts = store / "converted" / "exact.json"
    known = json.loads(verdicts.read_text("utf-8"))
    assert set(known.values()) == {""}
    verdicts.write_text(json.dumps(dict.fromkeys(known, "widths differ")), "utf-8")
    info = open_exact(files, store=store).info
    assert (info.exact, info.note) == (False, "not exact here: widths differ")


def test_another_torch_is_checked_again(files: ModelFiles, store: Path) -> None:
    verdicts = store / "converted" / "exact.json"
    known = json.loads(verdicts.read_text("utf-8"))
    verdicts.write_text(
        json.dumps({f"{key} older": value for key, value in known.items()}), "utf-8"
    )
    assert [s.what for s in convert(files, store)] == ["Checking that every pass is exact here"]


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


def test_an_unknown_precision_is_refused(files: ModelFiles, store: Path) -> None:
    with pytest.raises(UsageError, match="perfect"):
        open_exact(files, store=store, precision="perfect")


def test_weights_round_to_the_nearest_of_255_steps() -> None:
    given = torch.randn(9, 50, generator=torch.Generator().manual_seed(8))
    given[3] = 0
    found, scales = quantise(given)
    assert int(found.abs().max()) == 127
    assert ((found * scales[:, None] - given).abs() <= scales[:, None] / 1.99).all()


def test_a_checksum_sees_one_bit_and_a_moved_page() -> None:
    given = torch.from_numpy(np.random.default_rng(3).integers(0, 256, 99_999, dtype=np.uint8))
    before = checksum(given)
    flipped = given.clone()
    flipped[70_000] ^= 1
    moved = torch.cat((given[4096:8192], given[:4096], given[8192:]))
    assert len({before, checksum(flipped), checksum(moved), checksum(given[:-1])}) == 4
    assert checksum(given.clone()) == before
