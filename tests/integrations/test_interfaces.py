"""The same edits through every interface: command, stdin, Python, hook, language server, server."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import in_this_process
from effort import FULL
from hook_repository import Hooked
from lsp_client import Process
from warm_server import running

from specedit import Editor, SpeceditError

FUNCTIONS = "".join(f"def f{n}(a):\n    return a + {n}\n\n\n" for n in range(6))
SMALL = "a = 1\nb = a\nprint(b)\n"
BROKEN = {"answer": "a = (\n```"}
ONE_TO_TWO = {"replace": [["1", "2"]]}

Outcome = tuple[str, bool]  # the text afterwards, and whether the edit was done


def command(folder: Path, text: str, instruction: str, script: dict[str, Any]) -> Outcome:
    path = folder / "a.py"
    path.write_bytes(text.encode())
    done = in_this_process("edit", instruction, str(path), cwd=folder)
    return path.read_bytes().decode(), done.returncode in (0, 1)


def stdin(folder: Path, text: str, instruction: str, script: dict[str, Any]) -> Outcome:
    words = ("edit", instruction, "-", "--stdin-filename", "a.py")
    done = in_this_process(*words, stdin=text.encode(), cwd=folder)
    return done.stdout.decode(), done.returncode in (0, 1)


def python(folder: Path, text: str, instruction: str, script: dict[str, Any]) -> Outcome:
    path = folder / "a.py"
    path.write_bytes(text.encode())
    with Editor() as editor:
        try:
            edit = editor.edit(instruction, path)
        except SpeceditError:
            return path.read_bytes().decode(), False
        editor.write(edit)
    return path.read_bytes().decode(), edit.status not in ("refused", "failed")


def hook(folder: Path, text: str, instruction: str, script: dict[str, Any]) -> Outcome:
    rule = f"[[tool.specedit.hook]]\ninstruction = {json.dumps(instruction)}\nfiles = ['*.py']\n"
    hooked = Hooked.make(folder / "repo", rule, **script)
    hooked.play(**script)
    hooked.repo.commit({"README.md": "-\n"})
    path = hooked.repo.root / "a.py"
    path.write_bytes(text.encode())
    hooked.repo.git("config", "core.autocrlf", "false")
    hooked.repo.git("add", "a.py")
    hooked.specedit("trust")
    code, _, _ = hooked.specedit("hook", "run")
    return path.read_bytes().decode(), code in (0, 1)


def language_server(
    folder: Path, text: str, instruction: str, script: dict[str, Any], *, shared: Process
) -> Outcome:
    shared.play(**script)
    editor = shared.editor
    uri = editor.open_file(folder / "a.py", text)
    number = editor.command(
        "specedit.edit", uri, [1, text.count("\n") + (text[-1] != "\n")], instruction
    )
    answer = editor.wait(number)
    done = "result" in answer and answer["result"]["status"] in ("edited", "unchanged")
    after = editor.texts[uri]
    editor.close_all()
    return after, done


def server(folder: Path, text: str, instruction: str, script: dict[str, Any]) -> Outcome:
    with running(folder, script):
        return command(folder, text, instruction, script)


INTERFACES = (command, stdin, python, hook, language_server, server)
LOST = {"answer": "def f0(a):\n    return a\n```"}
PLACEHOLDER = {"answer": "a = 2\n# ... rest of the file ...\n```"}
RETRIED = {**BROKEN, "then": [ONE_TO_TWO]}
CASES: dict[str, tuple[str, dict[str, Any], str, bool]] = {
    "a-change": (SMALL, ONE_TO_TWO, SMALL.replace("1", "2"), True),
    "no-change": (SMALL, {"replace": []}, SMALL, True),
    "a-syntax-error": (SMALL, BROKEN, SMALL, False),
    "a-placeholder": (SMALL, PLACEHOLDER, SMALL, False),
    "lost-definitions": (FUNCTIONS, LOST, FUNCTIONS, False),
    "an-empty-answer": (SMALL, {"answer": "```"}, SMALL, False),
    "crlf": ("a = 1\r\nb = a\r\n", ONE_TO_TWO, "a = 2\r\nb = a\r\n", True),
    "no-final-newline": ("a = 1\nb = a", ONE_TO_TWO, "a = 2\nb = a", True),
    "form-feed-and-wide": ("# \x0c é 𝒳\na = 1\n", ONE_TO_TWO, "# \x0c é 𝒳\na = 2\n", True),
    "a-second-try": (SMALL, RETRIED, SMALL.replace("1", "2"), True),
    "no-instruction": (SMALL, ONE_TO_TWO, SMALL, False),
}


PAIRS = [  # each case through every second interface, in turns; in CI through all
    pytest.param(interface, case, id=f"{interface.__name__}-{case}")
    for at, interface in enumerate(INTERFACES)
    for number, case in enumerate(CASES)
    if FULL or (at + number) % 2 == 0
]


@pytest.mark.parametrize(("interface", "case"), PAIRS)
def test_every_interface_edits_alike(interface, case, tmp_path, script, monkeypatch, request):
    text, answer, wanted, done = CASES[case]
    instruction = " " if case == "no-instruction" else "Change the number"
    script(**answer)
    monkeypatch.setenv("SPECEDIT_MODEL", "scripted")
    if interface is server:
        monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path / "runtime"))
        monkeypatch.setenv("SPECEDIT_SERVER", "auto")
    if interface is language_server:
        interface = partial(interface, shared=request.getfixturevalue("language_server"))
    assert interface(tmp_path, text, instruction, answer) == (wanted, done)
