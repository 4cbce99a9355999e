"""An edit of a selection with an instruction, which can be stopped between two passes.

The instruction is an argument, or a comment in the selection that begins with `specedit:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from threading import Event as Flag

from specedit.edit.backend import Loading, Written
from specedit.edit.job import Job, plan_edit
from specedit.edit.report import Edit
from specedit.edit.session import run_one
from specedit.engines.base import Prefill
from specedit.errors import InputError
from specedit.files.source import Source
from specedit.integrations.lsp.documents import Document
from specedit.server.connect import connect
from specedit.settings import Settings

COMMENT = re.compile(r"\s*(?:#|//|--|/\*|<!--|;|%)\s*specedit:\s*(?P<text>.*?)\s*(?:\*/|-->)?\s*")


class Stopped(Exception):
    """The edit was cancelled between two passes."""


def ask(
    document: Document,
    instruction: str,
    lines: tuple[int, int],
    settings: Settings,
    flag: Flag,
) -> Iterator[str | Edit]:
    """The progress, pass by pass (the last line written so far), then the Edit; Stopped once the
    flag is set. `lines`: from 1, both ends in."""
    first, last = lines
    if not instruction:
        instruction, document = _without_comment(document, first, last)
        last -= 1
    if not instruction:
        raise InputError(
            "no instruction",
            file=document.source.name,
            hint="Give it as the command's third argument, or in the selection: `# specedit: …`.",
        )

    def planner(source: Source) -> Job:
        return plan_edit(source, instruction, settings, lines=(first, max(first, last)))

    settings = replace(settings, test="")  # a command would see the file on disk, not this text
    written = ""
    with (
        closing(connect(settings)) as backend,
        closing(run_one("lsp", document.source, planner, backend, settings)) as items,
    ):
        for item in items:
            if flag.is_set():
                raise Stopped
            if isinstance(item, Loading):
                yield item.what
            elif isinstance(item, Prefill):
                yield f"read {item.done} of {item.total} tokens"
            elif isinstance(item, Written):
                written = (written + item.text)[-1000:]
                yield next((line for line in reversed(written.split("\n")) if line.strip()), "")
            elif isinstance(item, Edit):
                if item.status == "failed":
                    raise InputError("; ".join(item.problems), file=document.source.name)
                yield item


def _without_comment(document: Document, first: int, last: int) -> tuple[str, Document]:
    """The instruction that these lines hold, and the document without its line."""
    for at, line in enumerate(document.lines[first - 1 : last], first - 1):
        comment = COMMENT.fullmatch(line)
        if comment is not None and comment["text"]:
            rest = (*document.lines[:at], *document.lines[at + 1 :])
            return comment["text"], replace(document, lines=rest)
    return "", document
