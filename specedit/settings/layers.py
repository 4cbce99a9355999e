"""Where a value comes from: flag over variable over repository over user's file over default.

A repository's settings are in the nearest pyproject.toml. Its restricted settings apply only if the
user trusts it; otherwise `Resolved.ignored` names them.

The user's folder is `SPECEDIT_CONFIG` or the system's. It holds `config.toml` with the user's
settings, and `trusted.json`: the digests of `[tool.specedit]` tables that the user trusts, each at
one real path. `trusted.json` counts only if no other user can write to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from specedit.errors import UsageError
from specedit.files import atomic, regular, stored
from specedit.files.startup import expanded
from specedit.settings.table import (
    FLAG,
    Settings,
    check_removed,
    checked,
    entries,
    inside,
    is_path,
    is_restricted,
    names,
    nearest,
    own,
    parsed,
)

TRUSTED, DECLINED, CHANGED, UNKNOWN = "trusted", "declined", "changed", "unknown"
LARGEST_FILE = 4 << 20  # bytes of a file of settings


def config_folder() -> Path:
    if named := os.environ.get("SPECEDIT_CONFIG"):
        return expanded(named).absolute()
    from platformdirs import user_config_path

    return user_config_path("specedit", appauthor=False)


def user_file() -> Path:
    return config_folder() / "config.toml"


def trusted_file() -> Path:
    return config_folder() / "trusted.json"


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a settings file, or an error that says what is wrong with it."""
    try:
        return tomllib.loads(regular.read(path, LARGEST_FILE).decode("utf-8-sig"))
    except RecursionError:
        problem: object = "it is nested too deeply"
    except (ValueError, OSError) as error:  # ValueError: not TOML or not UTF-8
        problem = error
    raise UsageError(
        f"{path} cannot be read: {problem}", hint="Correct the file and run the command again."
    ) from None


def by_name(table: dict[str, Any], where: str) -> dict[str, Any]:
    """The values of a table by setting, unchecked. Every error begins with `where`."""
    values = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in names():
            check_removed(name, f"{where}: {key}")
            raise UsageError(
                f"{where} has no key {key[:100]!r}.", hint=nearest(name[:100], names())
            )
        if name in values:
            raise UsageError(f"{where} has {name} twice, with `-` and with `_`.")
        values[name] = value
    return values


def user_values() -> dict[str, Any]:
    """The settings of the user's file; empty if there is no file."""
    path = user_file()
    if not path.exists():
        return {}
    values = by_name(read_toml(path), str(path))
    no_rules(values, str(path))
    checked_values = {name: checked(name, value, str(path)) for name, value in values.items()}
    return {name: own(name, value, str(path)) for name, value in checked_values.items()}


def set_user(name: str, value: Any) -> Path:
    """Set one value in the user's file (None removes it); every other line stays as it is."""
    path = user_file()
    no_rules({name: value}, str(path))
    before = read_toml(path) if path.exists() else {}
    text = regular.read(path).decode("utf-8-sig") if path.exists() else ""
    after = {k: v for k, v in before.items() if k.replace("-", "_") != name}
    if value is not None:
        after[name] = value
    written = _with(text, name, value)
    with contextlib.suppress(ValueError):
        if tomllib.loads(written) == after:
            put(path, written)
            return path
    message = f"{path}: {name} is written in a form that cannot be changed automatically."
    raise UsageError(message, hint="Change the file in an editor.")


