"""What the model thinks of a change: a number that is high where the change is right.

The model reads the change as a diff and the instruction, and is asked whether the one does what the
other says. The state in which it would begin to answer tells more than the word that it would
write: it is projected on a direction that was fitted to checked answers (`training/confidence.py`).
"""

from __future__ import annotations

import math
import time
from array import array
from base64 import b64decode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from specedit.edit.backend import Backend, Message, Plan, Progress
from specedit.edit.prompt import fence, finished, printable
from specedit.edit.report import Edit, Figures
from specedit.errors import TooLong
from specedit.syntax.diff import patch

SYSTEM = "You review changes of source code."
QUESTION = (
    "Does the change do exactly what the instruction asks, completely, correctly, and nothing "
    "else? Answer yes or no."
)
LONGEST = 12_000  # characters of a diff that are shown
HEADER = 3  # lines of a patch before its first hunk


def review_plan(edit: Edit, instruction: str) -> Plan:
    """The Plan that asks for the model's state."""
    change = patch("file", edit.before, edit.after).decode("utf-8", "replace")
    diff = finished(change.replace("\r\n", "\n").split("\n", HEADER)[HEADER][:LONGEST])
    marks = fence(diff)
    shown = f"File `{printable(Path(edit.path).name)}`. The change as a diff:\n\n{marks}diff\n"
    asked = f"{marks}\n\nThe instruction was: {instruction.strip()}\n\n{QUESTION}"
    user = Message("user", (shown, diff, asked))
    return Plan(messages=(Message("system", (SYSTEM,)), user), state_only=True)


def review(plan: Plan, fit: Mapping[str, Any], backend: Backend) -> tuple[float, Figures]:
    """The model's view of a change, and what it cost; 0, between right and wrong, where there is
    none."""
    if "direction" not in fit:
        return 0.0, Figures()
    started = time.perf_counter()
    try:
        answer = backend.run(plan, Progress())
    except TooLong:
        return 0.0, Figures()
    figures = Figures.of(answer, time.perf_counter() - started)
    return projected(answer.state, fit) if answer.state else 0.0, figures


def projected(state: Iterable[float], fit: Mapping[str, Any]) -> float:
    """The part of a state along the direction of a fit, whatever the state's length."""
    direction = array("b", b64decode(fit["direction"]))
    numbers = list(state)
    length = math.sqrt(sum(number * number for number in numbers)) or 1.0
    along = sum(a * b for a, b in zip(numbers, direction, strict=True)) / length
    return float(along * fit["scale"] - fit["middle"])
