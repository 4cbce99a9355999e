"""The useful end of what a test command said: the line that says most, and what to show a model.

Each tool says what is wrong in a shape of its own (`readers`); where none knows the shape, the last
lines are shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specedit.edit.tries.readers import READERS, counted

MOST_LINES, MOST_CHARS = 40, 2400  # of what is shown
LONGEST = 200  # characters of a line
FAILS = re.compile(
    r"(?i)\b(error|errors|failed|failure|failures|exception|panic|assert\w*|fatal)\b"
)


@dataclass(frozen=True)
class Failure:
    """What a command that failed said."""

    line: str  # the one that says most
    text: str  # what is worth showing
    failed: int | None = None  # failures it counted


def read(output: str, folder: Path | None = None) -> Failure:
    """What matters of the output of a command that failed in `folder`."""
    text = output if folder is None else output.replace(f"{folder}/", "")
    lines = [line.rstrip() for line in text.splitlines()]
    for reader in READERS:
        result = reader(lines)
        if result is not None:
            shown = _bounded("\n\n".join(dict.fromkeys(result.passages)).splitlines())
            return Failure(_short(result.telling), shown, counted(lines))
    held = [line for line in lines if line.strip()]
    telling = next(
        (line for line in reversed(held) if FAILS.search(line)), held[-1] if held else ""
    )
    return Failure(_short(telling), _bounded(held[-20:], end=True), counted(lines))


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _bounded(lines: Sequence[str], *, end: bool = False) -> str:
    """The first (or the last) lines, within what is worth showing."""
    kept: list[str] = []
    size = 0
    for line in reversed(lines) if end else lines:
        line = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
        size += len(line) + 1
        if len(kept) >= MOST_LINES or size > MOST_CHARS:
            break
        kept.append(line)
    return "\n".join(reversed(kept) if end else kept)
