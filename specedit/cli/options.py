"""Flags from the settings table: names, types and help texts are typed once, there.

`settings_options` gives a command every shared flag without naming it again.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from specedit.cli.consent import settled
from specedit.settings.table import about, types
from specedit.view.terminal import harmless

Staged = Annotated[bool, typer.Option("--staged", help="Choose the files in git's index")]
Changed = Annotated[
    bool, typer.Option("--changed", help="Choose the files that git reports as changed")
]
Since = Annotated[
    str | None, typer.Option(metavar="REF", help="Choose the files that changed since this commit")
]

# What --help shows of SHARED; --help-all also shows the rest.
EVERYDAY = (
    *("diff", "check", "ask", "json", "test", "tries", "whole"),
    *("model", "server", "allow_extra", "quiet", "verbose"),
)
SHORT = {"quiet": ("-q",), "verbose": ("-v",)}
SPELLED = {"ask": ("--ask/--yes",), "no_model": ("--no-model",)}
SHARED = (
    *("diff", "check", "ask", "json", "stdin_filename"),
    *("test", "tries", "test_timeout", "require_green", "keep_best"),
    *("whole", "focus", "model", "engine", "device", "threads", "precision"),
    *("prediction", "draft", "draft_model", "max_tokens"),
    *("temperature", "top_p", "seed", "sampling"),
    *("server", "profile", "warm", "compare", "audit", "trace", "clean_only"),
    *("allow_extra", "gate", "strict", "allow", "check_with"),
    *("margin", "quiet", "verbose"),
)


def _parameter(name: str, *, rare: bool) -> inspect.Parameter:
    """`rare`: leave out of --help what is not in EVERYDAY."""
    entry, kind = about(name), types()[name]
    dashed = "--" + name.replace("_", "-")
    names = SPELLED.get(name, (f"{dashed}/--no-{dashed[2:]}" if kind is bool else dashed,))
    text = entry["help"]
    if entry["choices"]:
        text += f" ({', '.join(entry['choices'])})"
    hidden = name in SHARED and name not in EVERYDAY
    option = typer.Option(
        *names, *SHORT.get(name, ()), help=text, show_default=False, hidden=hidden and rare
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

    `asks`: a person waits for it, and may be asked whether to trust a repository."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(command, eval_str=True)
        kept = [p for p in own.parameters.values() if p.name != "resolved"]
        shown = [*kept, *(_parameter(n, rare=asks) for n in names)]

        @functools.wraps(command)
        def call(**given: Any) -> Any:
            flags = {n: given.pop(n) for n in names}
            free = asks and "-" not in (given.get("files") or ())  # stdin is the text of a filter
            resolved = settled(flags, asks=free)
            if resolved.values.verbose and not resolved.values.quiet:
                show_notes()
            return command(**given, resolved=resolved)

        call.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=sorted(shown, key=lambda p: p.kind), return_annotation=None
        )
        call.__annotations__ = {p.name: p.annotation for p in shown}
        return call

    return decorate


def show_notes() -> None:
    """Print the notes of the logger `specedit` on stderr: a cache that is made again, …"""
    import logging

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print(f"specedit: {harmless(record.getMessage())}", file=sys.stderr)

    log = logging.getLogger("specedit")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.handlers = [Notes()]


def lines_range(text: str | None) -> tuple[int, int] | None:
    """`A:B`, `A:` is not one; `A` alone is that line."""
    if text is None:
        return None
    first, _, last = text.partition(":")
    try:
        return int(first), int(last or first)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not A:B, two line numbers") from None
