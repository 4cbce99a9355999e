"""tree-sitter's trees of a text: its syntax errors and its definitions.

A grammar is imported when it is first needed. Lines and columns count from 1.

Every tree is made by `_bounded`. A cloned repository may hold a file that is made to take hours,
or all memory: such a text is refused, so that whoever walks a tree may rely on the limits below.
"""

from __future__ import annotations

import gc
import importlib
import math
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeVar

from specedit.errors import TooComplex
from specedit.syntax.languages import BY_NAME, Language
from specedit.syntax.outline import Symbol, outline
from specedit.syntax.work import spend

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser, Tree

T = TypeVar("T")

# Limits, and the most that was met among 3,900 source files of public projects. The parts of a
# limit that grow are for each byte of the text.
MAX_DEPTH = 1_000  # levels of nodes (met: 672 where a macro confuses the parser, else 77)
MOST_NODES = 100_000, 0.5  # (0.72 for each byte of minified files of 80 kB, 0.56 of a large one)
MOST_UNREAD = 15_000, 0.9  # nodes of a text that does not parse (0.72 for 230 kB, 0.79 for 1 kB)
MOST_LEVELS = 3_000_000, 16.0  # levels of all nodes together, which is what looking up costs (15.0)
MOST_STEPS = 3_000, 0.025  # hundreds of operations of the parser (0.021)
MOST_READS = 7_000, 0.01  # pieces of the text that the parser asks for (128 for 11 kB, 0.004)
# For what these counts do not show. Many times what was met: the machine's load decides nothing.
MOST_SECONDS = 0.7, 1.5e-6  # of processor time (0.15 s for 320 kB, 0.02 s for 24 kB)
MOST_OPEN = 1_000  # "<" of one statement that nothing closes: Java's grammar takes them squared


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """A place that does not parse."""

    line: int
    column: int
    what: str  # "unexpected ..." | "missing ..."
    last_line: int  # of what is unexpected

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@lru_cache(maxsize=32)
def _grammar(path: str) -> Grammar:
    from tree_sitter import Language as Grammar

    module, function = path.split(":")
    return Grammar(getattr(importlib.import_module(module), function)())


def parse(text: str, language: Language) -> Tree:
    """The tree of `text`; nodes count bytes of its UTF-8 form. A TooComplex where it has none."""
    return _parse(text.encode("utf-8", "surrogatepass"), language)


_KEPT = 1_000_000, 40  # bytes of texts whose trees are kept, 33 MB, and texts; at least two
_kept: dict[tuple[bytes, Language], Tree | str] = {}  # the text that was asked for last is last
_keeping = threading.Lock()


def _parse(data: bytes, language: Language) -> Tree:
    """The tree of a text, or a TooComplex. Texts are asked for again, after others of the same
    change, too, and a refusal takes as long as the limits allow: both are kept."""
    key = data, language
    with _keeping:
        known = _kept.pop(key, None)
    if known is None:
        try:
            known = _whole_tree(data, language)
        except TooComplex as problem:
            known = problem.reason
    with _keeping:
        _kept[key] = known
        while len(_kept) > 2 and (
            len(_kept) > _KEPT[1] or sum(len(text) for text, _ in _kept) > _KEPT[0]
        ):
            del _kept[next(iter(_kept))]
    if isinstance(known, str):
        raise TooComplex(known, hint=HINT)
    return known


def fragment(data: bytes, language: Language) -> Tree | None:
    """The tree of a piece of code, which is not kept; None where it does not parse."""
    try:
        tree = _bounded(data, language.grammar)
    except TooComplex:
        return None
    return None if tree.root_node.has_error else tree


def faults_and_symbols(text: str, language: Language) -> tuple[int, list[Symbol]]:
    """How many places of a text do not parse; if none, what it defines. Its tree is not kept: the
    text that is changed and the result are asked for again, a snippet between them is not."""
    data = text.encode("utf-8", "surrogatepass")
    root = _whole_tree(data, language).root_node
    faults = sum(1 for _ in _faults(root, data))
    return faults, [] if faults else list(outline(root, data, nested=True))


