"""A language is a file with tables of node types: those of its grammar."""

import importlib
from dataclasses import fields
from functools import cache

import pytest

from specedit.scoping.languages import rules_of
from specedit.scoping.languages.rules import Tables
from specedit.syntax.languages import LANGUAGES, Language

RULED = [one for one in LANGUAGES if rules_of(one.name) is not None]
# Tables of a language's own words, and of yes and no, hold no node types.
WORDS = {one.name for one in fields(Tables) if one.type == "bool"} | {
    "self_words",
    "stand_ins",
    "union_words",
    "receivers",
    "family",
    "keyed",
    "records_of",
    "prelude",
    "of_many",
    "held",
    "callbacks",
    "makers",
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


@pytest.mark.parametrize("shared", ["rules", "rust_places", "yaml", "no.such"])
def test_a_module_that_is_no_language_has_no_rules(shared):
    assert rules_of(shared) is None
