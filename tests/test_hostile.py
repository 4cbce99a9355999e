"""Source files made to break a parser, read by every command that parses.

`python -m pytest -m faults tests/test_hostile.py` reads all of them.
"""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import hostile
import pytest
from case_files import rows
from effort import some
from git_repository import Repository
from hostile import FRAMES, NAME, OTHER, Outcome, pieces
from lsp_client import Process

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
SIZES = (60_000, 500_000)  # characters
FEW = 150  # the default group reads each so-manieth of the texts,
SMALL = 20_000  # characters of it
RULE = f'[[tool.specedit.hook]]\nrename = {{{NAME} = "{OTHER}"}}\nmode = "check"\n'


def _run(*words: str) -> int:
    from specedit.cli import run

    return run(list(words))


def _rename(path: Path) -> int:
    return _run("rename", NAME, OTHER, path.name, "--no-model", "--diff")


def _edit(path: Path) -> int:
    return _run("edit", f"Rename {NAME} to {OTHER}", path.name, "--diff", "--yes")


def _check(path: Path) -> int:
    """All of the file is copied and changed, and every check reads it."""
    flags = ("--whole", "--diff", "--tries", "1", "--yes")
    return _run("edit", "Add a method `run`", path.name, *flags)


def _apply(path: Path) -> int:
    last = path.read_text().splitlines()[-1]
    new = last.replace("last", "late").replace("return", "return 1 +")
    change = path.with_name("change.txt")
    change.write_text(f"<<<<<<< SEARCH\n{last}\n=======\n{new}\n// added\n>>>>>>> REPLACE\n")
    return _run("apply", path.name, change.name, "--diff")


def _snippet(path: Path) -> int:
    lines = path.read_text().splitlines()
    change = path.with_name("change.txt")
    change.write_text("\n".join([*lines[:2], "// ... existing code ...", "added", *lines[2:][-2:]]))
    return _run("apply", path.name, change.name, "--diff")


def _hook(path: Path) -> int:
    return _run("hook", "run")


def _lsp(path: Path) -> int:
    """A rename of the last name, asked for by an editor."""
    process = Process(path.parent)
    editor = process.editor
    editor.start()
    text, uri = path.read_text(), path.as_uri()
    editor.open(uri, text)
    before = text[: text.rindex(NAME)]
    line = before.count("\n")
    number = editor.rename(uri, (line, len(before) - before.rfind("\n") - 1), OTHER)
    print(json.dumps(editor.wait(number, timeout_s=60))[:1000])
    return process.leave()


COMMANDS: dict[str, Callable[[Path], int]] = {
    "rename": _rename,
    "edit": _edit,
    "check": _check,
    "apply": _apply,
    "snippet": _snippet,
    "hook": _hook,
    "lsp": _lsp,
}


@pytest.fixture
def repository(tmp_path: Path, script: Callable[..., Path]) -> Repository:
    """Where the commands run: with a rule for the hook, and a model that does as it is asked."""
    script(replace=[[NAME, OTHER]], window=8 * SIZES[0])
    made = Repository.init(tmp_path / "tree")
    made.write("pyproject.toml", RULE)
    return made


def _read(repository: Repository, command: str, suffix: str, text: str) -> Outcome:
    """What becomes of one command and one text."""
    path = repository.root / f"f{suffix}"
    path.write_text(text, encoding="utf-8", newline="")
    if command == "hook":
        repository.git("add", path.name)

    def work() -> int:
        os.chdir(repository.root)
        return COMMANDS[command](path)

    return hostile.read(work)


def _texts(language: str, size: int, share: tuple[int, int] = (0, 1)) -> dict[str, str]:
    """Hostile texts by name, by turns on their own and in a function. `share`: each so-manieth."""
    frame, first, step = FRAMES[language], *share
    named = list(pieces().items())[first::step]
    return {
        f"{name} {place}": ends[0] + piece(size) + ends[1]
        for at, (name, piece) in enumerate(named)
        for place, ends in [(("alone", frame.alone), ("inside", frame.inside))[at % 2]]
    }


def _problems(
    repository: Repository, language: str, command: str, texts: Mapping[str, str]
) -> list[str]:
    """What is wrong with each, if anything is. The limit of a few seconds is for 60,000 characters;
    smaller and larger texts may take any time that `hostile.read` leaves."""
    problems = []
    for name, text in texts.items():
        outcome = _read(repository, command, FRAMES[language].suffix, text)
        timed = 2 * SMALL < len(text) < 2 * SIZES[0]
        if outcome.problem and (outcome.problem != "slow" or timed):
            problems.append(
                f"{command} {language} {name}: {outcome.problem}, {outcome.seconds:.1f} s, "
                f"{outcome.memory_mb:.0f} MB, {outcome.output[-2000:]}"
            )
    return problems


@pytest.mark.parametrize("language", some(FRAMES, 3))
def test_a_hostile_file_ends_no_rename(repository, language):
    turn = list(FRAMES).index(language)
    texts = _texts(language, SMALL, (4 * turn, FEW))
    assert not _problems(repository, language, "rename", texts)


@pytest.mark.parametrize("command", some(COMMANDS, 2))
def test_a_hostile_file_ends_no_command(repository, command):
    turn = list(COMMANDS).index(command)
    texts = _texts("python", SMALL, (8 * turn, FEW))
    assert not _problems(repository, "python", command, texts)


@rows("language command piece")
def test_a_hostile_file_that_once_ended_a_command_does_not(repository, language, command, piece):
    frame = FRAMES[language]
    first, last = frame.alone if piece.endswith(";\n") or piece == "\n" else frame.inside
    text = first + hostile.repeated(piece, SIZES[0]) + last
    assert not _problems(repository, language, command, {repr(piece): text})


def test_a_line_of_mentions_in_a_file_that_is_not_code_ends_no_rename(repository):
    """It took 14 s, in which a language server answered nothing."""
    repository.write("notes.txt", f"{NAME} " * (SIZES[1] // 9))
    repository.write("f.py", f"{NAME} = 1\n")

    def work() -> int:
        os.chdir(repository.root)
        return _run("rename", NAME, OTHER, "--incomplete", "--diff")

    outcome = hostile.read(work)
    assert (outcome.code, outcome.problem) == (0, ""), outcome


@pytest.mark.faults
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", FRAMES)
def test_no_hostile_file_ends_a_command(repository, language, size):
    """Each text is read by one command, in each language by another."""
    problems, first = [], list(FRAMES).index(language)
    for turn, command in enumerate(COMMANDS):
        share = ((first + turn) % len(COMMANDS), len(COMMANDS))
        problems += _problems(repository, language, command, _texts(language, size, share))
    assert not problems, "\n".join(problems)
