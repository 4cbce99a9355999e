"""Large models by their shape: random weights in the types of Q4_K_M, made by benchmarks.synthetic.

Tiny here; the shapes of 3 to 14 billion parameters are in docs/research.
"""

import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from effort import FULL
from exact_models import kernel, kernels_here, save
from model_sources import hub_server

from benchmarks import synthetic
from specedit.engines.exact.conversion import convert, converted_path
from specedit.engines.exact.engine import ExactEngine, open_exact
from specedit.errors import ModelError, UsageError
from specedit.models import catalogue, resolve, vocabulary
from specedit.models.gguf import open_gguf
from specedit.models.store import ModelFiles

TINY = [name for name in synthetic.SHAPES if name.startswith("tiny")]
IDS = random.Random(4).choices(range(320), k=200)


def made(name: str, path: Path, **more: int) -> ModelFiles:
    tied = name in synthetic.TIED
    parts = synthetic.write(path, synthetic.SHAPES[name], tied=tied, **more)
    return ModelFiles("made", parts[0], "gguf")


@pytest.fixture(scope="module", params=TINY)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    return made(request.param, tmp_path_factory.mktemp("made") / "made.gguf")


# By default the best variant: test_exact_families and test_newer_families compare the others.
@pytest.fixture(scope="module", params=kernels_here() if FULL else kernels_here()[:1])
def engine(request: pytest.FixtureRequest, files: ModelFiles) -> ExactEngine:
    with kernel(request.param):
        return open_exact(files, store=files.path.parent)


def rows(engine: ExactEngine, widths: list[int]) -> list[bytes]:
    engine.crop(0)
    list(engine.begin(IDS[:2], audit=True))
    result: list[bytes] = []
    while engine.length < len(IDS):
        at = engine.length
        result += engine.forward(IDS[at : at + widths[len(result) % len(widths)]]).rows or ()
    return result


def test_a_file_that_brings_its_own_vocabulary_has_all_of_it(files):
    assert len(vocabulary.of_gguf(files).encode("in")) == 1


def test_guarantee_1_logits_are_bit_equal_at_any_split(engine):
    whole = rows(engine, [len(IDS)])
    assert len(whole) == len(IDS) - 1 and np.isfinite(np.frombuffer(whole[-1], np.float32)).all()
    for seed in range(3):
        assert rows(engine, random.Random(seed).choices((1, 2, 5, 16, 33, 64), k=8)) == whole


def test_guarantee_1_branches_of_a_tree_are_bit_equal_to_lines(engine):
    if not engine.info.trees:
        pytest.skip("states follow one line")
    engine.crop(0)
    list(engine.begin(IDS[:40], audit=True))
    parents = [-1, 0, 1, 1, 3, 0, 5]
    start = engine.length
    branches = engine.forward(IDS[40:47], parents).rows
    assert branches is not None
    for row in range(7):
        line, at = [row], row
        while (at := parents[at]) >= 0:
            line.insert(0, at)
        engine.crop(start)
        assert (engine.forward([IDS[40 + one] for one in line]).rows or [])[-1] == branches[row]


def test_the_window_has_an_end(engine):
    window = engine.info.window
    ids = (IDS * 3)[:window]
    engine.crop(0)
    list(engine.begin(ids))
    assert len(engine.forward(ids[-1:]).ids) == 1 and engine.length == window
    with pytest.raises(UsageError, match=f"window of {window}"):
        engine.forward([1])
    engine.crop(0)


def test_a_split_gguf_model_is_converted_to_the_same_bytes(tmp_path):
    whole = made("tiny-qwen2", tmp_path / "made.gguf")
    parts = made("tiny-qwen2", tmp_path / "split.gguf", shard_tensors=5)
    assert parts.path.name == "split-00001-of-00006.gguf"
    for files in (whole, parts):
        found = resolve.local(str(files.path), home=tmp_path)
        assert found is not None and found.path == files.path
        convert(ModelFiles("one", files.path, "gguf", "ab" * 32), tmp_path / files.path.stem)
    one, other = (
        converted_path(ModelFiles("one", whole.path, "gguf", "ab" * 32), tmp_path / stem)
        for stem in (whole.path.stem, parts.path.stem)
    )
    assert one.read_bytes() == other.read_bytes()
    last = tmp_path / "split-00006-of-00006.gguf"
    assert resolve.local(str(last), home=tmp_path) == resolve.local(str(parts.path), home=tmp_path)


@pytest.mark.parametrize("harm", ["missing", "another's", "twice"])
def test_a_split_gguf_model_is_whole_or_refused(harm, tmp_path):
    made("tiny-qwen2", tmp_path / "split.gguf", shard_tensors=9)
    path = tmp_path / "split-00002-of-00003.gguf"
    other = made("tiny-llama", tmp_path / "other.gguf", shard_tensors=9).path
    match harm:
        case "missing":
            path.unlink()
        case "another's":
            shutil.copy(other.with_name("other-00003-of-00003.gguf"), path)
        case _:
            shutil.copy(tmp_path / "split-00001-of-00003.gguf", path)
    with pytest.raises(ModelError, match="split-00002-of-00003"):
        open_gguf(tmp_path / "split-00001-of-00003.gguf")


