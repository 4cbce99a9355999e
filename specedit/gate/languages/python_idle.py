"""Python code that runs and has no effect, or another one than it looks: a loop's variable that is
set and not read, a result that nobody takes, `raise StopIteration` in a generator.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.scoping.languages.tables import places
from specedit.syntax.branch import Branch

_FUNCTIONS = places("function_definition")
_INNER = places("function_definition class_definition lambda")
_VALUES = places(  # expressions that do nothing as a statement
    "comparison_operator boolean_operator not_operator binary_operator unary_operator",
    "integer float identifier list dictionary set true false none subscript conditional_expression",
)
_GIVERS = frozenset({"sorted", "reversed", "enumerate", "zip", "map", "filter"})
_COPIES = {  # methods of a text that give another one, and what they take at least
    "replace": 2,
    "strip": 0,
    "lstrip": 0,
    "rstrip": 0,
    "lower": 0,
    "upper": 0,
    "title": 0,
    "capitalize": 0,
    "casefold": 0,
    "zfill": 1,
    "removeprefix": 1,
    "removesuffix": 1,
}


def idle(facts: Facts) -> Iterator[tuple[Branch, str]]:
    for node in facts.root.walk():
        if node.type == "for_statement":
            yield from _overwritten(facts, node)
        elif node.type == "expression_statement":
            yield from _dropped(facts, node)
        elif node.type == "raise_statement":
            yield from _stopped(facts, node)
        elif node.type == "binary_operator":
            yield from _joined(facts, node)
        elif node.type == "if_statement":
            yield from _known(facts, node)


def _overwritten(facts: Facts, loop: Branch) -> Iterator[tuple[Branch, str]]:
    """`i += 2` at the end of `for i in …`: the next round sets `i` anew."""
    left, body = loop.part("left"), loop.part("body")
    if left is None or left.type != "identifier" or body is None:
        return
    name = facts.said(left)
    inner = [one for one in body.walk() if one.type in ("assignment", "augmented_assignment")]
    leaves = [one for one in body.walk() if one.type == "identifier" and facts.said(one) == name]
    for one in inner:
        target = one.part("left")
        if target is None or target.type != "identifier" or facts.said(target) != name:
            continue
        loops = any(up.type in ("while_statement", "for_statement") for up in _until(one, loop))
        if loops or any(leaf.start >= one.end for leaf in leaves) or _is_read_behind(facts, loop):
            continue
        yield one, f"`{facts.said(one)}` has no effect: the next round sets `{name}` anew"


def _until(node: Branch, end: Branch) -> Iterator[Branch]:
    for up in node.up():
        if up is end:
            return
        yield up


def _is_read_behind(facts: Facts, loop: Branch) -> bool:
    """Whether a loop's variable stands behind the loop, in the same function."""
    left = loop.part("left")
    around = next((up for up in loop.up() if up.type in _FUNCTIONS), facts.root)
    name = facts.said(left) if left is not None else ""
    return any(
        one.type == "identifier" and one.start >= loop.end and facts.said(one) == name
        for one in around.walk()
    ) or any(
        up.type in ("while_statement", "for_statement")
        and up is not loop
        and name in _names(facts, up, loop)
        for up in _until(loop, around)
    )


def _names(facts: Facts, outer: Branch, inner: Branch) -> set[str]:
    """The names that an outer loop has beside an inner one."""
    return {
        facts.said(one)
        for one in outer.walk()
        if one.type == "identifier" and not inner.start <= one.start < inner.end
    }


def _dropped(facts: Facts, statement: Branch) -> Iterator[tuple[Branch, str]]:
    """A value as a statement, or a result that nobody takes."""
    value = next(iter(statement.named_children()), None)
    if value is None or not any(up.type in _FUNCTIONS for up in statement.up()):
        return
    said = " ".join(facts.said(value).split())
    shown = said if len(said) <= 50 else said[:50] + "…"
    if any(up.type in ("try_statement", "with_statement") for up in statement.up()):
        return  # whether it raises may be what is asked
    if value.type in _VALUES and not any(
        one.type in ("call", "await", "yield", "subscript", "attribute") for one in value.walk()
    ):
        yield statement, f"`{shown}` stands alone, and nothing takes its value"
    callee, listed = value.part("function"), value.part("arguments")
    if value.type != "call" or callee is None or listed is None:
        return
    name = facts.said(callee.part("attribute") or callee)
    given = len(listed.named_children())
    lost = name in _GIVERS and callee.type == "identifier" and name not in facts.by_name
    if callee.type == "attribute" and name in _COPIES:
        lost = (
            given >= _COPIES[name]
            and (name != "replace" or given == 2)
            and listed.first("keyword_argument") is None
        )
    if lost:
        yield statement, f"nothing takes what `{shown}` gives back"


def _stopped(facts: Facts, statement: Branch) -> Iterator[tuple[Branch, str]]:
    if "StopIteration" not in facts.said(statement):
        return
    around = next((up for up in statement.up() if up.type in _FUNCTIONS), None)
    body = around.part("body") if around is not None else None
    if body is not None and any(one.type == "yield" for one in body.walk(without=_INNER)):
        yield statement, "`raise StopIteration` in a generator is a RuntimeError; `return` ends it"


def _joined(facts: Facts, node: Branch) -> Iterator[tuple[Branch, str]]:
    """`a[:k] + a[k:]`, which is `a`."""
    left, right = node.part("left"), node.part("right")
    if left is None or right is None or left.type != "subscript" or right.type != "subscript":
        return
    one, other = ("".join(facts.said(side).split()) for side in (left, right))
    head, colon, end = one.removesuffix("]").partition("[:")
    if colon and end and other == f"{head}[{end}:]" and ":" not in end:
        yield node, f"`{facts.said(node)}` is `{head}` again"


def _known(facts: Facts, choice: Branch) -> Iterator[tuple[Branch, str]]:
    """`if a != 0: … else: a = 0`: what the other side sets is so already."""
    asked, other = choice.part("condition"), choice.part("alternative")
    body = other.part("body") if other is not None and other.type == "else_clause" else None
    if asked is None or asked.type != "comparison_operator" or len(asked.children) != 3:
        return
    left, sign, right = (facts.said(one) for one in asked.children)
    if sign not in ("!=", "is not") or body is None or len(body.named_children()) != 1:
        return
    inner = body.named_children()[0]
    inner = inner.named_children()[0] if inner.named_children() else inner
    target, value = inner.part("left"), inner.part("right")
    if inner.type == "assignment" and target is not None and value is not None:
        same = facts.said(value).removesuffix(".0") == right.removesuffix(".0")
        if facts.said(target) == left and same:
            yield inner, f"`{facts.said(inner)}` puts a value where it is already"
