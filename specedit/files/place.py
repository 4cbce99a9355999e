"""Where the journal and the models live, and the marks of unfinished runs. Imports next to nothing:
every command looks for marks."""

from __future__ import annotations

import os
from pathlib import Path

JOURNAL = "journal"  # the folder of the runs, in the store
UNFINISHED = "unfinished"  # in a run's folder until all that it writes is written and judged


def home() -> Path:
    """`SPECEDIT_HOME`, or the data folder this system gives a user."""
    if named := os.environ.get("SPECEDIT_HOME"):
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("specedit", appauthor=False)


def marks(store: Path) -> list[Path]:
    """The marks of unfinished runs, those at work included; the newest first."""
    try:
        return sorted((store / JOURNAL).glob(f"*/{UNFINISHED}"), reverse=True)
    except OSError:
        return []
