"""The command line: typer commands, one module per family, and the one error boundary.

Doors hold no logic: a command reads flags, calls the layer below, shows what it yields and turns
the outcome into an exit code. Importing this loads no torch, no grammar and no git.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from specedit.errors import DONE, FAILED, INTERRUPTED, SpeceditError

app = typer.Typer(
    name="specedit",
    help="Edit source files with a local model at the speed of checking, not of writing.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"specedit {version('specedit')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="the version")
    ] = False,
) -> None:
    pass


def _register() -> None:
    from specedit.cli import (
        bench,
        config,
        edit,
        editor,
        hook,
        model,
        rename,
        serve,
        undo,
        view,
        warm,
    )

    app.command("edit")(edit.edit)
    app.command("rename")(rename.rename)
    app.add_typer(model.app, name="model")
    app.add_typer(hook.app, name="hook")
    app.add_typer(serve.app, name="serve")
    app.command("warm")(warm.warm)
    app.command("editor")(editor.editor)
    app.command("undo")(undo.undo)
    app.command("view")(view.view)
    app.command("bench")(bench.bench)
    app.command("config")(config.config)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; every error ends here, as words on stderr and an exit code."""
    _register()
    command = typer.main.get_command(app)
    try:
        code = command.main(list(arguments), prog_name="specedit", standalone_mode=False)
    except SpeceditError as error:
        _say(error.message, error.hint)
        return error.code
    except (KeyboardInterrupt, typer.Abort):
        _say("interrupted; nothing half-written", "")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    except Exception as error:
        if not hasattr(error, "show"):  # typer's own errors show themselves; it exports no base
            raise
        error.show(sys.stderr)
        return FAILED
    return code if isinstance(code, int) else DONE


def _say(message: str, hint: str) -> None:
    print(f"specedit: {message}", file=sys.stderr)
    if hint:
        print(f"  {hint}", file=sys.stderr)
