"""Finds the places of a rule in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specedit.errors import TooComplex
from specedit.repeat.example import tokens
from specedit.repeat.piece import BYTES, Piece, leaf_text, parts
from specedit.repeat.roles import MEMBERS
from specedit.repeat.rule import RepeatRule
from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME

if TYPE_CHECKING:
    from tree_sitter import Node

_NO_VALUES = ("splat", "spread", "keyword_argument", "named_argument", "pair", "comment")
MOST_PLACES = 2_000  # of one file, which are compared with each other
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Match:
    """Bytes [start, end) that a pattern fits, and the span of each of its units."""

    start: int
    end: int
    spans: tuple[Span, ...]
    is_alike: bool = True  # each hole holds the same kind of node as in the example


def matches(rule: RepeatRule, text: str, pattern: Sequence[Piece], root: Node) -> list[Match]:
    """Every place of a text that fits, in its order; of places in each other, the outer first. A
    TooComplex where they are too many."""
    data = text.encode(*BYTES)
    found: dict[Span, Match] = {}
    for node in _candidates(pattern, root, data):
        match = fits(pattern, node, data, rule.language, receivers=rule.receivers)
        if match is not None:
            found.setdefault((match.start, match.end), match)
        if len(found) > MOST_PLACES:
            raise TooComplex(f"more than {MOST_PLACES:,} places fit")
    return sorted(found.values(), key=lambda match: (match.start, -match.end))


def outermost(found: Sequence[Match]) -> list[Match]:
    """Of matches in the order of the text, those that are in no other."""
    results: list[Match] = []
    for match in found:
        if not results or match.start >= results[-1].end:
            results.append(match)
    return results


def fits(
    pattern: Sequence[Piece], node: Node, data: bytes, language: str, *, receivers: bool = False
) -> Match | None:
    """The match of a pattern that starts with a node; None where it does not fit. `receivers`: its
    first name may be a member of something, which stays."""
    matcher = _Matcher(pattern, data, language, receivers=receivers)
    nodes: list[Node] = [node]
    while len(nodes) < len(pattern):
        after = nodes[-1].next_named_sibling
        while after is not None and (after.is_extra or "comment" in after.type):
            after = after.next_named_sibling
        if after is None:
            return None
        nodes.append(after)
    for piece, candidate in zip(pattern, nodes, strict=True):
        if not matcher.fits(piece, candidate):
            return None
    start, end = nodes[0].start_byte, nodes[-1].end_byte
    if receivers and matcher.spans:
        start = matcher.spans[0][0]
    return Match(start, end, tuple(matcher.spans), matcher.is_alike)


def _candidates(pattern: Sequence[Piece], root: Node, data: bytes) -> Iterator[Node]:
    """The nodes that the first part of a pattern may fit: those around its rarest word."""
    first = pattern[0]
    path = _path_to_anchor(first)
    if path is None:
        kind = first.kind
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.type == kind:
                yield node
            waiting.extend(reversed(node.children))
        return
    word, depth = path
    seen: set[int] = set()
    for start in occurrences(data, word):
        up = root.descendant_for_byte_range(start, start + len(word.encode()))
        for _ in range(depth + 4):
            if up is None:
                break
            if up.type == first.kind and up.id not in seen:
                seen.add(up.id)
                yield up
            up = up.parent


def _path_to_anchor(piece: Piece) -> tuple[str, int] | None:
    """The longest fixed word of a pattern, and how deep it stands."""
    best: tuple[str, int] | None = None
    waiting = [(piece, 0)]
    while waiting:
        part, depth = waiting.pop()
        if not part.hole and not part.children:
            for word in re.findall(r"\w+", part.text):
                if best is None or len(word) > len(best[0]):
                    best = word, depth
        waiting += [(child, depth + 1) for child in part.children]
    return best


def occurrences(data: bytes, word: str) -> Iterator[int]:
    """Where a whole word stands."""
    wanted = word.encode()
    at = data.find(wanted)
    while at >= 0:
        around = data[at - 1 : at] + data[at + len(wanted) : at + len(wanted) + 1]
        if not any(chr(byte).isalnum() or byte in b"_" for byte in around if byte < 128):
            yield at
        at = data.find(wanted, at + 1)


class _Matcher:
    def __init__(
        self, pattern: Sequence[Piece], data: bytes, language: str, *, receivers: bool
    ) -> None:
        holes = [unit.hole for piece in pattern for unit in piece.units() if unit.hole]
        self.repeated = {hole for hole in holes if holes.count(hole) > 1}
        self.receivers = receivers
        self.data = data
        self.language = language
        self.spans: list[Span] = []
        self.is_alike = True
        self.bound: dict[str, tuple[str, ...]] = {}

    def fits(self, piece: Piece, node: Node) -> bool:
        if piece.hole:
            return self._binds(piece, node)
        below = parts(node)
        first = self.receivers and not self.spans and piece.is_name and not piece.hole
        if first and below and any(word in node.type for word in MEMBERS):
            self.receivers = False  # the name that comes first, and no other
            return below[-1].is_named and self._is_name(piece, below[-1])
        if piece.kind != node.type:
            return False
        if not piece.children:
            if below or leaf_text(node, self.data, self.language) != piece.text:
                return False
            self.spans.append((node.start_byte, node.end_byte))
            return True
        if any(child.many for child in piece.children):
            return self._fits_some(piece.children, below)
        if len(below) != len(piece.children):
            return False
        return all(self.fits(one, child) for one, child in zip(piece.children, below, strict=True))

    def _is_name(self, piece: Piece, node: Node) -> bool:
        if parts(node) or leaf_text(node, self.data, self.language) != piece.text:
            return False
        self.spans.append((node.start_byte, node.end_byte))
        return True

    def _binds(self, piece: Piece, node: Node) -> bool:
        if piece.kind and piece.kind != node.type:
            return False
        if not node.is_named or (not piece.kind and any(w in node.type for w in _NO_VALUES)):
            return False
        self.is_alike = self.is_alike and piece.form == node.type
        return self._bind(piece.hole, [node])

    def _bind(self, hole: str, nodes: Sequence[Node], at: int = 0) -> bool:
        if hole in self.repeated:
            words = tuple(word for node in nodes for word in tokens(node, self.data, self.language))
            if self.bound.setdefault(hole, words) != words:
                return False
        self.spans.append((nodes[0].start_byte, nodes[-1].end_byte) if nodes else (at, at))
        return True

    def _fits_some(self, pieces: Sequence[Piece], nodes: Sequence[Node]) -> bool:
        """Whether children fit where one piece takes any number of them."""
        if not pieces:
            return not nodes
        first = pieces[0]
        if not first.many:
            if not nodes or not self.fits(first, nodes[0]):
                return False
            return self._fits_some(pieces[1:], nodes[1:])
        for count in range(len(nodes), -1, -1):
            taken, rest = nodes[:count], pieces[1:]
            spans, bound = len(self.spans), dict(self.bound)
            at = nodes[0].start_byte if nodes else 0
            if not count and rest and rest[0].text == ",":
                rest = rest[1:]
                fits = self._bind(first.hole, taken, at)
                self.spans.append((at, at))
            else:
                fits = self._bind(first.hole, taken, at)
            if fits and self._fits_some(rest, nodes[count:]):
                return True
            del self.spans[spans:]
            self.bound = bound
        return False


def tree_of(text: str, language_name: str) -> Node:
    return trees.parse(text, BY_NAME[language_name]).root_node
