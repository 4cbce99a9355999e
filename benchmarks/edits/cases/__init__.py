"""The cases of every language, and the halves of them."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from collections.abc import Iterable

from benchmarks.edits.case import Case


def all_cases() -> list[Case]:
    """The cases of every module here, in a mixed order that does not change."""
    found: list[Case] = []
    for module in pkgutil.iter_modules(__path__):
        found += importlib.import_module(f"{__name__}.{module.name}").CASES
    return sorted(found, key=_mixed)


def half(cases: Iterable[Case], name: str) -> list[Case]:
    """Every second case of each language, ordered by kind, so that both halves have the same."""
    by_language: dict[str, list[Case]] = {}
    for case in cases:
        by_language.setdefault(case.language, []).append(case)
    start = {"even": 0, "odd": 1}[name]
    found: list[Case] = []
    for language in sorted(by_language):
        ordered = sorted(by_language[language], key=lambda case: (case.kind, _mixed(case)))
        found += ordered[start::2]
    return sorted(found, key=_mixed)


def _mixed(case: Case) -> str:
    return hashlib.sha256(case.id.encode()).hexdigest()
