"""`specedit edit INSTRUCTION FILE...`"""

from __future__ import annotations

from typing import Annotated

import typer

from specedit.cli.options import SHARED, lines_range, settings_options
from specedit.settings import Resolved


@settings_options(*SHARED)
def edit(
    instruction: Annotated[str, typer.Argument(help="what to do, in words")],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE...", help="`-` is stdin to stdout")
    ] = None,
    lines: Annotated[str | None, typer.Option(metavar="A:B", help="edit these lines only")] = None,
    symbol: Annotated[
        str | None, typer.Option(metavar="NAME", help="edit this function, method or class only")
    ] = None,
    staged: Annotated[bool, typer.Option("--staged", help="the files in git's index")] = False,
    changed: Annotated[bool, typer.Option("--changed", help="the files git sees changed")] = False,
    since: Annotated[
        str | None, typer.Option(metavar="REF", help="the files changed since a commit")
    ] = None,
    *,
    resolved: Resolved,
) -> int:
    """Change files as instructed; `-` reads stdin and writes the new text to stdout."""
    from specedit.cli.work import Chosen, work
    from specedit.plan import plan_edit

    part = lines_range(lines)
    return work(
        "edit",
        Chosen(tuple(files or ()), staged=staged, changed=changed, since=since),
        lambda source: plan_edit(source, instruction, resolved.values, lines=part, symbol=symbol),
        resolved,
    )
