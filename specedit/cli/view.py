"""`specedit view TRACE`: one self-contained HTML page of a run; `specedit help`: the manual."""

from __future__ import annotations

import stat
from pathlib import Path

import typer

from specedit.cli.options import argument, option
from specedit.cli.streams import put
from specedit.errors import DONE, InputError

ELSEWHERE = "Name another file or folder for it."


def view(
    trace: str = argument("TRACE", "A file of --trace"),
    output: str | None = option(
        None, "Write the page to this file; `-` is stdout", "-o", "--output", metavar="PAGE.html"
    ),
) -> int:
    """Make an HTML page of a trace, and print its path."""
    from specedit.view.html import page
    from specedit.view.trace import read

    source = Path(trace)
    text = page(read(source))
    if output == "-":
        put(text)
        return DONE
    target = Path(output) if output else source.with_suffix(".html")
    if target.exists() and (output is None or target.samefile(source)):
        _refuse_foreign(target)
    _write(target, text, stat.S_IMODE(source.stat().st_mode) & 0o666)  # readable as its trace is
    typer.echo(target)
    return DONE


def _refuse_foreign(target: Path) -> None:
    from specedit.view.html import GENERATOR

    if GENERATOR not in target.read_bytes()[:2000].decode("utf-8", "replace"):
        raise InputError(
            f"{target}: exists and was not made by specedit; nothing was written",
            hint=ELSEWHERE,
        )


def _write(target: Path, text: str, mode: int) -> None:
    from specedit.files import atomic

    try:
        atomic.whole(target, text.encode("utf-8"), mode)
    except OSError as error:
        raise InputError(
            f"{target}: the page cannot be written: {error.strerror}", hint=ELSEWHERE
        ) from error


def help(
    topic: str | None = argument(
        None, "A page of the manual, or a command", None, show_default=False
    ),
    site: Path | None = option(
        None, "Write all pages as HTML files to this folder", "--html", metavar="DIR"
    ),
) -> int:
    """Show a page of the manual, or the list of its topics."""
    from specedit import manual

    if site is not None:
        return _write_site(site)
    if topic is not None:
        from specedit.view.terminal import show_page

        show_page(manual.page(manual.topic(topic)))
        return DONE
    topics = manual.listing()
    width = max(len(name) for name, _ in topics)
    print("specedit help TOPIC shows a page of the manual:\n")
    for name, about in topics:
        print(f"  {name:<{width}}  {about}")
    print("\nspecedit COMMAND --help lists the flags of a command.")
    return DONE


def _write_site(folder: Path) -> int:
    from specedit.cli import every_command
    from specedit.manual import site

    files = [(folder / name, text) for name, text in site(every_command())]
    for target, _ in files:
        if target.exists():
            _refuse_foreign(target)
    for target, text in files:
        _write(target, text, 0o644)
    typer.echo(files[0][0])
    return DONE
