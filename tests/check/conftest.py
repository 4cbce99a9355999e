"""The fixture `checked`: an answer of the scripted engine, edited in by the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Specedit

Checked = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def checked(specedit: Specedit, script: Callable[..., Path], tmp_path: Path) -> Checked:
    """Edit a file that holds `before`; the model answers `after`. Gives what the report finds, and
    asserts that the file is written exactly if nothing refuses."""

    def run(
        before: str, after: str, name: str, *flags: str, instruction: str = "Do it"
    ) -> list[dict[str, Any]]:
        path = tmp_path / name
        path.write_bytes(before.encode())
        script(answer=f"{after}````", words=True)
        once = ("--whole", "--tries", "1", "--yes", "--json")
        one_drafter = {
            "SPECEDIT_DRAFT": "prediction"
        }  # others would change the speed, not the text
        done = specedit("edit", instruction, name, *once, *flags, cwd=tmp_path, env=one_drafter)
        assert done.stdout, done.stderr.decode()
        (file,) = json.loads(done.stdout)["files"]
        findings: list[dict[str, Any]] = file["findings"]
        refused = any(finding["verdict"] == "refuse" for finding in findings)
        assert done.returncode == (2 if refused else 1 if before == after else 0), findings
        written = before if refused else after.rstrip("\n") + "\n"
        assert path.read_bytes().decode() == written
        return findings

    return run
