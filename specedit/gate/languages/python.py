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
from specedit.gate.languages.python_paths import endless, returning
from specedit.gate.languages.python_returns import contradictions
from specedit.gate.languages.python_signatures import (
    HARMLESS,
    behind_first,
    decorators,
    made,
    parameters,
)
from specedit.gate.languages.python_unset import unset
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
            return made(facts, declared)
        if re.search(rf"\.{re.escape(declared.name)}\s*=(?!=)", facts.text):
            return []  # somebody puts another thing there
        node = declared.node
        adorned = decorators(facts, node)
        if not adorned <= HARMLESS:
            return []
        taken = parameters(facts, node)
        if taken is None or declared.kind != "method":
            return [taken] if taken else []
        receiver = facts.typing.receiver(callee) if facts.typing else None
        if receiver is None or "property" in adorned:
            return []
        said = facts.said(receiver)
        if said in ("self", "cls") or said.startswith("super("):
            bound = "staticmethod" not in adorned
        elif declared.owner is not None and said == declared.owner.name:
            bound = "classmethod" in adorned
        else:
            return []
        if said == "cls" and not adorned & {"classmethod", "staticmethod"}:
            return []
        return [behind_first(taken) if bound else taken]

    def takes(self, facts: Facts, declared: Declared) -> Signature | None:
        adorned = decorators(facts, declared.node)
        taken = parameters(facts, declared.node) if adorned <= HARMLESS else None
        if taken is None or declared.kind != "method" or "staticmethod" in adorned:
            return taken
        return behind_first(taken)

    def is_once(self, facts: Facts, node: Branch) -> bool:
        return node.parent is not None and node.parent.type in ("module", "block")

    def formats(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        return formats(facts)

    def contradictions(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        return contradictions(facts)

    def given_back(self, facts: Facts) -> Iterator[tuple[Branch, list[str]]]:
        return given_back(facts)

    def returning(self, facts: Facts) -> Iterator[tuple[str, Branch, bool]]:
        return returning(facts)

    def traps(self, facts: Facts) -> Iterator[tuple[Branch, str]]:
        yield from endless(facts)
        yield from unset(facts)

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


OUTLOOK = PythonOutlook(
    given=frozenset(dir(builtins)) | _MODULE,
    blocks=places("block module"),
    ends=places("return_statement raise_statement break_statement continue_statement"),
    once=places("function_definition class_definition"),
    imports=places("import_statement import_from_statement"),
    arguments=places("argument_list"),
    spreads=places("list_splat dictionary_splat generator_expression"),
)
