"""What another model needs, and what the systems say is free."""

from __future__ import annotations

from pathlib import Path

import pytest

from specedit.backends import memory
from specedit.settings import Settings

VM_STAT = """Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               10.
Pages active:                            500.
Pages inactive:                           20.
Pages speculative:                         3.
Pages throttled:                           0.
Pages wired down:                        400.
Pages purgeable:                           4.
"""


def test_this_machine_says_what_is_free() -> None:
    assert memory.free() > 0


def test_macos_counts_what_can_be_had_back() -> None:
    assert memory._macos(VM_STAT) == 37 * 16384


def test_a_containers_bound_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_of_system", lambda: 1000)
    assert memory.free() == 1000
    for name, text in (("max", "600"), ("current", "500"), ("stat", "anon 1\ninactive_file 50\n")):
        (tmp_path / f"memory.{name}").write_text(text)
    assert memory.free() == 150


def test_a_model_needs_its_weights_its_caches_and_room_to_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"x" * 5000)
    settings = Settings(model=str(folder), engine="exact", cache_bytes=100)
    assert memory.needed(settings) == 5002 + 100 + memory.WORKING
    drafted = Settings(model=str(folder), draft_model=str(folder), engine="exact", cache_bytes=100)
    assert memory.needed(drafted) == 2 * 5002 + 100 + memory.WORKING
    assert memory.weights("scripted", "scripted") == 0
    assert memory.weights("no such model", "exact") == 0
