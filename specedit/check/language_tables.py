"""Facts about languages for the checks: which names a file must declare, and which statements end a
block. A language without an entry gets the checks that need no such knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from specedit.check.parsed import Change, ParsedText
from specedit.scoping import builtin_names
from specedit.scoping.builtin_names import words
from specedit.syntax.branch import Branch

NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LanguageFacts:
    """One language: tables of node types and names, and two functions next to them."""

    # whether this file says where its names come from: no star import, not a template
    lists_its_names: Callable[[ParsedText], bool]
    # whether a name that nothing declares can come from nowhere else at this place
    must_be_declared: Callable[[ParsedText, Branch, str], bool]
    blocks: frozenset[str]  # lists of statements
    ends: frozenset[str]  # statements, or statement>its first part, that nothing runs after
    hoisted: frozenset[str] = NONE  # declarations that may stand after one
    builtins: frozenset[str] = NONE  # names that need no declaration


def is_elsewhere(change: Change, name: str) -> bool:
    """Go: whether another file of the package may declare a name, by its words; True where the
    folder is not known. An edit of several files may add the name to another one of them."""
    if change.after.language.name != "go" or name in builtin_names.GO_PACKAGES:
        return False
    if change.place is None or name in change.instruction:
        return True
    root, path = change.place()
    own, word = root / path, re.compile(rf"\b{re.escape(name)}\b")
    if not own.is_file():
        return True
    try:
        others = [path for path in own.parent.glob("*.go") if path.name != own.name]
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in others]
    except OSError:
        return True
    return any(map(word.search, texts))


def language_facts(language: str) -> LanguageFacts | None:
    return _LANGUAGES.get(language)


# Python

_PYTHON_NAMING = words(  # statements that use no name, whatever stands there
    "global_statement nonlocal_statement delete_statement import_statement",
    "import_from_statement future_import_statement",
)
_PYTHON_2 = re.compile(r"(?m)^[^\S\n]*except\s+[\w.]+\s*,\s*\w+\s*:")


def _python_lists(parsed: ParsedText) -> bool:
    if _PYTHON_2.search(parsed.text):
        return False  # its builtin names are others
    for node in parsed.root.walk():
        if node.type == "wildcard_import":
            return False
        callee = node.part("function") if node.type == "call" else None
        if callee is not None and parsed.text_of(callee) in ("exec", "globals", "locals"):
            return False
    return True


def _python_must(parsed: ParsedText, leaf: Branch, name: str) -> bool:
    """Not in `global x`, `del x`, or where the code expects that the name is missing."""
    for up in (leaf, *leaf.up()):
        if up.type in _PYTHON_NAMING or (up.type == "dotted_name" and up.children[0] is not leaf):
            return False
        if up.type == "try_statement" and "NameError" in parsed.text_of(up):
            return False
    return True


# JavaScript and TypeScript

_TS_DECLARING = words("ambient_declaration with_statement type_predicate asserts index_signature")
_JSX = ("jsx_opening", "jsx_closing", "jsx_self", "jsx_namespace")


def _javascript_lists(parsed: ParsedText) -> bool:
    """A module imports what it uses; a script sees every other script's names."""
    if parsed.root.first("import_statement", "export_statement") is not None:
        return True
    return _COMMON_JS.search(parsed.text) is not None and "define.amd" not in parsed.text


_COMMON_JS = re.compile(r"(?m)^(?:module\.)?exports\b|^(?:const|let|var)\s[^=\n]*=\s*require\(")


def _javascript_must(parsed: ParsedText, leaf: Branch, name: str) -> bool:
    if not name[:1].islower() or leaf.type != "identifier" or leaf.parent is None:
        return False  # the host's types and classes are too many to list
    for up in leaf.up():
        if up.type.startswith(_JSX) or up.type in _TS_DECLARING:
            return False
        if up.type == "unary_expression" and parsed.text_of(up).startswith("typeof"):
            return False
        if up.type.endswith(("statement", "declaration")):
            break
    tested = rf"typeof {re.escape(name)}\b|\bvar {re.escape(name)}\b"
    return not re.search(tested, parsed.text)


# Go


_GO_DOTTED = re.compile(r'(?m)^[^\S\n]*(?:import\s+)?\.\s+"')


def _go_must(parsed: ParsedText, leaf: Branch, name: str) -> bool:
    """A package of the standard library; or a name that no file next to this one has
    (`is_elsewhere`)."""
    if leaf.place == "selector_expression.operand" and name in builtin_names.GO_PACKAGES:
        return True
    return leaf.type == "identifier" and name[:1].islower() and '"C"' not in parsed.text


# Rust


def _rust_lists(parsed: ParsedText) -> bool:
    """Not where a macro may have made the names."""
    made = ("macro_invocation", "macro_definition", "expression_statement")
    return parsed.root.first(*made) is None


def _rust_must(parsed: ParsedText, leaf: Branch, name: str) -> bool:
    if name in builtin_names.RUST_TYPES:
        plain = leaf.type in ("type_identifier", "identifier")
        return plain and not _uses_a_glob(leaf) and not _in_macro(leaf)
    if leaf.type != "identifier" or not name[:1].islower() or leaf.parent is None:
        return False
    if leaf.parent.type.startswith(("scoped", "use", "attribute", "macro", "token")):
        return False
    return not _uses_a_glob(leaf) and not _in_macro(leaf)


def _in_macro(leaf: Branch) -> bool:
    return any(up.type in ("token_tree", "macro_definition", "attribute_item") for up in leaf.up())


