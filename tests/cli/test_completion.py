"""Completion in real shells: `--install-completion`, the Tab key, and what the shell shows."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tools

SHELLS = ("bash", "zsh", "fish")
NEEDED = SHELLS if os.environ.get("CI", "").lower() == "true" else []
FOUND = [name for name in SHELLS if shutil.which(name) or name in NEEDED]
CASES = {
    "command": ("specedit doct", "specedit doctor"),
    "flag": ("specedit edit --dif", "specedit edit --diff"),
    "command of a group": ("specedit model sug", "specedit model suggest"),
}
DRAWING = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]|[\x07\x08\r]")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user without a shell's configuration, and `specedit` on the PATH."""
    program = tmp_path / "bin/specedit"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specedit "$@"\n')
    program.chmod(0o755)
    (tmp_path / ".zshrc").write_text("PS1='> '\n")  # without one zsh asks a new user
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    for name, value in {"HOME": tmp_path, "XDG_CONFIG_HOME": tmp_path / ".config"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("shell", FOUND)
def test_a_shell_completes(shell, home):
    install = [shell, "-c", "specedit --install-completion; true"]  # the shell is its parent
    subprocess.run(install, capture_output=True, check=True)
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(shell, [shell, "-i"])
    try:
        shown(terminal, b"echo rea''dy\n", "ready")
        for typed, wanted in CASES.values():
            shown(terminal, typed.encode() + b"\t", wanted, again=b"\t")
            os.write(terminal, b"\x15")  # Ctrl-U: clear the line
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


def shown(terminal: int, typed: bytes, wanted: str, *, again: bytes = b"") -> None:
    """Type, and read what the shell draws until it has shown this text. Type `again` after silence:
    in zsh the first Tab only loads the script."""
    os.write(terminal, typed)
    text = b""
    for _ in range(10):
        while select.select([terminal], [], [], 3)[0]:
            text += os.read(terminal, 4096)
            if wanted.encode() in DRAWING.sub(b"", text):
                return
        os.write(terminal, again)
    pytest.fail(f"{wanted} is not shown: {text!r}")
