"""Predicates over a file before and after an edit.

Patterns search the code without comments, doc strings included, unless a name says otherwise.
"""

from __future__ import annotations

import ast
import re
import textwrap
from functools import lru_cache
from typing import TYPE_CHECKING

from benchmarks import sandbox
from benchmarks.edits.case import Edited, Predicate
from benchmarks.edits.code import Code

if TYPE_CHECKING:
    from tree_sitter import Node

RECEIVERS = frozenset({"self", "cls", "this", "*", "/"})


def contains(edited: Edited, symbol: str | None, pattern: str, count: int = 1) -> bool:
    """The definition's code has at least `count` matches, however its brackets are wrapped."""
    text = edited.symbol(symbol)
    return any(
        len(re.findall(pattern, one, re.MULTILINE)) >= count for one in (text, _unwrapped(text))
    )


def lacks(edited: Edited, symbol: str | None, pattern: str) -> bool:
    """The definition is there, and its code has no match."""
    text = edited.symbol(symbol)
    return bool(text) and re.search(pattern, text, re.MULTILINE) is None


def occurs(edited: Edited, symbol: str | None, pattern: str, count: int) -> bool:
    """The definition's code has exactly `count` matches."""
    return len(re.findall(pattern, edited.symbol(symbol), re.MULTILINE)) == count


def mentions(edited: Edited, symbol: str | None, pattern: str) -> bool:
    """The definition has a match, its comments and those directly above it included."""
    text = edited.symbol(symbol, comments=True)
    return re.search(pattern, text, re.MULTILINE) is not None


def omits(edited: Edited, symbol: str | None, pattern: str) -> bool:
    """Like `lacks`, comments included."""
    text = edited.symbol(symbol, comments=True)
    return bool(text) and re.search(pattern, text, re.MULTILINE) is None


def either(edited: Edited, *predicates: Predicate) -> bool:
    """At least one of them holds."""
    return any(predicate(edited) for predicate in predicates)


def defines(edited: Edited, *symbols: str) -> bool:
    return all(edited.after.named(symbol) for symbol in symbols)


def drops(edited: Edited, *symbols: str) -> bool:
    return not any(edited.after.named(symbol) for symbol in symbols)


def imports(edited: Edited, *names: str) -> bool:
    """Each name stands in an import."""
    text = "\n".join(edited.after.import_lines)
    return all(re.search(rf"(?<![\w/]){re.escape(name)}(?![\w/])", text) for name in names)


def before(edited: Edited, symbol: str | None, first: str, second: str) -> bool:
    """The first match of `first` stands before the first match of `second`."""
    text = edited.symbol(symbol)
    one, two = (re.search(pattern, text, re.MULTILINE) for pattern in (first, second))
    return one is not None and two is not None and one.start() < two.start()


def renames(edited: Edited, symbol: str | None, old: str, new: str) -> bool:
    """Every `old` of the definition's code, comments and doc strings aside, is called `new`."""
    was, now = edited.before.bare(symbol), edited.after.bare(symbol)
    count = sum(len(_words(was, one)) for one in (old, new))
    return not _words(now, old) and len(_words(now, new)) == count > 0


def only_renames(edited: Edited, symbol: str | None, old: str, new: str) -> bool:
    """Nothing but this name changed; it may have changed in comments too."""
    texts = (edited.old(symbol, comments=True), edited.symbol(symbol, comments=True))
    was, now = (re.sub(_word_pattern(old), new, text) for text in texts)
    return was == now


def _words(text: str, name: str) -> list[str]:
    return re.findall(_word_pattern(name), text)


def _word_pattern(name: str) -> str:
    return rf"(?<![\w$]){re.escape(name)}(?![\w$])"


def changed_lines_at_most(edited: Edited, symbol: str | None, count: int) -> bool:
    """At most `count` lines of the definition's new text are not in its old text."""
    old, new = (_stripped(text) for text in (edited.old(symbol), edited.symbol(symbol)))
    return sum(line not in old for line in new) <= count


def keeps_lines(edited: Edited, symbol: str | None, but: str = r"(?!)") -> bool:
    """Every old line, indentation aside, is still there in order, but for those that match `but`.
    Comments count."""
    old = _stripped(edited.old(symbol, comments=True))
    new = iter(_stripped(edited.symbol(symbol, comments=True)))
    return all(line in new for line in old if not re.search(but, line))


def keeps_code(edited: Edited, symbol: str | None) -> bool:
    """Only comments, doc strings and white space of the definition changed."""
    return _tokens(edited.before, symbol) == _tokens(edited.after, symbol)


