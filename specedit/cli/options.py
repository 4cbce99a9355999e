"""Flags made from the settings table, which holds names, types and help texts; and the settings of
a command, for which the user may be asked whether to trust the repository. Help shows commands and
options in groups, the most used first.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from specedit.cli.streams import say
from specedit.errors import UsageError
from specedit.settings import Resolved, checked, layers, resolve
from specedit.settings.layers import Repository
from specedit.settings.table import entries, shown
from specedit.view.terminal import name as harmless_name

COMMANDS = {  # by group; `specedit --help` shows them in this order
    "Edit": ("edit", "refine", "rename", "apply", "undo"),
    "Model": ("model", "doctor"),
    "Server and editors": ("serve", "warm", "editor", "lsp", "mcp", "hook", "vllm"),
    "Inspect": ("view", "config", "trust", "help"),
}
OPTIONS = {  # parameters by group, of the commands that edit
    "Where": ("symbol", "selected", "near", "lines", "line", "whole", "focus", "scope"),
    "Files": ("context", "changed", "staged", "since", "clean_only", "stdin_filename"),
    "Output": (
        *("diff", "check", "dry_list", "ask", "json", "quiet", "verbose"),
        *("compare", "audit", "trace"),
    ),
    "Checks": (
        *("test", "tries", "test_timeout", "keep_best", "incomplete"),
        *("sure", "allow", "strict", "check_with"),
    ),
    "Model": (
        *("model", "no_model", "server", "profile", "warm", "engine", "device", "threads"),
        *("weights", "adapter", "prediction", "draft", "draft_model"),
        *("max_tokens", "temperature", "seed", "sampling"),
    ),
}
OTHERS = "Options"


class GroupedCommand(TyperCommand):
    """A command whose --help has the options of OPTIONS in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        parameters = {parameter.name: parameter for parameter in self.get_params(ctx)}
        grouped = {name for names in OPTIONS.values() for name in names}
        others = [name for name in parameters if name not in grouped]
        arguments = [name for name in others if parameters[name].param_type_name == "argument"]
        rest = [name for name in others if name not in arguments]
        for title, names in {"Arguments": arguments, **OPTIONS, OTHERS: rest}.items():
            shown = [parameters[name] for name in names if name in parameters]
            rows = [row for parameter in shown if (row := parameter.get_help_record(ctx))]
            if names is arguments:  # without their types
                rows = [(term.partition(" <")[0], text) for term, text in rows]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class GroupedCommands(TyperGroup):
    """The command line itself, whose --help has the commands in groups."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands), default=0)
        for title, names in COMMANDS.items():
            known = [(name, self.commands[name]) for name in names if name in self.commands]
            rows = [
                (name.ljust(width), command.get_short_help_str(formatter.width - 6 - width))
                for name, command in known
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


Staged = Annotated[bool, typer.Option("--staged", help="Choose the files in git's index")]
Changed = Annotated[
    bool, typer.Option("--changed", help="Choose the files that git reports as changed")
]
Since = Annotated[
    str | None, typer.Option(metavar="REF", help="Choose the files that changed since REF")
]


def flag(name: str, help: str, **more: Any) -> Any:
    """An option without a value: it is False unless given."""
    return typer.Option(False, name, help=help, **more)


def option(default: Any, help: str, *names: str, **more: Any) -> Any:
    """An option with a value; its name is that of the parameter unless `names` has others."""
    return typer.Option(default, *names, help=help, **more)


def argument(metavar: str | None, help: str, default: Any = ..., **more: Any) -> Any:
    """An argument; it is required unless it has a default."""
    return typer.Argument(default, metavar=metavar, help=help, **more)


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout")]

# The settings that --help of a command for the user shows; --help-all also shows the rest
EVERYDAY = (
    *("diff", "check", "ask", "json", "test", "tries", "whole"),
    *("model", "allow", "quiet", "verbose", "scope", "no_model"),
)
SPELLED = {
    "ask": ("--ask/--yes",),
    "strict": ("--strict/--no-strict",),
    "warm": ("--warm/--no-warm",),
    "quiet": ("--quiet", "-q"),
    "verbose": ("--verbose", "-v"),
}
METAVARS = {
    **dict.fromkeys(("model", "draft_model", "stdin_filename"), "NAME"),
    **{"test": "COMMAND", "check_with": "COMMAND", "tries": "N", "threads": "N"},
    **{"max_tokens": "N", "seed": "N", "temperature": "T", "test_timeout": "SECONDS"},
    **{"allow": "KIND,…", "draft": "NAME,…", "prediction": "FILE", "trace": "FILE"},
    **{"server": "URL", "focus": "LINES", "sure": "P", "adapter": "auto|none|FOLDER"},
}
ENGINE = ("model", "engine", "device", "threads", "weights", "adapter")  # what answers
SHARED = (  # by `edit`, `refine` and `rename`
    *("diff", "check", "ask", "json"),
    *("test", "tries", "test_timeout", "keep_best"),
    *(*ENGINE, "prediction", "draft", "draft_model", "max_tokens"),
    *("temperature", "seed", "sampling"),
    *("server", "profile", "warm", "compare", "audit", "trace", "clean_only"),
    *("sure", "strict", "allow", "check_with", "quiet", "verbose"),
)


def _parameter(name: str, help: str, *, short_help: bool) -> inspect.Parameter:
    """The flag of a setting, with this help text or its own. `short_help`: --help shows it only if
    it is in EVERYDAY."""
    entry = entries()[name]
    dashed = "--" + name.replace("_", "-")
    option = typer.Option(
        *SPELLED.get(name, (dashed,)),
        help=help or entry["help"],
        metavar="|".join(entry["choices"]) or METAVARS.get(name),
        show_default=False,
        hidden=short_help and name not in EVERYDAY,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[entry["type"] | None, option],
    )


def settings_options(
    *names: str, asks: bool = False, helps: Mapping[str, str] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these settings as flags; it receives `settings`, flags over everything.
    `helps`: help texts of its own. `asks`: the user waits for it, and may be asked for trust."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(command, eval_str=True)
        parameters = dict(own.parameters)
        del parameters["settings"]
        for name in names:
            help = (helps or {}).get(name, "")
            parameters[name] = _parameter(name, help, short_help=asks)

        @functools.wraps(command)
        def call(**arguments: Any) -> Any:
            flags = {name: arguments.pop(name) for name in names}
            is_filter = "-" in (arguments.get("files") or ())  # then stdin holds the text
            is_filter = is_filter or "change" in arguments  # or the change
            settings = settled(flags, asks=asks and not is_filter).values
            if settings.verbose and not settings.quiet:
                show_notes()
            return command(**arguments, settings=settings)

        call.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=sorted(parameters.values(), key=attrgetter("kind")), return_annotation=None
        )
        return call

    return decorate


def show_notes() -> None:
    """Print the notes of the logger `specedit` on stderr: a cache that is made again, …"""
    import logging

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(record.getMessage())

    log = logging.getLogger("specedit")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.handlers = [Notes()]


def lines_range(text: str) -> tuple[int, int]:
    """The two numbers of `A:B`; `A` alone is one line."""
    first, colon, last = text.partition(":")
    try:
        return int(first), int(last if colon else first)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not A:B, two line numbers") from None


def settled(
    flags: Mapping[str, Any] | None = None, *, start: Path | None = None, asks: bool = False
) -> Resolved:
    """The settings of a command. If restricted ones of the repository are ignored, the user is
    asked (if the command `asks`), or one line says so, unless the user's own are `quiet`."""
    resolved = resolve(flags, start=start)
    if not resolved.ignored or resolved.values.quiet:
        return resolved
    if asks and sys.stdin.isatty() and sys.stderr.isatty() and _trusted_now(resolved.repository):
        return settled(flags, start=start)
    say(harmless_name(resolved.ignored_note))
    return resolved


def restricted_lines(repository: Repository) -> list[str]:
    """The repository's restricted settings, a line each, with control characters made visible."""
    values = repository.values
    return [harmless_name(f"{n} = {_value(n, values[n])}") for n in repository.restricted]


def _value(setting: str, value: object) -> str:
    try:
        value = checked(setting, value, "")
    except UsageError:
        return f"{shown(value)} (not valid)"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _trusted_now(repository: Repository | None) -> bool:
    """Ask once; the answer is recorded until the settings change."""
    if repository is None or repository.state == layers.DECLINED:
        return False
    changed = " and has changed since you trusted it" if repository.state == layers.CHANGED else ""
    say(harmless_name(f"{repository.pyproject} has restricted settings{changed}:"))
    for line in restricted_lines(repository):
        print(f"    {line}", file=sys.stderr)
    print("  Trust this repository? [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        print(file=sys.stderr)
        return False
    trusted = answer.strip().lower() in ("y", "yes")
    layers.decide(repository.folder, repository.digest, trusted=trusted)
    return trusted
