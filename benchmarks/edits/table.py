"""The figures of a run, by kind, language and length."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

Row = dict[str, Any]
LENGTHS = ("under 100 lines", "100 to 300 lines", "over 300 lines")
HEAD = ("cases", "right", "partly", "refused", "(right)", "wrong", "unchanged", "s", "tokens")


def tables(title: str, rows: list[Row]) -> str:
    """One line for the run, and one for each kind, language and length."""
    lines = [title, _line("", HEAD), _figures("all", rows)]
    groups: tuple[Callable[[Row], str], ...] = (
        lambda row: str(row["kind"]),
        lambda row: str(row["language"]),
        lambda row: LENGTHS[(row["lines"] >= 100) + (row["lines"] > 300)],
    )
    for group in groups:
        names = sorted({group(row) for row in rows}, key=lambda n: (n not in LENGTHS, *_place(n)))
        lines += ["", *(_figures(name, [r for r in rows if group(r) == name]) for name in names)]
    return "\n".join([*lines, ""])


def _place(name: str) -> tuple[int, str]:
    return (LENGTHS.index(name) if name in LENGTHS else 0), name


def _figures(name: str, rows: list[Row]) -> str:
    def count(*verdicts: str) -> int:
        return sum(row["verdict"] in verdicts for row in rows)

    refused_right = sum(row.get("refused_verdict") == "right" for row in rows)
    seconds = median([row["seconds"] for row in rows] or [0])
    tokens = sum(row.get("prompt", 0) + row.get("completion", 0) for row in rows)
    right = f"{count('right')} ({100 * count('right') / max(1, len(rows)):.0f} %)"
    counts = (len(rows), right, count("partly"), count("refused"), f"({refused_right})")
    return _line(name, (*counts, count("wrong"), count("unchanged"), f"{seconds:.1f}", tokens))


def _line(name: str, cells: Iterable[object]) -> str:
    return f"{name:18}" + "".join(f"{cell!s:>11}" for cell in cells)
