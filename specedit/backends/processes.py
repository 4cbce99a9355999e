"""A warm server's process: the command that starts it, the wait until it listens, its end.

Knows the runtime folder and signals. Does not know which server is wanted. Standard library only.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from specedit.backends import wire
from specedit.backends.runtime import RuntimeFolder, ServerRecord, folders, identity
from specedit.backends.talk import listens, said
from specedit.errors import ServerError
from specedit.files import regular
from specedit.settings import Settings

START_S = 30.0  # until a new server listens; it loads its model afterwards
STOP_S = 8.0
HEARD_S = 2.0  # for a word that it is to end
PACKAGES = Path(__file__).resolve().parents[2]  # where `import specedit` finds this package


def arguments(settings: Settings, *more: str) -> list[str]:
    """The command line of a background server that serves these settings."""
    named = identity(settings)
    values: dict[str, object] = {
        "model": named["model"],
        "engine": settings.engine,
        "device": settings.device,
        "threads": settings.threads,
        "precision": settings.precision,
        "draft": settings.draft,
        "idle-minutes": settings.idle_minutes,
        "cache-bytes": settings.cache_bytes,
    }
    if named["draft_model"]:
        values["draft-model"] = named["draft_model"]
    flags = [text for name, value in values.items() for text in (f"--{name}", str(value))]
    return ["serve", "--detached", *flags, *more]


def launch(
    where: RuntimeFolder, command: list[str], variables: Mapping[str, str] | None = None
) -> ServerRecord:
    """Start a background server and wait until it listens.

    It works in its own folder, so that no project's modules or settings reach it."""
    import subprocess

    found = f"import sys; sys.path.append({str(PACKAGES)!r})"
    start = f"{found}; from specedit.__main__ import main; main()"
    places = {n: v for n, v in folders().items() if v}
    places["SPECEDIT_RUNTIME"] = str(where.folder)
    with regular.writing(where.log) as log:
        process = subprocess.Popen(
            [sys.executable, "-c", start, *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=where.folder,
            env={**os.environ, **places, **(variables or {})},
            start_new_session=True,
        )
    until = time.monotonic() + START_S
    while time.monotonic() < until and (process.poll() is None or where.record()):
        if (record := where.record()) is not None and listens(record):
            return record
        time.sleep(0.02)
    words = regular.read(where.log).decode("utf-8", "replace").strip().splitlines()
    raise ServerError(
        "The background server did not start.", hint="\n".join(words[-5:]) or f"See {where.log}."
    )


def stop(where: RuntimeFolder, record: ServerRecord) -> None:
    """End a server and wait for it; one that does not listen is ended by signal, one that was
    stopped as a job is woken for it."""
    import signal

    heard = False
    with suppress(ServerError):
        said(record, "POST", wire.STOP, HEARD_S)
        heard = True
    if heard and _ended(where, STOP_S):
        return
    for names in (("SIGTERM", "SIGCONT"), ("SIGKILL",)):
        for name in names:
            with suppress(OSError):
                os.kill(record.pid, getattr(signal, name, signal.SIGTERM))
        if _ended(where, STOP_S):
            return
    raise ServerError(f"The server (process {record.pid}) does not end.")


def _ended(where: RuntimeFolder, within_s: float) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if not where.held("server.lock"):
            return True
        time.sleep(0.02)
    return False
