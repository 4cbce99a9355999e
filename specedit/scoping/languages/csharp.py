"""C#: members are visible without a receiver, and every name is an `identifier`.

A type is seen where its namespace is, or is used, and is found by the text that declares it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from specedit.scoping.held import HeldRules
from specedit.scoping.languages.rules import Text, tables
from specedit.scoping.meaning import scopes_of
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Meaning, Owner, Rewrite
from specedit.scoping.scopes import PLAIN, Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import FOREIGN, MODULE, Uses
from specedit.syntax.branch import Branch, first_of

NAMESPACE = re.compile(r"\bnamespace\s+([\w.]+)")
USING = re.compile(r"^[^\S\n]*(global\s+)?using\s+(static\s+)?([\w.]+)\s*;", re.MULTILINE)
GLOBAL_USING = re.compile(r"<Using\s+Include=\"([\w.]+)\"(\s+Static=\"true\")?", re.IGNORECASE)
SUFFIX = "Attribute"
ENDS = (".cs", ".csx")
KINDS = r"\b(?:class|interface|enum|struct|record|delegate\s+[\w<>\[\],.? ]+?)\s+"


def _is_partial(project: Project, owner: Owner) -> bool:
    home, start = project.at(owner.home), owner.node.start
    head = home.scopes.data[start : start + 200].split(b"{")[0] if home is not None else b""
    return re.search(rb"\bpartial\b", head) is not None


def _files(project: Project, name: str, spaces: set[str] | None) -> Iterator[str]:
    """The files that declare a type of a name in one of these namespaces; "": in none."""
    for place in project.matching(rf"{KINDS}{re.escape(name)}\b", ENDS):
        own = NAMESPACE.findall(project.text(place) or "") or [""]
        if spaces is None or spaces & set(own):
            yield place


def _types(project: Project, name: str, spaces: set[str] | None) -> Iterator[Declared]:
    for place in _files(project, name, spaces):
        for declaration in project.declarations(place, name):
            if declaration.kind == "class" and declaration.scope_kind != "class":
                yield declaration


def _used_everywhere(project: Project) -> set[tuple[str, str]]:
    """What `global using` and a project's file name: "static" or "", and a namespace or a type."""

    def read() -> set[tuple[str, str]]:
        files = project.matching(r"global\s+using", (".cs",))
        usings = (using for path in files for using in USING.findall(project.text(path) or ""))
        named = project.matching(GLOBAL_USING.pattern, (".csproj", ".props", ".targets"))
        more = (used for path in named for used in GLOBAL_USING.findall(project.text(path) or ""))
        every = {(static.strip(), used) for world, static, used in usings if world}
        return every | {("static" if static else "", used) for used, static in more}

    return project.remembered("used everywhere", read)


def _around(project: Project, here: Typing) -> list[str]:
    """The namespaces that a file is in, the innermost first; "" is around them all."""

    def read() -> list[str]:
        own = NAMESPACE.findall(project.text(project.path(here.scopes)) or "")
        return [*sorted(_with_outer(own), key=len, reverse=True), ""]

    return project.remembered(("namespaces around", id(here)), read)


def _spaces(project: Project) -> set[str]:
    """Every namespace of the tree, and what they are in."""

    def read() -> set[str]:
        paths = project.matching(NAMESPACE.pattern, ENDS)
        return _with_outer(
            space for path in paths for space in NAMESPACE.findall(project.text(path) or "")
        )

    return project.remembered("namespaces", read)


def _with_outer(spaces: Iterable[str]) -> set[str]:
    """Namespaces, and those around them: `A` of `A.B`."""
    parts = [space.split(".") for space in spaces]
    return {".".join(part[: n + 1]) for part in parts for n in range(len(part))}


def _left_out(typing: Typing, declared: Declared) -> str | None:
    """The `#if` that a type is declared under alone, where code outside of any uses it."""
    home = typing.home(declared) or typing
    around = declared.node.around("preproc_if")
    condition = first_of(around) if around is not None else None
    name, project = declared.name, typing.project
    if condition is None:
        return None
    words = rf"\b(?:class|struct|interface|enum|record)\s+{re.escape(name)}\b"
    holding = project.matching(words, (".cs",))
    if sum(len(re.findall(words, project.text(path) or "")) for path in holding) > 1:
        return None
    for path in project.matching(rf"\b{re.escape(name)}\b", (".cs",)):
        there = project.typing(path)
        for leaf, label in there.scopes.leaves if there is not None else ():
            if label == name and leaf.around("preproc_if") is None:
                return f"builds without `#if {home.scopes.text(condition)}`"
    return None


