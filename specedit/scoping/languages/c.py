"""C: declarators wrap the name; macro bodies are words."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Hashable, Iterator

from specedit.scoping.languages.rules import Rules, Text, places, tables
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared, Known, Owner
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import UNKNOWN, Uses
from specedit.syntax.branch import Branch


class C(Rules):
    def opens(self, node: Branch) -> bool:
        """`struct S *p` names a type, and a function's head belongs to its body."""
        if node.part("name") is None or node.first("inline"):  # it may show what is in it around it
            holder = node.parent if node.place == "field_declaration.type" else None
            if node.type == "namespace_definition" or (holder and not holder.part("declarator")):
                return False
        if node.type.endswith("_specifier") and node.part("body") is None:
            return False
        around = (up for up in node.up() if not up.type.endswith("_declarator"))
        return node.type != "function_declarator" or next(around).type != "function_definition"

    def class_name(self, node: Branch, text: Text) -> str:
        """The name that `typedef struct { … } name;` gives, where the struct has none."""
        named = node.at("^ declarator") if node.place == "type_definition.type" else None
        return super().class_name(node, text) or (text(named) if named is not None else "")

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        return node.type not in _TAGGED or node.part("body") is not None

    def shared(self, project: Project, here: Typing, name: str) -> Iterator[Declared]:
        """The declarations of included files, and those that the linker takes for the same."""
        own = project.path(here.scopes)
        seen = _included(project, own)
        found = False
        for path in seen:
            known = project.top_level(path, name)
            for declared in sorted(known, key=lambda each: each.scope_kind == "namespace"):
                found = True
                yield declared
        if own.endswith(HEADERS) and not found:
            for path in _beside(project, own):
                yield from project.top_level(path, name)
        mine = [declared for declared in project.top_level(own, name) if _is_linked(here, declared)]
        if not mine:
            tagged = rf"\b(?:struct|union|class)\s+{re.escape(name)}"
            if re.search(rf"{tagged}\b".encode(), here.scopes.data):  # announced
                paths = project.matching(rf"{tagged}\s*\{{", SOURCES)
                yield from project.top_level(paths[0], name) if len(paths) == 1 else ()
            return
        for path in project.matching(rf"\b{re.escape(name)}\b", SOURCES):
            there = project.typing(path)
            if path == own or path in seen or there is None:
                continue
            for declared in project.top_level(path, name):
                extern = _is_extern(there, declared) or _is_extern(here, mine[0])
                if extern and _is_linked(there, declared):
                    yield declared

    def required_by(self, typing: Typing, declared: Declared) -> tuple[str, bool] | None:
        project, name = typing.project, declared.name
        path = project.remembered(("pasted", name), lambda: _pasting(project, name))
        if path is not None:
            return f"a macro of {path} that makes it with `##`", True
        return super().required_by(typing, declared)

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        if leaf.place != "field_designator." or leaf.parent is None:
            return super().means(uses, leaf)
        key = uses.member(_designated(uses.typing, leaf.parent))
        return [(UNKNOWN, "") if isinstance(key, tuple) and key[0] == "implicit" else key]

    def given_out(self, typing: Typing, name: str) -> Iterator[tuple[int, str]]:
        """A row of a `PyMethodDef` table of a module for Python."""
        text = typing.scopes.data.decode("utf-8", "replace")
        modules = MODULE_OF_PYTHON.findall(text) if "PyMethodDef" in text else ()
        for node in typing.scopes.root.walk() if modules else ():
            row = node.parent
            if node.type != "string_literal" or row is None or row.type != "initializer_list":
                continue
            table = node.around("declaration")
            kind = table.part("type") if table is not None else None
            named = kind is not None and typing.scopes.text(kind) == "PyMethodDef"
            first = row.named_children()[0] is node and typing.scopes.text(node) == f'"{name}"'
            if named and first:
                yield from ((node.start + 1, module) for module in modules)

    def parts(self, project: Project, owner: Owner) -> Iterator[Owner]:
        """A class and its methods in other files; a namespace that is opened again."""
        path, name = project.path(owner.home), owner.name
        is_space = "namespace" in owner.node.type
        if owner.early or is_space:
            own = project.owners(_included(project, path), name)
            yield from (other for other in own if is_space or not other.early)
        if owner.early:
            return
        word = rf"\b{re.escape(name)}\b" + ("" if is_space else r"\s*(?:<[^;{]*?>)?\s*::")
        matching = project.matching(word, SOURCES)
        others = project.owners((p for p in matching if path in _included(project, p)), name)
        yield from (other for other in others if other.early or is_space)


MODULE_OF_PYTHON = re.compile(r"\bPyInit_(\w+)\s*\(")
_TAGGED = places("class_specifier struct_specifier union_specifier enum_specifier")
WORDS = places(
    "auto break case char const continue default do double else enum extern float for goto if",
    "inline int long register return short signed sizeof static struct switch typedef union",
    "unsigned void volatile while alignas alignof asm bool constexpr false nullptr",
    "static_assert thread_local true",
)


