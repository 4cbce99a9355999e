"""Lines of a change and lines of a file: how they are compared, the file lines that the old side
of a hunk stands for, and the indentation of new lines in the file's style.

Lines are compared as they are, then without white space at their ends, then without their
indentation, then without any white space. Where that finds several places, the hunk's header, the
order of the hunks and line numbers that are right decide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

Key = Callable[[str], str]


def squeezed(line: str) -> str:
    """The line without white space."""
    return re.sub(r"\s+", "", line)


KEYS: tuple[Key, ...] = (str, str.rstrip, str.strip, squeezed)


@dataclass(frozen=True, slots=True)
class HunkPlace:
    """Where a hunk's old side is: for each of its lines the file line, or None."""

    rows: tuple[int | None, ...]
    how: str  # "exact" | "matched"

    @property
    def first(self) -> int:
        return next(row for row in self.rows if row is not None)

    @property
    def last(self) -> int:
        return next(row for row in reversed(self.rows) if row is not None)


class FileIndex:
    """The lines of a file, by each way to compare them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._keys: dict[int, list[str]] = {}
        self._rows: dict[int, dict[str, list[int]]] = {}
        self.equal: dict[tuple[str, ...], list[HunkPlace]] = {}  # of parts that are looked for
        self.likeness: Any = None  # of its lines, once it is asked for

    @cached_property
    def weights(self) -> list[float]:
        return [weight(line) for line in self.lines]

    @cached_property
    def told(self) -> tuple[list[str], list[int]]:
        """The lines that are not blank, without indentation, and how many stand before each line
        of the file and before its end."""
        lines = [line.strip() for line in self.lines]
        return list(filter(None, lines)), [0, *accumulate(map(bool, lines))]

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines)

    def found(self, text: str) -> list[int]:
        """Where a text begins in the file's, inside of lines, too; of many the first hundred."""
        result, at = list[int](), self.text.find(text)
        while at >= 0 and len(result) < 100:
            result.append(at)
            at = self.text.find(text, at + 1)
        return result

    def keys(self, level: int) -> list[str]:
        if level not in self._keys:
            self._keys[level] = [KEYS[level](line) for line in self.lines]
        return self._keys[level]

    def rows(self, level: int) -> dict[str, list[int]]:
        """The lines of each key."""
        if level not in self._rows:
            result: dict[str, list[int]] = {}
            for row, key in enumerate(self.keys(level)):
                result.setdefault(key, []).append(row)
            self._rows[level] = result
        return self._rows[level]

    def runs(self, wanted: Sequence[str], level: int) -> list[int]:
        """Where consecutive lines equal these."""
        keys, rows = self.keys(level), self.rows(level)
        own = [KEYS[level](line) for line in wanted]
        rarest = min(range(len(own)), key=lambda n: len(rows.get(own[n], ())))
        starts = (row - rarest for row in rows.get(own[rarest], ()))
        return [at for at in starts if at >= 0 and keys[at : at + len(own)] == own]


def equal_places(index: FileIndex, wanted: Sequence[str]) -> list[HunkPlace]:
    """All places that are equal, by the strictest comparison that finds one."""
    key = tuple(wanted)
    if key not in index.equal:
        index.equal[key] = _equal_places(index, wanted)
    return index.equal[key]


def _equal_places(index: FileIndex, wanted: Sequence[str]) -> list[HunkPlace]:
    for level in range(len(KEYS)):
        if starts := index.runs(wanted, level):
            how = "matched" if level > 1 else "exact"
            return [HunkPlace(tuple(range(at, at + len(wanted))), how) for at in starts]
    return []


