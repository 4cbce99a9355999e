"""A session over texts: files and standard input alike; which failures stop what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_backend import Scripted

from specedit.cli.work import Follower
from specedit.edit.backend import Answer, Event, Plan, Ready
from specedit.edit.inputs import Input, Planner, of_files, of_stdin
from specedit.edit.job import Planned, plan_edit
from specedit.edit.report import Edit
from specedit.edit.session import EditSession, Proposed
from specedit.errors import GitError, InputError, ModelError, RefusedEdit, ServerError, UsageError
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.view.contract import report_json

SETTINGS = Settings()
CODE = "a = 1\n" + "x = 0\n" * 12 + "b = 2\n"
NEW = CODE.replace("1", "8").replace("2", "9")


def planner(instruction: str = "Change the numbers") -> Planner:
    return lambda source: plan_edit(source, instruction, SETTINGS)


def session_of(
    inputs: list[Input], plans: Planner | None = None, *, writes: bool = False
) -> EditSession:
    backend = Scripted(NEW + "```")
    return EditSession("edit", inputs, plans or planner(), backend, SETTINGS, writes=writes)


def test_files_and_stdin_take_the_same_path(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(CODE)
    kinds = []
    for inputs in (of_files([str(path)]), [of_stdin(CODE.encode(), "a.py")]):
        items = [item for _, item in session_of(inputs)]
        assert isinstance(items[0], Planned)
        assert isinstance(items[-3], Answer)
        assert isinstance(items[-2], Proposed)
        last = items[-1]
        assert isinstance(last, Edit) and last.after == NEW.encode()
        kinds.append([type(item).__name__ for item in items])
    assert kinds[0] == kinds[1]
    assert path.read_text() == CODE  # it was not asked to write


def test_the_part_that_the_user_chose_is_written(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a.py", "b.py", "c.py")]
    for name in names:
        Path(name).write_text(CODE)
    session = session_of(of_files(names), writes=True)
    part = CODE.replace("1", "8")
    for name, item in session:
        if isinstance(item, Proposed):
            session.replace_text(part)
            if name == names[1]:
                session.skip_rest("enough")
    assert [Path(name).read_text() for name in names] == [part, part, CODE]
    assert [edit.status for edit in session.report().edits] == ["edited", "edited", "unchanged"]
    assert session.report().edits[2].notes == ("enough",)


def test_a_part_that_does_not_parse_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(CODE)
    session = session_of(of_files([str(path)]), writes=True)
    for _, item in session:
        if isinstance(item, Proposed):
            session.replace_text("a = (\n")
    assert path.read_text() == CODE
    assert session.report().edits[0].status == "refused"


@pytest.mark.parametrize("kind", [InputError, RefusedEdit], ids=lambda kind: kind.__name__)
def test_a_failure_of_one_file_does_not_stop_the_others(kind: type[InputError]) -> None:
    def plans(source: Source) -> object:
        if source.name == "a.py":
            raise kind("is not to be", file="a.py", hint="Leave it.")
        return planner()(source)

    inputs = [of_stdin(CODE.encode(), name) for name in ("a.py", "b.py")]
    session = session_of(inputs, plans)  # type: ignore[arg-type]
    assert [name for name, item in session if isinstance(item, Edit)] == ["a.py", "b.py"]
    first, second = session.report().edits
    assert first.status == kind.status and second.status == "would-edit"
    assert first.problems == ("is not to be\nLeave it.",)  # the display adds the file's name


@pytest.mark.parametrize(
    "kind", [ModelError, GitError, UsageError, ServerError], ids=lambda kind: kind.__name__
)
def test_any_other_failure_ends_the_run(kind: type[ModelError]) -> None:
    def plans(source: Source) -> object:
        raise kind("there is none")

    inputs = [of_stdin(CODE.encode(), name) for name in ("a.py", "b.py")]
    session = session_of(inputs, plans)  # type: ignore[arg-type]
    with pytest.raises(kind):
        list(session)
    assert session.not_done == ["a.py", "b.py"]


def test_findings_have_a_kind_and_places() -> None:
    backend = Scripted("a = 1\n# ... rest of the file ...\nb = (\n```")
    session = EditSession("edit", [of_stdin(CODE.encode(), "a.py")], planner(), backend, SETTINGS)
    list(session)
    file = report_json(session.report())["files"][0]
    results = {one["kind"]: one for one in file["findings"]}
    assert set(results) == {"placeholder", "syntax"}
    assert results["placeholder"]["places"] == [{"line": 2, "column": None}]
    assert sorted(one["text"] for one in file["findings"]) == sorted(file["problems"])
    assert file["notes"] == []


def test_nothing_is_shown_before_the_backend_starts() -> None:
    """While a warm server reads the prompt, this process imports what shows its answer."""
    seen = []

    class Watched(Scripted):
        def run(self, plan: Plan) -> Iterator[Event]:
            seen.append("_screen" in vars(follower))
            for event in super().run(plan):
                yield Ready(self._loaded.line, 0.0)
                seen.append("_screen" in vars(follower))
                yield event

    session = EditSession(
        "edit", [of_stdin(CODE.encode(), "a.py")], planner(), Watched("```"), SETTINGS
    )
    with Follower(session, Settings(quiet=True)) as follower:
        assert [edit.path for edit in follower.edits()] == ["a.py"]
    assert seen[:2] == [False, True]
