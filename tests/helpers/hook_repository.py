"""A repository with rules, and the real command line with the scripted engine behind it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from command_line import in_this_process
from git_repository import Repository

import specedit

# PYTHONPATH of a process that has this package and the scripted engine.
START = os.pathsep.join(
    [str(Path(__file__).with_name("start")), str(Path(specedit.__file__).parents[1])]
)


@dataclass(frozen=True)
class Hooked:
    """A repository, its store and the script its model plays."""

    repo: Repository
    calls: Path

    @classmethod
    def make(cls, root: Path, rules: str, **script: object) -> Hooked:
        base = root.parent
        calls, path = base / "calls.txt", base / "script.json"
        path.write_text(json.dumps({"replace": [["Old", "New"]], **script, "calls": str(calls)}))
        repo = Repository.init(
            root,
            PYTHONPATH=START,
            SPECEDIT_MODEL=str(path),  # a change of the script is a change of the model
            TESTS_SCRIPT=str(path),
            SPECEDIT_HOME=str(base / "store"),
            SPECEDIT_CONFIG=str(base / "config"),
            SPECEDIT_SERVER="off",
        )
        repo.write("pyproject.toml", rules)
        return cls(repo, calls)

    def play(self, **script: object) -> None:
        """What the model says from now on; prompts are counted anew."""
        self.calls.unlink(missing_ok=True)
        path = self.calls.with_name("script.json")
        path.write_text(json.dumps({**script, "calls": str(self.calls)}))

    @property
    def asked(self) -> int:
        """How many prompts the model has seen."""
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0

    def specedit(self, *words: str) -> tuple[int, str, str]:
        """The command line in this process: exit code, stdout, stderr."""
        with mock.patch.dict(os.environ, self.repo.env, clear=True):
            done = in_this_process(*words, cwd=self.repo.root)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def process(self, code: str) -> str:
        """Python in a process of its own, with this repository's settings; its stdout."""
        return self.repo.run(sys.executable, "-c", code).stdout.decode()

    def commit(self, *words: str) -> tuple[int, str]:
        """`git commit`, hooks and all; its exit code and what it said."""
        done = self.repo.run("git", "commit", "-q", "-m", "next", *words, ok=False)
        return done.returncode, (done.stdout + done.stderr).decode()
