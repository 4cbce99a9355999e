"""What stands there twice now: a definition in one scope, or a run of lines behind itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.scoping.scope import FUNCTIONS, Declared
from specedit.text.lines import opcodes

LEAST, MOST = 4, 40  # lines of a run that is repeated


def hits(change: Change) -> Iterator[Hit]:
    known = Counter(key for key, _ in _twice(change.before))
    for key, one in _twice(change.after):
        if known[key]:
            known[key] -= 1
            continue
        yield Hit("duplicate", one.leaf.line, f"`{one.name}` is defined a second time")
    yield from _runs(change)


def _twice(facts: Facts) -> Iterator[tuple[str, Declared]]:
    """Every definition that one of the same scope and the same head stands before."""
    outlook = outlook_of(facts.language.name)
    if outlook is None or facts.typing is None or not outlook.once:
        return
    seen: set[tuple[int, int, str]] = set()
    for one in facts.typing.scopes.by_leaf.values():
        node = one.node
        if one.kind not in (*FUNCTIONS, "class") or node.type not in outlook.once:
            continue
        if node.part("body") is None or node.parent is None or not outlook.is_once(facts, node):
            continue
        parameters = node.part("parameters")
        taken = facts.said(parameters) if parameters is not None and outlook.overloads else ""
        generic = node.first("type_parameter_list", "type_parameters")
        taken += facts.said(generic) if generic is not None else ""
        head = facts.data[node.start : one.leaf.start].decode("utf-8", "replace")
        key = (id(node.parent), id(one.owner), " ".join(f"{head}{one.name}{taken}".split()))
        if key in seen:
            yield key[2], one
        seen.add(key)


def _runs(change: Change) -> Iterator[Hit]:
    """New lines that are the same as the lines before or behind them."""
    old, new = change.before.text.split("\n"), change.after.text.split("\n")
    for tag, _, _, first, last in opcodes(old, new):
        if tag == "equal" or last - first < LEAST:
            continue
        for length in range(LEAST, min(MOST, last - first) + 1):
            for start in (first - length, first, last - length):
                run = new[max(start, 0) : start + length]
                if start >= 0 and run == new[start + length : start + 2 * length] and _telling(run):
                    said = f"{length} lines stand there twice, one after the other"
                    yield Hit("duplicate", start + length + 1, said)
                    return


def _telling(run: list[str]) -> bool:
    """Whether lines are more than brackets and a table's rows."""
    return len({line.strip() for line in run if any(map(str.isalpha, line))}) >= LEAST
