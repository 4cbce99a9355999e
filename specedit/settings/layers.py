"""Where a value comes from: flag over variable over repository over user's file over default.

The repository's settings are in the nearest pyproject.toml. Its open settings always apply. Its
restricted settings apply only if the user trusts it; otherwise `Resolved.ignored` names them.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specedit.errors import UsageError
from specedit.settings.checks import checked, inside, is_path, parsed
from specedit.settings.folder import (
    CHANGED,
    TRUSTED,
    UNKNOWN,
    by_name,
    read_toml,
    table_digest,
    trust_state,
    user_file,
    user_values,
)
from specedit.settings.table import (
    TABLES,
    Settings,
    about,
    flags,
    is_restricted,
    names,
    nearest,
)

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

    @property
    def trusted(self) -> bool:
        return self.state == TRUSTED

    def effective_values(self) -> dict[str, Any]:
        """The values that apply, checked. A path stays inside the repository.

        An ignored value is not checked: a restricted value of an untrusted repository stops no
        command, valid or not."""
        values = {n: v for n, v in self.values.items() if self.trusted or not is_restricted(n, v)}
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
    """Settings together with where each value came from."""

    values: Settings
    origins: Mapping[str, str]
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
        return (
            f"{self.repository.pyproject}: {', '.join(self.ignored)} ignored: "
            f"this repository {why} "
            f"(specedit trust {shlex.quote(str(self.repository.folder))})"
        )

    def rows(self) -> Iterator[tuple[str, Any, str, str]]:
        """Name, value, origin and help of every setting, for `specedit config`."""
        for name in names():
            yield name, getattr(self.values, name), self.origins[name], about(name)["help"]


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
            known = [f"SPECEDIT_{n.upper()}" for n in names()]
            raise UsageError(f"There is no setting {variable}.", hint=nearest(variable, known))
        if name in TABLES:
            raise UsageError(f"{variable}: {name} rules belong in pyproject.toml.")
        values[name] = checked(name, parsed(name, text, variable), variable)
    return values


def _from_flags(given: Mapping[str, Any]) -> dict[str, Any]:
    values = {k: v for k, v in given.items() if v is not None}
    for name in values:
        if name not in flags():
            raise UsageError(f"There is no setting {name!r}.", hint=nearest(name, flags()))
    return {n: checked(n, v, f"--{n.replace('_', '-')}") for n, v in values.items()}


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
    flag_values = _from_flags(given or {})
    origins = dict.fromkeys(flags(), "default")
    values: dict[str, Any] = {}
    for origin, layer in (
        (str(user_file()), user_values()),
        (str(repo.pyproject) if repo else "", repo_values),
        ("variable", variables),
        ("flag", flag_values),
    ):
        for name, value in layer.items():
            values[name] = value
            origins[name] = f"SPECEDIT_{name.upper()}" if origin == "variable" else origin
    own = variables.keys() | flag_values.keys()
    settings = Settings(**values, from_repository=frozenset(repo_values.keys() - own))
    restricted = repo.restricted if repo else ()
    ignored = tuple(n for n in restricted if n not in repo_values and n not in own)
    return Resolved(settings, origins, repo, ignored)
