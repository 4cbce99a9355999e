"""The settings of a command, and the question whether to trust a repository's restricted ones.

Every command takes its settings from here. Without a terminal one line says what is ignored.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specedit.errors import UsageError
from specedit.settings import Resolved, checked, resolve
from specedit.settings.checks import shown
from specedit.settings.layers import Repository
from specedit.view.terminal import name


def settled(
    flags: Mapping[str, Any] | None = None, *, start: Path | None = None, asks: bool = False
) -> Resolved:
    """The settings. If restricted settings of the repository are ignored, the user is asked at the
    terminal (if this command `asks`), or one line says so. Only the user's own `quiet` hides it."""
    resolved = resolve(flags, start=start)
    if not resolved.ignored or resolved.values.quiet:
        return resolved
    if asks and _undecided(resolved) and _interactive() and _trusted_now(resolved):
        return settled(flags, start=start)
    _say(resolved.ignored_note)
    return resolved


def restricted_lines(repository: Repository) -> list[str]:
    """The repository's restricted settings, a line each, with control characters made visible."""
    values = repository.values
    return [name(f"{n} = {_shown(n, values[n])}") for n in repository.restricted]


def _undecided(resolved: Resolved) -> bool:
    from specedit.settings.trust import DECLINED

    return resolved.repository is not None and resolved.repository.state != DECLINED


def _interactive() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _trusted_now(resolved: Resolved) -> bool:
    """Ask once; the answer is recorded until the table changes."""
    from specedit.settings import trust

    repository = resolved.repository
    assert repository is not None
    changed = " and has changed since you trusted it" if repository.state == trust.CHANGED else ""
    _say(f"{repository.pyproject} has restricted settings{changed}:")
    for line in restricted_lines(repository):
        print(f"    {line}", file=sys.stderr)
    print("  Trust this repository? [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        print(file=sys.stderr)
        return False
    trusted = answer.strip().lower() in ("y", "yes")
    trust.decide(repository.folder, repository.digest, trusted=trusted)
    return trusted


def _shown(setting: str, value: object) -> str:
    try:
        value = checked(setting, value, "")
    except UsageError:
        return f"{shown(value)} (not valid)"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _say(text: str) -> None:
    print(f"specedit: {name(text)}", file=sys.stderr)
