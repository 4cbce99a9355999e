"""A run's results as one JSON object, which the plots are drawn from.

Knows rows, scores and bills; measures nothing and draws nothing.
"""

from __future__ import annotations

import datetime
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from specedit.bench.bound import Bound
from specedit.bench.cost import Usage, bill, bill_json, predicted_usage
from specedit.bench.peers.base import Spent, Task
from specedit.bench.side import PeerLine, SideRow
from specedit.bench.table import changed
from specedit.bench.tasks import Words
from specedit.bench.timing import Measured
from specedit.settings import Settings

SCHEMA = 1


@dataclass
class Results:
    """Everything one run of `specedit bench` found."""

    model: str
    threads: int
    rows: list[SideRow] = field(default_factory=list)
    peers: list[PeerLine] = field(default_factory=list)
    scores: list[dict[str, Any]] = field(default_factory=list)
    bound: Bound | None = None
    widths: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # seconds, by engine
    cost: dict[str, Any] | None = None
    renames: dict[str, Any] | None = None
    agreement: dict[str, Any] | None = None
    tries: dict[str, Any] | None = None
    load: list[dict[str, Any]] = field(default_factory=list)
    focus: dict[str, Any] | None = None
    gate: dict[str, Any] | None = None
    drafters: list[dict[str, Any]] = field(default_factory=list)


def machine() -> dict[str, Any]:
    """What a reader must know to compare."""
    from specedit.engines.exact.cores import processor_name

    return {
        "processor": processor_name(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def results_json(r: Results) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "command": "bench",
        "date": datetime.date.today().isoformat(),
        "machine": {**machine(), "threads": r.threads},
        "model": r.model,
        "peers": [_peer(p) for p in r.peers],
        "bound": None if r.bound is None else {"peak_operations_s": round(r.bound.peak)},
        "cases": [row_json(row, r.bound) for row in r.rows],
        "widths": {
            engine: [{"width": w, "ms": round(1000 * s, 2)} for w, s in points]
            for engine, points in r.widths.items()
        },
        "quality": r.scores,
        "cost": r.cost,
        "renames": r.renames,
        "agreement": r.agreement,
        "tries": r.tries,
        "load": r.load,
        "focus": r.focus,
        "gate": r.gate,
        "drafters": r.drafters,
    }


def _peer(p: PeerLine) -> dict[str, Any]:
    if p.skipped:
        return {"name": p.name, "skipped": p.skipped}
    return {"name": p.name, "load_s": p.load_s, "peak_mb": p.peak_mb, "note": p.note}


def row_json(row: SideRow, bound: Bound | None) -> dict[str, Any]:
    answer = row.measured[0].tokens if row.measured else 0
    prompt = len(row.task.prompt)
    return {
        "id": row.case.id,
        "kind": row.case.kind,
        "lines": row.case.lines,
        "changed": round(changed(row), 4),
        "dictated": row.task.dictated,
        "tokens": {"prompt": prompt, "answer": answer},
        "bound_s": None if bound is None else round(bound.seconds(prompt, answer), 4),
        "peers": {m.peer: measured_json(m) for m in row.measured},
    }


def measured_json(m: Measured) -> dict[str, Any]:
    last = m.runs[-1]
    return {
        "runs": len(m.runs),
        "total_s": round(m.seconds("total_s"), 4),
        "prefill_s": round(m.seconds("prefill_s"), 4),
        "decode_s": round(m.seconds("decode_s"), 4),
        "spread": round(m.spread(), 4),
        "all_total_s": [round(r.total_s, 4) for r in m.runs],
        "tokens": m.tokens,
        "tokens_per_second": round(m.tokens_per_second, 2),
        "passes": last.passes or None,
        "proposed": last.proposed or None,
        "accepted": last.accepted or None,
        "spent": None if last.spent is None else rounded(last.spent),
        "identical_to_own_plain": m.same,
    }


def rounded(spent: Spent) -> dict[str, Any]:
    return {name: round(value, 4) for name, value in asdict(spent).items()}


def cost_json(usages: Sequence[tuple[Usage, Usage]], settings: Settings) -> dict[str, Any]:
    """The bill of many edits, plain and predicted."""
    plain = sum((p for p, _ in usages), Usage(0, 0))
    predicted = sum((p for _, p in usages), Usage(0, 0))
    return {
        "edits": len(usages),
        "price_input": settings.price_input,
        "price_output": settings.price_output,
        "prompt": plain.prompt,
        "completion": plain.completion,
        "accepted": predicted.accepted,
        "rejected": predicted.rejected,
        **bill_json(bill(plain, predicted, settings)),
    }


def usages_of(task: Task, answer: Sequence[int], words: Words) -> tuple[Usage, Usage]:
    """What a hosted service would count for one edit: without a prediction, and with it."""
    from specedit.backends.wire import appeared

    plain = Usage(len(task.prompt), len(answer))
    expected = words.encode(task.plan.prediction or "")
    found = appeared(expected, list(answer))
    return plain, predicted_usage(plain.prompt, plain.completion, len(expected), found)
