"""How long an edit in this process will take, before it begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.decode import cost
from specedit.decode.cost import Curve
from specedit.models import catalogue
from specedit.models.catalogue import Listed
from specedit.models.store import store_path
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.edit.backend import Plan
    from specedit.edit.job import Job

CHARACTERS = 3.5  # of source, a token
PART_CHARACTERS = 1500  # of a part that is edited alone
PREFILL_TOKENS = 256  # tokens that a prompt is read in at a time
NARROW, WIDTH = 12, 8  # narrow passes around a change, and their width
TYPICAL_MODEL = "qwen2.5-coder-1.5b"  # that TYPICAL was measured with, in int8
PROGRAM_BYTES = 250e6  # of a model's memory: Python and the buffers of passes
READ_SHARE = 0.94  # of the rest: weights that each pass reads; what remains is the KV cache
# Rows whose products take as long as expanding weights of 4 bits
EXPANDED_ROWS = {"int4": 8}
OVERLAP = 3  # reading and multiplying overlap: a pass takes (read^3 + multiply^3)^(1/3)
PROMPT_TOKENS, EDIT_PASSES, PASS_WIDTH = 300, 15, 8  # of a typical edit: 120 tokens are written


def expected_curve(settings: Settings) -> Curve | None:
    """The cost of passes here; None where a server or another device answers."""
    remote = settings.server not in ("auto", "off")
    if remote or settings.device not in ("auto", "cpu") or settings.engine not in ("auto", "exact"):
        return None
    entry = catalogue.find(settings.model)
    if entry is None:
        return None
    weights = "int4" if settings.weights == "int4" else "int8"
    if entry.sha256:
        known = cost.curves(store_path() / cost.CURVES_FILE)
        begin = f"{entry.sha256} exact {weights},"
        own = [points for key, points in known.items() if key.startswith(begin)]
        if own:
            return Curve.of(own[-1])
    return predicted_curve(entry, weights)[0]


def predicted_curve(entry: Listed, weights: str) -> tuple[Curve, str]:
    """The cost of a model's passes here, and the model that was measured for it."""
    name, kind, points = "", "int8", cost.TYPICAL.points
    for key, measured in cost.curves(store_path() / cost.CURVES_FILE).items():
        digest, engine, about, *_ = (*key.split(" "), "", "")
        known = next((row for row in catalogue.entries() if row.sha256 == digest), None)
        if known is None or engine != "exact" or len(measured) < 2:
            continue
        name, kind, points = known.name, about.removesuffix(","), measured
        if (name, kind) == (entry.name, weights):
            break
    base = catalogue.find(name or TYPICAL_MODEL)
    assert base is not None
    widest, seconds = points[-1]
    reads, row = points[0][1], seconds / (widest + EXPANDED_ROWS.get(kind, 0))
    more_products = _read_bytes(entry, "int8", 1) / _read_bytes(base, "int8", 1)

    def scaled(width: int) -> float:
        before = _pass_seconds(reads, row * (width + EXPANDED_ROWS.get(kind, 0)))
        multiplying = row * more_products * (width + EXPANDED_ROWS.get(weights, 0))
        more_bytes = _read_bytes(entry, weights, width) / _read_bytes(base, kind, width)
        return _pass_seconds(reads * more_bytes, multiplying) / before

    return Curve.of((width, time * scaled(width)) for width, time in points), name


def _pass_seconds(reading: float, multiplying: float) -> float:
    return float((reading**OVERLAP + multiplying**OVERLAP) ** (1 / OVERLAP))


def _read_bytes(entry: Listed, weights: str, width: int) -> float:
    """What a pass of so many ids reads: of experts, those that one of its ids chooses."""
    memory = entry.memory_int4 if weights == "int4" else entry.memory
    idle = entry.experts / entry.parameters * (1 - entry.chosen) ** width if entry.experts else 0.0
    return READ_SHARE * (memory - PROGRAM_BYTES) * (1 - idle)


def typical_seconds(entry: Listed, weights: str) -> float:
    """A typical edit's seconds here; a prompt's ids need no output layer."""
    curve, _ = predicted_curve(entry, weights)
    read = 1 - 1e9 * entry.output_layer / _read_bytes(entry, "int8", 1)
    return read * curve.seconds(PROMPT_TOKENS) + EDIT_PASSES * curve.seconds(PASS_WIDTH)


def expected_seconds(job: Job, curve: Curve, question: Plan | None = None) -> float:
    """The seconds that an answer to a Job likely takes, after a `question`."""
    if question is not None:
        asked = sum(len(message.content) for message in question.messages)
        parts = [asked / CHARACTERS, 2 * PART_CHARACTERS / CHARACTERS]
    elif job.regions:
        parts = [2 * (part.region.stop - part.region.start) / CHARACTERS for part in job.regions]
    else:
        shown = sum(len(message.content) for message in job.plan.messages)
        parts = [(shown + len(job.before)) / CHARACTERS]
    if job.plan.prediction is None and not job.plan.draft:
        return sum(parts) / 2 * (curve.seconds(PREFILL_TOKENS) / PREFILL_TOKENS + curve.seconds(1))
    return sum(_seconds(tokens, curve) for tokens in parts)


def run_seconds(
    job: Job, others: Iterable[str], settings: Settings, question: Plan | None = None
) -> tuple[float, float] | None:
    """The seconds of a run over a Job and further files, and of a part; None: not known."""
    curve = expected_curve(settings)
    if curve is None:
        return None
    sizes = (Path(name).stat().st_size for name in others if Path(name).is_file())
    more = sum(_seconds(2 * size / CHARACTERS, curve) for size in sizes)
    part = _seconds(2 * PART_CHARACTERS / CHARACTERS, curve)
    return expected_seconds(job, curve, question) + more, part


def _seconds(tokens: float, curve: Curve) -> float:
    return tokens * curve.seconds(PREFILL_TOKENS) / PREFILL_TOKENS + NARROW * curve.seconds(WIDTH)
