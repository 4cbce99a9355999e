"""Editors: a ready, commented snippet for each, and its place where that is one file.

The snippets are data files of this package.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from specedit.errors import UsageError
from specedit.files import atomic

MARK = "specedit for "


@dataclass(frozen=True)
class Setup:
    """One editor: its snippet, and where the snippet goes if it is a file of its own."""

    name: str
    file: str
    place: str = ""  # under the folder named by `base`
    base: str = "config"  # "home", "config" or "here"
    then: str = ""  # what is left to do after installing


EDITORS = (
    Setup("vim", "specedit.vim", ".vim/plugin/specedit.vim", "home"),
    Setup("neovim", "specedit.lua", "nvim/plugin/specedit.lua"),
    Setup(
        "emacs",
        "specedit.el",
        "specedit.el",
        "emacs",
        'add to your init file: (load (locate-user-emacs-file "specedit"))',
    ),
    Setup("helix", "helix.toml", "helix/config.toml"),
    Setup(
        "vscode",
        "vscode.jsonc",
        ".vscode/tasks.json",
        "here",
        "add the keys in its first lines to keybindings.json",
    ),
    Setup(
        "zed", "zed.jsonc", "zed/tasks.json", then="add the keys in its first lines to keymap.json"
    ),
    Setup("jetbrains", "jetbrains.xml"),
    Setup(
        "sublime",
        "sublime.plugin",
        "Packages/User/specedit.py",
        "sublime",
        "add the keys in its first lines to the key bindings",
    ),
)
ALIASES = {
    "nvim": "neovim",
    "code": "vscode",
    "hx": "helix",
    "idea": "jetbrains",
    "subl": "sublime",
}


def names() -> list[str]:
    return [editor.name for editor in EDITORS]


def editor(name: str) -> Setup:
    """The editor a person means."""
    wanted = ALIASES.get(name.lower(), name.lower())
    for result in EDITORS:
        if result.name == wanted:
            return result
    near = difflib.get_close_matches(wanted, [*names(), *ALIASES], n=1)
    hint = f"Did you mean {near[0]}?" if near else f"There is: {', '.join(names())}."
    raise UsageError(f"There is no snippet for {name!r}.", hint=hint)


def snippet(found: Setup) -> str:
    return (files(__name__) / found.file).read_text("utf-8")


def place(found: Setup, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the snippet goes, or an error when that is no single file."""
    if not found.place:
        raise UsageError(
            f"The place for {found.name} depends on the product and its version.",
            hint=f"specedit editor {found.name} prints the snippet; its first lines say where to.",
        )
    return _base(found.base, environ) / found.place


def _base(base: str, environ: Mapping[str, str]) -> Path:
    home = Path(environ.get("HOME") or Path.home())
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    roaming = Path(environ.get("APPDATA") or home / "AppData/Roaming")
    local = Path(environ.get("LOCALAPPDATA") or home / "AppData/Local")
    support = home / "Library/Application Support"
    match base, sys.platform:
        case "here", _:
            return Path.cwd()
        case "emacs", _:
            old = home / ".emacs.d"
            return old if old.is_dir() or not (config / "emacs").is_dir() else config / "emacs"
        case "sublime", "darwin":
            return support / "Sublime Text"
        case "sublime", "win32":
            return roaming / "Sublime Text"
        case "sublime", _:
            return config / "sublime-text"
        case "home", "win32":
            return home
        case "config", "win32":
            return local
        case "home", _:
            return home
    return config


def install(found: Setup, environ: Mapping[str, str] = os.environ) -> Path:
    """Put the snippet in its place; a file there that is not ours stays as it is."""
    path, text = place(found, environ), snippet(found)
    if path.exists() and not _is_ours(path, found):
        raise UsageError(
            f"{path} is there already, and is not specedit's: it stays as it is.",
            hint=f"specedit editor {found.name} prints what to add to it.",
        )
    atomic.whole(path, text.encode())
    return path


def _is_ours(path: Path, found: Setup) -> bool:
    """An older version of the snippet, which nobody has joined with other settings."""
    if path.suffix in (".json", ".toml"):  # a file that people add their own settings to
        return path.read_text("utf-8", errors="replace") == snippet(found)
    return MARK in path.read_text("utf-8", errors="replace")[:400]
