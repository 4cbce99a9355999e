"""A run's trace: JSON lines, one per pass, in the order they happened.

What concerns a whole file stands in the line of its first pass (`begin`) and of its last (`end`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specedit.decode.events import Chunk
from specedit.edit.backend import Written
from specedit.errors import InputError

LONGEST = 1 << 24  # bytes of a trace's first line
EMBEDDED = '<script type="application/json" id="trace">'  # how our page holds its trace
INVALID = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Pass:
    """One line of a trace."""

    written: Written
    at: float  # seconds of decoding before it


@dataclass(frozen=True)
class FileTrace:
    """The passes over one file, with what was known before the first and after the last."""

    file: str
    passes: tuple[Pass, ...]
    begin: Mapping[str, Any] = field(default_factory=dict)
    end: Mapping[str, Any] = field(default_factory=dict)


def begins_a_trace(path: Path) -> bool:
    """Whether a file is empty or a trace."""
    try:
        with path.open("rb") as file:
            line = file.readline(LONGEST)
            return not line or bool(list(_runs([json.loads(line)])))
    except (OSError, *INVALID):
        return False


def read(path: str | Path) -> list[FileTrace]:
    """The runs of a trace, or of the trace that our page holds."""
    number, lines = 1, []
    try:
        text = Path(path).read_bytes().decode("utf-8")
        if EMBEDDED in text:
            text = text.partition(EMBEDDED)[2].partition("</script>")[0]
            return list(_runs(json.loads(text)))
        for line in text.split("\n"):
            if line.strip():
                lines.append(json.loads(line))
                list(_runs(lines[-1:]))
            number += 1
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}", hint="`--trace FILE` writes a trace."
        ) from error
    except INVALID as error:
        raise InputError(
            f"{path}: line {number} is not a pass of a trace",
            hint="`specedit edit … --trace FILE` writes one JSON line per pass.",
        ) from error
    if not lines:
        raise InputError(f"{path}: no passes in it", hint="The run it traced made none.")
    return list(_runs(lines))


def lines_of(runs: Iterable[FileTrace]) -> list[dict[str, Any]]:
    """The lines again, as data: what a page embeds."""
    results = []
    for run in runs:
        for number, one in enumerate(run.passes):
            line = line_of(run.file, number, one.at, one.written)
            if number == 0:
                line["begin"] = dict(run.begin)
            if number == len(run.passes) - 1 and run.end:
                line["end"] = dict(run.end)
            results.append(line)
    return results


def line_of(file: str, number: int, at: float, written: Written) -> dict[str, Any]:
    """One pass as it stands in a trace."""
    chunk = written.chunk
    line: dict[str, Any] = {
        "file": file,
        "pass": number,
        "width": chunk.width,
        "proposed": chunk.proposed,
        "accepted": chunk.accepted,
        "source": chunk.source,
        "resynced": chunk.resynced,
        "seconds": round(chunk.seconds, 6),
        "at": round(at, 6),
        "tokens": list(chunk.tokens),
        "pieces": list(written.pieces),
    }
    if chunk.which:
        line["which"] = chunk.which
    if chunk.depth != chunk.proposed:  # the draft was a tree
        line["depth"] = chunk.depth
    if chunk.drafting:
        line["drafting"] = round(chunk.drafting, 6)
    return line


def _runs(lines: Iterable[Mapping[str, Any]]) -> Iterator[FileTrace]:
    file, at = "", 0.0
    passes: list[Pass] = []
    begin: dict[str, Any] = {}
    for line in lines:
        if passes and (line["file"] != file or "begin" in line):
            yield FileTrace(file, tuple(passes), begin)
            passes, at = [], 0.0
        if not passes:
            file, begin = str(line["file"]), dict(line.get("begin") or {})
        passes.append(Pass(_written(line), at))
        at += passes[-1].written.chunk.seconds
        if "end" in line:
            yield FileTrace(file, tuple(passes), begin, dict(line["end"]))
            passes, at = [], 0.0
    if passes:
        yield FileTrace(file, tuple(passes), begin)


def _written(line: Mapping[str, Any]) -> Written:
    tokens = tuple(int(t) for t in line["tokens"])
    chunk = Chunk(
        tokens=tokens,
        proposed=int(line["proposed"]),
        accepted=int(line["accepted"]),
        source=str(line["source"]),
        resynced=bool(line.get("resynced", False)),
        seconds=float(line["seconds"]),
        which=int(line.get("which", 0)),
        depth=int(line.get("depth", line["proposed"])),
        drafting=float(line.get("drafting", 0.0)),
    )
    return Written(chunk, tuple(str(p) for p in line.get("pieces", [""] * len(tokens))))
