"""`specedit view TRACE`: one self-contained HTML page of a run. Its path goes to stdout."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Annotated

import typer

from specedit.errors import InputError
from specedit.files import atomic


def view(
    trace: Annotated[
        str, typer.Argument(metavar="TRACE", help="A file of --trace, or a page made from one")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="PAGE.html", help="Write the page to this file; `-` is stdout"
        ),
    ] = None,
) -> int:
    """Make an HTML page of a trace: tokens by origin, passes, widths."""
    from specedit.cli.output import put
    from specedit.view.html import page
    from specedit.view.trace import read

    source = _found(Path(trace))
    text = page(read(source))
    if output == "-":
        put(text)
        return 0
    target = Path(output) if output else source.with_suffix(".html")
    if output is None or _same(target, source):
        _refuse_foreign(target)
    _replace(target, text, source)
    typer.echo(target)
    return 0


def _found(trace: Path) -> Path:
    """`run.html` may be asked for before there is one: then `run.jsonl` is what it is made of."""
    lines = trace.with_suffix(".jsonl")
    return lines if not trace.exists() and lines.exists() else trace


def _same(target: Path, source: Path) -> bool:
    return target.exists() and target.samefile(source)


def _refuse_foreign(target: Path) -> None:
    from specedit.view.html import GENERATOR

    if not target.exists():
        return
    if GENERATOR not in target.read_bytes()[:2000].decode("utf-8", "replace"):
        raise InputError(
            f"{target}: exists, and is no page of a trace",
            hint="-o names another file for the page.",
        )


def _replace(target: Path, text: str, trace: Path) -> None:
    """Write the page; nobody may read it who may not read its trace."""
    try:
        atomic.whole(target, text.encode("utf-8"), stat.S_IMODE(trace.stat().st_mode) & 0o666)
    except OSError as error:
        raise InputError(
            f"{target}: the page cannot be written: {error.strerror}",
            hint="-o names another file for the page.",
        ) from error
