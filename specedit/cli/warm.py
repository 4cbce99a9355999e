"""`specedit warm FILE…`: the server reads a file now, so that an instruction meets it warm."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from specedit.cli.options import settings_options
from specedit.settings import Resolved
from specedit.view.terminal import name as shown


@settings_options("model", "engine", "device", "threads", "precision", "focus", "whole", "quiet")
def warm(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files, named as the edit will name them")
    ],
    *,
    resolved: Resolved,
) -> int:
    """Read files into the server's cache (for editors, when a file is opened). Starts a server in
    the background when none runs."""
    from specedit.edit.job import plan_edit
    from specedit.edit.regions.narrowing import shared_beginnings
    from specedit.engines.base import Prefill
    from specedit.errors import ServerError
    from specedit.files import source as sources
    from specedit.server.processes import find

    settings = replace(resolved.values, warm=True, server="auto")
    server, why = find(settings)
    if server is None:
        raise ServerError(why, hint="specedit serve status")
    for name in files:
        source = sources.read(name)
        read = known = total = 0
        for plan in shared_beginnings(plan_edit(source, "-", settings), settings):
            last = Prefill(0, 0, 0, 0.0)
            for event in server.warm(plan):
                last = event if isinstance(event, Prefill) else last
            read, known, total = read + last.done, known + last.reused, total + last.total
        if not settings.quiet:
            message = f"{read} of {total} tokens read, {known} known before"
            print(f"specedit: {shown(name)}: {message}", file=sys.stderr)
    return 0
