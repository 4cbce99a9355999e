"""`specedit config`: each setting, its value and where it came from; `--user`: the user's own."""

from __future__ import annotations

from typing import Annotated

import typer

from specedit.cli.options import settings_options
from specedit.files import regular
from specedit.settings import Resolved


@settings_options("json")
def config(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="One setting; with --user, NAME=VALUE sets it"),
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
    from specedit.errors import UsageError
    from specedit.settings import names, nearest

    if user:
        return _user(name, unset, resolved)
    if unset or (name is not None and "=" in name):
        raise UsageError("Only --user settings are set from here.", hint="specedit config --user …")
    rows = list(resolved.rows())
    if name is not None:
        rows = [row for row in rows if row[0] == name.replace("-", "_")]
        if not rows:
            raise UsageError(f"There is no setting {name!r}.", hint=nearest(name, names()))
    if resolved.values.json:
        import json

        from specedit.settings.table import about

        results = {
            key: {"value": value, "from": origin, "kind": about(key)["kind"]}
            for key, value, origin, _ in rows
        }
        typer.echo(json.dumps(results, indent=2))
        return 0
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("setting", "value", "from", "what it is", box=None, pad_edge=False)
    for key, value, origin, help in rows:
        # Text: what stands in a file is no markup of ours
        table.add_row(key, Text(_seen(_shown(value))), Text(_seen(origin)), Text(help))
    Console().print(table)
    return 0


def _seen(text: str) -> str:
    """Harmless on a terminal; a byte that is no character stays the byte it is in a file's name."""
    from specedit.view.terminal import name

    return "".join(c if "\udca0" <= c <= "\udcff" else name(c) for c in text)


def _user(wanted: str | None, unset: bool, resolved: Resolved) -> int:
    """The user's own file: shown as it is, or with one value changed."""
    import sys

    from specedit.cli.output import put
    from specedit.errors import UsageError
    from specedit.settings import checked, names, nearest
    from specedit.settings.checks import parsed
    from specedit.settings.folder import no_rules, set_user, user_file, user_values
    from specedit.settings.paths import own

    name, item, text = (wanted or "").partition("=")
    name = name.strip().replace("-", "_")
    if name and name not in names():
        raise UsageError(f"There is no setting {name!r}.", hint=nearest(name, names()))
    if unset and (item or not name):
        raise UsageError("--unset takes the NAME of a setting.")
    path = user_file()
    if item or unset:
        value = None
        if item:
            no_rules({name: text}, str(path))
            value = own(name, checked(name, parsed(name, text, "--user"), "--user"), "--user")
        set_user(name, value)
        message = f"{name} = {_shown(value)}" if item else f"{name} taken out"
        print(f"specedit: {path}: {message}", file=sys.stderr)
        return 0
    result = user_values()
    if name:
        put(f"{_shown(result[name])}\n" if name in result else "")
    elif resolved.values.json:
        import json

        put(json.dumps({"path": str(path), "values": result}, indent=2) + "\n")
    else:
        put(f"# {path}\n" + (regular.read(path).decode("utf-8-sig") if path.exists() else ""))
    return 0


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"{len(value)} rules"
    return str(value) if value != "" else "-"
