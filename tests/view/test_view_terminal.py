"""What the user sees: the tool in a real terminal (tmux), read from its screen."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hook_repository import START

from specedit import __file__ as package

pytestmark = pytest.mark.tools

NEEDED = os.environ.get("CI", "").lower() == "true"
in_a_terminal = pytest.mark.parametrize("tmux", ["tmux"] if shutil.which("tmux") or NEEDED else [])
ROOT = Path(package).parents[1]

Look = Callable[[str], str]


@pytest.fixture
def terminal(tmux: str, tmp_path: Path) -> Iterator[Callable[..., Look]]:
    """Start a command in a terminal; the result waits for a pattern on its screen."""
    base = [tmux, "-f", os.devnull, "-S", str(tmp_path / "tmux")]

    def start(*arguments: str, width: int = 100, environment: dict[str, str] | None = None) -> Look:
        own = ("SPECEDIT_", "TESTS_")
        names = {n: v for n, v in os.environ.items() if n.startswith(own)}
        items = {**names, "PYTHONPATH": START, **(environment or {})}
        ours = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")
        words = ["env", *(f"-u{n}" for n in ours), *(f"{n}={v}" for n, v in items.items())]
        command = shlex.join([*words, sys.executable, "-m", "specedit", *arguments])
        shell = f"until [ -e go ]; do sleep 0.05; done; {command}; echo finished; sleep 120"
        size = ["-x", str(width), "-y", "40"]
        subprocess.run([*base, "new-session", "-d", *size, "-c", str(tmp_path), shell], check=True)
        drawn = shlex.join(["tee", str(tmp_path / "drawn")])
        subprocess.run([*base, "pipe-pane", drawn + " > /dev/null"], check=True)
        (tmp_path / "go").touch()

        def look(pattern: str) -> str:
            deadline = time.monotonic() + 60
            while True:
                screen = subprocess.run(
                    [*base, "capture-pane", "-p", "-e"], capture_output=True, check=False
                ).stdout.decode()
                if re.search(pattern, plain(screen)):
                    return screen
                assert time.monotonic() < deadline, f"no {pattern!r} on\n{plain(screen)}"
                time.sleep(0.1)

        return look

    yield start
    subprocess.run([*base, "kill-server"], check=False, capture_output=True)


def plain(screen: str) -> str:
    return re.sub(r"\x1b\[[0-9;:]*m", "", screen)


def prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"def get_{n}(user):\n    return user.username\n\n" for n in range(12)]
    (tmp_path / "a.py").write_text("".join(lines))
    script = {"replace": [["username", "email"]], "delay_s": 0.08}
    (tmp_path / "script.json").write_text(json.dumps(script))
    monkeypatch.setenv("TESTS_SCRIPT", str(tmp_path / "script.json"))


@in_a_terminal
def test_the_change_grows_above_the_progress_line_and_stays_coloured_at_the_end(
    terminal, tmp_path, monkeypatch
):
    prepare(tmp_path, monkeypatch)
    look = terminal("edit", "Rename it.", "a.py", width=120)
    done = look(r"finished")
    assert re.search(r"a\.py: edited, 1 hunk, \+12 -12 · .* passes · \d+% accepted", plain(done))
    assert "decoding," not in plain(done)
    while_working = (tmp_path / "drawn").read_text(encoding="utf-8").rpartition("decoding,")[0]
    assert "accepted" in while_working and "email" in while_working
    assert "\x1b[3" in done
    assert (tmp_path / "a.py").read_text().count("email") == 12


@in_a_terminal
def test_no_color_is_honoured(terminal, tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch)
    look = terminal("edit", "Rename it.", "a.py", environment={"NO_COLOR": "1"}, width=60)
    done = look(r"finished")
    assert not re.search(r"\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]", done)
