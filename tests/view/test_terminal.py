"""What a repository calls its files, and writes into its settings, never moves a terminal."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import at_a_terminal
from git_repository import Repository

RED = "\x1b[31m"
SAYS = "\nspecedit: all is well"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such names")


@pytest.fixture
def repo(tmp_path: Path, script: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    script(replace=[["old", "new"]])
    made = Repository.init(tmp_path / "repo")
    made.write(f"e{RED}{SAYS}.py", "old = 1\n")
    made.write(f"b{RED}{SAYS}.py", b"\xff\xfe\0")
    made.write("a.py", "old = 1\n")
    (made.root / f"l{RED}.py").symlink_to(tmp_path / f"home{RED}")
    (tmp_path / f"home{RED}").write_text("old = 1\n")
    made.write(
        "pyproject.toml",
        "[[tool.specedit.hook]]\n"
        'instruction = "new\\u001b[31m\\nspecedit: all is well"\nmode = "check"\n',
    )
    made.git("add", "-A")
    monkeypatch.chdir(made.root)
    return made.root


@pytest.mark.parametrize(
    "words",
    [
        ("hook", "run"),
        ("config",),
        ("edit", "x", f"e{RED}{SAYS}.py", "--clean-only"),
        ("edit", "x", f"l{RED}.py"),
        ("edit", "x", "-", "--stdin-filename", f"x{RED}/"),
        ("view", f"e{RED}.py"),
        ("view", f"gone{RED}.py"),
        ("warm", f"gone{RED}.py"),
        ("edit", "x", "a.py", "--trace", f"e{RED}{SAYS}.py"),
    ],
    ids=lambda words: " ".join(words[:2]).replace(RED, ""),
)
def test_names_and_settings_of_a_repository_are_shown_and_not_obeyed(
    repo, inside, words, monkeypatch
):
    monkeypatch.setenv("SPECEDIT_RUNTIME", "/dev/null/nowhere")
    if words == ("config",):
        Path("pyproject.toml").write_text('[tool.specedit]\ndraft = "\\u001b[31m[/b]"\n')
    done = inside(*words)
    assert done.stderr or words == ("config",)
    for said in (done.stderr, done.stdout):
        assert b"\x1b" not in said and b"Traceback" not in said, said.decode()
    if words == ("hook", "run"):
        assert b"\nspecedit: all is well" not in done.stderr


def test_the_question_about_a_link_shows_the_whole_of_both_names(repo):
    _, shown = at_a_terminal(b"n\n", "edit", "x", f"l{RED}.py")
    question = shown.partition("[y/N]")[0]
    assert "home\u241b[31m" in question and "\x1b" not in question
