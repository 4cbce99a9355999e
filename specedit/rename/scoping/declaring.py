"""Which names a file declares, as what, and from where they are visible.

Reads the language's tables; what looks like a declaration and is none is told here.
"""

from __future__ import annotations

from specedit.rename.scoping.scope import Declared, Owner, Scope
from specedit.rename.scoping.scopes import Scopes
from specedit.syntax.branch import Branch
from specedit.syntax.languages import Language


def declared_scopes(text: str, language: Language) -> Scopes:
    """The scopes of a text with all its declarations."""
    scopes = Scopes(text, language)
    for leaf, name in scopes.leaves:
        found = _declaring(scopes, leaf, name)
        if found is not None:
            _add(scopes, leaf, name, *found)
    return scopes


def _declaring(scopes: Scopes, leaf: Branch, name: str) -> tuple[str, str, Branch] | None:
    """Kind, place to declare in and carrying node, when this leaf declares its name."""
    rules, node = scopes.rules, leaf
    if leaf.type in rules.labels or leaf.place in rules.labels:
        return None
    if leaf.type == "string_fragment":
        node = leaf.parent or leaf
    path = False
    while node.parent is not None:
        if node.parent.type == "computed_property_name" and leaf.type != "string_fragment":
            return None
        place = node.place
        entry = rules.declares.get(place)
        path = path or node.parent.type == "qualified_identifier"
        if entry is not None:
            if path and node.parent.type != "function_definition":
                return None  # C++: `int A::s = 1` defines what the class declares
            if not _really(scopes, leaf, name, node.parent):
                return None
            kind, where = entry.split()
            return kind, where, node.parent
        if place not in rules.patterns and f"{node.parent.type}." not in rules.patterns:
            return None
        if f"{node.parent.type}." in rules.patterns and node.field in (
            "type",
            "value",
            "right",
        ):
            return None
        node = node.parent
    return None


def _really(scopes: Scopes, leaf: Branch, name: str, node: Branch) -> bool:
    """Places that look like declarations and are none."""
    parent = leaf.parent
    if parent is None:
        return True
    if parent.type == "dotted_name":  # only `a` of `import a.b`, only a bare `case name`
        if node.type == "case_pattern":
            return len(parent.children) == 1
        return parent.children[0] is leaf
    capital = scopes.rules.constants_match and leaf.type == "identifier" and name[:1].isupper()
    if capital and node.type in _PATTERNS:
        return False  # `None`, a constant, a unit variant
    if leaf.place == "import_specifier.name" and parent.part("alias") is not None:
        return False
    if leaf.place == "field_pattern.name" and leaf.type != "shorthand_field_identifier":
        return False
    if name[0] in "@" or (name[0] == "$" and node.type in ("assignment", "operator_assignment")):
        return False  # Ruby: an instance's or everybody's
    if leaf.place == "qualified_identifier.name":
        function = scopes.by_node.get(id(node))
        if function is not None and function.owner is not None and function.owner.name == name:
            return False
    if leaf.place == "function_declarator.declarator" and name == _class_around(scopes, node):
        return False  # C++: a constructor
    if node.type == "type_parameter_declaration":
        return leaf.type in ("type_identifier", "identifier") and leaf.field != "type"
    if node.type in (
        "class_specifier",
        "struct_specifier",
        "union_specifier",
        "enum_specifier",
    ):
        return node.part("body") is not None
    if node.type == "type_parameter" and leaf.field not in ("name", ""):
        return False
    if node.type == "class_parameter" or node.type == "parameter":
        names = [child for child in node.children if child.type == leaf.type]
        return leaf.parent is not node or leaf.field != "" or names[0] is leaf
    if node.type in ("catch_block", "enum_entry", "type_pattern", "import"):
        names = [child for child in node.children if child.type == leaf.type]
        return not names or names[-1 if node.type == "import" else 0] is leaf
    return True


