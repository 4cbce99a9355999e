"""JavaScript and, below it, TypeScript: a module names what it imports, and the host brings more.

A call may give fewer or more arguments than JavaScript's function takes; TypeScript refuses both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specedit.gate.facts import Facts
from specedit.gate.languages.outlook import Outlook
from specedit.gate.signature import Signature
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

HOST = places(
    "undefined NaN Infinity arguments eval isFinite isNaN parseFloat parseInt decodeURI escape",
    "decodeURIComponent encodeURI encodeURIComponent unescape globalThis window self top parent",
    "document console alert confirm prompt fetch setTimeout setInterval clearTimeout clearInterval",
    "setImmediate clearImmediate queueMicrotask structuredClone requestAnimationFrame atob btoa",
    "cancelAnimationFrame requestIdleCallback cancelIdleCallback navigator location history screen",
    "localStorage sessionStorage indexedDB caches crypto performance origin name event status open",
    "close print stop focus blur scroll scrollTo scrollBy getComputedStyle matchMedia getSelection",
    "postMessage addEventListener removeEventListener dispatchEvent innerWidth innerHeight length",
    "outerWidth outerHeight devicePixelRatio scrollX scrollY pageXOffset pageYOffset reportError",
    "frames opener external customElements visualViewport importScripts onmessage isSecureContext",
    "process global require module exports __dirname __filename describe it test expect beforeEach",
    "afterEach beforeAll afterAll before after jest vi cy chai assert sinon suite setup teardown",
    "jasmine spyOn browser page context xit fit xdescribe fdescribe bench expectTypeOf assertType",
    "angular google chrome define ga gtag async await of let static get set type from as",
    "defineProps defineEmits defineExpose defineModel defineOptions defineSlots withDefaults $ _",
    "jQuery webpackChunk __webpack_require__ __DEV__ __VERSION__ wx uni my",
)


@dataclass(frozen=True)
class JavaScriptOutlook(Outlook):
    counts: bool = False  # whether a call must give what is taken

    def tells(self, facts: Facts) -> bool:
        """A module: what it uses it imports. A script sees every other script's names."""
        kinds = ("import_statement", "export_statement")
        return facts.root.first(*kinds) is not None

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        if not name[:1].islower() or leaf.type != "identifier" or leaf.parent is None:
            return False  # types and the host's classes are legion
        for up in leaf.up():
            if up.type.startswith(("jsx_opening", "jsx_closing", "jsx_self", "jsx_namespace")):
                return False
            if up.type in _DECLARING:
                return False
            if up.type == "unary_expression" and facts.said(up).startswith("typeof"):
                return False
            if up.type.endswith(("statement", "declaration")):
                break
        tested = rf"typeof {re.escape(name)}\b|\bvar {re.escape(name)}\b"
        return not re.search(tested, facts.text)

    def is_used_by_name(self, facts: Facts, imported: Declared) -> bool:
        return imported.name not in ("React", "h", "Fragment", "jsx")

    def signatures(self, facts: Facts, declared: Declared, callee: Branch) -> list[Signature]:
        if not self.counts or (callee.parent and callee.parent.type == "new_expression"):
            return []
        if re.search(rf"\.{re.escape(declared.name)}\s*=(?!=)", facts.text):
            return []
        taken = self.takes(facts, declared)
        return [taken] if taken is not None else []

    def takes(self, facts: Facts, declared: Declared) -> Signature | None:
        node = declared.node
        listed = node.part("parameters")
        if listed is None or node.type not in self.once:
            return None
        if node.part("body") is None or any(c.type in ("get", "set") for c in node.children):
            return None
        order: list[str] = []
        needed: set[str] = set()
        more = False
        for number, one in enumerate(listed.named_children()):
            pattern = one.part("pattern") or one
            said = facts.said(pattern)
            if "comment" in one.type or said == "this":
                continue
            if pattern.type == "rest_pattern":
                more = True
                continue
            name = said if pattern.type == "identifier" else f"argument {number + 1}"
            order.append(name)
            optional = one.type in ("optional_parameter", "assignment_pattern")
            typed = one.part("type")
            if not optional and one.part("value") is None and not _may_be_absent(facts, typed):
                needed.add(name)
        return Signature(tuple(order), frozenset(needed), len(order), frozenset(), more)

    def is_once(self, facts: Facts, node: Branch) -> bool:
        return True

    def contradictions(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        for node in facts.root.walk():
            typed = node.part("return_type")
            body = node.part("body")
            if typed is None or body is None or body.type != "statement_block":
                continue
            said = facts.said(typed).lstrip(": ").strip()
            for one in body.walk(without=_FUNCTIONS):
                if one.type != "return_statement":
                    continue
                value = next(iter(one.named_children()), None)
                kind = _PLAIN.get(value.type, "") if value is not None else ""
                if said in ("number", "string", "boolean", "void") and kind not in ("", said):
                    given = facts.said(value)[:40] if value is not None else "nothing"
                    yield one, f"a function that says it returns `{said}` returns `{given}`"


_DECLARING = places("ambient_declaration with_statement type_predicate asserts index_signature")
_PLAIN = {
    "string": "string",
    "template_string": "string",
    "number": "number",
    "true": "boolean",
    "false": "boolean",
    "array": "array",
    "object": "object",
}
_FUNCTIONS = places(
    "function_declaration function_expression arrow_function method_definition class class_body",
    "generator_function generator_function_declaration",
)


def _may_be_absent(facts: Facts, typed: Branch | None) -> bool:
    """Whether a parameter of this type may be left out: `void`, and what nobody can tell."""
    said = facts.said(typed) if typed is not None else ""
    return "void" in said or "any" in said or "unknown" in said


OUTLOOK = JavaScriptOutlook(
    given=HOST,
    blocks=places("statement_block program"),
    ends=places("return_statement throw_statement break_statement continue_statement"),
    hoisted=places("function_declaration generator_function_declaration empty_statement"),
    arguments=places("arguments"),
    spreads=places("spread_element"),
    once=places("function_declaration class_declaration method_definition"),
    imports=places("import_statement"),
)
