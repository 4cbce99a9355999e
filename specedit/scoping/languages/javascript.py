"""JavaScript: object literals are classes without a name, and a shorthand names two things.

TypeScript checks `{name: 1}` against the type that its place asks for; so do we, within one file.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from specedit.scoping.languages.javascript_modules import (
    MOCKS,
    JavaScriptModules,
    resolve,
    source_of,
)
from specedit.scoping.languages.rules import Text, places, tables
from specedit.scoping.scope import FUNCTIONS, Declared, Known, Owner
from specedit.scoping.scopes import PLAIN, Scopes
from specedit.scoping.typing import MAX_STEPS, Typing, type_part
from specedit.scoping.uses import EXTERNAL, MODULE, UNKNOWN, Uses
from specedit.syntax.branch import Branch, first_of, last_of

EACH = frozenset({"every", "filter", "find", "findIndex", "flatMap", "forEach", "map", "some"})
_COMPARES = frozenset(
    {"toEqual", "toStrictEqual", "toMatchObject", "toContainEqual", "deepEqual", "deepStrictEqual"}
)
ADDS = frozenset({"push", "unshift", "add", "fill", "includes", "indexOf"})  # to a list


def owner_of_literal(typing: Typing, node: Branch, deep: int = 0) -> Known:
    """The class an object literal is meant for, by where it stands."""
    parent = node.parent
    if parent is None or deep > MAX_STEPS:
        return None
    typed = _context_type(typing, node, deep)
    if typed is not None:
        return typing.named_type(_awaited(typing, typed), deep + 1)
    if node.place == "assignment_expression.right":
        left = parent.part("left")
        gives_out = left is not None and typing.scopes.text(left) == "module.exports"
        return None if gives_out else typing.type_of(left, deep + 1)
    if node.place == "pair.value" and parent.parent is not None:
        key = parent.part("key")
        around = owner_of_literal(typing, parent.parent, deep + 1)
        result = typing.members(around or (), typing.scopes.text(key).strip("'\"")) if key else []
        return typing.type_of_declared(result[0], deep + 1) if result else None
    if parent.type in ("parenthesized_expression", "ternary_expression") or _is_result(node):
        return owner_of_literal(typing, parent, deep + 1)
    if parent.type == "array":
        expected = _compared(typing, parent)
        return typing.element_of(expected, deep + 1) if expected is not None else None
    call = parent.parent if parent.type == "arguments" else None
    callee = call.part("function") if call is not None else None
    if callee is not None and typing.scopes.text(callee) == "expect.objectContaining":
        return owner_of_literal(typing, call, deep + 1) if call is not None else None
    if (module := _mocked(typing, node)) is not None:
        return (module,)
    return typing.type_of(_compared(typing, node), deep + 1)


def _mocked(typing: Typing, node: Branch) -> Owner | None:
    """The module that an object stands for: `jest.mock("./m", () => ({…}))`."""
    function = node.parent
    if function is not None and function.type == "return_statement":
        above = (up for up in node.up() if typing.rules.scopes.get(up.type) == "function")
        function = next(above, None)
    elif node.place != "arrow_function.body":
        return None
    arguments = function.parent if function is not None else None
    callee = arguments.at("^ function") if arguments is not None else None
    if arguments is None or callee is None or typing.scopes.text(callee) not in MOCKS:
        return None
    source = typing.scopes.text(arguments.named_children()[0]).strip("'\"`")
    path = resolve(typing.project, typing.project.path(typing.scopes), source)
    module = typing.project.module(path) if path is not None else None
    return module.owner if module is not None else None


def _compared(typing: Typing, node: Branch) -> Branch | None:
    """What a test compares an argument with: `expect(cart).toEqual(…)`, `deepEqual(cart, …)`."""
    arguments = node.parent
    call = arguments.parent if arguments is not None and arguments.type == "arguments" else None
    leaf = typing.called_leaf(call) if call is not None else None
    if arguments is None or leaf is None or typing.scopes.text(leaf) not in _COMPARES:
        return None
    first = arguments.named_children()[0]
    if first is not node:
        return first
    for inner in call.walk() if call is not None else ():
        if inner.type == "call_expression" and inner is not call:
            function, listed = inner.part("function"), inner.part("arguments")
            if function is not None and typing.scopes.text(function) == "expect":
                return first_of(listed) if listed is not None else None
    return None


def _is_result(node: Branch) -> bool:
    """Whether a node is what `a ?? b`, `a || b` or `a && b` may give."""
    around = node.parent
    if around is None or around.type != "binary_expression":
        return False
    either = around.first("??", "||") is not None
    return either or (around.first("&&") is not None and node.field == "right")


def _awaited(typing: Typing, typed: Branch) -> Branch:
    """The type of what an `async` function returns, of the promise that it gives."""
    if typed.field != "return_type" or typed.parent is None or typed.parent.first("async") is None:
        return typed
    listed = next((x for x in typed.walk() if x.type in typing.rules.arguments), None)
    promised = (typing.over(typed) or typing).head(typed) in typing.rules.awaited
    return (first_of(listed) or typed) if promised and listed is not None else typed


def taken_apart(typing: Typing, pattern: Branch, deep: int = 0) -> Known:
    """The class of what an object pattern takes apart."""
    holder = pattern.parent
    if holder is None or deep > MAX_STEPS:
        return None
    if (typed := holder.part("type")) is not None:
        return typing.named_type(typed, deep + 1)
    if holder.type in ("object_assignment_pattern", "assignment_pattern"):
        return taken_apart(typing, holder, deep + 1)
    if holder.type == "pair_pattern" and holder.parent is not None:
        key = holder.part("key")
        around = taken_apart(typing, holder.parent, deep + 1)
        result = typing.members(around or (), typing.scopes.text(key)) if key else []
        return typing.type_of_declared(result[0], deep + 1) if result else None
    if holder.type == "array_pattern" and holder.parent is not None:
        return typing.element_of(holder.parent.part("value"), deep + 1)
    if holder.type == "for_in_statement":
        return typing.element_of(holder.part("right"), deep + 1)
    listed = holder if holder.type == "formal_parameters" else holder.parent
    if listed is not None and listed.type == "formal_parameters" and listed.parent is not None:
        return _given(typing, listed.parent, (holder, pattern), deep + 1)
    value = holder.part("value") or holder.part("right")
    return typing.type_of(value, deep + 1) if value is not pattern else None


def _given(typing: Typing, function: Branch, parameter: Sequence[Branch], deep: int) -> Known:
    arguments = function.parent
    if arguments is None:
        return None
    listed = function.part("parameters")
    names = listed.named_children() if listed is not None else parameter[-1:]
    at = next((n for n, name in enumerate(names) if name in parameter), 0)
    callee = arguments.at("^ function") if arguments.type == "arguments" else None
    member = typing.member_leaf(callee) if callee is not None else None
    if member is not None and at == 0 and typing.scopes.label(member) in EACH:
        return typing.element_of(typing.rules.receiver(member), deep)
    wanted = _context_type(typing, function, deep)
    while wanted is not None and wanted.type in typing.rules.around_types:
        wanted = first_of(wanted)
    if wanted is not None and wanted.type in typing.rules.names:  # `type Handler = (e: E) => void`
        home = typing.over(wanted) or typing
        named = home.resolved(home.lookup(home.scopes.text(wanted), wanted, "type"))
        alias = named is not None and named.node.type in typing.rules.aliases
        wanted = named.node.part("value") if alias and named is not None else None
    taken = wanted.part("parameters") if wanted is not None else None
    types = [child.part("type") for child in taken.named_children()] if taken is not None else []
    return typing.named_type(types[at], deep) if at < len(types) else None


def _context_type(typing: Typing, node: Branch, deep: int = 0) -> Branch | None:
    """The type expression that says what an expression must be."""
    parent = node.parent
    if parent is None:
        return None
    if parent.type in ("as_expression", "satisfies_expression"):
        return last_of(parent)
    if parent.type == "type_assertion":
        return first_of(parent)
    if node.field == "value" and (typed := parent.part("type")) is not None:
        return typed
    if parent.type == "return_statement" or node.place == "arrow_function.body":
        for up in node.up():
            if typing.rules.scopes.get(up.type) == "function":
                return up.part("return_type")
    if parent.type == "parenthesized_expression" and parent.place == "arrow_function.body":
        return _context_type(typing, parent, deep)
    if parent.type == "array":
        return typing.element(_context_type(typing, parent, deep + 1))
    if parent.type == "arguments" and parent.parent is not None:
        return _parameter_type(typing, parent, node)
    key = parent.part("key") if node.place == "pair.value" and deep < MAX_STEPS else None
    if key is not None and parent.parent is not None:
        around = owner_of_literal(typing, parent.parent, deep + 1)
        result = typing.members(around or (), typing.scopes.text(key).strip("'\""))
        typed = _context_type(typing, parent.parent, deep + 1) if not result else None
        if typed is not None and typing.head(typed) in typing.rules.records_of:
            return typing.element(typed)
        return type_part(result[0], typing.rules) if result else None
    return None


def _parameter_type(typing: Typing, arguments: Branch, node: Branch) -> Branch | None:
    callee = arguments.at("^ function") or arguments.at("^ constructor")
    if callee is None:
        return None
    at = arguments.named_children().index(node)
    declared: Declared | None = None
    if callee.type in typing.rules.names:
        declared = typing.resolved(typing.lookup(typing.scopes.label(callee), callee, "call"))
    elif (member := typing.member_leaf(callee)) is not None:
        if typing.scopes.label(member) in ADDS:
            return typing.element(typing.type_written(typing.rules.receiver(member)))
        owners = typing.type_of(typing.rules.receiver(member))
        result = typing.members(owners or (), typing.scopes.label(member))
        declared = next((declared for declared in result if _takes(declared, at)), None)
    elif callee.type in typing.rules.calls and callee.part("function") is not None:
        function = _given_by_call(typing, callee)
        return _parameter_of(function, at) if function is not None else None
    if declared is None:
        return None
    function = declared.node
    if declared.kind == "class":
        home = typing.home(declared) or typing
        result = typing.members(home.scopes.owners_at(function), "constructor")
        function = next((declared.node for declared in result if _takes(declared, at)), function)
    elif declared.kind not in FUNCTIONS:
        function = typing.rules.value_part(declared) or function
    return _parameter_of(function, at)


def _parameter_of(function: Branch, at: int) -> Branch | None:
    parameters = function.part("parameters")
    if parameters is None or at >= len(parameters.named_children()):
        return None
    return parameters.named_children()[at].part("type")


def _given_by_call(typing: Typing, call: Branch) -> Branch | None:
    """The function that a call gives: `fold(onLeft)(either)`."""
    if (called := typing.callee_of(call)) is None:
        return None
    function = called.node if called.kind in FUNCTIONS else typing.rules.value_part(called)
    if function is None:
        return None
    typed = function.part("return_type")
    given = first_of(typed) if typed is not None else function.part("body")
    return given if given is not None and given.part("parameters") is not None else None


def _takes(function: Declared, at: int) -> bool:
    """Whether one of several declarations of a method has a parameter for an argument."""
    parameters = function.node.part("parameters")
    return parameters is None or at < len(parameters.named_children())


class JavaScript(JavaScriptModules):
    def names_in(self, node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
        """`o["name"]` and `{"name": 1}` name the member."""
        if node.type == "string_fragment" and _is_key(node):
            yield node, text(node)

    def carrier(self, leaf: Branch) -> Branch:
        if leaf.type != "string_fragment" or leaf.parent is None:
            return leaf
        string = leaf.parent
        around = string.parent
        return around if around is not None and around.type == "computed_property_name" else string

    def is_declaration(self, scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
        return leaf.place != "import_specifier.name" or leaf.at("^ alias") is None

    def declared_as(self, scopes: Scopes, leaf: Branch, node: Branch, entry: str) -> str:
        return "local function" if node.place == "variable_declaration." else entry

    def brings(self, call: Branch, text: Text) -> str | None:
        """`require("x")`, `await import("x")`."""
        callee, arguments = call.part("function"), call.part("arguments")
        if callee is None or arguments is None or text(callee) not in ("require", "import"):
            return None
        first = first_of(arguments)
        return text(first).strip("'\"") if first is not None and first.type == "string" else None

    def takes_element(self, looped: Declared) -> bool:
        """Not where a pattern takes the element apart."""
        return looped.leaf.parent is looped.node

    def shorthand_member(self, uses: Uses, leaf: Branch) -> Hashable:
        if leaf.type == "shorthand_property_identifier":
            owners = uses.typing.type_of(leaf.parent)
            return uses.member(owners) if owners else (UNKNOWN, "")
        member = _destructured(uses, leaf)
        declared = uses.scopes.by_leaf.get(id(leaf))
        if declared is not None and _is_required(uses, leaf):
            uses.join(declared, member)
        return member

    def means(self, uses: Uses, leaf: Branch) -> list[Hashable] | None:
        if _is_foreign(leaf):
            return [(MODULE, source_of(leaf, uses.scopes.text))]
        if (key := self.carrier(leaf)).place == "pair_pattern.key":
            return [_destructured(uses, key)]
        if leaf.type == "string_fragment":
            return [_quoted(uses, leaf)]
        if leaf.type == "private_property_identifier":  # of a class around it
            around = (owner for up in leaf.up() for owner in uses.scopes.owners_at(up))
            known = (each for owner in around for each in owner.members.get(uses.name, ()))
            return [next(known, (UNKNOWN, ""))]
        return [_property(uses, leaf)] if leaf.place == "jsx_attribute." else None

    def inherited(self, uses: Uses, owner: Owner) -> Hashable | None:
        """`{...a}` has what `a` has. A function has members that the language gives it."""
        if self.scopes.get(owner.node.type) == "function":
            return (UNKNOWN, "")
        spread = [child for child in owner.node.children if child.type == "spread_element"]
        keys = [uses.member(uses.typing.type_of(first_of(node))) for node in spread]
        for key in keys[1:]:
            uses.join(key, keys[0])
        return keys[0] if keys else None

    def kept_in(self, node: Branch, name: str, text: Text) -> Iterator[Branch]:
        """`F.prototype` has the members of what `new F()` makes."""
        named = node.part("name") if name == "prototype" else None
        if named is not None and self.scopes.get(node.type) in ("function", "class"):
            yield named

    def narrowed(self, typing: Typing, leaf: Branch, deep: int) -> Known:
        """The class of a callback's parameter, by what its place asks for: `xs.map(x => …)`."""
        declared = typing.lookup(typing.scopes.label(leaf), leaf)
        if declared is None or declared.kind != "parameter" or declared.scope is None:
            return None
        return _given(typing, declared.scope.node, (declared.node, declared.leaf), deep)

    def required_by(self, typing: Typing, declared: Declared) -> tuple[str, bool] | None:
        """Also what an object literal is meant for, or given to; `new`, and the language itself."""
        if declared.kind == "method" and declared.name == "constructor":
            return "`new`, which calls it", True
        if declared.owner is not None and declared.name == "prototype":
            return "the language, which reads it", True
        if declared.owner is None or declared.owner.node.type not in self.nameless:
            return super().required_by(typing, declared)
        known = owner_of_literal(typing, declared.owner.node)
        if any(owner.module is None for owner in known or ()):
            return None
        named = _context_type(typing, declared.owner.node)
        if named is None:
            return _given_to_another(typing, declared.owner.node)
        home = typing.over(named) or typing
        text = home.scopes.text(named).lstrip(": ")
        target = home.lookup(text, named, "type")
        certain = target is None or target.kind != "type"  # else a type that the caller chooses
        return None if text.split("<")[0] in _FREE else (text, certain)

    def adds_elsewhere(self, typing: Typing, owner: Owner) -> bool:
        """An object literal in a call of what another project has: `fetch(url, {…})`."""
        node = owner.node
        while node.parent is not None and node.parent.type in ("pair", "array", *self.nameless):
            node = node.parent
        callee = _callee(node) if owner.node.type in self.nameless else None
        if callee is None:
            return False
        if (member := typing.member_leaf(callee)) is None:
            called = typing.called(callee)
            return called is None or called.kind == "import"
        known = typing.type_of(self.receiver(member)) or (typing.scopes.plain,)
        return all(owner.module not in (None, PLAIN) for owner in known)

    def owner_of_literal(self, typing: Typing, literal: Branch) -> Known:
        return owner_of_literal(typing, literal)

    def called_on(self, typing: Typing, node: Branch) -> list[Branch | None]:
        """`x` in `x.save = function () {…}`; unknown in a function that is given away."""
        around = node.around(*_OWN_THIS)
        if around is not None and around.type == "function_declaration":
            return [around.part("name")]  # which `new` may make
        holder = around.parent if around is not None else None
        if around is None or holder is None or around.type != "function_expression":
            return []
        alone = holder.type == "arguments" and holder.named_children()[-1] is around
        target = around.at("^ left object")
        last = target.part("property") if target is not None else None
        if target is not None and last is not None and typing.scopes.text(last) == "prototype":
            target = target.part("object")
        return [target] if alone or around.at("^ left property") is not None else []


