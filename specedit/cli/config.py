"""`specedit config`: each setting, its value and where it came from (`--user`: the user's own);
`specedit doctor`: what works on this machine; `specedit trust`: which repositories are trusted;
`specedit view TRACE`: one self-contained HTML page of a run; `specedit help`: the manual.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import asdict
from pathlib import Path

import typer

from specedit.cli.options import AsJson, argument, flag, option, restricted_lines, settings_options
from specedit.cli.streams import put, put_object, say
from specedit.errors import DONE, FAILED, InputError, SpeceditError, UsageError
from specedit.settings import Settings, checked, find_pyproject, here, layers, names, nearest
from specedit.settings.table import entries
from specedit.view.terminal import between_words, show_page, show_table
from specedit.view.terminal import name as visible


@settings_options("json")
def config(
    name: str | None = argument("NAME", "One setting; with --user, NAME=VALUE sets it", None),
    user: bool = flag("--user", "Show or change your own settings, which apply in every folder"),
    every: bool = flag("--all", "Print all settings, not only those that users set most"),
    unset: bool = flag("--unset", "Remove NAME from your settings (with --user)"),
    *,
    settings: Settings,
) -> int:
    """Print each setting, its value and where it comes from."""
    wanted, equals, value = (name or "").partition("=")
    wanted = wanted.strip().replace("-", "_")
    if not user and (unset or equals):
        raise UsageError(
            "NAME=VALUE needs --user: only your own settings can be changed here.",
            hint="specedit config --user …",
        )
    if name is not None and wanted not in names():
        raise UsageError(f"There is no setting {wanted!r}.", hint=nearest(wanted, names()))
    if unset and (equals or not wanted):
        raise UsageError("--unset needs the NAME of a setting.")
    if equals or unset:
        _change(wanted, value if equals else None)
    elif user:
        _show_user(wanted, as_json=settings.json)
    else:
        _show(wanted, settings, every=every)
    return 0


# What users set most
USUAL = (
    *("model", "weights", "threads", "server", "scope"),
    *("test", "tries", "check_with", "allow", "ask"),
)


def _show(wanted: str, settings: Settings, *, every: bool) -> None:
    rows = [row for row in settings.rows() if not wanted or row[0] == wanted]
    if settings.json:
        put_object(
            {
                key: {"value": value, "from": origin, "kind": entries()[key]["kind"]}
                for key, value, origin, _ in rows
            }
        )
        return
    if not (wanted or every):
        usual = [row for row in rows if row[0] in USUAL or row[2] != "default"]
        rows = sorted(usual, key=lambda row: (*USUAL, row[0]).index(row[0]))
        if sys.stdout.isatty():
            say("specedit config --all prints the other settings, too")
    cells = (
        [key, *map(_visible, (_shown(value), origin)), text] for key, value, origin, text in rows
    )
    show_table(("setting", "value", "from", "what it is"), cells)


def _show_user(wanted: str, *, as_json: bool) -> None:
    """The user's own file as it is, or one value of it."""
    from specedit.files import regular

    path, values = layers.user_file(), layers.user_values()
    if wanted:
        put(f"{_shown(values[wanted])}\n" if wanted in values else "")
    elif as_json:
        put_object({"path": str(path), "values": values})
    else:
        put(f"# {path}\n" + (regular.read(path).decode("utf-8-sig") if path.exists() else ""))


def _change(name: str, text: str | None) -> None:
    """Set one value of the user's own file; None: remove it."""
    from specedit.settings.table import own, parsed

    path, value = layers.user_file(), None
    if text is not None:
        layers.no_rules({name: text}, str(path))
        value = own(name, checked(name, parsed(name, text, "--user"), "--user"), "--user")
    layers.set_user(name, value)
    say(f"{path}: {name} " + ("removed" if text is None else f"= {_shown(value)}"))


def _visible(text: str) -> str:
    """Harmless on a terminal; a byte of a file's name that is not UTF-8 stays that byte."""
    return "".join(c if "\udca0" <= c <= "\udcff" else visible(c) for c in text)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"{len(value)} rules"
    return str(value) if value != "" else "-"


def doctor(as_json: AsJson = False) -> int:
    """Show what works on this machine, and what to do. The exit code is 2 if edits fail."""
    from specedit.machine_check import STOPS, lines

    facts = list(lines())
    works = all(line.state != STOPS for line in facts)
    if as_json:
        put_object({"works": works, "lines": [asdict(line) for line in facts]})
    else:
        for line in facts:
            rows = (f"{line.state:<6} {line.topic:<10} {line.text}", f"{'':18}{line.advice}")
            for row in rows[: 1 + bool(line.advice)]:
                put(f"{between_words(row, sys.stdout, 18)}\n")
    return DONE if works else FAILED


def trust(
    path: Path | None = argument(
        "PATH", "A path in the repository (default: the current folder)", None
    ),
    listed: bool = flag("--list", "List the repositories that you trust"),
    forget: bool = flag("--forget", "Stop trusting the repository"),
) -> int:
    """Trust a repository's restricted settings. The trust ends when its settings change."""
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
        say(visible(f"{where}: has no restricted settings"))
        return
    layers.decide(repository.folder, repository.digest, trusted=True)
    say(visible(f"trusted, as it is now: {repository.pyproject}"))
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
    say(visible(f"{root}: {'forgotten' if layers.forget(root) else 'was not trusted'}"))


def _list() -> None:
    for place, decision in sorted(layers.decisions().items()):
        state = layers.TRUSTED if decision.trusted else layers.DECLINED
        try:
            repository = layers.repository(Path(place)) if Path(place).is_dir() else None
        except SpeceditError:
            repository = None
        if repository is None or os.path.realpath(repository.folder) != place:
            state += ", gone"
        elif repository.digest != decision.digest:
            state += ", changed since"
        put(f"{place}\t{state}\n")


def view(
    trace: str = argument("TRACE", "A file of --trace"),
    output: str | None = option(
        None, "Write the page to this file; `-` is stdout", "-o", "--output", metavar="PAGE.html"
    ),
) -> int:
    """Make an HTML page of a trace, and print its path."""
    from specedit.files import atomic, regular
    from specedit.view.trace import GENERATOR, page, read

    source = Path(trace)
    text = page(read(source))
    if output == "-":
        put(text)
        return DONE
    target = Path(output) if output else source.with_suffix(".html")
    hint = "-o names another file for the page."
    if target.exists():
        start = regular.read(target)[:2000].decode("utf-8", "replace")
        if GENERATOR not in start:
            raise InputError(
                f"{target}: exists and was not made by specedit; nothing was written", hint=hint
            )
    mode = stat.S_IMODE(source.stat().st_mode) & 0o666  # readable as its trace is
    try:
        atomic.whole(target, text.encode("utf-8"), mode)
    except OSError as error:
        raise InputError(
            f"{target}: the page cannot be written: {error.strerror}", hint=hint
        ) from error
    typer.echo(target)
    return DONE


def help(
    topic: str | None = argument(
        None, "A page of the manual, or a command", None, show_default=False
    ),
) -> int:
    """Show a page of the manual, or the list of its topics."""
    from specedit import manual

    if topic is not None:
        show_page(manual.page(manual.topic(topic)))
        return DONE
    topics = manual.listing()
    width = max(len(known) for known, _ in topics)
    print("specedit help TOPIC shows a page of the manual:\n")
    for known, subject in topics:
        print(f"  {known:<{width}}  {subject}")
    print("\nspecedit COMMAND --help lists the flags of a command.")
    return DONE
