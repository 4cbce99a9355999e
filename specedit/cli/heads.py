"""`specedit heads train | list | eval | remove`: heads that guess ahead of a model.

Reads flags, shows what `specedit.heads` yields. JSON goes to stdout, the rest to stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specedit.errors import UsageError

if TYPE_CHECKING:
    from specedit.heads.file import Heads
    from specedit.heads.making import Stage
    from specedit.heads.measure import Replayed
    from specedit.heads.target import HeadsTarget

app = typer.Typer(
    help="Train, list and remove heads: small additions to a model that draft.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

DEPTH = 4  # ids ahead
SHARE = 0.625  # of the hidden width, the inner width of chained heads: 7.4 MB at 1,536
ALONE = 0.25  # of heads that have weights of their own for every depth: 3.2 MB
Model = Annotated[
    str | None,
    typer.Option("--model", help="Use the heads of this model (default: the model in use)"),
]
WORDS = {
    "read": "Reading texts",
    "answer": "Asking for answers",
    "learn": "Learning",
    "write": "Writing",
}


@app.command()
def train(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[PATH]…", help="Folders or files of repositories (default: the current folder)"
        ),
    ] = None,
    minutes: Annotated[float, typer.Option(help="Train for this long, reading included")] = 30.0,
    model: Model = None,
    kind: Annotated[
        str, typer.Option(help="Choose the kind: chained, medusa or blockwise")
    ] = "chained",
    threads: Annotated[int, typer.Option(help="Use this many CPU threads (0: one per core)")] = 0,
) -> None:
    """Train heads on tracked files and on the model's own answers about them.

    Ctrl-C stops it and loses nothing: the heads trained so far are kept, and the next run
    continues.
    """
    from specedit.engines.devices import require_torch
    from specedit.heads import corpus
    from specedit.heads.kinds import KINDS, Sizes
    from specedit.heads.making import make
    from specedit.settings import nearest

    require_torch("Training heads")
    if kind not in KINDS:
        raise UsageError(f"There is no kind of heads {kind!r}.", hint=nearest(kind, [*KINDS]))
    if not 0 < minutes <= 24 * 60:
        raise UsageError("--minutes is more than 0, and a day at most.", hint="--minutes 30")
    texts = corpus.texts(paths or [Path()])
    target, place = _target(model, threads)
    hidden = target.weights.config.hidden
    share = SHARE if KINDS[kind].shared else ALONE
    sizes = Sizes(kind, hidden, max(64, round(hidden * share / 64) * 64), DEPTH)
    console = _console()
    held = sum(text.held for text in texts)
    console.print(
        f"{len(texts) - held} files to learn from, {held} held out; {minutes:g} minutes at most",
        markup=False,
    )
    try:
        last = _shown(make(target, texts, place, sizes, minutes * 60), console)
    except KeyboardInterrupt:
        console.print("interrupted; what was learnt is kept, the next run goes on", markup=False)
        raise
    path = place.file(kind)
    console.print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)", markup=False)
    if last is not None and last.accepted:
        console.print(f"accepted on held-out files: {_by_depth(last.accepted)}", markup=False)
    console.print("Edits use these heads from now on: --draft auto", markup=False)


@app.command("list")
def list_heads(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array on stdout")] = False,
) -> None:
    """List the heads: their model, their training data, how often they are right."""
    from specedit.heads import shelf
    from specedit.models.store import store_path

    results = list(shelf.items(store_path()))
    if as_json:
        print(json.dumps([_plain(item) for item in results], indent=2))
        return
    for item in results:
        print(f"{item.path}{' (came with specedit)' if item.shipped else ''}")
        if item.heads is None:
            print(f"  {item.wrong}")
            continue
        about = item.heads.about
        size = item.path.stat().st_size / 1e6
        print(f"  {about.sizes.kind} for {about.model}, {size:.1f} MB, {about.sizes.depth} deep")
        print(
            f"  learnt from {about.positions:,} places of {about.texts} texts, {about.answered:,} "
            f"of them in answers of its own, {about.rejected:,} in answers kept; {about.steps:,} "
            f"steps, {about.seconds / 60:.0f} minutes"
        )
        print(f"  accepted on held-out files: {_by_depth(about.accepted)}")
        if about.note:
            print(f"  {about.note}")
    if not results:
        _console().print("no heads: specedit heads train makes some", markup=False)


@app.command("eval")
def evaluate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]…", help="Files to measure on (default: the current folder)"),
    ] = None,
    model: Model = None,
    kind: Annotated[
        str, typer.Option(help="Choose the kind: chained, medusa or blockwise")
    ] = "chained",
    passes: Annotated[int, typer.Option(help="Measure this many passes")] = 200,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on stdout")
    ] = False,
) -> None:
    """Measure heads on texts: ids per pass, acceptance by depth, cost of a draft."""
    from specedit.heads import corpus, measure, shelf
    from specedit.models.store import store_path

    texts = corpus.texts(paths or [Path()])
    target, _ = _target(model, 0)
    heads = shelf.opened(store_path(), target.digest, kind, target.name)
    if heads is None:
        raise UsageError(
            f"There are no {kind} heads for {target.name}.",
            hint=f"Train them: specedit heads train --kind {kind}",
        )
    result = measure.measured(target, texts, heads, passes)
    if as_json:
        print(json.dumps(asdict(result), indent=2))
        return
    _say(result, heads)


def _say(found: Replayed, heads: Heads) -> None:
    print(f"{found.passes} passes of {found.texts} texts, {heads.about.sizes.kind} heads")
    print(f"  ids a pass    {found.ids / max(1, found.passes):.2f}")
    print(f"  by depth      {_by_depth(found.accepted)}")
    print(f"  nodes a pass  {found.nodes / max(1, found.passes):.1f}")
    print(f"  drafting      {1000 * found.seconds / max(1, found.passes):.1f} ms a pass")


@app.command()
def remove(
    model: Model = None,
    kind: Annotated[
        str | None,
        typer.Option(help="Remove this kind only (default: all, with their training data)"),
    ] = None,
) -> None:
    """Delete the trained heads of a model, and their training data when all kinds are deleted."""
    from specedit.engines.exact.conversion import source_of
    from specedit.heads import shelf
    from specedit.models.resolve import present
    from specedit.models.store import sized, store_path

    files = present(model or _in_use())
    freed = shelf.remove(store_path(), source_of(files), kind)
    message = f"{sized(freed)} freed" if freed else "there were none"
    _console().print(f"heads of {files.name} removed: {message}", markup=False)


def _target(model: str | None, threads: int) -> tuple[HeadsTarget, Any]:
    """The model on its kernels, and where its heads lie."""
    from specedit.engines.exact import available, open_exact
    from specedit.engines.exact.conversion import converted_path, source_of
    from specedit.engines.exact.weights import open_weights
    from specedit.heads.shelf import HeadsPlace
    from specedit.heads.target import HeadsTarget
    from specedit.models.resolve import present
    from specedit.models.store import store_path
    from specedit.models.template import load_template
    from specedit.models.vocabulary import load_tokenizer

    files, store = present(model or _in_use()), store_path()
    if reason := available(files, store):
        raise UsageError(
            f"Heads need the exact engine's compiled kernels: {reason}.",
            hint="specedit help engine says where they run.",
        )
    engine = open_exact(files, store=store, threads=threads or None)
    weights = open_weights(converted_path(files, store), source_of(files))
    target = HeadsTarget(engine, weights, load_tokenizer(files), load_template(files), files.name)
    return target, HeadsPlace(store, target.digest)


def _shown(steps: Iterator[Stage], console: Any) -> Stage | None:
    """A bar, with loss and acceptance as they come; without a terminal, a line now and then."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[said]}"),
        TimeElapsedColumn(),
    )
    last: Stage | None = None
    with Progress(
        *columns, console=console, transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task("", total=1.0, said="")
        for step in steps:
            text = step.said
            if step.accepted:
                text = f"loss {step.loss:.2f}, accepted {_by_depth(step.accepted)}; {text}"
            bar.update(task, description=WORDS[step.what], completed=step.done, said=text)
            changed = last is None or last.what != step.what or step.accepted != last.accepted
            if changed and bar.disable and step.what != "write":
                console.print(f"{WORDS[step.what]}: {text}", markup=False)
            last = step
    return last


def _by_depth(accepted: tuple[float, ...]) -> str:
    return ", ".join(f"{100 * part:.0f} %" for part in accepted)


def _plain(item: Any) -> dict[str, Any]:
    about = None if item.heads is None else asdict(item.heads.about)
    return {"path": str(item.path), "shipped": item.shipped, "wrong": item.wrong, "about": about}


def _in_use() -> str:
    from specedit.cli.consent import settled

    return settled().values.model


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)