_OWN_THIS = places(  # what has a `this` of its own
    "function_expression function_declaration generator_function generator_function_declaration",
    "method_definition class_static_block class_body",
)


def _callee(argument: Branch) -> Branch | None:
    """What is called with a node as one of the arguments."""
    listed = argument.parent
    if listed is None or listed.type != "arguments":
        return None
    return listed.at("^ function") or listed.at("^ constructor")


def _given_to_another(typing: Typing, literal: Branch) -> tuple[str, bool] | None:
    """The call that has an object literal as an argument and is not declared in these files."""
    if (callee := _callee(literal)) is None:
        return None
    leaf = callee if callee.type in typing.rules.names else typing.member_leaf(callee)
    called = typing.called(leaf) if leaf is not None else None
    unknown = called is None or called.kind == "import"
    return (typing.scopes.text(callee), False) if unknown else None


_FREE = places("Record Partial Pick Omit Object object any unknown")  # have members of any name


def _is_key(node: Branch) -> bool:
    """A whole string that may name a member, or be a literal type or its value."""
    string, holder = node.parent, node.at("^ ^")
    if string is None or string.type != "string" or len(string.children) != 3 or holder is None:
        return False
    return "import" not in holder.type and "export" not in holder.type


def _is_foreign(leaf: Branch) -> bool:
    """A name in another module, or the one this module gives out: `{P as q}`, `{q as P}`."""
    if leaf.place == "export_specifier.name":
        return any(up.part("source") is not None for up in leaf.up())
    renamed = leaf.place == "import_specifier.name" and leaf.at("^ alias") is not None
    return renamed or leaf.place == "export_specifier.alias"


