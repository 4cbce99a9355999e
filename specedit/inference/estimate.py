"""How long an edit in this process will take, before it begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.decode.cost import Curve
    from specedit.edit.job import Job

TYPICAL_SIZE = 1.5  # billions of parameters of the model that TYPICAL was measured with


def expected_curve(settings: Settings) -> Curve | None:
    """What passes cost here: as measured for this model, else as usual for its size; None where a
    server or another device answers."""
    from specedit.decode import cost
    from specedit.models import catalogue
    from specedit.models.store import store_path

    remote = settings.server not in ("auto", "off")
    if remote or settings.device not in ("auto", "cpu") or settings.engine not in ("auto", "exact"):
        return None
    entry = catalogue.find(settings.model)
    if entry is None:
        return None
    if entry.sha256:
        known = cost.curves(store_path() / cost.KEPT)
        own = [points for key, points in known.items() if key.startswith(entry.sha256)]
        if own:
            return cost.Curve.of(own[-1])
    times = entry.parameters / TYPICAL_SIZE if entry.parameters else 1.0
    return cost.Curve.of((width, seconds * times) for width, seconds in cost.TYPICAL.points)


def expected_seconds(job: Job, curve: Curve) -> float:
    """The seconds that one answer to a Job likely takes."""
    from specedit.edit.regions.locate import CHARACTERS, READ

    if job.regions:
        parts = [2 * (one.region.end - one.region.start) / CHARACTERS for one in job.regions]
    else:
        shown = sum(len(one.content) for one in job.plan.messages)
        parts = [(shown + len(job.before)) / CHARACTERS]
    if job.plan.prediction is None and not job.plan.draft:
        return sum(parts) / 2 * (curve.seconds(READ) / READ + curve.seconds(1))
    return sum(_seconds(tokens, curve) for tokens in parts)


def run_seconds(job: Job, others: Iterable[str], settings: Settings) -> float | None:
    """The seconds that a run over one Job and further files likely takes; None where nothing is
    known of what answers."""
    from specedit.edit.regions.locate import CHARACTERS

    curve = expected_curve(settings)
    if curve is None:
        return None
    sizes = (Path(name).stat().st_size for name in others if Path(name).is_file())
    return expected_seconds(job, curve) + sum(
        _seconds(2 * size / CHARACTERS, curve) for size in sizes
    )


def _seconds(tokens: float, curve: Curve) -> float:
    from specedit.edit.regions.locate import NARROW, READ, WIDTH

    return tokens * curve.seconds(READ) / READ + NARROW * curve.seconds(WIDTH)
