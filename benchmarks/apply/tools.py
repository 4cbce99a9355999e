"""What merges a change into a file: specedit's apply, and its peers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.apply.cases import Case
from specedit import Editor
from specedit.edit.apply.apply_plan import changes_of, parts_of, plan_apply
from specedit.edit.apply.change import read_change
from specedit.edit.apply.merging import merge_parts
from specedit.edit.report import Edit
from specedit.errors import SpeceditError
from specedit.files.source import Source
from specedit.settings import Settings

SETTINGS = Settings(no_model=True)
PROMPT = "Merge this change into the file. Where it elides code, the file's own lines stay.\n\n"


@dataclass(frozen=True)
class Answer:
    """The new file, or why there is none; how its parts were merged, for specedit alone."""

    data: bytes | None
    message: str = ""
    how: tuple[str, ...] = ()


Tool = Callable[[Case], Answer]


def merged(case: Case) -> Answer:
    """specedit's merge alone: without the checks, the model and the file names of a change."""
    source = _source(case)
    parts = [part for one in read_change(case.change) for part in one.parts]
    result = merge_parts(source.text, parts, source.name)
    how = tuple(part.how for part in result.parts)
    if result.text is None:
        return Answer(None, "; ".join(ambiguou.reason for ambiguou in result.ambiguous), how)
    return Answer(source.encode(result.text), "", how)


def applied(case: Case) -> Answer:
    """What `specedit apply` writes: the merge, where the checks accept it."""
    source = _source(case)
    try:
        parts = parts_of(changes_of(case.change), case.path or source.name)
        planned = plan_apply(source, parts, SETTINGS)
        if isinstance(planned, Edit):
            return Answer(None, "; ".join(str(finding) for finding in planned.findings))
        assert planned.known is not None
        judged = planned.judge(planned.known)
    except SpeceditError as error:
        return Answer(None, str(error))
    how = tuple(part.how for part in judged.parts)
    if judged.problems:
        return Answer(None, "; ".join(str(problem) for problem in judged.problems), how)
    return Answer(source.encode(judged.text), "", how)


@contextmanager
def patched() -> Iterator[Tool]:
    """`patch`, with its usual fuzz of 2 lines."""

    with TemporaryDirectory() as folder:

        def run(case: Case) -> Answer:
            arguments = ["patch", "--batch", "--forward", "--fuzz=2", "--reject-file=-"]
            return _run(case, Path(folder), [*arguments, case.record.name, "change"])

        yield run


@contextmanager
def git_applied() -> Iterator[Tool]:
    """`git apply --3way`; the counts of the hunks are not trusted."""
    with TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        options = ["-c", "core.autocrlf=false", "-c", "core.safecrlf=false"]

        def run(case: Case) -> Answer:
            path = Path(folder, case.record.name)
            path.write_bytes(case.record.encode(case.record.before))
            subprocess.run(["git", *options, "add", path.name], cwd=folder, check=True)
            command = ["git", *options, "apply", "--3way", "--recount", "change"]
            return _run(case, Path(folder), command)

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


@contextmanager
def rewritten(settings: dict[str, Any]) -> Iterator[Tool]:
    """The model rewrites the whole file, with the file as the prediction."""
    with Editor(**settings, whole=True) as editor:
        yield lambda case: _answer(lambda: editor.edit(PROMPT + case.change, _source(case)))


def _answer(ask: Callable[[], Edit]) -> Answer:
    try:
        edit = ask()
    except SpeceditError as error:
        return Answer(None, str(error))
    how = tuple(part.how for part in edit.parts) or ("model",)
    if edit.status == "refused":
        return Answer(None, "; ".join(map(str, edit.problems)), how)
    return Answer(edit.after, "", how)


def _source(case: Case) -> Source:
    return Source.from_bytes(case.record.name, case.record.encode(case.record.before))
