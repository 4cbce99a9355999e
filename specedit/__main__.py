"""`python -m specedit` and the `specedit` command: the one error boundary is in `specedit.cli`."""

from __future__ import annotations

import sys


def main() -> None:
    from specedit.cli import run, streams

    streams.fill()
    sys.exit(streams.end(run(sys.argv[1:])))


if __name__ == "__main__":
    main()
