"""The example that git knows: the uncommitted change, or the change of one commit."""

from __future__ import annotations

import os
from pathlib import Path

from specedit.errors import FileError, GitError, UsageError
from specedit.files.git import ask
from specedit.files.source import Source
from specedit.files.source import read as read_source
from specedit.repeat.example import ExampleFile
from specedit.scoping.languages import rules_of
from specedit.syntax.languages import Language, language_of

MOST_FILES = 300  # of an example
EXAMPLE = "Change one place by hand, then run specedit repeat; or --example OLD NEW."


def is_commit(root: Path, name: str) -> bool:
    if name.startswith("-"):
        return False
    words = ("rev-parse", "--verify", "-q", f"{name}^{{commit}}")
    return ask(root, *words, codes=(0, 1, 128))[0] == 0


def uncommitted(root: Path) -> list[ExampleFile]:
    """What the work tree changed in files of the last commit."""
    if not is_commit(root, "HEAD"):
        raise GitError("There is no commit yet, so there is no change.", hint=EXAMPLE)
    return _changed(root, "HEAD")


def of_commit(root: Path, name: str) -> list[ExampleFile]:
    """What a commit changed, compared with its first parent."""
    if not is_commit(root, f"{name}^"):
        raise UsageError(f"{name} has no parent, so it changed nothing.", hint=EXAMPLE)
    return _changed(root, f"{name}^", name)


def _changed(root: Path, before: str, after: str = "") -> list[ExampleFile]:
    """What changed in files of known languages up to the commit `after`, or the work tree."""
    commits = [before, after] if after else [before]
    words = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=M", *commits, "--")
    names = [os.fsdecode(name) for name in ask(root, *words)[1].split(b"\0") if name]
    known = [name for name in names if is_code(language_of(name))]
    if len(known) > MOST_FILES:
        raise UsageError(
            f"The example changes {len(known)} files; one place is enough.",
            hint="specedit repeat --example OLD NEW takes one file before and after.",
        )
    examples = []
    for path in known:
        try:
            old = _committed(root, before, path)
            new = _committed(root, after, path) if after else read_source(root / path)
        except (FileError, GitError):  # not a text; a submodule
            continue
        if new.language is not None and old.text != new.text:
            name = os.path.relpath(root / path, Path.cwd())
            examples.append(ExampleFile(name, old.text, new.text, new.language))
    return examples


def _committed(root: Path, commit: str, path: str) -> Source:
    return Source.from_bytes(path, ask(root, "cat-file", "blob", f"{commit}:{path}")[1])


def is_code(language: Language | None) -> bool:
    """Whether a language is a programming language whose grammar and names are known."""
    return language is not None and bool(language.grammar) and rules_of(language.name) is not None
