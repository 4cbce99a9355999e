"""How many inputs the tests try: few by default, all of them where TEST_EFFORT is `full`."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

FULL = os.environ.get("TEST_EFFORT") == "full"
FEW = 20


def examples(number: int, **others: Any) -> settings:
    """Settings for a property that takes `number` examples in CI."""
    return settings(max_examples=number if FULL else min(number, FEW), **others)
