"""Go: a `return` with another number of values than its function's signature has."""

from __future__ import annotations

from collections.abc import Iterator

from specedit.check.finding import Finding, at, fresh
from specedit.check.parsed import Change, ParsedText
from specedit.syntax.branch import Branch

_FUNCTIONS = ("function_declaration", "method_declaration", "func_literal")
_CALLS = ("call_expression", "parenthesized_expression", "type_conversion_expression")


def wrong_returns(change: Change) -> Iterator[Finding]:
    """One for each `return` that does not fit, unless one of this text did not fit before."""
    if change.after.language.name != "go":
        return
    known = (text for _, text in _wrong(change.before))
    for leaf, text in fresh(known, _wrong(change.after), lambda one: one[1]):
        yield at("returns", leaf.line, text)


def _wrong(parsed: ParsedText) -> Iterator[tuple[Branch, str]]:
    for node in parsed.root.walk():
        if node.type != "return_statement":
            continue
        function = node.around(*_FUNCTIONS)
        if function is None:
            continue
        wanted, named = _results(function)
        listed = node.first("expression_list")
        values = (
            [] if listed is None else [v for v in listed.named_children() if v.type != "comment"]
        )
        if len(values) == wanted or (not values and named):
            continue
        if len(values) == 1 and wanted and values[0].type in _CALLS:
            continue  # it may give several values
        shown = parsed.text_of(node).split("\n", 1)[0][:60]
        yield node, f"`{shown}` has {len(values)} values, and its function returns {wanted}"


def _results(function: Branch) -> tuple[int, bool]:
    """How many values a function returns, and whether they have names."""
    result = function.part("result")
    if result is None:
        return 0, False
    if result.type != "parameter_list":
        return 1, False
    names = [
        sum(child.field == "name" for child in node.children)
        for node in result.named_children()
        if node.type == "parameter_declaration"
    ]
    return sum(max(1, count) for count in names), any(names)
