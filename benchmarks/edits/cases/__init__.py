"""The cases of every language, and the halves of them."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
import zlib
from collections.abc import Iterable

from benchmarks.edits.case import Case


def all_cases() -> list[Case]:
    """The cases of every module here, in a mixed order that does not change."""
    found: list[Case] = []
    for module in pkgutil.iter_modules(__path__):
        found += importlib.import_module(f"{__name__}.{module.name}").CASES
    return sorted(found, key=_mixed)


def half(cases: Iterable[Case], name: str) -> list[Case]:
    """Every second case of each kind, ordered by language, so that the halves have the same kinds
    and languages. Which half has one more depends on the kind's name."""
    by_kind: dict[str, list[Case]] = {}
    for case in cases:
        by_kind.setdefault(case.kind, []).append(case)
    found: list[Case] = []
    for kind, some in by_kind.items():
        start = ({"even": 0, "odd": 1}[name] + zlib.crc32(kind.encode())) % 2
        found += sorted(some, key=lambda case: (case.language, _mixed(case)))[start::2]
    return sorted(found, key=_mixed)


def _mixed(case: Case) -> str:
    return hashlib.sha256(case.id.encode()).hexdigest()
