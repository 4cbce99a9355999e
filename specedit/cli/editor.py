"""`specedit editor NAME`; `specedit lsp`, the language server; `specedit mcp`, tools for agents."""

from __future__ import annotations

from specedit.cli.options import argument, flag, settings_options
from specedit.cli.streams import put, say
from specedit.errors import DONE, UsageError
from specedit.settings import Resolved

SERVING = ("model", "engine", "device", "threads", "server", "warm", "allow_extra")


def editor(
    name: str | None = argument(
        None, "vim, neovim, emacs, helix, vscode, zed, jetbrains or sublime", None
    ),
    install: bool = flag(
        "--install", "Write the configuration to the editor's folder, if it is one file"
    ),
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


@settings_options("scope", *SERVING)
def lsp(*, resolved: Resolved) -> int:
    """Serve editors over LSP on stdio: rename in the work tree, edit a selection, undo."""
    from specedit.integrations.lsp import serve

    return serve(resolved.values)


@settings_options(*SERVING)
def mcp(*, resolved: Resolved) -> int:
    """Serve tools for agents over MCP on stdio: rename, find places, edit, undo."""
    from specedit.integrations.mcp import serve

    flags = (name for name, origin in resolved.origins.items() if origin == "flag")
    return serve({name: getattr(resolved.values, name) for name in flags})
