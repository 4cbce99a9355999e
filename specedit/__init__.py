"""specedit edits source files with a local language model, and verifies instead of generating.

The terms, in the order of an edit:

* **Source** (`files.source`): one file as read, with what is needed to write it back byte for byte.
* **Plan** (`edit.backend`): what to ask the model for; a **Job** (`edit.job`) is a Plan bound to a
  file and its checks. Commands differ only in their Jobs.
* **region** (`edit.regions`): the part of a file that an edit may change.
* **prediction**: the expected output, passed with the prompt; usually the original file.
* **draft** (`decode.drafters`): token ids offered to the next forward pass.
* **Chunk** (`decode`): the result of one forward pass.
* **Engine** (`engines.base`): ids in, choices out, with a KV cache that can be cropped.
* **Backend** (`edit.backend`): runs a Plan in this process or in a server, and reports to a
  **Sink** (`edit.sink`), which has a method for each event.
* **Finding** (`check.finding`): what a check reports about an answer: a note or an error.
* **try** (`edit.tries`): one answer among several for the same Plan, judged by the checks and, with
  `--test`, by the user's own command.
* **Edit**, **Report** (`edit.report`): the outcome for one file, and of a command.

The packages, in layers. Imports only point upwards in this list (`tests/test_architecture.py`):

    version  errors           the version; every error that a user can see
    syntax/                   grammars, trees, outline; lines, diff, patch, identifiers
    scoping/                  what a name means; one module per language
    check/                    findings, the checks of an answer, external checkers
    files/                    source, atomic write, journal, lock, git, work tree
    settings/                 flags, variables and files; what a repository may set
    models/                   catalogue, download, store, GGUF, tokenizer, chat template
    engines/                  ids in, choices out: kernels, weights, transformers
    decode/                   the loop, widths, drafters, costs; token ids only
    edit/                     `run_edit`: plan, locate, ask, check, propose, write; apply, tries
    rename/                   the places of a name, and what is written there
    inference/                what loads a model and runs a Plan in this process
    server/  connect          a warm server, its client, an address; which of them runs a Plan
    view/                     terminal, diff, JSON and trace page
    integrations/             pre-commit hook, editors, LSP, MCP, vLLM
    machine_check             what works on this machine, and what to do
    cli/  api                 commands; the Python interface
    manual/                   the pages of `specedit help`

One edit: `cli` parses flags and calls `edit.run.run_edit(source, request, backend, sink)`. That
plans a Job, locates its regions, asks the backend, checks the answer (again, if a try is refused),
proposes the Edit to the sink, and writes it with the journal. The report becomes text (`view`),
JSON (`view.contract`) and the exit code. Server, hook, editors, MCP and the Python interface call
the same function with sinks of their own. A `FileError` (`errors`) concerns one file, and the
others continue; any other error ends the command.
"""

from __future__ import annotations

from specedit.version import VERSION

TYPE_CHECKING = False  # typing's name; importing it takes longer than anything else here
if TYPE_CHECKING:
    from typing import Any

    from specedit.api import Editor as Editor
    from specedit.edit.report import Edit as Edit
    from specedit.errors import SpeceditError as SpeceditError
    from specedit.files.source import Source as Source


__version__ = VERSION

__all__ = ["Edit", "Editor", "Source", "SpeceditError", "__version__"]

_HOMES = {
    "Editor": "specedit.api",
    "Edit": "specedit.edit.report",
    "Source": "specedit.files.source",
    "SpeceditError": "specedit.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'specedit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
