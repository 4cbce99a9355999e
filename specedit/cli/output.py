"""What goes to stdout: the text, a patch, or the JSON of a report. Nothing else does."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specedit.edit.report import Report


def put(text: str) -> None:
    """The artifact, byte for byte."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def put_patch(text: str) -> None:
    """A patch: coloured when stdout is a terminal, else byte for byte."""
    from specedit.view import patch_view

    if text and patch_view.for_people():
        patch_view.show(text)
    else:
        put(text)


def put_json(report: Report) -> None:
    from specedit.view.contract import report_json

    put_object(report_json(report))


def put_object(found: Mapping[str, Any]) -> None:
    """One JSON object."""
    import json

    text = json.dumps(found, ensure_ascii=False, indent=2)
    put(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") + "\n")
