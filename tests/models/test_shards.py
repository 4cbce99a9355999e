"""A model whose files are converted and deleted while it is fetched, from a hub on this machine."""

import errno
import hashlib
import os
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest import mock

import pytest
from exact_models import save, save_gguf
from model_sources import Hub, hub_server

from specedit.engines.exact import conversion
from specedit.engines.exact.conversion import convert, convert_fetched, converted_path, is_converted
from specedit.engines.exact.engine import open_exact
from specedit.engines.huggingface.loading import open_huggingface
from specedit.errors import ModelError
from specedit.inference import loading
from specedit.models import catalogue, resolve
from specedit.models.catalogue import Listed
from specedit.models.store import FetchProgress, ModelFiles, Report, Use, unreported
from specedit.settings import Settings

ENTRY = Listed("next", "", 1_000_000, "", "MIT", "someone/next")
IDS = random.Random(3).choices(range(500), k=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("next") / "whole"
    model, _ = save("qwen2, multi-head, untied", path.with_name("one file"))
    model.save_pretrained(path, max_shard_size="150KB")
    assert len(list(path.glob("*.safetensors"))) >= 5
    return path


@pytest.fixture
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(catalogue, "entries", lambda: (ENTRY,))
    with hub_server() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        server.files["someone/next"] = {
            path.name: path.read_bytes() for path in sorted(folder.iterdir())
        }
        yield server


def fetch(home: Path, weights: str = "auto", report: Report = unreported) -> ModelFiles:
    use = Use(partial(convert_fetched, home, weights, report))
    return resolve.resolve("next", home=home, report=report, use=use)


def interrupted(hub: Hub, home: Path, files: int) -> None:
    """A fetch that ends after so many files."""

    def interrupt(step: FetchProgress) -> None:
        if len(set(fetched(hub))) > files:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(home, report=interrupt)


def fetched(hub: Hub) -> list[str]:
    return [place.rsplit("/")[-1] for place, _ in hub.asked if place.endswith(".safetensors")]


def test_two_files_at_most_lie_on_the_disk_and_the_weights_are_those_of_the_whole_folder(
    hub, folder, tmp_path
):
    counts: list[int] = []
    last = fetch(
        tmp_path, report=lambda _: counts.append(len(list(tmp_path.rglob("*.safetensors"))))
    )
    assert max(counts) <= 2
    assert not list(tmp_path.rglob("*.safetensors")) and not list(tmp_path.rglob("*.part"))
    assert is_converted(last, tmp_path)
    whole = ModelFiles("next", folder, "folder", last.sha256)
    convert(whole, tmp_path / "other")
    other = converted_path(whole, tmp_path / "other")
    assert converted_path(last, tmp_path).read_bytes() == other.read_bytes()
    engine = open_exact(last, store=tmp_path)
    list(engine.begin(IDS))
    assert len(engine.forward(IDS[-1:]).ids) == 1
    asked = len(hub.asked)
    assert fetch(tmp_path) == last and len(hub.asked) == asked
    (item,) = resolve.items(tmp_path)
    assert item.state == "here" and item.sha256 == last.sha256
    resolve.verify(item)
    resolve.remove(item)
    assert not list((tmp_path / "converted").iterdir())


@pytest.mark.parametrize("engine", ["exact", "huggingface"])
def test_a_row_without_a_digest_is_held_against_that_of_the_hub(engine, hub, tmp_path, monkeypatch):
    last = sorted(name for name in hub.files["someone/next"] if name.endswith(".safetensors"))[-1]
    hub.damaged.add(last)
    monkeypatch.setenv("SPECEDIT_HOME", str(tmp_path))
    settings = Settings(model="next", engine=engine)
    with pytest.raises(ModelError, match=r"what the hub gave is not this model \(SHA-256"):
        loading.fetched("next", settings, unreported)
    assert resolve.local("next") is None
    hub.damaged.clear()
    files = loading.fetched("next", settings, unreported)
    kept = len([*files.path.glob("*.safetensors")])
    assert bool(kept) == (engine == "huggingface")  # which reads them
    if not kept:
        with pytest.raises(ModelError, match="converted for the exact engine"):
            open_huggingface(files, device="cpu")


@pytest.mark.parametrize("files", [1, 3, 5])
def test_an_interrupted_fetch_continues_with_the_next_file(files, hub, tmp_path):
    interrupted(hub, tmp_path, files)
    hub.asked.clear()
    last = fetch(tmp_path)
    assert is_converted(last, tmp_path)
    assert len(fetched(hub)) <= len(hub.files["someone/next"]) - files


def test_what_was_converted_and_lost_is_fetched_again(hub, tmp_path):
    interrupted(hub, tmp_path, 3)
    (draft,) = (tmp_path / "converted").glob("*.part")
    draft.unlink()
    last = fetch(tmp_path)
    assert is_converted(last, tmp_path)
    path = converted_path(last, tmp_path)
    path.unlink()
    with pytest.raises(ModelError, match="no safetensors") as refused:
        convert(last, tmp_path)
    assert "specedit model remove next" in refused.value.hint


def test_a_model_that_cannot_be_converted_is_refused_before_its_weights_are_fetched(
    hub, tmp_path, monkeypatch
):
    monkeypatch.setattr("specedit.engines.exact.conversion.why_not", lambda: "there are no kernels")
    with pytest.raises(ModelError, match="there are no kernels"):
        fetch(tmp_path)
    assert not fetched(hub)


def test_the_kind_of_weights_that_is_set_is_kept(hub, tmp_path):
    last = fetch(tmp_path, "int4")
    assert is_converted(last, tmp_path, "int4") and not is_converted(last, tmp_path, "int8")
    with pytest.raises(ModelError, match="no safetensors") as refused:
        convert(last, tmp_path, "int8")
    assert "SPECEDIT_WEIGHTS" in refused.value.hint


@pytest.fixture
def gguf(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A GGUF file of the hub and the catalogue, whose bytes arrive in pieces."""
    model, _ = save("qwen2, grouped, tied", tmp_path / "saved")
    data = save_gguf(model, tmp_path / "next.gguf").path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    entry = Listed("next", "next.gguf", len(data), digest, "MIT", "someone/next")
    monkeypatch.setattr(catalogue, "entries", lambda: (entry,))
    monkeypatch.setattr("specedit.models.gguf.FIRST_READ_BYTES", 1_000)
    monkeypatch.setattr(conversion, "WAIT_SECONDS", 0.01)
    hub.files["someone/next"] = {"next.gguf": data}
    return data


def arriving(home: Path, report: Report = unreported) -> ModelFiles:
    with mock.patch.dict(os.environ, SPECEDIT_HOME=str(home)):
        return loading.fetched("next", Settings(weights="int8"), report)


def drafts(home: Path) -> list[Path]:
    return sorted(home.glob("converted/*"))


def until_converting(home: Path, then: Callable[[], None]) -> Report:
    """Holds a fetch back at its last bytes until the conversion has written some."""

    def report(step: FetchProgress) -> None:
        if step.stage == "fetch" and step.done == step.total:
            deadline = time.monotonic() + 20
            while not any(draft.stat().st_size for draft in drafts(home)):
                assert time.monotonic() < deadline, "nothing is converted while it is fetched"
                time.sleep(0.01)
            then()

    return report


def test_a_gguf_file_is_converted_while_it_is_fetched(gguf, tmp_path):
    fetched = arriving(tmp_path / "a", until_converting(tmp_path / "a", lambda: None))
    made = converted_path(fetched, tmp_path / "a", "int8")
    assert drafts(tmp_path / "a") == [made]
    steps: list[FetchProgress] = []
    convert(fetched, tmp_path / "a", "int8", steps.append)
    assert not steps  # nothing is left to do
    convert(fetched, tmp_path / "b", "int8")
    assert made.read_bytes() == converted_path(fetched, tmp_path / "b", "int8").read_bytes()


@pytest.mark.parametrize("wish", [KeyboardInterrupt, OSError(errno.ENOSPC, "full")], ids=str)
def test_a_fetch_that_ends_early_leaves_nothing_converted(wish, gguf, tmp_path):
    def end() -> None:
        raise wish

    with pytest.raises((KeyboardInterrupt, ModelError)):
        arriving(tmp_path, until_converting(tmp_path, end))
    assert drafts(tmp_path) == []
    fetched = arriving(tmp_path)  # continues
    assert drafts(tmp_path) == [converted_path(fetched, tmp_path, "int8")]


def test_what_was_converted_of_a_wrong_file_is_dropped(gguf, hub, tmp_path):
    wrong = bytearray(gguf)
    wrong[-1] ^= 1
    hub.files["someone/next"] = {"next.gguf": bytes(wrong)}
    with pytest.raises(ModelError, match="not this model"):
        arriving(tmp_path, until_converting(tmp_path, lambda: None))
    assert drafts(tmp_path) == []


def test_without_room_for_both_the_file_alone_is_fetched(gguf, tmp_path, monkeypatch):
    def full(path: Path, needed: int, what: str) -> None:
        raise ModelError("full")

    monkeypatch.setattr(conversion, "require_space", full)
    fetched = arriving(tmp_path)
    assert drafts(tmp_path) == []
    assert not is_converted(fetched, tmp_path, "int8")
