"""Runs over texts: files and standard input alike; which failures stop what."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from scripted_backend import Scripted

from specedit.cli.run_command import Display
from specedit.edit.backend import Answer, Loading, Plan, Progress
from specedit.edit.job import Job, plan_edit
from specedit.edit.report import Edit, Report
from specedit.edit.request import Input, Planner, Request, of_files, of_stdin
from specedit.edit.run import run_files
from specedit.edit.sink import Sink
from specedit.errors import GitError, InputError, ModelError, RefusedEdit, ServerError, UsageError
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.view.contract import report_json

SETTINGS = Settings()
CODE = "a = 1\n" + "x = 0\n" * 12 + "b = 2\n"
NEW = CODE.replace("1", "8").replace("2", "9")


class Steps(Sink):
    """Keeps the names of the steps; a change is replaced by what `choose` makes of it."""

    def __init__(self, choose: Callable[[str], str | None] = lambda name: None) -> None:
        self.steps: list[str] = []
        self._choose = choose

    def file(self, name: str) -> None:
        self.steps.append("file")

    def planned(self, job: Job) -> None:
        self.steps.append("planned")

    def answered(self, answer: Answer) -> None:
        self.steps.append("answered")

    def proposed(self, job: Job, edit: Edit) -> str | None:
        self.steps.append("proposed")
        return self._choose(edit.path)

    def done(self, edit: Edit) -> None:
        self.steps.append("done")


def planner(instruction: str = "Change the numbers") -> Planner:
    return lambda source: plan_edit(source, instruction, SETTINGS)


def run(
    inputs: list[Input],
    plans: Planner | None = None,
    sink: Sink | None = None,
    answer: str = NEW + "```",
    *,
    writes: bool = False,
) -> Report:
    request = Request("edit", plans or planner(), SETTINGS, writes, alone=len(inputs) == 1)
    return run_files(inputs, request, Scripted(answer), sink or Sink())


def test_files_and_stdin_take_the_same_path(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(CODE)
    for inputs in (of_files([str(path)]), [of_stdin(CODE.encode(), "a.py")]):
        sink = Steps()
        report = run(inputs, sink=sink)
        assert list(dict.fromkeys(sink.steps)) == [
            *("file", "planned", "answered", "proposed", "done"),
        ]
        assert report.edits[0].after == NEW.encode()
    assert path.read_text() == CODE  # it was not asked to write


def test_the_part_that_the_user_chose_is_written(tmp_path):
    names = [str(tmp_path / name) for name in ("a.py", "b.py", "c.py")]
    for name in names:
        Path(name).write_text(CODE)
    part = CODE.replace("1", "8")

    def choose(name: str) -> str:
        sink.skip_rest = "enough" if name == names[1] else ""
        return part

    sink = Steps(choose)
    report = run(of_files(names), sink=sink, writes=True)
    assert [Path(name).read_text() for name in names] == [part, part, CODE]
    assert [edit.status for edit in report.edits] == ["edited", "edited", "unchanged"]
    assert report.edits[2].notes == ("enough",)


def test_a_part_that_does_not_parse_is_refused(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(CODE)
    report = run(of_files([str(path)]), sink=Steps(lambda name: "a = (\n"), writes=True)
    assert path.read_text() == CODE
    assert report.edits[0].status == "refused"


@pytest.mark.parametrize("kind", [InputError, RefusedEdit], ids=lambda kind: kind.__name__)
def test_a_failure_of_one_file_does_not_stop_the_others(kind):
    def plans(source: Source) -> Job | Edit:
        if source.name == "a.py":
            raise kind("is not to be", file="a.py", hint="Leave it.")
        return planner()(source)

    first, second = run([of_stdin(CODE.encode(), name) for name in ("a.py", "b.py")], plans).edits
    assert first.status == kind.status and second.status == "would-edit"
    assert first.problems == ("is not to be\nLeave it.",)  # the display adds the file's name


@pytest.mark.parametrize(
    "kind", [ModelError, GitError, UsageError, ServerError], ids=lambda kind: kind.__name__
)
def test_any_other_failure_ends_the_run(kind):
    def plans(source: Source) -> Job | Edit:
        raise kind("there is none")

    sink = Steps()
    with pytest.raises(kind):
        run([of_stdin(CODE.encode(), name) for name in ("a.py", "b.py")], plans, sink)
    assert sink.steps == ["file"]


def test_findings_have_a_kind_and_places():
    answer = "a = 1\n# ... rest of the file ...\nb = (\n```"
    file = report_json(run([of_stdin(CODE.encode(), "a.py")], answer=answer))["files"][0]
    results = {finding["kind"]: finding for finding in file["findings"]}
    assert set(results) == {"placeholder", "syntax"}
    assert results["placeholder"]["places"] == [{"line": 2, "column": None}]
    assert sorted(one["text"] for one in file["findings"]) == sorted(file["problems"])
    assert file["notes"] == []


def test_nothing_is_shown_before_the_backend_starts():
    """While a warm server reads the prompt, this process imports what shows its answer."""
    shown: list[bool] = []
    imported: list[bool] = []

    class Watched(Scripted):
        def run(self, plan: Plan, progress: Progress) -> Answer:
            imported.append(bool(shown))
            progress.loading(Loading("starting"))
            imported.append(bool(shown))
            return super().run(plan, progress)

    request = Request("edit", planner(), replace(SETTINGS, tries=1))
    settings, started = Settings(quiet=True), partial(shown.append, True)
    with Display("edit", ["a.py"], settings, meanwhile=started) as display:
        report = run_files([of_stdin(CODE.encode(), "a.py")], request, Watched("```"), display)
    assert imported == [False, True]
    assert [edit.path for edit in report.edits] == ["a.py"]
