"""Go: the package's other files bring names, and a selector's operand that is a package does not.

An import that nothing uses does not compile; nor does a call with another number of arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.languages.outlook import Outlook
from specedit.gate.places import percents, wrong
from specedit.gate.signature import Given, Signature
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

STANDARD = places(
    "bufio bytes cmp context errors fmt io ioutil iter json log maps math os rand regexp slices",
    "slog sort strconv strings sync atomic time unicode utf8 filepath http httptest url sql exec",
    "reflect runtime signal testing hex base64 sha256 md5 binary template tls net bits big heap",
)
_PRINTS = {  # where the text stands among the arguments
    **dict.fromkeys(places("Printf Sprintf Errorf Fatalf Panicf Logf Skipf"), 0),
    "Fprintf": 1,
}
_OWNERS = places("fmt log t b tb")


class GoOutlook(Outlook):
    def tells(self, facts: Facts) -> bool:
        return True

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        """Only a package of the standard library that nobody imports."""
        return leaf.place == "selector_expression.operand" and name in STANDARD

    def is_used_by_name(self, facts: Facts, imported: Declared) -> bool:
        """Where the path alone says what the package is called."""
        node = imported.node
        path = node.part("path")
        said = facts.said(path).strip('"`') if path is not None else ""
        if imported.name in ("_", ".") or said == "C":
            return False
        return node.part("name") is not None or "." not in said.split("/")[0]

    def gives(self, facts: Facts, call: Branch) -> Given | None:
        given = super().gives(facts, call)
        listed = call.first(*self.arguments)
        alone = listed.named_children() if listed is not None else []
        if given is not None and given.places == 1 and alone[0].type == "call_expression":
            return None  # what it gives may be several
        return given

    def signatures(self, facts: Facts, declared: Declared, callee: Branch) -> list[Signature]:
        receiver = facts.typing.receiver(callee) if facts.typing else None
        if declared.kind == "method" and receiver is not None and facts.typing is not None:
            name = facts.said(receiver).strip("(*)")
            if any(owner.name == name for owner in facts.typing.scopes.owners):
                return []  # `T.Method` takes the receiver, too
        taken = self.takes(facts, declared)
        return [taken] if taken is not None else []

    def takes(self, facts: Facts, declared: Declared) -> Signature | None:
        listed = declared.node.part("parameters")
        if listed is None or declared.node.type not in self.once:
            return None
        order: list[str] = []
        more = False
        for one in listed.named_children():
            names = [child for child in one.children if child.field == "name"]
            if one.type == "variadic_parameter_declaration":
                more = True
            elif one.type == "parameter_declaration":
                order += [facts.said(name) for name in names] or [f"argument {len(order) + 1}"]
        places_ = tuple(f"{name} {at}" if name == "_" else name for at, name in enumerate(order))
        return Signature(places_, frozenset(places_), len(places_), frozenset(), more)

    def is_once(self, facts: Facts, node: Branch) -> bool:
        name = node.part("name")
        return name is not None and facts.said(name) not in ("init", "_")

    def formats(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        for call in facts.root.walk():
            callee = call.part("function") if call.type == "call_expression" else None
            if callee is None or callee.type != "selector_expression":
                continue
            owner, name = callee.part("operand"), callee.part("field")
            listed = call.part("arguments")
            if owner is None or name is None or listed is None or facts.said(owner) not in _OWNERS:
                continue
            at = _PRINTS.get(facts.said(name))
            given = [one for one in listed.named_children() if one.type != "comment"]
            if at is None or len(given) <= at or given[-1].type == "variadic_argument":
                continue
            text, values = given[at], given[at + 1 :]
            if "string_literal" not in text.type or len(values) == 1 != _plain(values):
                continue
            wants = percents(facts.said(text), "vTtbcdoOqxXUeEfFgGsprw")
            if wants is not None and (why := wrong(wants, len(values))):
                yield call, why

    def contradictions(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        """Returns of another number of values than the function gives."""
        for node in facts.root.walk():
            body = node.part("body")
            if node.type not in _FUNCTIONS or body is None:
                continue
            wanted, named = _results(node)
            for one in body.walk(without=("func_literal",)):
                if one.type != "return_statement":
                    continue
                listed = one.first("expression_list")
                values = listed.named_children() if listed is not None else []
                values = [value for value in values if value.type != "comment"]
                if (not values and named) or (len(values) == 1 != wanted and _calls(values[0])):
                    continue
                if len(values) != wanted:
                    name = node.part("name")
                    who = f"`{facts.said(name)}`" if name is not None else "a function"
                    yield one, f"{who} gives back {wanted} values and this returns {len(values)}"


_FUNCTIONS = places("function_declaration method_declaration func_literal")


def _plain(values: list[Branch]) -> int:
    """1, unless a single value is a call that may give several."""
    return 0 if values[0].type == "call_expression" else 1


def _calls(value: Branch) -> bool:
    return value.type == "call_expression"


def _results(function: Branch) -> tuple[int, bool]:
    """How many values a function gives back, and whether they have names."""
    result = function.part("result")
    if result is None:
        return 0, False
    if result.type != "parameter_list":
        return 1, False
    count, named = 0, False
    for one in result.named_children():
        names = [child for child in one.children if child.field == "name"]
        named = named or bool(names)
        count += len(names) or 1
    return count, named


OUTLOOK = GoOutlook(
    blocks=places("statement_list"),
    ends=places("return_statement break_statement continue_statement goto_statement"),
    hoisted=places("labeled_statement"),
    arguments=places("argument_list"),
    spreads=places("variadic_argument"),
    once=places("function_declaration method_declaration"),
    imports=places("import_declaration"),
)
