"""A real git repository in a temp folder, for the tests that need one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CLEAN = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "LC_ALL": "C.UTF-8",
}


def environment(**more: str) -> dict[str, str]:
    """This process's variables without what a surrounding hook or a developer set."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "SPECEDIT_"))}
    return {**kept, **CLEAN, **more}


@cache
def _empty() -> tempfile.TemporaryDirectory[str]:
    """A new repository, which the others are copies of: `git init` takes several milliseconds."""
    folder = tempfile.TemporaryDirectory(prefix="specedit-repository")
    words = ["git", "init", "-q", "-b", "main", "--template=", folder.name]  # a third of the files
    subprocess.run(words, env=environment(), check=True)
    return folder


@dataclass(frozen=True)
class Repository:
    """One work tree. Every git call is a process of the real git."""

    root: Path
    env: dict[str, str]

    @classmethod
    def init(cls, root: Path, **env: str) -> Repository:
        shutil.copytree(_empty().name, root, dirs_exist_ok=True)
        return cls(root, environment(**env))

    def at(self, root: Path) -> Repository:
        return Repository(root, self.env)

    def run(self, *words: str, ok: bool = True) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            words, cwd=self.root, env=self.env, capture_output=True, stdin=subprocess.DEVNULL
        )
        if ok and done.returncode:
            raise AssertionError(f"{words}: {done.returncode}\n{done.stdout!r}\n{done.stderr!r}")
        return done

    def git(self, *words: str, ok: bool = True) -> str:
        done = self.run("git", *words, ok=ok)
        return done.stdout.decode("utf-8", "surrogateescape")

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def read(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()

    def stage(self, files: Mapping[str, str | bytes]) -> None:
        """Write the files, and stage everything."""
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "-A")

    def commit(self, files: dict[str, str], message: str = "change") -> None:
        """Write the files, stage everything, commit without hooks."""
        self.stage(files)
        self.git("commit", "-q", "--no-verify", "-m", message)

    def status(self) -> str:
        return self.git("status", "--porcelain")
