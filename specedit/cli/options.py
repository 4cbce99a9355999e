"""Flags made from the settings table, which holds their names, types and help texts."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from specedit.cli.streams import say
from specedit.cli.trust import settled
from specedit.settings.table import about, types

Staged = Annotated[bool, typer.Option("--staged", help="Choose the files in git's index")]
Changed = Annotated[
    bool, typer.Option("--changed", help="Choose the files that git reports as changed")
]
Since = Annotated[
    str | None, typer.Option(metavar="REF", help="Choose the files that changed since this commit")
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout")]

# What --help shows of SHARED; --help-all also shows the rest.
EVERYDAY = (
    *("diff", "check", "ask", "json", "test", "tries", "whole"),
    *("model", "server", "allow_extra", "quiet", "verbose"),
)
SPELLED = {
    "ask": ("--ask/--yes",),
    "no_model": ("--no-model",),
    "quiet": ("--quiet/--no-quiet", "-q"),
    "verbose": ("--verbose/--no-verbose", "-v"),
}
ENGINE = ("model", "engine", "device", "threads", "precision", "weights")  # what answers
SHARED = (
    *("diff", "check", "ask", "json", "stdin_filename"),
    *("test", "tries", "test_timeout", "require_green", "keep_best"),
    *("whole", "focus", *ENGINE),
    *("prediction", "draft", "draft_model", "max_tokens"),
    *("temperature", "top_p", "seed", "sampling"),
    *("server", "profile", "warm", "compare", "audit", "trace", "clean_only"),
    *("allow_extra", "gate", "strict", "allow", "check_with"),
    *("margin", "quiet", "verbose"),
)


def _parameter(name: str, *, short_help: bool) -> inspect.Parameter:
    """The flag of a setting. `short_help`: --help shows it only if it is in EVERYDAY."""
    entry, kind = about(name), types()[name]
    dashed = "--" + name.replace("_", "-")
    names = SPELLED.get(name, (f"{dashed}/--no-{dashed[2:]}" if kind is bool else dashed,))
    choices = f" ({', '.join(entry['choices'])})" if entry["choices"] else ""
    option = typer.Option(
        *names,
        help=entry["help"] + choices,
        show_default=False,
        hidden=short_help and name in SHARED and name not in EVERYDAY,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )


def settings_options(
    *names: str, asks: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command these settings as flags; it receives `resolved`, flags over everything.

    `asks`: the user waits for it, and may be asked whether to trust a repository."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(command, eval_str=True)
        parameters = [p for p in own.parameters.values() if p.name != "resolved"]
        parameters += [_parameter(name, short_help=asks) for name in names]

        @functools.wraps(command)
        def call(**arguments: Any) -> Any:
            flags = {name: arguments.pop(name) for name in names}
            is_filter = "-" in (arguments.get("files") or ())  # then stdin holds the text
            is_filter = is_filter or "change" in arguments  # or the change
            resolved = settled(flags, asks=asks and not is_filter)
            if resolved.values.verbose and not resolved.values.quiet:
                show_notes()
            return command(**arguments, resolved=resolved)

        call.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=sorted(parameters, key=lambda p: p.kind), return_annotation=None
        )
        call.__annotations__ = {p.name: p.annotation for p in parameters}
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


def lines_range(text: str | None) -> tuple[int, int] | None:
    """The two numbers of `A:B`; `A` alone is one line."""
    if text is None:
        return None
    first, _, last = text.partition(":")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not A:B, two line numbers") from None
