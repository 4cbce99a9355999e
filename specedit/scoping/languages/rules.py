"""One language: its tables, and small hooks for what tables cannot say.

The engine (`scoping`) asks here and names no node type of any grammar. A language overrides
what it needs; what stands here is right for a language without surprises.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from specedit.scoping.scope import FUNCTIONS, Declared, Known, Meaning, Owner, Rewrite, Scope
from specedit.syntax.branch import Branch

Text = Callable[[Branch], str]
# The classes of the engine are built on this module and not known here. The hooks of a language
# name them, as do the parameters below.
Project: TypeAlias = Any
Scopes: TypeAlias = Any
Typing: TypeAlias = Any
Uses: TypeAlias = Any

NONE: frozenset[str] = frozenset()
_OF_FOLDER = frozenset({"__init__", "index", "mod"})  # such a file is what its folder means


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
    macro_arguments: frozenset[str] = NONE  # places where a macro may be given a member's name
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
    makers: frozenset[str] = NONE  # methods that are given what the class's own call is
    constants: frozenset[str] = NONE  # members that are of their own class (an enum's)
    self_words: frozenset[str] = frozenset({"this"})  # words that mean the instance
    receivers: frozenset[str] = NONE  # of these, words that stand for a parameter (Rust)
    super_words: frozenset[str] = frozenset({"super"})
    self_types: frozenset[str] = NONE  # words that mean the class around them
    # types of expressions
    gives_plain: frozenset[str] = NONE  # functions that give things of the language's own classes
    closed_modules: frozenset[str] = NONE  # whose functions give nothing that they are given
    stand_ins: frozenset[str] = NONE  # modules whose things stand in for any others
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
    records_of: frozenset[str] = NONE  # types with members of any name, of their last argument
    arguments: frozenset[str] = NONE  # lists of a type's arguments
    keyed: frozenset[str] = NONE  # words for types whose first argument a loop takes
    unions: frozenset[str] = NONE
    union_words: frozenset[str] = NONE  # generic types that are one of their arguments
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


class Rules(Tables):
    """One language's tables and hooks."""

    # reading the tree

    def prepare(self, root: Branch, data: bytes) -> None:
        """Marks, or reads, what the grammar does not tell, before any name is read."""

    def is_name(self, node: Branch) -> bool:
        """Whether a leaf of `names` is a whole name."""
        return not node.children

    def label(self, leaf: Branch, text: Text) -> str:
        """The name a leaf carries, without what only says of which kind it is."""
        return text(leaf)

    def names_in(self, node: Branch, text: Text) -> Iterable[tuple[Branch, str]]:
        """Names that the grammar does not tell as such, each as a leaf of its own."""
        return ()

    def other_spelling(self, name: str) -> str:
        """The spellings that mean a name in files; the name itself where there is no other."""
        return name

    def accessors(self, declared: Declared) -> tuple[list[str], tuple[str, ...]]:
        """Other names that mean a declaration, and the endings of the files where they may."""
        return [], ()

    def has_sigil(self, leaf: Branch, text: Text) -> bool:
        """Whether a sign tells a place from every word of the language."""
        return False

    # scopes and classes

    def opens(self, node: Branch) -> bool:
        """Whether a node of `scopes` opens one here."""
        return True

    def class_name(self, node: Branch, text: Text) -> str:
        name = node.part("name")
        if name is None and node.named and node.type not in self.nameless:
            name = node.first(*self.names)
        return text(name) if name is not None else ""

    def bases_of(self, node: Branch, text: Text) -> list[str]:
        """The classes that a class extends besides its `bases`."""
        return []

    def receiver_name(self, function: Branch, text: Text) -> str:
        """The class of a method that is written outside of it."""
        return ""

    def shown(self, node: Branch, text: Text) -> tuple[str, str] | None:
        """The class or namespace whose members `node` shows, and the one that is meant, or ""."""
        return None

    # declarations

    def carrier(self, leaf: Branch) -> Branch:
        """The node that stands for a name in the tables."""
        return leaf

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        """Whether a name at a place of `declares` declares something."""
        return True

    def declared_as(self, scopes: Scopes, leaf: Branch, node: Branch, entry: str) -> str:
        """Kind and place of a declaration, where they are not those of its table's `entry`."""
        of_record = self.records and entry == "parameter here"
        in_record = of_record and scopes.scope_of(node).node.type in self.records
        return "field here" if in_record else entry

    def elsewhere(self, scopes: Scopes, node: Branch, name: str) -> Scope | None:
        """The scope that a name of a `function` belongs to because something else says so."""
        return None

    def is_import_of(self, scopes: Scopes, imported: Declared, other: Declared) -> bool:
        """Whether an import brings in what the file itself declares."""
        return False

    def module_of(self, scopes: Scopes, imported: Declared) -> str:
        """The module that an import takes its name from, as it is written there."""
        path = imported.node.first(*self.module_paths)
        return scopes.text(path).strip("'\"`") if path is not None else ""

    def imports_module(self, imported: Declared) -> bool:
        """Whether an import gives a whole module, and nothing that a module declares."""
        return False

    def brings(self, call: Branch, text: Text) -> str | None:
        """The module that a call gives: `require("x")`."""
        return None

    def is_instance(self, declared: Declared) -> bool:
        """Whether a parameter is the instance that a method is called on."""
        return False

    def constructs(self, parameter: Declared, owner: Owner) -> bool:
        """Whether a parameter of a class's method is given where the class is called."""
        function = parameter.scope.node if parameter.scope is not None else None
        name = function.part("name") if function is not None else None
        made = (each.node for name in self.makers for each in owner.members.get(name, ()))
        return any(node is function for node in made) or (name and name.place) in self.own_names

    def overrides(self, declared: Declared, other: Declared, text: Text) -> bool:
        """Whether a method overrides its class's base's. `text`: of the other's file."""
        return True

    def may_override(self, member: Declared) -> bool:
        """Whether a member may be one that something else asks its class for."""
        return True

    def is_conditional(self, node: Branch, text: Text) -> bool:
        """Whether a declaration of `rebinds` counts only in some builds."""
        return False

    def required_by(self, typing: Typing, declared: Declared) -> tuple[str, bool] | None:
        """What outside these files may require a declaration's name, and whether it surely does."""
        if declared.owner is None:
            return None
        words, above = set(_head(declared, typing.scopes.text)), typing.above(declared.owner)
        own = any(declared.name in up.members for up in above)
        if self.overriding & words and not own:
            return "what it overrides", True
        known = {up.name for up in above}
        bases = [base for up in (declared.owner, *above) for base in up.bases if base not in known]
        bases = [b for b in bases if declared.name in self.requires.get(b, declared.name).split()]
        sort = declared.kind == "method" or (declared.kind == "field" and not self.fields_hide)
        silent = self.all_implement and not own and "private" not in words
        may_be = sort and (silent or self.implementing & words) and "static" not in words
        known_bases = [base for base in bases if base in self.requires]
        return ((*known_bases, *bases)[0], bool(known_bases)) if bases and may_be else None

    # other files: `project` knows them

    def module_names(self, project: Project, path: str, text: str) -> Mapping[str, str]:
        """The names of modules that a file imports without a name, by their paths."""
        return {}

    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        """The declarations that an import brings in; None where no file is known to have them."""
        return None

    def shared(self, project: Project, here: Typing, name: str) -> Iterator[Declared]:
        """The names that other files show in this one without an import."""
        yield from ()

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        """The declarations of a name that a module or a namespace has from elsewhere."""
        yield from ()

    def parts(self, project: Project, owner: Owner) -> Iterator[Owner]:
        """The other parts of a class, which stand in other files."""
        yield from ()

    def word(self, project: Project, here: Typing, node: Branch) -> Owner | None:
        """The module that an expression stands for."""
        return None

    def namespace(self, project: Project, here: Typing, name: str) -> Owner | None:
        """The namespace that a name stands for which no file declares as a whole."""
        return None

    def file_of(self, project: Project, here: Typing, declared: Declared) -> Owner | None:
        """The module that a declaration takes in from another file: `mod x;`."""
        return None

    def named(self, project: Project, here: Typing, leaf: Branch) -> Iterator[Declared]:
        """The meaning of a name that is read in another module."""
        yield from ()

    def along_path(
        self, project: Project, folder: str, words: Sequence[str]
    ) -> Iterator[tuple[int, Declared]]:
        """The meaning of each part of a dotted path in a string of a folder, with its number."""
        yield from ()

    def read_by_name(
        self, typing: Typing, node: Branch, name: str, meanings: Sequence[Meaning]
    ) -> tuple[Owner, ...] | None:
        """The classes whose member a string, or a key, names: `getattr(x, "name")`. Empty where it
        may name one of the meanings; None where it is a text like any other."""
        return None

    def given_out(self, typing: Typing, name: str) -> Iterator[tuple[int, str]]:
        """Where a table gives out a function under a name, and the module that has the table."""
        yield from ()

    def is_module(self, project: Project, path: str, name: str) -> bool:
        """Whether a file is the module, or a part of the package, that is called `name`."""
        folder, file = posixpath.split(path)
        stem = file.partition(".")[0]
        return name == (posixpath.basename(folder) if stem in _OF_FOLDER else stem)

    def is_hidden(self, project: Project, home: str, path: str, name: str) -> bool:
        """Whether a file cannot use what another, `home`, declares, because of how it is called."""
        return False

    def moved_imports(
        self, project: Project, here: Typing, moved: Mapping[str, str]
    ) -> Iterator[Rewrite]:
        """The imports of a file after files of the tree moved from one path to another."""
        yield from ()

    # uses

    def is_type(self, leaf: Branch) -> bool:
        """Whether a place names a type."""
        return leaf.field in self.type_fields or leaf.place in self.type_places

    def is_value_member(self, leaf: Branch) -> bool:
        """Whether a place names a member that is never a thing of a module."""
        return leaf.place in self.value_members

    def is_shorthand(self, leaf: Branch) -> bool:
        """Whether a place names a member and a variable at once."""
        return leaf.type in self.shorthands or leaf.place in self.shorthands

    def means_declared(self, uses: Uses, leaf: Branch, declared: Declared) -> list[Hashable]:
        """The meaning of the place of a declaration."""
        return [declared]

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        """The meaning of any other place; None where the tables tell it."""
        return None

    def names_argument(self, leaf: Branch) -> bool:
        """Whether a name at an "argument" place is the parameter's, not the value."""
        return True

    def shorthand_member(self, uses: Uses, leaf: Branch) -> Hashable:
        """The member that a shorthand names next to the variable."""
        key: Hashable = uses.member_of_literal(leaf, self.literal_members.get(leaf.place, "?."))
        return key

    def inherited(self, uses: Uses, owner: Owner) -> Hashable | None:
        """The meaning of a member that no class in the file declares."""
        return None

    def is_read_from_values(self, project: Project, declared: Declared) -> bool:
        """Whether what a module declares may be read from a value of unknown type."""
        return True

    def may_be_called(self, typing: Typing, declared: Declared) -> bool:
        """Whether a member's type allows that it is called."""
        if declared.node.type in self.constants:
            return False
        return declared.kind in FUNCTIONS or self.fields_are_called or not self.field_reads

    def called_on(self, typing: Typing, node: Branch) -> list[Branch | None]:
        """What `this` stands for, or None where it is unknown; nothing for the class around it."""
        return []

    # types

    def takes_element(self, looped: Declared) -> bool:
        """Whether a variable of a loop is what the loop takes out, and no key or part of it."""
        holder = looped.leaf.parent
        return (
            holder is None or holder.type not in self.targets or len(holder.named_children()) == 1
        )

    def kept_in(self, node: Branch, name: str, text: Text) -> Iterator[Branch]:
        """The values that a class's methods give an attribute which it does not declare."""
        yield from ()

    def narrowed(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """The class that a test says a variable has, whose own type says none."""
        return None

    def tested(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """The class that a test around a place says a variable has there, whatever its own is."""
        return None

    def taken_out(self, typing: Typing, node: Branch, deep: int) -> Known:
        """The class of what an expression of `takes_out` takes out of another: `x.unwrap()`."""
        return None

    def written(self, typing: Typing, node: Branch | None, deep: int) -> Branch | None:
        """The type that is written for what an expression stands for."""
        written: Branch | None = typing.type_written(node, deep)
        return written

    def argument(self, typing: Typing, typed: Branch | None, number: int) -> Branch | None:
        """What a container holds, by its type."""
        return None

    def member_out_of(
        self, typing: Typing, leaf: Branch, declared: Declared, known: Known, deep: int
    ) -> Known:
        """The class of a member, also where its generic class is given it. `known`: without."""
        return known

    def embedded(self, typing: Typing, owners: Sequence[Owner]) -> Known:
        """The outside types that give a member which no class of the tree has."""
        return None

    def type_parameters(self, home: Typing, member: Declared) -> list[str]:
        """The type parameters of a member's class, as the member calls them."""
        scope = home.scopes.by_node.get(id(member.owner.node)) if member.owner else None
        declared = (name for known in scope.declared.values() for name in known) if scope else ()
        types = [known for known in declared if known.kind == "type"]
        return [known.name for known in sorted(types, key=lambda known: known.leaf.start)]

    def receiver(self, leaf: Branch) -> Branch | None:
        """The node before the dot of a member access."""
        where, parent = self.members.get(leaf.place), leaf.parent
        if where is None or parent is None:
            return None
        return parent.named_before(leaf.start) if where == "<" else parent.part(where)

    def owner_of_literal(self, typing: Typing, literal: Branch) -> Known:
        """The class that a literal of no name is meant for."""
        return None

    def value_part(self, declared: Declared) -> Branch | None:
        """The value that a declaration gives its name."""
        node, holder = declared.node, declared.leaf.parent
        if holder is not node and holder is not None:
            if holder.type in self.targets and len(holder.named_children()) > 1:
                return None
            if holder.type not in self.targets | self.declarators:
                return None
        elif (before := self.unnamed_values.get(node.type)) is not None:
            name = declared.leaf if before == "leaf" else node
            return name.parent.named_after(name.end) if name.parent is not None else None
        return node.part("value") or node.part("right")

    def same_members(self, typing: Typing, name: str) -> Iterator[tuple[Declared, Declared]]:
        """Pairs of members of a name that are one thing because of how a file uses their types."""
        yield from ()

    def adds_elsewhere(self, typing: Typing, owner: Owner) -> bool:
        """Whether members may be those of a class of another project."""
        return False

    def is_alike(self, typing: Typing, owner: Owner, other: Owner) -> bool:
        """Whether a type that is written in place has the members of another, and no more."""
        return False

    # writing

    def rewrite(
        self, leaf: Branch, meaning: Meaning, split: bool, text: Text, old: str, new: str
    ) -> Rewrite | None:
        """What to write where it is more than the name. `split`: another meaning keeps it."""
        return None

    def from_receiver(
        self, root: Branch, data: bytes, new: str, line: int | None
    ) -> tuple[list[Rewrite], str]:
        """Every place of a word of `receivers` in the method on `line`, and a note."""
        return [], ""  # a language without such words is never asked

    def finish(
        self, rewrites: dict[int, Rewrite], chosen: list[Meaning], data: bytes, new: str
    ) -> str:
        """Changes what a new name makes of the places around it; gives a note, or ""."""
        return ""


def _head(declared: Declared, text: Text) -> list[str]:
    """The words in front of a declared name."""
    first = declared.node.through(declared.leaf)
    return text(first.until(declared.leaf.start)).split()
