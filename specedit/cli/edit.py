"""`specedit edit INSTRUCTION FILE...`, and `refine INSTRUCTION`, which continues it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specedit.cli.options import (
    SHARED,
    Changed,
    Since,
    Staged,
    argument,
    lines_range,
    option,
    settings_options,
)
from specedit.cli.streams import say
from specedit.errors import UsageError, listed
from specedit.settings import Settings
from specedit.view.terminal import harmless

if TYPE_CHECKING:
    from specedit.edit.job import Job
    from specedit.files.source import Source

MAX_NAMED_FILES = 3  # of the edit that is continued

Context = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="FILE", help="Show the model this file, too; repeat for more"),
]


@settings_options(*SHARED, "stdin_filename", "whole", "focus", asks=True)
def edit(
    instruction: str = argument("INSTRUCTION", "What to do, in words"),
    files: list[str] | None = argument(
        "FILE", "Files or folders; `-` edits stdin and prints the new text", None
    ),
    lines: str | None = option(None, "Edit these lines", metavar="A:B"),
    symbol: str | None = option(None, "Edit this function, method or class", metavar="NAME"),
    selected: str | None = option(None, "Edit the lines that contain this text", metavar="TEXT"),
    near: int | None = option(
        None, "Choose the match of --selected nearest to LINE", metavar="LINE", hidden=True
    ),
    staged: Staged = False,
    changed: Changed = False,
    since: Since = None,
    context: Context = None,
    *,
    settings: Settings,
) -> int:
    """Change files by an instruction."""
    from specedit.cli.run_command import run_command
    from specedit.cli.targets import consistent, files_of
    from specedit.edit.job import plan_edit
    from specedit.edit.prompt import read_beside
    from specedit.edit.refining import part_of
    from specedit.edit.splice import lines_of
    from specedit.files.recorder import Wish

    from_git = staged or changed or since is not None
    if not (files or from_git) and os.path.isfile(instruction):  # noqa: PTH113  (never raises)
        raise UsageError(
            f"The instruction is missing. {instruction} is a file.",
            hint=f'specedit edit "what to do" {instruction}',
        )
    chosen_lines = None if lines is None else lines_range(lines)
    _check_words(instruction, files or ())
    if selected is not None and (chosen_lines or symbol):
        raise UsageError("--selected, --lines and --symbol all name the part to edit; use one.")
    if near is not None and selected is None:
        raise UsageError("--near works only with --selected TEXT.")
    settings = consistent(settings, files or (), from_git=from_git)
    beside = read_beside(context) if context else ()

    def planner(source: Source) -> Job:
        part = chosen_lines if selected is None else lines_of(source.text, selected, near)
        return plan_edit(source, instruction, settings, lines=part, symbol=symbol, beside=beside)

    names = files_of(files or (), staged=staged, changed=changed, since=since)
    wish = Wish(instruction, part_of(chosen_lines, symbol, selected, near))
    return run_command("edit", names, settings, planner, wish)


@settings_options(*SHARED, "whole", "focus", asks=True)
def refine(
    instruction: str = argument("INSTRUCTION", "What to do differently, or in addition"),
    files: list[str] | None = argument(
        "FILE", "Files; without them: all that the last edit changed", None
    ),
    context: Context = None,
    *,
    settings: Settings,
) -> int:
    """Repeat the last edit with a further instruction."""
    from specedit.cli.run_command import run_command
    from specedit.cli.targets import consistent, files_of, near
    from specedit.cli.undo import of_here
    from specedit.edit.prompt import read_beside
    from specedit.edit.refining import conversation, plan_refine
    from specedit.files.journal import home, runs
    from specedit.files.recorder import Wish

    _check_words(instruction)
    if not instruction.strip():
        raise UsageError("The instruction is empty.", hint='specedit refine "what to change now"')
    if files and "-" in files:
        raise UsageError("refine repeats an edit of files; `-` has no earlier run.")
    store = home()
    earlier = conversation(store, of_here(runs(store)))
    beside = read_beside(context) if context else ()
    paths = [near(path) for path in earlier.paths]
    if not settings.quiet:
        say(f"continues “{earlier.last.instruction}” in {listed(paths, MAX_NAMED_FILES)}")

    def planner(source: Source) -> Job:
        return plan_refine(source, instruction, earlier, settings, beside)

    settings, names = consistent(settings, files or paths), files_of(files or paths)
    wish = Wish(instruction, earlier.runs[0].part, earlier.last.name)
    return run_command("refine", names, settings, planner, wish)


def _check_words(words: str, files: Sequence[str] = ()) -> None:
    """An error where the words are not text (a shell passes any bytes), or are a file's name, and a
    file's name is words."""
    try:
        words.encode()
    except UnicodeEncodeError:
        raise UsageError("The instruction is not UTF-8.") from None
    if " " in words.strip():
        return
    sentences = [file for file in files if " " in file.strip() and not os.path.exists(file)]  # noqa: PTH110
    if sentences and (Path(words).exists() or Path(words).suffix):
        said, name = harmless(sentences[0]), harmless(words)
        raise UsageError(
            f"`{said[:60]}` looks like the words, and `{name}` like a file: they are swapped.",
            hint=f'specedit edit "{said}" {name}',
        )
