"""The folder of a user's warm server: its socket, its record, its locks and its log.

    FOLDER/server.json   the record: pid, version, identity, address, token
    FOLDER/server.lock   held as long as the server lives, so that a dead server's record is ignored
    FOLDER/start.lock    held by the client that starts a server; others wait, then find it
    FOLDER/server.sock   the Unix socket
    FOLDER/server.log    output of a background server

FOLDER is `SPECEDIT_RUNTIME`, or the system's folder for such files, mode 0700 and owned by the
user. Standard library only: the client imports it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import socket
import stat
import sys
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

from specedit.errors import ServerError
from specedit.files import atomic, regular, stored
from specedit.files.regular import Lock
from specedit.files.startup import SERVER_RECORD, expanded, home, runtime_path, user_name
from specedit.settings import Settings
from specedit.settings.table import is_path, spelled_as_path

TOKEN_FILE = "server-token"
MAX_TOKEN_BYTES = 1_000
LONGEST_SOCKET_PATH = 100  # sun_path holds 108 bytes on Linux, 104 on macOS
UNIX_SOCKETS = hasattr(socket, "AF_UNIX") and sys.platform != "win32"
PACKAGE = Path(__file__).parent.parent
OF_ENGINE = ("engine", "device", "threads", "weights", "adapter")  # settings that it depends on
_ADDRESS = re.compile(r"unix:.+|http://(?:\[[0-9a-fA-F:.]+\]|[^\s/:]+):\d{1,5}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """The content of `server.json`: how to reach a running server, and what it serves."""

    pid: int
    version: str
    identity: dict[str, str]
    address: str  # "unix:PATH" or "http://127.0.0.1:PORT"
    token: str = ""
    background: bool = False
    url: str = ""  # where OpenAI clients connect, "" without TCP
    aliases: tuple[str, ...] = ()  # names besides the model's own that clients may ask for

    @property
    def model(self) -> str:
        return self.identity.get("model", "")


@dataclass(frozen=True, slots=True)
class RuntimeFolder:
    """One user's server folder."""

    folder: Path

    @property
    def socket(self) -> Path:
        path = self.folder / "server.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
            return path
        import hashlib

        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        return private(Path("/tmp") / f"specedit-{user_name()}") / f"{name}.sock"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def record(self) -> ServerRecord | None:
        """The record of the server that holds the lock; None where no server runs."""
        path = self.folder / SERVER_RECORD
        record = stored.read(path, ServerRecord)
        if record is None:
            return None
        if record.pid < 1 or not _ADDRESS.fullmatch(record.address):
            stored.note_unreadable(path, "its pid or address is impossible")
            return None
        return record if self.lock("server.lock").is_held() else None

    def write(self, record: ServerRecord) -> None:
        atomic.whole(self.folder / SERVER_RECORD, json.dumps(asdict(record)).encode(), 0o600)

    def clear(self) -> None:
        """Remove record and socket. Only for the server that holds the lock."""
        for path in (self.folder / SERVER_RECORD, self.socket):
            path.unlink(missing_ok=True)

    def lock(self, name: str) -> Lock:
        return Lock(self.folder / name)


def own_token() -> str:
    """The token of this user's servers, in a file of the store that only the user can read."""
    path = home() / TOKEN_FILE
    with contextlib.suppress(OSError, UnicodeDecodeError):
        token = regular.read(path, MAX_TOKEN_BYTES).decode("ascii").strip()
        is_private = os.name == "nt" or not path.lstat().st_mode & 0o77
        if token and token.isprintable() and is_private:
            return token
    token = secrets.token_urlsafe(24)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    atomic.whole(path, f"{token}\n".encode(), 0o600)
    return token


def runtime_folder() -> RuntimeFolder:
    """This user's server folder, created where it is missing."""
    return RuntimeFolder(private(runtime_path()))


def private(folder: Path) -> Path:
    """The folder, which only this user can enter; another user's folder or a link is an error."""
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
    message = f"{folder} {why}, so no server can be trusted there."
    return ServerError(message, hint="Remove it, or name another folder in SPECEDIT_RUNTIME.")


def path_variables() -> dict[str, str]:
    """The variables that name files, as absolute paths: a server runs in another folder."""
    names = ("SPECEDIT_HOME", "SPECEDIT_CONFIG")
    values = {name: os.environ.get(name, "") for name in names}
    return {n: str(expanded(v).absolute()) if v else "" for n, v in values.items()}


def identity(settings: Settings) -> dict[str, str]:
    """The values that must be equal for a server to answer as this process would. A model's name
    is never the folder that lies here by that name: the folder's author would choose the model."""
    variables, names_folder = path_variables(), is_path("adapter", settings.adapter)
    if names_folder:
        from specedit.models import adapter
    return {
        "model": _resolved(settings.model),
        "draft_model": _resolved(settings.draft_model) if settings.draft_model else "",
        "files": f"{model_files(settings.model)}{model_files(settings.draft_model)}",
        **{name: str(getattr(settings, name)) for name in OF_ENGINE},
        "adapter": adapter.identity(settings.adapter) if names_folder else settings.adapter,
        "home": variables["SPECEDIT_HOME"],
        "kernel": os.environ.get("SPECEDIT_KERNEL", ""),
        "build": _build(),
    }


def model_files(model: str) -> str:
    """What tells the files at a model's path from others that lay there; "" for a model's name."""
    from specedit.models.store import parts_of

    path = Path(_resolved(model))
    if not path.is_absolute():
        return ""
    files = path.glob("*") if path.is_dir() else parts_of(path)
    facts = sorted((f.name, (of := f.stat()).st_size, of.st_mtime_ns) for f in files if f.exists())
    return f"{zlib.crc32(repr(facts).encode()):08x}"


def _build() -> str:
    """Which build of this version runs, by the names and sizes of its modules."""
    sizes = []
    for folder, folders, names in os.walk(PACKAGE):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        modules = sorted(name for name in names if name.endswith(".py"))
        sizes += [(name, Path(folder, name).stat().st_size) for name in modules]
    return f"{zlib.crc32(repr(sizes).encode()):08x}"


def _resolved(model: str) -> str:
    """A model's name, or the real path of its file or folder."""
    path = os.path.expanduser(model)  # noqa: PTH111  (an unknown user stays a word)
    if not os.path.exists(path) or ("/" in model and not spelled_as_path(model)):  # noqa: PTH110
        return model
    from specedit.models import catalogue

    return os.path.realpath(path) if catalogue.find(model) is None else model
