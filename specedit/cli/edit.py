"""`specedit edit INSTRUCTION FILE...`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specedit.cli.options import (
    SHARED,
    Changed,
    Since,
    Staged,
    lines_range,
    settings_options,
)
from specedit.settings import Resolved

if TYPE_CHECKING:
    from specedit.edit.job import Job
    from specedit.files.source import Source


@settings_options(*SHARED, asks=True)
def edit(
    instruction: Annotated[str, typer.Argument(help="What to do, in words")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...", help="Files, or a folder of them; `-` is stdin to stdout"
        ),
    ] = None,
    lines: Annotated[str | None, typer.Option(metavar="A:B", help="Edit these lines only")] = None,
    symbol: Annotated[
        str | None, typer.Option(metavar="NAME", help="Edit this function, method or class only")
    ] = None,
    selected: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Edit the lines that contain this text only")
    ] = None,
    near: Annotated[
        int | None,
        typer.Option(metavar="LINE", help="Choose the match of --selected nearest to this line"),
    ] = None,
    staged: Staged = False,
    changed: Changed = False,
    since: Since = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="FILE",
            help="Show the model this file too, unchanged; repeat for more",
        ),
    ] = None,
    *,
    resolved: Resolved,
) -> int:
    """Change files as instructed; `-` reads stdin and writes the new text to stdout."""
    from specedit.cli.work import Targets, resolve_targets, work
    from specedit.edit import context_files
    from specedit.edit.job import plan_edit
    from specedit.edit.refining import part_of
    from specedit.edit.splice import lines_of
    from specedit.errors import UsageError
    from specedit.files.recorder import Wish
    from specedit.server.connect import window

    if not (files or staged or changed or since) and Path(instruction).is_file():
        raise UsageError(
            f"What is to be done to {instruction}? The instruction is missing.",
            hint=f'specedit edit "what to do" {instruction}',
        )
    part = lines_range(lines)
    check_words(instruction)
    if selected is not None and (part or symbol):
        raise UsageError("--selected, --lines and --symbol all name the part to edit; give one.")

    others = context_files.read(known, window(resolved.values)) if known else ()

    def planner(source: Source) -> Job:
        held = lines_of(source.text, selected, near) if selected is not None else part
        return plan_edit(
            source, instruction, resolved.values, lines=held, symbol=symbol, beside=others
        )

    return work(
        "edit",
        resolve_targets(
            Targets(tuple(files or ()), staged=staged, changed=changed, since=since), resolved
        ),
        planner,
        Wish(instruction, part_of(part, symbol, selected, near)),
    )


def check_words(instruction: str) -> None:
    """What a shell hands over need not be text."""
    from specedit.errors import UsageError

    try:
        instruction.encode()
    except UnicodeEncodeError:
        raise UsageError("The instruction is not UTF-8.") from None
