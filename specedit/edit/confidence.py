"""How likely an edit is right: a probability from what the model's choices, the instruction and
the change say.

    chance = 1 / (1 + exp(-(bias + sum of weight x signal)))

`python -m training.confidence` fits the weights of `confidence.json`, for each model and form of
weights. No chance is known of other models.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from specedit.check.finding import UNSURE, Finding
from specedit.edit.backend import ModelInfo
from specedit.edit.job import Job
from specedit.edit.report import Edit, keep
from specedit.settings import Settings

SIGNALS = (
    "total",  # root of the sum of -log p over all tokens
    "changed",  # mean of -log p over the tokens that the file does not have
    "least",  # -log p of the least sure token
    "least_kept",  # the same among the tokens that the file has, too
    "hunks",  # log(1 + hunks)
    "words",  # log(1 + words of the instruction)
    "open",  # log of the lines that were open to change
)
# Kinds of findings of edits that are unsure whatever the signals say.
DOUBTED = frozenset({"unnamed-loss", "second-choice"})


def rated(job: Job, edit: Edit, model: ModelInfo | None, settings: Settings) -> Edit:
    """The Edit with its signals, with its confidence where the model's weights are known, and
    whether it is sure; unrated where they are not."""
    if job.known is not None or job.partial or not edit.changed:
        return edit
    doubted = any(finding.kind in DOUBTED for finding in edit.findings)
    if doubted:
        edit = replace(edit, sure=False)
    known = weights_of(model)
    edit = replace(edit, unrated=known is None or edit.figures.certainty is None)
    if edit.figures.certainty is None:  # a named server says nothing of its choices
        return edit
    signals = signals_of(job, edit)
    edit = replace(edit, signals=signals)
    if known is None:
        return edit
    score = known["bias"] + sum(w * x for w, x in zip(known["weights"], signals, strict=True))
    chance = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, score))))
    sure = chance >= _threshold(known["sure"], settings) and not doubted
    return replace(edit, confidence=round(chance, 3), sure=sure)


def _threshold(usual: float, settings: Settings) -> float:
    """The chance from which on an edit is sure; a repository only raises it."""
    if settings.is_from_repository("sure"):
        return max(settings.sure, usual)
    return settings.sure or usual


def unconfirmed(edit: Edit, *, in_file: bool) -> Edit:
    """An Edit that is not known to be right and not confirmed: refused, its answer kept.
    `in_file`: the text is that of a file, to which the answer can be applied."""
    edit = keep(replace(edit, status="refused"))
    text = "not written (unsure)" if edit.sure is False else "not written (not confirmed)"
    if edit.confidence is not None:
        text = f"not written (unsure: right with a probability of {edit.confidence:.0%})"
    if edit.kept:
        text += f"; the answer is kept in {edit.kept}"
    if edit.kept and in_file:
        text += f"; `{shlex.join(('specedit', 'apply', edit.path, edit.kept))}` writes it"
    return edit.noting(Finding(UNSURE, text, refuses=True))


def signals_of(job: Job, edit: Edit) -> tuple[float, ...]:
    """The signals in the order of SIGNALS."""
    certainty = edit.figures.certainty
    assert certainty is not None
    spans = [region.lines for region in edit.figures.regions]
    lines = sum(last - first + 1 for first, last in spans) or job.about.text.count("\n")
    return (
        math.sqrt(-certainty.total),
        -certainty.changed / max(1, certainty.changed_tokens),
        -certainty.least,
        -certainty.least_kept,
        math.log1p(edit.hunks),
        math.log1p(len(job.instruction.split())),
        math.log(max(1, lines)),
    )


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
