"""Install the wheel of this machine as users do, and run it: pip, pipx and uv, by time and size.

    python -m release.install dist [PYTHON...]

Each PYTHON is a program (default: this one). pipx and uv are used where they are installed. The
first installation fills the caches of downloads, so its time is that of the network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

BEFORE = "class User:\n    Username = None  # the Username\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Install the wheel of this machine and run it.")
    parser.add_argument("folder", type=Path, metavar="DIST")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", default=[sys.executable])
    asked = parser.parse_args()
    (wheel,) = (path.resolve() for path in asked.folder.glob("*.whl") if _is_of_here(path.name))
    for python in asked.pythons:
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            subprocess.run([python, "-m", "venv", str(home / "env")], check=True)
            own = home / "env" / ("Scripts" if os.name == "nt" else "bin")
            pip = [str(own / "python"), "-m", "pip", "install", "-q", str(wheel)]
            _report(f"{python}: pip install", pip, home, home / "env")
            _run(own / "specedit", home)
    for tool, line in (
        ("pipx", ["pipx", "install", "--python", sys.executable, str(wheel)]),
        ("uv", ["uv", "tool", "install", "--python", sys.executable, str(wheel)]),
        ("uvx", ["uvx", "--from", str(wheel), "specedit", "--version"]),
    ):
        if shutil.which(tool) is None:
            print(f"{tool}: is not installed")
            continue
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            _report(f"{tool}: {' '.join(line[1:3])}", line, home, home)
            if (program := home / "bin/specedit").exists():
                _run(program, home)


def _is_of_here(name: str) -> bool:
    from packaging.tags import sys_tags  # of pip's own dependencies: pip install packaging
    from packaging.utils import parse_wheel_filename

    return bool(parse_wheel_filename(name)[3] & set(sys_tags()))


def _environment(home: Path) -> dict[str, str]:
    """Every tool's folders in a folder that is removed; the caches of downloads stay."""
    names = ("PIPX_HOME", "UV_TOOL_DIR", "SPECEDIT_HOME", "SPECEDIT_CONFIG")
    folders = {name: str(home / name.lower()) for name in names}
    places = {"PIPX_BIN_DIR": str(home / "bin"), "UV_TOOL_BIN_DIR": str(home / "bin")}
    return {**os.environ, **folders, **places}


def _report(title: str, line: Sequence[str], home: Path, measured: Path) -> None:
    """Run an installation; print its seconds and the size of what it left in a folder."""
    started = time.monotonic()
    subprocess.run(line, env=_environment(home), cwd=home, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - started
    files = (path for path in measured.rglob("*") if path.is_file() and not path.is_symlink())
    size = sum(path.stat().st_size for path in files) / 2**20
    print(f"{title}: {seconds:.1f} s, {size:.0f} MiB", flush=True)


def _run(program: Path, home: Path) -> None:
    """The version, the state of the machine, and an edit that needs no model."""
    file = home / "user.py"
    file.write_text(BEFORE)
    for words in (
        ["--version", "-v"],
        ["doctor"],
        ["rename", "Username", "Email", str(file), "--no-model"],
    ):
        done = subprocess.run(
            [str(program), *words],
            env=_environment(home),
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"specedit {' '.join(words)} failed: {done.stdout}{done.stderr}")
        if words[0] == "--version":
            print("  " + "; ".join(done.stdout.splitlines()))
    if file.read_text() != BEFORE.replace("Username", "Email"):
        sys.exit(f"specedit rename wrote {file.read_text()!r}")


if __name__ == "__main__":
    main()