def test_a_split_gguf_model_of_a_hub_is_fetched_whole(tmp_path, monkeypatch):
    first = made("tiny-qwen2", tmp_path / "m.gguf", shard_tensors=9).path
    with hub_server() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        parts = {f"q4/{part.name}": part.read_bytes() for part in sorted(tmp_path.glob("m-*"))}
        hub.files["someone/large"] = {**parts, "README.md": b"."}
        names = [
            f"someone/large:q4/{part.name}" for part in (first, sorted(tmp_path.glob("m-*"))[2])
        ]
        files = resolve.resolve(names[0], home=tmp_path / "home")
        assert files.kind == "gguf"
        assert len(open_gguf(files.path).tensors) == len(open_gguf(first).tensors)
        asked = len(hub.asked)
        assert resolve.resolve(names[1], home=tmp_path / "home") == files
        assert len(hub.asked) == asked


def machine(monkeypatch: pytest.MonkeyPatch, memory: int, free: int) -> None:
    monkeypatch.setattr(catalogue, "this_machine", lambda cores: catalogue.Machine(memory, cores))
    monkeypatch.setattr(catalogue, "_available", lambda: free)


def test_too_little_memory_is_said_before_anything_is_converted_or_loaded(tmp_path, monkeypatch):
    files, store = made("tiny-qwen2", tmp_path / "made.gguf"), tmp_path / "store"
    machine(monkeypatch, 200 << 20, 100 << 20)
    with pytest.raises(ModelError, match=r"made needs 2\d\d MB of memory, and this .* allows 210"):
        convert(files, store)
    assert not list((store / "converted").iterdir())
    machine(monkeypatch, 16 << 30, 100 << 20)
    engine = open_exact(files, store=store)
    assert "free: passes wait for the disk" in engine.info.note
    machine(monkeypatch, 200 << 20, 100 << 20)
    with pytest.raises(ModelError, match="of memory"):
        open_exact(files, store=store)


@pytest.mark.parametrize(
    ("memory", "name", "needed", "four", "hint"),
    [
        (9 << 29, "large", 5 << 30, False, "--weights int4 .*qwen2.5-coder-1.5b fits"),
        (9 << 29, "large", 5 << 30, True, "^Use a smaller model: qwen2.5-coder-1.5b fits.$"),
        (2 << 30, "large", 5 << 30, True, "^Use a smaller model: qwen2.5-coder-1.5b fits.$"),
        (2 << 30, "large", 5 << 30, False, "^Use a smaller model: qwen2.5-coder-1.5b fits.$"),
        (7 << 30, "qwen2.5-coder-7b", 7_520_000_000, False, "--weights int4 .*qwen3.5-4b fits"),
    ],
    ids=["int4 fits", "is int4", "int4, small", "int4 does not fit", "int4 of a larger one"],
)
def test_too_little_memory_says_what_fits(memory, name, needed, four, hint, monkeypatch):
    machine(monkeypatch, memory, memory)
    with pytest.raises(ModelError) as refused:
        catalogue.require_memory(name, needed, four=four)
    assert re.search(hint, refused.value.hint)


@pytest.mark.parametrize("kind", ["gguf", "folder"])
def test_auto_is_int4_where_int8_takes_too_much_of_the_memory(kind, tmp_path, monkeypatch):
    if kind == "gguf":
        files = made("tiny-qwen2", tmp_path / "made.gguf")
    else:
        files = save("qwen2, grouped, tied", tmp_path / "model")[1]
    machine(monkeypatch, 16 << 30, 16 << 30)
    assert converted_path(files, tmp_path).suffix == ".int8"
    machine(monkeypatch, 0, 0)  # the system does not tell
    assert converted_path(files, tmp_path).suffix == ".int8"
    machine(monkeypatch, 300 << 20, 300 << 20)
    engine = open_exact(files, store=tmp_path)
    assert converted_path(files, tmp_path).suffix == ".int4"
    assert "int8 takes more than three quarters of this machine's memory" in engine.info.note
    assert converted_path(files, tmp_path, "int8").suffix == ".int8"


def test_a_container_has_the_memory_of_its_limit(tmp_path, monkeypatch):
    limits = [tmp_path / name for name in ("memory.max", "none")]
    monkeypatch.setattr(catalogue, "CONTAINER_LIMITS", limits)
    limits[0].write_text("max\n")
    whole = catalogue.this_machine(2).memory
    limits[0].write_text("123456\n")
    assert catalogue.this_machine(2).memory == 123456 < whole


def test_a_bias_that_the_family_has_is_not_left_out(tmp_path, monkeypatch):
    shape = replace(synthetic.SHAPES["tiny-qwen2"], bias=False)
    monkeypatch.setitem(synthetic.SHAPES, "tiny-qwen2", shape)
    files = made("tiny-qwen2", tmp_path / "made.gguf")
    with pytest.raises(ModelError, match=r"has no tensor blk\.0\.attn_q\.bias"):
        convert(files, tmp_path / "store")
