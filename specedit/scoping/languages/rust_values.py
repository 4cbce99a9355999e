"""Rust: what is inside an Option, a Result, a list or an iterator, and in a variant's pattern.

Types are followed as they are written: `x.unwrap()`, `x?`, `|x| …`, `Some(x)`, `Kind::One(x)`.
"""

from __future__ import annotations

from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.scoping.written import Known, type_part
from specedit.syntax.branch import Branch, first_of

TAKES = places("unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked")
KEEPS = places(  # give something with the same inside
    "iter iter_mut into_iter drain as_ref as_mut as_deref as_deref_mut clone cloned copied by_ref",
    "next next_back nth first last first_mut last_mut get get_mut pop peek peekable find",
    "filter rev skip take skip_while take_while step_by chain cycle fuse inspect",
    "ok ok_or ok_or_else map_err or or_else or_insert take_if replace min_by max_by min_by_key",
    "max_by_key collect",
)
SHELLS = places("Some Ok")
PATTERNS = places("ref_pattern mut_pattern reference_pattern captured_pattern")


def taken_out(typing: Typing, node: Branch, deep: int) -> Known:
    """The class of `x?` or `x.unwrap()`, where that is what `node` is."""
    if node.type == "try_expression":
        return _class(typing, inside(typing, first_of(node), deep + 1), deep)
    called = node.part("function")
    member = typing.member_leaf(called) if called is not None else None
    if member is None or typing.scopes.label(member) not in TAKES:
        return None
    return _class(typing, inside(typing, typing.rules.receiver(member), deep + 1), deep)


def bound(typing: Typing, leaf: Branch, declared: Declared | None, deep: int) -> Known:
    """The class of what a closure is given, or a pattern takes out of what it matches."""
    if declared is None or declared.home is not typing.scopes or deep > MOST:
        return None
    if declared.leaf.place == "closure_parameters." or declared.node.type == "for_expression":
        return _class(typing, _given(typing, declared, deep), deep)
    name, pattern = declared.leaf, declared.leaf.parent
    while pattern is not None and pattern.type in PATTERNS:
        name, pattern = pattern, pattern.parent
    kind = pattern.part("type") if pattern is not None else None
    if pattern is None or kind is None or pattern.type != "tuple_struct_pattern":
        return None
    if typing.scopes.text(kind) in SHELLS:
        return _class(typing, inside(typing, _matched(pattern), deep + 1), deep)
    variant = _variant(typing, kind, pattern, deep)
    listed = variant.node.part("body") if variant is not None else None
    if listed is None or listed.type != "ordered_field_declaration_list":
        return None
    at = [one for one in pattern.named_children() if one is not kind].index(name)
    types = [one for one in listed.named_children() if one.field == "type"]
    return _class(typing, types[at], deep) if at < len(types) else None


MOST = 12  # steps through patterns and closures


def inside(typing: Typing, node: Branch | None, deep: int) -> Branch | None:
    """The type that is written for what an expression holds."""
    if node is None or deep > MOST:
        return None
    key = ("inside", id(node))
    return typing.project.remembered(key, lambda: _inside(typing, node, deep))


def _inside(typing: Typing, node: Branch, deep: int) -> Branch | None:
    while node.type in ("parenthesized_expression", "reference_expression"):
        inner = node.part("value") or first_of(node)
        if inner is None:
            return None
        node = inner
    if node.type == "try_expression":
        return _of_type(typing, inside(typing, first_of(node), deep + 1), deep)
    if node.type != "call_expression":
        return _of_type(typing, typing.type_written(node), deep)
    leaf = typing.called_leaf(node)
    called = typing.called(leaf, deep + 1) if leaf is not None else None
    if called is not None:
        return _of_type(typing, type_part(called, typing.rules), deep)
    function = node.part("function")
    member = typing.member_leaf(function) if function is not None else None
    held = inside(typing, typing.rules.receiver(member), deep + 1) if member is not None else None
    if member is not None and typing.scopes.label(member) in TAKES:
        return _of_type(typing, held, deep)
    return held if member is not None and typing.scopes.label(member) in KEEPS else None


def _of_type(typing: Typing, typed: Branch | None, deep: int) -> Branch | None:
    """`T` of `Option<T>`, `&[T]`, `impl Iterator<Item = T>`, and of a type that says `Item = T`."""
    while typed is not None and typed.type in ("reference_type", "abstract_type", "dynamic_type"):
        typed = typed.part("type") or typed.part("trait") or first_of(typed)
    if typed is None:
        return None
    if typed.type == "array_type":
        return typed.part("element")
    home = typing.over(typed) or typing
    for owner in home.named_type(typed, deep + 1) or ():
        for item in home.members((owner,), "Item") if owner.module is None else ():
            return item.node.part("type")
        if owner.module is None:
            return None
    arguments = typed.part("type_arguments")
    for one in arguments.named_children() if arguments is not None else ():
        if one.type != "lifetime":
            return one.part("type") if one.type == "type_binding" else one
    return None


def _class(typing: Typing, typed: Branch | None, deep: int) -> Known:
    return typing.named_type(typed, deep + 1) if typed is not None else None


def _given(typing: Typing, declared: Declared, deep: int) -> Branch | None:
    """The type of what a closure's parameter, or a loop's variable, stands for."""
    if declared.node.type == "for_expression":
        return inside(typing, declared.node.part("value"), deep + 1)
    closure = declared.leaf.around("closure_expression")
    call = closure.at("^ ^") if closure is not None and closure.place == "arguments." else None
    function = call.part("function") if call is not None else None
    member = typing.member_leaf(function) if function is not None else None
    if member is None:
        return None
    return inside(typing, typing.rules.receiver(member), deep + 1)


def _matched(pattern: Branch) -> Branch | None:
    """The expression that a pattern is compared with."""
    for up in pattern.up():
        if up.type in ("let_condition", "let_declaration"):
            return up.part("value")
        if up.type == "match_expression":
            return up.part("value")
        if up.type not in ("match_pattern", "match_arm", "match_block", "let_chain"):
            return None
    return None


def _variant(typing: Typing, kind: Branch, pattern: Branch, deep: int) -> Declared | None:
    """The variant that a pattern names."""
    name = kind.part("name") or kind
    path = kind.part("path")
    if path is None:
        return typing.resolved(typing.lookup(typing.scopes.label(name), name))
    owners = typing.type_of(path, deep + 1)
    for one in typing.members(owners or (), typing.scopes.label(name)):
        return one
    return None
