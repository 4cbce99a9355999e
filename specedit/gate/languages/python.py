"""Python: a module says where every name comes from, unless it imports a star."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.languages.outlook import Outlook
from specedit.gate.languages.python_form import form
from specedit.gate.languages.python_formats import formats
from specedit.gate.languages.python_idle import idle
from specedit.gate.languages.python_returns import contradictions
from specedit.gate.languages.python_values import given_back
from specedit.gate.signature import Signature
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

_MODULE = places(
    "__file__ __name__ __doc__ __package__ __spec__ __path__ __loader__ __builtins__",
    "__annotations__ __dict__ __module__ __qualname__ __class__ reveal_type reveal_locals",
    "WindowsError unicode basestring long xrange raw_input unichr reduce buffer cmp execfile",
    "get_ipython display _ __debug__",
)


class PythonOutlook(Outlook):
    def tells(self, facts: Facts) -> bool:
        if re.search(r"(?m)^\s*except\s+[\w.]+\s*,\s*\w+\s*:", facts.text):
            return False  # Python 2, whose names are others
        for node in facts.root.walk():
            if node.type == "wildcard_import":
                return False
            if node.type == "call":
                callee = node.part("function")
                if callee is not None and facts.said(callee) in ("exec", "globals", "locals"):
                    return False
        return True

    def must_be_declared(self, facts: Facts, leaf: Branch, name: str) -> bool:
        """Not in `global x`, `del x`, or where a missing name is what the code expects."""
        for up in (leaf, *leaf.up()):
            if up.type in _NAMING or (up.type == "dotted_name" and up.children[0] is not leaf):
                return False
            if up.type == "try_statement" and "NameError" in facts.said(up):
                return False
        return True

    def is_used_by_name(self, facts: Facts, imported: Declared) -> bool:
        """Not one that a reader is told of, that is tried, or that is given out again."""
        leaf = imported.leaf
        for up in leaf.up():
            if up.type in ("try_statement", "future_import_statement", "if_statement"):
                return False
            if up.type == "dotted_name" and up.children[0] is not leaf and not _is_from(up):
                return False
            if up.type == "aliased_import":
                name = up.part("name")
                if name is not None and facts.said(name) == imported.name:
                    return False
        line = facts.text.split("\n")[leaf.line - 1]
        return "#" not in line and _defines(facts)

    def signatures(self, facts: Facts, declared: Declared, callee: Branch) -> list[Signature]:
        if declared.kind == "class":
            return _made(facts, declared)
        if re.search(rf"\.{re.escape(declared.name)}\s*=(?!=)", facts.text):
            return []  # somebody puts another thing there
        node = declared.node
        decorators = _decorators(facts, node)
        if not decorators <= _HARMLESS:
            return []
        taken = _parameters(facts, node)
        if taken is None or declared.kind != "method":
            return [taken] if taken else []
        receiver = facts.typing.receiver(callee) if facts.typing else None
        if receiver is None or "property" in decorators:
            return []
        said = facts.said(receiver)
        if said in ("self", "cls") or said.startswith("super("):
            bound = "staticmethod" not in decorators
        elif declared.owner is not None and said == declared.owner.name:
            bound = "classmethod" in decorators
        else:
            return []
        if said == "cls" and not decorators & {"classmethod", "staticmethod"}:
            return []
        return [_behind_first(taken) if bound else taken]

    def takes(self, facts: Facts, declared: Declared) -> Signature | None:
        decorators = _decorators(facts, declared.node)
        taken = _parameters(facts, declared.node) if decorators <= _HARMLESS else None
        if taken is None or declared.kind != "method" or "staticmethod" in decorators:
            return taken
        return _behind_first(taken)

    def is_once(self, facts: Facts, node: Branch) -> bool:
        return node.parent is not None and node.parent.type in ("module", "block")

    def formats(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        return formats(facts)

    def contradictions(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        return contradictions(facts)

    def given_back(self, facts: Facts) -> Iterator[tuple[Branch, list[str]]]:
        return given_back(facts)

    def form(self, text: str) -> str | None:
        return form(text)

    def idle(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        return idle(facts)

    def argument_name(self, facts: Facts, argument: Branch) -> str:
        name = argument.part("name") if argument.type == "keyword_argument" else None
        return facts.said(name) if name is not None else ""


def _is_from(name: Branch) -> bool:
    return name.place == "import_from_statement.name"


def _defines(facts: Facts) -> bool:
    """Whether a module has more in it than what it gives out of others."""
    kinds = ("function_definition", "class_definition", "decorated_definition", "if_statement")
    return facts.root.first(*kinds, "for_statement", "with_statement") is not None


_NAMING = places(  # statements that use no name, whatever stands there
    "global_statement nonlocal_statement delete_statement import_statement",
    "import_from_statement future_import_statement",
)
_HARMLESS = places(
    "staticmethod classmethod property abstractmethod abc.abstractmethod override typing.override",
    "cache lru_cache functools.cache functools.lru_cache",
)


def _decorators(facts: Facts, node: Branch) -> set[str]:
    around = node.parent
    if around is None or around.type != "decorated_definition":
        return set()
    said = (facts.said(one) for one in around.children if one.type == "decorator")
    return {one.lstrip("@ ").split("(")[0].split("#")[0].strip() for one in said}


def _made(facts: Facts, declared: Declared) -> list[Signature]:
    """What a class takes that says all of it itself."""
    node = declared.node
    owners = facts.typing.scopes.owners if facts.typing else []
    owner = next((one for one in owners if one.node is node), None)
    if owner is None or _decorators(facts, node):
        return []
    makers = owner.members.get("__init__", [])
    if "__new__" in owner.members or "__call__" in owner.members or len(makers) > 1:
        return []
    superclasses = node.part("superclasses")
    based = superclasses is not None and facts.said(superclasses).strip("() ") not in ("", "object")
    if not makers:
        return [] if based else [Signature()]
    if based and "metaclass" in facts.said(superclasses or node):
        return []
    if _decorators(facts, makers[0].node):
        return []
    taken = _parameters(facts, makers[0].node)
    return [_behind_first(taken)] if taken is not None else []


def _behind_first(taken: Signature) -> Signature:
    """Without the instance."""
    if not taken.places:
        return taken
    return Signature(
        taken.places[1:],
        taken.needed - {taken.places[0]},
        max(0, taken.only_places - 1),
        taken.only_named,
        taken.more,
        taken.any_name,
    )


def _parameters(facts: Facts, node: Branch) -> Signature | None:
    listed = node.part("parameters")
    if listed is None:
        return None
    order: list[str] = []
    needed: set[str] = set()
    named: set[str] = set()
    more = any_name = only = False
    first = 0
    for one in listed.named_children():
        if "comment" in one.type:
            continue
        if one.type == "positional_separator":
            first = len(order)
            continue
        if one.type == "keyword_separator":
            only = True
            continue
        inner = one.children[0] if one.type == "typed_parameter" else one
        if inner.type == "list_splat_pattern":
            more = only = True
            continue
        if inner.type == "dictionary_splat_pattern":
            any_name = True
            continue
        leaf = inner.part("name") if "default" in inner.type else inner
        if leaf is None or leaf.type != "identifier":
            return None
        name = facts.said(leaf)
        if "default" not in one.type:
            needed.add(name)
        if only:
            named.add(name)
        else:
            order.append(name)
    taken = frozenset(needed), first, frozenset(named), more, any_name
    return Signature(tuple(order), *taken)


OUTLOOK = PythonOutlook(
    given=frozenset(dir(builtins)) | _MODULE,
    blocks=places("block module"),
    ends=places("return_statement raise_statement break_statement continue_statement"),
    once=places("function_definition class_definition"),
    imports=places("import_statement import_from_statement"),
    arguments=places("argument_list"),
    spreads=places("list_splat dictionary_splat generator_expression"),
)