def margin(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def weight(line: str) -> float:
    """The weight of an equal line: little where it has no word of its own."""
    text = line.strip()
    if not text:
        return 0.1
    letters = sum(map(str.isalnum, text))
    return 0.3 if letters < 2 else 0.6 if letters < 6 else 1.0


def likeness(one: str, other: str) -> float:
    """From 0 to 1, white space left out."""
    return SequenceMatcher(None, squeezed(one), squeezed(other), autojunk=False).ratio()


def same_line(one: str, other: str) -> bool:
    """Whether two lines are one line changed: both set the same name, or one has the other's words
    and more, the first one apart where there are many."""
    for sign in ("=", ":", "("):
        a, found, _ = one.replace("::", ".").partition(sign)
        b, also, _ = other.replace("::", ".").partition(sign)
        named = sign != "(" or bool({"def", "func", "fn", "function", "class"} & set(a.split()))
        named = named and not a.lstrip().startswith("- ")  # one more of a list
        named = named and not (sign in "=:" and a.split()[:1] in (["if"], ["while"], ["for"]))
        if found and also and named and squeezed(a) == squeezed(b) and any(map(str.isalnum, a)):
            return True
    if (one.strip()[:1] in ("}", ")")) != (other.strip()[:1] in ("}", ")")):
        return False  # another branch
    words, others = (_words(text) for text in (one, other))
    small, large = sorted((words, others), key=len)
    return len(small) > 1 and (
        _within(small, large) or (len(small) > 3 and _within(small[1:], large))
    )


def same_call(one: str, other: str) -> bool:
    """Whether two lines are one call with another last argument."""
    heads = [squeezed(line).rpartition(",")[0] for line in (one, other)]
    return heads[0] == heads[1] and "(" in heads[0]


def sets_again(line: str, other: str) -> bool:
    """Whether a line sets a name by what it is, so that it may follow one that sets it, too."""
    name, sign, value = line.partition("=")
    words = _words(line), _words(other)
    return bool(sign) and name.strip() in _words(value) and not _within(*sorted(words, key=len))


def _within(small: Sequence[str], large: Sequence[str]) -> bool:
    rest = iter(large)
    return all(word in rest for word in small)


def _words(line: str) -> list[str]:
    return re.findall(r"[^\W\d]\w*", line)


class Margins:
    """Which indentation of the change stands for which one of the file."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        """`pairs`: a line of the change and the same line of the file."""
        counts: dict[str, Counter[str]] = {}
        for one, other in pairs:
            if one.strip():
                counts.setdefault(margin(one), Counter())[margin(other)] += 1
        self._known = {own: found.most_common(1)[0][0] for own, found in counts.items()}
        self.sure = all(len(found) == 1 for found in counts.values())
        self.same = all(own == other for own, other in self._known.items())
        known = list(self._known.items())
        cut = {own.removesuffix(other) if own.endswith(other) else None for own, other in known}
        more = {other.removesuffix(own) if other.endswith(own) else None for own, other in known}
        self._cut = next(iter(cut)) if len(cut) == 1 else None  # the same for every line
        self._more = next(iter(more)) if len(more) == 1 else None

    def applied(self, line: str) -> str:
        """A line of the change as the file has it indented."""
        if self.same or not line:
            return line
        if not line.strip() and self._more is None:
            return line
        own = margin(line)
        if self._more is not None:
            return self._more + line
        if self._cut is not None and line.startswith(self._cut):
            return line[len(self._cut) :]
        return self._of(own) + line[len(own) :]

    def _of(self, own: str) -> str:
        if own in self._known:
            return self._known[own]
        units = [self._unit(a, b) for a, b in self._steps()]
        shorter = [name for name in self._known if own.startswith(name)]
        base = max(shorter, key=len, default=None)
        if base is not None:
            return self._known[base] + _converted(own[len(base) :], units)
        longer = min((name for name in self._known if name.startswith(own)), key=len, default=None)
        if longer is None:
            return own
        wanted, less = self._known[longer], _converted(longer[len(own) :], units)
        return wanted.removesuffix(less) if wanted.endswith(less) else own

    def _steps(self) -> list[tuple[str, str]]:
        """Pairs of indentations, one deeper than the other."""
        known = sorted(self._known.items(), key=lambda item: len(item[0]))
        known = known if any(not own for own, _ in known) else [("", ""), *known]
        return [
            (two[0][len(one[0]) :], two[1][len(one[1]) :])
            for one, two in pairwise(known)
            if two[0].startswith(one[0]) and two[1].startswith(one[1])
        ]

    @staticmethod
    def _unit(own: str, other: str) -> tuple[str, str]:
        """One step of both: four spaces and a tab, …"""
        for times in range(min(len(own), len(other)), 1, -1):
            if len(own) % times == 0 and len(other) % times == 0:
                a, b = own[: len(own) // times], other[: len(other) // times]
                if a * times == own and b * times == other:
                    return a, b
        return own, other


def _converted(text: str, units: Sequence[tuple[str, str]]) -> str:
    """White space in the file's units, where one divides it."""
    for own, other in units:
        times = len(text) // len(own) if own and other and own != other else 0
        if own * times == text:
            return other * times
    return text
