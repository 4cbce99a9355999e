"""What stands in a file twice after an edit: its package, a type, a run of its own lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specedit.check.finding import Finding, at
from specedit.check.parsed import Change, ParsedText
from specedit.scoping.builtin_names import words
from specedit.syntax.branch import Branch
from specedit.syntax.outline import KINDS

_PACKAGES = words("package_declaration package_clause file_scoped_namespace_declaration")
_TYPES = {  # by language: node types of which two of one name in one place are an error
    "java": words(
        "class_declaration interface_declaration enum_declaration record_declaration",
        "annotation_type_declaration",
    ),
    "csharp": words(
        "class_declaration interface_declaration enum_declaration record_declaration",
        "struct_declaration delegate_declaration",
    ),
    "go": words("type_spec type_alias"),
    "rust": words("struct_item enum_item union_item trait_item type_item function_item"),
    "javascript": words(
        "class_declaration function_declaration generator_function_declaration method_definition"
    ),
}
_TYPES["typescript"] = _TYPES["javascript"] | {"type_alias_declaration"}
_TYPES["tsx"] = _TYPES["typescript"]
_ACCESSORS = words("get set static")
_OPEN = ("partial ", "#if ")  # of a C# file whose types may have several parts
_BODIES = words("block statement_block statement_list switch_block_statement_group")


def repeated_types(change: Change) -> Iterator[Finding]:
    """One for each definition, and for the package, that is in a place more often than before."""
    if change.after.language.name not in _TYPES:
        return
    old = Counter(key for key, _ in _types(change.before))
    count: Counter[tuple[str, ...]] = Counter()
    for key, node in _types(change.after):
        count[key] += 1
        if count[key] == max(1, old[key]) + 1:
            yield at("repeated", node.line, f"`{key[-1]}` is defined twice")


def _types(parsed: ParsedText) -> Iterator[tuple[tuple[str, ...], Branch]]:
    """The types, functions and methods with what they stand in; a package has its own words."""
    types = _TYPES[parsed.language.name]
    if any(word in parsed.text for word in _OPEN):
        types = frozenset()
    for node in parsed.root.walk():
        if node.type in _PACKAGES:
            yield ("package", parsed.text_of(node).split()[0]), node
        elif node.type in types and (name := node.part("name")) is not None:
            if node.place.startswith("object."):
                continue  # a method of a literal
            around = [up for up in (node, *node.up()) if up.type in KINDS]
            if not any(up.type in _BODIES for up in node.up()) and not any(
                _depends_on_build(parsed, up) for up in around
            ):
                holders = (_head(parsed, up) for up in around[1:])
                numbers = node.first("type_parameter_list", "type_parameters")
                arity = len(numbers.named_children()) if numbers is not None else 0
                accessors = (child.type for child in node.children if child.type in _ACCESSORS)
                yield (*holders, *accessors, str(arity), parsed.text_of(name)), node


def _head(parsed: ParsedText, node: Branch) -> str:
    """What a type stands in, as it is written in front of its body."""
    body = node.part("body")
    return parsed.text_of(node.until(body.start)) if body is not None else node.type


def _depends_on_build(parsed: ParsedText, node: Branch) -> bool:
    """Rust: whether an attribute says in which builds an item counts."""
    siblings = node.parent.children if node.parent is not None else ()
    before = ""
    for sibling in siblings:
        if sibling is node:
            break
        before = f"{before}{parsed.text_of(sibling)}" if "attribute" in sibling.type else ""
    return "cfg" in before


RUN = 10  # lines of a copy that no one writes


def copied_runs(change: Change) -> Iterator[Finding]:
    """One for each run of lines that stood in the text once and stands in it twice."""
    old = Counter(tuple(line for _, line in run) for run in _runs(change.before))
    new: Counter[tuple[str, ...]] = Counter()
    last = 0
    for run in _runs(change.after):
        key = tuple(line for _, line in run)
        new[key] += 1
        if old[key] == 1 and new[key] == 2:
            if run[0][0] > last:
                text = f"lines {run[0][0]}-{run[-1][0]} repeat lines of the file"
                yield at("copied-run", run[0][0], text)
            last = run[-1][0]


def _runs(parsed: ParsedText) -> Iterator[list[tuple[int, str]]]:
    """Every RUN lines of code in a row that have a word, with their numbers."""
    numbered = enumerate(map(str.strip, parsed.code_lines), 1)
    lines = [(number, line) for number, line in numbered if any(map(str.isalnum, line))]
    return (lines[n : n + RUN] for n in range(len(lines) - RUN + 1))