def _quoted(uses: Uses, leaf: Branch) -> Hashable:
    """`o["name"]`, `{"name": 1}`, or a literal type."""
    text, index = leaf.parent, leaf.at("^ ^ ^")
    if text is not None and text.place == "subscript_expression.index":
        return uses.member(uses.typing.type_of(text.at("^ object")))
    if index is not None and index.type == "lookup_type":
        return uses.member(uses.typing.named_type(index.named_children()[0]))
    if (picked := _picked_from(uses, leaf)) is not None:
        return uses.member(uses.typing.named_type(picked))
    return _keyed(uses, text) if text is not None else ("literal", "")


_BY_NAME = places("defineProperty hasOwn hasOwnProperty replaceProperty spy spyOn stub")


def _keyed(uses: Uses, text: Branch) -> Hashable:
    """The member that a string names: `"total" in cart`, `spyOn(cart, "total")`, `keyof Cart`."""
    typing, around, callee = uses.typing, text.parent, text.at("^ ^ function")
    given = around.named_children() if around is not None and callee is not None else ()
    name = (typing.member_leaf(callee) or callee) if callee is not None else None
    if around is None or (text.field == "left" and around.first("in")):
        says = next((said for up in text.up() if (said := up.part("return_type"))), text)
        guard = says.children[-1].part("type")  # `x is Cart`
        return uses.member(typing.type_of(text.at("^ right")) or typing.named_type(guard))
    if name is not None and typing.scopes.text(name) in _BY_NAME:
        holder = typing.rules.receiver(name) if given[0] is text else given[0]
        return uses.member(typing.type_of(holder))
    other = around.part("right" if text.field == "left" else "left") or text.at("^ ^ ^ value")
    compared = around.type in ("binary_expression", "switch_case")
    typed = typing.rules.written(typing, other, 0) if compared else _context_type(typing, text)
    if typed is None or (asked := _key_query(typing, typed)) is None:
        return ("literal", "")
    home, of, listed = typing.over(asked) or typing, first_of(asked), asked.at("^ ^ ^ ^ parameters")
    for argument, taken in zip(given, listed.named_children() if listed else (), strict=False):
        type_taken = taken.part("type")  # `get<T, K extends keyof T>(o: T, k: K)`
        if type_taken and of and home.scopes.text(type_taken) == f": {home.scopes.text(of)}":
            return uses.member(typing.type_of(argument))
    value = of is not None and of.type == "type_query"
    return uses.member(home.type_of(first_of(of)) if of and value else home.named_type(of))


