"""The outcome for programs: the one object of `--json`.

Scripts rely on its names: adding one is free, renaming one is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from specedit.decode import FREE, Tally
from specedit.edit.report import Compared, Edit, Figures, Finding, Report, Try

SCHEMA = 1


def _picked(of: object, *names: str, digits: int | None = None) -> dict[str, Any]:
    """These attributes, rounded to `digits`."""
    values = ((name, getattr(of, name)) for name in names)
    return {name: value if digits is None else round(value, digits) for name, value in values}


def _tally(t: Tally) -> dict[str, Any]:
    return _picked(t, "proposed", "accepted")


def _finding(finding: Finding, path: str) -> dict[str, Any]:
    places = [{"line": at.line, "column": at.column or None} for at in finding.places]
    own = _picked(finding, "kind", "line", "text", "verdict")
    return {"file": path, **own, "places": places}


def _figures(f: Figures) -> dict[str, Any]:
    """The costs that a file and a run have alike."""
    predicted, rate = f.prediction, round(f.prediction.rate, 4)
    return {
        "tokens": _picked(f, "prompt", "reused", "completion"),
        "passes": f.passes,
        "prediction": _picked(predicted, "proposed", "accepted", "rejected")
        | {"acceptance_rate": rate},
        "timing": _timing(f),
    }


def _timing(f: Figures) -> dict[str, float]:
    return _picked(f, "load_s", "prefill_s", "decode_s", "total_s", digits=4)


def _drafts(f: Figures) -> dict[str, Any]:
    return {name: _tally(tally) for name, tally in f.drafts.items() if name != FREE}


def _compared(c: Compared) -> dict[str, Any]:
    times = _picked(c, "decode_s", "total_s", digits=4)
    return {**asdict(c), **times, **_picked(c, "speedup_decode", "speedup_total", digits=3)}


def edit_json(e: Edit) -> dict[str, Any]:
    f = e.figures
    return {
        **_picked(e, "path", "status", "added", "removed", "hunks", "diff"),
        "problems": list(e.problems),
        "notes": list(e.notes),
        "findings": [_finding(finding, e.path) for finding in e.findings],
        "changes": [asdict(change) for change in e.changes],
        "left": [{"path": e.path, "line": spot.line} for spot in e.left],
        "mentions_left": e.mentions_left,
        "parts": [{"lines": list(part.lines), "how": part.how} for part in e.parts],
        "kept": e.kept or None,
        **_picked(e, "before_sha256", "after_sha256"),
        **_figures(f),
        "drafts": _drafts(f),
        "logits_digest": f.logits_digest,
        "regions": [
            {**asdict(r), "symbol": r.symbol or None, "chance": round(r.chance, 4)}
            for r in f.regions
        ],
        "compared": _compared(e.compared) if e.compared else None,
        "tries": [try_json(attempt) for attempt in e.tries],
        **_picked(e, "confidence", "sure"),
    }


def try_json(t: Try) -> dict[str, Any]:
    """One try of a file. `test` is null if the command did not run on it or on an equal try."""
    f = t.figures
    test = None
    if t.test:
        test = {"code": t.test.code, "line": t.test.line, "seconds": round(t.test_s, 4)}
    return {
        **_picked(t, "seed", "temperature", "with_feedback", "second_choice"),
        "tokens": f.completion,
        "passes": f.passes,
        "seconds": round(f.prefill_s + f.decode_s, 4),
        "test": test,
        "refused": t.refused or None,
        "noted": t.noted or None,
        **_picked(t, "same_as", "kept", "after_sha256"),
        "prompt": {"tokens": f.prompt, "reused": f.reused},
        "prediction": _tally(f.prediction),
        "drafts": _drafts(f),
        "timing": _timing(f),
    }


def _sum_compared(edits: Sequence[Edit]) -> dict[str, Any] | None:
    plain = [e.compared for e in edits if e.compared]
    if not plain:
        return None
    digests = [c.digests_equal for c in plain if c.digests_equal is not None]
    total = Compared.of(
        sum((e.figures for e in edits if e.compared), Figures()),
        sum(c.decode_s for c in plain),
        sum(c.total_s for c in plain),
        sum(c.passes for c in plain),
        identical=all(c.identical for c in plain),
        digests_equal=all(digests) if digests else None,
    )
    return _compared(total)


def report_json(r: Report) -> dict[str, Any]:
    """The one object `--json` prints."""
    return {
        "schema": SCHEMA,
        "command": r.command,
        "files": [edit_json(e) for e in r.edits],
        "totals": {
            "files": len(r.edits),
            "edited": r.count("edited", "would-edit"),
            "unchanged": r.count("unchanged"),
            "refused": r.count("refused"),
            "failed": r.count("failed"),
            **_figures(r.figures),
        },
        "compared": _sum_compared(r.edits),
        "model": asdict(r.model) if r.model else None,
        "server": r.server,
    }
