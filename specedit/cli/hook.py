"""`specedit hook install | uninstall | run`"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from specedit.cli.options import argument, settled
from specedit.cli.streams import put, say
from specedit.errors import DONE, FAILED, WOULD_CHANGE
from specedit.files import git
from specedit.integrations import hook as git_hook
from specedit.settings import Settings, here
from specedit.view.terminal import name

if TYPE_CHECKING:
    from specedit.edit.report import Edit
    from specedit.integrations.hook.hook_rules import Rule
    from specedit.integrations.hook.staged import HookRun, StepResult

app = typer.Typer(help="Apply the rules of pyproject.toml to every commit.", no_args_is_help=True)


def _rules(root: Path) -> tuple[list[Rule], Settings, str]:
    """The rules, the settings, and the reason if there are no rules. Only the pyproject.toml at
    `root` counts, not that of a repository around it."""
    from specedit.integrations.hook.hook_rules import rules

    resolved = settled(start=root)
    pyproject = resolved.pyproject
    if pyproject is None or pyproject.parent.resolve() != root.resolve():
        return [], resolved.values, "has no [[tool.specedit.hook]]"
    why = "is not trusted" if "hook" in resolved.ignored else "has no [[tool.specedit.hook]]"
    return rules(resolved.values.hook, str(pyproject)), resolved.values, why


@app.command()
def install() -> int:
    """Call specedit before every commit of this repository."""
    root = git.top(here())
    rules, _, why = _rules(root)
    for line in git_hook.install(root):
        say(line)
    if not rules:
        say(f"{root / 'pyproject.toml'} {why} yet: the hook does nothing.")
    return DONE


@app.command()
def uninstall() -> int:
    """Remove the hook and restore the previous one."""
    for line in git_hook.uninstall(git.top(here())):
        say(line)
    return DONE


@app.command()
def run(
    files: list[Path] | None = argument("FILE", "Files to check (default: the staged files)", None),
) -> int:
    """Apply the rules to the staged files; print the diff and exit 1 if a rule changes one."""
    from specedit.integrations.hook.hook_rules import CleanFiles
    from specedit.integrations.hook.staged import HookRun
    from specedit.models.store import store_path
    from specedit.server.connect import connect

    root = git.top(here())
    rules, settings, why = _rules(root)
    if not rules:
        say(f"this repository's pyproject.toml {why}")
        return DONE
    entries = git.indexed(root, git.from_top(root, files)) if files else git.staged_files(root)
    entries = [entry for entry in entries if any(rule.wants(entry.name) for rule in rules)]
    backend = connect(settings)
    try:
        clean = CleanFiles(store_path(), settings)
        return _report(HookRun(root, rules, backend, settings, clean), entries)
    finally:
        backend.close()


def _report(run: HookRun, entries: Sequence[git.Staged]) -> int:
    """Show the events as they come, then a summary; returns the exit code."""
    from rich.console import Console

    from specedit.integrations.hook.staged import FileNote, StepResult
    from specedit.view.live import Live

    lines: list[str] = []
    code, fixed = DONE, False
    console = Console(stderr=True, highlight=False)
    with Live(console, [entry.name for entry in entries]) as live:
        for file, item in run.items(entries):
            match item:
                case StepResult():
                    live.finish(file)
                    _show(item.edit)
                    code = max(code, WOULD_CHANGE if item.edit.changed else FAILED)
                    lines += _about(item)
                case FileNote():
                    fixed = fixed or item.fixed
                    lines.append(name(f"{file}: {item.text}"))
                case _:
                    live.event(file, item)
    for line in lines:
        say(line)
    if fixed:
        say("review the changes, stage them (git add), then commit again")
    if code == FAILED:
        say("git commit --no-verify skips the hook")
    return code


def _about(result: StepResult) -> list[str]:
    from specedit.integrations.hook.hook_rules import CHECK, FIX

    edit, head = result.edit, name(result.edit.path)
    step = name(result.step.title)
    if edit.changed:
        mode = "check: not written" if result.mode == CHECK else FIX
        return [f"{head}: “{step}”: +{edit.added} -{edit.removed} ({mode})"]
    saved = [f"{head}: the answer is kept in {edit.kept}"] if edit.kept else []
    return [f"{head}: “{step}”: {problem}" for problem in edit.problems] + saved


def _show(edit: Edit) -> None:
    """The diff on stdout: coloured on a terminal, else a patch."""
    if not sys.stdout.isatty():
        put(edit.diff if edit.changed else "")
    elif edit.changed:
        from rich.console import Console

        from specedit.view import diff_view

        diff_view.show(Console(highlight=False), edit)
