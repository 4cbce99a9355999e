"""Which names a file declares, as what, and from where they are visible.

Reads the language's tables; the language's rules tell what looks like a declaration and is not one.
"""

from __future__ import annotations

from specedit.scoping.scope import Declared, Owner, Scope
from specedit.scoping.scopes import Scopes
from specedit.syntax.branch import Branch
from specedit.syntax.languages import Language


def declared_scopes(text: str, language: Language) -> Scopes:
    """The scopes of a text with all its declarations."""
    scopes = Scopes(text, language)
    for leaf, name in scopes.leaves:
        result = _declaring(scopes, leaf, name)
        if result is not None:
            _add(scopes, leaf, name, *result)
    return scopes


def _declaring(scopes: Scopes, leaf: Branch, name: str) -> tuple[str, str, Branch] | None:
    """Kind, place to declare in and carrying node, when this leaf declares its name."""
    rules = scopes.rules
    if leaf.type in rules.labels or leaf.place in rules.labels:
        return None
    node = rules.carrier(leaf)
    while node.parent is not None:
        place = node.place
        entry = rules.declares.get(place)
        if entry is not None:
            kind, where = entry.split()
            message = rules.declares_as(scopes, leaf, name, node.parent, kind, where)
            return (*message, node.parent) if message is not None else None
        anywhere = f"{node.parent.type}." in rules.patterns
        if place not in rules.patterns and not anywhere:
            return None
        if anywhere and node.field in ("type", "value", "right"):
            return None
        node = node.parent
    return None


def _add(scopes: Scopes, leaf: Branch, name: str, kind: str, where: str, node: Branch) -> None:
    scope = _target(scopes, node, where, name)
    after = _visible_from(scopes, scope, leaf, node, where) if kind in ("local", "value") else 0
    owner: Owner | None = None
    if where == "enumerator":
        owner = scopes.scope_of(node).owner
    elif where == "receiver" and (method := scopes.by_node.get(id(node))) and method.owner:
        owner, kind = method.owner, "method"
    elif where == "class" or _joins(scope, kind, where):
        owner = scope.owner
        if kind == "function" and scope.kind == "class":
            kind = "method"
        elif kind == "local" and scope.kind == "class":
            kind = "field"
    made = Declared(name, kind, leaf, node, scope, owner, after, scopes)
    scopes.by_leaf[id(leaf)] = made
    if owner is not None:
        owner.members.setdefault(name, []).append(made)
    if owner is None or scope.kind == "namespace" or where == "enumerator":
        scope.declared.setdefault(name, []).append(made)
    if where == "property" and (holder := _class_around(scopes, node)) is not None:
        holder.members.setdefault(name, []).append(made)
        made.also = holder


def _visible_from(scopes: Scopes, scope: Scope, leaf: Branch, node: Branch, where: str) -> int:
    """The byte from which a local is visible in its own scope."""
    if scope.kind not in ("block", "function") or not scopes.rules.in_order or where == "function":
        return 0
    if where == "subject" and (subject := node.part("value")) is not None:
        return subject.end
    return node.end if where == "after" else leaf.start


def _target(scopes: Scopes, node: Branch, where: str, name: str) -> Scope:
    if where in ("outer", "receiver", "enumerator"):
        scope = scopes.scope_of(node, outside=True)
        if where == "enumerator" and scope.kind == "enum":
            scope = scopes.scope_of(scope.node, outside=True)
        return scope
    if where == "file":
        return scopes.file
    if where == "function":
        elsewhere = scopes.rules.elsewhere(scopes, node, name)
        if elsewhere is not None:
            return elsewhere
    scope = scopes.scope_of(node)
    if where == "class":
        while scope.kind not in ("class", "enum") and scope.parent is not None:
            scope = scope.parent
    elif where == "function":
        while scope.kind in ("block", "template") and scope.parent is not None:
            scope = scope.parent
    return scope


def _class_around(scopes: Scopes, node: Branch) -> Owner | None:
    """The innermost class that `node` stands in."""
    around = (scopes.by_node[id(up)] for up in node.up() if id(up) in scopes.by_node)
    return next((scope.owner for scope in around if scope.kind == "class"), None)


def _joins(scope: Scope, kind: str, where: str) -> bool:
    """Whether a name declared right in a class or module is its member."""
    own_name = where == "here" and kind in ("class", "function")  # `x = class Own {}`
    return (
        scope.kind in ("class", "namespace") and kind not in ("type", "parameter") and not own_name
    )
