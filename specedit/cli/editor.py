"""`specedit editor NAME [--install]`, and `specedit lsp`, the language server."""

from __future__ import annotations

from typing import Annotated

import typer

from specedit.cli.options import settings_options
from specedit.cli.streams import put, say
from specedit.errors import DONE, UsageError
from specedit.settings import Resolved


def editor(
    name: Annotated[
        str | None,
        typer.Argument(help="vim, neovim, emacs, helix, vscode, zed, jetbrains or sublime"),
    ] = None,
    install: Annotated[
        bool,
        typer.Option("--install", help="Write the snippet to its place, where that is one file"),
    ] = False,
) -> int:
    """Print the configuration for an editor, or install it."""
    from specedit.integrations import editors

    if name is None:
        if install:
            raise UsageError("--install needs an editor.", hint=", ".join(editors.names()))
        put("".join(f"{known}\n" for known in editors.names()))
        return DONE
    setup = editors.editor(name)
    if install:
        say(f"wrote {editors.install(setup)}", setup.then)
    else:
        put(editors.snippet(setup))
    return DONE


@settings_options("scope", "model", "engine", "device", "threads", "server", "warm", "allow_extra")
def lsp(*, resolved: Resolved) -> int:
    """Serve editors over LSP on stdio: rename in the work tree, edit a selection, undo."""
    from specedit.integrations.lsp import serve

    return serve(resolved.values)
