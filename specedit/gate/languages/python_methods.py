"""Methods that Python's own types do not have: `[].add`, and `counts.get(key, 0).append(1)`.

Asked of values whose kind is plain to see, and of no other.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.languages.python_values import KINDS, values
from specedit.syntax.branch import Branch

_TYPES: dict[str, type] = {
    "str": str,
    "int": int,
    "float": float,
    "list": list,
    "dict": dict,
    "set": set,
    "tuple": tuple,
}
_DEFAULTS = frozenset({"get", "setdefault", "pop"})  # they may give back their second argument


def strange_methods(facts: Facts) -> Iterator[tuple[Branch, str]]:
    for function in facts.root.walk():
        body = values(facts, function) if function.type == "function_definition" else None
        for call in body.own if body is not None else ():
            callee = call.part("function") if call.type == "call" else None
            if body is None or callee is None or callee.type != "attribute":
                continue
            owner, name = callee.part("object"), callee.part("attribute")
            if owner is None or name is None:
                continue
            kind = body.kind(owner) or _default(facts, owner)
            own = _TYPES.get(kind) if kind not in facts.by_name else None
            if own is not None and not hasattr(own, facts.said(name)):
                yield call, f"`{facts.said(name)}` is no method of Python's `{kind}`"


def _default(facts: Facts, call: Branch) -> str:
    """The kind of what a dictionary gives back for a key that it does not have."""
    callee, listed = call.part("function"), call.part("arguments")
    if callee is None or listed is None or callee.type != "attribute":
        return ""
    method, given = callee.part("attribute"), listed.named_children()
    if method is None or facts.said(method) not in _DEFAULTS or len(given) != 2:
        return ""
    return KINDS.get(given[1].type, "") if given[1].type not in ("none", "true", "false") else ""