def _add(scopes: Scopes, leaf: Branch, name: str, kind: str, where: str, node: Branch) -> None:
    scope = _target(scopes, node, where, leaf)
    after = 0
    if kind in ("local", "value") and scope.kind in ("block", "function") and scopes.rules.in_order:
        after = node.end if where == "after" else leaf.start
        if where == "subject" and (subject := node.part("value")) is not None:
            after = subject.end
        if scope.kind == "function" and node.type == "variable_declarator":
            after = 0 if _is_var(node) else after
    if kind == "parameter" and "record" in scope.node.type:
        kind = "field"
    owner: Owner | None = None
    if node.type == "enumerator" and (enum := scopes.scope_of(node)).owner is not None:
        owner = enum.owner
    elif where == "receiver" and (method := scopes.by_node.get(id(node))) and method.owner:
        owner, kind = method.owner, "method"
    elif where == "class" or _joins(scope, kind, where):
        owner = scope.owner
        if kind == "function" and scope.kind == "class":
            kind = "method"
        elif kind == "local" and scope.kind == "class":
            kind = "field"
    made = Declared(name, kind, leaf, node, scope, owner, after)
    scopes.by_leaf[id(leaf)] = made
    if owner is not None:
        owner.members.setdefault(name, []).append(made)
    if owner is None or scope.kind == "namespace" or node.type == "enumerator":
        scope.declared.setdefault(name, []).append(made)
    if kind == "parameter" and _is_property(scopes, node):
        holder = next(
            (
                scopes.by_node[id(up)]
                for up in node.up()
                if id(up) in scopes.by_node and scopes.by_node[id(up)].kind == "class"
            ),
            None,
        )
        if holder is not None and holder.owner is not None:
            holder.owner.members.setdefault(name, []).append(made)


def _target(scopes: Scopes, node: Branch, where: str, leaf: Branch) -> Scope:
    if where in ("outer", "receiver"):
        scope = scopes.scope_of(node, outside=True)
        if scope.kind == "enum":  # C: enumerators are visible around their enum
            scope = scopes.scope_of(scope.node, outside=True)
        return scope
    if where == "file":
        return scopes.file
    if (
        where == "function"
        and (elsewhere := _announced(scopes, node, scopes.label(leaf))) is not None
    ):
        return elsewhere
    scope = scopes.scope_of(node)
    if where == "class":
        while scope.kind not in ("class", "enum") and scope.parent is not None:
            scope = scope.parent
    elif where == "function" or (node.type == "variable_declarator" and _is_var(node)):
        while scope.kind in ("block", "template") and scope.parent is not None:
            scope = scope.parent
    return scope


def _announced(scopes: Scopes, node: Branch, name: str) -> Scope | None:
    """Python's `global x` and `nonlocal x`: the scope that an assignment to x means."""
    if not scopes.announces:
        return None
    function = scopes.scope_of(node)
    while function.kind == "block" and function.parent is not None:
        function = function.parent
    said = _announcements(scopes, function).get(name)
    if said is None:
        return None
    if said == "global_statement":
        return scopes.file
    outer = function.parent
    while outer is not None and name not in outer.declared and outer.parent is not None:
        outer = outer.parent
    return outer


def _announcements(scopes: Scopes, function: Scope) -> dict[str, str]:
    """What a function's own `global` and `nonlocal` statements name."""
    known = scopes.announced.get(id(function))
    if known is not None:
        return known
    found: dict[str, str] = {}
    body = function.node.part("body") if function.kind == "function" else None
    waiting = [body] if body is not None else []
    while waiting:
        statement = waiting.pop()
        if statement.type not in ("function_definition", "class_definition", "lambda"):
            waiting.extend(statement.children)
        if statement.type in ("global_statement", "nonlocal_statement"):
            for child in statement.children:
                found[scopes.text(child)] = statement.type
    scopes.announced[id(function)] = found
    return found


def _class_around(scopes: Scopes, node: Branch) -> str:
    """The class whose body `node` stands in."""
    scope = scopes.scope_of(node, outside=node.type == "function_definition")
    return scope.owner.name if scope.kind == "class" and scope.owner is not None else ""


def _is_property(scopes: Scopes, node: Branch) -> bool:
    """TypeScript's `constructor(private x)` and PHP's promoted parameters."""
    return node.type == "property_promotion_parameter" or (
        node.type in ("required_parameter", "optional_parameter")
        and any(
            child.type in ("accessibility_modifier", "readonly", "override_modifier")
            for child in node.children
        )
    )


def _is_var(node: Branch) -> bool:
    """JavaScript's `var`, as opposed to `let` and `const`."""
    parent = node.parent
    return (
        parent is not None and parent.type == "variable_declaration" and bool(parent.first("var"))
    )


def _joins(scope: Scope, kind: str, where: str) -> bool:
    """Whether a name declared right in a class or module is its member."""
    own_name = where == "here" and kind in ("class", "function")  # `x = class Own {}`
    return (
        scope.kind in ("class", "namespace") and kind not in ("type", "parameter") and not own_name
    )


_PATTERNS = frozenset(
    {"let_declaration", "let_condition", "match_pattern", "for_expression", "parameter"}
)
