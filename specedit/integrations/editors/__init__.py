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
from specedit.files import atomic, regular

MARK = "specedit for "
LARGEST_FILE = 1 << 20  # bytes of an editor's configuration


@dataclass(frozen=True, slots=True)
class Setup:
    """One editor: its snippet, and where the snippet goes if it is a file of its own."""

    name: str
    file: str
    place: str = ""  # under the folder named by `base`
    base: str = "config"  # "home", "config" or "here"
    then: str = ""  # what is left to do after installing
    alias: str = ""


LOAD = '(load (locate-user-emacs-file "specedit"))'
KEYS = "add the keys in its first lines to "
EDITORS = (
    Setup("vim", "specedit.vim", ".vim/plugin/specedit.vim", "home"),
    Setup("neovim", "specedit.lua", "nvim/plugin/specedit.lua", alias="nvim"),
    Setup(*("emacs", "specedit.el", "specedit.el", "emacs"), then=f"add to your init file: {LOAD}"),
    Setup("helix", "helix.toml", "helix/config.toml", alias="hx"),
    Setup(
        *("vscode", "vscode.jsonc", ".vscode/tasks.json", "here", f"{KEYS}keybindings.json", "code")
    ),
    Setup("zed", "zed.jsonc", "zed/tasks.json", then=f"{KEYS}keymap.json"),
    Setup("jetbrains", "jetbrains.xml", alias="idea"),
    Setup(
        *("sublime", "sublime.plugin", "Packages/User/specedit.py", "sublime"),
        *(f"{KEYS}the key bindings", "subl"),
    ),
)


def names() -> list[str]:
    return [editor.name for editor in EDITORS]


def editor(name: str) -> Setup:
    """The editor of this name or alias."""
    for setup in EDITORS:
        if name.lower() in (setup.name, setup.alias):
            return setup
    known = [*names(), *(setup.alias for setup in EDITORS if setup.alias)]
    near = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"There is: {', '.join(names())}."
    raise UsageError(f"There is no configuration for the editor {name!r}.", hint=hint)


def snippet(setup: Setup) -> str:
    return (files(__name__) / setup.file).read_text("utf-8")


def place(setup: Setup, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the snippet goes, or an error if that is not one file."""
    if not setup.place:
        raise UsageError(
            f"The place for {setup.name} depends on the product and its version.",
            hint=f"specedit editor {setup.name} prints the snippet; its first lines say where to.",
        )
    home = Path(environ.get("HOME") or Path.home())
    xdg = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    config, sublime = xdg, xdg / "sublime-text"
    if sys.platform == "win32":
        config = Path(environ.get("LOCALAPPDATA") or home / "AppData/Local")
        sublime = Path(environ.get("APPDATA") or home / "AppData/Roaming") / "Sublime Text"
    elif sys.platform == "darwin":
        sublime = home / "Library/Application Support/Sublime Text"
    old, new = home / ".emacs.d", xdg / "emacs"
    emacs = old if old.is_dir() or not new.is_dir() else new
    bases = {"home": home, "config": config, "emacs": emacs, "sublime": sublime}
    return bases.get(setup.base, Path()).absolute() / setup.place


def install(setup: Setup, environ: Mapping[str, str] = os.environ) -> Path:
    """Write the snippet to its place; another file there is not changed."""
    path, text = place(setup, environ), snippet(setup)
    if path.exists() and not _is_ours(path, setup):
        message = f"{path} exists and was not written by specedit: it was not changed."
        raise UsageError(message, hint=f"specedit editor {setup.name} prints what to add to it.")
    atomic.whole(path, text.encode())
    return path


def _is_ours(path: Path, setup: Setup) -> bool:
    """Whether a file is a version of the snippet without settings of others."""
    text = _read(path)
    own_only = path.suffix in (".json", ".toml")  # users add their own settings to it
    return text == snippet(setup) if own_only else MARK in text[:400]


def is_current(setup: Setup, environ: Mapping[str, str] = os.environ) -> bool | None:
    """Whether the installed snippet is that of this version; None where none is installed."""
    try:
        text = _read(place(setup, environ))
    except (UsageError, OSError):
        return None
    return text == snippet(setup) if MARK in text[:400] else None


def _read(path: Path) -> str:
    return regular.read(path, LARGEST_FILE).decode("utf-8", "replace")
