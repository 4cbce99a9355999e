"""Where a value comes from: flag over variable over repository over user's file over default.

The nearest pyproject.toml is the repository's word. It beats the user's file in matters of taste;
in matters of power it counts only if the user has trusted it, and otherwise is as if it were not
there, which `Resolved.ignored` tells. Reads files; writes none, and asks nobody.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specedit.errors import UsageError
from specedit.settings import trust
from specedit.settings.checks import checked, parsed
from specedit.settings.folder import by_name, read_toml, user_file, user_values
from specedit.settings.paths import inside, is_path
from specedit.settings.table import Settings, about, is_power, names, nearest

# Variables that are no setting: where things live, and secrets that belong in no file.
NOT_SETTINGS = frozenset(
    {"HOME", "CONFIG", "SCRIPT", "API_KEY", "TOKEN", "RUNTIME", "KERNEL", "BUILD"}
)


@dataclass(frozen=True)
class Repository:
    """The nearest pyproject.toml: what it says, and whether that may be more than taste."""

    pyproject: Path
    values: Mapping[str, Any]
    digest: str
    state: str  # one of `trust`'s

    @property
    def folder(self) -> Path:
        return self.pyproject.parent

    @property
    def power(self) -> tuple[str, ...]:
        """The settings it gives that are not taste."""
        return tuple(name for name, value in self.values.items() if is_power(name, value))

    @property
    def trusted(self) -> bool:
        return self.state == trust.TRUSTED

    def counting(self) -> dict[str, Any]:
        """The values that apply, checked. A path of a repository begins and ends inside it.

        What is ignored is not checked: a restricted value of an untrusted repository stops no
        command, valid or not."""
        values = {n: v for n, v in self.values.items() if self.trusted or not is_power(n, v)}
        return {name: self._within(name, value) for name, value in values.items()}

    def _within(self, name: str, value: Any) -> Any:
        where = f"{self.pyproject}: [tool.specedit]"
        value = checked(name, value, where)
        if is_path(name, value):
            return inside(self.folder, name, value, where)
        named = name in ("model", "draft_model") and value
        if named and os.path.exists(self.folder / value):  # noqa: PTH110  (never raises)
            inside(self.folder, name, value, where)  # a name, and a folder that it may be taken for
        return value


@dataclass(frozen=True)
class Resolved:
    """Settings together with where each value came from."""

    values: Settings
    origins: Mapping[str, str]
    repository: Repository | None = None
    ignored: tuple[str, ...] = ()  # what the repository said, and nobody else did, in vain

    @property
    def pyproject(self) -> Path | None:
        return self.repository.pyproject if self.repository else None

    @property
    def in_vain(self) -> str:
        """One line: what of the repository's words does not count, and how to make it count."""
        assert self.repository is not None
        what, at = ", ".join(self.ignored), self.repository
        why = "has changed since you trusted it" if at.state == trust.CHANGED else "is not trusted"
        return (
            f"{at.pyproject}: {what} ignored: this repository {why} "
            f"(specedit trust {shlex.quote(str(at.folder))})"
        )

    def rows(self) -> Iterator[tuple[str, Any, str, str]]:
        """Name, value, origin, help: what `specedit config` prints."""
        for name in names():
            yield name, getattr(self.values, name), self.origins[name], about(name)["help"]


def here() -> Path:
    """The current folder."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("The current folder is gone.", hint="cd to one that is there.") from None


def find_pyproject(start: Path) -> Path | None:
    """The nearest pyproject.toml at or above `start`."""
    folder = start.resolve()
    for place in (folder, *folder.parents):
        if (place / "pyproject.toml").is_file():
            return place / "pyproject.toml"
    return None


def repository(start: Path) -> Repository | None:
    """What the nearest pyproject.toml at or above `start` says."""
    path = find_pyproject(start)
    if path is None:
        return None
    tools = read_toml(path).get("tool", {})
    if not isinstance(tools, dict):
        raise UsageError(f"{path}: [tool] is a table.")
    table = tools.get("specedit", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [tool.specedit] is a table.")
    try:
        values, digest = by_name(table, f"{path}: [tool.specedit]"), trust.digest(table)
    except (RecursionError, ValueError):  # arrays in arrays, numbers of thousands of digits
        raise UsageError(f"{path}: [tool.specedit] is too large to read.") from None
    needed = any(is_power(name, value) for name, value in values.items())
    state = trust.state(path.parent, digest) if needed else trust.UNKNOWN
    return Repository(path, values, digest, state)


def _from_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for variable, text in environ.items():
        if not variable.startswith("SPECEDIT_"):
            continue
        bare = variable.removeprefix("SPECEDIT_")
        if bare in NOT_SETTINGS:
            continue
        name = bare.lower()
        if name not in names():
            known = [f"SPECEDIT_{n.upper()}" for n in names()]
            raise UsageError(f"There is no setting {variable}.", hint=nearest(variable, known))
        if name == "hook":
            raise UsageError(f"{variable}: hook rules live in pyproject.toml.")
        found[name] = checked(name, parsed(name, text, variable), variable)
    return found


def _from_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    given = {k: v for k, v in flags.items() if v is not None}
    for name in given:
        if name not in names():
            raise UsageError(f"There is no setting {name!r}.", hint=nearest(name, names()))
    return {n: checked(n, v, f"--{n.replace('_', '-')}") for n, v in given.items()}


def resolve(
    flags: Mapping[str, Any] | None = None,
    *,
    start: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Resolved:
    """Flags (None = not given) over variables over the repository over the user's file."""
    said = repository(start or here())
    lent = said.counting() if said else {}
    variables = _from_variables(os.environ if environ is None else environ)
    given = _from_flags(flags or {})
    origins = dict.fromkeys(names(), "default")
    values: dict[str, Any] = {}
    for origin, layer in (
        (str(user_file()), user_values()),
        (str(said.pyproject) if said else "", lent),
        ("variable", variables),
        ("flag", given),
    ):
        for name, value in layer.items():
            values[name] = value
            origins[name] = f"SPECEDIT_{name.upper()}" if origin == "variable" else origin
    mine = variables.keys() | given.keys()
    settings = Settings(**values, lent=frozenset(lent.keys() - mine))
    ignored = tuple(n for n in said.power if n not in lent and n not in mine) if said else ()
    return Resolved(settings, origins, said, ignored)
