"""Paths in settings: a repository's stay inside it, also through links; the user's are absolute."""

from __future__ import annotations

import os
from pathlib import Path, PureWindowsPath

from specedit.errors import UsageError
from specedit.settings.table import about

_WEIGHTS = (".gguf", ".safetensors")


def is_path(name: str, value: object) -> bool:
    """Whether this setting's value names a file or folder."""
    if not isinstance(value, str) or value in about(name)["words"]:
        return False
    return bool(about(name)["paths"]) or (name == "model" and spelled_as_path(value))


def spelled_as_path(model: str) -> bool:
    """Whether a model is written as a path; a bare word or `owner/name` is a name."""
    return (
        model.startswith((".", "~", "/"))
        or "\\" in model
        or ".." in model.split("/")
        or model.count("/") > 1
        or bool(PureWindowsPath(model).drive)
        or (model.endswith(_WEIGHTS) and ":" not in model)
    )


def inside(root: Path, name: str, value: str, where: str) -> str:
    """The absolute form of a path from the repository at `root`. A path that leads outside, or into
    .git, whose files git may run, is refused."""
    top = Path(os.path.realpath(root))
    try:
        real = Path(os.path.realpath(top / os.path.expanduser(value)))  # noqa: PTH111
    except (OSError, ValueError):
        real = Path()
    parts = real.relative_to(top).parts if real.is_relative_to(top) else ("..",)
    if ".." in parts or any(part.casefold() == ".git" for part in parts):
        raise UsageError(
            f"{where}: {name} = {value!r} leads outside the repository.",
            hint="Give a path outside in a flag, a variable, or your own settings: "
            f"specedit config --user {name}=PATH",
        )
    return str(real)


def own(name: str, value: object, where: str) -> object:
    """A value of the user's file. A relative path is refused: the current folder, so perhaps a
    cloned repository, would choose the file."""
    if not is_path(name, value):
        return value
    assert isinstance(value, str)
    path = os.path.expanduser(value)  # noqa: PTH111
    if not Path(path).is_absolute():
        raise UsageError(
            f"{where}: {name} = {value!r} depends on the current folder.",
            hint="Give an absolute path: /… or ~/…",
        )
    return path
