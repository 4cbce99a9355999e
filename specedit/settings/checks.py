"""Checks that a value is valid for its setting, and parses the text of a variable or flag.

Every error names where the value comes from. Paths from a repository stay inside it, also through
links; the user's own are absolute.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any

from specedit.check.finding import ALLOWED
from specedit.errors import UsageError
from specedit.settings.table import about, nearest, types
from specedit.syntax.languages import BY_NAME

LONGEST = 4096  # characters of a value: one line of the question whether to trust it
_TRUTH = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off", ""), False),
}
_VALID: dict[str, tuple[Callable[[Any], object], str]] = {
    "test": (lambda value: not value or value.strip(), "a command"),
    "focus": (
        re.compile(r"auto|off|[1-9]\d{0,8}").fullmatch,
        "auto, off, or a number of lines such as 500",
    ),
}


def parsed(name: str, text: str, where: str) -> Any:
    """The value of this setting that the text of a variable or flag stands for."""
    kind = types()[name]
    try:
        if kind is bool:
            return _TRUTH[text.strip().lower()]
        if kind is int:
            return int(text.replace("_", ""))
        return float(text) if kind is float else text
    except (ValueError, KeyError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise UsageError(f"{where}: {name} must be {wanted}, not {shown(text)}.") from None


def checked(name: str, value: Any, where: str) -> Any:
    """The value in its setting's type, or an error that begins with `where`."""
    meta, kind = about(name), types()[name]
    if name == "hook":
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise UsageError(
                f"{where}: {name} must be an array of tables ([[tool.specedit.{name}]])."
            )
        return value
    if name == "repeat":
        if not isinstance(value, dict) or not all(isinstance(v, dict) for v in value.values()):
            raise UsageError(f"{where}: {name} must be tables ([tool.specedit.{name}.NAME]).")
        return value
    if name in ("draft", "allow") and isinstance(value, list):
        value = ",".join(map(str, value))
    if name == "check_with" and isinstance(value, dict):
        value = "\n".join(f"{language}: {command}" for language, command in value.items())
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        _check_size(name, value, where)
        value = float(value)
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise UsageError(f"{where}: {name} must be {kind.__name__}, not {shown(value)}.")
    if kind is str and "\0" in value:
        raise UsageError(f"{where}: {name} contains a zero byte.")
    if kind is str and len(value) > LONGEST:
        raise UsageError(f"{where}: {name} must be at most {LONGEST:,} characters long.")
    if meta["choices"] and value not in meta["choices"]:
        raise UsageError(
            f"{where}: {name} must be one of {', '.join(meta['choices'])}, not {shown(value)}.",
            hint=nearest(str(value)[:100], list(meta["choices"])),
        )
    if kind in (int, float):
        _check_size(name, value, where)
    is_valid, wanted = _VALID.get(name, (bool, ""))
    if wanted and not is_valid(value):
        raise UsageError(f"{where}: {name} must be {wanted}, not {shown(value)}.")
    if name in ("allow", "check_with"):
        _check_parts(name, value, where)
    return value


def _check_parts(name: str, value: str, where: str) -> None:
    """Of kinds of findings, and of commands by their language: each is known."""
    from specedit.check.external import parsed_commands

    try:
        if name == "check_with":
            what, known = "language", list(BY_NAME)
            parts = [language for language, _ in parsed_commands(value) if language]
        else:
            what, known = "kind", list(ALLOWED)
            parts = value.replace(",", " ").split()
    except ValueError as problem:
        raise UsageError(f"{where}: {name}: {problem}.") from None
    for part in parts:
        if part not in known:
            raise UsageError(
                f"{where}: {name}: there is no {what} {shown(part)}.", hint=nearest(part, known)
            )


def _check_size(name: str, value: float, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{where}: {name} must be a finite number, not {value}.")
    if value < 0:
        raise UsageError(f"{where}: {name} must not be negative, but is {shown(value)}.")
    if value > (most := about(name)["most"]):
        raise UsageError(f"{where}: {name} must be at most {most}, not {shown(value)}.")


def shown(value: object) -> str:
    """A wrong value for a message, shortened. `repr` refuses integers of thousands of digits."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 100 else f"{text[:100]}…"


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
