"""The tables of a language: names of node types, fields and words.

A scope is a function, block, class, namespace, template or enum; one that is `shared` is none of
its own: what stands in it belongs to the scope around it (the body of a Go function).

A place is "node_type.field" (the field may be empty). `declares` maps a place to
"kind where": the name there is declared as `kind`, visible from `where`:

* here        the innermost scope around the name
* outer       the scope around the node that carries the name (functions, classes)
* function    the innermost function or file (Python's assignments, JavaScript's `var`)
* class       the innermost class: a member
* property    here, and a member of the innermost class (a parameter that is promoted)
* enumerator  a member of the enum, and the scope around it
* receiver    the class that the method's receiver or qualified name says (Go, C++)
* after       the innermost scope, but only after the declaring node (Rust's and Go's rebinding)
* subject     the innermost scope, but only after the value that the node takes apart (`switch`)
* file        the whole file
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

NONE: frozenset[str] = frozenset()


def _empty() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Tables:
    """One language's tables; what is left out, the language does not have."""

    # names and scopes
    names: frozenset[str]  # leaves that are identifiers
    scopes: Mapping[str, str]  # node type, or type<parent -> what kind of scope it opens
    declares: Mapping[str, str]
    patterns: frozenset[str] = NONE  # places a declared name may sit in, one in the other
    outside: frozenset[str] = NONE  # places that are read in the scope around their scope
    outside_first: frozenset[str] = NONE  # of these, only the first one of a kind is
    members: Mapping[str, str] = field(default_factory=_empty)  # place -> field of the receiver
    value_members: frozenset[str] = NONE  # of these, what never names a thing of a module
    keys: Mapping[str, str] = field(default_factory=_empty)  # place -> "argument" | any other use
    calls: Mapping[str, str] = field(default_factory=_empty)  # call -> field of the callee
    type_names: frozenset[str] = NONE  # leaves that always name a type
    type_places: frozenset[str] = NONE  # places where a plain identifier names a type
    type_fields: frozenset[str] = NONE  # fields where it does, of any node
    own_names: frozenset[str] = NONE  # places that repeat the class's name (constructors)
    labels: frozenset[str] = NONE  # places or leaves of labels
    quoted: frozenset[str] = NONE  # leaves of names that stand in quotes
    shorthands: frozenset[str] = NONE  # leaves or places that name a member and a variable
    # of a literal or a pattern: place of a member -> node.field that names the type
    literal_members: Mapping[str, str] = field(default_factory=_empty)
    module_paths: frozenset[str] = NONE  # children of an import that say where it takes from
    exports: frozenset[str] = NONE  # what gives a declaration out under its own name
    assigned: frozenset[str] = NONE  # places of what is assigned to the `left` next to it
    # classes
    bases: frozenset[str] = NONE  # children of a class that list what it extends
    records: frozenset[str] = NONE  # classes whose parameters are fields
    given: frozenset[str] = NONE  # places in them of what a generic one is given
    adds_to: frozenset[str] = NONE  # classes that add to one of the same name (Rust's `impl`)
    implied: frozenset[str] = NONE  # methods that a type with all of them implements (Go)
    literals: frozenset[str] = NONE  # expressions that are a class of their own
    nameless: frozenset[str] = NONE  # of these, the ones without a name
    own_this: frozenset[str] = NONE  # functions that are called on the nameless one around them
    holders: frozenset[str] = NONE  # expressions that are a name and a sign
    open_types: frozenset[str] = NONE  # classes whose members are visible inside without a receiver
    constants: frozenset[str] = NONE  # members that are of their own class (an enum's)
    self_words: frozenset[str] = frozenset({"this"})  # words that mean the instance
    receivers: frozenset[str] = NONE  # of these, words that stand for a parameter (Rust)
    super_words: frozenset[str] = frozenset({"super"})
    self_types: frozenset[str] = NONE  # words that mean the class around them
    # types of expressions
    gives_plain: frozenset[str] = NONE  # functions that give things of the language's own classes
    closed_modules: frozenset[str] = NONE  # whose functions give nothing that they are given
    plain: frozenset[str] = NONE  # literals and words of the language's own classes
    takes_out: frozenset[str] = NONE  # expressions that may be what another one holds
    # methods of the library -> what they give of the types that their receiver's is given
    held: Mapping[str, str] = field(default_factory=_empty)  # "first", "last", "same": all of them
    callbacks: frozenset[str] = NONE  # methods that call a function with what is held
    awaits: frozenset[str] = NONE  # of `takes_out`, those that wait for a value
    awaited: frozenset[str] = NONE  # types whose value that is
    passes_on: frozenset[str] = NONE  # expressions of the type of what is in them
    casts: frozenset[str] = NONE
    either: frozenset[str] = NONE  # expressions of the type of one of two: `a or b` (Python)
    builds: frozenset[str] = NONE  # expressions that make an instance of the type they name
    # declaration -> what the value stands after: the "leaf" of the name, or the whole "node"
    unnamed_values: Mapping[str, str] = field(default_factory=_empty)
    listed: str = ""  # the field of a call's arguments, where methods may be overloaded
    takes: frozenset[str] = NONE  # parameters that take one argument each
    names_arguments: frozenset[str] = NONE  # arguments that name their parameter
    decorated: frozenset[str] = NONE  # functions in it may take other parameters (Python)
    gives_instance: bool = False  # a method's first parameter is what it is called on (Python)
    spreads_results: bool = False  # the results of one call may be all arguments (Go)
    allocates: frozenset[str] = NONE  # functions that give what their first argument names (Go)
    loops: frozenset[str] = NONE
    indexes: frozenset[str] = NONE  # expressions that take one out of many
    returns: frozenset[str] = NONE
    # types
    types: frozenset[str] = NONE  # types that stand next to a name without a field
    carries_up: frozenset[str] = NONE  # parts of a declaration whose type stands further up
    targets: frozenset[str] = NONE  # lists of names that are assigned together
    results: frozenset[str] = NONE  # lists of the types that a function gives together (Go)
    declarators: frozenset[str] = NONE  # what wraps one name in a declaration, and changes no type
    around_types: frozenset[str] = NONE  # what wraps a type, and changes nothing
    aliases: frozenset[str] = NONE
    lists: frozenset[str] = NONE  # types of many
    arguments: frozenset[str] = NONE  # lists of a type's arguments
    keyed: frozenset[str] = NONE  # words for types whose first argument a loop takes
    unions: frozenset[str] = NONE
    bounds: frozenset[str] = NONE  # what a type parameter must be
    paths: frozenset[str] = NONE  # qualified names
    untyped: frozenset[str] = NONE  # type expressions that say no class
    quotes_types: bool = False  # an untyped string may be the name of a type (Python)
    inferred: frozenset[str] = NONE  # words for a type that is inferred
    wrappers: frozenset[str] = NONE  # generic types that behave as their argument
    typed_parameters: frozenset[str] = NONE  # a parameter is not seen in another one's type
    rest_parameters: frozenset[str] = NONE  # take arguments of any name
    # which names are separate
    named_files: bool = False  # a class's file is named after it (Java, PHP)
    bare_members: bool = False  # members are visible without a receiver
    shows_all: bool = False  # a file's text and its classes' bases say all that it can name
    parts_alone: bool = False  # only `Rules.parts` says where a class continues (C#)
    methods_apart: bool = False  # methods and variables have separate names (Java)
    members_apart: bool = False  # a field and a method may share a name (Rust, PHP)
    macros_apart: bool = False  # a macro and a function may share a name (Rust)
    field_reads: frozenset[str] = NONE  # where that is so: places of a field that is not called
    fields_are_called: bool = False  # fields whose type is a function are (Go)
    fields_hide: bool = False  # a field of a derived class is another field
    merges: bool = False  # a type and a value of one name in one scope are one thing (TypeScript)
    makes: bool = False  # a function may be a class (JavaScript)
    sigils: bool = False  # a variable's `$` keeps it apart from other names (PHP)
    hoists: bool = False  # an inner function sees what is declared after it (JavaScript)
    in_order: bool = False  # a local is visible only after its declaration
    reads_class: bool = False  # a class's body reads what it set, its methods do not (Python)
    rebinds: frozenset[str] = NONE  # declarations that make another thing of the same name (Rust)
    # words
    prelude: frozenset[str] = NONE  # names of the language that every file sees
    builtins: frozenset[str] = NONE  # types, namespaces and objects of the language itself
    keywords: frozenset[str] = NONE  # no names; words that are keywords only somewhere are names
    overriding: frozenset[str] = NONE  # words in front of a member that overrides another
    implementing: frozenset[str] = NONE  # words in front of one that may do so without saying it
    all_implement: bool = False  # any member may do so, unless it is private (TypeScript)
    of_many: frozenset[str] = NONE  # members that values of the language's own classes have
    requires: Mapping[str, str] = field(default_factory=_empty)  # all that library interfaces name
    starts: frozenset[str] = NONE  # functions that the language calls
    family: str = ""  # languages that see each other's names; empty: one of its own
    any_case: bool = False  # a keyword in capitals is one, too
    free_members: bool = False  # `o.class` is fine
    # what is not code
    strings: frozenset[str] = NONE
    opaque: frozenset[str] = NONE  # leaves of unparsed code: names in them are whole words

    def adding(self, **more: Any) -> dict[str, Any]:
        """Every table for a language that builds on this one; what is given is added to it."""
        mine = {word.name: getattr(self, word.name) for word in fields(Tables)}
        for name, value in more.items():
            grows = isinstance(value, frozenset | dict)
            mine[name] = mine[name] | value if grows else value
        return mine


def tables(text: str) -> dict[str, Any]:
    """The tables of a text, by their names. A table begins a line with "name:"; lines that are
    indented continue it. Words are split at blanks; `flags` lists what is true."""
    sorts = {table.name: table.type for table in fields(Tables)}
    results: dict[str, Any] = {}
    for block in re.split(r"\n(?=\S)", text.strip()):
        name, content = block.split(":", 1)
        if name == "flags":
            results.update(dict.fromkeys(content.split(), True))
        elif sorts[name] == "str":
            results[name] = content.strip()
        else:
            results[name] = table(content) if "Mapping" in sorts[name] else places(content)
    return results


def places(*groups: str) -> frozenset[str]:
    """Words of the tables, split at blanks."""
    return frozenset(word for group in groups for word in group.split())


def table(text: str) -> dict[str, str]:
    """ "place: value" lines to a mapping; several places may share a line."""
    results: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        left, right = line.split(": ", 1)
        results.update(dict.fromkeys(left.split(), right.strip()))
    return results
