"""`specedit trust [PATH]`, `--list`, `--forget`: which repositories the user trusts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specedit.errors import DONE
from specedit.view.terminal import name

if TYPE_CHECKING:
    from specedit.settings.layers import Repository


def trust(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]", help="A path in the repository (default: the current folder)"
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the repositories that you trust")
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Stop trusting the repository")] = False,
) -> int:
    """Trust the restricted settings (server, model, …) in a repository's pyproject.toml, until the
    file's settings change."""
    from specedit.errors import UsageError
    from specedit.settings import here

    if listed:
        if path is not None or forget:
            raise UsageError("--list takes no other argument.")
        return _list()
    place = here() if path is None else path
    if forget:
        return _forget(place)
    return _trust(place)


def _trust(place: Path) -> int:
    from specedit.errors import UsageError
    from specedit.settings import layers, trust

    if not place.exists():
        raise UsageError(f"{place} does not exist.")
    result = layers.repository(place if place.is_dir() else place.parent)
    if result is None or not result.restricted:
        where = result.pyproject if result else f"no pyproject.toml at or above {place}"
        _say(f"{where}: has no restricted settings")
        return DONE
    trust.decide(result.folder, result.digest, trusted=True)
    _say(f"trusted, as it is now: {result.pyproject}")
    _show(result)
    return DONE


def _show(found: Repository) -> None:
    from specedit.cli.consent import restricted_lines

    for line in restricted_lines(found):
        print(f"    {line}", file=sys.stderr)
    if "server" in found.restricted:
        print(
            "  Files go to that server, but no key: only a server that you name yourself gets one "
            "(specedit config --user server=URL).",
            file=sys.stderr,
        )


def _forget(place: Path) -> int:
    from specedit.settings import find_pyproject, trust

    near = find_pyproject(place) if place.is_dir() else None
    at = near.parent if near else place
    known = trust.forget(at)
    _say(f"{at}: {'forgotten' if known else 'was not trusted'}")
    return DONE


def _list() -> int:
    from specedit.cli.output import put
    from specedit.errors import SpeceditError
    from specedit.settings import layers, trust

    for place, decision in sorted(trust.decisions().items()):
        state = trust.TRUSTED if decision.trusted else trust.DECLINED
        try:
            result = layers.repository(Path(place)) if Path(place).is_dir() else None
        except SpeceditError:
            result = None
        if result is None or trust.key(result.folder) != place:
            state += ", gone"
        elif result.digest != decision.digest:
            state += ", changed since"
        put(f"{place}\t{state}\n")
    return DONE


def _say(text: str) -> None:
    print(f"specedit: {name(text)}", file=sys.stderr)
