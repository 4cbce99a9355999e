"""Train heads on tracked files and on the model's own answers, or measure heads.

    python -m training.heads train PATH… --minutes 30 [--kind chained] [--model NAME]
    python -m training.heads eval PATH… [--kind chained] [--model NAME]

The heads are written into the store; `specedit model list` shows them, and edits use them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from specedit.cli.model import model_in_use, percentages
from specedit.cli.options import AsJson, option, settled
from specedit.cli.streams import put_object, say
from specedit.engines.cores import thread_count
from specedit.engines.exact.conversion import converted_path, source_of
from specedit.engines.exact.engine import available, open_exact
from specedit.engines.exact.weights import open_weights
from specedit.errors import SpeceditError, UsageError
from specedit.models.adapter import with_adapter
from specedit.models.head_file import KINDS, HeadsFolder, HeadsSizes
from specedit.models.resolve import present
from specedit.models.store import store_path
from specedit.models.vocabulary import load_tokenizer
from specedit.settings import nearest
from specedit.view.colours import terminal
from training.heads import run
from training.heads.reading import HeadsTarget
from training.heads.run import Stage
from training.heads.texts import read_texts

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

DEPTH = 4  # ids ahead
SHARED = 0.625  # inner width of chained heads, of the hidden width: 7.4 MB at 1,536
SEPARATE = 0.25  # of heads with weights of their own for every depth: 3.2 MB
Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", help="Folders or files that git tracks (default: .)"),
]
Model = Annotated[
    str | None,
    typer.Option("--model", help="Use the heads of this model (default: the model in use)"),
]
Kind = Annotated[str, typer.Option(help="Choose the kind: chained, medusa or blockwise")]
TITLES = {"read": "Reading", "answer": "Answering", "learn": "Learning", "write": "Writing"}


@app.command()
def train(
    paths: Paths = None,
    minutes: float = option(30.0, "Train for this many minutes, with the time for reading"),
    model: Model = None,
    kind: Kind = "chained",
    threads: int = option(0, "Use this many CPU threads (0: one per performance core)"),
) -> None:
    """Train heads on tracked files and on the model's own answers about them.

    Ctrl-C stops training and writes the heads as they are. The next run continues from there.
    """
    if kind not in KINDS:
        raise UsageError(f"There is no kind of heads {kind!r}.", hint=nearest(kind, [*KINDS]))
    if not 0 < minutes <= 24 * 60:
        raise UsageError("--minutes must be more than 0 and at most 1440.", hint="--minutes 30")
    texts = read_texts(paths or [Path()])
    target, folder = _target(model, threads)
    hidden = target.weights.config.hidden
    share = SHARED if KINDS[kind].shared else SEPARATE
    sizes = HeadsSizes(kind, hidden, max(64, round(hidden * share / 64) * 64), DEPTH)
    held = sum(text.held for text in texts)
    say(f"{len(texts) - held} files to learn from, {held} held out; at most {minutes:g} minutes")
    try:
        accepted = _shown(run.train(target, texts, folder, sizes, minutes * 60))
    except KeyboardInterrupt:
        say("interrupted; the next run continues from here")
        raise
    path = folder.file(kind)
    say(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    if accepted:
        say(f"accepted on held-out files: {percentages(accepted)}")
    say("Edits use these heads from now on: --draft auto")


@app.command("eval")
def evaluate(
    paths: Paths = None,
    model: Model = None,
    kind: Kind = "chained",
    places: int = option(20000, "Measure at this many positions"),
    as_json: AsJson = False,
) -> None:
    """Measure how many of the ids that heads draft for these files are accepted."""
    texts = read_texts(paths or [Path()])
    target, folder = _target(model, 0)
    heads = folder.open(kind, target.name)
    if heads is None:
        raise UsageError(
            f"There are no {kind} heads for {target.name}.",
            hint=f"Train them: python -m training.heads train --kind {kind}",
        )
    score = run.evaluate(target, texts, heads, places)
    if as_json:
        put_object({**asdict(score), "ids_per_pass": score.ids_per_pass})
        return
    print(f"{score.places:,} places of {score.texts} texts, {kind} heads")
    print(f"  accepted by depth  {percentages(score.accepted)}")
    print(f"  ids per pass       {score.ids_per_pass:.2f}")


def _target(model: str | None, threads: int) -> tuple[HeadsTarget, HeadsFolder]:
    """The model on its kernels, and the folder of its heads."""
    files, store = present(model or model_in_use()), store_path()
    files = with_adapter(files, settled().values.adapter)
    if reason := available(files, store, "int8"):
        raise UsageError(
            f"Heads need the exact engine's compiled kernels: {reason}.",
            hint="specedit help engine says where they run.",
        )
    engine = open_exact(files, store=store, threads=thread_count(threads), weights="int8")
    weights = open_weights(converted_path(files, store, "int8"), source_of(files))
    target = HeadsTarget(engine, weights, load_tokenizer(files), files.name)
    return target, HeadsFolder(store, target.digest)


def _shown(stages: Iterator[Stage]) -> tuple[float, ...]:
    """Show a bar with loss and acceptance; without a terminal, a line for each change. Returns the
    acceptance at the end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[text]}"),
        TimeElapsedColumn(),
    )
    on_terminal = sys.stderr.isatty()
    last: Stage | None = None
    with Progress(*columns, console=terminal(), transient=True, disable=not on_terminal) as bar:
        task = bar.add_task("", total=1.0, text="")
        for stage in stages:
            text = stage.text
            if stage.accepted:
                accepted = percentages(stage.accepted)
                text = f"loss {stage.loss:.2f}, accepted {accepted}; {text}"
            bar.update(task, description=TITLES[stage.what], completed=stage.done, text=text)
            news = last is None or (last.what, last.accepted) != (stage.what, stage.accepted)
            if news and not on_terminal and stage.what != "write":
                say(f"{TITLES[stage.what]}: {text}")
            last = stage
    return last.accepted if last else ()


if __name__ == "__main__":
    try:
        app()
    except SpeceditError as problem:
        sys.exit(f"{problem} {problem.hint}")
