"""A model by any of its names, without a network when it is in place."""

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_sources import Hub, entry_of, hub_server, tiny_gguf

from specedit.errors import ModelError
from specedit.models import catalogue, resolve
from specedit.models.store import FetchProgress, ModelFiles, Slot
from specedit.models.tokenizer import Tokenizer, prompt_ids
from specedit.models.vocabulary import load_tokenizer


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr("subprocess.Popen", refuse)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with hub_server() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def known(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slot:
    """A catalogue of one tiny model, whose file somebody copied into the store."""
    data = tiny_gguf(tmp_path / "made.gguf").read_bytes()
    monkeypatch.setattr(catalogue, "entries", lambda: (entry_of(data, 1 << 20),))
    slot = Slot(home, "tiny.gguf")
    slot.path.parent.mkdir(parents=True)
    slot.path.write_bytes(data)
    return slot


def fail(step: FetchProgress) -> None:
    raise AssertionError(step)


def last(model: str, home: Path) -> ModelFiles:
    return resolve.resolve(model, home=home)


def folder_of(path: Path, **config: Any) -> Path:
    path.mkdir(parents=True)
    made = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **config}
    (path / "config.json").write_text(json.dumps(made), "utf-8")
    (path / "model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    return path


def test_law_nothing_leaves_the_machine_when_the_model_is_in_place(no_network, known, home):
    files = last("tiny", home)
    tokenizer = load_tokenizer(files)
    ids = prompt_ids(tokenizer, [("user", ("int x;",))], "```\n")
    assert b"int x;" in b"".join(map(tokenizer.piece, ids))


def test_a_file_copied_into_the_store_becomes_the_model_by_its_digest(no_network, known, home):
    assert known.record() is None
    files = resolve.local("TINY", home=home)
    assert files == ModelFiles("tiny", known.path, "gguf", files.sha256, "MIT", "path")
    record = known.record()
    assert record is not None
    assert record.sha256 == files.sha256
    resolve.resolve("tiny", home=home, report=fail)  # not hashed again


def test_a_file_of_the_same_size_is_not_the_model(known, home):
    known.path.write_bytes(known.path.read_bytes()[:-1] + b"?")
    with pytest.raises(ModelError, match="is not tiny: SHA-256"):
        last("tiny", home)


def test_a_file_that_shrank_is_no_model_any_more(known, home):
    last("tiny", home)
    known.path.write_bytes(known.path.read_bytes()[:-1])
    assert resolve.local("tiny", home=home) is None


def test_absent_and_offline_says_how_to_get_it(no_network, home, monkeypatch):
    monkeypatch.setenv("SPECEDIT_HOME", str(home))
    assert resolve.local("qwen2.5-coder-0.5b") is None
    with pytest.raises(ModelError, match="not on this machine") as caught:
        resolve.present("qwen2.5-coder-0.5b")
    assert "specedit model pull qwen2.5-coder-0.5b" in caught.value.hint


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("qwen-coder-0.5b", "the nearest: qwen2.5-coder-0.5b"),
        ("", "no model is named ''\n"),
        ("nowhere/at/all", "no such model file or folder"),
        ("./folder", "no such model file or folder"),
        ("missing.gguf", "no such model file or folder"),
        ("models/missing.gguf", "no such model file or folder"),
        ("~nobody-is-called-so/m", "no such model file or folder"),
        pytest.param("m" * 300, r"no model is named 'm+'\n", id="too long a name"),
    ],
)
def test_an_unknown_name(model, said, no_network, home):
    with pytest.raises(ModelError, match=said):
        last(model, home)


@pytest.mark.parametrize("name", ["mine", "no UTF-8: \udcff"], ids=ascii)
def test_a_path_to_a_gguf_file_is_hashed_once(name, no_network, tmp_path, home):
    path = tiny_gguf(tmp_path / f"{name}.gguf")
    files = resolve.resolve(str(path), home=home)
    assert (files.name, files.path, len(files.sha256)) == (name, path, 64)
    assert resolve.resolve(str(path), home=home, report=fail) == files