def only(edited: Edited, symbol: str | None, *substitutions: tuple[str, str]) -> bool:
    """The definition is the old one after these substitutions (pattern, replacement), but for white
    space, quotes and comments."""
    text = edited.old(symbol)
    for pattern, replacement in substitutions:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return _plain(text) == _plain(edited.symbol(symbol))


def signature(edited: Edited, symbol: str, pattern: str) -> bool:
    """The definition's heading, white space squeezed to single spaces, has a match."""
    return any(
        re.search(pattern, " ".join(heading(edited.after, node).split()))
        for node in _functions(edited.after, symbol)
    )


def parameters(edited: Edited, symbol: str, names: list[str]) -> bool:
    """The definition takes exactly these parameters in this order, the receiver left out."""
    return any(parameter_names(node) == names for node in _functions(edited.after, symbol))


def passes(edited: Edited, tests: str, *symbols: str, prelude: str = "") -> bool:
    """Python: the statements of `tests` pass behind `prelude` and these definitions."""
    sources = [textwrap.dedent(edited.symbol(symbol)) for symbol in symbols]
    if not all(sources):
        return False
    text = "from __future__ import annotations\n" + "\n".join([prelude, *sources, tests])
    return _runs(text)


@lru_cache(maxsize=1024)
def _runs(program: str) -> bool:
    try:
        ast.parse(program)
    except SyntaxError:
        return False
    return sandbox.run(program).passed


def _stripped(text: str) -> list[str]:
    """The lines without indentation, blank lines, and Python's quotes around doc strings."""
    lines = (line.lstrip().replace('"""', "") for line in text.split("\n"))
    return [line for line in lines if line.strip()]


def _unwrapped(text: str) -> str:
    """Brackets over several lines as they stand in one: `f(a, b)`."""
    text = re.sub(r"(?<=[(\[{])[ \t]*\r?\n\s*", "", text)
    text = re.sub(r",?[ \t]*\r?\n\s*(?=[)\]])", "", text)
    return re.sub(r",[ \t]*\r?\n\s*", ", ", text)


def _plain(text: str) -> str:
    """Without white space, with one kind of quotes, without commas before a closing bracket."""
    return re.sub(r",([)\]}])", r"\1", "".join(text.split()).replace('"', "'"))


def _tokens(code: Code, symbol: str | None) -> list[str]:
    """The leaves of a definition's tree, comments and doc strings left out."""
    spans = [(0, len(code.lines))]
    if symbol is not None:
        spans = [(one.first, one.end) for one in code.named(symbol)]
    hidden = [(one.start_byte, one.end_byte) for one in (*code.comments, *code.docstrings)]
    found = []
    for node in code.nodes:
        row = node.start_point[0]
        if node.child_count or not any(first <= row < end for first, end in spans):
            continue
        if not any(start <= node.start_byte < end for start, end in hidden) and node.text:
            found.append(node.text.decode("utf-8", "replace"))
    return [one for one in found if one.strip()]


def _functions(code: Code, symbol: str) -> list[Node]:
    """The nodes with parameters that begin a definition."""
    found = []
    for one in code.named(symbol):
        inside = (
            node
            for node in code.nodes
            if one.first <= node.start_point[0] < one.end and parameter_list(node) is not None
        )
        found += [node for node in [next(inside, None)] if node is not None]
    return found


def parameter_list(node: Node) -> Node | None:
    found = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    return None if node.type.startswith(("call", "type_")) else found


def heading(code: Code, node: Node) -> str:
    """The text of a function up to its body."""
    body = node.child_by_field_name("body")
    end = body.start_byte if body is not None else node.end_byte
    return code.bytes[node.start_byte : end].decode("utf-8", "replace")


def parameter_names(node: Node) -> list[str]:
    """The names of a function's parameters, the receiver left out."""
    whole = parameter_list(node)
    if whole is None:
        return []
    if "identifier" in whole.type:
        return [_word(whole)]
    found: list[str] = []
    for child in whole.named_children:
        if "comment" in child.type or child.type in ("self_parameter", "keyword_separator"):
            continue
        names = child.children_by_field_name("name") or child.children_by_field_name("pattern")
        spread = next((c for c in child.named_children if c.type == "variable_declarator"), None)
        left = child.child_by_field_name("left") or spread  # Java's `String... names`
        found += [_word(one) for one in names or [left or child]]
    return [one for one in found if one not in RECEIVERS]


def _word(node: Node) -> str:
    text = (node.text or b"").decode("utf-8", "replace")
    found = re.search(r"[^\W\d][\w$]*", text)
    return found[0] if found else "*" if text.startswith("*") else text
