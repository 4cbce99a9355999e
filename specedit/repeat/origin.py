"""Where the names of one file come from: imports, the file itself, local variables, or neither."""

from __future__ import annotations

from functools import cached_property

from specedit.check.parsed import ParsedText
from specedit.errors import TooComplex
from specedit.scoping.builtin_names import BUILTINS
from specedit.scoping.languages import rules_of
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch
from specedit.syntax.languages import Language

LOCAL, MEMBER, FILE, IMPORT, FREE = "local", "member", "file", "import", ""
UNKNOWN = "unknown"  # of a variable that nothing declares


class Origins:
    """The names of one text. Nothing is analysed before something is asked."""

    def __init__(self, text: str, language: Language) -> None:
        self._parsed = ParsedText(text, language)
        self._language = language.name

    def of(self, name: str) -> str:
        """`LOCAL`, `FILE`, `FREE` (nothing declares it here), or the module that it is imported
        from."""
        return self._known.get(name, FREE)

    def agrees(self, name: str, example: str) -> bool:
        """Whether a name may be here what it is in the example: of the same origin, or of an import
        of all names of its module."""
        here = self.of(name)
        if agree(example, here) or here != FREE or not is_import(example):
            return agree(example, here)
        module = example.removeprefix("import ").removesuffix(name).rstrip(".:")
        forms = (f"{module}.*", f"{module}::*", f"{module}._", f"from {module} import *")
        return any(form in self._parsed.text for form in forms)

    def declared(self, name: str, at: int) -> Declared | None:
        """The declaration of a name, as byte `at` sees it."""
        typing = self._parsed._typing
        if typing is None:
            return None
        node = typing.scopes.root
        while (below := _at(node, at)) is not None:
            node = below
        try:
            return typing.lookup(name, node)
        except (TooComplex, RecursionError):
            return None

    def seen(self, name: str, at: int) -> str:
        """Where a name comes from as byte `at` sees it: `LOCAL`, `MEMBER`, `FILE`, `IMPORT`, or
        `FREE`."""
        declared = self.declared(name, at)
        if declared is None:
            return FREE
        if not declared.is_own:
            return IMPORT
        if declared.owner is not None and declared.kind != "class":
            return MEMBER
        is_local = declared.scope is not None and declared.scope.is_local
        return LOCAL if is_local or declared.kind == "parameter" else FILE

    def is_builtin(self, name: str) -> bool:
        """Whether a name is the language's own."""
        rules = rules_of(self._language)
        own = rules is not None and name in rules.builtins | rules.keywords
        return own or name in BUILTINS.get(self._language, ())

    @cached_property
    def _known(self) -> dict[str, str]:
        result: dict[str, str] = {}
        try:
            typing = self._parsed._typing
            imports = [
                (declared.name, typing.rules.module_of(typing.scopes, declared))
                for declared in (typing.scopes.by_leaf.values() if typing is not None else ())
                if typing is not None and declared.kind == "import"
            ]
        except (TooComplex, RecursionError):
            return {}
        if typing is not None:
            for declaration in typing.scopes.by_leaf.values():
                if declaration.kind == "import" or declaration.owner is not None:
                    continue  # a member is not a name of its own
                is_local = declaration.scope is not None and declaration.scope.is_local
                kind = LOCAL if is_local or declaration.kind == "parameter" else FILE
                if result.get(declaration.name) != FILE:
                    result[declaration.name] = kind
        for name, module in imports:
            result[name] = f"import {module}"
        return result


def is_import(origin: str) -> bool:
    return origin.startswith("import ")


def agree(example: str, place: str) -> bool:
    """Whether a name of these origins can mean the same thing."""
    if example == place:
        return True
    if is_import(example) and is_import(place):
        return last_part(example) == last_part(place)
    if is_import(example) or is_import(place):
        return FILE in (example, place)  # the file that defines it
    return LOCAL not in (example, place)


def last_part(origin: str) -> str:
    """The last name of the module of an import."""
    module = origin.removeprefix("import ")
    for sign in ("::", "/", "\\"):
        module = module.replace(sign, ".")
    return module.rstrip(".").rpartition(".")[2]


def _at(node: Branch, at: int) -> Branch | None:
    return next((child for child in node.children if child.start <= at < child.end), None)
