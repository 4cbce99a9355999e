"""Members of `self` and `this` that nothing in the file sets, where a class is closed: it has no
base, no decorator, and nothing in the file that sets members by their names.

A name counts as set wherever it stands as anything but a variable or such a member.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from specedit.check.finding import Finding, at
from specedit.check.parsed import Change, ParsedText
from specedit.scoping.builtin_names import words
from specedit.scoping.scopes import Scopes
from specedit.syntax.branch import Branch


@dataclass(frozen=True, slots=True)
class _Members:
    """How a language writes a member of the instance, and what opens a class."""

    access: str  # place of the member's name
    classes: frozenset[str]
    opens: frozenset[str]  # parts of a class that may bring members
    dynamic: re.Pattern[str]  # what sets members by their names
    given: frozenset[str]  # members of every object
    instance: str = "this"
    functions: frozenset[str] = frozenset()  # that have an instance of their own


_SCRIPT = _Members(
    "member_expression.property",
    words("class_declaration class"),
    words("class_heritage decorator index_signature"),
    re.compile(
        r"Object\.(?:assign|defineProperty|setPrototypeOf)|\bthis\[|prototype|\bas any\b|extends"
    ),
    words("constructor toString valueOf hasOwnProperty toLocaleString isPrototypeOf"),
    functions=words("function_expression function_declaration generator_function object"),
)
_LANGUAGES = {
    "python": _Members(
        "attribute.attribute",
        words("class_definition"),
        words("argument_list decorator"),
        re.compile(
            r"\b(?:setattr|__dict__|vars|__getattr\w*|__slots__|exec|NotImplementedError)\b|Mixin"
        ),
        frozenset(),
        "self",
    ),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "java": _Members(
        "field_access.field",
        words("class_declaration"),
        words("superclass super_interfaces modifiers>annotation modifiers>marker_annotation"),
        re.compile(r"\bextends\b"),
        frozenset(),
        functions=words("object_creation_expression"),
    ),
    "csharp": _Members(
        "member_access_expression.name",
        words("class_declaration struct_declaration"),
        words("base_list attribute_list"),
        re.compile(r"\bpartial\b"),
        frozenset(),
    ),
    "rust": _Members(
        "field_expression.field",
        words("impl_item"),
        frozenset(),
        re.compile(r"\bDeref\b"),
        frozenset(),
        "self",
    ),
}
_WORD = re.compile(r"[^\W\d][\w$]*")


def unset_members(change: Change) -> Iterator[Finding]:
    """One for each name, at its first use. A class that had such a member before is not closed."""
    known = {holder for holder, _, _ in _unset(change.before)}
    names: set[str] = set()
    for holder, name, leaf in _unset(change.after):
        had = change.after.language.name != "python" or _class_named(change.before, holder)
        if holder not in known and name not in names and had:
            names.add(name)
            text = f"`{name}` is no member that `{holder}` sets, and it has no base"
            yield at("undefined", leaf.line, text)


def _class_named(parsed: ParsedText, name: str) -> bool:
    """Whether there is a class of this name: a new one may be made for others to extend."""
    return parsed.scopes is not None and bool(parsed.scopes.owners_named(name))


def _unset(parsed: ParsedText) -> Iterator[tuple[str, str, Branch]]:
    """Class, name and place of each member of an instance that nothing sets."""
    rules, scopes = _LANGUAGES.get(parsed.language.name), parsed.scopes
    if rules is None or scopes is None or rules.dynamic.search(parsed.text):
        return
    places: dict[str, list[tuple[str, Branch]]] = {}
    others: Counter[str] = Counter()  # places that set nothing
    for leaf, name in scopes.leaves:
        if leaf.place == rules.access and (holder := _holder(leaf, rules, scopes)):
            places.setdefault(name, []).append((holder, leaf))
        elif _is_variable(leaf, scopes):
            others[name] += 1
    if not places:
        return
    written = Counter(_WORD.findall(parsed.text))
    for name, used in places.items():
        if written[name] <= len(used) + others[name] and name not in rules.given:
            yield from ((holder, name, leaf) for holder, leaf in used)


def _is_variable(leaf: Branch, scopes: Scopes) -> bool:
    """Whether a name is a local, a parameter, or a use that has nothing in front of it."""
    declared = scopes.by_leaf.get(id(leaf))
    if declared is not None:
        return declared.kind in ("local", "parameter") and declared.member_of is None
    rules = scopes.rules
    apart = leaf.place in rules.members or leaf.place in rules.keys or rules.is_shorthand(leaf)
    return leaf.type == "identifier" and not apart


def _holder(leaf: Branch, rules: _Members, scopes: Scopes) -> str:
    """The closed class whose instance has its member read here; "" for any other place."""
    access = leaf.parent
    if access is None or access.parent is None or access.children[0].end - access.start > 4:
        return ""
    if scopes.text(access.children[0]) != rules.instance or access.field == "left":
        return ""
    called = scopes.rules.calls.get(access.parent.type) == access.field
    if called and scopes.language.name in ("csharp", "rust"):
        return ""  # an extension method, or one of a trait
    for up in access.up():
        if up.type in rules.functions:
            return ""
        if up.type in rules.classes:
            return _closed(up, rules, scopes)
    return ""


def _closed(node: Branch, rules: _Members, scopes: Scopes) -> str:
    name = scopes.rules.class_name(node, scopes.text)
    owners = scopes.owners_named(name)
    if len(owners) != 1 or not name:
        return ""  # a second declaration of the name adds to it
    if scopes.language.name == "rust":
        own = owners[0].node
        return name if own.type == "struct_item" and own.first("field_declaration_list") else ""
    around = node.parent
    if around is not None and around.type == "decorated_definition":
        return ""
    for part in node.children:
        if part.type in rules.opens:
            return ""
        if any(f"{part.type}>{child.type}" in rules.opens for child in part.children):
            return ""
    body = node.part("body")
    if body is not None and any(child.type in rules.opens for child in body.children):
        return ""
    if scopes.language.name == "python" and "__init__" not in owners[0].members:
        return ""  # it may be made to be extended next to a class that sets more
    bases = {base for owner in scopes.owners for base in owner.bases}
    return "" if name in bases else name
