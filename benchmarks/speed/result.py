"""Results as one JSON object, and as tables for the terminal."""

from __future__ import annotations

import datetime
import platform
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.speed.cases import share_changed
from benchmarks.speed.compare import DRAFTERS, SpeedRow, Speeds, summed
from benchmarks.speed.peers import OWN
from specedit.engines.cores import processor_name

SCHEMA = 1
COLUMNS = 110  # of a table that is not shown on a terminal


@dataclass
class BenchResult:
    """Everything that one run of `benchmarks.speed` measured."""

    model: str
    threads: int
    speeds: Speeds = field(default_factory=Speeds)
    cost: dict[str, float] | None = None
    widths: dict[str, dict[int, float]] = field(default_factory=dict)  # seconds, by engine
    drafters: bool = False  # the peers are drafters

    def json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "command": "bench",
            "date": datetime.date.today().isoformat(),
            "machine": {
                "processor": processor_name(),
                "system": f"{platform.system()} {platform.machine()}",
                "python": platform.python_version(),
                "threads": self.threads,
            },
            "model": self.model,
            "peers": [asdict(p) for p in self.speeds.peers],
            "cases": [_row_json(row) for row in self.speeds.rows],
            "widths": {
                engine: [{"width": w, "ms": round(1000 * s, 2)} for w, s in points.items()]
                for engine, points in self.widths.items()
            },
            "drafters": summed(self.speeds.rows) if self.drafters else [],
            "cost": self.cost,
        }

    def show(self) -> None:
        """The tables, on stdout."""
        console = Console(highlight=False, markup=False)
        if not console.is_terminal:
            console.width = COLUMNS
        for part in self._tables():
            console.print(part)

    def _tables(self) -> Iterator[RenderableType]:
        rows = self.speeds.rows
        if self.drafters:
            yield _drafters_table(summed(rows))
            absent = [n.name for n in DRAFTERS if not any(row.of(n.name) for row in rows)]
            if absent:
                yield Text(f"not available here: {', '.join(absent)}", style="yellow")
        elif rows:
            for row in rows:
                yield from _row_table(row)
            if any(row.task.dictated for row in rows):
                yield Text("every peer writes the given answer; with --own its own", style="dim")
        if self.widths:
            yield _widths_table(self.widths)
        if self.cost:
            plain, predicted = (
                100 * self.cost["plain_dollars"],
                100 * self.cost["predicted_dollars"],
            )
            yield (
                f"hosted: {plain:.4f} cents without a prediction, {predicted:.4f} with one "
                f"({self.cost['rejected']} rejected tokens billed)"
            )
        for peer in self.speeds.peers:
            if peer.skipped:
                yield Text(f"{peer.name} skipped: {peer.skipped}", style="yellow")

    @property
    def conclusion(self) -> str:
        """One line: how many times as fast as each other peer, over all cases."""
        rows = self.speeds.rows
        if self.drafters or not rows:
            return ""
        parts = []
        for peer in dict.fromkeys(m.peer for row in rows for m in row.measured):
            ratios = [t for row in rows if peer != OWN and (t := row.times(peer)) is not None]
            if ratios:
                parts.append(f"{statistics.geometric_mean(ratios):.1f}x {peer}")
        count = "1 case" if len(rows) == 1 else f"{len(rows)} cases"
        return f"specedit, end to end, {count}: {', '.join(parts) or 'nothing to compare with'}"


def _row_json(row: SpeedRow) -> dict[str, Any]:
    return {
        "id": row.case.id,
        "kind": row.case.kind,
        "lines": row.case.lines,
        "changed": round(_changed(row), 4),
        "dictated": row.task.dictated,
        "tokens": {"prompt": len(row.task.prompt), "answer": _answer(row)},
        "peers": {
            m.peer: {
                **{p: round(m.seconds(p), 4) for p in ("total_s", "prefill_s", "decode_s")},
                "all_total_s": [round(r.total_s, 4) for r in m.runs],
                "tokens": m.tokens,
                "tokens_per_second": round(m.tokens_per_second, 2),
                "passes": m.runs[-1].passes or None,
                "proposed": m.runs[-1].proposed or None,
                "accepted": m.runs[-1].accepted or None,
                "identical_to_own_plain": m.same,
            }
            for m in row.measured
        },
    }


def _answer(row: SpeedRow) -> int:
    return row.measured[0].tokens if row.measured else 0


def _changed(row: SpeedRow) -> float:
    return 0.0 if row.case.after is None else share_changed(row.case.before, row.case.after)


def _row_table(row: SpeedRow) -> Iterator[RenderableType]:
    yield Text(
        f"{row.case.id}: {row.case.lines} lines, {_changed(row):.1%} changed, "
        f"{len(row.task.prompt)} tokens in, {_answer(row)} out",
        style="bold",
    )
    table = _table("peer", "seconds", "specedit is", "prefill", "decode", "tokens/s")
    for m in row.measured:
        times = row.times(m.peer)
        table.add_row(
            m.peer,
            f"{m.seconds():.2f}",
            "" if m.peer == OWN or times is None else f"{times:.2f}x",
            *(f"{m.seconds(part):.2f}" for part in ("prefill_s", "decode_s")),
            f"{m.tokens_per_second:.1f}",
        )
    yield from (table, Text())


def _widths_table(widths: Mapping[str, Mapping[int, float]]) -> RenderableType:
    wide = sorted({w for points in widths.values() for w in points})
    table = _table("ms at width", *map(str, wide))
    for engine, points in widths.items():
        table.add_row(engine, *(f"{1000 * points[w]:.0f}" if w in points else "" for w in wide))
    return table


def _drafters_table(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Times plain and tokens a pass, by workload."""
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    table = _table("times plain (tokens a pass)", *workloads)
    for drafter in dict.fromkeys(row["drafter"] for row in rows):
        cells = dict.fromkeys(workloads, "-")
        for row in (row for row in rows if row["drafter"] == drafter):
            other = "" if row["same_as_plain"] else " (another text)"
            cells[row["workload"]] = (
                f"{row['times_plain'] or 0:.2f} ({row['tokens_per_pass']:.2f}){other}"
            )
        table.add_row(drafter, *cells.values())
    return table


def _table(*names: str) -> Table:
    """Names to the left, numbers to the right."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for at, name in enumerate(names):
        table.add_column(name, justify="right" if at else "left", no_wrap=True)
    return table