TABLES = """
names: identifier type_identifier field_identifier statement_identifier
scopes:
  function_definition preproc_function_def function_declarator: function
  struct_specifier union_specifier: class
  enum_specifier: enum
  compound_statement for_statement if_statement while_statement switch_statement: block
declares:
  struct_specifier.name union_specifier.name enum_specifier.name: class outer
  type_definition.declarator: class outer
  declaration.declarator init_declarator.declarator: local here
  function_definition.declarator: function receiver
  field_declaration.declarator: field class
  enumerator.name: value enumerator
  parameter_declaration.declarator preproc_params.: parameter here
  preproc_def.name preproc_function_def.name: macro file
patterns: pointer_declarator.declarator array_declarator.declarator init_declarator.declarator
  function_declarator.declarator parenthesized_declarator. attributed_declarator.
members: field_expression.field: argument
value_members: field_expression.field
keys: field_designator.: literal
literal_members: offsetof_expression.member: offsetof_expression.type
calls: call_expression: function
type_names: type_identifier
labels: statement_identifier
macro_arguments: argument_list.
assigned: assignment_expression.right
passes_on: parenthesized_expression unary_expression pointer_expression subscript_expression
aliases: type_definition
casts: cast_expression
builds: compound_literal_expression
returns: return_statement
carries_up: init_declarator pointer_declarator function_declarator declaration array_declarator
declarators: pointer_declarator
inferred: auto const
typed_parameters: parameter_declaration
starts: main
opaque: preproc_arg
family: c
strings: string_literal char_literal system_lib_string
flags: bare_members fields_hide in_order
"""
RULES = C(
    keywords=WORDS
    | places(
        "restrict typeof typeof_unqual _Alignas _Alignof _Atomic _BitInt _Bool _Complex",
        "_Decimal128 _Decimal32 _Decimal64 _Generic _Imaginary _Noreturn _Static_assert",
        "_Thread_local",
    ),
    **tables(TABLES),
)


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+\w+\(([^)]*)\)((?:\\\r?\n|[^\n])*)", re.MULTILINE)
PASTED = re.compile(r"\w+(?:\s*##\s*\w+)+")
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp")
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".cu", *HEADERS)


def _pasting(project: Project, name: str) -> str | None:
    """The file of a macro that makes a name of its arguments: `#define CALL(x) on_##x()`."""
    for path in project.matching("##", SOURCES):
        for listed, body in MACRO.findall(project.text(path) or ""):
            words = dict.fromkeys(re.findall(r"\w+", listed), r"(\w+)")
            for pasted in PASTED.findall(body):
                parts = re.split(r"\s*##\s*", pasted)
                made = "".join(words.get(part, part) for part in parts)
                match = re.fullmatch(made, name) if set(parts) - set(words) else None
                given = [rf"\(.*\b{word}\b" for word in match.groups()] if match else ["(?!)"]
                if all(project.matching(word, SOURCES) for word in given):
                    return path
    return None


def _included(project: Project, path: str) -> list[str]:

    def follow() -> list[str]:
        results: list[str] = []
        waiting = [path]
        while waiting:
            file = waiting.pop(0)
            for text in INCLUDE.findall(project.text(file) or ""):
                there = _file(project, file, text)
                if there is not None and there not in results and there != path:
                    results.append(there)
                    waiting.append(there)
        return results

    return project.remembered(("included", path), follow)


def _beside(project: Project, path: str) -> list[str]:
    """The headers included next to one, by the files that include it: it may rely on them."""

    def search() -> list[str]:
        word = rf"#[ \t]*include.*\b{re.escape(posixpath.basename(path))}[\">]"
        holding = project.matching(word, SOURCES)
        users = [user for user in holding if path in _included(project, user)]
        every = {other: None for user in users for other in (*_included(project, user), user)}
        return [other for other in every if other.endswith(HEADERS) and other != path]

    return project.remembered(("beside", path), search)


def _designated(typing: Typing, designator: Branch) -> Known:
    """The class whose member a designator names: `c` in `{ .b.c = 1 }`, `{ .b = { .c = 1 } }`."""
    for up in designator.up():
        if up.type == "initializer_pair":
            pair = (child for child in up.children if child.type == "field_designator")
            before = [each for each in pair if each.end <= designator.start]
            if before:
                name = typing.scopes.text(before[-1]).lstrip(". ")
                found = typing.members(_designated(typing, before[-1]) or (), name)
                return typing.type_of_declared(found[0]) if found else None
        elif up.type in ("argument_list", "assignment_expression"):
            return None
        elif (typed := up.part("type")) is not None:
            return typing.named_type(typed)
    return None


def _is_linked(here: Typing, declared: Declared) -> bool:
    """A function or a variable that other files can link to."""
    if declared.kind not in ("function", "local") or declared.scope_kind != "file":
        return False
    if declared.leaf.around("namespace_definition") is not None:
        return False  # one without a name
    head = here.scopes.data[declared.node.start : declared.leaf.start]
    return re.search(rb"\bstatic\b", head) is None


def _is_extern(here: Typing, declared: Declared) -> bool:
    """Declared to be found elsewhere: `extern int x;`, a prototype."""
    head = here.scopes.data[declared.node.start : declared.leaf.start]
    prototype = declared.kind == "local" and declared.leaf.place == "function_declarator.declarator"
    return prototype or re.search(rb"\bextern\b", head) is not None


def _file(project: Project, path: str, written: str) -> str | None:
    near = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
    if near in project.paths:
        return near
    end = posixpath.normpath(written)
    ends = (p for p in project.paths if p == end or p.endswith("/" + end))
    return project.remembered(("ends", written), lambda: min(ends, key=len, default=None))
