"""The first source of models: the Hugging Face hub, through huggingface_hub's session.

The library reads HF_ENDPOINT, tokens and proxies. Its own download deletes the partial file when a
process ends (since version 2), so continuing at a byte is done here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specedit.errors import ModelError
from specedit.files import regular

CONNECT_SECONDS = 6.0
READ_SECONDS = 30.0
TRIES = 2  # in a row without a new byte


@dataclass(frozen=True)
class RemoteFile:
    name: str
    size: int
    sha256: str  # "" if the hub states none (small text files)


@dataclass(frozen=True)
class Listing:
    """A repository at one revision."""

    revision: str
    licence: str
    files: tuple[RemoteFile, ...]


def listing(repository: str) -> Listing:
    """The files of a repository now."""
    from huggingface_hub import HfApi

    try:
        info = HfApi(endpoint=os.environ.get("HF_ENDPOINT")).model_info(
            repository, files_metadata=True, timeout=CONNECT_SECONDS
        )
    except Exception as problem:  # httpx, hub and OS errors share no base class
        raise _failed(repository, problem) from problem
    files = tuple(
        RemoteFile(file.rfilename, file.size or 0, file.lfs.sha256 if file.lfs else "")
        for file in info.siblings or ()
    )
    licence = str(info.card_data.get("license") or "") if info.card_data else ""
    return Listing(info.sha or "main", licence, files)


def stream(
    repository: str, name: str, part: Path, size: int, revision: str = "main"
) -> Iterator[int]:
    """Append the missing bytes of a file to `part`; yields the bytes there so far.

    After a broken connection it continues at the byte that was reached."""
    stalled = 0
    while (have := part.stat().st_size if part.exists() else 0) < size:
        try:
            yield from _append(repository, name, part, have, revision)
            if part.stat().st_size < size:
                raise ConnectionError("the connection closed early")
        except OSError as problem:
            if problem.errno is not None and not isinstance(problem, ConnectionError):
                raise  # the disk, not the network
            stalled = _stalled(stalled, part, have, repository, problem)
        except Exception as problem:
            stalled = _stalled(stalled, part, have, repository, problem)


def _stalled(stalled: int, part: Path, before: int, repository: str, problem: Exception) -> int:
    """The number of tries without a new byte; raises after a few, or at once if none can help."""
    grown = part.exists() and part.stat().st_size > before
    broken = type(problem).__name__ in {"ReadTimeout", "ReadError", "RemoteProtocolError"}
    if not grown and (stalled + 1 >= TRIES or not broken):
        raise _failed(repository, problem) from problem
    time.sleep(0.5)
    return 0 if grown else stalled + 1


def _append(repository: str, name: str, part: Path, have: int, revision: str) -> Iterator[int]:
    import huggingface_hub.utils

    tools: Any = huggingface_hub.utils  # its names are loaded on first use, without types
    # The endpoint is read here, not at import, so that a process may change it.
    url = huggingface_hub.hf_hub_url(
        repository, name, revision=revision, endpoint=os.environ.get("HF_ENDPOINT")
    )
    headers = {**tools.build_hf_headers(), "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    timeout = (CONNECT_SECONDS, READ_SECONDS, READ_SECONDS, CONNECT_SECONDS)
    with tools.get_session().stream(
        "GET", url, headers=headers, timeout=timeout, follow_redirects=True
    ) as answer:
        tools.hf_raise_for_status(answer)
        resumed = answer.status_code == 206
        with (regular.appending if resumed else regular.writing)(part) as file:
            done = have if resumed else 0
            for block in answer.iter_bytes():
                file.write(block)
                file.flush()
                done += len(block)
                yield done


def _failed(repository: str, problem: Exception) -> ModelError:
    kind = type(problem).__name__
    if kind in {"RepositoryNotFoundError", "HFValidationError"}:
        return ModelError(f"the hub has no repository {repository} that this machine may read")
    if kind == "GatedRepoError":
        return ModelError(f"{repository} requires that you accept its licence on the hub first")
    if kind == "OfflineModeIsEnabled":
        return ModelError("the hub is disabled (HF_HUB_OFFLINE)")
    if status := getattr(getattr(problem, "response", None), "status_code", None):
        return ModelError(f"the hub answered {status} for {repository}")
    reason = (str(problem).strip().splitlines() or [kind])[0]
    return ModelError(f"the hub cannot be reached: {reason}")
