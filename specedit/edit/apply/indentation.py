"""Indentation of a change in the style of the file: learned from lines that both have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from specedit.edit.apply.part_places import margin


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
        shorter = [one for one in self._known if own.startswith(one)]
        base = max(shorter, key=len, default=None)
        if base is not None:
            return self._known[base] + _converted(own[len(base) :], units)
        longer = min((one for one in self._known if one.startswith(own)), key=len, default=None)
        if longer is None:
            return own
        wanted, less = self._known[longer], _converted(longer[len(own) :], units)
        return wanted.removesuffix(less) if wanted.endswith(less) else own

    def _steps(self) -> list[tuple[str, str]]:
        """Pairs of indentations, one deeper than the other."""
        known = sorted(self._known.items(), key=lambda one: len(one[0]))
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
