"""specedit edits source files with a local language model at the speed of checking.

The words, in order of flow:

* **Source** (`text.source`): one file as read, with all that is needed to write it back.
* **Plan** (`plan`): what to ask and what to expect; a **Job** is a Plan with its file.
* **prediction**: the whole expected answer; the original file, or a better guess.
* **draft** (`decode.drafters`): the ids offered to the next pass.
* **Chunk** (`decode.events`): what one pass settled.
* **Edit**, **Report** (`report`): the outcome for one file, and of a run.
* **Engine** (`engines.base`): ids in, choices out, with a cache that can be cropped.
* **Backend** (`backend`): runs a Plan and yields events; in this process, or a server.

Five layers; imports only go down, and `tests/test_architecture.py` holds them to it:

    0  errors, settings
    1  text/ (bytes and grammars)  decode/ (ids)  engines/ (torch)  models/ (files)
    2  plan  prompt  answer  rename  selection  wire
    3  backend  local  loading  loaded  client  remote  connect  runtime  prefix
       edit  run  report  provenance  trace  journal  ask  git  worktree
    4  view/  cli/  hook  server/  bench/  editors/  api

One edit: `cli` reads flags; `text.source` the file; `plan` makes a Job; `backend.run` yields
`Loading, Ready, Prefill, Written…, Answer`; `edit` judges the answer; `run` journals and writes;
`view` shows; `report` becomes JSON and the exit code. Numbers are folds over events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specedit.api import Editor as Editor
    from specedit.errors import SpeceditError as SpeceditError
    from specedit.report import Edit as Edit
    from specedit.text.source import Source as Source

__version__ = "0.1.0"  # pyproject.toml says the same

__all__ = ["Edit", "Editor", "Source", "SpeceditError"]

_HOMES = {
    "Editor": "specedit.api",
    "Edit": "specedit.report",
    "Source": "specedit.text.source",
    "SpeceditError": "specedit.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'specedit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
