"""What a definition takes, what a call gives, and whether the one fits the other.

Values and arithmetic; knows no language.
"""

from __future__ import annotations

from dataclasses import dataclass

ENDLESS = 1 << 20


@dataclass(frozen=True)
class Signature:
    """What a definition takes. `places`: the parameters that arguments fill in order."""

    places: tuple[str, ...] = ()
    needed: frozenset[str] = frozenset()  # of all its parameters, those without a default
    only_places: int = 0  # so many of the first cannot be named
    only_named: frozenset[str] = frozenset()
    more: bool = False  # takes any number of further arguments
    any_name: bool = False  # takes arguments of any name

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.places) | self.only_named

    @property
    def count(self) -> str:
        least = sum(name in self.needed for name in self.places)
        most = len(self.places)
        if self.more:
            return f"at least {least}"
        return str(most) if least == most else f"{least} to {most}"


@dataclass(frozen=True)
class Given:
    """What a call gives."""

    places: int = 0
    named: frozenset[str] = frozenset()


def misfit(takes: Signature, given: Given) -> str:
    """Why a call does not fit, as the end of a sentence; "" when it does."""
    if given.places > len(takes.places) and not takes.more:
        return f"is given {given.places} arguments and takes {takes.count}"
    filled = set(takes.places[: given.places])
    reachable = takes.names - set(takes.places[: takes.only_places])
    for name in sorted(given.named):
        if name in filled and name in reachable:
            return f"is given `{name}` twice"
        if name not in reachable and not takes.any_name:
            return f"has no parameter `{name}`"
    lacking = [name for name in takes.places if name in takes.needed - filled - given.named]
    lacking += sorted((takes.only_named & takes.needed) - given.named)
    if lacking and not given.named and not takes.only_named:
        return f"is given {given.places} arguments and takes {takes.count}"
    if lacking:
        return f"is not given `{lacking[0]}`"
    return ""
