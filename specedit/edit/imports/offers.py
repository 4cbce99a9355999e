"""Which import a missing name needs: the one that the standard library and the files of the work
tree agree on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.check import builtin_names
from specedit.check.language_tables import language_facts
from specedit.check.parsed import ParsedText
from specedit.edit.imports import python_library, standard_tables
from specedit.edit.imports.statements import (
    DEFAULT,
    NAMESPACE,
    SCRIPTS,
    Import,
    requires,
    stated_imports,
)
from specedit.edit.imports.work_tree import WorkTree
from specedit.scoping.languages import rules_of
from specedit.syntax.branch import Branch

GO_MEMBER = ("selector_expression.operand", "qualified_type.package")
USED = (  # as functions, modules, decorators and types are, in Python and JavaScript
    *("call.function", "attribute.object", "decorator.", "type."),
    *("call_expression.function", "member_expression.object"),
)


def missing_names(before: ParsedText, after: ParsedText) -> dict[str, list[Branch]]:
    """The names that the new text uses and nothing declares, and that were not so before."""
    language = after.language.name
    facts, rules = language_facts(language), rules_of(language)
    if facts is None or rules is None:
        return {}
    if language not in SCRIPTS and language != "csharp" and not facts.lists_its_names(after):
        return {}
    if language in SCRIPTS and not (facts.lists_its_names(after) or requires(after)):
        return {}
    if language == "rust" and any(one.type == "use_wildcard" for one in after.root.walk()):
        return {}
    known = before.free_names.keys() | facts.builtins | rules.keywords
    known |= rules.builtins - builtin_names.RUST_TYPES - standard_tables.CSHARP_NAMESPACES.keys()
    names = {name: leaves for name, leaves in after.free_names.items() if name not in known}
    if language == "python":
        names = {
            name: kept
            for name, leaves in names.items()
            if (kept := [one for one in leaves if facts.must_be_declared(after, one, name)])
        }
    return names


def needed_import(
    name: str, leaves: list[Branch], after: ParsedText, tree: WorkTree
) -> Import | None:
    """The one import that brings in a missing name; None where none or several fit."""
    language = after.language.name
    if not _may_be_imported(name, leaves, after):
        return None
    library = list(_of_library(name, leaves, after))
    others = tree.imports(name, after) if language != "csharp" else set()
    chosen = _agreed(library, others, several=language == "python")
    if chosen is None or tree.definitions(name) > (0 if library else 1):
        return None  # the tree has another thing of that name
    if language in ("go", "java", "csharp") and tree.declares(name):
        return None
    if language in ("csharp", "java") and _is_visible(chosen, after, tree):
        return None
    return chosen


def _agreed(library: list[Import], others: set[Import], *, several: bool) -> Import | None:
    """The one import that nothing speaks against. `several`: modules of the library that offer a
    name offer the same thing, the preferred one first."""
    known = {_plain(one): one for one in others}
    both = [known[_plain(one)] for one in library if _plain(one) in known]
    if both and (len(known) == 1 or (several and len(both) == len(known))):
        return both[0]
    if library and not others and (several or len(library) == 1):
        return library[0]
    return next(iter(others)) if len(others) == 1 and not library else None


def _plain(what: Import) -> tuple[str, str]:
    name = DEFAULT if what.name == NAMESPACE else what.name
    return what.module.removeprefix("node:"), name


def _may_be_imported(name: str, leaves: list[Branch], after: ParsedText) -> bool:
    """Whether a name is used as one that an import brings in, and not as a variable."""
    language = after.language.name
    if language == "go":
        return all(
            one.place in GO_MEMBER
            and one.parent is not None
            and after.text_of(one.parent.children[-1])[:1].isupper()
            for one in leaves
        )
    if language == "java":
        return name[:1].isupper() and not any("annotation" in one.place for one in leaves)
    if language == "csharp":
        return not any(one.place.startswith(("attribute.", "qualified_name")) for one in leaves)
    if language == "rust":
        in_macro = ("token_tree", "macro_definition", "use_declaration")
        return not any(up.type in in_macro for one in leaves for up in one.up())
    return not name[:1].islower() or any(one.place in USED for one in leaves)


def _of_library(name: str, leaves: list[Branch], after: ParsedText) -> Iterator[Import]:
    language = after.language.name
    if language == "python":
        yield from _of_python(name, leaves, after)
    elif language == "go":
        paths = builtin_names.GO_PATHS
        yield from (Import(path) for path in sorted(paths) if path.rpartition("/")[2] == name)
    elif language == "java" and name in builtin_names.JAVA_MODULES:
        yield Import(f"{builtin_names.JAVA_MODULES[name]}.{name}")
    elif language == "csharp" and name in standard_tables.CSHARP_NAMESPACES:
        yield Import(standard_tables.CSHARP_NAMESPACES[name])
    elif language == "rust":
        table = builtin_names.RUST_MODULES
        if name in standard_tables.RUST_PATHS:
            table = standard_tables.RUST_PATHS
            if not all(one.place.startswith("scoped") and one.field == "path" for one in leaves):
                return
        if name in table:
            yield Import(table[name], name)
    elif language in SCRIPTS:
        members = _members(leaves, after)
        if members and members <= standard_tables.NODE_MEMBERS.get(name, frozenset()):
            known = [one.what for one in stated_imports(after)]
            prefix = "node:" if any(one.module.startswith("node:") for one in known) else ""
            whole = NAMESPACE if language != "javascript" else DEFAULT
            builtin = standard_tables.NODE_MODULES
            styles = {one.name for one in known if one.module.removeprefix("node:") in builtin}
            style = styles.pop() if len(styles) == 1 and styles <= {DEFAULT, NAMESPACE} else whole
            yield Import(prefix + name, DEFAULT if requires(after) else style, name)


def _members(leaves: list[Branch], after: ParsedText) -> set[str]:
    """The members that are read of a name; empty where it is used in another way, too."""
    results = set()
    for leaf in leaves:
        part = (
            leaf.parent.part("attribute") or leaf.parent.part("property") if leaf.parent else None
        )
        if part is None or leaf.field != "object":
            return set()
        results.add(after.text_of(part))
    return results


def _of_python(name: str, leaves: list[Branch], after: ParsedText) -> Iterator[Import]:
    members = _members(leaves, after)
    if members and members <= python_library.module_names(name):
        yield Import(name)
        return
    if name == "datetime" and members and not members <= python_library.OF_CLASS:
        return
    if not name[:1].isupper() and name != "datetime":
        called = ("call.function", "decorator.", "type.")
        if not all(one.place in called for one in leaves):
            return
    modules = python_library.modules_offering(name)
    if name not in python_library.CALLED and any(
        one.place in ("call.function", "attribute.object") for one in leaves
    ):
        modules = [one for one in modules if one not in ("typing", "collections.abc")]
    stated = {one.what.module for one in stated_imports(after)}
    modules.sort(key=lambda module: module not in stated)  # the file's own choice first
    yield from (Import(module, name) for module in modules)


def _is_visible(what: Import, after: ParsedText, tree: WorkTree) -> bool:
    """Whether a name is visible already, or may come from where all names are imported."""
    if after.language.name == "java":
        package = re.search(r"^package ([\w.]+);", after.text, re.M)
        same = package is not None and what.module.rpartition(".")[0] == package[1]
        return same or re.search(r"^import [\w.]+\.\*;", after.text, re.M) is not None
    namespace = re.escape(what.module)
    visible = rf"^\s*(?:using {namespace};|namespace {namespace}\b|using static\b)"
    if re.search(visible, after.text, re.M):
        return True
    pattern = rf"^\s*global using {namespace};"
    if what.module in standard_tables.CSHARP_IMPLICIT:
        pattern += r"|<ImplicitUsings>\s*(?:enable|true)"
    return next(tree.holding(pattern), None) is not None
