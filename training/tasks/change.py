"""A change that a task asks for, and what the kinds share about nodes of seven grammars."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from specedit.syntax.branch import Branch
from training.tasks.source import Edit, Source

NUMBERS = (
    *("integer", "float", "number", "int_literal", "float_literal"),
    *("decimal_integer_literal", "decimal_floating_point_literal"),
    *("integer_literal", "real_literal"),
)
FUNCTIONS = ("function", "method", "constructor", "arrow")
STRINGS = ("string", "interpreted_string_literal", "string_literal")
CONTENTS = (
    *("string_content", "string_fragment"),
    *("interpreted_string_literal_content", "string_literal_content"),
)
BOOLEANS = ("true", "false", "boolean_literal")
NAMES = ("identifier", "property_identifier", "field_identifier", "shorthand_property_identifier")
CALLS = (
    *("call", "call_expression", "method_invocation", "invocation_expression"),
    *("new_expression", "object_creation_expression", "macro_invocation"),
)
ARGUMENTS = ("argument_list", "arguments")
BLOCKS = ("block", "statement_block", "statement_list", "constructor_body")
RAISES = ("raise_statement", "throw_statement")
RETURNS = ("return_statement", "return_expression")
EXITS = (*RAISES, *RETURNS, "continue_statement")
IFS = ("if_statement", "if_expression")
CALL_STATEMENTS = ("expression_statement",)
_LOGS = """\
print println printf eprintln log debug info warn warning error trace fine warnf errorf infof debugf
fatalf writeline logdebug loginformation logwarning logerror
"""
LOGS = frozenset(_LOGS.split())
SHORT = 90  # characters of code that an instruction quotes


@dataclass(frozen=True)
class Change:
    """One wish. Both sides are changes of the file as it is: those of `before` take away what
    programmers wrote, and those of `after` lead to the right answer, or one of `also`."""

    kind: str
    place: int  # a byte, for the function it is in
    before: tuple[Edit, ...]
    after: tuple[Edit, ...]
    words: dict[str, str]  # for the blanks of a wording
    named: tuple[str, ...] = ()  # what the wordings say about the place, but for the function
    also: Sequence[tuple[Edit, ...]] = ()
    form: str = ""  # wordings of their own
    whole: bool = False  # about the file or a type: no function is named
    mention: str = ""  # code that the wordings quote, which must stand there once
    position: str = ""  # of `[position]` in the wordings


def put(node: Branch, new: str) -> Edit:
    """Another text for a node."""
    return node.start, node.end, new


def forward(
    kind: str, place: int, edits: Sequence[Edit], words: dict[str, str], *named: str, **more: Any
) -> Change:
    """A change whose result is the answer."""
    return Change(kind, place, (), tuple(edits), words, named, **more)


def backward(
    kind: str, place: int, edits: Sequence[Edit], words: dict[str, str], *named: str, **more: Any
) -> Change:
    """A change that is made first, so that the file as it is is the answer."""
    return Change(kind, place, tuple(edits), (), words, named, **more)


def inner(node: Branch) -> Branch:
    """A node without the wrappers that grammars put around it."""
    while node.type in (
        "argument",
        "literal_element",
        "parenthesized_expression",
        "expression_list",
    ):
        named = node.named_children()
        if len(named) != 1 or len(node.children) > 3:
            break
        node = named[0]
    return node


def callee(node: Branch, source: Source) -> str:
    """The last name of what a call calls, or ""."""
    function = (
        node.part("function") or node.part("name") or node.part("constructor")
        or node.part("type") or node.part("macro")
    )  # fmt: skip
    if function is None:
        return ""
    parts = re.findall(r"\w+", source.say(function).partition("<")[0])
    return parts[-1] if parts else ""


def arguments(call: Branch) -> list[Branch]:
    """The arguments of a call; none where a comment stands among them."""
    holder = call.part("arguments") or call.first(*ARGUMENTS)
    if holder is None or any("comment" in child.type for child in holder.children):
        return []
    return list(holder.named_children())


def call_in(statement: Branch) -> Branch | None:
    """The call that a statement consists of."""
    named = statement.named_children() if statement.type in CALL_STATEMENTS else ()
    node = named[0] if len(named) == 1 else None
    while node is not None and node.type in ("await", "await_expression"):
        node = next(iter(node.named_children()), None)
    return node if node is not None and node.type in CALLS else None


def one_line(text: str) -> bool:
    return "\n" not in text and 0 < len(text) <= SHORT


def plain_string(node: Branch, source: Source) -> str:
    """The content of a string without prefix, escapes or inserted values; else ""."""
    if node.type not in STRINGS or len(node.children) != 3:
        return ""
    content = node.children[1]
    if content.type not in CONTENTS or node.children[0].end - node.start != 1:
        return ""
    text = source.say(content)
    return text if "\\" not in text and "\n" not in text else ""


def name_given(node: Branch, source: Source) -> str:
    """What a value is given to: a variable, constant, parameter, field or key; or ""."""
    around = node.parent
    while around is not None and around.type in ("expression_list", "literal_element", "type"):
        if len(around.named_children()) > 1:
            return ""
        node, around = around, around.parent
    if around is None:
        return ""
    target = (
        around.part("name") or around.part("left") or around.part("key")
        or around.part("pattern") or around.part("property") or around.part("field")
    )  # fmt: skip
    known = ("call", "argument_list", "arguments", "subscript", "binary_expression", "attribute")
    if target is None or target.start >= node.start or around.type in known:
        return ""
    operator = around.part("operator")
    if operator is not None and source.say(operator) not in ("=", ":="):
        return ""
    text = source.say(target).strip("\"'")
    parts = text.split(".")
    return text if len(parts) <= 2 and re.fullmatch(r"[A-Za-z_][\w.]*\w", text) else ""


def slips(word: str, rng: random.Random) -> list[str]:
    """A word with two letters swapped, one left out, or one doubled."""
    place = rng.randrange(1, len(word) - 2)
    start, rest = word[:place], word[place:]
    return [start + rest[1] + rest[0] + rest[2:], start + rest[1:], start + rest[0] + rest]


def statements(function: Branch) -> list[Branch]:
    """The statements of a block."""
    nodes: Sequence[Branch] = function.named_children()
    if len(nodes) == 1 and nodes[0].type == "statement_list":
        nodes = nodes[0].named_children()
    return list(nodes)


def blocks(source: Source) -> Iterator[Branch]:
    for node in source.of(*BLOCKS):
        if not (node.type == "block" and node.first("statement_list")):
            yield node


def moved(node: Branch, target: int, source: Source, end: str = "") -> tuple[Edit, ...]:
    """The change that moves a statement or element before the byte `target`."""
    indent = source.indent(target)
    text = source.say(node) + end + ("\n" + indent if source.alone(node.start, node.end) else " ")
    return (source.without(node), (target, target, text))


def is_function_body(block: Branch, source: Source) -> bool:
    """Whether a block is the body of a function that the outline lists."""
    holder = block.parent
    if holder is not None and holder.type == "block":  # Go's list of statements
        block, holder = holder, holder.parent
    if holder is None or block.field != "body" or not holder.type.startswith(FUNCTIONS):
        return False
    function = source.function_at(block.start)
    return function is not None and function.last_line == source.line_of(block.end)
