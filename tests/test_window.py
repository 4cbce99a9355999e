"""What a server says of its window, and what that lets a prompt hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, listening

from specedit.edit.prompt import LONG, read_beside
from specedit.server.connect import window
from specedit.settings import Settings


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with listening() as found:
        yield found


def told(endpoint: Endpoint, listed: Any, profile: str = "vllm", path: str = "") -> int | None:
    endpoint.listed = listed if isinstance(listed, bytes) else json.dumps(listed).encode()
    return window(Settings(server=endpoint.url + path, profile=profile, model="m"))


ROW = {"id": "m", "max_model_len": 32768}


@pytest.mark.parametrize(
    ("listed", "size"),
    [
        ({"data": [ROW]}, 32768),
        ({"data": [{"id": "n", "max_model_len": 5}, ROW]}, 32768),
        ({"data": [{"id": "another", "max_model_len": 5}]}, 5),
        ({"data": [{"id": "m"}]}, None),
        ({"data": [{"id": "m", "max_model_len": "9"}]}, None),
        ({"data": [{"id": "m", "max_model_len": -1}]}, None),
        ({"data": [{"id": "m", "max_model_len": 1 << 60}]}, None),
        ({"data": [{"id": "a"}, {"id": "b"}]}, None),
        ({"data": "m"}, None),
        ([], None),
        (b"no json", None),
        (b"[" * 100_000, None),
        (b"", None),
    ],
    ids=repr,
)
def test_a_window_is_what_the_server_says_of_its_model(
    endpoint: Endpoint, listed: Any, size: int | None
) -> None:
    assert told(endpoint, listed) == size


def test_only_vllms_are_asked_and_only_where_the_user_named_one(endpoint: Endpoint) -> None:
    assert told(endpoint, {"data": [ROW]}, profile="openai") is None
    assert window(Settings(server="auto", profile="vllm")) is None
    assert window(Settings(server="off", profile="vllm")) is None
    assert endpoint.paths == []
    assert told(endpoint, {"data": [ROW]}, path="/v1") == 32768
    assert endpoint.paths == ["/v1/models"]


def test_a_server_that_is_not_there_says_nothing() -> None:
    with listening() as gone:
        pass
    assert window(Settings(server=gone.url, profile="vllm", model="m")) is None


def test_a_larger_window_shows_longer_files_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("def one():\n    return 1\n\n\n" * (2 * LONG // 24))
    (small,), (large,) = read_beside([str(path)], 4096), read_beside([str(path)], 65536)
    assert small.signatures and len(small.text) <= 2 * LONG
    assert large.text == path.read_text() and not large.signatures
    assert read_beside([str(path)]) == (small,)
