"""`specedit model list | suggest | pull | verify | path | remove`: what is in the store.

Paths, tables and JSON go to stdout, the rest to stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specedit.cli.options import AsJson, argument, settled
from specedit.cli.streams import put_object, say
from specedit.errors import ModelError
from specedit.view.terminal import show_table

if TYPE_CHECKING:
    from specedit.models.catalogue import Row

app = typer.Typer(
    help="List, fetch and remove models.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Catalogue name or hub id (default: the model in use)"),
]


@app.command("list")
def list_models(as_json: AsJson = False) -> None:
    """List the known models and what is installed."""
    from specedit.engines.exact.conversion import converted_elsewhere, kinds_of
    from specedit.models import resolve, store

    root, used = store.store_path(), model_in_use()
    items = list(resolve.items(root))
    if as_json:
        rows = []
        for item in items:
            row = {key: value for key, value in asdict(item).items() if key != "slot"}
            path = str(item.slot.path) if item.state == "here" else None
            weights = list(kinds_of(root, item.sha256)) if item.sha256 else []
            rows.append({**row, "path": path, "in_use": item.name == used, "weights": weights})
        print(json.dumps(rows, indent=2))
        return

    def cells(item: resolve.Item) -> Sequence[str]:
        state = {"absent": "-", "part": f"{item.have * 100 // item.size} %"}
        return (
            f"{item.name} *" if item.name == used else item.name,
            store.sized(item.size),
            state.get(item.state, item.state),
            ", ".join(kinds_of(root, item.sha256) if item.sha256 else ()) or "-",
            item.licence,
            item.sha256[:12],
            item.source,
        )

    headings = ("name", "size", "state", "weights", "licence", "sha-256", "source")
    show_table(headings, map(cells, items), whole=("name", "size"))
    others = converted_elsewhere(root, [item.sha256 for item in items])
    size = store.sized(sum(path.lstat().st_size for path in others))
    more = f". Converted from models elsewhere: {size} in {others[0].parent}" if others else ""
    say(f"* in use. Store: {root}{more}")


@app.command()
def suggest(as_json: AsJson = False) -> None:
    """Name the model that suits this machine's memory and cores."""
    from specedit.engines.cores import default_threads
    from specedit.models import catalogue as models
    from specedit.models import store

    machine = models.this_machine(default_threads().number)
    rows = models.rows(machine)
    best = models.best(rows)
    if as_json:
        shown = ("name", "size", "memory", "memory_int4", "licence", "hub")
        objects = [
            {
                **{key: getattr(row.entry, key) for key in shown},
                "parameters": round(row.entry.parameters * 1e9),
                "fits": row.fits,
                "note": row.entry.note or None,
                "suits": row.suits,
            }
            for row in rows
        ]
        here = {"memory": machine.memory or None, "cores": machine.cores}
        put_object({"suggested": best.entry.name, **here, "rows": objects})
        return

    def cells(row: Row) -> Sequence[str]:
        entry = row.entry
        notes = [] if row.fits_int8 else ["with weights of 4 bits here"]
        notes = notes if row.fits else ["too large for this machine"]
        return (
            f"{entry.name} *" if row is best else entry.name,
            f"{entry.parameters:.1f} billion",
            store.sized(entry.size),
            f"{store.sized(entry.memory)}, int4 {store.sized(entry.memory_int4)}",
            entry.licence,
            "; ".join(filter(None, (*notes, "untested" * entry.untested, entry.note))),
        )

    numbers = ("parameters", "download", "memory")
    headings = ("name", *numbers, "licence", "")
    show_table(headings, map(cells, rows), right=numbers, whole=headings[:-1])
    memory = f"{store.sized(machine.memory)} of memory, " if machine.memory else ""
    what = "* suits this machine" if best.fits else "* is the smallest; none fits this machine"
    say(
        f"{what}: {memory}{machine.cores} cores. An edit takes as many times longer "
        f'as the model is larger. Choose it with `model = "{best.entry.name}"` in your settings, '
        "or --model."
    )


