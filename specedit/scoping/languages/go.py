"""Go: methods belong to their receiver's type, and every block is a scope."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

from specedit.scoping import uses as kinds
from specedit.scoping.held import HeldRules
from specedit.scoping.languages.rules import Text, places, table, tables
from specedit.scoping.project import Project, folders_up
from specedit.scoping.scope import Declared, Known, Meaning, Owner, Rewrite
from specedit.scoping.typing import Typing
from specedit.scoping.uses import UNKNOWN, Uses
from specedit.syntax.branch import Branch


class Go(HeldRules):
    def names_in(self, node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
        """An import without a name is its package's; a template names members: `{{.Total}}`."""
        holder = node.parent
        if node.type in _CONTENT and "{{" in (content := text(node)):
            for match in _OF_TEMPLATE.finditer(content):
                if content.rfind("{{", 0, match.start()) > content.rfind("}}", 0, match.start()):
                    yield node.within(content, *match.span(1), "field_identifier"), match[1]
        if node.place == "import_spec.path" and holder is not None and not holder.part("name"):
            yield node, text(node).strip('"`')

    def is_module(self, project: Project, path: str, name: str) -> bool:
        return _package(project, path) == name

    def is_hidden(self, project: Project, home: str, path: str, name: str) -> bool:
        """A name that begins with a lower-case letter is its package's own."""
        folder, package = posixpath.dirname(home), _package(project, home)
        apart = posixpath.dirname(path) != folder or _package(project, path) != package
        return apart and not name[:1].isupper()

    def module_names(self, project: Project, path: str, text: str) -> Mapping[str, str]:
        used = set(QUALIFIER.findall(text))
        results = {}
        for imported in IMPORTED.findall(text):
            folder = _folder(project, imported, path)
            results[imported] = (
                _package_of(project, folder)
                if folder is not None
                else _guessed_name(imported, used)
            )
        return results

    def bases_of(self, node: Branch, text: Text) -> list[str]:
        """Embedded fields and types."""
        if node.type not in ("type_spec", "struct_type", "interface_type"):
            return []
        results = []
        for child in node.walk():
            field = child.type == "field_declaration" and child.part("name") is None
            among = child.walk() if field else child.children if child.type == "type_elem" else ()
            results += [text(leaf) for leaf in among if leaf.type == "type_identifier"]
        return results

    def receiver_name(self, function: Branch, text: Text) -> str:
        receiver = function.part("receiver")
        leaves = receiver.walk() if receiver is not None else iter(())
        return next((text(leaf) for leaf in leaves if leaf.type == "type_identifier"), "")

    def required_by(self, typing: Typing, declared: Declared) -> tuple[str, bool] | None:
        if (
            declared.node.type not in ("method_declaration", "method_elem")
            or declared.owner is None
        ):
            return None
        own = (declared.owner, *typing.project.parts(declared.owner))
        for interface, methods in _INTERFACES.items():
            every = all(any(each in it.members for it in own) for each in methods.split())
            if every and declared.name in methods.split() and declared.node.type != "method_elem":
                return interface, True
        return (
            ("an interface of the standard library", False) if declared.name in _STANDARD else None
        )

    def shared(self, project: Project, here: Typing, name: str) -> Iterator[Declared]:
        path = project.path(here.scopes)
        package = _package(project, path)
        for declared in _in_package(project, posixpath.dirname(path), package, name):
            if declared.home is not here.scopes:
                yield declared
        for imported in DOTTED.findall(project.text(path) or ""):
            folder = _folder(project, imported, path)
            if folder is not None:
                yield from _in_package(project, folder, _package_of(project, folder), name)

    def declared_elsewhere(self, project: Project, owner: Owner, name: str) -> Iterator[Declared]:
        if owner.node.parent is None and owner.module is None:
            package = _package_of(project, owner.folder)
            yield from _in_package(project, owner.folder, package, name)

    def overrides(self, declared: Declared, other: Declared, text: Text) -> bool:
        """A method of as many parameters as an interface's may implement it."""
        return _number_of_parameters(declared) == _number_of_parameters(other)

    def may_be_called(self, typing: Typing, declared: Declared) -> bool:
        """A field of a type that is not a function is never called."""
        typed = declared.node.part("type") if declared.node.type == "field_declaration" else None
        if typed is None or typed.type not in ("type_identifier", *_UNCALLED):
            return True
        if typed.type in _UNCALLED or typing.scopes.text(typed) in _BASIC:
            return False
        named = typing.lookup(typing.scopes.text(typed), typed, "type")
        if named is not None and named.kind == "type":
            return False  # a type parameter
        known = named.node.part("type") if named is not None else None
        return known is None or known.type not in ("struct_type", "interface_type", *_UNCALLED)

    def imports_module(self, imported: Declared) -> bool:
        return True

    def takes_element(self, looped: Declared) -> bool:
        """The second of `for key, value := range orders`."""
        holder = looped.leaf.parent
        names = holder.named_children() if holder is not None else []
        return len(names) > 1 and names[1] is looped.leaf

    def type_parameters(self, home: Typing, member: Declared) -> list[str]:
        """A method names its type's parameters anew in its receiver."""
        receiver = member.node.part("receiver")
        listed = receiver.walk() if receiver is not None else iter(())
        given = next((node for node in listed if node.type in self.arguments), None)
        if given is None:
            return super().type_parameters(home, member)
        return [home.scopes.text(child) for child in given.named_children()]

    def embedded(self, typing: Typing, owners: Sequence[Owner]) -> Known:
        """Methods of an embedded type of another project give nothing of this one."""
        every = [up for owner in owners for up in (owner, *typing.above(owner))]
        for node in (node for up in every if up.module is None for node in up.node.walk()):
            field = node.around("field_declaration", "type_elem")
            if node.type == "qualified_type" and field and field.part("name") is None:
                known = typing.named_type(node)
                if known and node.parent is not None and node.parent.type != "generic_type":
                    return known if all(owner.module for owner in known) else None
        return None

    def narrowed(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """The type of a `case` that has one: `switch x := y.(type)`."""
        declared = typing.lookup(typing.scopes.label(leaf), leaf)
        if declared is None or declared.node.type != "type_switch_statement":
            return None
        cases = [up for up in leaf.up() if up.parent is declared.node and up.type == "type_case"]
        types = [child for case in cases for child in case.children if child.field == "type"]
        return typing.named_type(types[0], deep + 1) if len(types) == 1 else None

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        element = leaf.parent
        if leaf.place == "package_clause.":
            return [(kinds.MODULE, "")]
        if element is not None and element.type in _CONTENT:
            return [(UNKNOWN, "")]
        if leaf.place == "literal_element." and element is not None:
            key = _key(uses, element) if element.field == "key" else None
            return [key if key is not None else uses.bare(leaf, "value")]
        return None

    def inherited(self, uses: Uses, owner: Owner) -> Hashable | None:
        """An embedded type's name is a member, too."""
        embedded = uses.typing.lookup(uses.name, owner.node, "type")
        return embedded if uses.name in owner.bases else None

    def value_part(self, declared: Declared) -> Branch | None:
        if declared.node.type == "type_switch_statement":
            return None  # every case gives it another type
        return super().value_part(declared)

    def rewrite(
        self, leaf: Branch, meaning: Meaning, split: bool, text: Text, old: str, new: str
    ) -> Rewrite | None:
        """An import's own name becomes an alias; one that says nothing goes."""
        if leaf.place == "import_spec.path":
            path = text(leaf)
            written = path if _last(path) == new else f"{new} {path}"
            return Rewrite(leaf.start, leaf.end, path, written)
        imported = leaf.at("^ path") if leaf.place == "import_spec.name" else None
        if imported is not None and _last(text(imported)) == new:
            between = text(Branch("", "", False, leaf.start, imported.start, 0))
            return Rewrite(leaf.start, imported.start, between, "")
        return None

    def imports(self, project: Project, here: Typing, imported: Declared) -> list[Declared] | None:
        path = here.rules.module_of(here.scopes, imported)
        folder = _folder(project, path, project.path(here.scopes))
        if folder is None:
            return None
        return [project.package(folder, here.scopes, here.scopes.root)]

    def parts(self, project: Project, owner: Owner) -> Iterator[Owner]:
        """A type, and its methods in other files of the package."""
        home = project.path(owner.home)
        folder, package = posixpath.dirname(home), _package(project, home)
        others = _package_files(project, folder, package)
        same = project.owners((path for path in others if path != home), owner.name)
        yield from (other for other in same if other.early or owner.early)


def _number_of_parameters(method: Declared) -> int:
    listed = method.node.part("parameters")
    each = listed.named_children() if listed is not None else []
    names = [sum(child.field == "name" for child in one.children) for one in each]  # `a, b int`
    return sum(max(1, n) for n, one in zip(names, each, strict=True) if one.type != "comment")


def _key(uses: Uses, element: Branch) -> Hashable | None:
    """A literal's key: a field, unless the literal is not a struct."""
    depth = 0
    for up in element.up():
        if up.type == "literal_value":
            depth += 1
        if up.type == "composite_literal":
            typed = up.part("type")
            if typed is not None and typed.type in ("map_type", "slice_type", "array_type"):
                if depth == 1:
                    return None
                typed = typed.part("value") or typed.part("element")
            elif depth > 1:
                return (UNKNOWN, "")
            if typed is not None and typed.type == "pointer_type":
                typed = typed.named_children()[0]
            known = uses.typing.named_type(typed)
            if not uses.typing.members(known or (), uses.name):  # `type Keys map[Key]string`
                value = uses.typing.lookup(uses.name, element)
                return value if value is not None else uses.member(known)
            return uses.member(known)
    return None


_UNCALLED = places("pointer_type slice_type map_type array_type channel_type struct_type")
_BASIC = places(
    "bool byte complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string",
    "uint uint16 uint32 uint64 uint8 uintptr any",
)
_INTERFACES = table(  # whose methods a type hardly has by chance
    """
    error: Error
    sort.Interface: Len Less Swap
    http.ResponseWriter: Header Write WriteHeader
    http.Hijacker: Hijack
    fs.FileInfo: Name Size Mode ModTime IsDir Sys
    flag.Value: String Set
    encoding.BinaryMarshaler: MarshalBinary
    encoding.BinaryUnmarshaler: UnmarshalBinary
    encoding.TextMarshaler: MarshalText
    encoding.TextUnmarshaler: UnmarshalText
    fmt.GoStringer: GoString
    fmt.Stringer: String
    http.Handler: ServeHTTP
    http.RoundTripper: RoundTrip
    json.Marshaler: MarshalJSON
    json.Unmarshaler: UnmarshalJSON
    xml.Marshaler: MarshalXML
    xml.Unmarshaler: UnmarshalXML
    """
)
_STANDARD = places(  # methods that interfaces of the standard library have
    "As Bounds Bytes Close Error Flush Format Get GoString Header Is Len Less MarshalBinary",
    "MarshalJSON MarshalText MarshalXML Name Next Open Pop Push Read ReadAt ReadByte ReadFrom",
    "ReadRune RoundTrip Scan Seek ServeHTTP Set Stat String Swap Temporary Timeout Unwrap",
    "UnmarshalBinary UnmarshalJSON UnmarshalText UnmarshalXML Value Write WriteByte WriteHeader",
    "WriteString WriteTo",
    "Fatal Fatalf Fatalln Panic Panicf Panicln Print Printf Println",
)

TABLES = """
names: identifier type_identifier field_identifier package_identifier label_name
scopes:
  function_declaration method_declaration func_literal method_elem function_type: function
  type_spec type_alias struct_type<field_declaration struct_type<var_spec: class
  struct_type<slice_type struct_type<pointer_type struct_type<composite_literal: class
  struct_type<map_type struct_type<array_type struct_type<implicit_length_array_type: class
  struct_type<parameter_declaration interface_type<parameter_declaration: class
  interface_type<var_spec interface_type<field_declaration: class
  interface_type<type_assertion_expression struct_type<type_assertion_expression: class
  block<function_declaration block<method_declaration block<func_literal: shared
  block for_statement if_statement expression_switch_statement type_switch_statement: block
  select_statement communication_case expression_case type_case default_case: block
declares:
  function_declaration.name: function outer
  method_declaration.name: method receiver
  type_spec.name type_alias.name: class outer
  field_declaration.name method_elem.name: field class
  parameter_declaration.name variadic_parameter_declaration.name: parameter here
  type_parameter_declaration.name: type here
  short_var_declaration.left range_clause.left receive_statement.left var_spec.name: local after
  const_spec.name: local after
  type_switch_statement.alias: local subject
  import_spec.name import_spec.path: import here
patterns: expression_list.
members:
  selector_expression.field: operand
  qualified_type.name: package
value_members: selector_expression.field
module_paths: interpreted_string_literal raw_string_literal
keys: literal_element.: literal
calls: call_expression: function
type_names: type_identifier
labels: label_name
self_words:
super_words:
takes: parameter_declaration
strings: interpreted_string_literal raw_string_literal
quoted: interpreted_string_literal
starts: init main
implied: method_elem
passes_on: parenthesized_expression unary_expression literal_element expression_list
aliases: type_alias
casts: type_assertion_expression
builds: composite_literal
allocates: new make
loops: range_clause
indexes: index_expression
returns: return_statement
targets: expression_list
results: parameter_list
around_types: parenthesized_type
lists: array_type slice_type map_type implicit_length_array_type
arguments: type_arguments
paths: qualified_type
typed_parameters: parameter_declaration
keywords: break case chan const continue default defer else fallthrough for func go goto if import
  interface map package range return select struct switch type var
flags: fields_are_called in_order spreads_results
"""
RULES = Go(**tables(TABLES))


PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
DOTTED = re.compile(r"^[^\S\n]*(?:import\s+)?\.\s+\"([^\s\"]+)\"", re.MULTILINE)
_CONTENT = places("raw_string_literal_content interpreted_string_literal_content")
_OF_TEMPLATE = re.compile(r"\.([A-Z]\w*)")
MODULE_PATH = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)
REPLACED = re.compile(
    r"^[^\S\n]*(?:replace\s+)?([\w./~-]+)(?:\s+v\S+)?\s+=>\s+(\.\.?(?:/\S*)?)", re.MULTILINE
)
IMPORTED = re.compile(r"""^[^\S\n]*(?:import\s+)?["`]([^\s"`]+)["`]""", re.MULTILINE)
QUALIFIER = re.compile(r"(?<![\w.])([^\W\d]\w*)\.[^\W\d]")
VERSION = re.compile(r"v\d+")


