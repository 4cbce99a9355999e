"""`specedit replay CASES`: drafting without a model. JSON lines, or a table, on stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from specedit.cli.options import settings_options
from specedit.settings import Resolved, Settings


@settings_options("model", "engine", "draft", "json", "quiet")
def replay(
    cases: Annotated[
        str, typer.Argument(metavar="CASES", help="JSON lines with `before` and `after`")
    ],
    limit: Annotated[int, typer.Option(help="play so many cases only; 0 plays all")] = 0,
    curve: Annotated[
        str | None,
        typer.Option(metavar="A+Bw", help="milliseconds of a pass of width w, such as 70+6w"),
    ] = None,
    *,
    resolved: Resolved,
) -> int:
    """Let the text somebody wanted play the model, and count the passes it would have taken."""
    from specedit.bench import replay as bench
    from specedit.edit.answer import end_of

    settings = resolved.values
    found = bench.read(Path(cases), limit)
    curves = [curve] if curve else list(bench.CURVES)
    names = [name.strip() for name in settings.draft.split(",")]
    tokenizer = _tokenizer(settings)
    (end,) = end_of(tokenizer)
    rows = []
    for name in curves[:1] if settings.json else curves:
        on = bench.curve(name)
        played = []
        for case, one in bench.replays(found, tokenizer, end, names, on):
            played.append((case, one))
            if settings.json:
                typer.echo(json.dumps(bench.line(case, one, on)))
        rows.append(bench.priced(name, played))
    if not settings.json:
        typer.echo(bench.table(rows))
    elif not settings.quiet:
        print(bench.table(rows), file=sys.stderr)
    return 0


def _tokenizer(settings: Settings) -> Any:
    """The model's; weights are not opened. The scripted engine's ids are bytes."""
    if settings.engine == "scripted":
        from specedit.engines.scripted import ScriptedTokenizer

        return ScriptedTokenizer()
    from specedit.models.files import ModelFiles
    from specedit.models.resolve import resolve
    from specedit.models.vocabulary import load_tokenizer

    for step in resolve(settings.model):
        if isinstance(step, ModelFiles):
            return load_tokenizer(step)
    raise AssertionError("resolve ends with the model's files")