def put(path: Path, text: str) -> None:
    """Write a file of the user's folder atomically, readable by the user alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        real = Path(os.path.realpath(path))  # a link into the user's dotfiles stays a link
        atomic.whole(real, text.encode(), 0o600)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise UsageError(message, hint="Set SPECEDIT_CONFIG to another folder.") from None


def _with(text: str, name: str, value: Any) -> str:
    """The text with the line of one key replaced, added or removed."""
    spelled = re.escape(name).replace("_", "[-_]")
    line = re.compile(rf"""[ \t]*(["']?){spelled}\1[ \t]*=.*\n?""")
    lines = text.splitlines(keepends=True)
    kept = [text_line for text_line in lines if not line.fullmatch(text_line)]
    if value is None:
        return "".join(kept)
    at = next((n for n, text_line in enumerate(lines) if line.fullmatch(text_line)), len(kept))
    if kept and not kept[-1].endswith("\n"):
        kept[-1] += "\n"
    kept.insert(at, f"{name} = {_toml(value)}\n")
    return "".join(kept)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def no_rules(values: dict[str, Any], where: str) -> None:
    if "hook" in values:
        raise UsageError(f"{where}: hook rules belong in a repository's pyproject.toml.")


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's decision about one repository's table."""

    digest: str
    trusted: bool


def table_digest(table: Mapping[str, Any]) -> str:
    """Equal for equal tables; a value that JSON lacks carries its type."""
    text = json.dumps(table, sort_keys=True, default=lambda v: [type(v).__name__, str(v)])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def decisions() -> dict[str, Decision]:
    """All decisions by real path; none if the file is damaged, or others can write to it."""
    try:
        with regular.reading(trusted_file()) as file:
            if not _ours(os.fstat(file.fileno())):
                return {}
            return stored.typed(dict[str, Decision], stored.parsed(file.read()))
    except (OSError, ValueError):
        return {}


def trust_state(folder: Path, wanted: str) -> str:
    """Whether the table with this digest is trusted at `folder`."""
    decision = decisions().get(os.path.realpath(folder))
    if decision is None or decision.digest != wanted:
        return CHANGED if decision is not None and decision.trusted else UNKNOWN
    return TRUSTED if decision.trusted else DECLINED


def decide(folder: Path, wanted: str, *, trusted: bool) -> None:
    """Record the user's decision about the table with this digest at `folder`."""
    _write({**decisions(), os.path.realpath(folder): Decision(wanted, trusted)})


def forget(folder: Path) -> bool:
    """Delete the decision; returns whether there was one. `folder` may be deleted already."""
    known = decisions()
    gone = {os.path.realpath(folder), str(folder.absolute())} & known.keys()
    if gone:
        _write({at: decision for at, decision in known.items() if at not in gone})
    return bool(gone)


def _write(known: Mapping[str, Decision]) -> None:
    put(trusted_file(), json.dumps({at: asdict(w) for at, w in known.items()}, indent=1) + "\n")


def _ours(info: os.stat_result) -> bool:
    if not hasattr(os, "getuid"):
        return True
    return info.st_uid in (os.getuid(), 0) and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


# Variables that are not settings: folders, and secrets that belong in no file.
NOT_SETTINGS = frozenset({"HOME", "CONFIG", "API_KEY", "TOKEN", "RUNTIME", "KERNEL", "BUILD"})


@dataclass(frozen=True, slots=True)
class Repository:
    """The nearest pyproject.toml: its settings, and whether the user trusts it."""

    pyproject: Path
    values: Mapping[str, Any]
    digest: str
    state: str  # TRUSTED, DECLINED, CHANGED or UNKNOWN of `folder`

    @property
    def folder(self) -> Path:
        return self.pyproject.parent

    @property
    def restricted(self) -> tuple[str, ...]:
        """The restricted settings among its settings."""
        return tuple(name for name, value in self.values.items() if is_restricted(name, value))

    def effective_values(self) -> dict[str, Any]:
        """The values that apply, checked; of an untrusted repository no restricted one is."""
        ignored = () if self.state == TRUSTED else self.restricted
        values = {name: value for name, value in self.values.items() if name not in ignored}
        return {name: self._within(name, value) for name, value in values.items()}

    def _within(self, name: str, value: Any) -> Any:
        where = f"{self.pyproject}: [tool.specedit]"
        value = checked(name, value, where)
        if is_path(name, value):
            return inside(self.folder, name, value, where)
        named = name in ("model", "draft_model") and value
        if named and os.path.exists(self.folder / value):  # noqa: PTH110  (never raises)
            inside(self.folder, name, value, where)  # the name is also a folder here
        return value


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings together with the repository that they are for."""

    values: Settings
    repository: Repository | None = None
    ignored: tuple[str, ...] = ()  # restricted settings of an untrusted repository

    @property
    def pyproject(self) -> Path | None:
        return self.repository.pyproject if self.repository else None

    @property
    def ignored_note(self) -> str:
        """One line: which settings are ignored, why, and how to trust the repository."""
        assert self.repository is not None
        changed = self.repository.state == CHANGED
        why = "has changed since you trusted it" if changed else "is not trusted"
        trust = f"specedit trust {shlex.quote(str(self.repository.folder))}"
        ignored = ", ".join(self.ignored)
        return f"{self.repository.pyproject}: {ignored} ignored: this repository {why} ({trust})"


def here() -> Path:
    """The current folder."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "The current folder is gone.", hint="Change to a folder that exists."
        ) from None


