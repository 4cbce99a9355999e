"""Rust's names in places of their own: in macros, which the grammar leaves as tokens, and `self`.

`self` is a keyword that stands for a parameter: `&mut self` renamed to `foo` is `foo: &mut Self`,
and the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from functools import partial

from specedit.errors import UsageError
from specedit.scoping.languages.rules import Text, places, table
from specedit.scoping.languages.rust_modules import around_of, follow
from specedit.scoping.scope import Rewrite
from specedit.scoping.uses import EXTERNAL, UNKNOWN, Uses
from specedit.syntax.branch import Branch, grow_fragment
from specedit.syntax.languages import BY_NAME

MACROS = table(  # macro -> which of its arguments is the format
    """
    print println eprint eprintln format format_args panic todo unimplemented: 0
    unreachable anyhow bail: 0
    write writeln assert debug_assert ensure: 1
    assert_eq assert_ne debug_assert_eq debug_assert_ne: 2
    trace debug info warn error log: any
    """
)
_HOLE = re.compile(r"\\u\{[^}]*\}|\{\{|\}\}|\{(?P<inside>[^{}]*)\}")
_ARGUMENT = re.compile(r"^[^\W\d]\w*(?=\s*(?::|$))|(?<=[^\w$])[^\W\d]\w*(?=\$)")
_STRINGS = frozenset({"string_literal", "raw_string_literal", "char_literal"})

NESTED = frozenset({"function_item", "impl_item", "mod_item", "trait_item"})
CALLS = "calls written with a dot, or without one, may have to change with `self`"
_PATHS = ("identifier", "self", "super", "crate")


# macros of the standard library whose arguments are expressions
EXPRESSIONS = places(
    "assert assert_eq assert_ne dbg debug_assert debug_assert_eq debug_assert_ne eprint eprintln",
    "format format_args panic print println todo unimplemented unreachable vec write writeln",
)
_ARRAY = b"fn f(){[", b"];}"  # where they are read as what they are


def read_macros(root: Branch, data: bytes) -> None:
    """Read the arguments of the standard library's macros, which the grammar leaves as tokens."""
    if b"!" not in data:
        return
    own = set(re.findall(rb"macro_rules!\s*(\w+)", data))
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        if node.type != "macro_invocation":
            continue
        named, tokens = node.part("macro"), node.first("token_tree")
        name = data[named.start : named.end] if named is not None else b""
        if tokens is None or name in own or name.decode("utf-8", "replace") not in EXPRESSIONS:
            continue
        made = grow_fragment(data, BY_NAME["rust"], tokens, _ARRAY, "array_expression")
        if made is not None and len(tokens.children) > 2:
            tokens.children = (tokens.children[0], made, tokens.children[-1])
            waiting.append(made)


def formatted(node: Branch, text: Text) -> Iterator[Branch]:
    """The names in a string, each as a leaf of its own."""
    if node.type in _STRINGS and _is_format(node, text):
        whole = text(node)
        for first, last in _arguments(whole):
            yield node.within(whole, first, last, "identifier")


def _arguments(text: str) -> Iterator[tuple[int, int]]:
    for hole in _HOLE.finditer(text):
        if hole["inside"]:
            for match in _ARGUMENT.finditer(hole["inside"]):
                at = hole.start("inside")
                yield at + match.start(), at + match.end()


def _is_format(node: Branch, text: Text) -> bool:
    """Whether a string stands where its macro expects a format."""
    row = tokens = node.parent
    if tokens is not None and tokens.type == "array_expression":
        tokens = tokens.parent
    if row is None or tokens is None or tokens.type != "token_tree":
        return False
    where = MACROS.get(_macro(tokens, text))
    before = row.children[: row.children.index(node)]
    return where == "any" or where == str(sum(text(node) == "," for node in before))


def _macro(tokens: Branch, text: Text) -> str:
    """The macro that the tokens belong to; inside of another macro it is tokens, too."""
    holder = tokens.parent
    if holder is None:
        return ""
    if holder.type == "macro_invocation":
        named = holder.part("macro")
        return text(named).rsplit("::", 1)[-1] if named is not None else ""
    at = holder.children.index(tokens)
    before = [text(child) for child in holder.children[max(at - 2, 0) : at]]
    return before[0] if before[1:] == ["!"] else ""


def in_macro(uses: Uses, leaf: Branch) -> Hashable:
    """A macro's tokens have no structure but their neighbours."""
    parent = leaf.parent
    assert parent is not None
    row = parent.children
    at = row.index(leaf)
    before = row[at - 1] if at else None
    sign = uses.scopes.text(before) if before is not None else ""
    if sign in (".", "::") and at > 1:
        receiver = parent.children[at - 2]
        chained = at > 2 and uses.scopes.text(parent.children[at - 3]) in (".", "::")
        is_path = receiver.type in _PATHS or uses.scopes.text(receiver) == "$crate"
        if is_path and not (chained and sign == "."):
            key = uses.member(uses.typing.type_of(receiver))
            start = max(n for n in range(at) if n == 0 or uses.scopes.text(row[n]) in ";{}")
            used = any(uses.scopes.text(token) == "use" for token in row[start:at])
            return (used and key == (UNKNOWN, "") and _imported_in_tokens(uses, leaf)) or key
        return (UNKNOWN, "")
    if sign == "fn":  # a function of its own, unless the macro implements a trait
        owners = (
            declaration.owner for declaration in uses.declared if declaration.owner is not None
        )
        traits = any(owner.node.type == "trait_item" for owner in owners)
        return (UNKNOWN, "") if traits else (EXTERNAL, "")
    around = parent.parent.children if parent.parent is not None else ()
    if sign in ("{", ",") and (built := _built_by(uses, parent, at)) is not None:
        named, typing = uses.scopes.text(built), uses.typing
        path = around[number - 2] if (number := around.index(built)) > 1 else None
        variants = typing.members(typing.type_of(path) or (), named) if path is not None else []
        return uses.member(typing.class_of(variants[0]) if variants else typing.named(named, built))
    return _imported_in_tokens(uses, leaf) or uses.bare(leaf, "any")


