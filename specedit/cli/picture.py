"""`specedit picture OUT.svg COMMAND…`: a run as a picture, for a README or a talk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specedit.errors import InputError
from specedit.files import atomic

WIDTH = 120  # columns: a report's line fits
CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def picture(
    output: Annotated[Path, typer.Argument(metavar="OUT.svg", help="the file to draw to")],
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="a command with its flags")
    ],
) -> int:
    """Run a command, and draw what it says to a person as an SVG."""
    from specedit.cli import run
    from specedit.view import colours

    _refuse_foreign(output)
    with colours.keeping(WIDTH) as console:
        code = run(command)
        drawn = console.export_svg(title=" ".join(["specedit", *command]))
    try:
        atomic.whole(output, drawn.encode())
    except OSError as error:
        raise InputError(f"{output}: the picture cannot be written: {error.strerror}") from error
    return code


def _refuse_foreign(output: Path) -> None:
    """A picture may take the place of a picture, and of nothing else."""
    if output.exists() and not output.read_bytes().startswith(b'<svg class="rich-terminal"'):
        raise InputError(f"{output}: exists, and is no picture of a run", hint="Name another file.")
