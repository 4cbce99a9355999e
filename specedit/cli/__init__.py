"""The command line: one module per family of commands, and the one error boundary.

Doors hold no logic: a command reads flags, calls the layer below, shows what it yields and turns
the outcome into an exit code. Importing this loads no torch, no grammar and no git.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from specedit.cli import filters
from specedit.cli.commands import Commands
from specedit.errors import DONE, FAILED, INTERRUPTED, WOULD_CHANGE, SpeceditError
from specedit.view.terminal import harmless

SHELLS = ("bash", "zsh", "fish")


def _version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"specedit {version('specedit')}")
        context.exit()


def _completion(context: click.Context, parameter: click.Parameter, shell: str | None) -> None:
    if shell is not None:
        from click.shell_completion import get_completion_class

        script = get_completion_class(shell)
        assert script is not None, "click knows these shells"
        print(script(app, {}, "specedit", "_SPECEDIT_COMPLETE").source())
        context.exit()


def _eager(name: str, help: str, callback: Any, **attributes: Any) -> click.Option:
    """An option that is answered at once."""
    return click.Option(
        [name], help=help, callback=callback, is_eager=True, expose_value=False, **attributes
    )


app = Commands(
    "specedit",
    help="Edit source files with a local model at the speed of checking, not of writing.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        _eager("--version", "Print the version.", _version, is_flag=True),
        _eager(
            "--show-completion",
            "Print the completion script of a shell.",
            _completion,
            type=click.Choice(SHELLS),
        ),
    ],
)


COMMANDS = (
    "edit",
    "refine",
    "ask",
    "rename",
    "model",
    "heads",
    "hook",
    "serve",
    "vllm",
    "warm",
    "lsp",
    "editor",
    "undo",
    "view",
    "bench",
    "replay",
    "config",
    "trust",
    "help",
)


LONG = ("edit", "refine", "rename")  # commands whose help shows what one needs every day
HELP_ALL = "--help-all"


def _register(*names: str) -> None:
    """Add these commands, or all. A command line needs only its own: building all takes 30 ms."""
    for name in names or COMMANDS:
        module = import_module(f"specedit.cli.{name}")
        if hasattr(module, "app"):
            app.add_command(module.app, name)
        else:
            how = getattr(module, "CONTEXT", None)
            more = f"Every option: specedit {name} --help-all" if name in LONG else None
            app.add(name, getattr(module, name), context_settings=how, epilog=more)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; every error ends here, as words on stderr and an exit code."""
    _register(*(name for name in arguments[:1] if name in COMMANDS))
    if "undo" not in arguments[:1]:  # which chooses its run first
        recover()
    if arguments[:1] and arguments[0] in LONG and HELP_ALL in arguments:
        arguments = _with_every_option(arguments)
    code = _ended(arguments)
    if code not in (DONE, WOULD_CHANGE) and filters.wanted(app, arguments):
        filters.give_back()
    return code


def recover(but: str | None = None) -> None:
    """Complete or revert what a killed run left unfinished, and say so. `but`: a run's name."""
    from specedit.files.place import home, marks

    with contextlib.suppress(Exception):  # it must not stop the command itself
        store = home()
        if not marks(store):
            return
        from specedit.files import recovery

        for line in recovery.recover(store, but=but):
            _say(line, "")


def _with_every_option(arguments: Sequence[str]) -> list[str]:
    """The command line that asks for a help without anything left out."""
    asked = app.commands[arguments[0]]
    asked.epilog = None  # it says how to see what is shown now
    for parameter in asked.params:
        if isinstance(parameter, click.Option):
            parameter.hidden = False
    return ["--help" if word == HELP_ALL else word for word in arguments]


def _ended(arguments: Sequence[str]) -> int:
    try:
        code = app.main(list(arguments), prog_name="specedit", standalone_mode=False)
    except SpeceditError as error:
        _say(error.message, error.hint)
        return error.code
    except (KeyboardInterrupt, click.Abort):
        _say("interrupted; nothing half-written", "")
        return INTERRUPTED
    except SystemExit as end:
        if not isinstance(end.__context__, OSError):
            raise
        return FAILED  # stdout is closed: click then exits with 1
    except OSError as error:
        where = error.filename or "stdin, stdout or stderr"
        _say(f"{where}: {error.strerror or error}", "")
        return FAILED
    except click.ClickException as error:
        error.show(sys.stderr)
        return FAILED
    except Exception as error:
        _say_unexpected(error)
        return FAILED
    return code if isinstance(code, int) else DONE


def _say(message: str, hint: str) -> None:
    with contextlib.suppress(OSError):
        print(f"specedit: {harmless(message)}", file=sys.stderr)
        if hint:
            print(f"  {harmless(hint)}", file=sys.stderr)


def _say_unexpected(error: Exception) -> None:
    import traceback

    with contextlib.suppress(OSError):
        traceback.print_exception(error)
    _say("this is a bug in specedit; the lines above are what a report of it needs", "")
