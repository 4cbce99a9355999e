"""Rust's `self`: a keyword that stands for a parameter, so renaming it rewrites the parameter.

`&mut self` renamed to `foo` is `foo: &mut Self`, and the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.errors import UsageError
from specedit.scoping.languages.rust_macros import formatted
from specedit.scoping.rewrite import Rewrite
from specedit.syntax.branch import Branch

NESTED = frozenset({"function_item", "impl_item", "mod_item", "trait_item"})
CALLS = "calls written with a dot, or without one, may have to change with `self`"


def from_self(root: Branch, data: bytes, new: str, line: int | None) -> list[Rewrite]:
    """`self` of the method on `line` becomes the parameter `new`."""
    methods = [
        (function, parameter)
        for function in root.walk()
        if function.type == "function_item" and (parameter := _self_of(function)) is not None
    ]
    if line is not None:
        methods = [one for one in methods if one[0].line <= line <= _last(one[0], data)][-1:]
    if len(methods) != 1:
        raise UsageError(
            f"`self` is in {len(methods)} methods here", hint="Say which: --line N of the method."
        )
    function, parameter = methods[0]
    results = [_parameter(parameter, data, new)]
    body = function.part("body")
    if body is not None:
        results += [Rewrite(one.start, one.end, "self", new, "code") for one in _uses(body, data)]
    return results


def to_self(leaf: Branch, data: bytes) -> Rewrite | None:
    """The parameter `leaf` of a method written as `self`; None where its type does not allow it."""
    parameter = leaf.parent
    typed = parameter.part("type") if parameter is not None else None
    if parameter is None or typed is None or parameter.type != "parameter":
        return None
    listed = parameter.parent.named_children() if parameter.parent is not None else []
    owner = next((up.part("type") for up in parameter.up() if up.type == "impl_item"), None)
    if owner is None or listed[:1] != [parameter]:
        return None
    named = data[owner.start : owner.end].decode()
    match = re.fullmatch(
        r"(&\s*(?:'\w+\s+)?(?:mut\s+)?)?(.+)", data[typed.start : typed.end].decode()
    )
    if match is None or match[2] not in ("Self", named):
        return None
    before = data[parameter.start : parameter.end].decode()
    mutable = "mut " if parameter.first("mutable_specifier") else ""
    return Rewrite(parameter.start, parameter.end, before, f"{match[1] or mutable}self", "code")


def _self_of(function: Branch) -> Branch | None:
    parameters = function.part("parameters")
    return parameters.first("self_parameter") if parameters is not None else None


def _parameter(node: Branch, data: bytes, new: str) -> Rewrite:
    before = data[node.start : node.end].decode()
    reference = re.fullmatch(r"(&\s*(?:'\w+\s+)?(?:mut\s+)?)self", before)
    if reference is not None:
        written = f"{new}: {reference[1]}Self"
    elif ":" in before:
        written = before.replace("self", new, 1)
    else:
        written = before.replace("self", f"{new}: Self")
    return Rewrite(node.start, node.end, before, written, "code")


def _uses(body: Branch, data: bytes) -> Iterator[Branch]:
    def text(node: Branch) -> str:
        return data[node.start : node.end].decode("utf-8", "replace")

    for node in body.walk(without=NESTED):
        if node.type == "self" and (node.parent is None or "scoped" not in node.parent.type):
            yield node
        yield from (one for one in formatted(node, text) if text(one) == "self")


def _last(node: Branch, data: bytes) -> int:
    return node.line + data.count(b"\n", node.start, node.end)
