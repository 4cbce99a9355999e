"""A pass works on physical cores, of those that this process may use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from model_sources import tiny_gguf

from specedit.edit.backend import Plan
from specedit.engines import devices
from specedit.errors import ModelError
from specedit.server.connect import LocalBackend
from specedit.settings import Settings


def test_there_are_some_and_not_more_than_processors() -> None:
    assert 1 <= devices.physical_cores() <= (os.cpu_count() or 1)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says which processors share a core")
@pytest.mark.parametrize(
    ("siblings", "may", "expected"),
    [
        (["0", "1", "2", "3"], {0, 1, 2, 3}, 4),
        (["0,2", "1,3", "0,2", "1,3"], {0, 1, 2, 3}, 2),
        (["0-1", "0-1", "2-3", "2-3"], {0, 1, 2}, 2),
        (["0,2", "1,3", "0,2", "1,3"], {1}, 1),
        ([], {0, 1, 2}, 3),
    ],
    ids=["single", "pairs", "pinned", "one", "a system that does not say"],
)
def test_two_threads_of_a_core_are_one(
    siblings: list[str],
    may: set[int],
    expected: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number, text in enumerate(siblings):
        (tmp_path / str(number)).write_text(f"{text}\n", "ascii")
    monkeypatch.setattr(devices, "SIBLINGS", str(tmp_path / "{}"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: may)
    assert devices.physical_cores() == expected


@pytest.mark.parametrize(("wanted", "expected"), [(0, None), (1, 1), (2, 2), (3, 2), (4096, 2)])
def test_threads_are_bounded_by_the_cores(
    wanted: int, expected: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int | None] = []

    def open_exact(*files: object, threads: int | None, **more: object) -> None:
        opened.append(threads)
        raise ModelError("enough")

    monkeypatch.setattr("specedit.server.loading.logical_cores", lambda: 2)
    monkeypatch.setattr("specedit.engines.exact.available", lambda *files: None)
    monkeypatch.setattr("specedit.engines.exact.conversion.convert", lambda *files: iter(()))
    monkeypatch.setattr("specedit.engines.exact.open_exact", open_exact)
    model = tiny_gguf(tmp_path / "model.gguf")
    backend = LocalBackend(Settings(model=str(model), engine="exact", threads=wanted))
    with pytest.raises(ModelError, match="enough"):
        list(backend.run(Plan(())))
    assert opened == [expected]
