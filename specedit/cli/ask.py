"""`specedit ask QUESTION FILE`"""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from specedit.cli.options import ENGINE, lines_range, settings_options
from specedit.cli.streams import put, put_object, say
from specedit.errors import InputError, UsageError
from specedit.settings import Resolved
from specedit.view.terminal import harmless

if TYPE_CHECKING:
    from specedit.files.source import Source


@settings_options(
    *(*ENGINE, "draft", "draft_model", "max_tokens"),
    *("temperature", "top_p", "seed", "server", "profile", "warm", "json", "quiet"),
    "stdin_filename",
)
def ask(
    question: Annotated[str, typer.Argument(help="The question, in words")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file that it is about; `-` is stdin")
    ],
    lines: Annotated[str | None, typer.Option(metavar="A:B", help="Ask about these lines")] = None,
    symbol: Annotated[
        str | None, typer.Option(metavar="NAME", help="Ask about this function, method or class")
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="FILE", help="Show the model this file too; repeat for more"
        ),
    ] = None,
    *,
    resolved: Resolved,
) -> int:
    """Answer a question about a file on stdout; the file does not change."""
    from specedit.edit import context_files
    from specedit.edit.backend import Answer, Loading, Written
    from specedit.edit.job import plan_ask
    from specedit.server.connect import connect, window
    from specedit.view.contract import asked_json

    settings = resolved.values
    source = _read(file, settings.stdin_filename)
    beside = context_files.read(context, window(settings)) if context else ()
    plan = plan_ask(
        source, question, settings, lines=lines_range(lines), symbol=symbol, beside=beside
    )
    answer: Answer | None = None
    on_terminal = sys.stdout.isatty()
    waiting = sys.stderr.isatty() and not settings.quiet
    with closing(connect(settings)) as backend:
        for event in backend.run(plan):
            match event:
                case Loading() if waiting:
                    say("the model is loading…")
                    waiting = False
                case Written() if not settings.json:
                    put(harmless(event.text) if on_terminal else event.text)
                case Answer():
                    answer = event
        notes = list(backend.notes)
    if answer is None:
        raise InputError("the backend gave no answer.", file=source.name)
    if settings.json:
        put_object(asked_json(source.name, question, answer))
    elif not answer.text.endswith("\n"):
        put("\n")
    if answer.reason == "length":
        notes.append("the answer is cut off by the limit; raise --max-tokens")
    for note in [] if settings.quiet else notes:
        say(note)
    return 0


def _read(name: str, stdin_filename: str) -> Source:
    from specedit.files import source as sources
    from specedit.files.worktree import check_within

    if name == "-":
        return sources.Source.from_bytes(stdin_filename or "stdin", sys.stdin.buffer.read())
    if stdin_filename:
        raise UsageError("--stdin-filename goes with `-`.")
    source = sources.read(name)
    check_within(name)
    return source