def _key_query(typing: Typing, typed: Branch) -> Branch | None:
    """`keyof Cart` in a type, in what an alias stands for, or in what a parameter must be."""
    home, inside = typing.over(typed) or typing, None
    named = next((node for node in typed.walk() if node.type in typing.rules.names), typed)
    if known := home.resolved(home.lookup(home.scopes.text(named), named, "type")):
        inside = known.node.part("constraint") or known.node.part("value")
    every = (typed, inside) if inside is not None and inside.type != "object_type" else (typed,)
    nodes = (node for part in every for node in part.walk())
    return next((node for node in nodes if node.type == "index_type_query"), None)


def _picked_from(uses: Uses, leaf: Branch) -> Branch | None:
    """The type whose member a literal type names: `Pick<Cart, "total">`."""
    node = leaf.parent
    while node is not None and node.type in ("string", "literal_type", "union_type"):
        node = node.parent
    if node is None or node.type != "type_arguments" or node.parent is None:
        return None
    name, (first, *_) = node.parent.part("name"), node.named_children()
    picks = name is not None and uses.scopes.text(name) in ("Pick", "Omit")
    return first if picks and not first.start <= leaf.start < first.end else None


def _property(uses: Uses, leaf: Branch) -> Hashable:
    """The member of a component's parameter that an attribute sets: `<Card title="a" />`."""
    tag, typing = leaf.at("^ ^ name"), uses.typing
    if tag is None or (tag.type == "identifier" and uses.scopes.text(tag)[:1].islower()):
        ours = any(uses.scopes.owners_named("IntrinsicElements"))
        return (UNKNOWN if ours else EXTERNAL, "")  # an element of HTML
    name = tag if tag.type in typing.rules.names else typing.member_leaf(tag)
    declared = typing.called(name) if name is not None else None
    if declared is None or declared.kind == "import":
        return uses.member(typing.type_of_declared(declared) if declared is not None else None)
    function = declared.node if declared.kind in FUNCTIONS else typing.rules.value_part(declared)
    typed = _parameter_of(function, 0) if function is not None else None
    if declared.kind not in FUNCTIONS and (says := type_part(declared, typing.rules)) is not None:
        typed = typing.element(says)  # `React.FC<Props>`
    return uses.member(typing.named_type(typed))


