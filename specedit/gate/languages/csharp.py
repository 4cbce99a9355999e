"""C#: what other files of a namespace hold, no file tells; the locals of a class without a base
it does."""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.languages.java import void_returns
from specedit.gate.languages.outlook import Outlook
from specedit.gate.places import numbered, wrong
from specedit.gate.signature import Signature
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

_TYPES = places("class_declaration struct_declaration record_declaration interface_declaration")
_WORDS = places("value field nameof var dynamic args _ when not and or global await yield get set")
_FILLS = {"Format": "string String", "WriteLine": "Console", "Write": "Console"}


class CSharpOutlook(Outlook):
    def tells(self, facts: Facts) -> bool:
        """Not a script or a program of statements alone, and nothing `using static`."""
        for one in facts.root.children:
            if one.type == "using_directive" and one.first("static"):
                return False
            if one.type == "global_statement":
                return False
        return True

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        if not name[:1].islower() or leaf.type != "identifier":
            return False
        if leaf.place in ("qualified_name.qualifier", "member_access_expression.expression"):
            return False  # it may be a namespace
        parent = leaf.parent
        if parent is None or parent.type in ("invocation_expression", "name_colon", "argument"):
            return parent is not None and parent.type == "argument" and _alone(facts, leaf)
        plain = ("binary_expression", "assignment_expression", "return_statement", "interpolation")
        return parent.type in plain and _alone(facts, leaf)

    def is_once(self, facts: Facts, node: Branch) -> bool:
        modifiers = [facts.said(one) for one in node.children if one.type == "modifier"]
        return "partial" not in modifiers

    def signatures(self, facts: Facts, declared: Declared, callee: Branch) -> list[Signature]:
        owner = declared.owner
        if declared.kind not in ("method", "function") or owner is None or owner.bases:
            return []
        if not _alone(facts, callee):
            return []
        if callee.place != "invocation_expression.function":
            receiver = facts.typing.receiver(callee) if facts.typing else None
            if receiver is None or facts.said(receiver) not in ("this", owner.name):
                return []
        taken = self.takes(facts, declared)
        return [taken] if taken is not None else []

    def takes(self, facts: Facts, declared: Declared) -> Signature | None:
        listed = declared.node.part("parameters")
        if listed is None or declared.node.type != "method_declaration":
            return None
        if any(facts.said(one) == "params" for one in listed.children):
            return None
        order: list[str] = []
        needed: set[str] = set()
        for one in listed.named_children():
            name = one.part("name")
            if one.type != "parameter" or name is None:
                continue
            said = facts.said(one)
            if said.startswith(("this ", "params ", "[", "__arglist")):
                return None
            order.append(facts.said(name))
            if "=" not in said:
                needed.add(facts.said(name))
        return Signature(tuple(order), frozenset(needed))

    def argument_name(self, facts: Facts, argument: Branch) -> str:
        name = argument.part("name")
        return facts.said(name) if name is not None else ""

    def formats(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        for call in facts.root.walk():
            callee = call.part("function") if call.type == "invocation_expression" else None
            if callee is None or callee.type != "member_access_expression":
                continue
            owner, name = callee.part("expression"), callee.part("name")
            listed = call.part("arguments")
            if owner is None or name is None or listed is None:
                continue
            if facts.said(owner) not in _FILLS.get(facts.said(name), "").split():
                continue
            given = [one for one in listed.named_children() if one.type == "argument"]
            first = given[0].named_children() if given else []
            if len(given) == 2 or not first or first[-1].type != "string_literal":
                continue  # a single value may be an array
            if len(given) == 1 and facts.said(name) != "Format":
                continue
            wants = numbered(facts.said(first[-1]))
            if wants is not None and wants.count > len(given) - 1:
                yield call, wrong(wants, len(given) - 1)

    def contradictions(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        for node in facts.root.walk():
            typed, body = node.part("returns"), node.part("body")
            if node.type != "method_declaration" or typed is None or body is None:
                continue
            said = facts.said(typed)
            lazy = any(
                one.type == "modifier" and facts.said(one) == "async" for one in node.children
            )
            if lazy and said not in ("void", "Task", "ValueTask"):
                continue
            if body.type == "block" and (said == "void" or not lazy):
                yield from void_returns(facts, said == "void", body)


def _alone(facts: Facts, leaf: Branch) -> bool:
    """Whether nothing around a place can bring it names: no base, no other part of the class."""
    inside = False
    for up in leaf.up():
        if up.type in ("query_expression", "attribute", "preproc_if", "switch_expression"):
            return False
        if up.type in _TYPES:
            inside = True
            said = [facts.said(one) for one in up.children if one.type == "modifier"]
            if up.first("base_list") or "partial" in said:
                return False
    return inside


OUTLOOK = CSharpOutlook(
    given=_WORDS,
    blocks=places("block"),
    ends=places("return_statement throw_statement break_statement continue_statement"),
    hoisted=places("local_function_statement labeled_statement empty_statement"),
    arguments=places("argument_list"),
    once=places("method_declaration class_declaration constructor_declaration"),
    overloads=True,
)
