"""Java: types, variables and methods are named apart; fields hide, methods override."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from specedit.scoping.held import HeldRules
from specedit.scoping.languages.rules import Text, places, table, tables
from specedit.scoping.meaning import scopes_of
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Owner
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, MODULE, UNKNOWN, Uses
from specedit.syntax.branch import Branch


class Java(HeldRules):
    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        return node.type != "type_pattern" or node.first(leaf.type) is leaf

    def overrides(self, declared: Declared, other: Declared, text: Text) -> bool:
        """A private or a static method neither overrides nor is overridden."""
        for each in (declared, other):
            modifiers = each.node.first("modifiers")
            if modifiers is not None and {child.type for child in modifiers.children} & APART:
                return False
        return True

    def may_be_called(self, typing: Typing, declared: Declared) -> bool:
        """A record's component is read by a call; Lombok makes methods of fields."""
        made = declared.node.type == "formal_parameter" or LOMBOK in scopes_of(declared).data
        return super().may_be_called(typing, declared) or (declared.kind == "field" and made)

    def accessors(self, declared: Declared) -> tuple[list[str], tuple[str, ...]]:
        """`x.total` in Kotlin for `getTotal()`; what Lombok makes of a field."""
        if declared.kind == "method":
            match = re.fullmatch("(?:get|set|is)([A-Z])(.*)", declared.name)
            return [match[1].lower() + match[2]] if match else [], (".kt", ".kts")
        made = declared.kind == "field" and LOMBOK in scopes_of(declared).data
        return accessors_of(declared.name) if made else [], (".java", ".kt", ".kts")

    def bases_of(self, node: Branch, text: Text) -> list[str]:
        """The body of an enum's constant extends the enum, that of `new A() {…}` extends A."""
        made = node.parent if node.type == "class_body" else None
        if made is not None and (typed := made.part("type")) is not None:
            names = [inner for inner in typed.walk(ARGUMENTS) if inner.type in self.names]
            return [text(name) for name in names[-1:]]
        if made is None or made.type != "enum_constant":
            return []
        enum = node.around("enum_declaration")
        named = enum.part("name") if enum is not None else None
        return [text(named)] if named is not None else []

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        if leaf.place == "switch_label.":
            return [_switched(uses, leaf)]
        path = _whole_name(uses.typing, leaf.parent) if leaf.place in QUALIFIED else ""
        whole = _type(uses.typing.project, path)
        if whole is not None and whole.name == uses.name:
            return [whole]
        if whole is None and _names_class(path):
            return [(EXTERNAL, "")]
        in_package = leaf.place in QUALIFIED and _is_package(uses.typing, leaf)
        return [(MODULE, "")] if in_package else None

    def word(self, project: Project, here: Typing, node: Branch) -> Owner | None:
        """The class that a whole name stands for, `com.acme.Order.empty()`, or `Order.this`."""
        field = node.part("field") if node.type == "field_access" else None
        if field is not None and field.type == "this":
            return next(iter(here.type_of(node.part("object")) or ()), None)
        path = _whole_name(here, node) if f"{node.type}." in QUALIFIED_TYPES else ""
        declared = _type(project, path)
        if declared is None and _names_class(path):
            return here.scopes.outside(node, "", path.rpartition(".")[0])
        home = project.at(declared.home) if declared is not None else None
        owners = home.class_of(declared) if home is not None and declared is not None else ()
        return owners[0] if owners else None

    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        path = here.rules.module_of(here.scopes, imported)
        if (result := _type(project, path)) is not None:
            return [result]
        outer, _, name = path.rpartition(".")
        return list(_members(project, outer, name)) or None

    def shared(self, project: Project, here: Typing, name: str) -> Iterator[Declared]:
        """A type of the same package, and what `import a.b.*` shows."""
        text = project.text(project.path(here.scopes)) or ""
        own = PACKAGE.search(text)
        result = _type(project, f"{own[1]}.{name}" if own else name)
        if result is not None and result.home is not here.scopes:
            yield result
            return
        for static, path in STARS.findall(text):
            if static:
                yield from _members(project, path, name)
            elif (result := _type(project, f"{path}.{name}")) is not None:
                yield result


LOMBOK = b"import lombok."


def accessors_of(name: str) -> list[str]:
    return [word + name[:1].upper() + name[1:] for word in ("get", "set", "is", "with")]