def _imported_in_tokens(uses: Uses, leaf: Branch) -> Hashable | None:
    """The meaning of a name that `use` brings in among the tokens around it."""
    name, here = uses.name, uses.typing
    for used in _imports_around(uses, leaf):
        if name in used:
            found = follow(here.project, around_of(here.project, here, leaf), used[name])
            return next((declared for declared in found if declared.name == name), (EXTERNAL, ""))
    return None


def _imports_around(uses: Uses, leaf: Branch) -> Iterator[dict[str, list[str]]]:
    """The names that `use a::{b, c::d};` brings into the tokens around a name, with their paths."""
    for tokens in leaf.up():
        if tokens.type != "token_tree":
            return
        yield uses.typing.project.remembered(
            ("used in tokens", id(tokens)), partial(_imports_of, tokens, uses.scopes.text)
        )


def _imports_of(tokens: Branch, text: Text) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    row = tokens.children
    for number, token in enumerate(row):
        if text(token) == "use":
            ends = (at for at in range(number, len(row)) if text(row[at]) == ";")
            _add_imports(row[number + 1 : next(ends, len(row))], [], text, result)
    return result


def _add_imports(
    row: Sequence[Branch], path: list[str], text: Text, result: dict[str, list[str]]
) -> None:
    whole = list(path)
    words = [*(text(token) for token in row), ""]
    for number, token in enumerate(row):
        if token.type == "token_tree":
            _add_imports(token.children[1:-1], whole, text, result)
        elif words[number] == ",":
            whole = list(path)
        elif words[number].isidentifier() and words[number] != "as":
            renamed = number > 0 and words[number - 1] == "as"
            whole = whole if renamed else [*whole, words[number]]
            if renamed or words[number + 1] not in ("::", "as"):
                result[words[number]] = whole


def _built_by(uses: Uses, tokens: Branch, at: int) -> Branch | None:
    """The type in front of `A { name: 1 }`."""
    after = tokens.children[at + 1 : at + 2]
    around = tokens.parent.children if tokens.parent is not None else ()
    before = around[around.index(tokens) - 1] if around and around[0] is not tokens else None
    named = before is not None and before.type == "identifier"
    is_field = [uses.scopes.text(node) for node in after] == [":"]
    braced = uses.scopes.text(tokens)[:1] == "{"
    return before if named and is_field and braced else None


def from_self(root: Branch, data: bytes, new: str, line: int | None) -> list[Rewrite]:
    """`self` of the method on `line` becomes the parameter `new`."""
    found = (node for node in root.walk() if node.type == "self_parameter")
    both = ((node.at("^ ^"), node) for node in found)
    methods = [(up, node) for up, node in both if up is not None and up.type == "function_item"]
    if line is not None:
        last = {id(up): up.line + data.count(b"\n", up.start, up.end) for up, _ in methods}
        methods = [each for each in methods if each[0].line <= line <= last[id(each[0])]][-1:]
    if len(methods) != 1:
        raise UsageError(
            f"`self` is in {len(methods)} methods here", hint="Say which: --line N of the method."
        )
    function, parameter = methods[0]
    results = [_parameter(parameter, data, new)]
    body = function.part("body")
    if body is not None:
        results += [Rewrite(use.start, use.end, "self", new) for use in _uses(body, data)]
    return results


def to_self(leaf: Branch, data: bytes) -> Rewrite | None:
    """The parameter `leaf` of a method written as `self`; None where its type does not allow it."""
    parameter, typed = leaf.parent, leaf.at("^ type")
    if parameter is None or typed is None or parameter.type != "parameter":
        return None
    listed = parameter.parent.named_children() if parameter.parent is not None else []
    added = parameter.around("impl_item")
    owner = added.part("type") if added is not None else None
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
    return Rewrite(parameter.start, parameter.end, before, f"{match[1] or mutable}self")


def _parameter(node: Branch, data: bytes, new: str) -> Rewrite:
    before = data[node.start : node.end].decode()
    reference = re.fullmatch(r"(&\s*(?:'\w+\s+)?(?:mut\s+)?)self", before)
    if reference is not None:
        written = f"{new}: {reference[1]}Self"
    elif ":" in before:
        written = before.replace("self", new, 1)
    else:
        written = before.replace("self", f"{new}: Self")
    return Rewrite(node.start, node.end, before, written)


def _uses(body: Branch, data: bytes) -> Iterator[Branch]:
    def text(node: Branch) -> str:
        return data[node.start : node.end].decode("utf-8", "replace")

    for node in body.walk(without=NESTED):
        if node.type == "self" and (node.parent is None or "scoped" not in node.parent.type):
            yield node
        yield from (child for child in formatted(node, text) if text(child) == "self")
