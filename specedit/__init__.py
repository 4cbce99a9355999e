"""specedit edits source files with a local language model at the speed of checking.

The words, in order of flow:

* **Source** (`files.source`): one file as read, with all that is needed to write it back.
* **Plan** (`edit.plan`): what to ask and what to expect; a **Job** (`edit.job`) is a Plan with its
  file and its own judge. Commands differ only in their Jobs.
* **prediction**: the whole expected answer; the original file, or a better guess.
* **draft** (`decode.drafters`): the ids offered to the next pass.
* **Chunk** (`decode.events`): what one pass settled.
* **Edit**, **Report** (`report`): the outcome for one file, and of a run; a **Finding** is what a
  person should know of it: a kind, a text, and its places.
* **try** (`edit.tries`): one answer to a Plan among several, judged by the checks and, where there
  is one, by the user's own command; earlier tries are predictions of later ones.
* **Engine** (`engines.base`): ids in, choices out, with a cache that can be cropped.
* **Backend** (`edit.backend`): runs a Plan and yields events; in this process, or a server.

A room a subject, each on a floor of its own; imports only go down, and
`tests/test_architecture.py` holds them to it. From the ground up:

    version  errors           what it is called, what can go wrong
    text/                     strings: lines, diff, patch, names and words
    syntax/                   grammars: languages, trees, outline, passages
    scoping/                  what a name means in one text: scopes, types, a file a language
    check/                    what may be written: findings, the checks of an answer, their verdicts
    files/                    bytes on disk: source, atomic write, lock, journal, git, work tree
    models/                   catalogue, sources, store, architecture, tokenizer, template
    settings/                 what can be chosen, and by whom
    engines/                  ids in, choices out; the only home of torch and transformers
    decode/                   the loop, widths, drafters, what was fitted; knows no text, no files
    report                    the outcome, as data
    edit/                     what to ask (plan, job, regions), what it becomes (answer, judge)
    rename/                   the places of a name, and what is written there
    heads/                    small additions to a model that guess ahead, and how they are trained
    backends/                 run a Plan: here, in a warm server, at an address
    view/  server/            the terminal and pages; the HTTP server
    integrations/  lsp/       the pre-commit hook, editors, vLLM; the language server
    bench/  cli/  api         speed measured here; the commands; the Python interface
    manual/                   its pages, which `specedit help` shows

`edit` says what it asks for (`edit.backend`); `backends` answer, so they stand above it.

One edit, of a file or of stdin: `cli` reads flags; `edit.session` reads the Source, plans its Job
and yields `Planned`, the backend's events (`Loading, Ready, Prefill, Written…, Answer`), `Proposed`
once the answer passed its checks, and the Edit after it was journalled and written. `view` shows
them; `report` becomes JSON (`view.contract`) and the exit code. Numbers are computed from events. A
`FileError` (`errors`) is about one file, and the others continue; any other error ends the run.
"""

from __future__ import annotations

from specedit.version import VERSION

TYPE_CHECKING = False  # typing's name; importing it takes longer than anything else here
if TYPE_CHECKING:
    from typing import Any

    from specedit.api import Editor as Editor
    from specedit.errors import SpeceditError as SpeceditError
    from specedit.files.source import Source as Source
    from specedit.report import Edit as Edit


__version__ = VERSION

__all__ = ["Edit", "Editor", "Source", "SpeceditError", "__version__"]

_HOMES = {
    "Editor": "specedit.api",
    "Edit": "specedit.report",
    "Source": "specedit.files.source",
    "SpeceditError": "specedit.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'specedit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