QUALIFIED = places("field_access.field scoped_identifier.name scoped_type_identifier.")
QUALIFIED_TYPES = places("field_access. scoped_identifier. scoped_type_identifier.")
ARGUMENTS = places("type_arguments")
APART = places("private static")  # what says that a method is its own class's alone
# all that interfaces of the library name: a class that implements one must have these, no more
_COLLECTION = (
    "iterator forEach spliterator size isEmpty contains toArray add remove containsAll addAll "
    "removeAll removeIf retainAll clear stream parallelStream equals hashCode "
)
_ENDS = "addFirst addLast getFirst getLast removeFirst removeLast reversed "
_MAP = (
    "size isEmpty containsKey containsValue get put remove putAll clear keySet values entrySet "
    "getOrDefault forEach replaceAll putIfAbsent replace computeIfAbsent computeIfPresent compute "
    "merge equals hashCode "
)
INTERFACES = {
    **table(
        """
        Cloneable Serializable: -
        AutoCloseable Closeable: close
        CharSequence: length charAt subSequence toString isEmpty chars codePoints
        Callable: call
        Comparable: compareTo
        Comparator: compare reversed thenComparing equals
        Consumer: accept andThen
        Enumeration: hasMoreElements nextElement asIterator
        Function: apply compose andThen
        Iterable: iterator forEach spliterator
        Iterator: hasNext next remove forEachRemaining
        ListIterator: hasNext next remove hasPrevious previous nextIndex previousIndex set add
        Predicate: test and negate or
        Runnable: run
        Supplier: get
        """
    ),
    "Collection": _COLLECTION,
    "Set": _COLLECTION,
    "List": _COLLECTION
    + _ENDS
    + "replaceAll sort get set indexOf lastIndexOf listIterator subList",
    "SortedSet": _COLLECTION + _ENDS + "comparator subSet headSet tailSet first last",
    "Map": _MAP,
    "SortedMap": _MAP
    + "comparator subMap headMap tailMap firstKey lastKey firstEntry lastEntry pollFirstEntry "
    "pollLastEntry putFirst putLast reversed",
}
TABLES = """
overriding: @Override
implementing: public
bounds: type_bound
names: identifier type_identifier
scopes:
  method_declaration constructor_declaration lambda_expression: function
  compact_constructor_declaration static_initializer: function
  class_declaration interface_declaration enum_declaration record_declaration: class
  annotation_type_declaration class_body<object_creation_expression class_body<enum_constant: class
  block constructor_body for_statement enhanced_for_statement catch_clause: block
  try_with_resources_statement switch_block_statement_group switch_rule: block
declares:
  class_declaration.name interface_declaration.name enum_declaration.name: class outer
  record_declaration.name annotation_type_declaration.name: class outer
  method_declaration.name annotation_type_element_declaration.name: method class
  variable_declarator.name enhanced_for_statement.name resource.name: local here
  instanceof_expression.name type_pattern. record_pattern_component.: local here
  enum_constant.name: field class
  formal_parameter.name catch_formal_parameter.name inferred_parameters.: parameter here
  lambda_expression.parameters: parameter here
  type_parameter.: type here
  import_declaration.: import here
patterns: scoped_identifier.name
outside: try_with_resources_statement.
members:
  field_access.field method_invocation.name: object
  method_reference. scoped_type_identifier.: <
  scoped_identifier.name: scope
module_paths: scoped_identifier identifier
keys: element_value_pair.key: attribute
calls:
  method_invocation: name
  object_creation_expression: type
type_names: type_identifier
type_places: marker_annotation.name annotation.name
records: record_declaration
own_names: constructor_declaration.name compact_constructor_declaration.name
labels: labeled_statement. break_statement. continue_statement.
bases: superclass super_interfaces extends_interfaces
listed: arguments
value_members: method_invocation.name
field_reads: field_access.field
strings: string_literal
constants: enum_constant
passes_on: parenthesized_expression unary_expression
takes_out: method_invocation
held:
  get getOrDefault getFirst getLast remove poll peek element pop next previous getValue orElse: last
  orElseGet orElseThrow join pollFirst pollLast peekFirst peekLast removeFirst removeLast take: last
  put putIfAbsent computeIfAbsent merge first last firstElement lastElement elementAt higher: last
  lower floor ceiling getAndSet call: last
  getKey firstKey lastKey: first
  iterator listIterator stream parallelStream filter sorted distinct limit skip findFirst: same
  findAny min max values subList headSet tailSet headMap tailMap descendingIterator takeWhile: same
  dropWhile reversed or parallel sequential: same
callbacks: forEach filter map flatMap anyMatch allMatch noneMatch removeIf ifPresent replaceAll
  ifPresentOrElse mapToInt mapToLong mapToDouble mapToObj sorted peek takeWhile dropWhile min max
  sort thenAccept thenApply thenCompose forEachOrdered forEachRemaining
casts: cast_expression
builds: object_creation_expression
loops: enhanced_for_statement
indexes: array_access
returns: return_statement
carries_up: variable_declarator spread_parameter
assigned: assignment_expression.right
lists: array_type
arguments: type_arguments
paths: scoped_identifier scoped_type_identifier
inferred: var
plain: string_literal character_literal class_literal array_creation_expression
builtins: Boolean Character Double Float Integer Long Math Object Runtime String StringBuilder
  System Thread java javax
keywords: _ abstract assert boolean break byte case catch char class const continue default do
  double else enum extends false final finally float for goto if implements import instanceof int
  interface long native new null package private protected public return short static strictfp super
  switch synchronized this throw throws transient true try void volatile while
flags: named_files bare_members shows_all methods_apart members_apart fields_hide in_order
"""
RULES = Java(requires=INTERFACES, **tables(TABLES))


