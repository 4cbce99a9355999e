"""Code that nobody asked for: it runs when a file is loaded that only defined things before, or it
is a definition that nothing uses and that the instruction does not speak of.

An example of use, a test of one's own, a second version beside the first: small models add them
behind what was asked for. Knows words, and where a language runs what stands outside of all
definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.syntax.branch import Branch
from specedit.text.names import words_of

_SCRIPTED = frozenset({"python", "javascript", "typescript", "tsx"})
_CALLS = frozenset({"call", "call_expression"})
_SHOWS = re.compile(r"(?:p?print|console\.\w+)$")
RUNS = re.compile(
    r"(?i)\b(?:main|run|call|invok|execut|print|show|display|example|usage|demo|try|test|start"
    r"|script|command|cli|entry|register|log|output|appl|use|using|initiali|set\s?up|load|configur"
    r"|benchmark|tim(?:e|ing)\b|schedul|install|mount|render|prompt|ask)"
)
MAKES = re.compile(
    r"(?i)\b(?:add|creat|writ|defin|implement|introduc|provid|extract|split|separat|encapsulat"
    r"|generat|new|complet|finish|port|translat|convert|factor|refactor|mov(?:e|ing)|wrap|support"
    r"|instead|replac|turn|us(?:e|ing)\b|test)"
)
_GIVEN = re.compile(r"\b(?:export|pub|public|open|extern)\b|^\s*@|^test|^Test")


def hits(change: Change) -> Iterator[Hit]:
    if not change.instruction.strip():
        return  # nobody knows what was asked
    yield from _running(change)
    yield from _idle(change)


def _running(change: Change) -> Iterator[Hit]:
    """The first statement that runs now, in a file where none did."""
    if change.after.language.name not in _SCRIPTED or RUNS.search(change.instruction):
        return
    if not change.before.text.strip() or next(_runs(change.before), None) is not None:
        return
    node = next(_runs(change.after), None)
    if node is not None:
        line = change.after.said(node).split("\n", 1)[0][:60]
        yield Hit("unasked", node.line, f"`{line}` runs when the file is loaded, and nothing did")


def _runs(facts: Facts) -> Iterator[Branch]:
    """Statements of the file itself that are there to do something: they show something, call
    what the file defines, or ask whether it is the program."""
    defined = {one.name for one in facts.symbols}
    for node in facts.root.named_children():
        if node.type == "if_statement":
            asked = node.part("condition")
            if asked is not None and "__name__" in facts.said(asked):
                yield node
        if node.type != "expression_statement" or not node.named_children():
            continue
        call = node.named_children()[0]
        callee = call.part("function") if call.type in _CALLS else None
        if callee is None:
            continue
        said = facts.said(callee)
        if said in defined or _SHOWS.match(said):
            yield node


def _idle(change: Change) -> Iterator[Hit]:
    """Definitions of the file itself that came and that nothing uses."""
    if MAKES.search(change.instruction):
        return
    old = {one.name for one in change.before.symbols}
    new = {one.name for one in change.after.symbols}
    if not old or old - new:
        return  # a new file, or a new name for an old thing, which is another kind's
    lines = change.after.text.split("\n")
    asked = {word.lower() for word in words_of(change.instruction)}
    for one in change.after.symbols:
        if one.depth or one.kind not in ("function", "class") or one.name in old:
            continue
        above = lines[one.first_line - 2].strip() if one.first_line > 1 else ""
        head = lines[one.first_line - 1]
        if _GIVEN.search(head) or _GIVEN.search(one.name) or above.startswith(("@", "#[", "[")):
            continue
        if {word.lower() for word in words_of(one.name)} <= asked and len(words_of(one.name)) > 1:
            continue
        uses = re.findall(rf"(?<![\w$]){re.escape(one.name)}(?![\w$])", change.after.text)
        if len(uses) == 1 and one.name not in ("main", "init", "setup"):
            said = f"`{one.name}` is new, nothing uses it, and nobody asked for it"
            yield Hit("unasked", one.first_line, said)