def _last(path: str) -> str:
    """The usual name of a package by its path: `x.org/a/v2` and `x.org/a.v2` are an `a`."""
    parts = path.strip('"`').split("/")
    named = parts[-2] if len(parts) > 1 and VERSION.fullmatch(parts[-1]) else parts[-1]
    return re.sub(r"\.v\d+$", "", named)


def _guessed_name(path: str, used: set[str]) -> str:
    """The name of a package outside the tree: that of `go-multierror` is `multierror`."""
    last = _last(path)
    spelled = re.sub(r"^go[-.]|[-.]go$", "", last)
    parts = re.split(r"[-.]", last)
    tried = [last, spelled, spelled.replace("-", "_"), spelled.replace("-", ""), *reversed(parts)]
    return next((name for name in tried if name in used), re.sub(r"\W", "_", spelled))


def _package_files(project: Project, folder: str, package: str) -> list[str]:
    return [path for path in _files(project, folder) if _package(project, path) == package]


def _in_package(project: Project, folder: str, package: str, name: str) -> Iterator[Declared]:
    """The declaration of a name in a package; a folder's tests may be one of their own."""
    for path in _package_files(project, folder, package):
        for declared in project.top_level(path, name):
            if declared.kind != "import" and declared.owner is None:
                yield declared