PACKAGE = re.compile(r"^[^\S\n]*package\s+([\w.]+)\s*;", re.MULTILINE)
STARS = re.compile(r"^[^\S\n]*import\s+(static\s+)?([\w.]+)\.\*\s*;", re.MULTILINE)


def _switched(uses: Uses, leaf: Branch) -> Hashable:
    """The constant that a label names: of the enum that is switched on, or of any class."""
    switch = leaf.around("switch_expression", "switch_statement")
    known = uses.typing.type_of(switch.part("condition")) if switch is not None else None
    constants = uses.typing.members(known or (), uses.name)
    bare = uses.bare(leaf, "value")
    if not constants and known is None:
        constants = [each for each in uses.declared if each.node.type in uses.rules.constants]
        constants += [bare] if isinstance(bare, Declared) and bare not in constants else []
    if len({id(each.owner) for each in constants}) == 1:
        return constants[0]
    if constants or known is None:
        return (UNKNOWN, "")
    return bare if isinstance(bare, Declared) else uses.member(known)


def _whole_name(typing: Typing, node: Branch | None) -> str:
    """A text that may be a package and a name, where no variable begins it; else ""."""
    if node is None or node.end - node.start > 200:
        return ""
    path = typing.scopes.text(node)
    if not path[:1].islower() or not all(map(str.isidentifier, path.split("."))):
        return ""
    first = next(inner for inner in node.walk() if not inner.children)
    return path if typing.lookup(path.split(".")[0], first) is None else ""


def _names_class(path: str) -> bool:
    """Whether a whole name is that of a class, by how packages and classes are spelled."""
    package, _, name = path.rpartition(".")
    return name[:1].isupper() and "." in package and package.islower()


def _is_package(typing: Typing, leaf: Branch) -> bool:
    """Whether a name is a part of a package's."""
    for up in leaf.up():
        if up.type in ("package_declaration", "import_declaration"):
            return True
        if f"{up.type}." not in QUALIFIED_TYPES:
            return False
        if _names_class(_whole_name(typing, up)):
            return True
    return False


def _members(project: Project, outer: str, name: str) -> Iterator[Declared]:
    """The declaration of a name in a type: a nested type, a static member."""
    holder = _type(project, outer)
    yield from project.members_of(holder, name) if holder is not None else ()


def _type(project: Project, path: str, deep: int = 0) -> Declared | None:
    """The declaration of `a.b.Name`, or of `a.b.Outer.Name`."""
    package, _, name = path.rpartition(".")
    if not name.isidentifier() or deep > 3:
        return None
    pattern = rf"\b(?:class|interface|enum|record)\s+{name}\b"
    for place in project.matching(pattern, (".java",)):
        match = PACKAGE.search(project.text(place) or "")
        if (match[1] if match else "") == package:
            for declared in project.top_level(place, name):
                if declared.kind == "class":
                    return declared
    outer = package.rpartition(".")[2][:1].isupper()
    holder = _type(project, package, deep + 1) if outer else None
    found = project.declarations(project.path(holder.home), name) if holder is not None else ()
    return next((declared for declared in found if declared.kind == "class"), None)
