"""`specedit config`: each setting, its value and where it came from."""

from __future__ import annotations

from typing import Annotated

import typer

from specedit.cli.options import settings_options
from specedit.settings import Resolved


@settings_options("json")
def config(
    name: Annotated[str | None, typer.Argument(help="one setting only")] = None,
    *,
    resolved: Resolved,
) -> int:
    """Print each setting, its value and where it came from."""
    from specedit.errors import UsageError
    from specedit.settings import names, nearest

    rows = list(resolved.rows())
    if name is not None:
        rows = [row for row in rows if row[0] == name.replace("-", "_")]
        if not rows:
            raise UsageError(f"There is no setting {name!r}.", hint=nearest(name, names()))
    if resolved.values.json:
        import json

        found = {key: {"value": value, "from": origin} for key, value, origin, _ in rows}
        typer.echo(json.dumps(found, indent=2))
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table("setting", "value", "from", "what it is", box=None, pad_edge=False)
    for key, value, origin, help in rows:
        table.add_row(key, _shown(value), origin, help)
    Console().print(table)
    return 0


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"{len(value)} rules"
    return str(value) if value != "" else "-"
