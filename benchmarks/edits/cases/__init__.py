"""The cases of every language, which are data, and the halves of them.

A file is one language's. A predicate is a list: the name of a function of `checkers`, then its
arguments; the symbol "" is the whole file. `"right"` at the beginning of a spoilt answer stands for
the replacements of the right one.
"""

from __future__ import annotations

import hashlib
import tomllib
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.edits import checkers
from benchmarks.edits.case import Case, Edited, Predicate, Replacements


def all_cases() -> list[Case]:
    """The cases of every file here, in a mixed order that does not change."""
    paths = Path(__file__).parent.glob("*.toml")
    cases = [_case(record) for path in paths for record in _records(path)]
    return sorted(cases, key=_mixed)


def _records(path: Path) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = tomllib.loads(path.read_text("utf-8"))["case"]
    return records


def _case(record: dict[str, Any]) -> Case:
    right = _pairs(record["right"])
    spoilt = [
        (*right, *_pairs(answer[1:])) if answer[:1] == ["right"] else _pairs(answer)
        for answer in record.get("spoilt", ())
    ]
    return Case(
        **{name: record[name] for name in ("id", "file", "kind", "instruction")},
        right=right,
        where=tuple(record["where"]),
        asked=tuple(map(predicate, record["asked"])),
        keeps=tuple(map(predicate, record.get("keeps", ()))),
        accepted=_pairs(record.get("accepted", ())),
        spoilt=tuple(spoilt),
    )


def _pairs(replacements: Iterable[Sequence[str]]) -> Replacements:
    return tuple((old, new) for old, new in replacements)


def predicate(parts: Sequence[Any]) -> Predicate:
    """A function of `checkers` with its arguments; its `__name__` is what a report shows."""
    name, *arguments = parts
    named = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
    label = f"{name}({', '.join(map(repr, arguments))})"
    if name == "either":
        arguments = [predicate(inner) for inner in arguments]
    if arguments and arguments[0] == "":
        arguments[0] = None
    check = getattr(checkers, name)

    def holds(edited: Edited) -> bool:
        result: bool = check(edited, *arguments, **named)
        return result

    holds.__name__ = label
    return holds


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