def test_a_folder_is_known_by_its_configuration_and_weights(no_network, tmp_path, home):
    path = folder_of(tmp_path / "mine")
    first = last(str(path), home)
    assert (first.name, first.kind, first.path) == ("mine", "folder", path)
    (path / "model.safetensors").write_bytes(b"\x03\0\0\0\0\0\0\0{} ")
    assert last(str(path), home).sha256 != first.sha256


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_a_folder_without_a_model(missing, tmp_path, home):
    path = folder_of(tmp_path / "mine")
    (path / missing).unlink()
    with pytest.raises(ModelError, match="is not a model"):
        last(str(path), home)


@pytest.mark.parametrize(
    ("architecture", "metadata", "said"),
    [
        ("mamba", {}, "'mamba'; qwen2, .* can be read"),
        ("llama", {"llama__attention__sliding_window": 128}, "llama.*sliding window of 128"),
        ("phi2", {}, "'phi2'; qwen2, qwen3, llama, .*qwen35moe can be read"),
    ],
)
def test_a_gguf_file_of_another_kind_is_refused(architecture, metadata, said, tmp_path, home):
    path = tiny_gguf(tmp_path / "other.gguf", architecture, **metadata)
    with pytest.raises(ModelError, match=said):
        last(str(path), home)


def test_a_hub_id_brings_the_folder_without_code_or_pickles(hub, tmp_path, home):
    made = folder_of(tmp_path / "made")
    files = {path.name: path.read_bytes() for path in made.iterdir()}
    other = {"model.py": b"1", "pytorch_model.bin": b"2", "original/x.safetensors": b"3"}
    other |= {"..\\x.json": b"4", "c:x.json": b"5"}
    hub.files["someone/small"] = {**files, **other, "empty.json": b""}
    found = last("someone/small", home)
    names = {path.name for path in found.path.iterdir()}
    assert names == {"config.json", "model.safetensors", "empty.json"}
    assert (found.name, found.kind, found.licence) == ("someone/small", "folder", "mit")
    asked = len(hub.asked)
    assert last("someone/small", home) == found
    assert len(hub.asked) == asked


def test_a_hub_id_names_one_gguf_file(hub, tmp_path, home):
    hub.files["someone/small"] = {"a.gguf": tiny_gguf(tmp_path / "a.gguf").read_bytes()}
    with pytest.raises(ModelError, match="no safetensors") as caught:
        last("someone/small", home)
    assert "someone/small:a.gguf" in caught.value.hint
    assert last("someone/small:a.gguf", home).kind == "gguf"
    with pytest.raises(ModelError, match=r"has no file b\.gguf"):
        last("someone/small:b.gguf", home)


def test_a_hub_without_the_repository(hub, home):
    with pytest.raises(ModelError, match="no repository someone/else"):
        last("someone/else", home)


def test_a_folder_fetched_halfway_goes_on(hub, tmp_path, home):
    made = folder_of(tmp_path / "made")
    files = {path.name: path.read_bytes() for path in made.iterdir()}
    hub.files["someone/small"] = dict(sorted(files.items()))

    def interrupt(step: FetchProgress) -> None:
        if any(place.endswith("config.json") for place, _ in hub.asked):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resolve.resolve("someone/small", home=home, report=interrupt)
    assert resolve.local("someone/small", home=home) is None
    hub.asked.clear()
    last("someone/small", home)
    assert [place.rsplit("/")[-1] for place, _ in hub.asked if "resolve" in place] == [
        "model.safetensors"
    ]


# which models can draft for which

WORDS = Tokenizer(
    ids_of=lambda text: [], pieces=[b"a", b"b", b""], specials={"<end>": 2}, ends=frozenset({2})
)


def test_equal_vocabularies_are_kin():
    assert (
        resolve.vocabulary_difference(WORDS, replace(WORDS, pieces=(b"a", b"b", b"", b""))) is None
    )


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"pieces": [b"a", b"c"]}, "tokens differ"),
        ({"pieces": [b"a"]}, "1 tokens, not 2"),
        ({"specials": {"<stop>": 2}}, "special tokens"),
    ],
    ids=["another token", "fewer", "other specials"],
)
def test_others_are_not(other, why):
    assert why in (resolve.vocabulary_difference(replace(WORDS, **other), WORDS) or "")


def test_a_draft_model_is_refused_by_name():
    resolve.check_drafts("tiny", WORDS, "big", WORDS)
    with pytest.raises(ModelError, match="tiny cannot draft for big"):
        resolve.check_drafts("tiny", replace(WORDS, pieces=[]), "big", WORDS)
