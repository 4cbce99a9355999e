"""What the model's answer is worth: chance handed on to neighbours, and a fifth of the file."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from specedit.edit.regions.blocks import Block, blocks_of
from specedit.edit.regions.choice import FEW, Likely, after_asking, likely, spread, with_named
from specedit.edit.regions.evidence import Evidence, evidence_of
from specedit.syntax.languages import language_of


def text(functions: int = 60) -> str:
    parts = [f"def weigh_{n}(items):\n    return items[{n}]\n" for n in range(functions)]
    parts[40] = "def total(items):\n    return weigh_7(items) + 1\n"
    return "\n\n".join(["import os\n", *parts])


def evidence(instruction: str = "Mend the crash") -> list[Evidence]:
    found = blocks_of(text(), language_of("a.py"))
    return evidence_of(text(), found, instruction)


def at(found: Sequence[Evidence], name: str) -> int:
    return next(n for n, one in enumerate(found) if one.block.name == name)


def test_chance_is_handed_on_to_what_stands_behind() -> None:
    found = evidence()
    given = with_named(found, [found[at(found, "weigh_7")].block])
    before = likely(given, asked=True)
    after = spread(before)
    assert sum(one.chance for one in after) == pytest.approx(1)
    ratio = [b.chance / a.chance for a, b in zip(before, after, strict=True)]
    gain = {given[n].block.name: r for n, r in enumerate(ratio)}
    assert max(gain, key=lambda name: gain[name]) == "weigh_8"
    assert after[at(found, "weigh_7")].chance < before[at(found, "weigh_7")].chance


def likelihoods(lines: Sequence[int], chances: Sequence[float]) -> list[Likely]:
    """Blocks of so many lines, each as likely as is said."""
    found, first = [], 1
    for count, chance in zip(lines, chances, strict=True):
        found.append(Likely(Block(first, first + count - 1, f"f{first}", "function"), chance))
        first += count
    return found


@pytest.mark.parametrize(
    ("chances", "lines", "taken"),
    [
        ([0.9, 0.1], [10, 90], [0]),
        ([0.5, 0.35, 0.15], [10, 10, 80], [0, 1]),
        ([0.5, 0.2, 0.3], [10, 10, 80], [0]),  # the third is long
        ([0.6, 0.2, 0.2], [10, 70, 20], [0]),  # MORE is enough where a fifth holds no more
        ([0.9, 0.1], [90, 10], [0]),  # the first, however long it is
        ([0.2] * 5, [20] * 5, []),
    ],
)
def test_a_fifth_of_the_file_must_have_more_than_half_of_the_chance(
    chances: list[float], lines: list[int], taken: list[int]
) -> None:
    given = likelihoods(lines, chances)
    choice = after_asking(given)
    assert [given.index(one) for one in choice.blocks] == taken
    assert choice.unsure is False
    if len(taken) > 1:
        assert sum(one.block.lines for one in choice.blocks) <= FEW * sum(lines)
