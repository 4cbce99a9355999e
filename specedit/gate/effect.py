"""New code that has no effect: it runs, and nothing would be different without it.

Values that are put where they are already, choices whose sides are the same, locals and parameters
that nothing reads. What is peculiar to a language, its own table knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import FUNCTIONS, Declared
from specedit.syntax.branch import Branch

_ASSIGNMENTS = places("assignment assignment_expression assignment_statement")
_CHOICES = places("if_statement if_expression")
_DOUBLING = frozenset({"and", "or", "&&", "||", "-", "/", "<", ">", "<=", ">="})
_BINARY = places("binary_operator boolean_operator comparison_operator binary_expression")
_INSIDE = places(
    "function_definition function_declaration function_item method_definition method_declaration",
    "arrow_function function_expression func_literal lambda_expression closure_expression",
)
_SET = places("assignment.left variable_declarator.name let_declaration.pattern")
_READS_ALL = re.compile(r"\b(?:locals|vars|eval|exec)\(")
_BARE = re.compile(r"(?s)^\W*(?:(?:return|pass|raise|throw|panic|todo|unimplemented)\b.*)?$")


def hits(change: Change) -> Iterator[Hit]:
    if not change.before.text.strip():
        return
    known = Counter(why for _, why in _idle(change.before))
    for node, why in _idle(change.after):
        if known[why]:
            known[why] -= 1
            continue
        yield Hit("effect", node.line, why)
    yield from _unread(change)


def _idle(facts: Facts) -> Iterator[tuple[Branch, str]]:
    outlook = outlook_of(facts.language.name)
    if outlook is None:
        return
    for node in facts.root.walk():
        if node.type in _ASSIGNMENTS:
            left, right = node.part("left"), node.part("right")
            same = left and right and _alike(facts, left, right)
            plain = node.part("type") is None and _sign(facts, node) == "="
            if same and plain and any(up.type in _INSIDE for up in node.up()):
                yield node, f"`{short(facts.said(node))}` puts a value where it is already"
        elif node.type in _BINARY and len(node.children) == 3:
            left, sign, right = node.children
            same = _alike(facts, left, right) and not _calls(left)
            if same and not sign.named and facts.said(sign) in _DOUBLING:
                yield node, f"both sides of `{short(facts.said(node))}` are the same"
        elif node.type in _CHOICES:
            yield from _twins(facts, node)
    yield from outlook.idle(facts)


def _alike(facts: Facts, one: Branch, other: Branch) -> bool:
    """Whether two places hold the same text; long chains of operators have long sides."""
    sizes = one.end - one.start, other.end - other.start
    return sizes[0] == sizes[1] and facts.said(one) == facts.said(other)


def _sign(facts: Facts, node: Branch) -> str:
    unnamed = [facts.said(one) for one in node.children if not one.named]
    named = node.part("operator")
    return facts.said(named) if named is not None else "".join(unnamed)


def _calls(node: Branch) -> bool:
    return any("call" in one.type or "invocation" in one.type for one in node.walk())


def _twins(facts: Facts, node: Branch) -> Iterator[tuple[Branch, str]]:
    """A choice whose two sides are the same code."""
    first, other = node.part("consequence"), node.part("alternative")
    if first is None or other is None or other.type in ("elif_clause", *_CHOICES):
        return
    body = other.part("body") or next(iter(other.named_children()), None)
    body = body if other.type == "else_clause" else other
    if body is None or body.type in _CHOICES or not first.named_children():
        return
    if facts.said(first).split() == facts.said(body).split():
        yield node, f"both sides of `{short(facts.said(node))}` are the same"


def _unread(change: Change) -> Iterator[Hit]:
    """New locals and parameters that nothing in their function reads."""
    if outlook_of(change.after.language.name) is None or _READS_ALL.search(change.after.text):
        return
    old = {(one.name, function.name) for one, function in _owned(change.before)}
    for one, function in _owned(change.after):
        if (one.name, function.name) in old or one.name.startswith("_"):
            continue
        node = function.node
        uses = (
            name == one.name and node.start <= leaf.start < node.end
            for leaf, name in change.after.leaves
        )
        if sum(uses) == 1:
            what = "parameter" if one.kind == "parameter" else "variable"
            yield Hit("effect", one.leaf.line, f"the new {what} `{one.name}` is never read")


def _owned(facts: Facts) -> Iterator[tuple[Declared, Declared]]:
    """Every local that is simply set and every parameter, with its function."""
    if facts.typing is None:
        return
    declared = list(facts.typing.scopes.by_leaf.values())
    functions = {id(one.node): one for one in declared if one.kind in FUNCTIONS}
    for one in declared:
        if one.kind not in ("local", "parameter") or one.scope is None or one.member_of:
            continue
        if one.kind == "local" and (one.leaf.place not in _SET or _holds(facts, one)):
            continue
        around = (one.scope.node, *one.scope.node.up())
        function = next((functions[id(up)] for up in around if id(up) in functions), None)
        if function is not None and (one.kind == "local" or _is_plain(facts, function)):
            yield one, function


def _holds(facts: Facts, one: Declared) -> bool:
    """Whether a local is there for what happens when it goes: `using var lock = …`."""
    start = facts.data.rfind(b"\n", 0, one.leaf.start) + 1
    head = facts.data[start : one.leaf.start].decode("utf-8", "replace")
    return re.search(r"\b(?:using|try)\b[^;{]*$", head) is not None


def _is_plain(facts: Facts, function: Declared) -> bool:
    """Whether a function's form is its own: no method that stands for another one, nothing that is
    registered somewhere, no body that does nothing yet."""
    body, around = function.node.part("body"), function.node.parent
    if body is None or (around is not None and "decorated" in around.type):
        return False
    if function.owner is not None:
        alone = facts.language.name == "python" and not function.owner.bases
        if not alone or (function.name.startswith("__") and function.name != "__init__"):
            return False
    return _BARE.match(facts.said(body)) is None


def short(said: str) -> str:
    line = said.split("\n", 1)[0].strip()
    return line if len(line) <= 50 else line[:50] + "…"
