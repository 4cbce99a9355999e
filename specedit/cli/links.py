"""Links that lead out of a work tree: a person at a terminal says whether they are followed."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from specedit.files.worktree import beyond
from specedit.view.terminal import name as shown


def allowed(names: Iterable[str]) -> dict[str, Path]:
    """Of these names, the links that may be followed to the files they lead to, outside. Without
    a terminal nobody can say so, and none may."""
    results = {name: target for name in names if (target := beyond(name)) is not None}
    if not results or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return {}
    return {name: target for name, target in results.items() if _asked(name, target)}


def _asked(name: str, target: Path) -> bool:
    text = f"specedit: {name} is a link to {target}, outside its work tree. Edit that file? [y/N] "
    print(shown(text), end="", file=sys.stderr, flush=True)
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        print(file=sys.stderr)
        return False
