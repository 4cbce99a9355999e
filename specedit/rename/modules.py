"""Whether a module that an import names is the project's own, as far as its files tell.

A module of unknown origin counts as the project's: only names that are known to come from elsewhere
stay.
"""

from __future__ import annotations

import re
from pathlib import Path

from specedit.files import regular
from specedit.scoping.project import BELOW

ROOTS = (".git", "pyproject.toml", "package.json", "go.mod", "Cargo.toml", "pom.xml")
RELATIVE = re.compile(r"[.@~#/]|(?:crate|self|super)\b")  # `@/x`, `~/x`, `#x` are aliases of one
SCOPED = re.compile(r"@[\w-]+/[\w.-]+")  # npm's `@owner/package`


def is_here(module: str, file: Path | None) -> bool:
    """Whether a module may be one of the project that `file` is in."""
    parts = [part for part in re.split(r"[./\\:]+", module) if part]
    if file is None or not parts:
        return True
    root = next((up for up in file.absolute().parents if _is_root(up)), file.absolute().parent)
    if (scoped := SCOPED.match(module)) is not None:
        installed = root / "node_modules" / scoped[0]
        return installed.is_symlink() or not installed.exists()
    if RELATIVE.match(module):
        return True
    if "/" in module and (own := _go_module(root)):
        return module == own or module.startswith(own + "/")
    folders = [up for up in file.absolute().parents if up == root or root in up.parents]
    crate = "::" in module and parts[0] == root.name.replace("-", "_")
    if crate or _is_above(parts, [up.name for up in folders]):
        return True
    return any(_leads(folder, parts) for folder in [*folders, *(root / name for name in BELOW)])


def _is_root(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in ROOTS)


def _go_module(root: Path) -> str:
    """The path that Go's own modules begin with."""
    try:
        text = regular.read(root / "go.mod").decode()
    except (OSError, UnicodeDecodeError):
        return ""
    match = re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE)
    return match[1] if match else ""


def _is_above(parts: list[str], names: list[str]) -> bool:
    """Whether a package begins as the file's own folders do: `com.acme` of `com.acme.store.Item`.

    `names`: of the folders, the innermost first."""
    first = parts[: 2 if len(parts) > 2 else 1]
    outer = list(reversed(names))
    return any(outer[at : at + len(first)] == first for at in range(len(outer)))


def _leads(folder: Path, parts: list[str]) -> bool:
    """Whether a path is there: as a folder, as a file of any language, or as a name in one."""
    for names in (parts, parts[:-1]) if len(parts) > 1 else (parts,):
        place = folder.joinpath(*names)
        if place.is_dir() or next(place.parent.glob(f"{_plain(place.name)}.*"), None) is not None:
            return True
    return False


def _plain(name: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", name)
