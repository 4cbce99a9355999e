"""`specedit apply [FILE] [CHANGE]`"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.cli.options import argument, settings_options
from specedit.cli.streams import say
from specedit.errors import UsageError
from specedit.settings import Settings

if TYPE_CHECKING:
    from specedit.edit.job import Job
    from specedit.edit.report import Edit
    from specedit.files.source import Source

PATCHES = (".diff", ".patch")
ALL = "To change these files too, leave out FILE: specedit apply < CHANGE"


OPTIONS = (  # no model is asked
    *("diff", "check", "ask", "json", "test", "test_timeout", "clean_only"),
    *("strict", "allow", "check_with", "quiet", "verbose"),
)


@settings_options(
    *OPTIONS, asks=True, helps={"test": "Keep the change if this command succeeds, else undo it"}
)
def apply(
    file: str | None = argument("FILE", "The file; without it: those that CHANGE names", None),
    change: str | None = argument("CHANGE", "The file of the change; `-` or none: stdin", None),
    *,
    settings: Settings,
) -> int:
    """Merge a snippet, SEARCH/REPLACE blocks or a diff into files. Needs no model."""
    from specedit.cli.run_command import run_command
    from specedit.cli.targets import consistent, files_of, near
    from specedit.edit.apply.apply_plan import (
        changes_of,
        left_out,
        looks_swapped,
        parts_by_file,
        plan_apply,
        plan_kept,
    )
    from specedit.files.recorder import Wish
    from specedit.files.source import read
    from specedit.files.startup import home
    from specedit.files.stored import is_refused

    if change is None and file is not None and (file == "-" or file.endswith(PATCHES)):
        file, change = None, file
    if settings.ask and change in (None, "-"):
        raise UsageError("--ask reads answers from stdin: put the change in a file.")
    text = _read(change)
    if file and change is None and not text.strip():
        raise UsageError(
            "Nothing came from stdin.",
            hint=f"specedit apply {near(file)} CHANGE reads a file. "
            f"Is {near(file)} the change? specedit apply < {near(file)}",
        )
    if (
        (file and Path(file).is_file())
        and (change and change != "-")
        and looks_swapped(file, read(file).text, change, text)
    ):
        raise UsageError(
            f"FILE and CHANGE look swapped: {near(change)} is a source file, "
            f"and {near(file)} is not.",
            hint=f"specedit apply {near(change)} {near(file)}, or to merge {near(change)} "
            f"into {near(file)}: specedit apply {near(file)} < {near(change)}",
        )
    if file and Path(file).is_dir():
        raise UsageError(
            f"{near(file)} is a folder.",
            hint="Name a file of it; or leave out FILE, if the change names its files.",
        )
    kept = Path(change) if file and change and is_refused(home(), Path(change)) else None
    changes = [] if kept else changes_of(text)
    parts = {file: ()} if file and kept else parts_by_file(changes, file or "")
    if file and not settings.quiet and (others := left_out(changes, file)):
        say(f"Not merged: the change for {', '.join(others[:5])}.", hint=ALL)

    def planner(source: Source) -> Job | Edit:
        if kept:
            return plan_kept(source, kept, text, settings)
        return plan_apply(source, parts[by_path[os.path.realpath(source.name)]], settings)

    settings = consistent(settings, tuple(parts))
    settings = replace(settings, server="off", compare=False)  # nothing is asked
    by_path = {os.path.realpath(name): name for name in parts}
    wish = Wish(f"the change {near(change)}" if change not in (None, "-") else "a change")
    names = files_of(tuple(parts))
    return run_command("apply", names, settings, planner, wish, together=len(parts) > 1)


def _read(change: str | None) -> str:
    """The text of the change."""
    from specedit.edit.apply.apply_plan import MAX_CHANGE_CHARACTERS, check_size
    from specedit.files.source import read

    if change not in (None, "-"):
        assert change is not None
        size = Path(change).stat().st_size if Path(change).is_file() else 1
        check_size(size // 4)  # the bytes of a character, at most
        return read(change).text if size else ""
    if sys.stdin.isatty():
        raise UsageError(
            "The change is missing.",
            hint="specedit apply FILE CHANGE, or pipe the change to stdin.",
        )
    try:
        data = sys.stdin.buffer.read(4 * MAX_CHANGE_CHARACTERS + 4)
        check_size(len(data) // 4)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("The change is not UTF-8 text.") from None
