"""`rename` as work: what the model is asked, and what of its answer becomes the file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from specedit.edit.job import Job
from specedit.edit.report import Edit
from specedit.errors import InputError, RefusedEdit
from specedit.files.source import Source
from specedit.rename.planning import plan_rename
from specedit.settings import Settings

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
Script = Callable[..., Path]

BEFORE = (
    b"class User:\n"
    b'    """Somebody, by username."""\n\n'
    b"    def __init__(self, username):\n"
    b"        self.username = username\n"
    b"        self.age = 0\n"
)
AFTER = BEFORE.replace(b"username", b"email")


def planned(new: str = "email", **settings: object) -> Job | Edit:
    source = Source.from_bytes("user.py", BEFORE)
    return plan_rename(source, "username", new, Settings(**settings))  # type: ignore[arg-type]


def test_the_model_reads_the_original_and_expects_the_renamed() -> None:
    job = planned()
    assert isinstance(job, Job)
    assert BEFORE.decode() in job.plan.messages[-1].content
    assert job.plan.prediction == AFTER.decode()


def test_what_a_rename_is_unsure_of_names_its_lines() -> None:
    job = planned(scope="code")
    assert isinstance(job, Job)
    found = {one.kind: [at.line for at in one.places] for one in job.findings}
    assert found == {"unsure": [4, 5], "left": [2]}
    judged = job.judge(AFTER.decode().replace("age", "years"))
    dropped = [one for one in judged.findings if one.kind == "dropped"]
    assert [at.line for one in dropped for at in one.places] == [2, 6]
    assert all(one.warns and not one.refuses for one in (*job.findings, *dropped))


def test_a_model_that_goes_on_and_on_is_stopped_and_refused(
    script: Script, specedit: Run, tmp_path: Path
) -> None:
    path = tmp_path / "user.py"
    path.write_bytes(BEFORE)
    script(answer="x = 1\n" * 5000)
    done = specedit("rename", "username", "email", "user.py", "--json", cwd=tmp_path)
    assert done.returncode == 2
    (edit,) = json.loads(done.stdout)["files"]
    assert "cut off by the limit" in edit["problems"][0]
    assert edit["tokens"]["completion"] < 1.2 * edit["tokens"]["prompt"] + 128
    assert path.read_bytes() == BEFORE


def test_prediction_none_is_plain_decoding() -> None:
    job = planned(prediction="none")
    assert isinstance(job, Job)
    assert job.plan.prediction is None


def test_a_taken_name_is_refused_with_its_line() -> None:
    source = Source.from_bytes("A.java", b"class A {\n  int one;\n  int two;\n}\n")
    with pytest.raises(RefusedEdit, match="line 3"):
        plan_rename(source, "one", "two", Settings())
    assert isinstance(plan_rename(source, "one", "two", Settings(allow_extra=True)), Job)


def test_an_attribute_that_is_only_assigned_is_taken_too() -> None:
    with pytest.raises(RefusedEdit, match="line 6"):
        planned("age")


def test_an_absent_name_is_an_error_with_the_nearest_unless_many_files_are_asked() -> None:
    source = Source.from_bytes("user.py", BEFORE)
    with pytest.raises(InputError, match="usernam"):
        plan_rename(source, "usernam", "email", Settings(scope="code"))
    absent = plan_rename(source, "Nowhere", "Here", Settings(), absent_ok=True)
    assert isinstance(absent, Edit)
    assert absent.status == "unchanged"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "user.py"
    place.write_bytes(BEFORE)
    return place


@pytest.mark.parametrize(
    ("extra", "arguments", "after"),
    [
        ([], [], AFTER),
        ([["age", "years"]], [], AFTER),
        ([["age", "years"]], ["-v"], AFTER),
        ([["age", "years"]], ["--allow-extra"], AFTER.replace(b"age", b"years")),
    ],
    ids=["as asked", "more than asked", "more, with all details", "more, allowed"],
)
def test_what_the_model_wants_beyond_is_listed_not_applied(
    specedit: Run,
    script: Script,
    file: Path,
    extra: list[list[str]],
    arguments: list[str],
    after: bytes,
) -> None:
    script(replace=[["username", "email"], *extra])
    done = specedit("rename", "username", "email", file, *arguments)
    assert done.returncode == 0
    assert file.read_bytes() == after
    assert (b"also wanted" in done.stderr) is (arguments == ["-v"])  # no identifier's place


def test_another_thing_that_the_model_makes_of_the_name_s_place_is_said(
    specedit: Run, script: Script, file: Path
) -> None:
    script(replace=[["username", "email"], ["self.email", "self.mail"]])
    done = specedit("rename", "username", "email", file)
    assert done.returncode == 0 and file.read_bytes() == AFTER
    assert b"line 5: the model also wanted `self.mail = email`" in done.stderr


def test_a_model_that_refuses_to_rename_code_is_overruled_and_said(
    specedit: Run, script: Script, file: Path
) -> None:
    script(replace=[])
    done = specedit("rename", "username", "email", file, "--scope", "code")
    assert done.returncode == 0
    assert b"self.email = email" in file.read_bytes()
    assert b"keeps `username`" in done.stderr


def test_without_the_name_no_model_is_asked(specedit: Run, script: Script, tmp_path: Path) -> None:
    calls = script(replace=[])
    one, two = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("x = 1\n")
    two.write_text("y = 1\n")
    done = specedit("rename", "username", "email", one, two)
    assert done.returncode == 0
    assert not calls.exists()
