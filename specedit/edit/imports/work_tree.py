"""How the other files of a work tree import a name, and whether they declare it themselves.

Reads a bounded number of files, the nearest first, and parses only those that hold the name.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from specedit.check.parsed import ParsedText
from specedit.edit.imports.statements import SCRIPTS, Import, requires, stated_imports
from specedit.errors import SpeceditError
from specedit.files import git
from specedit.files.source import Source
from specedit.syntax.languages import BY_NAME, language_of

MOST_FILES, MOST_BYTES, LARGEST = 2_000, 20_000_000, 400_000
MOST_PARSED = 30  # files that hold a name and are parsed, the nearest first
_DECLARES = (
    r"\b(?:class|struct|interface|enum|record|type|trait|func|fn|def|var|const|let|static|mod)\s+"
    r"(?:\([^)]*\)\s*)?{}\b|^\s+{}\s*(?:=|,|\w+\s*=)"
)


class WorkTree:
    """The files of one language around a file. Nothing is read before something is asked."""

    def __init__(self, source: Source) -> None:
        self._source = source
        language = source.language
        names = (
            SCRIPTS
            if language and language.name in SCRIPTS
            else (language.name,)
            if language
            else ()
        )
        self._ends = tuple(end for name in names for end in BY_NAME[name].extensions)

    @cached_property
    def _root(self) -> Path | None:
        if self._source.path is None:
            return None
        try:
            return git.top(self._source.path.parent)
        except SpeceditError:
            return None

    @cached_property
    def _tracked(self) -> list[str]:
        return git.known(self._root) if self._root is not None else []

    @property
    def path(self) -> str:
        """The file's own place in the tree."""
        if self._root is None or self._source.path is None:
            return ""
        return Path(os.path.relpath(self._source.path, os.path.realpath(self._root))).as_posix()

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The other files of the language, the nearest first."""
        root = self._root
        if root is None:
            return {}
        here = PurePosixPath(self.path).parent.parts
        paths = [one for one in self._tracked if one.endswith(self._ends) and one != self.path]
        texts: dict[str, str] = {}
        size = 0
        for path in sorted(paths, key=lambda one: (_distance(here, one), one))[:MOST_FILES]:
            place = root / path
            try:
                if place.is_symlink() or not place.is_file() or place.stat().st_size > LARGEST:
                    continue
                text = place.read_bytes().decode("utf-8", "replace")
            except OSError:
                continue
            size += len(text)
            if size > MOST_BYTES:
                break
            texts[path] = text.replace("\r\n", "\n")
        return texts

    def holding(self, pattern: str) -> Iterator[tuple[str, str]]:
        """The other files in whose text a pattern is found."""
        wanted = re.compile(pattern, re.M)
        return ((path, text) for path, text in self._texts.items() if wanted.search(text))

    def imports(self, name: str, parsed: ParsedText) -> set[Import]:
        """The ways in which other files import a name, as this file has to write them."""
        results: set[Import] = set()
        for count, (path, text) in enumerate(self.holding(rf"\b{re.escape(name)}\b")):
            if count == MOST_PARSED:
                break
            language = language_of(path, text)
            if language is None or not re.search(r"\b(?:import|use|require)\b", text):
                continue
            other = ParsedText(text, language)
            if language.name in SCRIPTS and requires(other) != requires(parsed):
                continue
            for one in stated_imports(other):
                if one.local == name and (what := self._from_here(one.what, path)) is not None:
                    results.add(what)
        plain = {one for one in results if not one.type_only}
        return {one for one in results if replace(one, type_only=False) not in plain} | plain

    def declares(self, name: str) -> bool:
        """Whether a file that shares its names with this one without an import declares one."""
        language = self._source.language
        anywhere = language is not None and language.name == "csharp"
        folder = posixpath.dirname(self.path)
        pattern = _DECLARES.format(re.escape(name), re.escape(name))
        return any(
            anywhere or posixpath.dirname(path) == folder for path, _ in self.holding(pattern)
        )

    def is_own(self, first: str) -> bool:
        """Whether the first part of a module's name is a file or a folder of the tree."""
        folder = posixpath.dirname(self.path)
        places = (first, f"src/{first}", f"lib/{first}", posixpath.join(folder, first))
        return any(
            one == f"{place}.py" or one.startswith(f"{place}/")
            for place in places
            for one in self._tracked
        )

    def has_implicit_usings(self) -> bool:
        """Whether a C# project makes the usual namespaces visible without `using`."""
        return any(
            one.endswith((".csproj", ".props"))
            and re.search(r"<ImplicitUsings>\s*(?:enable|true)", self._read(one), re.I)
            for one in self._tracked
        )

    def global_usings(self) -> set[str]:
        found = (
            re.findall(r"^\s*global using ([\w.]+);", text, re.M)
            for _, text in self.holding("global using")
        )
        return {name for names in found for name in names}

    def _read(self, path: str) -> str:
        place = self._root / path if self._root is not None else None
        if place is None or place.is_symlink() or not place.is_file():
            return ""
        return place.read_bytes()[:LARGEST].decode("utf-8", "replace")

    def _from_here(self, what: Import, path: str) -> Import | None:
        """An import of another file, as it has to be written in this one."""
        language = self._source.language
        theirs, ours = posixpath.dirname(path), posixpath.dirname(self.path)
        if language is None or theirs == ours:
            return what
        if language.name == "python" and what.module.startswith("."):
            dots = len(what.module) - len(what.module.lstrip("."))
            parts = theirs.split("/") if theirs else []
            base = parts[: len(parts) - dots + 1]
            rest = [part for part in what.module.lstrip(".").split(".") if part]
            mine = ours.split("/") if ours else []
            same = _common(base, mine)
            if not same:
                return None
            module = "." * (len(mine) - same + 1) + ".".join(base[same:] + rest)
            return replace(what, module=module)
        if language.name in SCRIPTS and what.module.startswith("."):
            target = posixpath.normpath(posixpath.join(theirs, what.module))
            module = posixpath.relpath(target, ours or ".")
            return replace(what, module=module if module.startswith(".") else "./" + module)
        if language.name == "rust" and what.module.startswith(("super", "self")):
            return None
        if language.name == "rust" and what.module.startswith("crate"):
            return what if self._crate(path) == self._crate(self.path) else None
        return what

    def _crate(self, path: str) -> str:
        known = set(self._tracked)
        ups = (up.as_posix() for up in PurePosixPath(path).parents)
        return next(
            (up for up in ups if posixpath.join(up, "Cargo.toml").removeprefix("./") in known), ""
        )


def _distance(here: tuple[str, ...], path: str) -> int:
    there = PurePosixPath(path).parent.parts
    same = _common(here, there)
    return len(here) + len(there) - 2 * same


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many first parts two paths share."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
