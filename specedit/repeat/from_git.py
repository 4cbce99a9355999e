"""The example that git knows: the uncommitted change, or the change of one commit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from specedit.errors import FileError, GitError, UsageError
from specedit.files.git import ask
from specedit.files.source import Source
from specedit.files.source import read as read_source
from specedit.repeat.example import ExampleFile
from specedit.scoping.languages import rules_of
from specedit.syntax.languages import Language, language_of

MOST_FILES = 300  # of an example


def is_commit(root: Path, name: str) -> bool:
    if name.startswith("-"):
        return False
    words = ("rev-parse", "--verify", "-q", f"{name}^{{commit}}")
    return ask(root, *words, codes=(0, 1, 128))[0] == 0


def uncommitted(root: Path) -> list[ExampleFile]:
    """What the work tree changed in files of the last commit."""
    if not is_commit(root, "HEAD"):
        raise GitError("There is no commit yet, so there is no change.", hint=EXAMPLE)
    examples = []
    for path in _changed(root, "HEAD"):
        try:
            after = read_source(root / path).text
        except FileError:
            continue
        examples += _example(root, path, "HEAD", after)
    return examples


EXAMPLE = "Change one place by hand, then run specedit repeat; or --example OLD NEW."


def of_commit(root: Path, name: str) -> list[ExampleFile]:
    """What a commit changed, compared with its first parent."""
    if not is_commit(root, f"{name}^"):
        raise UsageError(f"{name} has no parent, so it changed nothing.", hint=EXAMPLE)
    examples = []
    for path in _changed(root, f"{name}^", name):
        after = _blob(root, name, path)
        if after is not None:
            examples += _example(root, path, f"{name}^", after)
    return examples


def _changed(root: Path, *commits: str) -> Sequence[str]:
    words = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=M", *commits, "--")
    names = [os.fsdecode(name) for name in ask(root, *words)[1].split(b"\0") if name]
    known = [name for name in names if is_code(language_of(name))]
    if len(known) > MOST_FILES:
        raise UsageError(
            f"The example changes {len(known)} files; one place is enough.",
            hint="specedit repeat --example OLD NEW takes one file before and after.",
        )
    return known


def is_code(language: Language | None) -> bool:
    """Whether a language is a programming language whose grammar and names are known."""
    return language is not None and bool(language.grammar) and rules_of(language.name) is not None


def _example(root: Path, path: str, commit: str, after: str) -> list[ExampleFile]:
    before = _blob(root, commit, path)
    language = language_of(path, after)
    if before is None or language is None or before == after:
        return []
    name = os.path.relpath(root / path, Path.cwd())
    return [ExampleFile(name, before, after, language)]


def _blob(root: Path, commit: str, path: str) -> str | None:
    code, out = ask(root, "cat-file", "blob", f"{commit}:{path}", codes=(0, 128))
    if code:
        return None
    try:
        return Source.from_bytes(path, out).text
    except FileError:
        return None