def _uses_a_glob(leaf: Branch) -> bool:
    """Whether a module or block around a place uses all of another one."""
    for up in leaf.up():
        for child in up.children:
            if child.type == "use_declaration" and any(
                inner.type == "use_wildcard" for inner in child.walk()
            ):
                return True
            if child.type == "macro_invocation" or (
                child.type == "expression_statement"
                and (child.first("macro_invocation") is not None and up.type == "declaration_list")
            ):
                return up.type in ("declaration_list", "source_file")
    return False


# Java

_JAVA_CLASSES = words(
    "class_declaration interface_declaration enum_declaration record_declaration",
    "annotation_type_declaration",
)
_JAVA_PACKAGES = words("scoped_identifier.scope package_declaration.")
_JAVA_ACCESSES = words("field_access.object method_invocation.object")


def _java_must(parsed: ParsedText, leaf: Branch, name: str) -> bool:
    imports = [child for child in parsed.root.children if child.type == "import_declaration"]
    if name in builtin_names.JAVA_TYPES:
        return leaf.type == "type_identifier" and not any(
            statement.first("asterisk") for statement in imports
        )
    if leaf.type != "identifier" or not name[:1].islower() or name in ("log", "logger"):
        return False
    if leaf.parent is None or "annotation" in leaf.parent.type or leaf.place in _JAVA_PACKAGES:
        return False
    whole = leaf
    while whole.place in _JAVA_ACCESSES and whole.parent is not None:
        whole = whole.parent
        if (part := whole.part("field")) is not None and parsed.text_of(part)[:1].isupper():
            return False  # `java.util.List`: a package
    opened = any(statement.first("static") and statement.first("asterisk") for statement in imports)
    return not opened and not _java_inherits(leaf)


def _java_inherits(leaf: Branch) -> bool:
    """Whether a superclass, an interface or an annotation that writes code may bring names here."""
    for up in leaf.up():
        outside = up.parent if up.type == "class_body" else None
        if outside is not None and outside.type not in _JAVA_CLASSES:
            return True
        if up.type in _JAVA_CLASSES:
            if up.first("superclass"):
                return True
            called = leaf.place == "method_invocation.name"  # an interface brings no variables
            if called and up.first("super_interfaces", "extends_interfaces", "interfaces"):
                return True
            modifiers = up.first("modifiers")
            if modifiers is not None and modifiers.first("annotation", "marker_annotation"):
                return True
        if up.type in ("switch_label", "switch_rule"):
            return True
    return False


# C#

_CSHARP_CLASSES = words(
    "class_declaration struct_declaration record_declaration interface_declaration"
)
_CSHARP_PLAIN = words(
    "binary_expression assignment_expression return_statement interpolation argument"
)


def _csharp_lists(parsed: ParsedText) -> bool:
    """Not a program of statements alone, and not with `using static`."""
    return not any(
        child.type == "global_statement"
        or (child.type == "using_directive" and child.first("static"))
        for child in parsed.root.children
    )


def _csharp_must(parsed: ParsedText, leaf: Branch, name: str) -> bool:
    """A local: what other files of a namespace hold cannot be told."""
    if not name[:1].islower() or leaf.type != "identifier" or leaf.parent is None:
        return False
    if leaf.parent.type not in _CSHARP_PLAIN:
        return False
    inside = False
    for up in leaf.up():
        if up.type in ("query_expression", "attribute", "preproc_if", "switch_expression"):
            return False
        if up.type in _CSHARP_CLASSES:
            inside = True
            modifiers = [parsed.text_of(child) for child in up.children if child.type == "modifier"]
            if up.first("base_list") or "partial" in modifiers:
                return False
    return inside


_ENDS = words("return_statement break_statement continue_statement")
_THROWING = _ENDS | {"throw_statement"}
_JAVASCRIPT = LanguageFacts(
    _javascript_lists,
    _javascript_must,
    blocks=words("statement_block program"),
    ends=_THROWING,
    hoisted=words(
        "function_declaration generator_function_declaration empty_statement",
        "interface_declaration type_alias_declaration function_signature",
    ),
    builtins=builtin_names.JAVASCRIPT_HOST,
)
_LANGUAGES = {
    "python": LanguageFacts(
        _python_lists,
        _python_must,
        blocks=words("block module"),
        ends=_ENDS | {"raise_statement"},
        builtins=builtin_names.PYTHON,
    ),
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": LanguageFacts(
        lambda parsed: not _GO_DOTTED.search(parsed.text),
        _go_must,
        blocks=words("statement_list"),
        ends=_ENDS | {"goto_statement"},
        hoisted=words("labeled_statement"),
        builtins=builtin_names.GO,
    ),
    "rust": LanguageFacts(
        _rust_lists,
        _rust_must,
        blocks=words("block"),
        ends=words(
            "expression_statement>return_expression expression_statement>break_expression",
            "expression_statement>continue_expression",
        ),
        hoisted=words("function_item use_declaration const_item struct_item enum_item impl_item"),
        builtins=builtin_names.RUST,
    ),
    "java": LanguageFacts(
        lambda parsed: True,
        _java_must,
        blocks=words("block constructor_body switch_block_statement_group"),
        ends=_THROWING,
    ),
    "csharp": LanguageFacts(
        _csharp_lists,
        _csharp_must,
        blocks=words("block"),
        ends=_THROWING,
        hoisted=words("local_function_statement labeled_statement empty_statement"),
        builtins=builtin_names.CSHARP,
    ),
}
