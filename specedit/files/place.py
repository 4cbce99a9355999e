"""Where the journal and the models live, and the marks of runs that are trying. Imports next to
nothing: every command looks for marks."""

from __future__ import annotations

import os
from pathlib import Path

JOURNAL = "journal"  # the folder of the runs, in the store
TRYING = "trying"  # in a run's folder while nobody has judged what it wrote


def home() -> Path:
    """`SPECEDIT_HOME`, or the data folder this system gives a user."""
    if named := os.environ.get("SPECEDIT_HOME"):
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("specedit", appauthor=False)


def marks(store: Path) -> list[Path]:
    """Those of every run that is trying, or was when it was killed; the last one first."""
    try:
        return sorted((store / JOURNAL).glob(f"*/{TRYING}"), reverse=True)
    except OSError:
        return []
