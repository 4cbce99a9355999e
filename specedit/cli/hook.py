"""`specedit hook install | uninstall | run`"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from specedit.cli.options import argument, settled
from specedit.cli.streams import say
from specedit.errors import DONE, FAILED, UsageError
from specedit.files import git
from specedit.integrations import hook as git_hook
from specedit.settings import Settings, here

if TYPE_CHECKING:
    from specedit.integrations.hook.hook_rules import Rule

app = typer.Typer(help="Apply the rules of pyproject.toml to every commit.", no_args_is_help=True)


def _rules(root: Path) -> tuple[list[Rule], Settings, str]:
    """The rules, the settings, and the reason if there are no rules. Only the pyproject.toml at
    `root` counts, not that of a repository around it."""
    from specedit.integrations.hook.hook_rules import rules

    resolved = settled(start=root)
    pyproject, values = resolved.pyproject, resolved.values
    if pyproject is None or pyproject.parent.resolve() != root.resolve():
        return [], resolved.values, "has no [[tool.specedit.hook]]"
    why = "is not trusted" if "hook" in resolved.ignored else "has no [[tool.specedit.hook]]"
    return rules(values.hook, str(pyproject)), values, why


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
    """Apply the rules to the staged files. If a rule changes one, the diff is printed, and the exit
    code is 1."""
    from specedit.connect import connect
    from specedit.integrations.hook.hook_rules import CleanFiles
    from specedit.integrations.hook.staged import HookDisplay, HookRun
    from specedit.models.store import store_path

    root = git.top(here())
    rules, settings, why = _rules(root)
    if not rules:
        say(f"this repository's pyproject.toml {why}")
        return DONE
    names = git.from_top(root, files or ())
    entries = git.indexed(root, names) if files else git.staged_files(root)
    for name in {*names} - {entry.name for entry in entries}:
        if not (root / name).is_symlink():
            raise UsageError(f"{name} is not a file in git's index.", hint="git add puts it there.")
    entries = [entry for entry in entries if any(rule.wants(entry.name) for rule in rules)]
    with (
        closing(connect(settings)) as backend,
        HookDisplay([entry.name for entry in entries]) as display,
    ):
        clean = CleanFiles(store_path(), settings)
        HookRun(root, rules, backend, settings, clean, display).run(entries)
    for line in display.lines:
        say(line)
    if display.rewritten:
        say("review the changes, stage them (git add), then commit again")
    if display.code == FAILED:
        say("git commit --no-verify skips the hook")
    return display.code
