"""Driving a real editor, headless, against the real command line with the scripted engine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hook_repository import START

BUFFER = "x = 1\nOld = 2\ny = Old\nz = 3\n"


def find(program: str) -> str:
    """The editor's path. CI installs them all; elsewhere a missing one leaves its tests out."""
    found = shutil.which(program)
    if found is None and os.environ.get("CI") != "true":
        pytest.skip(f"{program} is not installed")
    assert found is not None, f"{program} is missing, and this is CI"
    return found


@dataclass
class Desk:
    """A folder with one file, a script for the engine, and what the editor is told."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)
    script: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def make(cls, root: Path) -> Desk:
        desk = cls(root / "folder with space")
        desk.root.mkdir()
        place = root / "bin"
        place.mkdir()
        program = place / "specedit"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specedit "$@"\n')
        program.chmod(0o755)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SPECEDIT_")}
        desk.env = {
            **kept,
            "PATH": f"{place}:{kept['PATH']}",
            "PYTHONPATH": START,
            "HOME": str(root),
            "XDG_CONFIG_HOME": str(root / "config"),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "TESTS_SCRIPT": str(root / "script.json"),
            "SPECEDIT_HOME": str(root / "store"),
            "SPECEDIT_CONFIG": str(root / "config" / "specedit"),
            "SPECEDIT_SERVER": "off",
            "SPECEDIT_ALLOW": "undefined",  # words become others here, not programs
            "SPECEDIT_TRIES": "1",
        }
        desk.play(replace=[["Old", "New"]])
        desk.write("a é.py", BUFFER)
        return desk

    def play(self, **script: object) -> None:
        """What the model says from now on."""
        Path(self.env["TESTS_SCRIPT"]).write_text(json.dumps(script))

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.write_bytes(text.encode())
        return path

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            words,
            cwd=self.root,
            env=self.env,
            input=stdin.encode(),
            capture_output=True,
            timeout=300,
        )

    def result(self, done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
        """What the editor wrote about itself before it ended."""
        path = self.root / "result.json"
        assert path.exists(), (done.stdout + done.stderr).decode("utf-8", "replace")
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
