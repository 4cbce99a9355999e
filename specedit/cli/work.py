"""What `edit` and `rename` share: which files are meant, the run over them, the exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.cli.folders import expanded
from specedit.cli.links import allowed
from specedit.cli.output import put_json, put_patch
from specedit.errors import INTERRUPTED, SpeceditError, UsageError
from specedit.files.worktree import beyond, in_work_tree, real

STDIN = ("-",)

if TYPE_CHECKING:
    from specedit.edit.backend import Backend
    from specedit.edit.inputs import Planner
    from specedit.files.recorder import Wish
    from specedit.settings import Resolved, Settings


@dataclass(frozen=True)
class Targets:
    """Which files a command line means."""

    names: tuple[str, ...]
    staged: bool = False
    changed: bool = False
    since: str | None = None
    containing: tuple[str, ...] = ()  # texts of which a file holds one, the name itself first
    any_case: bool = False  # of `containing`: names built from it begin small or large

    @property
    def from_git(self) -> bool:
        return self.staged or self.changed or self.since is not None


@dataclass(frozen=True)
class ResolvedTargets:
    """The files of a command line and the settings of its run, checked for conflicts."""

    names: tuple[str, ...]  # ("-",): standard input
    settings: Settings

    @property
    def is_stdin(self) -> bool:
        return self.names == STDIN


def resolve_targets(targets: Targets, resolved: Resolved) -> ResolvedTargets:
    """Check the flags against each other, and list the files; git is asked where it chooses."""
    settings = _settings(targets, resolved)
    _refuse_conflicts(targets, settings)
    _refuse_untested(settings, resolved)
    names = targets.names if targets.names == STDIN else tuple(_files_of(targets))
    return ResolvedTargets(names, settings)


def work(
    command: str,
    targets: ResolvedTargets,
    planner: Planner,
    wish: Wish | None = None,
    *,
    together: bool = False,
) -> int:
    """Run one command over its files, or as a filter; returns the exit code. `together`: all files
    are one change."""
    settings = targets.settings
    if targets.is_stdin:
        from specedit.cli.stream import filter_stream

        return filter_stream(command, planner, settings)
    from specedit.server.connect import connect

    with closing(connect(settings)) as backend:
        return _over_files(command, targets, planner, backend, wish, together)


def _files_of(targets: Targets) -> list[str]:
    """The files named, or those that git chooses."""
    if targets.names and not targets.from_git:
        return _once(one for name in targets.names for one in expanded(name))
    if not targets.from_git and not targets.containing:
        raise UsageError("Which file?", hint="Name files, `-`, or --staged, --changed, --since REF")
    from specedit.files import git

    here = Path.cwd()
    result = git.choose(
        here,
        containing=targets.containing or None,
        any_case=targets.any_case,
        staged=targets.staged,
        changed=targets.changed,
        since=targets.since,
    )
    if not result and targets.from_git:
        what = f" that holds {targets.containing[0]!r}" if targets.containing else ""
        print(f"specedit: git names no file{what}; nothing to do", file=sys.stderr)
    return [str(path) for path in result]


def _once(names: Iterable[str]) -> list[str]:
    """The names, less those of a file that has one already: `a.py ./a.py`, a link beside its file,
    two hard links. A run that writes its files together would find its own text in the second. A
    link out of the work tree is asked about by its name."""
    results: dict[Path | tuple[int, int], str] = {}
    for name in names:
        results.setdefault(Path(name) if beyond(name) else _file(name), name)
    return list(results.values())


def _file(name: str) -> Path | tuple[int, int]:
    """What is the same for every name of a file, hard links of it too."""
    try:
        stat = Path(name).stat()
    except (OSError, ValueError):
        return real(name)  # its own run says why it cannot be read
    return (stat.st_dev, stat.st_ino) if stat.st_nlink > 1 and stat.st_ino else real(name)


def near(path: str) -> str:
    """The path from here, when the file is below."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path


def nothing(command: str, settings: Settings) -> int:
    """A run over no files."""
    if settings.json:
        from specedit.edit.report import Report

        put_json(Report(command, ()))
    return 0


