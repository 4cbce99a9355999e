"""`specedit hook install | uninstall | run`"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specedit.errors import DONE, FAILED, WOULD_CHANGE
from specedit.view.terminal import harmless, name

if TYPE_CHECKING:
    from specedit.files.git import Staged
    from specedit.integrations.hook.hook_rules import Rule
    from specedit.integrations.hook.staged import Fixed, Look, Objection
    from specedit.settings import Settings

app = typer.Typer(help="Rules of pyproject.toml on every commit.", no_args_is_help=True)


def _say(text: str) -> None:
    print(harmless(text), file=sys.stderr)


def _rules(root: Path) -> tuple[list[Rule], Settings, str]:
    """The rules of the repository at `root`, and why there are none; a repository around it has
    rules of its own."""
    from specedit.cli.consent import settled
    from specedit.integrations.hook.hook_rules import rules

    resolved = settled(start=root)
    result = resolved.pyproject
    if result is None or result.parent.resolve() != root.resolve():
        return [], resolved.values, "has no [[tool.specedit.hook]]"
    why = "is not trusted" if "hook" in resolved.ignored else "has no [[tool.specedit.hook]]"
    return rules(resolved.values.hook, str(result)), resolved.values, why


@app.command()
def install() -> int:
    """Call specedit before every commit of this repository."""
    from specedit.files import git
    from specedit.integrations.hook import git_hook
    from specedit.settings import here

    root = git.top(here())
    rules, _, why = _rules(root)
    for line in git_hook.install(root):
        _say(line)
    if not rules:
        _say(f"{root / 'pyproject.toml'} {why} yet: nothing is asked.")
    return DONE


@app.command()
def uninstall() -> int:
    """Take the hook away and put back the one that was there before."""
    from specedit.files import git
    from specedit.integrations.hook import git_hook
    from specedit.settings import here

    for line in git_hook.uninstall(git.top(here())):
        _say(line)
    return DONE


@app.command()
def run(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE...]", help="without files: those staged for this commit"),
    ] = None,
) -> int:
    """Look at what is staged; exit 1 with the diff when a rule would change it."""
    from specedit.backends.connect import connect
    from specedit.files import git
    from specedit.integrations.hook.clean_files import Seen
    from specedit.integrations.hook.staged import Look
    from specedit.models.store import store_path
    from specedit.settings import here

    root = git.top(here())
    rules, settings, why = _rules(root)
    if not rules:
        _say(f"specedit: this repository's pyproject.toml {why}")
        return DONE
    entries = git.indexed(root, git.from_top(root, files)) if files else git.staged_files(root)
    entries = [entry for entry in entries if any(rule.wants(entry.name) for rule in rules)]
    backend = connect(settings)
    try:
        return _over(Look(root, rules, backend, settings, Seen(store_path(), settings)), entries)
    finally:
        backend.close()


def _over(look: Look, entries: Sequence[Staged]) -> int:
    """Show what is found as it is found; then what a person has to know, and the exit code."""
    from rich.console import Console

    from specedit.integrations.hook.staged import Asked, Fixed, Left, Objection
    from specedit.view.live import Live

    messages: list[str] = []
    code, fixed = DONE, 0
    console = Console(stderr=True, highlight=False)
    with Live(console, [entry.name for entry in entries]) as live:
        for item in look.over(entries):
            match item:
                case Asked():
                    live.event(item.name, item.event)
                    continue
                case Objection():
                    live.finish(item.edit.path)
                    _show(item)
                    code = max(code, WOULD_CHANGE if item.edit.changed else FAILED)
                    messages += _about(item)
                case Fixed():
                    fixed += 1
                    messages.append(f"{name(item.name)}: {_fixed(item)}")
                case Left():
                    messages.append(f"{name(item.name)}: {item.why}")
    for line in messages:
        _say(f"specedit: {line}")
    if fixed:
        _say("specedit: look at the changes, stage what you want (git add), then commit again")
    if code == FAILED:
        _say("specedit: git commit --no-verify commits without asking")
    return code


def _fixed(fixed: Fixed) -> str:
    by = " and ".join(f"“{name(step.said)}”" for step in fixed.steps)
    if fixed.before:
        return f"the work tree has the change of {by} already; it is not staged"
    kept = "; its unstaged changes are kept" if fixed.partly else ""
    return f"rewritten by {by}, not staged{kept}"


def _about(finding: Objection) -> list[str]:
    from specedit.integrations.hook.hook_rules import CHECK, FIX

    edit, head = finding.edit, name(finding.edit.path)
    step = name(finding.step.said)
    if edit.changed:
        mode = "check: not written" if finding.mode == CHECK else FIX
        return [f"{head}: “{step}”: +{edit.added} -{edit.removed} ({mode})"]
    kept = [f"{head}: the answer is kept in {edit.kept}"] if edit.kept else []
    return [f"{head}: “{step}”: {problem}" for problem in edit.problems] + kept


def _show(finding: Objection) -> None:
    """The diff, on stdout: for a person's eyes on a terminal, a patch anywhere else."""
    edit = finding.edit
    if not edit.changed:
        return
    if sys.stdout.isatty():
        from rich.console import Console

        from specedit.view import diff

        diff.show(Console(highlight=False), edit)
        return
    from specedit.cli.output import put

    put(edit.diff)
