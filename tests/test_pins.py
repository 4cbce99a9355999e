"""A model whose digest nobody published: the first download's is held."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from model_sources import Hub, hub_server, tiny_gguf

from specedit.errors import ModelError
from specedit.models import catalogue, download, inventory, resolve, store
from specedit.models.catalogue import Listed
from specedit.models.store import ModelFiles

FILE = Listed("first", "first.gguf", 30_000, "", "MIT", "someone/first", parameters=0.1)
FOLDER = replace(FILE, name="whole", file="", hub="someone/whole")
CONFIG = b'{"architectures": ["LlamaForCausalLM"], "model_type": "llama"}'
WEIGHTS = b"\x02\0\0\0\0\0\0\0{}"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(catalogue, "CATALOGUE", (FILE, FOLDER))
    data = tiny_gguf(tmp_path / "made.gguf").read_bytes()
    with hub_server() as server:
        server.files["someone/first"] = {"first.gguf": data, "other.txt": b"x"}
        server.files["someone/whole"] = {"config.json": CONFIG, "model.safetensors": WEIGHTS}
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def last(name: str, home: Path) -> ModelFiles:
    found = list(resolve.resolve(name, home=home))[-1]
    assert isinstance(found, ModelFiles)
    return found


def item(name: str, home: Path) -> inventory.Item:
    return next(one for one in inventory.items(home) if one.name == name)


def test_the_first_download_s_digest_is_held(hub: Hub, home: Path) -> None:
    assert (item("first", home).state, item("first", home).sha256) == ("absent", "")
    files = last("first", home)
    data = hub.files["someone/first"]["first.gguf"]
    sha256 = hashlib.sha256(data).hexdigest()
    assert (files.name, files.sha256, files.path.read_bytes()) == ("first", sha256, data)
    assert store.digest_of(FILE, home) == sha256
    found = item("first", home)
    assert (found.state, found.sha256, found.pinned, found.size) == (
        *("here", sha256, False),
        len(data),
    )
    hub.asked.clear()
    assert last("first", home) == files and not hub.asked, "it is in place"


def test_what_is_fetched_again_is_what_was_fetched_first(hub: Hub, home: Path) -> None:
    last("first", home)
    inventory.remove(item("first", home))
    assert resolve.local("first", home=home) is None
    assert last("first", home).sha256 == store.digest_of(FILE, home)
    inventory.remove(item("first", home))
    hub.files["someone/first"]["first.gguf"] += b"more"
    with pytest.raises(ModelError, match="another first than was fetched first") as caught:
        last("first", home)
    assert str(home / "pins" / "first") in caught.value.hint
    assert resolve.local("first", home=home) is None and not (home / "models/first.gguf").exists()
    (home / "pins" / "first").unlink()
    assert last("first", home).path.exists()


def test_bytes_that_are_not_what_the_hub_says_are_refused_by_the_pin(
    hub: Hub, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last("first", home)
    inventory.remove(item("first", home))
    data = hub.files["someone/first"]["first.gguf"]
    hub.files["someone/first"]["first.gguf"] = random.Random(1).randbytes(len(data))
    from specedit.models import hub as source

    honest = source.listing

    def silent(repository: str) -> source.Listing:
        found = honest(repository)
        return replace(found, files=tuple(replace(one, sha256="") for one in found.files))

    monkeypatch.setattr(source, "listing", silent)
    with pytest.raises(ModelError, match="is not this model"):
        last("first", home)


def test_a_folder_is_held_by_the_digests_of_its_files(hub: Hub, home: Path) -> None:
    found = list(download.fetch_listed(FOLDER, home))
    assert found and store.digest_of(FOLDER, home)
    assert item("whole", home).state == "here"
    inventory.remove(item("whole", home))
    hub.files["someone/whole"]["config.json"] = CONFIG.replace(b"llama", b"qwen2")
    with pytest.raises(ModelError, match="another whole than was fetched first"):
        list(download.fetch_listed(FOLDER, home))
    assert item("whole", home).state != "here"


@pytest.mark.parametrize("said", ["", "no digest", "a" * 63])
def test_a_pin_that_nobody_can_read_is_none(home: Path, said: str) -> None:
    (home / "pins").mkdir(parents=True)
    (home / "pins" / "first").write_text(said)
    assert store.digest_of(FILE, home) == ""


def test_removing_what_is_not_there_takes_no_conversion_of_others(hub: Hub, home: Path) -> None:
    other = home / "converted" / "other-0123456789abcdef-v1.int8"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"x")
    inventory.remove(item("first", home))
    assert other.exists()
