"""A run over texts: one way through for files and standard input; what fails stops what it must."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_backend import Scripted

from specedit.cli.follower import Follower
from specedit.edit.backend import Answer, Event, Ready
from specedit.edit.job import Planned, plan_edit
from specedit.edit.plan import Plan
from specedit.edit.run import Input, Planner, Proposed, Run, of_files, of_stdin
from specedit.errors import GitError, InputError, ModelError, RefusedEdit, ServerError, UsageError
from specedit.files.recorder import Recorder
from specedit.files.source import Source
from specedit.report import Edit
from specedit.settings import Settings
from specedit.view.contract import report_json

SETTINGS = Settings()
CODE = "a = 1\n" + "x = 0\n" * 12 + "b = 2\n"
NEW = CODE.replace("1", "8").replace("2", "9")


def planner(said: str = "Change the numbers") -> Planner:
    return lambda source: plan_edit(source, said, SETTINGS)


def run(inputs: list[Input], plans: Planner | None = None, recorder: Recorder | None = None) -> Run:
    backend = Scripted(NEW + "```")
    return Run("edit", inputs, plans or planner(), backend, SETTINGS, recorder)


def test_files_and_stdin_go_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(CODE)
    kinds = []
    for given in (of_files([str(path)]), [of_stdin(CODE.encode(), "a.py")]):
        items = [item for _, item in run(given)]
        assert isinstance(items[0], Planned)
        assert isinstance(items[-3], Answer)
        assert isinstance(items[-2], Proposed)
        last = items[-1]
        assert isinstance(last, Edit) and last.after == NEW.encode()
        kinds.append([type(item).__name__ for item in items])
    assert kinds[0] == kinds[1]
    assert path.read_text() == CODE  # nobody told it to write


def test_a_part_that_a_person_takes_is_what_is_written(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a.py", "b.py", "c.py")]
    for name in names:
        Path(name).write_text(CODE)
    going = run(of_files(names), recorder=Recorder(tmp_path / "store", "edit"))
    part = CODE.replace("1", "8")
    for name, item in going:
        if isinstance(item, Proposed):
            going.take(part)
            if name == names[1]:
                going.leave("enough")
    assert [Path(name).read_text() for name in names] == [part, part, CODE]
    assert [edit.status for edit in going.report().edits] == ["edited", "edited", "unchanged"]
    assert going.report().edits[2].notes == ("enough",)


def test_a_part_that_does_not_parse_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(CODE)
    going = run(of_files([str(path)]), recorder=Recorder(tmp_path / "store", "edit"))
    for _, item in going:
        if isinstance(item, Proposed):
            going.take("a = (\n")
    assert path.read_text() == CODE
    assert going.report().edits[0].status == "refused"


@pytest.mark.parametrize("kind", [InputError, RefusedEdit], ids=lambda kind: kind.__name__)
def test_a_failure_of_one_file_lets_the_others_go_on(kind: type[InputError]) -> None:
    def plans(source: Source) -> object:
        if source.name == "a.py":
            raise kind("is not to be", file="a.py", hint="Leave it.")
        return planner()(source)

    given = [of_stdin(CODE.encode(), name) for name in ("a.py", "b.py")]
    going = run(given, plans)  # type: ignore[arg-type]
    assert [name for name, item in going if isinstance(item, Edit)] == ["a.py", "b.py"]
    first, second = going.report().edits
    assert first.status == kind.status and second.status == "would-edit"
    assert first.problems == ("is not to be\nLeave it.",)  # whoever shows it names the file


@pytest.mark.parametrize(
    "kind", [ModelError, GitError, UsageError, ServerError], ids=lambda kind: kind.__name__
)
def test_any_other_failure_ends_the_run(kind: type[ModelError]) -> None:
    def plans(source: Source) -> object:
        raise kind("there is none")

    given = [of_stdin(CODE.encode(), name) for name in ("a.py", "b.py")]
    going = run(given, plans)  # type: ignore[arg-type]
    with pytest.raises(kind):
        list(going)
    assert going.not_done == ["a.py", "b.py"]


def test_findings_have_a_kind_and_places() -> None:
    backend = Scripted("a = 1\n# ... rest of the file ...\nb = (\n```")
    going = Run("edit", [of_stdin(CODE.encode(), "a.py")], planner(), backend, SETTINGS)
    list(going)
    file = report_json(going.report())["files"][0]
    found = {one["kind"]: one for one in file["findings"]}
    assert set(found) == {"placeholder", "syntax"}
    assert found["placeholder"]["places"] == [{"line": 2, "column": None}]
    assert sorted(one["text"] for one in file["findings"]) == sorted(file["problems"])
    assert file["notes"] == []


def test_nothing_is_shown_before_the_backend_has_begun() -> None:
    """While a warm server reads the prompt, this process imports what shows its answer."""
    seen = []

    class Watched(Scripted):
        def run(self, plan: Plan) -> Iterator[Event]:
            seen.append("_screen" in vars(follower))
            for event in super().run(plan):
                yield Ready(self._loaded.line, 0.0)
                seen.append("_screen" in vars(follower))
                yield event

    going = Run("edit", [of_stdin(CODE.encode(), "a.py")], planner(), Watched("```"), SETTINGS)
    with Follower(going, Settings(quiet=True)) as follower:
        assert [edit.path for edit in follower.edits()] == ["a.py"]
    assert seen[:2] == [False, True]
