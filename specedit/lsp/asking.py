"""An edit of a selection with an instruction: asked of a model, told while it grows.

Knows Jobs and a backend; knows no protocol. The instruction is given, or stands in the selection
itself, in a comment that begins with `specedit:`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from specedit.backends.connect import connect
from specedit.edit.backend import Loading, Written
from specedit.edit.job import plan_edit
from specedit.edit.run import one
from specedit.errors import InputError
from specedit.files.source import Source
from specedit.report import Edit
from specedit.settings import Settings

SAID = re.compile(r"^\s*(?:#|//|--|/\*|<!--|;|%)\s*specedit:\s*(?P<text>.*?)\s*(?:\*/|-->)?\s*$")


def instruction_in(text: str, first: int, last: int) -> tuple[str, str]:
    """The instruction that lines of a text hold, and the text without its line."""
    lines = text.split("\n")
    for at in range(first - 1, min(last, len(lines))):
        if (found := SAID.match(lines[at])) is not None and found["text"]:
            return found["text"], "\n".join(lines[:at] + lines[at + 1 :])
    return "", text


def ask(
    path: Path,
    text: str,
    instruction: str,
    lines: tuple[int, int],
    settings: Settings,
    stopped: Callable[[], bool],
) -> Iterator[str | Edit]:
    """What is being done, in words a person reads, and the Edit at last. Ends early when stopped:
    leaving the generator cancels the run within one pass."""
    first, last = lines
    if not instruction:
        instruction, text = instruction_in(text, first, last)
        last -= 1
    if not instruction:
        raise InputError(
            "no instruction",
            file=path.name,
            hint="Give it as the command's third argument, or in the selection: `# specedit: …`.",
        )
    source = Source.from_bytes(path.name, text.encode("utf-8", "surrogatepass"))
    part = (first, max(first, last))

    def planner(given: Source) -> object:
        return plan_edit(given, instruction, settings, lines=part)

    written = ""
    with closing(connect(settings)) as backend:
        for item in one(source, planner, backend, settings):  # type: ignore[arg-type]
            if stopped():
                return
            if isinstance(item, Loading):
                yield item.what
            elif isinstance(item, Written):
                written += item.text
                yield next((line for line in reversed(written.splitlines()) if line.strip()), "")
            elif isinstance(item, Edit):
                yield item
