"""Small commits of one source file, from the history of git repositories, and their instructions.

An instruction is what somebody would ask for who wants the change. Until one is written, it is the
commit's subject. A line of a file of instructions has `id` and one or more texts: `short`, as a
busy programmer types it, and `explicit`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from specedit.errors import SpeceditError
from specedit.files.source import Source
from specedit.syntax.languages import language_of

MAX_CHANGED_LINES = 40  # added and removed
MAX_CHARACTERS = 60_000  # of the file
TEXTS = ("short", "explicit")
Row = dict[str, Any]


def mined(repository: Path, most: int) -> Iterator[Row]:
    """The newest commits that change one file of a known language a little, at most so many."""
    log = _git(repository, "log", "--no-merges", "--numstat", "--format=%x00%H%x09%s")
    for entry in log.decode("utf-8", "replace").split("\0")[1:]:
        head, *files = [line for line in entry.split("\n") if line]
        commit, _, subject = head.partition("\t")
        added, removed, path = files[0].split("\t") if len(files) == 1 else ("-", "-", "")
        if not added.isdigit() or not 0 < int(added) + int(removed) <= MAX_CHANGED_LINES:
            continue
        language = language_of(path)
        if language is None or not language.grammar:
            continue
        try:
            before, after = (
                Source.from_bytes(path, _git(repository, "show", f"{at}:{path}")).text
                for at in (f"{commit}^", commit)
            )
        except (SpeceditError, subprocess.CalledProcessError):  # new, moved, or not text
            continue
        if before != after and max(len(before), len(after)) <= MAX_CHARACTERS:
            about = {"id": commit[:10], "repository": repository.resolve().name, "path": path}
            yield about | {"subject": subject, "before": before, "after": after}
            most -= 1
        if not most:
            return


def _git(repository: Path, *words: str) -> bytes:
    command = ["git", "-C", str(repository), *words]
    return subprocess.run(command, capture_output=True, check=True).stdout


def instructions_of(row: Row, written: Mapping[str, Row]) -> list[str]:
    """What to ask for a commit's change."""
    texts = [written.get(row["id"], {}).get(kind, "") for kind in TEXTS]
    return list(dict.fromkeys(filter(None, texts))) or [row["subject"]]


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of JSON lines; a text in one may have line ends of other kinds."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