class CSharp(HeldRules):
    def carrier(self, leaf: Branch) -> Branch:
        """`Make<int>`, which stands where `Make` could."""
        return leaf.parent if leaf.place == "generic_name." and leaf.parent else leaf

    def label(self, leaf: Branch, text: Text) -> str:
        return text(leaf.children[0] if leaf.type == "generic_name" else leaf)

    def names_in(self, node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
        """`[Obsolete]` names the class `ObsoleteAttribute`."""
        name = node.part("name") if node.type == "attribute" else None
        name = name.part("name") or name if name is not None else None
        if name is not None and name.type == "identifier" and not text(name).endswith(SUFFIX):
            yield replace(name), text(name) + SUFFIX

    def other_spelling(self, name: str) -> str:
        return name.removesuffix(SUFFIX)

    def rewrite(
        self, leaf: Branch, meaning: Meaning, split: bool, text: Text, old: str, new: str
    ) -> Rewrite | None:
        short = text(leaf) + SUFFIX == old and leaf.around("attribute") is not None
        written = new.removesuffix(SUFFIX)
        return Rewrite(leaf.start, leaf.end, text(leaf), written) if short else None

    def is_type(self, leaf: Branch) -> bool:
        """Not the method in `Make<int>(1)`, or in `a.Make<int>(1)`."""
        whole = self.carrier(leaf)
        around = whole.parent if whole.place in self.members else whole
        is_called = around is not None and around.place == "invocation_expression.function"
        return super().is_type(leaf) and not (is_called and whole is not leaf)

    def module_of(self, scopes: Scopes, imported: Declared) -> str:
        named = imported.node.named_children()
        return scopes.text(named[-1]) if len(named) > 1 else ""

    def required_by(self, typing: Typing, declared: Declared) -> tuple[str, bool] | None:
        """Also an explicit implementation's interface, and builds without this type."""
        named = declared.node.first("explicit_interface_specifier")
        if named is None or any(up.module is None for up in typing.named_type(named) or ()):
            apart = _left_out(typing, declared) if declared.kind == "class" else None
            return (apart, False) if apart else super().required_by(typing, declared)
        return typing.scopes.text(named).rstrip(". "), True

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        parent, around = leaf.parent, leaf.at("^ ^")
        if parent is None or around is None:
            return None
        if leaf.place == "tuple_element.name":
            return [(FOREIGN, PLAIN)]  # as `pair.total` is
        if leaf.place == "attribute.name" and uses.typing.lookup(uses.name + SUFFIX, leaf, "type"):
            return [(MODULE, "")]  # that class is meant
        if leaf.place in self.members and uses.typing.is_called(leaf):
            return _extension(uses, leaf)
        if leaf.place == "member_access_expression.expression":
            return _type_of_same_name(uses, leaf)
        if around.type == "initializer_expression" and leaf.place == "assignment_expression.left":
            return [uses.member_of_literal(leaf, "object_creation_expression.type")]
        if parent.type == "with_initializer" and parent.children[0] is leaf:
            return [uses.member(uses.typing.type_of(around.named_children()[0]))]
        return None

    def receiver(self, leaf: Branch) -> Branch | None:
        leaf = self.carrier(leaf)
        if leaf.place != "member_binding_expression.name":
            return super().receiver(leaf)
        holder = leaf.around("conditional_access_expression")
        return holder.part("condition") if holder is not None else None

    # namespaces and their `using` directives

    def shared(self, project: Project, here: Typing, name: str) -> Iterator[Declared]:
        """A type of a namespace that is visible here, and what `using static` shows."""
        text = project.text(project.path(here.scopes)) or ""
        own = {(static.strip(), used) for _, static, used in USING.findall(text)}
        used = {used for static, used in own if not static}
        used |= {f"{space}.{name}" for space in _around(project, here) for name in used}
        spaces = [{space} for space in _around(project, here)]  # what is nearer comes first
        everywhere = _used_everywhere(project)
        for near in (*spaces, used | {used for static, used in everywhere if not static}):
            shown = _types(project, name, near)
            yield from (declared for declared in shown if declared.home is not here.scopes)
        for shown_type in sorted(used for static, used in own | everywhere if static):
            space, _, holder = shown_type.rpartition(".")
            for owner in _types(project, holder, {space} if space else None):
                yield from project.members_of(owner, name)

    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        """The type of `using Name = Space.Type;`."""
        space, _, name = here.rules.module_of(here.scopes, imported).rpartition(".")
        return list(_types(project, name, {space})) or None

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        """A type of a namespace, by a qualified name."""
        if owner.folder or "namespace" in owner.node.type:
            yield from _types(project, name, {owner.folder or owner.name})

    def word(self, project: Project, here: Typing, node: Branch) -> Owner | None:
        """The namespace that `Shop.Models` stands for, or `Models` in `Shop`."""
        if node.type not in ("identifier", "qualified_name", "member_access_expression"):
            return None
        text = here.scopes.text(node) if node.end - node.start <= 200 else ""
        space = self.namespace(project, here, text)
        if space is None:
            return None
        first = next(inner for inner in node.walk() if not inner.children)
        nearest = here.lookup(text.split(".")[0], first)
        return space if nearest is None or nearest.kind == "namespace" else None

    def namespace(self, project: Project, here: Typing, name: str) -> Owner | None:
        spaces = _spaces(project)
        tries = (f"{space}.{name}".lstrip(".") for space in _around(project, here))
        whole = next((name for name in tries if name in spaces), None) if name else None
        return project.package(whole, here.scopes, here.scopes.root).owner if whole else None

    def parts(self, project: Project, owner: Owner) -> Iterator[Owner]:
        if _is_partial(project, owner):
            own = set(NAMESPACE.findall(project.text(project.path(owner.home)) or ""))
            others = project.owners(_files(project, owner.name, own or None), owner.name)
            yield from (other for other in others if _is_partial(project, other))


def _extension(uses: Uses, leaf: Branch) -> list[Hashable] | None:
    """The extension method that a call means: no class that is known here has the method."""
    methods: list[Declared] = []
    others = False
    for declaration in uses.declared:
        if _is_extension(declaration):
            methods.append(declaration)
        else:
            others = others or declaration.kind == "method"
    if not methods:
        return None
    known = uses.typing.type_of(uses.rules.receiver(leaf))
    if (known is None and others) or uses.typing.members(known or (), uses.name, True):
        return None
    return [methods[0]] if len({id(method.owner) for method in methods}) == 1 else None


def _is_extension(declared: Declared) -> bool:
    listed = declared.node.part("parameters") if declared.kind == "method" else None
    first = next(iter(listed.named_children()), None) if listed is not None else None
    return first is not None and scopes_of(declared).text(first).startswith("this ")


def _type_of_same_name(uses: Uses, leaf: Branch) -> list[Hashable] | None:
    """`Color` in `Color.Parse(…)`, a static method, where a property `Color` is seen, too."""
    property_ = uses.bare(leaf, "value")
    if not isinstance(property_, Declared) or property_.owner is None:
        return None
    owners = uses.typing.type_of_declared(property_) or ()
    member = leaf.parent.part("name") if leaf.parent is not None else None
    if member is None or not any(owner.name == uses.name for owner in owners):
        return None
    named = uses.typing.members(owners, uses.scopes.label(member))
    static = [declared for declared in named if _is_static(declared)]
    return [uses.bare(leaf, "type")] if static else None


def _is_static(declared: Declared) -> bool:
    if declared.kind == "class" or declared.node.type == "enum_member_declaration":
        return True
    inside = (up for up in declared.leaf.up() if up.parent and up.parent.type == "declaration_list")
    head = next(inside, declared.node).until(declared.leaf.start)
    words = scopes_of(declared).text(head).split()
    return not {"static", "const"}.isdisjoint(words)


TABLES = """
requires:
  ICloneable: Clone
  ICollection: Count IsReadOnly IsSynchronized SyncRoot Add Clear Contains CopyTo Remove
  IComparable: CompareTo
  IComparer: Compare
  IDisposable: Dispose
  IEnumerable: GetEnumerator
  IEnumerator: Current MoveNext Reset Dispose
  IEqualityComparer: Equals GetHashCode
  IEquatable: Equals
overriding: override
implementing: public
names: identifier implicit_parameter
scopes:
  method_declaration constructor_declaration destructor_declaration: function
  local_function_statement lambda_expression anonymous_method_expression: function
  operator_declaration conversion_operator_declaration indexer_declaration: function
  property_declaration accessor_declaration delegate_declaration: function
  class_declaration struct_declaration interface_declaration record_declaration: class
  enum_declaration: class
  namespace_declaration: namespace
  block for_statement foreach_statement using_statement catch_clause switch_section: block
  switch_expression_arm query_expression fixed_statement: block
declares:
  class_declaration.name struct_declaration.name interface_declaration.name: class outer
  record_declaration.name enum_declaration.name delegate_declaration.name: class outer
  namespace_declaration.name file_scoped_namespace_declaration.name: namespace outer
  method_declaration.name: method class
  property_declaration.name event_declaration.name enum_member_declaration.name: field class
  local_function_statement.name: function outer
  variable_declarator.name foreach_statement.left catch_declaration.name: local here
  declaration_pattern.name recursive_pattern.name var_pattern.name: local here
  declaration_expression.name list_pattern.name parenthesized_variable_designation.name: local here
  tuple_pattern.name from_clause.name let_clause.name join_clause.name join_into_clause.: local here
  parameter.name parameter_list.name lambda_expression.parameters: parameter here
  type_parameter.name: type here
  using_directive.name: import here
patterns: tuple_pattern. parenthesized_variable_designation.
members:
  member_access_expression.name: expression
  member_binding_expression.name generic_name.: ?
  qualified_name.name: qualifier
  alias_qualified_name.name: alias
keys:
  argument.name: argument
  attribute_argument.name: attribute
  subpattern.: pattern
literal_members: subpattern.: recursive_pattern.type
calls:
  invocation_expression: function
  object_creation_expression: type
type_places: base_list. type_argument_list. generic_name. as_expression.right is_expression.right
  attribute.name constant_pattern. type_parameter_constraints_clause.
  explicit_interface_specifier.name qualified_name.qualifier
type_fields: type returns
constants: enum_member_declaration
records: record_declaration
own_names: constructor_declaration.name destructor_declaration.name
labels: goto_statement. labeled_statement.
bases: base_list
strings: string_literal verbatim_string_literal raw_string_literal
super_words: base
passes_on: parenthesized_expression unary_expression await_expression postfix_unary_expression
takes_out: invocation_expression member_access_expression await_expression
awaits: await_expression
awaited: Task ValueTask ConfiguredTaskAwaitable
held:
  First FirstOrDefault Single SingleOrDefault Last LastOrDefault ElementAt ElementAtOrDefault: last
  Pop Peek Dequeue Value Result Find FindLast GetValueOrDefault: last
  Key: first
  Where OrderBy OrderByDescending ThenBy ThenByDescending Skip Take Distinct Reverse ToList: same
  ToArray ToHashSet AsEnumerable AsReadOnly Values ConfigureAwait Concat Union Except: same
  Intersect Append Prepend SkipWhile TakeWhile DefaultIfEmpty FindAll GetRange: same
callbacks: Where Select SelectMany Any All First FirstOrDefault Single SingleOrDefault Last Count
  LastOrDefault ForEach Find FindAll FindLast FindIndex Exists RemoveAll OrderBy ToDictionary
  OrderByDescending ThenBy ThenByDescending GroupBy Sum Min Max Average SkipWhile TakeWhile ToLookup
  TrueForAll Sort ConvertAll
keyed: Dictionary IDictionary IReadOnlyDictionary SortedDictionary SortedList ConcurrentDictionary
  ReadOnlyDictionary ILookup ImmutableDictionary
casts: cast_expression as_expression
unnamed_values: variable_declarator: leaf
holders: generic_name
builds: object_creation_expression implicit_object_creation_expression
loops: foreach_statement
indexes: element_access_expression
returns: return_statement
carries_up: variable_declarator variable_declaration
assigned: assignment_expression.right
around_types: nullable_type
lists: array_type tuple_type
arguments: type_argument_list
paths: qualified_name scoped_type
untyped: implicit_type
inferred: var dynamic
plain: string_literal interpolated_string_expression verbatim_string_literal raw_string_literal
  predefined_type array_creation_expression implicit_array_creation_expression integer_literal
  character_literal typeof_expression
builtins: Console Convert DateTime Environment Guid Math Microsoft System TimeSpan
keywords: abstract as base bool break byte case catch char checked class const continue decimal
  default delegate do double else enum event explicit extern false finally fixed float for foreach
  goto if implicit in int interface internal is lock long namespace new null object operator out
  override params private protected public readonly ref return sbyte sealed short sizeof stackalloc
  static string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using
  virtual void volatile while
of_many: Add Aggregate All Any Append Average Cast Clear Concat Contains Count Distinct ElementAt
  Except First FirstOrDefault GroupBy Insert Intersect Join Keys Last LastOrDefault Length Max Min
  OfType OrderBy OrderByDescending Remove Reverse Select SelectMany Single SingleOrDefault Skip
  Split Sum Take ToArray ToDictionary ToHashSet ToList ToLookup Trim Union Value Values Where Zip
flags: bare_members parts_alone shows_all in_order
"""
RULES = CSharp(**tables(TABLES))
