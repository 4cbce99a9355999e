"""`specedit refine INSTRUCTION [FILE...]`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from specedit.cli.options import SHARED, settings_options
from specedit.settings import Resolved

if TYPE_CHECKING:
    from specedit.edit.job import Job
    from specedit.files.source import Source


@settings_options(*(name for name in SHARED if name != "stdin_filename"), asks=True)
def refine(
    instruction: Annotated[str, typer.Argument(help="What to do differently, or in addition")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...]", help="Files; without them: all that the last edit changed"
        ),
    ] = None,
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
    """Continue the last edit: the same files, the earlier instructions, and a new one."""
    from specedit.cli.edit import check_words
    from specedit.cli.undo import of_here
    from specedit.cli.work import Targets, near, resolve_targets, work
    from specedit.edit import context_files
    from specedit.edit.refining import conversation, plan_refine
    from specedit.errors import UsageError
    from specedit.files.journal import home, runs
    from specedit.files.recorder import Wish
    from specedit.server.connect import window

    check_words(instruction)
    if not instruction.strip():
        raise UsageError("The instruction is empty.", hint='specedit refine "what to do otherwise"')
    if files and "-" in files:
        raise UsageError("refine goes on from files; `-` has no earlier run.")
    store = home()
    talk = conversation(store, of_here(runs(store)))
    others = context_files.read(known, window(resolved.values)) if known else ()

    def planner(source: Source) -> Job:
        return plan_refine(source, instruction, talk, resolved.values, others)

    return work(
        "refine",
        resolve_targets(Targets(tuple(files or map(near, talk.paths))), resolved),
        planner,
        Wish(instruction, talk.turns[0].part, talk.last.name),
    )
