"""`specedit rename OLD NEW [FILE...]`"""

from __future__ import annotations

from typing import Annotated

import typer

from specedit.cli.options import SHARED, Changed, Jobs, Since, Staged, settings_options
from specedit.settings import Resolved


@settings_options("scope", *SHARED, asks=True)
def rename(
    old: Annotated[str, typer.Argument(help="the identifier, or Class.member")],
    new: Annotated[str, typer.Argument(help="its new name")],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE...]", help="without files: every tracked file that has OLD"),
    ] = None,
    line: Annotated[
        int | None, typer.Option(metavar="N", help="the one that line N is about")
    ] = None,
    staged: Staged = False,
    changed: Changed = False,
    since: Since = None,
    jobs: Jobs = None,
    *,
    resolved: Resolved,
) -> int:
    """Rename an identifier: tree-sitter finds the places, the model verifies them."""
    from specedit.cli.work import Targets, work
    from specedit.files.recorder import Wish
    from specedit.rename.planning import plan_rename
    from specedit.text.names import sought

    derived = resolved.values.scope == "derived"

    return work(
        "rename",
        Targets(
            tuple(files or ()),
            staged=staged,
            changed=changed,
            since=since,
            jobs=jobs,
            containing=sought(old, derived=derived),
            any_case=derived,
        ),
        lambda source: plan_rename(
            source,
            old,
            new,
            resolved.values,
            line=line,
            absent_ok=len(files or ()) != 1,
            searched=not files,
        ),
        resolved,
        Wish(f"{old} to {new}"),
    )
