"""`specedit heads list | remove`. JSON goes to stdout, the rest to stderr."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specedit.cli.model import model_in_use
from specedit.cli.options import AsJson, option
from specedit.cli.streams import say
from specedit.models.head_file import HeadsFolder, entries
from specedit.models.store import sized, store_path

if TYPE_CHECKING:
    from specedit.models.head_file import HeadsEntry

app = typer.Typer(
    help="List and remove heads: small layers that draft for a model.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Model = Annotated[
    str | None,
    typer.Option("--model", help="Use the heads of this model (default: the model in use)"),
]


@app.command("list")
def list_heads(as_json: AsJson = False) -> None:
    """List all heads and how often they are right."""
    listed = list(entries(store_path()))
    if as_json:
        print(json.dumps([_json(entry) for entry in listed], indent=2))
        return
    for entry in listed:
        print(f"{entry.path}{' (came with specedit)' if entry.shipped else ''}")
        if entry.heads is None:
            print(f"  {entry.problem}")
            continue
        about = entry.heads.about
        size = entry.path.stat().st_size / 1e6
        print(f"  {about.sizes.kind} for {about.model}, {size:.1f} MB, {about.sizes.depth} deep")
        print(
            f"  learnt from {about.positions:,} places in {about.texts} texts and in the model's "
            f"own answers ({about.answered:,}); {about.steps:,} steps, {about.seconds / 60:.0f} min"
        )
        print(f"  accepted on held-out files: {percentages(about.accepted)}")
        if about.note:
            print(f"  {about.note}")
    if not listed:
        say("There are no heads; a clone of specedit trains them: python -m training.heads")


def _json(entry: HeadsEntry) -> dict[str, Any]:
    about = None if entry.heads is None else asdict(entry.heads.about)
    return {
        "path": str(entry.path),
        "shipped": entry.shipped,
        "problem": entry.problem,
        "about": about,
    }


@app.command()
def remove(
    model: Model = None,
    kind: str | None = option(None, "Delete only this kind"),
) -> None:
    """Delete a model's own heads and their training data."""
    from specedit.engines.exact.conversion import source_of
    from specedit.models.resolve import present

    files = present(model or model_in_use())
    freed = HeadsFolder(store_path(), source_of(files)).remove(kind)
    say(f"heads of {files.name} removed: {f'{sized(freed)} freed' if freed else 'there were none'}")


def percentages(shares: tuple[float, ...]) -> str:
    return ", ".join(f"{100 * share:.0f} %" for share in shares)
