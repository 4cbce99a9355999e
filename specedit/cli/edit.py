"""`specedit edit INSTRUCTION FILE...`, and `specedit refine INSTRUCTION`, which continues it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specedit.cli.options import SHARED, Changed, Since, Staged, lines_range, settings_options
from specedit.errors import UsageError
from specedit.settings import Resolved

if TYPE_CHECKING:
    from specedit.edit.job import Job
    from specedit.files.source import Source

Context = Annotated[
    list[str] | None,
    typer.Option(
        "--with", metavar="FILE", help="Show the model this file too, unchanged; repeat for more"
    ),
]


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
    context: Context = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Ask the model even where another program is exact")
    ] = False,
    *,
    resolved: Resolved,
) -> int:
    """Change files as instructed; `-` reads stdin and writes the new text to stdout."""
    from specedit.cli.targets import STDIN, Targets, resolve_targets
    from specedit.cli.work import work
    from specedit.edit import context_files
    from specedit.edit.job import plan_edit
    from specedit.edit.refining import part_of
    from specedit.edit.splice import lines_of
    from specedit.files.recorder import Wish
    from specedit.server.connect import window

    if not (files or staged or changed or since) and Path(instruction).is_file():
        raise UsageError(
            f"What is to be done to {instruction}? The instruction is missing.",
            hint=f'specedit edit "what to do" {instruction}',
        )
    chosen_lines = lines_range(lines)
    _check_encoding(instruction)
    if selected is not None and (chosen_lines or symbol):
        raise UsageError("--selected, --lines and --symbol all name the part to edit; give one.")
    settings = resolved.values
    beside = context_files.read(context, window(settings)) if context else ()

    def planner(source: Source) -> Job:
        part = chosen_lines if selected is None else lines_of(source.text, selected, near)
        return plan_edit(source, instruction, settings, lines=part, symbol=symbol, beside=beside)

    targets = Targets(tuple(files or ()), staged=staged, changed=changed, since=since)
    wish = Wish(instruction, part_of(chosen_lines, symbol, selected, near))
    chosen = resolve_targets(targets, resolved)
    if chosen.names != STDIN and not anyway:
        _refuse_exact(instruction, chosen.names)
    return work("edit", chosen, planner, wish)


def _refuse_exact(instruction: str, names: Sequence[str]) -> None:
    """An error where an installed program does exactly what is asked."""
    from specedit.edit.without_model import exact_command

    if names and (command := exact_command(instruction, names)) is not None:
        raise UsageError(
            f"`{command}` does this exactly, without a model.",
            hint="--anyway asks the model all the same.",
        )


@settings_options(*(name for name in SHARED if name != "stdin_filename"), asks=True)
def refine(
    instruction: Annotated[str, typer.Argument(help="What to do differently, or in addition")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...]", help="Files; without them: all that the last edit changed"
        ),
    ] = None,
    context: Context = None,
    *,
    resolved: Resolved,
) -> int:
    """Continue the last edit: the same files, the earlier instructions, and a new one."""
    from specedit.cli.targets import Targets, near, resolve_targets
    from specedit.cli.undo import of_here
    from specedit.cli.work import work
    from specedit.edit import context_files
    from specedit.edit.refining import conversation, plan_refine
    from specedit.files.journal import home, runs
    from specedit.files.recorder import Wish
    from specedit.server.connect import window

    _check_encoding(instruction)
    if not instruction.strip():
        raise UsageError("The instruction is empty.", hint='specedit refine "what to do otherwise"')
    if files and "-" in files:
        raise UsageError("refine continues an edit of files; `-` has no earlier run.")
    store, settings = home(), resolved.values
    earlier = conversation(store, of_here(runs(store)))
    beside = context_files.read(context, window(settings)) if context else ()

    def planner(source: Source) -> Job:
        return plan_refine(source, instruction, earlier, settings, beside)

    targets = Targets(tuple(files or map(near, earlier.paths)))
    wish = Wish(instruction, earlier.turns[0].part, earlier.last.name)
    return work("refine", resolve_targets(targets, resolved), planner, wish)


def _check_encoding(instruction: str) -> None:
    """Refuse an argument that is not text; a shell passes any bytes."""
    try:
        instruction.encode()
    except UnicodeEncodeError:
        raise UsageError("The instruction is not UTF-8.") from None
