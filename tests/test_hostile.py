"""Source files made to break a parser, read by every command that parses.

`python -m pytest -m faults tests/test_hostile.py` reads all of them and prints counts by language.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import hostile
import pytest
from git_repository import Repository
from hostile import NAME, OTHER, Outcome

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
SIZES = (60_000, 500_000)  # characters
FEW = 14  # texts of a language in the default group
RULE = f'[[tool.specedit.hook]]\nrename = {{{NAME} = "{OTHER}"}}\nmode = "check"\n'


def _run(*words: str) -> int:
    from specedit.cli import run

    return run(list(words))


def _rename(path: Path) -> int:
    return _run("rename", NAME, OTHER, path.name, "--no-model", "--diff")


def _edit(path: Path) -> int:
    return _run("edit", f"Rename {NAME} to {OTHER}", path.name, "--diff", "--yes")


def _check(path: Path) -> int:
    from specedit.check.answer import check_answer
    from specedit.errors import TooComplex
    from specedit.files.source import read

    source = read(path.name)
    before, _, after = source.text.rpartition(NAME)
    try:
        check_answer(source.text, before + OTHER + after, source.language, "Add a method `run`")
    except TooComplex as problem:
        print(problem)
    return 0


def _apply(path: Path) -> int:
    last = path.read_text().splitlines()[-1]
    new = last.replace("last", "late").replace("return", "return 1 +")
    change = path.with_name("change.txt")
    change.write_text(f"<<<<<<< SEARCH\n{last}\n=======\n{new}\n// added\n>>>>>>> REPLACE\n")
    return _run("apply", path.name, change.name, "--no-model", "--diff")


def _snippet(path: Path) -> int:
    lines = path.read_text().splitlines()
    change = path.with_name("change.txt")
    change.write_text("\n".join([*lines[:2], "// ... existing code ...", "added", *lines[-2:]]))
    return _run("apply", path.name, change.name, "--no-model", "--diff")


def _hook(path: Path) -> int:
    return _run("hook", "run")


def _lsp(path: Path) -> int:
    """A rename of the last name, asked for by an editor."""
    from lsp_client import Editor

    from specedit.integrations.lsp.lsp_session import Session
    from specedit.settings import Settings

    editor = Editor()
    session = Session(Settings(server="off"), editor.inbox.put)
    editor.post = session.receive
    editor.start()
    text, uri = path.read_text(), path.as_uri()
    editor.open(uri, text)
    before = text[: text.rindex(NAME)]
    line = before.count("\n")
    number = editor.rename(uri, (line, len(before) - before.rfind("\n") - 1), OTHER)
    print(json.dumps(editor.wait(number, timeout_s=60))[:1000])
    return 0


COMMANDS: dict[str, Callable[[Path], int]] = {
    "rename": _rename,
    "edit": _edit,
    "check": _check,
    "apply": _apply,
    "snippet": _snippet,
    "hook": _hook,
    "lsp": _lsp,
}


def _repository(root: Path) -> Repository:
    """Where the commands run: with a rule for the hook, and a model that says what it is told."""
    script = root.with_name("script.json")
    script.write_text(json.dumps({"replace": [[NAME, OTHER]]}))
    os.environ |= {
        "SPECEDIT_ENGINE": "scripted",
        "SPECEDIT_SCRIPT": str(script),
        "SPECEDIT_SERVER": "off",
    }
    repository = Repository.init(root)
    repository.write("pyproject.toml", RULE)
    return repository


def _read(repository: Repository, command: str, suffix: str, text: str) -> Outcome:
    path = repository.root / f"f{suffix}"
    path.write_text(text, newline="")
    if command == "hook":
        repository.git("add", path.name)

    def work() -> int:
        os.chdir(repository.root)
        return COMMANDS[command](path)

    return hostile.read(work)
