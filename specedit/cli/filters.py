"""A filter whose command line is wrong: stdin still comes out unchanged."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Sequence
from typing import Any

COMMANDS = ("edit", "rename")


def wanted(command: Any, arguments: Sequence[str]) -> bool:
    """Whether `-` is one of the files, and no patch or JSON is to be on stdout instead."""
    name, *rest = arguments or ("",)
    if name not in COMMANDS or "-" not in rest:
        return False
    try:
        own = command.commands[name]
        parser = own.make_parser(own.context_class(own, info_name=name))
        parser.ignore_unknown_options = True
        result, *_ = parser.parse_args(args=list(rest))
    except Exception:  # whatever stands against reading it: a text too much is better than none
        return "-" in rest[1:]
    return "-" in (result.get("files") or ()) and not (result.get("diff") or result.get("json"))


def give_back() -> None:
    """stdin to stdout, byte for byte; nothing when it was read before, or a person types it."""
    with contextlib.suppress(OSError, KeyboardInterrupt):
        if not sys.stdin.isatty():
            shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)
            sys.stdout.buffer.flush()
