"""Names and arguments that Python's own modules do not have.

Asked of the modules themselves, those that do nothing when they are imported; what a newer or
older Python has may differ, so this is never sure. Knows no other language.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.gate.languages.python_methods import strange_methods
from specedit.scoping.languages.tables import places
from specedit.scoping.scope import Declared
from specedit.syntax.branch import Branch

QUIET = places(
    "argparse base64 bisect calendar collections contextlib copy csv dataclasses datetime decimal",
    "difflib enum fnmatch fractions functools glob hashlib heapq io itertools json logging math",
    "operator os os.path pathlib random re secrets shutil statistics string subprocess sys",
    "tempfile textwrap time typing urllib.parse uuid",
)


def hits(change: Change) -> Iterator[Hit]:
    if change.after.language.name != "python":
        return
    known = {why for _, why in _all(change.before)}
    for node, why in _all(change.after):
        if why not in known:
            yield Hit("library", node.line, why)


def _all(facts: Facts) -> Iterator[tuple[Branch, str]]:
    yield from _strange(facts)
    yield from _taken_in(facts)
    yield from strange_methods(facts)


def _taken_in(facts: Facts) -> Iterator[tuple[Branch, str]]:
    """`from math import squareroot`."""
    for node in facts.root.walk():
        named = node.part("module_name") if node.type == "import_from_statement" else None
        whole = facts.said(named) if named is not None else ""
        module = _imported(whole) if whole in QUIET and not _is_tried(facts, node) else None
        if module is None:
            continue
        for one in node.children:
            leaf = one.part("name") if one.type == "aliased_import" else one
            if one.field != "name" or leaf is None or hasattr(module, facts.said(leaf)):
                continue
            if _imported(f"{whole}.{facts.said(leaf)}") is None:
                yield one, f"`{whole}` of Python's library has no `{facts.said(leaf)}`"


def _strange(facts: Facts) -> Iterator[tuple[Branch, str]]:
    for node in facts.root.walk():
        if node.type != "attribute":
            continue
        owner, name = node.part("object"), node.part("attribute")
        module = _module(facts, owner) if owner is not None and name is not None else None
        if module is None or name is None or _is_tried(facts, node):
            continue
        said = facts.said(name)
        if not hasattr(module, said):
            if _is_free(facts, owner):
                continue  # it may be anything
            yield node, f"`{module.__name__}` of Python's library has no `{said}`"
            continue
        call = node.parent
        if call is not None and call.type == "call" and node.field == "function":
            yield from ((call, why) for why in _refused(facts, call, module, said))


def _module(facts: Facts, owner: Branch) -> ModuleType | None:
    """The module of the library that a name means."""
    if owner.type != "identifier" or facts.typing is None:
        return None
    name = facts.said(owner)
    if _is_free(facts, owner):
        return _imported(name) if name in QUIET else None
    meant = facts.keys(owner, name)
    one = meant[0] if len(meant) == 1 else None
    if not isinstance(one, Declared) or one.kind != "import" or len(facts.by_name[name]) > 1:
        return None
    statement = one.leaf.parent
    if statement is not None and statement.type == "dotted_name":
        whole, statement = facts.said(statement), statement.parent
    elif statement is not None and statement.type == "aliased_import":
        named = statement.part("name")
        whole, statement = facts.said(named) if named is not None else "", statement.parent
    else:
        return None
    if statement is None or statement.type != "import_statement":
        return None
    return _imported(whole) if whole in QUIET else None


def _is_free(facts: Facts, owner: Branch | None) -> bool:
    """Whether nothing here says what a name means: a passage of a file whose head is elsewhere."""
    return owner is not None and facts.said(owner) in facts.free


@lru_cache(maxsize=64)
def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _refused(facts: Facts, call: Branch, module: ModuleType, name: str) -> Iterator[str]:
    """Why a function of a module does not take what a call gives."""
    outlook = outlook_of("python")
    given = outlook.gives(facts, call) if outlook is not None else None
    function = getattr(module, name)
    if given is None or not (inspect.isroutine(function) or inspect.isclass(function)):
        return
    try:
        inspect.signature(function).bind(*range(given.places), **dict.fromkeys(given.named))
    except ValueError:
        return
    except TypeError as problem:
        yield f"`{module.__name__}.{name}` of Python's library: {problem}"


def _is_tried(facts: Facts, node: Branch) -> bool:
    """Whether code expects a name to be missing, or asks which Python it is run by."""
    for up in node.up():
        if up.type == "try_statement":
            return True
        if up.type in ("if_statement", "conditional_expression"):
            said = facts.said(up)
            if "hasattr" in said or "version" in said or "platform" in said or "os.name" in said:
                return True
    return False
