"""The files of a work tree as renaming sees them: read and parsed on demand.

How one file's import leads to another is the languages' to say (`Rules.imports` and its
neighbours); what is to be renamed is not known here.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, TypeVar

from specedit.errors import FileError, TooComplex
from specedit.scoping.languages import rules_of
from specedit.scoping.lookup import Lookup
from specedit.scoping.scope import Declared, Home, Owner
from specedit.scoping.scopes import declared_scopes
from specedit.scoping.typing import Typing
from specedit.syntax import trees
from specedit.syntax.branch import Branch
from specedit.syntax.languages import BY_NAME, Language, language_of

T = TypeVar("T")
SOURCE_FOLDERS = ("", "src", "lib", "libs", "app", "apps", "packages", "crates")
JVM = frozenset({"java", "kotlin", "scala"})  # each uses the others' classes under their names
KIN = (JVM, frozenset({"javascript", "typescript", "tsx"}), frozenset({"c", "cpp"}))
# what may declare a type, or a value of its name, in any language
_DECLARES = re.compile(
    r"""\b(?:class|interface|enum|struct|record|trait|type|union|object|protocol|namespace|module|mod
    |def|define
    |function|func|fn|const|let|var|val|typealias|as)\s+([^\W\d]\w*)
    |\bdelegate\s[^;(]*?(\w+)\s*[<(] |\btypedef\s[^;]*?(\w+)\s*; |\}\s*(\w+)\s*;
    |^(?:\s*export\s)?\s*([^\W\d]\w*)\s*(?::[^=\n]*)?=(?!=)""",
    re.VERBOSE | re.MULTILINE,
)
MAX_FILE_CHARACTERS = 2_000_000  # characters of a file that is read to learn what it declares
MOST_STEPS = 2_000_000, 20.0  # of looking up in one file; for each byte of it


def folders_up(folder: str) -> Iterator[str]:
    """A folder, and those around it up to the top of the tree, which is ""."""
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


class Project:
    """Texts by path, from the top of the tree, with slashes. `read` gives one file's text;
    `is_here`: whether a module that a file names may be one of the tree's."""

    def __init__(
        self,
        paths: Iterable[str],
        read: Callable[[str], str],
        is_here: Callable[[str, str], bool] = lambda module, path: True,
    ) -> None:
        self.paths = frozenset(paths)
        self.folders = frozenset(
            str(up) for path in self.paths for up in PurePosixPath(path).parents
        )
        self._read, self.is_here = read, is_here
        self._texts: dict[str, str | None] = {}
        self._typings: dict[str, Typing | None] = {}
        self._homes: dict[int, str] = {}  # of scopes
        self._roots: dict[int, Typing] = {}  # of a tree's root
        self._steps: dict[int, int] = {}  # of each file's answers
        self._asked: set[Hashable] = set()  # what is being found out just now
        self._importing: dict[Hashable, list[Declared] | None] = {}  # on the way to one import
        self._circular = False  # one of these asked for itself, so that others may miss something
        self.notes: dict[object, Any] = {}

    @classmethod
    def of_text(cls, text: str, language: Language) -> Typing:
        """The answers for one text, with no other file around it."""
        path = f"text{language.extensions[0]}"
        return cls((path,), lambda _: text)._add(path, text, language)

    # files

    def text(self, path: str) -> str | None:
        """The text of a file; None where it cannot be read as text."""
        if path not in self._texts:
            try:
                text = self._read(path) if path in self.paths else None
            except (FileError, OSError, KeyError):
                text = None
            self._texts[path] = (
                text if text is not None and len(text) <= MAX_FILE_CHARACTERS else None
            )
        return self._texts[path]

    def unparsed(self) -> Project:
        """The same texts without their trees, which take 70 times the memory."""
        result = Project(self.paths, self._read, self.is_here)
        result._texts = self._texts
        return result

    def hold(self, path: str, text: str) -> None:
        """Take this for a file's text: an editor is ahead of the disk."""
        self._texts[path] = text

    def language(self, path: str) -> Language | None:
        result = language_of(path, self.text(path) or "")
        return result if result is not None and rules_of(result.name) is not None else None

    def typing(self, path: str) -> Typing | None:
        """The answers for one file; None where no language's rules apply."""
        if path not in self._typings:
            text, language = self.text(path), self.language(path)
            if text is None or language is None:
                self._typings[path] = None
            else:
                self._add(path, text, trees.dialect(text, language))
        return self._typings[path]

    def _add(self, path: str, text: str, language: Language) -> Typing:
        rules = rules_of(language.name)
        modules = rules.module_names(self, path, text) if rules is not None else {}
        made = Typing(declared_scopes(text, language, modules), self)
        self._typings[path] = made
        self._homes[id(made.scopes)] = path
        self._roots[id(made.scopes.root)] = made
        return made

    def count(self, here: Lookup, steps: int) -> None:
        """Count steps of looking up in a file; a TooComplex where they come to hours."""
        total = self._steps[id(here)] = self._steps.get(id(here), 0) + steps
        if total > MOST_STEPS[0] + MOST_STEPS[1] * len(here.scopes.data):
            reason = "cannot be analysed: finding what its names mean takes too many steps"
            raise TooComplex(reason, file=self.path(here.scopes), hint=trees.HINT)

    def path(self, home: Home | None) -> str:
        """Where a file stands; empty outside of the tree."""
        return self._homes.get(id(home), "")

    def inside(self, folder: str) -> list[str]:
        own = (path for path in self.paths if posixpath.dirname(path) == folder)
        return self.remembered(("inside", folder), lambda: sorted(own))

    def matching(self, pattern: str, suffixes: tuple[str, ...]) -> list[str]:
        """The files of these kinds in whose text a pattern is found."""

        def search() -> list[str]:
            own = (path for path in sorted(self.paths) if path.endswith(suffixes))
            return [path for path in own if re.search(pattern, self.text(path) or "")]

        return self.remembered(("matching", pattern, suffixes), search)

    def declares(self, here: Typing, name: str) -> bool:
        """Whether a file of this language may declare a thing of a name, as far as words tell."""
        mine = here.scopes.language.name
        kin = next((group for group in KIN if mine in group), frozenset({mine}))

        def read() -> set[str]:
            ends = tuple(end for name in kin for end in BY_NAME[name].extensions)
            texts = (self.text(path) or "" for path in self.paths if path.endswith(ends))
            return {name for text in texts for names in _DECLARES.findall(text) for name in names}

        return name in self.remembered(("declares", kin), read)

    def remembered(self, key: object, find: Callable[[], T]) -> T:
        """Compute a language's own value once, and keep it under a key."""
        if key not in self.notes:
            self.notes[key] = find()
        known: T = self.notes[key]
        return known

    def called(self, name: str) -> list[str]:
        own = (path for path in self.paths if posixpath.basename(path) == name)
        return self.remembered(("called", name), lambda: sorted(own))

    # modules

    def module(self, path: str) -> Declared | None:
        """A file, as the thing with members that an import of it gives."""
        if (typing := self.typing(path)) is None:
            return None
        scopes = typing.scopes
        owner = Owner(path, scopes.root, members=scopes.file.declared, home=scopes)
        return self._module(path, owner, scopes.root, scopes)

    def package(self, name: str, home: Home | None, node: Branch) -> Declared:
        """A folder or a namespace, as a thing with members: what is in it, the language says."""
        return self._module(name, Owner(name, node, home=home, folder=name), node, home)

    def _module(self, name: str, owner: Owner, node: Branch, home: Home | None) -> Declared:
        made = Declared(name, "module", node, node, None, owner, home=home)
        return self.remembered(("module", name), lambda: made)

    def is_module(self, owner: Owner) -> bool:
        return owner.node.parent is None and owner.module is None

    def members_of(self, declared: Declared, name: str) -> list[Declared]:
        """The declarations of a class under a name."""
        home = self.at(declared.home)
        owners = home.class_of(declared) if home is not None else ()
        return [each for owner in owners for each in owner.members.get(name, ())]

    def declarations(self, path: str, name: str) -> Sequence[Declared]:
        typing = self.typing(path) if name in (self.text(path) or "") else None
        return typing.scopes.declarations(name) if typing is not None else ()

    def top_level(self, path: str, name: str) -> list[Declared]:
        """The declarations of a file under a name where other files can see them."""
        return [
            each
            for each in self.declarations(path, name)
            if each.scope_kind == "namespace"
            or (each.scope_kind == "file" and (each.owner is None or each.kind == "value"))
        ]

    def owners(self, paths: Iterable[str], name: str) -> Iterator[Owner]:
        for path in paths:
            typing = self.typing(path) if name in (self.text(path) or "") else None
            yield from typing.scopes.owners_named(name) if typing is not None else ()

    # what a file's answers ask

    def at(self, home: Home | None) -> Typing | None:
        """The answers for the file that something stands in."""
        return self._typings.get(self.path(home))

    def over(self, node: Branch) -> Typing | None:
        """The answers for the file that a node stands in."""
        root = node
        while root.parent is not None:
            root = root.parent
        return self._roots.get(id(root))

    def imported_declarations(self, here: Lookup, imported: Declared) -> list[Declared] | None:
        """The declarations that an import brings in; None where no file is known to have them, and
        for what is not an import."""
        key = ("imported", id(imported))
        if imported.kind != "import":
            return None
        if key in self.notes:
            known: list[Declared] | None = self.notes[key]
            return known
        if key in self._importing:  # an import of itself brings nothing, and others miss that
            self._circular = True
            return self._importing[key]
        home = self.at(imported.home) or here
        assert isinstance(home, Typing)
        outermost = not self._importing
        self._importing[key] = None
        try:
            result = home.rules.imports(self, home, imported) or None
            self._importing[key] = result
            if not self._circular or (outermost and not self._asked):
                self.notes[key] = result
        finally:
            if outermost:
                self._importing, self._circular = {}, self._circular and bool(self._asked)
        return result

    def shared(self, here: Lookup, name: str) -> list[Declared]:
        """The names that other files show in this one without an import."""
        assert isinstance(here, Typing)
        return self.once(("shared", id(here), name), here.rules.shared(self, here, name))

    def declared_elsewhere(self, owner: Owner, name: str) -> list[Declared]:
        """The declarations of a name that a module or a namespace has from elsewhere."""
        home = self.at(owner.home)
        if home is None or owner.module is not None:
            return []
        mark = ("declared elsewhere", id(owner), name)
        return self.once(mark, home.rules.declared_elsewhere(self, owner, name))

    def parts(self, owner: Owner) -> Iterable[Owner]:
        """The other parts of a class, which stand elsewhere."""
        home = self.at(owner.home)
        if home is None or owner.module is not None or not owner.name:
            return ()
        key = ("parts", id(owner))
        if key not in self.notes:
            self.notes[key] = ()  # to a question on the way
            result = home.rules.parts(self, owner)
            self.notes[key] = tuple(part for part in result if part is not owner)
        known: tuple[Owner, ...] = self.notes[key]
        return known

    def once(self, mark: Hashable, found: Iterator[Declared]) -> list[Declared]:
        """An answer, empty where it asks for itself; kept unless it is asked for by another one."""
        if mark in self.notes:
            known: list[Declared] = self.notes[mark]
            return known
        if mark in self._asked:
            self._circular = True
            return []
        self._asked.add(mark)
        try:
            result = list(found)
        finally:
            self._asked.discard(mark)
        if not self._asked:
            if not (self._importing and self._circular):
                self.notes[mark] = result
            self._circular = self._circular and bool(self._importing)
        return result