def _package_of(project: Project, folder: str) -> str:
    """The name of the package in a folder, which a program or a test next to it is not."""

    def read() -> str:
        names = [_package(project, path) for path in _files(project, folder)]
        own = [name for name in names if name and not name.endswith("_test")]
        return next((name for name in own if name not in ("main", "documentation")), "main")

    return project.remembered(("package of", folder), read)


def _files(project: Project, folder: str) -> list[str]:
    return [p for p in project.inside(folder) if p.endswith(".go")]


def _package(project: Project, path: str) -> str:
    match = PACKAGE.search(project.text(path) or "")
    return match[1] if match else ""


def _modules(project: Project) -> dict[str, list[tuple[str, str]]]:
    """The modules of the tree, each with its folder, and what their go.mod files say stands for
    others: by the folder of the go.mod that says so, "" for all."""

    def read() -> dict[str, list[tuple[str, str]]]:
        results: dict[str, list[tuple[str, str]]] = {"": []}
        for config in project.called("go.mod"):
            text, folder = project.text(config) or "", posixpath.dirname(config)
            if (match := MODULE_PATH.search(text)) is not None:
                results[""].append((match[1], folder))
            for replaced, place in REPLACED.findall(text):
                there = posixpath.normpath(posixpath.join(folder, place))
                there = "" if there == "." else there
                results.setdefault(f"{folder}/", []).append((replaced, there))
        return results

    return project.remembered("go modules", read)


def _folder(project: Project, path: str, importing: str) -> str | None:
    """The folder of a package, by the modules of the tree and what replaces them where it is
    imported; of two modules of one name, the one nearest to the file that imports."""
    modules = _modules(project)
    own = posixpath.dirname(importing)
    around = next((up for up in folders_up(own) if f"{up}/" in modules), "")
    ranked = sorted(
        (*modules.get(f"{around}/", ()), *modules[""]),
        key=lambda rank: (-len(rank[0]), -len(posixpath.commonprefix([f"{rank[1]}/", f"{own}/"]))),
    )
    for module, place in ranked:
        if path == module or path.startswith(module + "/"):
            folder = posixpath.join(place, path[len(module) + 1 :]).rstrip("/")
            if _files(project, folder):
                return folder
    return None