def uncommitted(names: list[str], settings: Settings) -> set[str]:
    """Of the files named, those whose text is in no commit: to be said, or refused."""
    if not any(map(in_work_tree, names)):  # GitPython takes 0.1 s to import
        return set()
    from specedit.files import git

    dirty = git.dirty(Path(name) for name in names)
    results = {name for name in names if Path(name) in dirty}  # as it was named: `./a.py`
    if results and settings.clean_only:
        listed = ", ".join(name for name in names if name in results)
        raise UsageError(
            f"Uncommitted changes in {listed}.",
            hint="Commit or stash them, or run without --clean-only. Nothing was changed.",
        )
    return results


def _refuse_conflicts(targets: Targets, settings: Settings) -> None:
    """An error where flags contradict each other."""
    if "" in targets.names:
        raise UsageError("A file's name is empty.", hint="Is a variable of the shell empty?")
    if "-" in targets.names and len(targets.names) > 1:
        raise UsageError("`-` reads stdin and stands alone.")
    if targets.names and targets.from_git:
        raise UsageError("Name files, or let git choose them; not both.")
    if settings.json and settings.diff:
        raise UsageError("--json and --diff both want stdout.", hint="--json holds the diff.")
    if settings.ask and (settings.check or settings.diff or settings.json):
        raise UsageError("--ask writes files; it does not go with --check, --diff or --json.")
    if settings.ask and targets.names == STDIN:
        raise UsageError("--ask reads answers from stdin, and `-` reads the text from it.")
    if settings.test and targets.names == STDIN:
        raise UsageError("--test runs in a work tree with the edit in it; `-` has no file there.")
    if settings.test and settings.ask:
        raise UsageError("--test and --ask both judge an edit.", hint="Give one of them.")
    if settings.test and settings.compare:
        raise UsageError("--compare measures one answer, and --test may ask for several.")
    if settings.stdin_filename and targets.names != STDIN:
        raise UsageError("--stdin-filename goes with `-`.")
    if settings.server not in ("auto", "off") and settings.audit:
        raise UsageError("--audit reads logits, which no remote server gives.")


def _settings(targets: Targets, resolved: Resolved) -> Settings:
    """The settings; a test command of a settings file applies only to runs that can be tested."""
    settings = resolved.values
    if resolved.origins["test"] == "flag" and not settings.test:
        raise UsageError(
            "--test is empty: nothing would judge the edit.",
            hint="Is a variable of the shell empty? SPECEDIT_TEST= is how to run without a test.",
        )
    other = targets.names == STDIN or settings.ask or settings.compare
    if settings.test and other and resolved.origins["test"] != "flag":
        return replace(settings, test="")
    return settings


def _refuse_untested(settings: Settings, resolved: Resolved) -> None:
    """What only says how to test; a file of settings may say it for the commands that do."""
    if settings.test:
        return
    for name in ("keep_best", "require_green", "test_timeout"):
        if resolved.origins[name] == "flag":
            flag = f"--{name.replace('_', '-')}"
            if not resolved.values.test:
                raise UsageError(f"{flag} goes with --test COMMAND.")
            other = "--ask" if settings.ask else "--compare" if settings.compare else "`-`"
            raise UsageError(f"{flag} goes with a test, and {other} runs without one.")


def _over_files(
    command: str,
    targets: ResolvedTargets,
    planner: Planner,
    backend: Backend,
    wish: Wish | None,
    together: bool,
) -> int:
    from specedit.cli.follower import Follower
    from specedit.edit.inputs import of_files
    from specedit.edit.session import EditSession

    names, settings = list(targets.names), targets.settings
    writes = not (settings.check or settings.diff)
    dirty = uncommitted(names, settings) if settings.clean_only or writes else set()
    inputs = of_files(names, dirty, allowed(names))
    session = EditSession(
        command, inputs, planner, backend, settings, writes=writes, wish=wish, together=together
    )
    why, broken = "", None  # why the session ended before its files did
    with Follower(session, settings) as follower:
        try:
            with closing(follower.edits()) as edits:
                for edit in edits:
                    if settings.diff and edit.changed:
                        put_patch(edit.diff)
        except KeyboardInterrupt:
            why = "interrupted"
        except SpeceditError as problem:  # not of one file: the model, the server, the settings
            if not session.report().edits:
                raise
            why, broken = "broken off", problem
        follower.report(why)
    report = session.report()
    if settings.json:
        put_json(report)
    if broken is not None:
        raise broken
    return INTERRUPTED if why else report.exit_code(check=settings.check)
