"""`specedit config`: each setting, its value and where it came from (`--user`: the user's own);
`specedit doctor`: what works on this machine.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from specedit.cli.options import AsJson, settings_options
from specedit.cli.streams import put, put_object, say
from specedit.errors import DONE, FAILED, UsageError
from specedit.settings import Resolved, checked, names, nearest
from specedit.settings.table import about


@settings_options("json")
def config(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="One setting; with --user, NAME=VALUE sets it"),
    ] = None,
    user: Annotated[
        bool,
        typer.Option(
            "--user", help="Show or change your own settings, which apply in every folder"
        ),
    ] = False,
    unset: Annotated[
        bool, typer.Option("--unset", help="Remove NAME from your settings (with --user)")
    ] = False,
    *,
    resolved: Resolved,
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
        _show_user(wanted, as_json=resolved.values.json)
    else:
        _show(wanted, resolved)
    return 0


def _show(wanted: str, resolved: Resolved) -> None:
    rows = [row for row in resolved.rows() if not wanted or row[0] == wanted]
    if resolved.values.json:
        put_object(
            {
                key: {"value": value, "from": origin, "kind": about(key)["kind"]}
                for key, value, origin, _ in rows
            }
        )
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("setting", "value", "from", "what it is", box=None, pad_edge=False)
    for key, value, origin, help in rows:  # Text: a file's content has no markup
        table.add_row(key, Text(_visible(_shown(value))), Text(_visible(origin)), Text(help))
    Console().print(table)


def _show_user(wanted: str, *, as_json: bool) -> None:
    """The user's own file as it is, or one value of it."""
    from specedit.files import regular
    from specedit.settings.folder import user_file, user_values

    path, values = user_file(), user_values()
    if wanted:
        put(f"{_shown(values[wanted])}\n" if wanted in values else "")
    elif as_json:
        put_object({"path": str(path), "values": values})
    else:
        put(f"# {path}\n" + (regular.read(path).decode("utf-8-sig") if path.exists() else ""))


def _change(name: str, text: str | None) -> None:
    """Set one value of the user's own file; None: remove it."""
    from specedit.settings.checks import own, parsed
    from specedit.settings.folder import no_rules, set_user, user_file

    path, value = user_file(), None
    if text is not None:
        no_rules({name: text}, str(path))
        value = own(name, checked(name, parsed(name, text, "--user"), "--user"), "--user")
    set_user(name, value)
    say(f"{path}: {name} " + ("removed" if text is None else f"= {_shown(value)}"))


def _visible(text: str) -> str:
    """Harmless on a terminal; a byte of a file's name that is not UTF-8 stays that byte."""
    from specedit.view.terminal import name

    return "".join(c if "\udca0" <= c <= "\udcff" else name(c) for c in text)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"{len(value)} rules"
    return str(value) if value != "" else "-"


def doctor(as_json: AsJson = False) -> int:
    """Show what works on this machine, and what to do where it does not; exit 2 if edits fail."""
    from specedit.machine_check import STOPS, lines

    facts = list(lines())
    works = all(line.state != STOPS for line in facts)
    if as_json:
        put_object({"works": works, "lines": [asdict(line) for line in facts]})
    else:
        for line in facts:
            put(f"{line.state:<6} {line.topic:<10} {line.text}\n")
            if line.advice:
                put(f"{'':18}{line.advice}\n")
    return DONE if works else FAILED
