"""A hunk in the person's own editor, as git opens one for a message: `VISUAL`, `EDITOR`, else `vi`.

Whether what comes back applies is `edit.hunks`' to say.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from specedit.edit.hunks import shown
from specedit.errors import UsageError
from specedit.syntax.diff import Hunk


def by_hand(hunk: Hunk) -> str:
    """The hunk's text as the person left it."""
    handle, name = tempfile.mkstemp(prefix="specedit-hunk-", suffix=".diff")
    path = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(shown(hunk))
        _edit(path)
        return path.read_text("utf-8", "replace")
    finally:
        with suppress(OSError):
            path.unlink()


def _edit(path: Path) -> None:
    usual = "notepad" if sys.platform == "win32" else "vi"
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or usual
    words = shlex.split(editor, posix=sys.platform != "win32")
    try:
        done = subprocess.run([*words, str(path)], check=False)
    except OSError as error:
        raise UsageError(
            f"The editor {editor!r} cannot be started: {error.strerror or error}",
            hint="EDITOR names another one. Nothing of this file was written.",
        ) from error
    if done.returncode:
        raise UsageError(
            f"The editor {editor!r} ended with exit code {done.returncode}.",
            hint="Nothing of this file was written.",
        )