@app.command()
def pull(name: Name = None) -> None:
    """Fetch a model. An interrupted download continues."""
    from specedit.engines.exact.shards import converting
    from specedit.models import resolve
    from specedit.models.store import ModelFiles, size_of, sized, store_path

    wanted = name or model_in_use()
    here = resolve.local(wanted)
    try:
        steps = converting(resolve.resolve(wanted), store_path(), settled().values.weights)
        files = here or _watched(steps)
    except KeyboardInterrupt:
        say("interrupted; what was fetched is kept, and the next pull continues from there")
        raise
    assert isinstance(files, ModelFiles)
    state = "is already here" if here else "is here"
    say(f"{files.name} {state}: {files.path} ({sized(size_of(files.path))})")
    _offer_drafter(files.name)


def _offer_drafter(target: str) -> None:
    """Offer the small model that drafts for a large one: a question at a terminal, else a hint."""
    from specedit.cli.targets import confirmed
    from specedit.models import catalogue, resolve
    from specedit.models.store import sized

    entry = catalogue.find(target)
    drafter = catalogue.find(entry.drafter) if entry else None
    if drafter is None:
        return
    if resolve.local(drafter.name) is None:
        what = f"{drafter.name} ({sized(drafter.size)}) drafts for it: new text comes faster"
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            say(f"{what}. Fetch it: specedit model pull {drafter.name}")
            return
        if not confirmed(f"{what}. Fetch it too?"):
            return
        _watched(resolve.resolve(drafter.name))
    say(f"Use both with --model {target} --draft-model {drafter.name}")


@app.command()
def verify(name: Name = None) -> None:
    """Check a model's SHA-256 again, and its converted weights."""
    from specedit.engines.exact import conversion
    from specedit.models import resolve, store

    root = store.store_path()
    if name:
        chosen = [resolve.find(name, root)]
    else:
        chosen = [item for item in resolve.items(root) if item.state == "here"]
    for item in chosen:
        if item.state == "elsewhere":
            say(f"{item.name} is not in the store: only what was converted from it is checked")
        else:
            _watched(resolve.verify(item))
            say(f"{item.name} is whole: SHA-256 {item.sha256}")
        for path, wrong in conversion.verify(root, item.sha256):
            deleted = f"was deleted, and the next edit makes it again: {wrong}"
            say(f"{path} {deleted if wrong else 'is whole'}")
    if not chosen:
        say(f"no model in {root}")


@app.command()
def path(name: Name = None) -> None:
    """Print the path of a model."""
    from specedit.models import resolve

    wanted = name or model_in_use()
    files = resolve.local(wanted)
    if files is None:
        raise ModelError(
            f"{wanted} is not on this machine", hint=f"Fetch it: specedit model pull {wanted}"
        )
    print(files.path)


@app.command()
def remove(
    name: str = argument("NAME", "Name as in `specedit model list`"),
) -> None:
    """Delete a model and everything made from it."""
    from specedit.models import resolve, store

    item = resolve.find(name, store.store_path())
    freed = resolve.remove(item)
    say(f"removed {item.name}: {store.sized(freed)} freed" if freed else f"{item.name}: not here")


def model_in_use() -> str:
    return settled().values.model


def _watched(steps: Iterator[Any]) -> Any:
    """Show how far a download or a check is; returns the last step that is a result."""
    from specedit.edit.backend import Loading
    from specedit.models.store import FetchProgress
    from specedit.view.colours import terminal
    from specedit.view.live import Live

    last: Any = None
    with Live(terminal()) as live:
        for step in steps:
            if not isinstance(step, FetchProgress):
                last = step
                continue
            if step.note:
                say(f"{step.name}: {step.note}")
            live.loading(Loading(step.title, step.done, step.total, "bytes"))
    return last
