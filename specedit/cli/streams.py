"""The standard streams: what a command writes to them, and streams that are closed or broken.

A message on stderr may get lost. The artifact on stdout may not: the exit code says so.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from specedit.errors import DONE, FAILED, WOULD_CHANGE
from specedit.view.terminal import between_words, harmless

if TYPE_CHECKING:
    from specedit.edit.report import Report


def open_closed() -> None:
    """Open a substitute for each closed stream, or the next file opened would take its number. The
    one of stdin cannot be read and the one of stdout not be written, so that using it is an error.
    """
    for number, way in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, way)  # takes the lowest free number: this one
    sys.stdin = sys.stdin or os.fdopen(0, "r", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    if isinstance(sys.stderr, io.TextIOWrapper):
        encoding = sys.stderr.encoding
        sys.__stderr__ = sys.stderr = _Messages(  # type: ignore[misc]
            sys.stderr.detach(), encoding, "backslashreplace", line_buffering=True
        )
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file's name is written as the bytes it is
        is_utf8 = codecs.lookup(sys.stdout.encoding).name == "utf-8"
        sys.stdout.reconfigure(errors="surrogateescape" if is_utf8 else "backslashreplace")
    if isinstance(sys.stdin, io.TextIOWrapper):  # an answer that is not text is not an answer
        sys.stdin.reconfigure(errors="replace")


class _Messages(io.TextIOWrapper):
    """stderr, whose reader may go away (`2>&1 | head`): the work continues without its messages."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            self.flush()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            _discard(self)


def flush_all(code: int) -> int:
    """Flush both output streams; returns the exit code: FAILED if stdout could not be written."""
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    try:
        sys.stdout.flush()
    except OSError as error:
        if code in (DONE, WOULD_CHANGE):
            code = FAILED
            say(f"stdout: {error.strerror}")
    for stream in filter(None, (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)):
        try:
            stream.flush()
        except OSError:
            _discard(stream)
    return code


def _discard(stream: IO[str]) -> None:
    """Discard what cannot be written: Python would try again and exit with its own code."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say(message: str, hint: str = "") -> None:
    """One message on stderr."""
    with contextlib.suppress(OSError):
        text = f"specedit: {harmless(message)}"
        print(between_words(text, sys.stderr), file=sys.stderr, flush=True)
        if hint:  # a command of its own is to be copied
            text = f"  {harmless(hint)}"
            text = text if hint.startswith("specedit ") else between_words(text, sys.stderr)
            print(text, file=sys.stderr, flush=True)


def put(text: str) -> None:
    """Write the artifact to stdout, byte for byte."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def put_patch(text: str) -> None:
    """Write a patch: coloured if stdout is a terminal, else byte for byte."""
    if text and sys.stdout.isatty():
        from specedit.view.terminal import show_patch

        show_patch(text)
    else:
        put(text)


def put_json(report: Report) -> None:
    from specedit.view.contract import report_json

    put_object(report_json(report))


def put_object(value: Mapping[str, Any]) -> None:
    """Write one JSON object."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    put(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") + "\n")


FILTERS = ("edit", "rename")  # commands that take `-`


def is_filter(command: Any, arguments: Sequence[str]) -> bool:
    """Whether a command line, perhaps a wrong one, has `-` as its file and the text as its output,
    not a patch or JSON."""
    name, *rest = arguments or ("",)
    if name not in FILTERS or "-" not in rest:
        return False
    try:
        own = command.commands[name]
        parser = own.make_parser(own.context_class(own, info_name=name))
        parser.ignore_unknown_options = True
        values, *_ = parser.parse_args(args=list(rest))
    except Exception:  # it cannot be parsed: a text too much is better than none
        return "-" in rest[1:]
    return "-" in (values.get("files") or ()) and not (values.get("diff") or values.get("json"))


def copy_stdin() -> None:
    """Copy stdin to stdout, byte for byte; nothing if it was read already or is a terminal."""
    with contextlib.suppress(OSError, KeyboardInterrupt):
        if not sys.stdin.isatty():
            shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)
            sys.stdout.buffer.flush()
