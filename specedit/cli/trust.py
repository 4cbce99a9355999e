"""`specedit trust [PATH]`, `--list`, `--forget`; and the settings of every command, which ask the
user at a terminal whether to trust a repository's restricted settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from specedit.cli.streams import put, say
from specedit.errors import DONE, SpeceditError, UsageError
from specedit.settings import Resolved, checked, find_pyproject, folder, here, layers, resolve
from specedit.settings.checks import shown
from specedit.settings.layers import Repository
from specedit.view.terminal import name


def settled(
    flags: Mapping[str, Any] | None = None, *, start: Path | None = None, asks: bool = False
) -> Resolved:
    """The settings of a command. If restricted settings of the repository are ignored, the user is
    asked at the terminal (if this command `asks`), or one line says so. Only the user's own `quiet`
    hides it."""
    resolved = resolve(flags, start=start)
    if not resolved.ignored or resolved.values.quiet:
        return resolved
    if asks and sys.stdin.isatty() and sys.stderr.isatty() and _trusted_now(resolved.repository):
        return settled(flags, start=start)
    say(name(resolved.ignored_note))
    return resolved


def restricted_lines(repository: Repository) -> list[str]:
    """The repository's restricted settings, a line each, with control characters made visible."""
    values = repository.values
    return [name(f"{n} = {_value(n, values[n])}") for n in repository.restricted]


def _value(setting: str, value: object) -> str:
    try:
        value = checked(setting, value, "")
    except UsageError:
        return f"{shown(value)} (not valid)"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _trusted_now(repository: Repository | None) -> bool:
    """Ask once; the answer is recorded until the settings change."""
    if repository is None or repository.state == folder.DECLINED:
        return False
    changed = " and has changed since you trusted it" if repository.state == folder.CHANGED else ""
    say(name(f"{repository.pyproject} has restricted settings{changed}:"))
    for line in restricted_lines(repository):
        print(f"    {line}", file=sys.stderr)
    print("  Trust this repository? [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        print(file=sys.stderr)
        return False
    trusted = answer.strip().lower() in ("y", "yes")
    folder.decide(repository.folder, repository.digest, trusted=trusted)
    return trusted


def trust(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH", help="A path in the repository (default: the current folder)"
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the repositories that you trust")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Stop trusting the repository")] = False,
) -> int:
    """Trust the restricted settings (server, model, …) in a repository's pyproject.toml, until the
    file's settings change."""
    if listed:
        if path is not None or forget:
            raise UsageError("--list cannot be combined with a path or --forget.")
        _list()
    elif forget:
        _forget(path or here())
    else:
        _trust(path or here())
    return DONE


def _trust(place: Path) -> None:
    if not place.exists():
        raise UsageError(f"{place} does not exist.")
    repository = layers.repository(place if place.is_dir() else place.parent)
    if repository is None or not repository.restricted:
        where = repository.pyproject if repository else f"no pyproject.toml at or above {place}"
        say(name(f"{where}: has no restricted settings"))
        return
    folder.decide(repository.folder, repository.digest, trusted=True)
    say(name(f"trusted, as it is now: {repository.pyproject}"))
    for line in restricted_lines(repository):
        print(f"    {line}", file=sys.stderr)
    if "server" in repository.restricted:
        print(
            "  Files go to that server, but no key: only a server that you name yourself gets one "
            "(specedit config --user server=URL).",
            file=sys.stderr,
        )


def _forget(place: Path) -> None:
    pyproject = find_pyproject(place) if place.is_dir() else None
    root = pyproject.parent if pyproject else place
    say(name(f"{root}: {'forgotten' if folder.forget(root) else 'was not trusted'}"))


def _list() -> None:
    for place, decision in sorted(folder.decisions().items()):
        state = folder.TRUSTED if decision.trusted else folder.DECLINED
        try:
            repository = layers.repository(Path(place)) if Path(place).is_dir() else None
        except SpeceditError:
            repository = None
        if repository is None or os.path.realpath(repository.folder) != place:
            state += ", gone"
        elif repository.digest != decision.digest:
            state += ", changed since"
        put(f"{place}\t{state}\n")
