"""What a repository says beyond taste: asked of the person who is there, else said to be ignored.

The one door to the settings for every command. Knows the terminal; what is trusted and what it is
bound to is `specedit.settings.trust`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specedit.errors import UsageError
from specedit.settings import Resolved, checked, resolve
from specedit.settings.checks import shown
from specedit.text.terminal import name


def settled(
    flags: Mapping[str, Any] | None = None, *, start: Path | None = None, asks: bool = False
) -> Resolved:
    """The settings. Where the repository would need trust for what it says, a person at the
    terminal is asked (if this command `asks`), or one line says what is ignored: only the user's
    own `quiet` keeps it back, for a repository's is ignored too."""
    resolved = resolve(flags, start=start)
    if not resolved.ignored or resolved.values.quiet:
        return resolved
    if asks and _undecided(resolved) and _somebody() and _asked(resolved):
        return settled(flags, start=start)
    _say(resolved.in_vain)
    return resolved


def wishes(resolved: Resolved) -> list[str]:
    """What the repository says beyond taste, a line each, harmless to show."""
    said = resolved.repository
    return [name(f"{n} = {_shown(n, said.values[n])}") for n in said.power] if said else []


def _undecided(resolved: Resolved) -> bool:
    from specedit.settings.trust import DECLINED

    return resolved.repository is not None and resolved.repository.state != DECLINED


def _somebody() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asked(resolved: Resolved) -> bool:
    """Ask once; the answer is kept until the table changes."""
    from specedit.settings import trust

    said = resolved.repository
    assert said is not None
    changed = ", and has changed since you trusted it" if said.state == trust.CHANGED else ""
    _say(f"{said.pyproject} says what is yours to say{changed}:")
    for line in wishes(resolved):
        print(f"    {line}", file=sys.stderr)
    print("  Trust this repository with it? [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        print(file=sys.stderr)
        return False
    trusted = answer.strip().lower() in ("y", "yes")
    trust.say(said.folder, said.digest, trusted=trusted)
    return trusted


def _shown(setting: str, value: object) -> str:
    try:
        value = checked(setting, value, "")
    except UsageError:
        return f"{shown(value)} (not valid)"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _say(text: str) -> None:
    print(f"specedit: {name(text)}", file=sys.stderr)
