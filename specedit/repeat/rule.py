"""A rule: what to look for, and what to write there, with holes for what differs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from specedit.repeat.origin import FREE, UNKNOWN
from specedit.repeat.piece import Piece, is_word
from specedit.repeat.roles import ARGUMENTS, is_own_name, with_parents

_MAY_DIFFER = ("'", '"', "`", ",", ")", "]", "}", ">", ";", "")  # from the example's tokens
# white space and comments, each in one way alone: a search stays linear
_BETWEEN = r"(?:\s|\\|(?://|#)[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*"


@dataclass(frozen=True)
class RepeatRule:
    """The pattern to look for, and the text to write there."""

    language: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    old_source: bytes  # of the example: `before` has offsets in it, and `after` in the new one
    new_source: bytes
    indentation: str = ""  # of the example's first line
    origins: Mapping[str, str] = field(default_factory=dict)  # of the names it looks for
    needs: tuple[tuple[str, str], ...] = ()  # names only in `after`, with their origins
    too_general: str = ""  # why it says little of its places
    examples: tuple[tuple[str, int], ...] = ()  # path and line; none: a pattern, given by hand
    written: tuple[tuple[str, int, bytes], ...] = ()  # of the examples: path, first byte, new text
    receivers: bool = False  # hand-written: its first name may be a member

    @cached_property
    def old_units(self) -> tuple[Piece, ...]:
        return tuple(unit for root in self.before for unit in root.units())

    @cached_property
    def new_units(self) -> tuple[Piece, ...]:
        return tuple(unit for root in self.after for unit in root.units())

    @property
    def old_text(self) -> str:
        """The text that the example replaced."""
        first, last = self.before[0].start, self.before[-1].end
        return self.old_source[first:last].decode("utf-8", "replace")

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Of the units of `after`, as the example writes them."""
        return _texts(self.new_units, self.new_source)

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """Of the example, between the units of `after`."""
        return _gaps(self.new_units, self.new_source)

    @cached_property
    def old_gaps(self) -> tuple[str, ...]:
        """Of the example, between the units of `before`."""
        return _gaps(self.old_units, self.old_source)

    @cached_property
    def kept(self) -> dict[int, int]:
        """For each unit of `after` that stands in `before`, too, its number there."""
        old = [unit.hole or unit.text for unit in self.old_units]
        new = [unit.hole or unit.text for unit in self.new_units]
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        return {b + n: a + n for a, b, size in blocks for n in range(size)}

    @cached_property
    def anchor(self) -> str:
        """The longest word that every place holds; "" where there is none."""
        words = [u.text for u in self.old_units if not u.hole and is_word(u.text) and u.named]
        more = [u.text for u in self.old_units if not u.hole and is_word(u.text)]
        return max(words or more, key=len, default="")

    @cached_property
    def brought_names(self) -> frozenset[str]:
        """The names of the new side that an import may have to bring: the example's file gets them
        from somewhere, or is not known."""
        old, origins = {unit.text for unit in self.old_units}, dict(self.needs)
        return frozenset(
            piece.text
            for piece, parent in with_parents(self.after)
            if piece.is_name and not piece.hole and is_own_name(piece, parent)
            if piece.text not in old and origins.get(piece.text, UNKNOWN) != FREE
        )

    @cached_property
    def dropped_names(self) -> frozenset[str]:
        """The names that the new side no longer has, whose import may become unused."""
        new = {unit.text for unit in self.new_units}
        return frozenset(
            piece.text
            for piece, parent in with_parents(self.before)
            if piece.is_name and not piece.hole and is_own_name(piece, parent)
            if piece.text not in new
        )

    @cached_property
    def runs(self) -> tuple[re.Pattern[str], ...]:
        """Texts that stand in every file with a place: its fixed tokens that are neighbours."""
        runs: list[list[str]] = [[]]
        for unit in self.old_units:
            if unit.hole or unit.text[-1:] in _MAY_DIFFER:
                runs.append([])
            if not unit.hole and unit.text[-1:] not in _MAY_DIFFER:
                runs[-1].append(re.escape(unit.text))
        return tuple(re.compile(_BETWEEN.join(run), re.DOTALL) for run in runs if run)

    def may_stand_in(self, text: str) -> bool:
        """Whether a text may hold a place; decided without parsing it."""
        return all(run.search(text) is not None for run in self.runs)

    @cached_property
    def fits_its_result(self) -> bool:
        """Whether only what the holes hold tells a place from what is written there."""
        return shape(self.before, names=False) == shape(self.after, names=False)

    @cached_property
    def fits_again(self) -> bool:
        """Whether what is written at a place is a place itself."""
        return len(self.before) == 1 and any(
            covers(self.before[0], inner) for piece in self.after for inner in piece.walk()
        )

    @cached_property
    def binds_this(self) -> bool:
        """Whether a function becomes an arrow function or is one no longer."""
        arrows = [
            [piece.kind for root in side for piece in root.walk()].count("arrow_function")
            for side in (self.before, self.after)
        ]
        return arrows[0] != arrows[1]

    @property
    def key(self) -> object:
        return self.language, shape(self.before), shape(self.after)

    def shown(self) -> tuple[str, str]:
        """Both sides as patterns; `($$$A)` is the hole of a list of arguments."""
        return _line(self.old_units, self.old_source), _line(self.new_units, self.new_source)


def _texts(units: Sequence[Piece], source: bytes) -> tuple[str, ...]:
    return tuple(source[unit.start : unit.end].decode("utf-8", "replace") for unit in units)


def _gaps(units: Sequence[Piece], source: bytes) -> tuple[str, ...]:
    return tuple(
        source[one.end : other.start].decode("utf-8", "replace") for one, other in pairwise(units)
    )


def covers(pattern: Piece, piece: Piece) -> bool:
    """Whether a pattern fits a piece, whatever their holes hold."""
    if pattern.hole:
        return piece.named
    if piece.hole or pattern.kind != piece.kind or pattern.text != piece.text:
        return False
    if any(child.many for child in pattern.children):
        return True
    return len(pattern.children) == len(piece.children) and all(
        covers(one, other) for one, other in zip(pattern.children, piece.children, strict=True)
    )


def _line(units: Sequence[Piece], source: bytes) -> str:
    """Units with what stands between them, in one line."""
    words = [
        f"($${unit.hole})" if unit.hole and unit.kind.endswith(ARGUMENTS) else unit.hole or text
        for unit, text in zip(units, _texts(units, source), strict=True)
    ]
    gaps = [" " if "\n" in gap else gap for gap in _gaps(units, source)]
    return "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=False))


def shape(pieces: Sequence[Piece], *, names: bool = True) -> tuple[object, ...]:
    """Kinds, texts and holes of pieces; `names`: which hole each is."""
    return tuple(
        (
            piece.kind,
            piece.hole if names else bool(piece.hole),
            piece.text,
            shape(piece.children, names=names),
        )
        for piece in pieces
    )
