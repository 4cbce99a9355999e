"""The imports of an edited file, completed before its checks run.

A missing name gets the one import that the standard library and the files of the work tree agree
on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from specedit.check.answer import LONGEST
from specedit.check.finding import Checks, Finding
from specedit.check.language_tables import language_facts
from specedit.check.parsed import ParsedText, parsed_text
from specedit.edit.imports import removal
from specedit.edit.imports.placing import with_import
from specedit.edit.imports.statements import (
    DEFAULT,
    LANGUAGES,
    NAMESPACE,
    SCRIPTS,
    Import,
    requires,
    stated_imports,
    written,
)
from specedit.edit.imports.work_tree import WorkTree
from specedit.edit.outcome import Judged, guarded
from specedit.files.source import Source
from specedit.scoping import builtin_names
from specedit.scoping.languages import rules_of
from specedit.syntax.branch import Branch

KIND = "imports"
MOST = 8  # names that get an import; an answer that lacks more is of another kind


def judged_with_imports(source: Source, instruction: str, checks: Checks, text: str) -> Judged:
    """`text` with its imports completed, and what the checks found."""
    completed, notes = completed_imports(source, text, instruction)
    verdict = guarded(source, instruction, checks, completed)
    return replace(verdict, findings=(*notes, *verdict.findings))


def completed_imports(
    source: Source, text: str, instruction: str = ""
) -> tuple[str, tuple[Finding, ...]]:
    """The new text of a file with the imports that it needs, and a note for each change. Only
    imports change; a text that does not parse stays as it is."""
    language = source.language
    if language is None or language.name not in LANGUAGES or text == source.text:
        return text, ()
    if max(len(text), len(source.text)) > LONGEST:
        return text, ()
    before, tree = parsed_text(source.text, language), WorkTree(source)
    changed, notes = removal.without_misplaced(before, text, tree)
    after = parsed_text(changed, language)
    if len(after.errors) > len(before.errors):
        return text, ()
    answer = after
    added: set[Import] = set()
    for name, leaves in missing_names(before, answer).items():
        what = needed_import(name, leaves, answer, tree) if len(added) < MOST else None
        if what is None or what in added:
            continue
        added.add(what)
        statement = written(what, after)
        longer = ParsedText(with_import(what, after, tree), language)
        brings_it = language.name == "csharp" or name not in longer.free_names
        if len(longer.errors) > len(after.errors) or not brings_it:
            continue
        after = longer
        notes.append(f"added `{statement}`: `{name}` was used and not imported")
    after, more = removal.without_unused(before, after, instruction, tree)
    return after.text, tuple(Finding(KIND, note) for note in [*notes, *more])


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
    known |= rules.builtins - builtin_names.RUST_TYPES - builtin_names.CSHARP_NAMESPACES.keys()
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
    elif language == "csharp" and name in builtin_names.CSHARP_NAMESPACES:
        yield Import(builtin_names.CSHARP_NAMESPACES[name])
    elif language == "rust":
        table = builtin_names.RUST_MODULES
        if name in builtin_names.RUST_PATHS:
            table = builtin_names.RUST_PATHS
            if not all(one.place.startswith("scoped") and one.field == "path" for one in leaves):
                return
        if name in table:
            yield Import(table[name], name)
    elif language in SCRIPTS:
        members = _members(leaves, after)
        if members and members <= builtin_names.NODE_MEMBERS.get(name, frozenset()):
            known = [one.what for one in stated_imports(after)]
            prefix = "node:" if any(one.module.startswith("node:") for one in known) else ""
            whole = NAMESPACE if language != "javascript" else DEFAULT
            builtin = builtin_names.NODE_MODULES
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
    if members and members <= builtin_names.module_names(name):
        yield Import(name)
        return
    if name == "datetime" and members and not members <= builtin_names.OF_CLASS:
        return
    if not name[:1].isupper() and name != "datetime":
        called = ("call.function", "decorator.", "type.")
        if not all(one.place in called for one in leaves):
            return
    offered = builtin_names.offered_names
    modules = [one for one in builtin_names.FROM_MODULES if name in offered(one)]
    if name not in builtin_names.CALLED and any(
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
    visible = rf"^[^\S\n]*(?:using {namespace};|namespace {namespace}\b|using static\b)"
    if re.search(visible, after.text, re.M):
        return True
    pattern = rf"^[^\S\n]*global using {namespace};"
    if what.module in builtin_names.CSHARP_IMPLICIT:
        pattern += r"|<ImplicitUsings>\s*(?:enable|true)"
    return next(tree.holding(pattern), None) is not None
