"""A person at a terminal is asked once whether to trust a repository; nobody else is."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import at_a_terminal

pytest.importorskip("pty")

Play = Callable[..., Path]


def typed(answer: str, *words: str, cwd: Path) -> str:
    """What a terminal shows when these words are run and the answer is typed ahead."""
    return at_a_terminal(answer.encode(), *words, cwd=cwd)[1]


@pytest.fixture
def clone(tmp_path: Path, script: Play) -> Path:
    script(replace=[["old", "new"]], rated=True)
    root = tmp_path / "clone"
    root.mkdir()
    (root / "a.py").write_text("old = 1\n")
    (root / "pyproject.toml").write_text("[tool.specedit]\ncheck = true\n")
    return root


def test_yes_is_kept_until_the_table_changes(clone):
    shown = typed("y\n", "edit", "x", "a.py", cwd=clone)
    assert "check = true" in shown and "Trust this repository" in shown
    assert (clone / "a.py").read_text() == "old = 1\n", "its `check` counted"
    assert "Trust" not in typed("", "edit", "x", "a.py", cwd=clone)
    (clone / "pyproject.toml").write_text("[tool.specedit]\nstrict = true\n")
    shown = typed("n\n", "edit", "x", "a.py", cwd=clone)
    assert "has changed since you trusted it" in shown and "strict ignored" in shown
    assert (clone / "a.py").read_text() == "new = 1\n"


@pytest.mark.parametrize("answer", ["n\n", "\n", "what?\n"])
def test_anything_but_yes_is_no_and_is_not_asked_again(clone, answer):
    shown = typed(answer, "edit", "x", "a.py", cwd=clone)
    assert "Trust" in shown and "check ignored" in shown
    assert (clone / "a.py").read_text() == "new = 1\n"
    shown = typed("", "edit", "x", "a.py", cwd=clone)
    assert "Trust" not in shown and "check ignored" in shown


@pytest.mark.parametrize(
    "words", [("config",), ("warm", "a.py", "--server=x"), ("hook", "run"), ("edit", "x", "-")]
)
def test_background_commands_ask_nothing(clone, words):
    subprocess.run(["git", "init", "-q"], cwd=clone, check=True)
    shown = typed("\x04\x04", *words, cwd=clone)
    assert "Trust" not in shown


def test_what_a_repository_says_is_harmless_to_look_at(clone):
    (clone / "pyproject.toml").write_text(
        '[tool.specedit]\nserver = "http://x/\\u001b[2J"\nmodel = "a\\nTrust this [y/N] y"\n'
    )
    shown = typed("n\n", "edit", "x", "a.py", cwd=clone)
    assert "\x1b[2J" not in shown and "\nTrust this [" not in shown
