"""The command line: typer commands, one module per family, and the one error boundary.

A command reads flags, calls the layer below, shows what it yields and turns the outcome into an
exit code. Importing this loads no torch, no grammar and no git.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from specedit.cli import options
from specedit.cli.streams import copy_stdin, is_filter, say
from specedit.errors import DONE, FAILED, INTERRUPTED, WOULD_CHANGE, SpeceditError, UsageError
from specedit.settings import REMOVED, check_removed
from specedit.version import VERSION
from specedit.view.terminal import harmless

app = typer.Typer(
    name="specedit",
    cls=options.GroupedCommands,
    help="Edit source files with a language model that runs on this machine.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version")] = False,
    verbose: Annotated[
        bool, typer.Option("-v", help="With --version: also the kernel and the model")
    ] = False,
) -> None:
    if version:
        typer.echo(f"specedit {VERSION}")
        if verbose:
            from specedit.machine_check import lines

            topics = ("kernel", "model")
            for line in (line for line in lines(topics=topics) if line.topic in topics):
                typer.echo(f"{line.topic} {line.text}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.fail("Missing command.")


COMMANDS = tuple(chain.from_iterable(options.COMMANDS.values()))
# The module of a command that shares one.
MODULES = {
    "refine": "edit",
    **dict.fromkeys(("warm", "editor", "lsp", "mcp"), "serve"),
    **dict.fromkeys(("doctor", "trust", "view", "help"), "config"),
}
# Commands whose --help shows the everyday options only, in groups.
LONG = ("edit", "refine", "rename", "apply")
HELP_ALL = "--help-all"


_registered: set[str] = set()  # names of commands


def _register(*names: str) -> None:
    """Add these commands, or all. A command line needs only its own: building all takes 30 ms."""
    for name in names or COMMANDS:
        if name in _registered:
            continue
        _registered.add(name)
        module = import_module(f"specedit.cli.{MODULES.get(name, name)}")
        if hasattr(module, "app") and name not in MODULES:
            app.add_typer(module.app, name=name)
        else:
            epilog = f"Every option: specedit {name} --help-all" if name in LONG else None
            command = getattr(module, name)
            app.command(name, cls=options.GroupedCommand, epilog=epilog)(command)


def every_command() -> Any:
    """The command line with every command and, where --help hides some, every option."""
    _register()
    command: Any = typer.main.get_command(app)
    for name in LONG:
        _show_every_option(command.commands[name])
    return command


def run(arguments: Sequence[str]) -> int:
    """Run one command line; every error ends here, as a message on stderr and an exit code."""
    named = arguments[0] if arguments else ""
    _register(*((named,) if named in COMMANDS else ()))
    if "undo" not in arguments[:1]:  # which chooses its run first
        recover()
    command: Any = typer.main.get_command(app)
    if arguments[:1] and arguments[0] in LONG and HELP_ALL in arguments:
        _show_every_option(command.commands[arguments[0]])
        arguments = ["--help" if word == HELP_ALL else word for word in arguments]
    code = _ended(command, arguments)
    if code not in (DONE, WOULD_CHANGE) and is_filter(command, arguments):
        copy_stdin()  # guarantee 5
    return code


def recover(but: str | None = None) -> None:
    """Complete or revert what killed runs left unfinished, all `but` the run of this name."""
    from specedit.files.startup import home, marks

    with contextlib.suppress(Exception):  # it must not stop the command itself
        store = home()
        if not marks(store):
            return
        from specedit.files import undo

        for line in undo.recover(store, but=but):
            say(line)


def _show_every_option(command: Any) -> None:
    """Let --help show what --help-all does."""
    command.epilog = None  # it names --help-all
    for parameter in command.params:
        parameter.hidden = False


def _owners(option: str) -> str:
    """The commands that change files and have an option, where another was given it."""
    if not option:
        return ""
    commands = every_command().commands
    names = [name for name in LONG if any(option in param.opts for param in commands[name].params)]
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _check_command(arguments: Sequence[str]) -> None:
    """An error where words and a file are there, in either order, and `edit` is not."""
    count = next((n for n, each in enumerate(arguments) if each.startswith("-")), len(arguments))
    file, *others = arguments[:count] or [""]
    if " " in file and others:
        *others, file = file, *others
    try:
        forgotten = bool(file) and Path(file).is_file()
    except OSError:  # words, too long for a name
        return
    if forgotten:
        words = harmless(" ".join(others) or "what to do")
        flags = "".join(f" {harmless(flag)}" for flag in arguments[count:])
        hint = f'specedit edit "{words}" {harmless(file)}{flags}'
        raise UsageError("The command is missing.", hint=hint)


def _ended(command: Any, arguments: Sequence[str]) -> int:
    try:
        if arguments and arguments[0] not in COMMANDS:
            check_removed(f"specedit {arguments[0]}")
            _check_command(arguments)
        code = command.main(list(arguments), prog_name="specedit", standalone_mode=False)
    except SpeceditError as error:
        say(error.message, error.hint)
        return error.code
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted; nothing half-written")
        return INTERRUPTED
    except SystemExit as end:
        if not isinstance(end.__context__, OSError):
            raise
        return FAILED  # the reader of stdout is gone: typer then exits with 1
    except MemoryError:
        say(
            "there is not enough memory for this",
            "Close other programs, raise the limit (ulimit -v), or use a smaller model: "
            "specedit model suggest",
        )
        return FAILED
    except OSError as error:
        say(f"{error.filename or 'stdin, stdout or stderr'}: {error.strerror or error}")
        return FAILED
    except Exception as error:
        if hasattr(error, "show"):  # typer's own errors, which share no exported base
            flag = getattr(error, "option_name", "")
            words = " ".join(("specedit", *arguments[:2]))
            for what, name in ((flag, flag.lstrip("-").replace("-", "_")), (words, words)):
                if name in REMOVED:
                    say(f"{what} {REMOVED[name]}")
                    return FAILED
            if "Did you mean" in str(getattr(error, "message", "")):
                error.possibilities = None  # type: ignore[attr-defined]  # not said twice
            if names := getattr(error, "possibilities", None):
                error.possibilities = get_close_matches(flag, names, 1, 0.7)  # type: ignore[attr-defined]
            if owners := _owners(flag):
                error.possibilities = None  # type: ignore[attr-defined]
                error.message += f": it is an option of {owners}."  # type: ignore[attr-defined]
            error.show(sys.stderr)
            return FAILED
        with contextlib.suppress(OSError):
            traceback.print_exception(error)
        say("this is a bug in specedit; the lines above are what a report of it needs")
        return FAILED
    return code if isinstance(code, int) else DONE
