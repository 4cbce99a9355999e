"""Where a warm server lives: a private folder with its socket, its record, its lock and its log.

    FOLDER/server.json   who serves: pid, version, identity, address, token
    FOLDER/server.lock   held as long as the server lives, so that a dead one is never believed
    FOLDER/start.lock    held by the one client that starts a server
    FOLDER/server.sock   the Unix socket; FOLDER/server.log what a background server said
    FOLDER/second/       the same once more, for a second model

FOLDER is `SPECEDIT_RUNTIME`, or the system's folder for such things, mode 0700 and ours.
Knows paths, locks and settings. Does not know HTTP. Standard library only: the client reads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import stat
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from specedit.errors import ServerError
from specedit.files import atomic, stored
from specedit.files.lock import Lock
from specedit.settings import Settings
from specedit.settings.paths import spelled_as_path

LONGEST_SOCKET_PATH = 100  # sun_path holds 108 bytes on Linux, 104 on macOS
_ADDRESS = re.compile(r"unix:.+|http://(?:\[[0-9a-fA-F:.]+\]|[^\s/:]+):\d{1,5}", re.DOTALL)
UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and sys.platform != "win32"


@dataclass(frozen=True)
class ServerRecord:
    """What a running server says of itself on disk."""

    pid: int
    version: str
    identity: dict[str, str]
    address: str  # "unix:PATH" or "http://127.0.0.1:PORT"
    token: str = ""
    background: bool = False
    url: str = ""  # where OpenAI clients connect, "" without TCP
    aliases: tuple[str, ...] = ()  # what they may call the model beside its name


@dataclass(frozen=True)
class RuntimeFolder:
    """One user's server folder."""

    folder: Path

    def places(self) -> tuple[RuntimeFolder, RuntimeFolder]:
        """This folder and the one in it: two servers may live at once, a folder each."""
        return self, RuntimeFolder(private(self.folder / "second"))

    @property
    def socket(self) -> Path:
        path = self.folder / "server.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
            return path
        import hashlib

        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        return private(Path("/tmp") / f"specedit-{_user()}") / f"{name}.sock"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def record(self) -> ServerRecord | None:
        """The record of the server that holds the lock; None when none lives."""
        record = stored.read(self.folder / "server.json", ServerRecord)
        if record is None or record.pid < 1 or not _ADDRESS.fullmatch(record.address):
            return None
        return record if self.lock("server.lock").is_held() else None

    def write(self, record: ServerRecord) -> None:
        atomic.whole(self.folder / "server.json", json.dumps(asdict(record)).encode(), 0o600)

    def clear(self) -> None:
        """Called by the server that holds the lock, before it lets go."""
        for path in (self.folder / "server.json", self.socket):
            path.unlink(missing_ok=True)

    def lock(self, name: str) -> Lock:
        return Lock(self.folder / name)

    def held(self, name: str) -> bool:
        return self.lock(name).is_held()

    def starting(self) -> Lock:
        """For `with`: only one client starts a server; the others wait and then find it."""
        return self.lock("start.lock")


def runtime_folder() -> RuntimeFolder:
    """This user's server folder, made when it is missing."""
    if named := os.environ.get("SPECEDIT_RUNTIME"):
        return RuntimeFolder(private(Path(named).expanduser().absolute()))
    given = os.environ.get("XDG_RUNTIME_DIR")
    if given and Path(given).is_dir() and os.access(given, os.W_OK):
        return RuntimeFolder(private(Path(given) / "specedit"))
    import tempfile

    return RuntimeFolder(private(Path(tempfile.gettempdir()) / f"specedit-{_user()}"))


def private(folder: Path) -> Path:
    """The folder, ours alone; another user's folder or a link is refused."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode):
        raise _not_private(folder, "is not a folder")
    if hasattr(os, "getuid"):
        if info.st_uid != os.getuid():
            raise _not_private(folder, "belongs to another user")
        if info.st_mode & 0o077:
            folder.chmod(0o700)
    return folder


def _not_private(folder: Path, why: str) -> ServerError:
    return ServerError(
        f"{folder} {why}, so no server can be trusted there.",
        hint="Remove it, or name another folder in SPECEDIT_RUNTIME.",
    )


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")


def folders() -> dict[str, str]:
    """The variables that name files, absolute: a server works in another folder."""
    named = ("SPECEDIT_HOME", "SPECEDIT_CONFIG", "SPECEDIT_SCRIPT")
    found = {name: os.environ.get(name, "") for name in named}
    return {n: str(Path(v).expanduser().absolute()) if v else "" for n, v in found.items()}


def _is_name(model: str) -> bool:
    """A catalogue's name, or a hub id."""
    from specedit.models import catalogue

    return ("/" in model and not spelled_as_path(model)) or catalogue.find(model) is not None


def identity(settings: Settings) -> dict[str, str]:
    """What must be equal for a server to answer as this process would. A model's name is never
    the folder that lies here by that name: whoever made the folder would choose the model."""
    named = folders()
    return {
        "model": _named(settings.model),
        "draft_model": _named(settings.draft_model) if settings.draft_model else "",
        "engine": settings.engine,
        "device": settings.device,
        "threads": str(settings.threads),
        "precision": settings.precision,
        "home": named["SPECEDIT_HOME"],
        "script": named["SPECEDIT_SCRIPT"] if settings.engine == "scripted" else "",
        "kernel": os.environ.get("SPECEDIT_KERNEL", ""),
    }


def _named(model: str) -> str:
    path = os.path.expanduser(model)  # noqa: PTH111  (whoever is not there stays a word)
    if os.path.exists(path) and not _is_name(model):  # noqa: PTH110  (never raises)
        return os.path.realpath(path)
    return model
