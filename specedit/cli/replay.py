"""`specedit replay CASES`: drafting without a model. JSON lines, or a table, on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specedit.cli.options import settings_options
from specedit.errors import UsageError
from specedit.settings import Resolved, Settings

if TYPE_CHECKING:
    from specedit.bench.cases import Case
    from specedit.decode.cost import Curve


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
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="fit drafting's constants to the cases; Ctrl-C ends the search, not the fit",
        ),
    ] = False,
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
    if fit:
        if settings.json:
            raise UsageError("--fit says what it found in words; it does not go with --json.")
        return _fit(
            found, Path(cases).name, tokenizer, end, names, bench.curve(curves[0]), settings
        )
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


def _fit(
    cases: Sequence[Case],
    source: str,
    tokenizer: Any,
    end: int,
    names: Sequence[str],
    on: Curve,
    settings: Settings,
) -> int:
    """Search, say what was found, and write it where the other half of the cases confirms it."""
    from datetime import date

    from specedit.bench import fit
    from specedit.decode import fitted
    from specedit.decode.constants import Origin
    from specedit.files import atomic

    if len(cases) < 2:
        raise UsageError("--fit needs two cases at least: one half decides, the other confirms.")
    for step in fit.fit(cases, fitted.FITTED, fit.price(tokenizer, end, names, on)):
        if isinstance(step, fit.Move) and not settings.quiet:
            print(f"{step.seconds:9.2f} s  {step.name}", file=sys.stderr)
        elif isinstance(step, fit.Fit):
            found = step
    typer.echo(fit.table(found))
    if not found.confirmed:
        typer.echo("not confirmed: nothing was written")
        return 0
    now = Origin(f"{source}, {found.cases[0]} of {len(cases)} cases", date.today().isoformat())
    origins = fit.origins(fitted.ORIGINS, found, fitted.FITTED, now)
    path = Path(fitted.__file__)
    atomic.whole(path, fit.module(found.constants, origins).encode())
    typer.echo(f"written: {path}")
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
