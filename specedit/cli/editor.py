"""`specedit editor NAME [--install]`"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from specedit.errors import DONE


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
    from specedit.cli.output import put
    from specedit.errors import UsageError
    from specedit.integrations import editors

    if name is None:
        if install:
            raise UsageError("--install needs an editor.", hint=", ".join(editors.names()))
        put("".join(f"{result}\n" for result in editors.names()))
        return DONE
    result = editors.editor(name)
    if not install:
        put(editors.snippet(result))
        return DONE
    print(f"specedit: wrote {editors.install(result)}", file=sys.stderr)
    if result.then:
        print(f"  {result.then}", file=sys.stderr)
    return DONE
