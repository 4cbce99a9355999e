"""How likely an edit is right: a probability from signals that cost nothing.

    chance = 1 / (1 + exp(-(bias + sum of weight x signal)))

The signals are what the model's choices, the instruction and the change say. Weights, fitted to
answers with checked results by `python -m training.confidence`, are in `confidence.json`, for each
model and form of weights. No chance is known of other models.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from specedit.check.finding import UNSURE, Finding
from specedit.edit.backend import ModelInfo
from specedit.edit.job import Job
from specedit.edit.outcome import keep
from specedit.edit.regions.targets import NAMED
from specedit.edit.report import Edit
from specedit.files.source import Source
from specedit.syntax.instruction_names import paths_in
from specedit.syntax.lines import changed_runs, lines_of

SIGNALS = (
    "total",  # root of the sum of -log p over all tokens
    "free",  # mean of -log p over the tokens that no draft proposed
    "least",  # -log p of the least sure token
    "least_copied",  # the same among the tokens that a draft proposed
    "size",  # log(1 + changed lines)
    "hunks",  # log(1 + hunks)
    "words",  # log(1 + words of the instruction)
    "open",  # log of the lines that were open to change
    "named",  # the instruction names the one place
    "whole",  # all of the file was open
    "several",  # more than one region
    "asked",  # texts, numbers and new names of the instruction that the new lines have, as a share
    "unasked",  # the instruction has none of these
    "again",  # an earlier answer was refused
    "noted",  # findings that a reader should look at
    "adds",  # nothing is replaced
)
_LITERAL = re.compile(
    r"""(?<![\w.])\d+(?:\.\d+)?(?![\w.])|(?<!\w)"([^"\n]{2,80})"|(?<!\w)'([^'\n]{2,80})'(?!\w)|`([^`\n]+)`"""
)


def rated(job: Job, edit: Edit, model: ModelInfo | None) -> Edit:
    """The Edit with its signals, and with its confidence where the model's weights are known."""
    certainty = edit.figures.certainty
    if job.known is not None or certainty is None or not edit.changed:
        return edit
    signals = signals_of(job, edit)
    edit = replace(edit, signals=signals)
    known = weights_of(model)
    if known is None:
        return edit
    score = known["bias"] + sum(w * x for w, x in zip(known["weights"], signals, strict=True))
    chance = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))
    return replace(edit, confidence=round(chance, 3), sure=chance >= known["sure"])


def unconfirmed(edit: Edit) -> Edit:
    """An Edit that is likely wrong and that the user did not confirm: refused, its answer kept."""
    text = (
        f"unsure: right with a probability of {edit.confidence:.0%}, so nothing was written; "
        "--yes writes it"
    )
    return keep(replace(edit, status="refused").noting(Finding(UNSURE, text, refuses=True)))


def signals_of(job: Job, edit: Edit) -> tuple[float, ...]:
    """The signals in the order of SIGNALS."""
    certainty = edit.figures.certainty
    assert certainty is not None
    old = lines_of(job.about.text)
    new = lines_of(Source.from_bytes(edit.path, edit.after).text)
    runs = list(changed_runs(old, new))
    added = "".join(line for _, _, c, d in runs for line in new[c:d])
    regions = edit.figures.regions
    lines = sum(last - first + 1 for first, last in (region.lines for region in regions))
    wanted = literals(job.instruction, job.about.text)
    found = sum(text in added for text in wanted)
    return (
        math.sqrt(-certainty.total),
        -certainty.free / max(1, certainty.free_tokens),
        -certainty.least,
        -certainty.least_copied,
        math.log1p(sum(max(b - a, d - c) for a, b, c, d in runs)),
        math.log1p(len(runs)),
        math.log1p(len(job.instruction.split())),
        math.log(max(1, lines or len(old))),
        float(len(regions) == 1 and regions[0].why == NAMED),
        float(not regions),
        float(len(regions) > 1),
        found / len(wanted) if wanted else 0.0,
        float(not wanted),
        float(len(edit.tries) > 1),
        float(sum(finding.warns for finding in edit.findings)),
        float(all(a == b for a, b, _, _ in runs)),
    )


def literals(instruction: str, before: str) -> list[str]:
    """The numbers, quoted texts and code names of an instruction that the file does not have."""
    texts = [
        next(filter(None, match.groups()), match[0]) for match in _LITERAL.finditer(instruction)
    ]
    texts += [path.name for path in paths_in(instruction) if path.is_code]
    return [text for text in dict.fromkeys(texts) if text not in before]


def weights_of(model: ModelInfo | None) -> Mapping[str, Any] | None:
    """The weights for a model; None where none were fitted."""
    if model is None:
        return None
    known: Mapping[str, Any] | None = _known().get(model.calibration)
    return known


@cache
def _known() -> Mapping[str, Any]:
    path = Path(__file__).with_name("confidence.json")
    data: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    if data["signals"] != list(SIGNALS):
        return {}
    models: Mapping[str, Any] = data["models"]
    return models


def baseline_sums(signals: Sequence[float]) -> tuple[float, float]:
    """The two simplest signals, for comparison: log-probability, and size of the change."""
    return -signals[0], -signals[4]
