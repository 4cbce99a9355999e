"""`specedit edit INSTRUCTION FILE...`, `refine INSTRUCTION`, which continues it, and `ask`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specedit.cli.options import (
    ENGINE,
    SHARED,
    Changed,
    Since,
    Staged,
    argument,
    lines_range,
    option,
    settings_options,
)
from specedit.cli.streams import put, put_object, say
from specedit.edit.backend import Progress
from specedit.errors import UsageError
from specedit.settings import Resolved, Settings
from specedit.view.terminal import harmless

if TYPE_CHECKING:
    from specedit.edit.backend import Loading, Written
    from specedit.edit.job import Job
    from specedit.edit.prompt import Beside
    from specedit.files.source import Source

Context = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="FILE",
        help="Show the model this file, too; repeat for more",
    ),
]


@settings_options(*SHARED, asks=True)
def edit(
    instruction: str = argument("INSTRUCTION", "What to do, in words"),
    files: list[str] | None = argument(
        "FILE", "Files or folders; `-` edits stdin and prints the new text", None
    ),
    lines: str | None = option(None, "Edit these lines", metavar="A:B"),
    symbol: str | None = option(None, "Edit this function, method or class", metavar="NAME"),
    selected: str | None = option(None, "Edit the lines that contain this text", metavar="TEXT"),
    near: int | None = option(
        None, "Choose the match of --selected nearest to LINE", metavar="LINE", hidden=True
    ),
    staged: Staged = False,
    changed: Changed = False,
    since: Since = None,
    context: Context = None,
    *,
    resolved: Resolved,
) -> int:
    """Change files by an instruction."""
    from specedit.cli.run_command import run_command
    from specedit.cli.targets import Targets, resolve_targets
    from specedit.edit.job import plan_edit
    from specedit.edit.refining import part_of
    from specedit.edit.splice import lines_of
    from specedit.files.recorder import Wish

    if not (files or staged or changed or since) and Path(instruction).is_file():
        raise UsageError(
            f"The instruction is missing. {instruction} is a file.",
            hint=f'specedit edit "what to do" {instruction}',
        )
    chosen_lines = lines_range(lines)
    _check_encoding(instruction)
    _check_order("edit", instruction, files or ())
    if selected is not None and (chosen_lines or symbol):
        raise UsageError("--selected, --lines and --symbol all name the part to edit; use one.")
    settings = resolved.values
    beside = _beside(context)

    def planner(source: Source) -> Job:
        part = chosen_lines if selected is None else lines_of(source.text, selected, near)
        return plan_edit(source, instruction, settings, lines=part, symbol=symbol, beside=beside)

    targets = Targets(tuple(files or ()), staged=staged, changed=changed, since=since)
    wish = Wish(instruction, part_of(chosen_lines, symbol, selected, near))
    return run_command("edit", resolve_targets(targets, resolved), planner, wish)


@settings_options(*(name for name in SHARED if name != "stdin_filename"), asks=True)
def refine(
    instruction: str = argument("INSTRUCTION", "What to do differently, or in addition"),
    files: list[str] | None = argument(
        "FILE", "Files; without them: all that the last edit changed", None
    ),
    context: Context = None,
    *,
    resolved: Resolved,
) -> int:
    """Repeat the last edit with a further instruction."""
    from specedit.cli.run_command import run_command
    from specedit.cli.targets import Targets, near, resolve_targets
    from specedit.cli.undo import of_here
    from specedit.edit.refining import conversation, plan_refine
    from specedit.files.journal import home, runs
    from specedit.files.recorder import Wish

    _check_encoding(instruction)
    if not instruction.strip():
        raise UsageError("The instruction is empty.", hint='specedit refine "what to change now"')
    if files and "-" in files:
        raise UsageError("refine repeats an edit of files; `-` has no earlier run.")
    store, settings = home(), resolved.values
    earlier = conversation(store, of_here(runs(store)))
    beside = _beside(context)

    def planner(source: Source) -> Job:
        return plan_refine(source, instruction, earlier, settings, beside)

    targets = Targets(tuple(files or map(near, earlier.paths)))
    wish = Wish(instruction, earlier.runs[0].part, earlier.last.name)
    return run_command("refine", resolve_targets(targets, resolved), planner, wish)


def _beside(names: Sequence[str] | None) -> tuple[Beside, ...]:
    """The files of `--with`, as the model is shown them."""
    from specedit.edit.prompt import read_beside

    return read_beside(names) if names else ()


def _check_order(command: str, words: str, files: Sequence[str]) -> None:
    """An error where the words are a file's name, and a file's name is words."""
    sentences = [file for file in files if " " in file.strip() and not Path(file).exists()]
    if sentences and " " not in words.strip() and (Path(words).exists() or Path(words).suffix):
        said, name = harmless(sentences[0]), harmless(words)
        raise UsageError(
            f"`{said[:60]}` looks like the words, and `{name}` like a file: they are swapped.",
            hint=f'specedit {command} "{said}" {name}',
        )


def _check_encoding(instruction: str) -> None:
    """Refuse an argument that is not text; a shell passes any bytes."""
    try:
        instruction.encode()
    except UnicodeEncodeError:
        raise UsageError("The instruction is not UTF-8.") from None


@settings_options(
    *(*ENGINE, "draft", "draft_model", "max_tokens"),
    *("temperature", "seed", "server", "profile", "warm", "json", "quiet"),
    "stdin_filename",
)
def ask(
    question: str = argument("QUESTION", "The question, in words"),
    file: str = argument("FILE", "The file that it is about; `-` is stdin"),
    lines: str | None = option(None, "Ask about these lines", metavar="A:B"),
    symbol: str | None = option(None, "Ask about this function, method or class", metavar="NAME"),
    context: Context = None,
    *,
    resolved: Resolved,
) -> int:
    """Answer a question about a file; nothing changes."""
    from specedit.connect import connect
    from specedit.edit.job import plan_ask
    from specedit.view.contract import asked_json

    settings = resolved.values
    _check_order("ask", question, [file])
    source = _read(file, settings.stdin_filename)
    beside = _beside(context)
    plan = plan_ask(
        source, question, settings, lines=lines_range(lines), symbol=symbol, beside=beside
    )
    with closing(connect(settings)) as backend:
        answer = backend.run(plan, _Printed(settings))
        notes = list(backend.notes)
    if settings.json:
        put_object(asked_json(source.name, question, answer))
    elif not answer.text.endswith("\n"):
        put("\n")
    if answer.reason == "length":
        notes.append("the answer is cut off by the limit; raise --max-tokens")
    for note in [] if settings.quiet else notes:
        say(note)
    return 0


class _Printed(Progress):
    """Prints an answer while it is written."""

    def __init__(self, settings: Settings) -> None:
        self._is_printed = not settings.json
        self._on_terminal = sys.stdout.isatty()
        self._waits = sys.stderr.isatty() and not settings.quiet

    def loading(self, event: Loading) -> None:
        if self._waits:
            say("the model is loading…")
            self._waits = False

    def written(self, event: Written) -> None:
        if self._is_printed:
            put(harmless(event.text) if self._on_terminal else event.text)


def _read(name: str, stdin_filename: str) -> Source:
    from specedit.edit.request import of_files, of_stdin

    if name == "-":
        return of_stdin(sys.stdin.buffer.read(), stdin_filename).read()
    if stdin_filename:
        raise UsageError("--stdin-filename works only with `-`.")
    return of_files([name])[0].read()
