"""The import statements of a text: what each brings in, and how one is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specedit.syntax.branch import Branch

if TYPE_CHECKING:
    from specedit.check.parsed import ParsedText
    from specedit.scoping.scope import Declared

DEFAULT, NAMESPACE, STATIC = "default", "*", "static"
IMPORTS = {  # types of statements that import
    *("import_statement", "import_from_statement", "future_import_statement"),  # Python, JavaScript
    *("import_declaration", "using_directive", "use_declaration"),  # Go and Java, C#, Rust
}
SCRIPTS = ("javascript", "typescript", "tsx")
LANGUAGES = ("python", "go", "java", "csharp", "rust", *SCRIPTS)
_REQUIRE = re.compile(r"\brequire\(\s*(['\"])([^'\"]+)\1\s*\)\s*;?\s*$")


@dataclass(frozen=True, slots=True)
class Import:
    """One imported thing. `name`: the part of the module; empty for the module itself."""

    module: str
    name: str = ""
    alias: str = ""  # the local name, where the import states one
    type_only: bool = False  # TypeScript's `import type`


@dataclass(frozen=True, slots=True)
class Stated:
    """An import as a text states it, with its statement and the part of it that names it."""

    what: Import
    local: str
    statement: Branch
    part: Branch
    requires: bool = False  # CommonJS's `require`


def stated_imports(parsed: ParsedText) -> Iterator[Stated]:
    """The imports at the top level of a text, one for each name."""
    for declared, module in parsed.imports:
        statement = next((node for node in declared.leaf.up() if node.parent is parsed.root), None)
        if statement is not None and statement.type in IMPORTS:
            yield _stated(parsed, declared, module, statement)
    if parsed.language.name in SCRIPTS:
        for child in parsed.root.children:
            yield from _required(parsed, child)


def _stated(parsed: ParsedText, declared: Declared, module: str, statement: Branch) -> Stated:
    leaf, text, local = declared.leaf, parsed.text_of, declared.name
    part = leaf.parent or leaf
    name, alias, type_only = "", "", False
    language = parsed.language.name
    if language == "python":
        if part.type == "dotted_name" and part.parent is not None:
            part = part.parent if part.parent.type == "aliased_import" else part
        aliased = part.type == "aliased_import"
        alias = local if aliased else ""
        if statement.type != "import_statement":
            original = part.part("name") if aliased else None
            name = text(original) if original is not None else local
    elif language == "go":
        part = declared.node if declared.node.type == "import_spec" else part
        alias = local if part.part("name") is not None else ""
    elif language == "java":
        name = STATIC if statement.first("static") else ""
    elif language == "rust":
        aliased = part.type == "use_as_clause"
        path = text(part.children[0]) if aliased else ""
        module, _, name = module.rpartition("::")
        name = path.rpartition("::")[2] if aliased else name
        alias = local if aliased else ""
    elif language in SCRIPTS:
        type_only = statement.first("type") is not None
        if leaf.place == "import_clause.":
            name, alias, part = DEFAULT, local, leaf
        elif leaf.place == "namespace_import.":
            name, alias = NAMESPACE, local
        else:
            original = part.part("name")
            name = text(original) if original is not None else local
            alias = local if part.part("alias") is not None else ""
            type_only = type_only or part.first("type") is not None
    return Stated(Import(module, name, alias, type_only), local, statement, part)


def _required(parsed: ParsedText, statement: Branch) -> Iterator[Stated]:
    """`const a = require("a")` and `const {b} = require("./b")`."""
    declarator = statement.first("variable_declarator")
    match = _REQUIRE.search(parsed.text_of(statement)) if declarator is not None else None
    target = declarator.part("name") if declarator is not None else None
    value = declarator.part("value") if declarator is not None else None
    if match is None or target is None or value is None or value.type != "call_expression":
        return
    if target.type == "identifier":
        local = parsed.text_of(target)
        yield Stated(Import(match[2], DEFAULT, local), local, statement, target, requires=True)
    for child in target.children if target.type == "object_pattern" else ():
        if child.type == "shorthand_property_identifier_pattern":
            local = parsed.text_of(child)
            yield Stated(Import(match[2], local), local, statement, child, requires=True)


def specifier(what: Import) -> str:
    """The text of an import in the list of names of its statement."""
    return f"{what.name} as {what.alias}" if what.alias else what.name


def written(what: Import, parsed: ParsedText) -> str:
    """The statement of one import, in the style of the file."""
    language, alias = parsed.language.name, what.alias
    if language == "python":
        if what.name:
            return f"from {what.module} import {specifier(what)}"
        return f"import {what.module}" + (f" as {alias}" if alias else "")
    if language == "go":
        return f'import {alias + " " if alias else ""}"{what.module}"'
    if language == "java":
        return f"import {'static ' if what.name == STATIC else ''}{what.module};"
    if language == "csharp":
        return f"using {what.module};"
    if language == "rust":
        return f"use {what.module}::{specifier(what)};"
    return _script(what, parsed)


def _script(what: Import, parsed: ParsedText) -> str:
    known = [parsed.text_of(stated.statement) for stated in stated_imports(parsed)]
    sample = "\n".join(known) or parsed.text
    quote = '"' if sample.count('"') > sample.count("'") else "'"
    end = ";" * bool(re.search(r";$", sample, re.M))
    module = f"{quote}{what.module}{quote}"
    space = "" if re.search(r"\{\w", sample) else " "
    names = f"{{{space}{specifier(what)}{space}}}"
    if requires(parsed):
        kind = re.search(r"^(const|let|var) ", sample, re.M)
        target = what.alias if what.name in (DEFAULT, NAMESPACE) else names
        return f"{kind[1] if kind else 'const'} {target} = require({module}){end}"
    target = {DEFAULT: what.alias, NAMESPACE: f"* as {what.alias}"}.get(what.name, names)
    return f"import {'type ' * what.type_only}{target} from {module}{end}"


def requires(parsed: ParsedText) -> bool:
    """Whether a JavaScript file is a CommonJS module."""
    if parsed.root.first("import_statement", "export_statement") is not None:
        return False
    return re.search(r"\brequire\(|\bmodule\.exports\b|^exports\.", parsed.text, re.M) is not None
