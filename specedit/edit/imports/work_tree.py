"""How the other files of a work tree import a name, and whether they declare it themselves.

Reads a bounded number of files, the nearest first, and parses only those that hold the name.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from specedit.check.parsed import ParsedText
from specedit.edit.imports.statements import SCRIPTS, Import, Stated, requires, stated_imports
from specedit.errors import SpeceditError
from specedit.files import git
from specedit.files.source import LINE_END, Source
from specedit.files.worktree import real
from specedit.syntax.languages import BY_NAME, language_of
from specedit.syntax.lines import common

MOST_FILES, MOST_BYTES, LARGEST = 2_000, 20_000_000, 400_000
MOST_OF_NAME = 40  # files that are parsed for one name, the nearest first,
MOST_PARSED = 150  # and for all names of one answer
AGREEING = 8  # imports of a name that are enough to know how files import it
_DECLARES = (
    r"\b(?:class|struct|interface|enum|record|type|trait|func|fn|def|var|const|let|static|mod)\s+"
    r"(?:\([^)]*\)\s*)?{}\b|^\s+{}\s*(?:=|,|\w+\s*=)"
)
_DEFINES = (  # at the top level of a module
    r"^(?:class|(?:async )?def) {name}\b|^(?:\w+, *)*{name}\b(?:, *\w+)*\s*(?::[^=\n]+)?=[^=]"
    r"|^export (?:default )?(?:async )?(?:function|class|const|let|interface|type|enum) {name}\b"
    r"|^pub(?:\([^)]*\))? (?:fn|struct|enum|trait|const|static|type|mod) {name}\b"
    r"|^public (?:[a-z]+ )*(?:class|interface|enum|record) {name}\b"
)

_MENTIONS = (  # a line that may import a name: a statement, or a line of a list
    r"\b(?:import|use|require)\b.*\b{name}\b|\b{name}\b.*(?:\bfrom\b|\brequire\()"
    r"|^[ \t]+(?:[\w\"./@-]+,[ \t]*)*(?:\w+ )?[\w\"./@-]*\b{name}\b\"?(?: as \w+)?(?:,.*)?$"
)


class WorkTree:
    """The files of one language around a file. Nothing is read before something is asked."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._parsed: dict[str, list[tuple[Stated, bool]]] = {}
        name = source.language.name if source.language else ""
        names = SCRIPTS if name in SCRIPTS else (name,)
        self._ends = tuple(end for one in names for end in BY_NAME[one].extensions)
        if name == "csharp":
            self._ends += (".csproj", ".props")  # they may say what every file sees

    @cached_property
    def _root(self) -> Path | None:
        if self._source.path is None:
            return None
        try:
            top = git.top(self._source.path.parent)
        except SpeceditError:
            return None
        limit = self._source.root  # of a workspace: nothing above it is read
        return None if limit.is_absolute() and not real(top).is_relative_to(limit) else top

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

        def distance(path: str) -> int:
            there = PurePosixPath(path).parent.parts
            return len(here) + len(there) - 2 * common(here, there)

        for path in sorted(paths, key=lambda one: (distance(one), one))[:MOST_FILES]:
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
            texts[path] = LINE_END.sub("\n", text)
        return texts

    def holding(self, pattern: str) -> Iterator[tuple[str, str]]:
        """The other files in whose text a pattern is found."""
        wanted = re.compile(pattern, re.M)
        return ((path, text) for path, text in self._texts.items() if wanted.search(text))

    def imports(self, name: str, parsed: ParsedText) -> set[Import]:
        """The ways in which other files import a name, as this file has to write them."""
        results: list[Import] = []
        mentions = self.holding(_MENTIONS.format(name=re.escape(name)))
        for path, text in islice(mentions, MOST_OF_NAME):
            if len(results) >= AGREEING:
                break
            for one, is_commonjs in self._imports_of(path, text):
                if one.local != name or (one.requires or is_commonjs) != requires(parsed):
                    continue
                what = self._from_here(one.what, path)
                if what is not None and not self._is_this_file(what):
                    results.append(what)
        plain = {one for one in results if not one.type_only}
        return {one for one in results if replace(one, type_only=False) not in plain} | plain

    def _imports_of(self, path: str, text: str) -> list[tuple[Stated, bool]]:
        """The imports of another file, each with whether the file is a CommonJS module."""
        if path not in self._parsed and len(self._parsed) < MOST_PARSED:
            language = language_of(path, text)
            stated: list[tuple[Stated, bool]] = []
            if language is not None and re.search(r"\b(?:import|use|require)\b", text):
                other = ParsedText(text, language)
                is_commonjs = language.name in SCRIPTS and requires(other)
                stated = [(one, is_commonjs) for one in stated_imports(other)]
            self._parsed[path] = stated
        return self._parsed.get(path, [])

    def _is_this_file(self, what: Import) -> bool:
        """Whether a module may be the file itself, by its name."""
        place = PurePosixPath(self.path)
        own = {place.stem, place.name.partition(".")[0]}
        if own & {"index", "__init__", "mod", "lib"}:
            own.add(place.parent.name)
        return re.split(r"[./:]+", what.module.rstrip("./"))[-1] in own

    def declares(self, name: str) -> bool:
        """Whether a file that shares its names with this one without an import declares one."""
        language = self._source.language
        anywhere = language is not None and language.name == "csharp"
        folder = posixpath.dirname(self.path)
        pattern = _DECLARES.format(re.escape(name), re.escape(name))
        return any(
            anywhere or posixpath.dirname(path) == folder for path, _ in self.holding(pattern)
        )

    def definitions(self, name: str) -> int:
        """How many files of the tree define something of a name that others may import."""
        return sum(1 for _ in self.holding(_DEFINES.format(name=re.escape(name))))

    def is_own(self, first: str) -> bool:
        """Whether the first part of a module's name is a file or a folder of the tree."""
        folder = posixpath.dirname(self.path)
        places = (first, f"src/{first}", f"lib/{first}", posixpath.join(folder, first))
        return any(
            one == f"{place}.py" or one.startswith(f"{place}/")
            for place in places
            for one in self._tracked
        )

    def _from_here(self, what: Import, path: str) -> Import | None:
        """An import of another file, as it has to be written in this one."""
        language = self._source.language
        if language is not None and language.name == "python" and not (what.name or what.alias):
            return None if "." in what.module else what  # `import a.b` is for the members of a.b
        theirs, ours = posixpath.dirname(path), posixpath.dirname(self.path)
        if language is None or theirs == ours:
            return what
        if language.name == "python" and what.module.startswith("."):
            dots = len(what.module) - len(what.module.lstrip("."))
            parts = theirs.split("/") if theirs else []
            base = parts[: len(parts) - dots + 1]
            rest = [part for part in what.module.lstrip(".").split(".") if part]
            mine = ours.split("/") if ours else []
            same = common(base, mine)
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
