"""specedit edits source files with a local language model, and verifies instead of generating.

The terms, in the order of an edit:

* **Source** (`files.source`): one file as read, with what is needed to write it back byte for byte.
* **Plan** (`edit.backend`): what to ask the model for; a **Job** (`edit.job`) is a Plan with the
  file that it is for, and its checks. Commands differ only in their Jobs.
* **region** (`edit.regions`): a part of the file that an edit may change.
* **prediction**: the expected output, passed with the prompt; usually the original file.
* **draft** (`decode.drafters`): token ids offered to the next forward pass.
* **Chunk** (`decode`): the result of one forward pass.
* **Engine** (`engines.base`): ids in, choices out, with a KV cache that can be shortened.
* **Backend** (`edit.backend`): runs a Plan in this process or in a server.
* **Sink** (`edit.sink`): follows an edit for its caller: `emit(event)` for what happens,
  `ask(question)` for what the user decides.
* **Finding** (`check.finding`): what a check reports about an answer: a note, or why it is refused.
* **Attempt** (`edit.ask`): one answer to a Job, checked. With `--test`, one attempt for each file
  is a **try**, which the user's own command judges.
* **Edit**, **Report** (`edit.report`): the outcome for one file, and of a command.

The packages, in layers. Imports only point upwards in this list (`tests/test_architecture.py`):

    version  errors           the version; every error that a user can see
    syntax/                   grammars, trees, outline; lines, diff, identifiers
    scoping/                  what a name means; one module per language
    check/                    findings, the checks of an answer, external checkers
    files/                    source, atomic write, journal, lock, git, work tree
    settings/                 flags, variables and files; what a repository may set
    models/                   catalogue, download, store, GGUF, tokenizer, chat template
    engines/                  ids in, choices out: kernels, weights, transformers
    decode/                   the loop, widths, drafters, costs; token ids only
    edit/                     `run_edit`, regions, further attempts, `apply`
    rename/                   the places of a name, and what is written there
    inference/                what loads a model and runs a Plan in this process
    server/  connect          a warm server and its client; which backend runs a Plan
    view/                     terminal, diff, JSON and trace page
    integrations/             pre-commit hook, editors, LSP, MCP, vLLM
    machine_check             what works on this machine, and what to do
    manual/                   the pages of `specedit help`
    cli/  api                 commands; the Python interface

One edit: `cli` parses flags, and `edit.run` tells the rest from top to bottom: plan, locate, ask,
check, ask again (`edit.again`), confirm, write with the journal. With `--test` the user's command
judges each try (`edit.tested`). The report becomes text (`view`), JSON (`view.contract`) and the
exit code. Server, hook, editors, MCP and the Python interface call the same functions with sinks
of their own. A `FileError` (`errors`) concerns one file, and the others continue; any other error
ends the command.
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
