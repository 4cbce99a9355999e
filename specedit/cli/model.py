"""`specedit model list | suggest | pull | verify | path | remove`: what is in the store.

Reads flags, shows what `models` yields. Paths and JSON go to stdout, the rest to stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


app = typer.Typer(
    help="List, fetch and remove models.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Catalogue name or hub id (default: the model in use)"),
]


@app.command("list")
def list_models(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array on stdout")] = False,
) -> None:
    """List the known models: size, licence, digest, and whether each is installed."""
    from specedit.models import inventory, store

    root = store.store_path()
    rows = list(inventory.items(root))
    if as_json:
        results = [_plain(item) for item in rows]
        print(json.dumps(results, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("name", "size", "state", "licence", "sha-256", "source"):
        table.add_column(heading, no_wrap=heading in ("name", "size"))
    for item in rows:
        state = {"absent": "-", "part": f"{item.have * 100 // item.size} %"}
        name = f"{item.name} *" if item.name == _in_use() else item.name
        cells = (
            store.sized(item.size),
            state.get(item.state, item.state),
            item.licence,
            item.sha256[:12] if item.pinned else f"not pinned {item.sha256[:12]}".strip(),
        )
        table.add_row(name, *cells, item.source)
    out = Console(highlight=False)
    Console(highlight=False, width=out.width if out.is_terminal else 200).print(table)
    _console().print(f"* in use. Store: {root}", markup=False)


@app.command()
def suggest(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on stdout")
    ] = False,
) -> None:
    """Name the model that suits this machine's memory and cores."""
    from specedit.engines.exact.cores import physical_cores
    from specedit.models import store
    from specedit.models import suggest as models

    machine = models.this_machine(physical_cores())
    rows = models.rows(machine)
    best = models.best(rows)
    if as_json:
        print(json.dumps(_suggested(rows, best, machine), indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    headings = ("name", "parameters", "download", "memory", "licence", "")
    for heading in headings:
        right = heading in headings[1:4]
        table.add_column(heading, justify="right" if right else "left", no_wrap=heading != "")
    for row in rows:
        entry = row.entry
        messages = [] if row.fits else ["too large for this machine"]
        messages += [] if entry.pinned else ["not pinned"]
        table.add_row(
            f"{entry.name} *" if row is best else entry.name,
            f"{entry.parameters:.1f} billion",
            store.sized(entry.size),
            store.sized(entry.memory),
            entry.licence,
            "; ".join([*messages, *([entry.note] if entry.note else [])]),
        )
    out = Console(highlight=False)
    Console(highlight=False, width=out.width if out.is_terminal else 200).print(table)
    memory = f"{store.sized(machine.memory)} of memory, " if machine.memory else ""
    _console().print(
        f"* suits this machine: {memory}{machine.cores} cores. An edit takes as many times longer "
        f'as the model is larger. Choose it with `model = "{best.entry.name}"` in your settings, '
        "or --model.",
        markup=False,
    )


def _suggested(rows: Any, best: Any, machine: Any) -> dict[str, Any]:
    """The one object of `suggest --json`."""
    return {
        "suggested": best.entry.name,
        "memory": machine.memory or None,
        "cores": machine.cores,
        "rows": [
            {
                "name": row.entry.name,
                "parameters": round(row.entry.parameters * 1e9),
                "size": row.entry.size,
                "memory": row.entry.memory,
                "fits": row.fits,
                "licence": row.entry.licence,
                "pinned": row.entry.pinned,
                "hub": row.entry.hub,
                "note": row.entry.note or None,
                "suits": row.suits,
            }
            for row in rows
        ],
    }


def _plain(item: Any) -> dict[str, Any]:
    rest = {key: value for key, value in asdict(item).items() if key != "slot"}
    path = str(item.slot.path) if item.state == "here" else None
    return {**rest, "path": path, "in_use": item.name == _in_use()}


@app.command()
def pull(name: Name = None) -> None:
    """Fetch a model. An interrupted download continues."""
    from specedit.models import resolve
    from specedit.models.store import ModelFiles, size_of, sized

    console = _console()
    here = resolve.local(name or _in_use())
    try:
        files = here or _watched(resolve.resolve(name or _in_use()), console)
    except KeyboardInterrupt:
        console.print("interrupted; what was fetched is kept, the next pull goes on from there")
        raise
    assert isinstance(files, ModelFiles)
    message = "is already here" if here else "is here"
    console.print(
        f"{files.name} {message}: {files.path} ({sized(size_of(files.path))})", markup=False
    )


@app.command()
def verify(name: Name = None) -> None:
    """Compare a model with its digest again, and read its converted weights."""
    from specedit.engines.exact import conversion
    from specedit.models import inventory, store

    root = store.store_path()
    if name:
        chosen = [inventory.find(name, root)]
    else:
        chosen = [item for item in inventory.items(root) if item.state == "here"]
    console = _console()
    for item in chosen:
        _watched(inventory.verify(item), console)
        console.print(f"{item.name} is whole: SHA-256 {item.sha256}", markup=False)
        for path, wrong in conversion.verify(root, item.sha256):
            gone = f"was deleted, and the next edit makes it again: {wrong}"
            console.print(f"{path} {gone if wrong else 'is whole'}", markup=False)
    if not chosen:
        console.print(f"no model in {root}", markup=False)


@app.command()
def path(name: Name = None) -> None:
    """Print the path of a model."""
    from specedit.errors import ModelError
    from specedit.models import resolve

    wanted = name or _in_use()
    files = resolve.local(wanted)
    if files is None:
        raise ModelError(
            f"{wanted} is not on this machine", hint=f"Fetch it: specedit model pull {wanted}"
        )
    print(files.path)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name as in `specedit model list`")],
) -> None:
    """Delete a model, its unfinished download, and everything made from it."""
    from specedit.models import inventory, store

    item = inventory.find(name, store.store_path())
    freed = inventory.remove(item)
    message = (
        f"removed {item.name}: {store.sized(freed)} freed" if freed else f"{item.name}: not here"
    )
    _console().print(message, markup=False)


def _in_use() -> str:
    from specedit.cli.consent import settled

    return settled().values.model


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def _watched(steps: Iterator[Any], console: Console) -> Any:
    """Show a bar while anything is fetched or hashed; returns the last step that is a result."""
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.table import Column

    from specedit.models.download import FetchProgress

    def fixed() -> Column:
        return Column(no_wrap=True)

    columns = (
        TextColumn("{task.description}", table_column=fixed()),
        BarColumn(bar_width=None, table_column=Column(ratio=1, min_width=8, max_width=40)),
        DownloadColumn(table_column=fixed()),
        TransferSpeedColumn(table_column=fixed()),
        TimeRemainingColumn(compact=True, table_column=fixed()),
    )
    last: Any = None
    with Progress(
        *columns, console=console, transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        shown: tuple[str, str] | None = None
        task = bar.add_task("", total=None, visible=False)
        for step in steps:
            if not isinstance(step, FetchProgress):
                last = step
                continue
            if step.note:
                bar.console.print(f"{step.name}: {step.note}", markup=False)
            if shown != (step.stage, step.source):  # a new rate for every stage
                shown = (step.stage, step.source)
                bar.remove_task(task)
                task = bar.add_task(step.title, total=step.total, completed=step.done)
            bar.update(task, completed=step.done)
    return last