def _is_required(uses: Uses, leaf: Branch) -> bool:
    """`const {x} = require("./m")` at the top of a file imports, where `./m` is in the tree."""
    value = leaf.at("^ ^ value")
    if value is None or uses.scopes.scope_of(leaf) is not uses.scopes.file:
        return False
    return uses.typing.word(value) is not None


def _destructured(uses: Uses, leaf: Branch) -> Hashable:
    """The member a `{name}` pattern takes, by the class of what is taken apart."""
    node = leaf.parent
    while node is not None and node.type in ("object_assignment_pattern", "pair_pattern"):
        node = node.parent
    if node is None or node.type != "object_pattern":
        return (UNKNOWN, "")
    return uses.member(taken_apart(uses.typing, node))


TABLES = """
names: identifier property_identifier private_property_identifier statement_identifier
  shorthand_property_identifier shorthand_property_identifier_pattern
scopes:
  function_declaration function_expression arrow_function method_definition: function
  generator_function generator_function_declaration class_static_block: function
  class_declaration class object: class
  statement_block for_statement for_in_statement catch_clause switch_body: block
declares:
  function_declaration.name generator_function_declaration.name: function outer
  function_expression.name class.name: function here
  class_declaration.name: class outer
  variable_declarator.name: local after
  for_in_statement.left catch_clause.parameter: local here
  formal_parameters. arrow_function.parameter: parameter here
  import_clause. namespace_import. import_specifier.alias import_specifier.name: import here
  method_definition.name: method class
  field_definition.property pair.key: field class
patterns: object_pattern. array_pattern. rest_pattern. pair_pattern.value
  object_assignment_pattern.left assignment_pattern.left
members: member_expression.property: object
keys:
  pair_pattern.key: pattern
  jsx_attribute.: element
calls:
  call_expression: function
  new_expression: constructor
labels: statement_identifier
quoted: string_fragment
shorthands: shorthand_property_identifier shorthand_property_identifier_pattern
exports: export_statement
assigned: assignment_expression.right
bases: class_heritage
literals: object class
nameless: object
own_this: method_definition function_expression generator_function
self_words: this self
passes_on: parenthesized_expression unary_expression await_expression
builds: new_expression
loops: for_in_statement for_statement
indexes: subscript_expression
returns: return_statement
carries_up: variable_declarator variable_declaration
plain: array number regex string template_string
builtins: Array BigInt Boolean Buffer Date Error Intl JSON Map Math Number Object Promise Proxy
  Reflect RegExp Set String Symbol WeakMap WeakSet console document globalThis localStorage
  crypto navigator performance process sessionStorage window
closed_modules: crypto document localStorage navigator performance process sessionStorage
keywords: await break case catch class const continue debugger default delete do else enum export
  extends false finally for function if import in instanceof new null return super switch this throw
  true try typeof var void while with yield implements interface let package private protected
  public static
of_many: add apply at bind call catch cause clear concat delete done entries every fill filter find
  findIndex flat forEach get has includes indexOf join keys length map message name next pop push
  reduce replace reverse set shift size slice some sort split stack test then toString trim value
  values abort aborted blur body checked children className click currentTarget dataset detail focus
  headers href json method ok parentElement query remove signal src status statusText style target
  text textContent
family: javascript
strings: string template_string
flags: merges makes in_order hoists free_members
"""
RULES = JavaScript(**tables(TABLES))