def release() -> None:
    """Give up what is held of texts for the next question: trees of 60,000 lines are 80 MB."""
    with _keeping:
        _kept.clear()
    symbols.cache_clear()


def _whole_tree(data: bytes, language: Language) -> Tree:
    """The tree of a text; where it has errors, of one with as many bytes that parses: without
    C#'s `#if`, of which each part is read, or with a `;` between TypeScript's signatures."""
    tree = _bounded(data, language.grammar)
    if tree.root_node.has_error:
        other = data
        if language.name == "csharp":
            other = _DIRECTIVE.sub(lambda found: b" " * len(found[0]), data)
        elif language.name in ("typescript", "tsx"):
            other = _SIGNATURE.sub(rb"\1;", data)
        again = _bounded(other, language.grammar) if other != data else tree
        return tree if again.root_node.has_error else again
    return tree


_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(?:if|elif|else|endif)\b[^\n]*", re.MULTILINE)
# A line that begins with `<` goes on with no type: the grammar takes it for a type's arguments.
_SIGNATURE = re.compile(rb"(?<=[\w>\])}])(\s*\n[ \t]*)[ \t](?=<)")


# the limits


def _bounded(data: bytes, grammar: str) -> Tree:
    """The tree of a text within the limits; a TooComplex where it exceeds them."""
    if len(data) < _SMALL:
        tree = _parser(grammar).parse(data)
    else:
        spend(len(data) / 2)
        if data.count(b"<") > MOST_OPEN:
            _refuse_open(data)
        tree = _with_stack(128 * len(data), lambda: _parsed(data, grammar))
    _refuse_large(tree, len(data))
    return tree


HINT = "If another program writes this file, change what it is made from."


def _refusal(reason: str) -> TooComplex:
    return TooComplex(f"cannot be parsed: {reason}", hint=HINT)


def _limit(limit: tuple[float, float], size: int) -> float:
    return limit[0] + limit[1] * size


def _refuse_open(data: bytes) -> None:
    for statement in _ENDS.split(data):
        count = statement.count(b"<") - statement.count(b">")
        if count > MOST_OPEN:
            raise _refusal(f"one statement has {count:,} `<` that nothing closes")


_ENDS = re.compile(rb"[;{}]")
_SMALL = 2_000  # bytes; such a text is parsed in milliseconds whatever it holds
_CHUNK = 4_096  # bytes; the parser reads again what it goes back to


def _parser(grammar: str) -> Parser:
    from tree_sitter import Parser

    return Parser(_grammar(grammar))


def _parsed(data: bytes, grammar: str) -> Tree:
    steps = reads = 0
    late, most_steps = False, _limit(MOST_STEPS, len(data))
    most_reads = _limit(MOST_READS, len(data))
    end = time.thread_time() + _limit(MOST_SECONDS, len(data))

    def read(start: int, _: object) -> bytes:
        nonlocal late, reads
        reads += 1
        late = late or time.thread_time() > end
        return b"" if late or reads > most_reads else data[start : start + _CHUNK]

    def stops(_: int, has_error: bool) -> bool:  # an error in here ends the process
        nonlocal late, steps
        steps += 1
        late = late or (steps % 16 == 0 and time.thread_time() > end)
        return late or steps > most_steps or reads > most_reads

    parser = _parser(grammar)
    try:
        tree = parser.parse(read, progress_callback=stops)
    except ValueError:
        parser.reset()  # here, where the stack is large enough
        reason = "parsing takes too long" if late else "parsing takes too many steps"
        raise _refusal(reason) from None
    if late or reads > most_reads:
        raise _refusal("parsing takes too long" if late else "parsing takes too many steps")
    end = most_reads = math.inf  # a node's text is read by `read`, too
    return tree


