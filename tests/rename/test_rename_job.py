"""`rename` as work: what the model is asked, and what of its answer becomes the file."""

import json
from pathlib import Path

import pytest
from renaming import planned as plan

from specedit.edit.job import Job
from specedit.edit.report import Edit
from specedit.errors import RefusedEdit

BEFORE = (
    b"class User:\n"
    b'    """Somebody, by username."""\n\n'
    b"    def __init__(self, username):\n"
    b"        self.username = username\n"
    b"        self.age = 0\n"
)
AFTER = BEFORE.replace(b"username", b"email")


@pytest.fixture(autouse=True)
def _model_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTS_SCRIPT", "unused")


def planned(new: str = "email", **settings: object) -> Job | Edit:
    return plan(BEFORE, "username", new, "user.py", **settings)


def test_the_model_reads_the_original_and_expects_the_renamed():
    job = planned()
    assert isinstance(job, Job)
    assert BEFORE.decode() in job.plan.messages[-1].content
    assert job.plan.prediction == AFTER.decode()


def test_what_a_rename_is_unsure_of_names_its_lines():
    job = planned(scope="code")
    assert isinstance(job, Job)
    found = {one.kind: [at.line for at in one.places] for one in job.findings}
    assert found == {"unsure": [4, 5], "left": [2]}
    assert all(one.warns and not one.refuses for one in job.findings)


def test_a_model_that_goes_on_and_on_is_stopped_and_the_rule_decides(script, specedit, tmp_path):
    path = tmp_path / "user.py"
    path.write_bytes(BEFORE)
    script(answer="x = 1\n" * 5000)
    done = specedit("rename", "username", "email", "user.py", "--json", cwd=tmp_path)
    (edit,) = json.loads(done.stdout)["files"]
    assert done.returncode == 0 and path.read_bytes() == AFTER
    assert edit["tokens"]["completion"] < 1.2 * edit["tokens"]["prompt"] + 128


def test_a_taken_name_is_refused_with_its_line():
    wanted = ("class A {\n  int one;\n  int two;\n}\n", "one", "two", "A.java")
    with pytest.raises(RefusedEdit, match="line 3"):
        plan(*wanted)
    assert isinstance(plan(*wanted, allow="existing-name"), Job)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "user.py"
    place.write_bytes(BEFORE)
    return place


def test_code_is_renamed_whatever_the_model_wants(specedit, script, file):
    script(replace=[["username", "email"], ["age", "years"], ["self.email", "self.mail"]])
    done = specedit("rename", "username", "email", file)
    assert done.returncode == 0 and file.read_bytes() == AFTER


@pytest.mark.parametrize("flags", [["--no-model"], ["--scope", "code"]], ids=" ".join)
def test_no_model_is_loaded_where_there_is_nothing_to_ask(specedit, script, file, flags):
    calls = script(replace=[])
    done = specedit("rename", "username", "email", file, *flags, "--json")
    assert done.returncode == 0 and not calls.exists()
    assert b"self.email = email" in file.read_bytes()
    assert json.loads(done.stdout)["model"] is None


def test_a_test_command_judges_a_rename_without_a_model_once(specedit, script, file):
    calls = script(replace=[])
    words = ("rename", "username", "email", file, "--no-model")
    done = specedit(*words, "--test", "false", cwd=file.parent)
    assert done.returncode == 2 and file.read_bytes() == BEFORE and b"1" in done.stderr
    assert specedit(*words, "--test", "true", cwd=file.parent).returncode == 0
    assert b"self.email = email" in file.read_bytes() and not calls.exists()


def test_without_the_name_no_model_is_asked(specedit, script, tmp_path):
    calls = script(replace=[])
    one, two = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("x = 1\n")
    two.write_text("y = 1\n")
    done = specedit("rename", "username", "email", one, two)
    assert done.returncode == 0
    assert not calls.exists()
