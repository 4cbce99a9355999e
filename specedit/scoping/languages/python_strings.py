"""Names of code that Python writes as text: `__all__`, annotations, pytest's parameters.

Any other string is a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.scoping.languages.rules import Text
from specedit.syntax.branch import Branch

FIRST = re.compile(r"(?<![\w.])[^\W\d]\w*")  # of a dotted name, what stands for itself


def names_in(node: Branch, text: Text) -> Iterator[tuple[Branch, str]]:
    """The names in the content of a string, each as a leaf."""
    string = node.parent
    if string is None or string.parent is None or text(string)[:1] not in "'\"":
        return
    if _is_listed(string, text):
        yield node, text(node)
    elif parametrized(string, text) is not None or _is_annotation(string, text):
        spelling = text(node)
        for match in FIRST.finditer(spelling):
            yield node.within(spelling, match.start(), match.end(), "identifier"), match[0]


def parametrized(string: Branch, text: Text) -> Branch | None:
    """The function whose parameters a string of `@pytest.mark.parametrize("a, b", …)` names."""
    listed = string.parent
    first = string
    if listed is not None and listed.type in ("tuple", "list"):
        first, listed = listed, listed.parent
    called = listed.at("^ function") if listed is not None else None
    if listed is None or called is None or not text(called).endswith(".parametrize"):
        return None
    is_first = listed.type == "argument_list" and listed.named_children()[0] is first
    return listed.at("^ ^ ^ definition") if is_first else None


def _is_listed(string: Branch, text: Text) -> bool:
    """In `__all__ = ["name"]`, and what is added to it."""
    for up in string.up():
        if up.type in ("assignment", "augmented_assignment"):
            left = up.part("left")
            return left is not None and text(left) == "__all__"
        if up.type not in ("list", "tuple", "binary_operator", "expression_list"):
            return False
    return False


def _is_annotation(string: Branch, text: Text) -> bool:
    """`x: "Name"`, `list["Name"]`, `cast("Name", x)`, `TypeVar("T", bound="Name")`."""
    holder = string.parent
    assert holder is not None
    if holder.type == "keyword_argument" and (name := holder.part("name")) is not None:
        return text(name) == "bound"
    if holder.type == "argument_list" and holder.parent is not None:
        called = holder.parent.part("function")
        first = holder.named_children()[:1] == [string]
        return first and called is not None and text(called).split(".")[-1] == "cast"
    for up in string.up():
        head = up.children[0] if up.type in ("generic_type", "subscript") else None
        if head is not None and text(head).split(".")[-1] in ("Literal", "Annotated"):
            return False
        if up.type == "type":
            around = up.parent
            if around is None or around.type not in ("type_parameter", "union_type"):
                return True
        elif up.type not in ("generic_type", "type_parameter", "subscript", "binary_operator"):
            return False
    return False
