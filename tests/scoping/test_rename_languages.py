"""A language is a file: the engine that reads its rules names no node type of any grammar."""

import ast
import importlib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

import specedit
from specedit.scoping.languages import rules_of
from specedit.scoping.languages.tables import Tables
from specedit.syntax.languages import LANGUAGES, Language

ROOMS = [Path(specedit.__file__).parent / name for name in ("rename", "scoping")]
SHARED = ("__init__.py", "rules.py", "tables.py")  # of languages/: what all languages share
ENGINE = sorted(
    path
    for room in ROOMS
    for path in room.rglob("*.py")
    if path.parent.name != "languages" or path.name in SHARED
)
RULED = [one for one in LANGUAGES if rules_of(one.name) is not None]
# Words of the engine's own that some grammar calls a node, too. That none of them is held against
# a node is a test of its own below.
OWN = {
    "kind of scope": "file function block class enum",
    "kind of declaration": "parameter method field label type import module",
    "where a declaration is seen, or what a key is": "enumerator argument",
    "what a place asks for": "call",
    "kind of region": "comment string",
    "name of a field": "name value body type parameters result element",
    "word of many languages, compared with the text": "this super",
    "word of a sentence": "in line",
    "value of a setting": "auto",
}
# Tables of a language's own words, and of yes and no, hold no node types.
WORDS = {one.name for one in fields(Tables) if one.type == "bool"} | {
    *(
        "self_words",
        "receivers",
        "family",
        "keyed",
        "prelude",
        "of_many",
        "held",
        "callbacks",
        "awaited",
        "super_words",
        "self_types",
        "inferred",
        "allocates",
        "listed",
        "type_fields",
        "implementing",
        "requires",
        "starts",
        "wrappers",
        "builtins",
        "gives_plain",
        "closed_modules",
        "keywords",
        "overriding",
    ),
}


def name(one: object) -> str:
    return one.name if isinstance(one, Language) else str(one)


@cache
def node_types(grammar: str) -> frozenset[str]:
    from tree_sitter import Language

    module, function = grammar.split(":")
    read = Language(getattr(importlib.import_module(module), function)())
    named = (one for one in range(read.node_kind_count) if read.node_kind_is_named(one))
    return frozenset(read.node_kind_for_id(one) or "" for one in named)


def code(path: Path) -> ast.Module:
    """A module without its docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            del node.body[: ast.get_docstring(node) is not None]
    return tree


def words(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that may be names: one word, a table's line, a place."""
    tree = code(path)
    formats = (one for one in ast.walk(tree) if isinstance(one, ast.JoinedStr))
    prose = {id(part) for one in formats for part in one.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            found = node.value.replace(".", " ").split()
            yield from ((node.lineno, one) for one in found if len(found) == 1 or "_" in one)


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(ROOMS[0].parent)))
def test_the_engine_names_no_node_type_of_any_grammar(path):
    own = {word for words in OWN.values() for word in words.split()}
    found = [
        f"line {line}: {word!r} is a node type of {language.name}"
        for line, word in words(path)
        for language in RULED
        if word in node_types(language.grammar) - own
    ]
    assert not found


@pytest.mark.parametrize("path", ENGINE, ids=lambda path: str(path.relative_to(ROOMS[0].parent)))
def test_the_engine_holds_no_word_of_its_own_against_a_node(path):
    assert not [f"line {node.lineno}" for node in ast.walk(code(path)) if holds_a_word(node)]


@pytest.mark.parametrize(
    "line",
    [
        "node.type == 'block'",
        "leaf.place in ('a.b', 'c.d')",
        "'record' in scope.node.type",
        "up.type.endswith('_expression')",
        "node.first('block')",
    ],
)
def test_a_word_that_is_held_against_a_node_is_seen(line):
    assert any(holds_a_word(node) for node in ast.walk(ast.parse(line)))


def holds_a_word(node: ast.AST) -> bool:
    """Whether a string is compared with a node's type or place, or with its children's."""
    if isinstance(node, ast.Compare):
        sides = (node.left, *node.comparators)
        return any(map(is_kind, sides)) and any(
            isinstance(one, ast.Constant) for side in sides for one in ast.walk(side)
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        among = node.func.attr == "first" or is_kind(node.func.value)
        return among and any(isinstance(one, ast.Constant) for one in node.args)
    return False


def is_kind(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("type", "place")


@pytest.mark.parametrize("language", RULED, ids=name)
def test_what_a_language_s_tables_name_is_in_its_grammar(language):
    rules = rules_of(language.name)
    assert rules is not None
    named = {
        word.split(".")[0].split("<")[0]
        for table in fields(Tables)
        if table.name not in WORDS
        for word in getattr(rules, table.name)
    }
    built_on = [one for one in RULED if isinstance(rules, type(rules_of(one.name)))]
    there = frozenset().union(*(node_types(one.grammar) for one in built_on))
    assert sorted(named - there) == []


@pytest.mark.parametrize("shared", ["rules", "tables", "rust_places", "yaml", "no.such"])
def test_a_module_that_is_no_language_has_no_rules(shared):
    assert rules_of(shared) is None
