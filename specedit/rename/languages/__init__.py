"""What scopes and declarations look like in each language: tables that one engine reads.

A scope is a function, block, class, namespace, template or enum; one that is `shared` is none of
its own: what stands in it belongs to the scope around it (the body of a Go function).

A place is "node_type.field" (the field empty when there is none). `declares` maps a place to
"kind where": the name there is declared as `kind`, visible from `where`:

* here      the innermost scope around the name
* outer     the scope around the node that carries the name (functions, classes)
* function  the innermost function or file (Python's assignments, JavaScript's `var`)
* class     the innermost class: a member
* receiver  the class that the method's receiver or qualified name says (Go, C++)
* after     the innermost scope, but only behind the declaring node (Rust's and Go's rebinding)
* subject   the innermost scope, but only behind the value that the node takes apart (`switch`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True)
class Rules:
    """One language's tables."""

    names: frozenset[str]  # leaves that are identifiers
    scopes: Mapping[str, str]  # node type, or type<parent -> what kind of scope it opens
    declares: Mapping[str, str]
    patterns: frozenset[str] = frozenset()  # places a declared name may sit in, one in the other
    outside: frozenset[str] = frozenset()  # places that are read in the scope around their scope
    members: Mapping[str, str] = field(default_factory=dict)  # place -> field of the receiver
    keys: Mapping[str, str] = field(default_factory=dict)  # place -> "literal" | "argument"
    calls: Mapping[str, str] = field(default_factory=dict)  # call node type -> field of the callee
    type_names: frozenset[str] = frozenset()  # leaves that always name a type
    type_places: frozenset[str] = frozenset()  # places where a plain identifier names a type
    own_names: frozenset[str] = frozenset()  # places that repeat the class's name (constructors)
    labels: frozenset[str] = frozenset()  # places or leaves of labels
    bases: frozenset[str] = frozenset()  # children of a class that list what it extends
    selves: frozenset[str] = frozenset({"this"})  # expressions that mean the instance
    supers: frozenset[str] = frozenset({"super"})
    first_is_self: bool = False  # a method's first parameter is the instance (Python)
    bare_members: bool = False  # members are visible without a receiver
    methods_apart: bool = False  # methods and variables have separate names (Java)
    members_apart: bool = False  # a field and a method may share a name (Rust, PHP)
    fields_hide: bool = False  # a field of a derived class is another field
    constants_match: bool = False  # a capitalised name in a pattern is a constant (Rust)
    open_enums: bool = False  # members are visible inside their enum (TypeScript)
    overloads: bool = False  # methods of one name differ by their parameters
    sigils: bool = False  # a variable's `$` keeps it apart from other names (PHP)
    dollar_strings: bool = False  # `$name` inside a string is code (Kotlin)
    format_macros: Mapping[str, str] = field(default_factory=dict)  # macro -> its format's place
    hoists: bool = False  # an inner function sees what is declared behind it (JavaScript)
    in_order: bool = False  # a local is visible only behind its declaration
    builtins: Mapping[str, str] = field(default_factory=dict)  # commands that set variables (Bash)
    quoted_keys: bool = False  # `o["name"]` and `{"name": 1}` name the member
    comments: frozenset[str] = frozenset({"comment", "line_comment", "block_comment"})
    strings: frozenset[str] = frozenset({"string", "string_literal"})
    opaque: frozenset[str] = frozenset()  # leaves of unparsed code: names in them are whole words


def places(*groups: str) -> frozenset[str]:
    """Words of the tables, split at blanks."""
    return frozenset(word for group in groups for word in group.split())


def table(text: str) -> dict[str, str]:
    """ "place: value" lines to a mapping; several places may share a line."""
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        left, right = line.split(": ", 1)
        found.update(dict.fromkeys(left.split(), right.strip()))
    return found


@lru_cache(maxsize=32)
def rules_of(language: str) -> Rules | None:
    """The rules of a language by name; None where a name is just a word."""
    from specedit.rename.languages import (
        c,
        csharp,
        go,
        java,
        javascript,
        kotlin,
        python,
        rust,
        scripts,
    )

    return {
        "python": python.RULES,
        "javascript": javascript.RULES,
        "typescript": javascript.RULES,
        "tsx": javascript.RULES,
        "csharp": csharp.RULES,
        "java": java.RULES,
        "kotlin": kotlin.RULES,
        "go": go.RULES,
        "rust": rust.RULES,
        "c": c.RULES,
        "cpp": c.RULES,
        "ruby": scripts.RUBY,
        "php": scripts.PHP,
        "bash": scripts.BASH,
    }.get(language)
