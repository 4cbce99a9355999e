"""`specedit undo`: restore what the last run changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.cli import recover
from specedit.cli.options import AsJson, flag, option
from specedit.cli.streams import put_object, say
from specedit.cli.targets import near
from specedit.errors import DONE, FAILED, UsageError
from specedit.settings import here

if TYPE_CHECKING:
    from specedit.files.journal import JournalRun
    from specedit.files.undo import Undone


MAX_LISTED_RUNS = 10  # runs of --list
MAX_LISTED_FILES = 5  # files of each


def undo(
    name: str | None = option(None, "Undo this run (a name from --list)", "--run", metavar="RUN"),
    listed: bool = flag("--list", "List the last runs in this work tree that can be undone"),
    every: bool = flag("--all", "With --list: all runs in all folders, with all files"),
    forget: bool = flag("--forget", "Remove the run from the journal; change no file"),
    partly: bool = flag("--partly", "Restore the files that have not changed since"),
    last: bool = flag("--last", "Undo the last run in any folder"),
    as_json: AsJson = False,
) -> int:
    """Restore what the last run changed in this work tree. It restores all files or none; run it
    again for the run before."""
    from specedit.files import journal
    from specedit.files.undo import forget as drop
    from specedit.files.undo import undo as put_back

    if listed and (forget or name or partly):
        raise UsageError("--list lists runs; it can be combined only with --all and --json.")
    if every and not listed:
        raise UsageError("--all is for --list.", hint="specedit undo --list --all")
    if last and name:
        raise UsageError("--run and --last both choose a run; use one of them.")
    store = journal.home()
    runs = journal.runs(store)
    if name is None and not listed:
        name = (runs[0].name if runs else None) if last else _last_here(runs)
    recover(but=name)
    for run in journal.damaged(store):
        if run.name != name and not run.unfinished:  # else `recover` says so
            say(
                f"the record of the run {run.name} is damaged; the run is skipped",
                f"specedit undo --forget --run {run.name}",
            )
    if name is None and not (last or listed):
        name = of_here(journal.runs(store))  # an error: there is none
    if listed:
        return _list(journal.runs(store), every, as_json)
    if forget:
        run = drop(store, name)
        put_object(_run(run)) if as_json else say(f"forgotten: {run.label}")
        return DONE
    done = put_back(store, name, partly=partly)
    if as_json:
        files = [
            {"path": o.path, "status": o.status, "problem": o.problem or None} for o in done.files
        ]
        put_object({"schema": 1, "command": "undo", "undone": {**_run(done.run), "files": files}})
    else:
        _show(done)
    return FAILED if done.refused else DONE


def of_here(runs: list[JournalRun]) -> str | None:
    """The last run that wrote to the current work tree or folder; None if the journal is empty."""
    name = _last_here(runs)
    if runs and name is None:
        raise UsageError(
            f"There is nothing to undo in {_top()}.",
            hint=f"The last run was elsewhere: {runs[0].label}. `specedit undo --last` undoes it.",
        )
    return name


def _last_here(runs: list[JournalRun]) -> str | None:
    top = _top()
    return next((run.name for run in runs if _wrote_to(run, top)), None)


def _top() -> Path:
    from specedit.files.git import real, top_of

    place = real(here())
    return top_of(place) or place


def _wrote_to(run: JournalRun, top: Path) -> bool:
    return any(Path(entry.path).is_relative_to(top) for entry in run.files)


def _show(done: Undone) -> None:
    from rich.text import Text

    from specedit.files.undo import AS_BEFORE, LEFT, REFUSED, RESTORED
    from specedit.view import colours, terminal

    console = colours.terminal()
    console.print(Text(f"undoing: {done.run.label}", "dim"), soft_wrap=True)
    for file in done.files:
        word, style = {
            RESTORED: ("put back", "green"),
            REFUSED: (f"not put back: {file.problem}", "red"),
            LEFT: ("could be put back, and was left as it is", "dim"),
            AS_BEFORE: ("was as before already", "dim"),
        }[file.status]
        path = terminal.name(near(file.path))
        if file.aside:
            word += f"; the text that was there is in {terminal.name(file.aside)}"
        console.print(Text.assemble((path, "bold"), ": ", (word, style)), soft_wrap=True)
    if done.refused:
        rest = any(file.status == LEFT for file in done.files)
        partly = "`specedit undo --partly` puts back the others; " if rest else ""
        hint = f"{partly}`specedit undo` tries again; `specedit undo --forget` goes further back."
        console.print(Text(hint, "dim"), soft_wrap=True)


def _list(runs: list[JournalRun], every: bool, as_json: bool) -> int:
    from specedit.view.colours import count

    found, top = len(runs), _top()
    if not every:
        runs = [run for run in runs if _wrote_to(run, top)][:MAX_LISTED_RUNS]
    if found > len(runs):
        rest = count(found - len(runs), "more run")
        say(f"{rest}, of this and other folders: specedit undo --list --all")
    if as_json:
        put_object({"schema": 1, "command": "undo", "runs": [_run(r) for r in runs]})
        return DONE
    from rich.console import Console
    from rich.text import Text

    from specedit.view import terminal

    out = Console(markup=False, emoji=False, highlight=False)
    if not runs:
        say("there is nothing to undo" + (f" in {top}" if found else ""))
    next_one = _last_here(runs)
    for run in runs:
        files = run.files if every else run.files[:MAX_LISTED_FILES]
        mark = ("  <- specedit undo", "green") if run.name == next_one else ""
        head = Text.assemble((run.label, "bold"), (f"  {run.name}", "dim"), mark)
        out.print(head, soft_wrap=True)
        if run.unfinished:
            why = "it is at work" if run.at_work else "it was killed"
            out.print(Text(f"  unfinished: {why}", "red"))
        if run.instruction:
            out.print(Text(f"  “{terminal.name(run.instruction)}”"), soft_wrap=True)
        for entry in files:
            out.print(Text(f"  {terminal.name(near(entry.path))}"), soft_wrap=True)
        if len(files) < len(run.files):
            rest = count(len(run.files) - len(files), "more file")
            out.print(Text(f"  … and {rest}"), soft_wrap=True)
    return DONE


def _run(run: JournalRun) -> dict[str, Any]:
    return {
        "run": run.name,
        "command": run.command,
        "instruction": run.instruction or None,
        "unfinished": run.unfinished,
        "when": run.when,
        "folder": run.folder,
        "files": [e.path for e in run.files],
    }
