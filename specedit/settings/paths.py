"""Paths in settings: a repository's stay inside it, also through links; the user's are whole.

Knows folders and links. Does not know who may say what: that is `trust` and the table.
"""

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
    """A model that is meant as a path says so: a bare word or `owner/name` is a name."""
    return (
        model.startswith((".", "~", "/"))
        or "\\" in model
        or ".." in model.split("/")
        or model.count("/") > 1
        or bool(PureWindowsPath(model).drive)
        or (model.endswith(_WEIGHTS) and ":" not in model)
    )


def inside(root: Path, name: str, value: str, where: str) -> str:
    """A path that the repository at `root` gave, whole; refused when it leads out, or into git's
    own folder, where what is written may be run."""
    top = Path(os.path.realpath(root))
    try:
        real = Path(os.path.realpath(top / os.path.expanduser(value)))  # noqa: PTH111
    except (OSError, ValueError):
        real = Path()
    parts = real.relative_to(top).parts if real.is_relative_to(top) else ("..",)
    if ".." in parts or any(part.casefold() == ".git" for part in parts):
        raise UsageError(
            f"{where}: {name} = {value!r} leads out of the repository.",
            hint="A path outside comes from a flag, a variable, or your own settings: "
            f"specedit config --user {name}=PATH",
        )
    return str(real)


def own(name: str, value: object, where: str) -> object:
    """A value of the user's own file: a path there does not depend on the current folder, or
    whatever repository that is in would choose the file."""
    if not is_path(name, value):
        return value
    assert isinstance(value, str)
    path = os.path.expanduser(value)  # noqa: PTH111
    if not Path(path).is_absolute():
        raise UsageError(
            f"{where}: {name} = {value!r} depends on the current folder.",
            hint="Give it whole: /… or ~/…",
        )
    return path
