"""Names that a new text uses and nothing defines, in the languages that list what they use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.check.finding import Finding, at
from specedit.check.parsed import Change, ParsedText
from specedit.scoping.builtin_names import BUILTINS, RUST_TYPES, words
from specedit.syntax.branch import Branch


def undefined_names(change: Change) -> Iterator[Finding]:
    """One for each name, at its first use. A name that nothing declared in the text before comes
    from elsewhere."""
    after = change.after
    if after.language.name not in _LANGUAGES:
        return
    lists_its_names, must_be_declared = _LANGUAGES[after.language.name]
    if not lists_its_names(after):
        return
    known = change.before.free_names.keys() | BUILTINS[after.language.name]
    for name, leaves in after.free_names.items():
        if name in known:
            continue
        first = next((leaf for leaf in leaves if must_be_declared(after, leaf, name)), None)
        if first is not None:
            yield at("undefined", first.line, f"`{name}` is used, and nothing defines it")


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


def _rust_lists(parsed: ParsedText) -> bool:
    """Not where a macro may have made the names."""
    made = ("macro_invocation", "macro_definition", "expression_statement")
    return parsed.root.first(*made) is None


def _rust_must(parsed: ParsedText, leaf: Branch, name: str) -> bool:
    if name in RUST_TYPES:
        plain = leaf.type in ("type_identifier", "identifier")
    else:
        holders = ("scoped", "use", "attribute", "macro", "token")
        named = leaf.type == "identifier" and name[:1].islower() and leaf.parent is not None
        plain = named and not leaf.place.startswith(holders)
    in_macro = ("token_tree", "macro_definition", "attribute_item")
    return plain and not _uses_a_glob(leaf) and leaf.around(*in_macro) is None


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


_LANGUAGES = {
    # by language: whether a file says where its names come from (no star import, not a template);
    # whether a name that nothing declares can come from nowhere else at this place
    "python": (_python_lists, _python_must),
    **dict.fromkeys(("javascript", "typescript", "tsx"), (_javascript_lists, _javascript_must)),
    "rust": (_rust_lists, _rust_must),
}
