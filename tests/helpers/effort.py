"""How many inputs the tests try: few by default, all of them where TEST_EFFORT is `full`."""

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import settings

FULL = os.environ.get("TEST_EFFORT") == "full"
in_full = pytest.mark.skipif(not FULL, reason="TEST_EFFORT=full runs it")
FEW = 6
Case = TypeVar("Case")


def examples(number: int, **others: Any) -> settings:
    """Settings for a property that takes `number` examples in CI."""
    return settings(max_examples=number if FULL else min(number, FEW), **others)


def ends(cases: Iterable[Case]) -> list[Case]:
    """All cases in CI; by default the first and the last."""
    every = list(cases)
    return every if FULL else every[:1] + every[1:][-1:]


def some(cases: Iterable[Case], step: int) -> list[Case]:
    """All cases in CI; by default the first of each `step`."""
    return list(cases)[:: 1 if FULL else step]