def _refuse_large(tree: Tree, size: int) -> None:
    nodes = tree.root_node.descendant_count
    if nodes > _limit(MOST_NODES, size):
        raise _refusal(f"{nodes:,} syntax nodes are too many for {size:,} bytes")
    if tree.root_node.has_error and nodes > _limit(MOST_UNREAD, size):
        raise _refusal(f"{nodes:,} syntax nodes are too many for {size:,} bytes with syntax errors")
    cursor, depth, levels = tree.walk(), 0, 0
    while True:
        levels += depth
        if cursor.goto_first_child():
            depth += 1
            if depth > MAX_DEPTH:
                raise _refusal(f"it is nested more than {MAX_DEPTH:,} levels deep")
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                if levels > _limit(MOST_LEVELS, size):
                    raise _refusal("too much of it is nested deep")
                return
            depth -= 1


_STACK = 1 << 18  # bytes that any thread has
_starting = threading.Lock()


def _with_stack(size: int, work: Callable[[], T]) -> T:
    """The result of `work` with `size` bytes of stack: where a text has several readings, the
    parser releases them by a recursion as deep as the text is long."""
    if size < _STACK:
        return work()
    results: list[T] = []
    problems: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as problem:
            problems.append(problem)

    with _starting:
        usual = threading.stack_size((_STACK + size) >> 16 << 16)
        try:
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
        finally:
            threading.stack_size(usual)
    thread.join()
    if problems:
        raise problems[0]
    return results[0]


def has_shape(tree: Tree, after: str, language: Language) -> bool:
    """Whether another text has the syntax tree of one."""
    return all(a == b for a, b in zip_longest(_shape(tree), _shape(parse(after, language))))


def _shape(tree: Tree) -> Iterator[tuple[int, int, int | None, bool]]:
    """The named nodes of a tree, each with its depth and its field."""
    cursor, depth = tree.walk(), 0
    while True:
        node = cursor.node
        assert node is not None
        if node.is_named or node.is_missing:
            yield depth, node.kind_id, cursor.field_id, node.is_missing
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collection of cycles, which takes half of the time of a large tree."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


DIALECTS = {"typescript": "tsx", "c": "cpp"}


def dialect(text: str, language: Language) -> Language:
    """The language, or its dialect where only that one parses: JSX in a `.ts`, C++ in a `.h`."""
    other = DIALECTS.get(language.name)
    if other is None or not parse(text, language).root_node.has_error:
        return language
    return language if parse(text, BY_NAME[other]).root_node.has_error else BY_NAME[other]


def errors(text: str, language: Language | None) -> list[SyntaxFault] | None:
    """Every place that does not parse; None without a grammar."""
    if language is None or not language.grammar:
        return None
    data = text.encode("utf-8", "surrogatepass")
    root = _parse(data, language).root_node
    return sorted(_faults(root, data), key=lambda fault: (fault.line, fault.column))


MAX_QUOTED_CHARACTERS = 40  # characters of what is unexpected


def _faults(root: Node, data: bytes) -> Iterator[SyntaxFault]:
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        line, column = node.start_point
        if node.is_missing:
            yield SyntaxFault(line + 1, column + 1, f"missing {node.type}", line + 1)
        elif node.is_error:
            piece = data[
                node.start_byte : min(node.end_byte, node.start_byte + 4 * MAX_QUOTED_CHARACTERS)
            ]
            shown = piece.decode("utf-8", "replace").split("\n")[0][:MAX_QUOTED_CHARACTERS]
            last = node.end_point[0] + 1
            yield SyntaxFault(line + 1, column + 1, f"unexpected `{shown}`", last)
        waiting.extend(child for child in node.children if child.has_error or child.is_missing)


@lru_cache(maxsize=4)  # as with the trees: before and after, and with or without what is nested
def symbols(text: str, language: Language | None, nested: bool = False) -> tuple[Symbol, ...]:
    """All definitions, outer before inner. `nested`: with namespaces, and inner functions."""
    if language is None or not language.grammar:
        return ()
    data = text.encode("utf-8", "surrogatepass")
    root = _parse(data, language).root_node
    with uncollected():
        return tuple(outline(root, data, nested))


def find_symbol(text: str, language: Language | None, name: str) -> list[Symbol]:
    """The symbols called `name`, or `Class.member`; the last dotted parts must match."""
    wanted = name.replace("::", ".").replace("#", ".").split(".")
    return [
        symbol
        for symbol in symbols(text, language)
        if symbol.qualified.split(".")[-len(wanted) :] == wanted
    ]
