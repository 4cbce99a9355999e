"""The files of a command line: named, in folders, behind links, or chosen by git."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.cli.streams import say
from specedit.errors import UsageError
from specedit.files.git import beyond, real, top_of
from specedit.view.terminal import name as shown
from specedit.view.terminal import typed

if TYPE_CHECKING:
    from specedit.settings import Settings

STDIN = ("-",)


def files_of(
    named: Sequence[str],
    *,
    staged: bool = False,
    changed: bool = False,
    since: str | None = None,
    containing: tuple[str, ...] = (),
    any_case: bool = False,
) -> tuple[str, ...]:
    """The files of a command line: those named, STDIN, or those that git chooses. `containing`: a
    file holds one of these texts, the first of which is the name."""
    from_git = staged or changed or since is not None
    if named and not from_git:
        return STDIN if tuple(named) == STDIN else _named(named)
    if not from_git and not containing:
        raise UsageError(
            "No file is named.", hint="Name files, `-`, or --staged, --changed, --since REF"
        )
    from specedit.files import git

    paths = git.choose(
        Path.cwd(),
        containing=containing,
        any_case=any_case,
        staged=staged,
        changed=changed,
        since=since,
    )
    if not paths and from_git:
        what = f" that holds {containing[0]!r}" if containing else ""
        say(f"git names no file{what}; nothing to do")
    return tuple(map(str, paths))


def consistent(settings: Settings, named: Sequence[str], *, from_git: bool = False) -> Settings:
    """The settings, or an error where flags contradict each other. A test command of a settings
    file applies only to runs that can be tested."""
    given, stdin = settings, tuple(named) == STDIN
    other = "`-`" if stdin else "--ask" if settings.ask else "--compare" * settings.compare
    if settings.test and other and not settings.is_flag("test"):
        settings = replace(settings, test="")
    asks, tests = settings.ask, settings.test
    writes_nothing = settings.check or settings.diff or settings.json
    remote = settings.server not in ("auto", "off")
    for conflict, message, hint in (
        ("" in named, "A file's name is empty.", "Is a variable of the shell empty?"),
        ("-" in named and not stdin, "`-` reads stdin; name no other files with it.", ""),
        (
            named and from_git,
            "Name files or use --staged, --changed or --since, not both.",
            "",
        ),
        (
            settings.json and settings.diff,
            "--json and --diff both print to stdout.",
            "Use --json alone: it contains the diff.",
        ),
        (asks and writes_nothing, "--ask writes files; leave out --check, --diff and --json.", ""),
        (asks and stdin, "--ask and `-` both read stdin.", "Name a file instead of `-`."),
        (tests and stdin, "--test needs a file in a work tree; `-` is not one.", ""),
        (tests and asks, "--test and --ask cannot be combined.", "Use one of them."),
        (tests and settings.compare, "--compare measures one answer; leave out --test.", ""),
        (settings.stdin_filename and not stdin, "--stdin-filename works only with `-`.", ""),
        (
            given.is_flag("test") and not given.test,
            "--test is empty, so the edit cannot be tested.",
            "Is a shell variable empty? To run without a test, set SPECEDIT_TEST= to nothing.",
        ),
        (
            remote and settings.audit,
            "--audit needs logits, which remote servers do not send.",
            "Leave out --audit, or --server.",
        ),
    ):
        if conflict:
            raise UsageError(message, hint=hint)
    for name in ("keep_best", "test_timeout"):  # only say how to test
        if given.is_flag(name) and not tests:
            flag = f"--{name.replace('_', '-')}"
            if not given.test:
                raise UsageError(f"{flag} works only with --test COMMAND.")
            raise UsageError(f"{flag} needs a test, and {other} runs none.")
    return settings


def _in_folder(name: str) -> list[str]:
    """The files in a folder of a work tree that git tracks and whose language is known. Any other
    folder stays itself, which is an error later."""
    if not top_of(Path(name).absolute()):
        return [name]
    from specedit.files import git
    from specedit.syntax.languages import language_of

    paths = [str(path) for path in git.under(Path(name))]
    known = [path for path in paths if (kind := language_of(path)) is not None and kind.grammar]
    if not known:
        say(f"{shown(name)} holds no tracked file of a known language")
    return known


def is_confirmed(settings: Settings) -> bool:
    """Whether nothing is asked, by --yes."""
    return settings.is_flag("ask") and not settings.ask


def _named(named: Iterable[str]) -> tuple[str, ...]:
    """The files named, without second names of a file: `a.py ./a.py`, a link next to its file, two
    hard links. A run that writes its files together would read its own text in the second."""
    results: dict[Path | tuple[int, int], str] = {}
    names: list[str] = []
    for name in named:
        names += _in_folder(name) if Path(name).is_dir() else [name]
    for name in names:
        key: Path | tuple[int, int] = Path(name) if beyond(name) else real(name)
        with suppress(OSError, ValueError):  # its own run says why it cannot be read
            status = Path(name).stat()
            if status.st_nlink > 1 and status.st_ino and not beyond(name):
                key = status.st_dev, status.st_ino
        results.setdefault(key, name)
    if not results:
        raise UsageError(
            "There is no file to work on.", hint="Name files, or track them first: git add"
        )
    return tuple(results.values())


def near(path: str) -> str:
    """The path relative to the current folder, if the file is below it."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path


def allowed_links(names: Iterable[str]) -> dict[str, Path]:
    """Of these names, the links out of a work tree that the user at the terminal allows to follow,
    with their targets. Without a terminal: none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return {}
    links = {name: target for name in names if (target := beyond(name)) is not None}
    question = "{} is a link to {}, outside its work tree. Edit that file?"
    return {name: to for name, to in links.items() if confirmed(question.format(name, to))}


def confirmed(question: str) -> bool:
    """Whether the user at the terminal answers yes; the end of the input is a no."""
    print(shown(f"specedit: {question} [y/N] "), end="", file=sys.stderr, flush=True)
    return (typed() or "").strip().lower() in ("y", "yes")
