"""The constant beginning of a prompt comes from the store, bit for bit as a pass computes it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from exact_models import kernel, kernels_here, save
from model_sources import tiny_gguf

from specedit.decode.width import Widths
from specedit.edit import prompt
from specedit.edit.backend import Message, ModelInfo, Plan, unreported
from specedit.engines.exact import engine as fixed_prefix
from specedit.engines.exact.engine import ExactEngine, open_exact
from specedit.inference.model import LoadedModel
from specedit.models.store import ModelFiles
from specedit.models.tokenizer import prompt_ids
from specedit.models.vocabulary import load_tokenizer

KERNELS = kernels_here()
FIXED = [(5 * i * i + i) % 190 for i in range(70)]
REST = [(7 * i + 3) % 190 for i in range(30)]

pytestmark = pytest.mark.skipif(not KERNELS, reason="no kernels were built here")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    return save("qwen2, grouped, tied", tmp_path_factory.mktemp("model"))[1]


@pytest.fixture
def opened(model: ModelFiles, tmp_path: Path) -> Callable[[], ExactEngine]:
    return lambda: open_exact(model, store=tmp_path)


def files(store: Path) -> list[Path]:
    return sorted((store / "converted").glob("prefix-*.kv"))


def logits(engine: ExactEngine, *, fixed: int) -> list[bytes]:
    engine.crop(0)
    if fixed:
        engine.read_fixed(FIXED[:fixed])
    for _ in engine.begin([*FIXED, *REST], audit=True):
        pass
    rows = engine.forward(REST[-1:] + FIXED[:9]).rows
    assert rows is not None
    return rows


@pytest.mark.parametrize("variant", KERNELS)
@pytest.mark.parametrize("length", [16, 63, 70])
def test_logits_are_those_of_a_prompt_that_was_read(variant, length, model, tmp_path):
    with kernel(variant):
        expected = logits(open_exact(model, store=tmp_path), fixed=0)
        assert logits(open_exact(model, store=tmp_path), fixed=length) == expected
        assert len(files(tmp_path)) == 1
        again = open_exact(model, store=tmp_path)
        again.read_fixed(FIXED[:length])
        assert again.length == length
        assert logits(again, fixed=length) == expected
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize("harm", ["cut", "changed", "longer", "empty"])
def test_a_damaged_file_is_made_again(harm, opened, tmp_path):
    expected = logits(opened(), fixed=70)
    (path,) = files(tmp_path)
    sound = path.read_bytes()
    damaged = {
        "cut": sound[:-1],
        "changed": sound[:-1] + bytes([sound[-1] ^ 1]),
        "longer": sound + b"0",
        "empty": b"",
    }
    path.write_bytes(damaged[harm])
    assert logits(opened(), fixed=70) == expected
    assert path.read_bytes() == sound


def test_other_arithmetic_has_a_file_of_its_own(model, tmp_path):
    for variant in KERNELS:
        with kernel(variant):
            logits(open_exact(model, store=tmp_path), fixed=70)
    logits(open_exact(model, store=tmp_path, precision="close"), fixed=70)
    assert len(files(tmp_path)) == len(KERNELS) + 1


def test_the_oldest_files_make_space(opened, tmp_path, monkeypatch):
    monkeypatch.setattr(fixed_prefix, "MAX_PREFIX_FILES", 2)
    engine, kept = opened(), list[Path]()
    for number, length in enumerate((70, 69, 68)):
        logits(engine, fixed=length)
        (new,) = set(files(tmp_path)) - set(kept)
        os.utime(new, (number, number))
        kept = sorted([*kept[-1:], new], key=lambda path: path.stat().st_mtime)
        assert sorted(kept) == files(tmp_path)


@pytest.fixture
def loaded(model: ModelFiles, tmp_path: Path) -> Iterator[LoadedModel]:
    tokenizer = load_tokenizer(ModelFiles("tiny", tiny_gguf(tmp_path / "tiny.gguf"), "gguf"))

    def render(turns: object, opening: str) -> list[int]:
        return [id % 190 for id in prompt_ids(tokenizer, turns, opening)]  # type: ignore[arg-type]

    engine = open_exact(model, store=tmp_path)
    yield LoadedModel(ModelInfo("tiny"), engine, tokenizer, render, Widths())


def test_nothing_of_a_users_text_is_kept(loaded, tmp_path):
    def reused(constant: tuple[Message, ...], *segments: str) -> int:
        messages = (*constant, Message("user", segments))
        loaded.engine.crop(0)
        plan = Plan(messages, draft=(), max_tokens=1)
        return loaded.answer(plan, unreported).reused

    first = reused(prompt.EXAMPLES_OF_FILES, "File `a`:", "secret = 1\n", "Rename it.")
    (path,) = files(tmp_path)
    content = path.read_bytes()
    path.unlink()
    longer = "Another text, and a longer one than that before."
    assert reused(prompt.EXAMPLES_OF_FILES, longer) == first
    assert [one.read_bytes() for one in files(tmp_path)] == [content]
    size = sum(len(message.content) for message in prompt.EXAMPLES_OF_FILES)
    assert size < first < size + 60 * len(prompt.EXAMPLES_OF_FILES)
    own = "My own words in the place of a system message, as a client may send."
    reused((Message("system", (own,)),), "Hello")
    assert len(files(tmp_path)) == 1
