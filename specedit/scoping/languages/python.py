"""Python: assignments bind in the function, members are reached through `self`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from keyword import kwlist

from specedit.scoping.languages.python_modules import PythonImports, PythonModules, twin_of
from specedit.scoping.languages.python_strings import PythonStrings
from specedit.scoping.languages.rules import Text, places, tables
from specedit.scoping.project import Project, folders_up
from specedit.scoping.scope import Declared, Known, Owner, Rewrite, Scope
from specedit.scoping.scopes import Scopes
from specedit.scoping.typing import Typing
from specedit.scoping.uses import MODULE, UNKNOWN, Uses, of_the_called
from specedit.syntax.branch import Branch


class Python(PythonModules, PythonStrings):
    def names_in(self, node: Branch, text: Text) -> Iterable[tuple[Branch, str]]:
        """Names that stand in quotes: `__all__`, and annotations."""
        return _quoted_names(node, text) if node.type == "string_content" else ()

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        holder = leaf.parent
        if holder is None or holder.type != "dotted_name":
            return True
        only = len(holder.children) == 1  # `case a.b` compares, `import a.b` gives `a`
        return only if node.type == "case_pattern" else holder.children[0] is leaf

    def elsewhere(self, scopes: Scopes, node: Branch, name: str) -> Scope | None:
        """`global x` and `nonlocal x`: the scope that an assignment to x means."""
        function = scopes.scope_of(node)
        while function.kind == "block" and function.parent is not None:
            function = function.parent
        statement = _announcements(scopes, function).get(name)
        if statement in (None, "global_statement"):
            return scopes.file if statement else None
        outer = function.parent
        while outer is not None and name not in outer.declared and outer.parent is not None:
            outer = outer.parent
        return outer

    def moved_imports(
        self, project: Project, here: Typing, moved: Mapping[str, str]
    ) -> Iterator[Rewrite]:
        return PythonImports(project, moved, here).rewrites()

    def kept_in(self, node: Branch, name: str, text: Text) -> Iterator[Branch]:
        """`self.x = value`, and each of `self.x, self.y = one, other`."""
        for inner in node.walk():
            left, right = inner.part("left"), inner.part("right")
            if inner.type != "assignment" or left is None or right is None:
                continue
            pairs = [(left, right)]
            if left.type == "pattern_list" and right.type == "expression_list":
                both = left.named_children(), right.named_children()
                pairs = list(zip(*both, strict=False)) if len(both[0]) == len(both[1]) else []
            for to, value in pairs:
                if to.type == "attribute" and text(to) == f"self.{name}":
                    yield value

    def parts(self, project: Project, owner: Owner) -> Iterator[Owner]:
        """A class in the file of a module, or in its stub."""
        twin = twin_of(project, project.path(owner.home))
        if twin and owner.node.type == "class_definition":
            yield from project.owners((twin,), owner.name)

    def is_read_from_values(self, project: Project, declared: Declared) -> bool:
        """A module is a value where a file imports it as one, or by a name that is computed."""
        path = project.path(declared.home)
        stem = posixpath.basename(path).rpartition(".")[0]
        if stem == "__init__" or not path:
            return True
        words = rf"\bimport\b[^\n]*\b{stem}\b|^[\s\w,.()]*\b{stem},?$"
        pattern = rf"(?m){words}|\b__import__\b|\bimport_module\b|\bsys\.modules\b"
        return bool(project.matching(pattern, (".py", ".pyi")))

    def inherited(self, uses: Uses, owner: Owner) -> Hashable | None:
        """A class with `__getattr__` may have any member, from anywhere."""
        every = (owner, *uses.typing.above(owner))
        return (UNKNOWN, "") if any("__getattr__" in up.members for up in every) else None

    def narrowed(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """The class of what the fixture of a parameter's name returns or yields."""
        declared = typing.lookup(typing.scopes.text(leaf), leaf)
        return _given_by_fixture(typing, declared, deep) if declared is not None else None

    def tested(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """`isinstance(x, A)`, the last one in the function before `x` is used."""
        scopes = typing.scopes
        name = scopes.text(leaf)
        function = leaf.around("function_definition", "lambda")
        if function is None or b"isinstance" not in scopes.data[function.start : leaf.start]:
            return None
        known: Known = None
        for call in function.walk():
            arguments = call.part("arguments") if call.type == "call" else None
            called = call.part("function") if arguments is not None else None
            if arguments is None or called is None or call.end > leaf.start:
                continue
            parts = arguments.named_children()
            if scopes.text(called) != "isinstance" or len(parts) != 2:
                continue
            named = scopes.text(parts[0]) == name and parts[1].type in ("identifier", "attribute")
            if named and _holds(call, leaf):
                known = typing.named_type(parts[1], deep)
        return known

    def is_instance(self, declared: Declared) -> bool:
        listed = declared.node.named_children() if declared.node.type == "parameters" else []
        around = declared.scope.parent if declared.scope is not None else None
        return around is not None and around.kind == "class" and listed[:1] == [declared.leaf]

    def means_declared(self, uses: Uses, leaf: Branch, declared: Declared) -> list[Hashable]:
        is_parameter = declared.kind == "parameter"
        fixture = _fixture(uses.typing, declared) if is_parameter else None
        if fixture is not None and fixture[1].name == uses.name:
            uses.join(declared, fixture[1])
        for other in _same_parameters(uses.typing, declared) if is_parameter else ():
            uses.join(declared, other)
        if leaf.place == "augmented_assignment.left" and declared.owner is not None:
            read = uses.bare(leaf, "value")  # `x += 1` in a class reads the outer x
            if isinstance(read, Declared):
                uses.join(declared, read)
        return [declared]

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        """A name of another module, or of a parameter in a decorator."""
        path, typing = leaf.parent, uses.typing
        if path is not None and path.type == "string_content" and path.parent is not None:
            if _called(path.parent, uses.scopes.text) in FIXTURES_NAMED:
                fixture = _fixture_named(typing, uses.name)
                return [fixture[1] if fixture is not None else (UNKNOWN, "")]
            function = parametrized(path.parent, uses.scopes.text)
            scope = uses.scopes.by_node.get(id(function)) if function is not None else None
            return list(scope.declared.get(uses.name, ())[:1]) if scope is not None else None
        if path is not None and leaf.place == "dotted_name." and "_pattern." in path.place:
            before = [name for name in path.named_children() if name.end <= leaf.start]
            return [uses.member(_along(typing, before))] if before else None  # `case Color.RED`
        if path is not None and path.type == "keyword_pattern" and path.children[0] is leaf:
            matched = leaf.around("class_pattern")
            names = matched.children[0].named_children() if matched is not None else ()
            return [uses.member(_along(typing, names))]
        if path is not None and leaf.place == "dotted_name." and path.place in OTHER_MODULES:
            named = path.at("^ ^ module_name") if path.place == "aliased_import.name" else None
            return [(MODULE, uses.scopes.text(named) if named is not None else "")]
        call = leaf.around("call") if leaf.place == "keyword_argument.name" else None
        called = typing.called_leaf(call) if call is not None else None
        if call is None or called is None:
            return None
        first = call.children[-1].named_children()[0]
        if typing.scopes.text(called) in PASSED_ON:
            passed = first if first.type == "identifier" else typing.member_leaf(first)
            key = of_the_called(passed, typing, uses.declared) if passed is not None else None
            return [key] if isinstance(key, Declared) else None
        copied = _copied(typing, called, first)
        return [uses.member(typing.type_of(copied))] if copied is not None else None

    def same_members(self, typing: Typing, name: str) -> Iterator[tuple[Declared, Declared]]:
        """Those of the classes that one class extends: `super()` of one may be the other."""
        for owner in typing.scopes.owners if b"class" in typing.scopes.data else ():
            above = typing.above(owner) if len(owner.bases) > 1 else ()
            every = [member for up in above for member in up.members.get(name, ())[:1]]
            yield from ((every[0], other) for other in every[1:])

    def is_alike(self, typing: Typing, owner: Owner, other: Owner) -> bool:
        """Whether one is a protocol, and the other has its members."""
        return any(
            "Protocol" in protocol.bases and protocol.members.keys() <= of.members.keys()
            for protocol, of in ((owner, other), (other, owner))
        )


_COPIERS = ("dataclasses", "copy", "attr", "attrs")  # modules with `replace`, or `evolve`
PASSED_ON = ("partial", "partialmethod", "submit", "to_thread")  # the rest is for the first one


def _holds(test: Branch, leaf: Branch) -> bool:
    """Whether a test holds at a later place: below its `if`, or after one with `not`."""
    around = test.around("if_statement", "elif_clause", "while_statement", "conditional_expression")
    condition = around.part("condition") if around is not None else None
    if around is None or (condition is not None and condition.end < test.start):
        return True
    inside = leaf.start < (around.part("consequence") or around.part("body") or test).end
    return inside != any(up.type == "not_operator" and up.start >= around.start for up in test.up())


def _along(typing: Typing, names: Sequence[Branch]) -> Known:
    """The class of `a.b.c`, given its names."""
    known = typing.type_of(names[0]) if names else None
    for leaf in names[1:]:
        members = typing.members(known or (), typing.scopes.text(leaf))
        known = typing.type_of_declared(members[0]) if members else None
    return known


def _copied(typing: Typing, called: Branch, first: Branch) -> Branch | None:
    """The object whose field an argument names: `dataclasses.replace(cart, total=1)`."""
    name, receiver = typing.scopes.text(called), typing.rules.receiver(called)
    if name == "_replace":
        return receiver
    if name not in ("replace", "evolve") or first.type == "keyword_argument":
        return None
    declared = typing.lookup(typing.scopes.text(receiver or called), receiver or called)
    if declared is None or declared.kind != "import":
        return None
    module = typing.rules.module_of(typing.scopes, declared)
    return first if module.split(".")[0] in _COPIERS else None


def _same_parameters(typing: Typing, declared: Declared) -> Iterator[Declared]:
    """The parameters of the same function in a stub, an overload or a base class; the field of an
    `InitVar`."""
    scope, rules = declared.scope, typing.rules
    named = scope.node.part("name") if scope is not None else None
    if named is None or scope is None or scope.parent is None or rules.is_instance(declared):
        return
    name, owner = typing.scopes.text(named), scope.parent.owner
    if owner is None:
        every = [*typing.scopes.declarations(name), *rules.shared(typing.project, typing, name)]
        functions = [each for each in every if each.scope_kind == scope.parent.kind == "file"]
    else:
        above = () if name == "__init__" else typing.above(owner)
        owners = (owner, *typing.project.parts(owner), *above)
        functions = [each for up in owners for each in up.members.get(name, ())]
    if owner is not None and name == "__post_init__":
        yield from owner.members.get(declared.name, ())
    for function in functions:
        home = typing.home(function) or typing
        there = home.scopes.by_node.get(id(function.node))
        same = there.declared.get(declared.name, ()) if there is not None else ()
        yield from (each for each in same if each.kind == "parameter")


def _given_by_fixture(typing: Typing, declared: Declared, deep: int) -> Known:
    fixture = _fixture(typing, declared)
    if fixture is None:
        return None
    home, function = fixture
    body = function.node.part("body")
    nested = ("function_definition", "lambda", "class_definition")
    for node in body.walk(nested) if body is not None else ():
        if node.type in ("return_statement", "yield") and node.named_children():
            return home.type_of(node.named_children()[0], deep + 1) or None
    return None


def _fixture(typing: Typing, declared: Declared) -> tuple[Typing, Declared] | None:
    """The fixture that pytest gives a parameter of a test, or of another fixture."""
    function = declared.scope.node if declared.scope is not None else declared.node
    name = function.part("name") if function.type == "function_definition" else None
    if (
        declared.kind != "parameter"
        or name is None
        or not (typing.scopes.text(name).startswith("test") or _is_fixture(function, typing))
    ):
        return None
    found = _fixture_named(typing, declared.name)
    return found if found is not None and found[1].node is not function else None


def _fixture_named(typing: Typing, name: str) -> tuple[Typing, Declared] | None:
    folder = posixpath.dirname(typing.project.path(typing.scopes))
    shared = (posixpath.join(up, "conftest.py") for up in folders_up(folder))
    for home in (typing, *map(typing.project.typing, shared)):
        for other in home.scopes.declarations(name) if home is not None else ():
            if home is not None and _is_fixture(other.node, home):
                return home, other
    return None


def _is_fixture(function: Branch, typing: Typing) -> bool:
    around = function.parent
    if function.type != "function_definition" or around is None:
        return False
    marks = [child for child in around.children if child.type == "decorator"]
    return any(re.search(r"\bfixture\b", typing.scopes.text(mark)) for mark in marks)


def _announcements(scopes: Scopes, function: Scope) -> dict[str, str]:
    """The names of a function's own `global` and `nonlocal` statements."""
    known = scopes.announced.get(id(function))
    if known is not None:
        return known
    results: dict[str, str] = {}
    announces = b"global" in scopes.data or b"nonlocal" in scopes.data
    body = function.node.part("body") if function.kind == "function" and announces else None
    inner = ("function_definition", "class_definition", "lambda")
    for statement in body.walk(without=inner) if body is not None else ():
        if statement.type in ("global_statement", "nonlocal_statement"):
            for child in statement.children:
                results[scopes.text(child)] = statement.type
    scopes.announced[id(function)] = results
    return results


TABLES = """
names: identifier
scopes:
  function_definition lambda: function
  class_definition: class
  list_comprehension set_comprehension dictionary_comprehension generator_expression: block
declares:
  function_definition.name: function outer
  class_definition.name: class outer
  parameters. lambda_parameters. default_parameter.name typed_default_parameter.name: parameter here
  typed_parameter. keyword_separator.: parameter here
  assignment.left named_expression.name for_statement.left augmented_assignment.left: local function
  as_pattern_target. as_pattern.alias case_pattern.: local function
  for_in_clause.left: local here
  aliased_import.alias import_from_statement.name import_statement.name: import function
  type_parameter.: type here
patterns: pattern_list. tuple_pattern. list_pattern. list_splat_pattern. dictionary_splat_pattern.
  as_pattern_target. tuple. list. dotted_name. splat_pattern. parenthesized_expression.
  expression_list. case_pattern. typed_parameter.
outside: default_parameter.value typed_default_parameter.value typed_default_parameter.type
  typed_parameter.type for_in_clause.right
outside_first: for_in_clause.right
quoted: string_content
members: attribute.attribute: object
keys:
  keyword_argument.name: argument
  keyword_pattern.: keyword
calls: call: function
bases: argument_list
given: subscript.subscript
assigned: assignment.right
of_many: add append clear close copy count decode difference discard encode endswith extend find
  flush format get index insert intersection items join keys lower match name pop popitem read
  remove replace reverse search setdefault sort split startswith strip union update upper values
  write
self_words:
super_words: super() super
self_types: Self
passes_on: parenthesized_expression await expression_list
either: boolean_operator
loops: for_statement for_in_clause
stand_ins: mock unittest.mock
indexes: subscript
arguments: type_parameter
keyed: dict Dict Mapping MutableMapping defaultdict OrderedDict Counter
paths: attribute
returns: return_statement
targets: expression_list pattern_list
around_types: type
unions: union_type binary_operator
union_words: Union
untyped: string
inferred: Any object
wrappers: Optional Final ClassVar Annotated Type type
rest_parameters: dictionary_splat_pattern
gives_plain: ascii bin bool bytearray bytes chr complex dict float format frozenset hash hex id
  input int len list memoryview oct open ord range repr set str tuple
takes: identifier default_parameter typed_default_parameter typed_parameter
names_arguments: keyword_argument
decorated: decorated_definition
closed_modules: base64 binascii datetime decimal errno fnmatch fractions glob gzip hashlib hmac math
  os pathlib platform re secrets shutil stat string struct subprocess tempfile textwrap time
  unicodedata uuid zlib
plain: concatenated_string dictionary dictionary_comprehension float integer list list_comprehension
  set set_comprehension string tuple
builtins: bool bytes dict float frozenset int list object set str tuple
strings: string
makers: __init__ __new__
flags: quotes_types reads_class gives_instance
"""
RULES = Python(keywords=frozenset(kwlist), **tables(TABLES))


OTHER_MODULES = places("aliased_import.name import_from_statement.module_name relative_import.")
FIRST_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")  # of a dotted name, what stands for itself
LAST_WORD = re.compile(r"[^\W\d]\w*$")
RELATES = places("ForeignKey OneToOneField ManyToManyField relationship")  # "shop.Order"
FIXTURES_NAMED = places("usefixtures getfixturevalue")
INSIDE_TYPES = places("generic_type type_parameter subscript binary_operator list")


def _quoted_names(node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
    """The names in the content of a string, each as a leaf."""
    string = node.parent
    if string is None or string.parent is None or text(string)[:1] not in "'\"":
        return
    related = _called(string, text) in RELATES
    if _is_listed(string, text) or _called(string, text) in FIXTURES_NAMED:
        yield node, text(node)
    elif related or parametrized(string, text) is not None or _is_annotation(string, text):
        content = text(node)
        for match in (LAST_WORD if related else FIRST_WORD).finditer(content):
            yield node.within(content, match.start(), match.end(), "identifier"), match[0]


def _called(string: Branch, text: Text) -> str:
    """The last name of what is called with a string as its first argument."""
    called, listed = string.at("^ ^ function"), string.parent
    if called is None or listed is None or listed.named_children()[0] is not string:
        return ""
    return text(called).split(".")[-1]


def parametrized(string: Branch, text: Text) -> Branch | None:
    """The function whose parameters a string of `@pytest.mark.parametrize("a, b", …)` names."""
    listed = string.parent
    first = string
    if listed is not None and listed.type in ("tuple", "list"):
        first, listed = listed, listed.parent
    called = listed.at("^ function") if listed is not None else None
    if listed is None or called is None or not text(called).endswith(".parametrize"):
        return None
    is_first = listed.type == "argument_list" and listed.named_children()[0] is first
    return listed.at("^ ^ ^ definition") if is_first else None


def _is_listed(string: Branch, text: Text) -> bool:
    """In `__all__ = ["name"]`, and what is added to it."""
    for up in string.up():
        if up.type in ("assignment", "augmented_assignment"):
            left = up.part("left")
            return left is not None and text(left) == "__all__"
        if up.type == "call":
            return text(up).startswith(("__all__.append(", "__all__.extend("))
        if up.type not in ("list", "tuple", "binary_operator", "expression_list", "argument_list"):
            return False
    return False


def _is_annotation(string: Branch, text: Text) -> bool:
    """`x: "Name"`, `list["Name"]`, `cast("Name", x)`, `TypeVar("T", bound="Name")`."""
    holder = string.parent
    assert holder is not None
    if holder.type == "keyword_argument" and (name := holder.part("name")) is not None:
        return text(name) == "bound"
    if holder.type == "argument_list" and holder.parent is not None:
        called = _called(string, text)  # or else it is a bound of `TypeVar("T", "Cart", int)`
        return called == "cast" or (not called and text(holder.parent).startswith("TypeVar("))
    for up in string.up():
        head = up.children[0] if up.type in ("generic_type", "subscript") else None
        if head is not None and text(head).split(".")[-1] in ("Literal", "Annotated"):
            return False
        if up.type == "type":
            around = up.parent
            if around is None or around.type not in ("type_parameter", "union_type"):
                return True
        elif up.type == "assignment":  # `Carts: TypeAlias = "list[Cart]"`
            typed = up.part("type")
            return typed is not None and text(typed).endswith("TypeAlias")
        elif up.type not in INSIDE_TYPES:
            return False
    return False
