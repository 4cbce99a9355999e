"""`python -m specedit` and the `specedit` command: the one error boundary is in `specedit.cli`."""

from __future__ import annotations

import sys


def main() -> None:
    _own_modules()
    from specedit.cli import run, streams

    streams.fill()
    sys.exit(streams.end(run(sys.argv[1:])))


def _own_modules() -> None:
    """`python -m` looks for modules in the current folder first: a repository's `typer.py` would be
    run as ours."""
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", _here()):
        del sys.path[0]


def _here() -> str:
    import os

    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""


if __name__ == "__main__":
    main()
