"""Python locals that are read where nothing may have set them: behind a branch that was left out,
or behind a loop over nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.languages.python_paths import body_of, has
from specedit.scoping.languages.tables import places
from specedit.syntax.branch import Branch

_INNER = places("function_definition class_definition lambda")
_CHOICES = places(
    "if_statement for_statement while_statement try_statement with_statement match_statement"
)


def unset(facts: Facts) -> Iterator[tuple[Branch, str]]:
    """A local that is set on one side only, and read behind both."""
    for function in facts.root.walk():
        body, listed = function.part("body"), function.part("parameters")
        if function.type != "function_definition" or body is None or listed is None:
            continue
        own = list(body.walk(without=_INNER))
        if any(one.type in ("global_statement", "nonlocal_statement") for one in own):
            continue
        taken = {facts.said(one) for one in listed.walk() if one.type == "identifier"}
        sets: dict[str, list[Branch]] = {}
        for one in own:
            if one.type == "identifier" and _is_set(one):
                sets.setdefault(facts.said(one), []).append(one)
        for name, leaves in sets.items():
            around = [_choice(one, body) for one in leaves]
            choice = around[0]
            if name in taken or choice is None or any(one is not choice for one in around):
                continue
            reads = [one for one in own if _is_read(facts, one, name, choice)]
            if reads and not _is_sure(facts, choice, leaves):
                head = facts.said(choice).split("\n", 1)[0].strip()[:40]
                yield reads[0], f"`{name}` is set in `{head}` only, and may not be set here"


def _is_read(facts: Facts, leaf: Branch, name: str, choice: Branch) -> bool:
    """Whether a name is read here, behind a statement, and no choice of the same head around it."""
    if leaf.type != "identifier" or leaf.start < choice.end or facts.said(leaf) != name:
        return False
    if leaf.place in ("attribute.attribute", "keyword_argument.name"):
        return False
    return not any(up.type in _CHOICES and up.type != "for_statement" for up in leaf.up())


def _is_set(leaf: Branch) -> bool:
    for up in (leaf, *leaf.up()):
        if up.field == "left" and up.parent is not None:
            return up.parent.type in ("assignment", "for_statement", "augmented_assignment")
        if up.type in (
            "as_pattern_target",
            "named_expression",
            "import_statement",
            "import_from_statement",
        ):
            return True
        if up.type in ("block", "call", "attribute", "subscript"):
            return False
    return False


def _choice(leaf: Branch, body: Branch) -> Branch | None:
    """The outermost statement around a place that may leave it out."""
    found = None
    for up in leaf.up():
        if up is body:
            return found
        if up.type in _CHOICES:
            found = up
    return found


def _is_sure(facts: Facts, choice: Branch, leaves: list[Branch]) -> bool:
    """Whether a statement sets a name whatever happens, or nobody can tell."""
    if choice.type == "for_statement":
        return False
    if choice.type != "if_statement":
        return True
    sides = [one for one in choice.children if one.field == "alternative"]
    bodies = [choice.part("consequence"), *(body_of(one) for one in sides)]
    closed = bool(sides) and sides[-1].type == "else_clause"
    sure = all(
        one is None or has(facts, one) or any(one.start <= leaf.start < one.end for leaf in leaves)
        for one in bodies
    )
    return closed and sure
