"""Languages by name, faults, and outlines, in every grammar."""

import pytest
from case_files import cases

from specedit.errors import TooComplex
from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME, LANGUAGES, language_of
from specedit.syntax.trees import errors, find_symbol, symbols

PARSED = [one.name for one in LANGUAGES if one.grammar]
RIGHT = {
    "python": "def f():\n    return 1\n",
    "javascript": "const a = () => <b/>;\n",
    "typescript": "let a: number = 1;\n",
    "tsx": "let a = <b c={1}/>;\n",
    "csharp": "class A { int P { get; set; } }\n",
    "java": "class A { int p; }\n",
    "go": "package a\n\nfunc f() {}\n",
    "rust": "fn f() -> i32 { 1 }\n",
    "c": "int f(void) { return 1; }\n",
    "cpp": "template <class T> T f() { return {}; }\n",
    "ruby": "def f\n  1\nend\n",
    "php": "<?php function f() { return 1; }\n",
    "kotlin": "fun f(): Int = 1\n",
    "scala": "object A { def f(x: Int): Int = x + 1 }\n",
    "bash": "f() { echo 1; }\n",
    "json": '{"a": 1}\n',
    "yaml": "a: [1]\n",
    "toml": "a = 1\n",
    "html": "<p>a</p>\n",
    "css": "a { b: c; }\n",
}
WRONG = {
    "yaml": "a: [1\n",
    "toml": "a = = 1\n",
    "html": "<p><b a</p\n",
    "css": "a { b: c; \n",
    "json": '{"a": }\n',
    "ruby": "def f(\n  1\n",
    "php": "<?php function f( { return 1; }\n",
}


@pytest.mark.parametrize("name", PARSED)
def test_every_grammar_parses_its_language_and_sees_what_does_not(name):
    language = BY_NAME[name]
    assert errors(RIGHT[name], language) == []
    wrong = errors(WRONG.get(name, RIGHT[name] + "((("), language)
    assert wrong
    assert wrong[0].line >= 1


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("a.py", "", "python"),
        ("A.CS", "", "csharp"),
        ("x/y.test.tsx", "", "tsx"),
        ("a.h", "int f(void);", "c"),
        ("a.h", "namespace n {}", "cpp"),
        ("Makefile", "", "makefile"),
        ("run", "#!/usr/bin/env python3.12\n", "python"),
        ("run", "#!/bin/sh\n", "bash"),
        ("run", "x", None),
        ("a.unknown", "", None),
    ],
)
def test_languages_by_name_and_text(name, text, language):
    result = language_of(name, text)
    assert (result.name if result else None) == language


def test_no_grammar_is_none_not_nothing():
    assert errors("select", BY_NAME["sql"]) is None
    assert errors("x", None) is None
    assert not symbols("x", None)


@cases("syntax/syntax.toml", "outlines")
def test_outlines(name, text, expected):
    result = symbols(text, BY_NAME[name])
    assert [[one.qualified, one.first_line, one.last_line] for one in result] == expected


def test_a_symbol_is_found_by_the_last_parts_of_its_name():
    text = "class A:\n    def m(self): pass\nclass B:\n    def m(self): pass\n"
    assert [one.qualified for one in find_symbol(text, BY_NAME["python"], "m")] == ["A.m", "B.m"]
    assert [one.first_line for one in find_symbol(text, BY_NAME["python"], "B.m")] == [4]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        pytest.param("python", "a = 1\n" + "#\n" * 30_000, "too many steps", id="read again"),
        pytest.param("csharp", ";" * 60_000, "too many steps", id="many operations"),
        pytest.param("c", "a || " * 12_000, "more than 1,000 levels deep", id="deep"),
        pytest.param("java", "a<" * 30_000, "`<` that nothing closes", id="open"),
        pytest.param("go", '"' * 60_000, "bytes with syntax errors", id="faults"),
    ],
)
def test_a_text_that_takes_too_much_work_is_refused_at_any_speed(monkeypatch, name, text, reason):
    monkeypatch.setattr(trees, "MOST_SECONDS", (3600.0, 0.0))
    for _ in range(2):
        with pytest.raises(TooComplex, match=reason):
            errors(text, BY_NAME[name])


def test_minified_code_with_an_error_is_read():
    text = 'function t(e,n){return e.attr(n,"name")||null};' * 2_000
    assert [fault.what for fault in errors(f"{text}}}", BY_NAME["javascript"]) or ()] == [
        "unexpected `}`"
    ]