def find_pyproject(start: Path) -> Path | None:
    """The nearest pyproject.toml at or above `start`."""
    folder = start.resolve()
    for place in (folder, *folder.parents):
        if (place / "pyproject.toml").is_file():
            return place / "pyproject.toml"
    return None


def repository(start: Path) -> Repository | None:
    """The settings of the nearest pyproject.toml at or above `start`."""
    path = find_pyproject(start)
    if path is None:
        return None
    tools = read_toml(path).get("tool", {})
    if not isinstance(tools, dict):
        raise UsageError(f"{path}: [tool] must be a table.")
    table = tools.get("specedit", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [tool.specedit] must be a table.")
    try:
        values, digest = by_name(table, f"{path}: [tool.specedit]"), table_digest(table)
    except (RecursionError, ValueError):  # arrays in arrays, numbers of thousands of digits
        raise UsageError(f"{path}: [tool.specedit] is too large to read.") from None
    restricted = any(is_restricted(name, value) for name, value in values.items())
    state = trust_state(path.parent, digest) if restricted else UNKNOWN
    return Repository(path, values, digest, state)


def _from_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    values = {}
    for variable, text in environ.items():
        if not variable.startswith("SPECEDIT_"):
            continue
        bare = variable.removeprefix("SPECEDIT_")
        if bare in NOT_SETTINGS:
            continue
        name = bare.lower()
        if name not in names():
            check_removed(name, variable)
            known = [f"SPECEDIT_{n.upper()}" for n in names()]
            raise UsageError(f"There is no setting {variable}.", hint=nearest(variable, known))
        if name == "hook":
            raise UsageError(f"{variable}: hook rules belong in pyproject.toml.")
        values[name] = checked(name, parsed(name, text, variable), variable)
    return values


def resolve(
    given: Mapping[str, Any] | None = None,
    *,
    start: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Resolved:
    """Flags (None = not given) over variables over the repository over the user's file."""
    repo = repository(start or here())
    repo_values = repo.effective_values() if repo else {}
    variables = _from_variables(os.environ if environ is None else environ)
    flag_values = {}
    for name, value in (given or {}).items():
        if value is None:
            continue
        if name not in entries():
            check_removed(name)
            raise UsageError(f"There is no setting {name!r}.", hint=nearest(name, [*entries()]))
        flag_values[name] = checked(name, value, f"--{name.replace('_', '-')}")
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in (
        (str(user_file()), user_values()),
        (str(repo.pyproject) if repo else "", repo_values),
        ("variable", variables),
        (FLAG, flag_values),
    ):
        for name, value in layer.items():
            if name == "sure" and layer is repo_values:  # it is raised, never lowered
                value = max(value, values.get(name, 0.0))
            values[name] = value
            origins[name] = f"SPECEDIT_{name.upper()}" if origin == "variable" else origin
    ignored: tuple[str, ...] = ()
    if repo is not None:
        known = repo_values.keys() | variables.keys() | flag_values.keys()
        ignored = tuple(name for name in repo.restricted if name not in known)
    return Resolved(Settings(**values, origins=origins), repo, ignored)
