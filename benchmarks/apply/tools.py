"""What merges a change into a file: specedit's apply, and its peers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.apply.cases import Case
from specedit import Editor, Source, SpeceditError


@dataclass(frozen=True)
class Answer:
    """The new file, or why there is none."""

    data: bytes | None
    message: str = ""


Tool = Callable[[Case], Answer]


@contextmanager
def applied() -> Iterator[Tool]:
    """`specedit apply`."""
    with Editor(server="off") as editor:

        def run(case: Case) -> Answer:
            record = case.record
            source = Source.from_bytes(case.path or record.name, record.encode(record.before))
            try:
                edit = editor.apply(case.change, source)
            except SpeceditError as error:
                return Answer(None, str(error))
            if edit.status == "refused":
                return Answer(None, "; ".join(map(str, edit.problems)))
            return Answer(edit.after)

        yield run


@contextmanager
def patched() -> Iterator[Tool]:
    """`patch`, with its usual fuzz of 2 lines."""
    with TemporaryDirectory() as folder:
        options = ["--batch", "--forward", "--fuzz=2", "--reject-file=-"]
        yield lambda case: _run(case, Path(folder), ["patch", *options, case.record.name, "change"])


@contextmanager
def git_applied() -> Iterator[Tool]:
    """`git apply --3way`; the counts of the hunks are not trusted."""
    with TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        git = ["git", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false"]

        def run(case: Case) -> Answer:
            path = Path(folder, case.record.name)
            path.write_bytes(case.record.encode(case.record.before))
            subprocess.run([*git, "add", path.name], cwd=folder, check=True)
            return _run(case, Path(folder), [*git, "apply", "--3way", "--recount", "change"])

        yield run


def _run(case: Case, folder: Path, command: list[str]) -> Answer:
    path = folder / case.record.name
    path.write_bytes(case.record.encode(case.record.before))
    diff = case.change
    if diff.startswith("```"):
        diff = "".join(diff.splitlines(keepends=True)[1:-1])
    (folder / "change").write_bytes(diff.encode("utf-8", "surrogatepass"))
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
    if done.returncode:
        output = (done.stderr or done.stdout).decode("utf-8", "replace")
        return Answer(None, output.strip().split("\n")[0])
    return Answer(path.read_bytes())


TOOLS = {"specedit": applied, "patch": patched, "git": git_applied}
