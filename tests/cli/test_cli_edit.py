"""`specedit edit` as scripts see it: exit code, stdout, stderr and the file, all compared."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import at_a_terminal, interruptible

from specedit.files import atomic

Script = Callable[..., Path]

BEFORE = b"class User:\n    name = 1\n"
AFTER = b"class User:\n    email = 1\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "user.py"
    place.write_bytes(BEFORE)
    return place


@pytest.fixture(autouse=True)
def _model(script: Script) -> None:
    script(replace=[["name", "email"]])


def test_it_writes_the_file_and_says_so_on_stderr_only(specedit, file):
    file.chmod(0o640)
    done = specedit("edit", "rename it", file)
    assert (done.returncode, done.stdout) == (0, b"")
    assert file.read_bytes() == AFTER
    assert file.stat().st_mode & 0o777 == 0o640
    assert b"tokens" in done.stderr


@pytest.mark.parametrize("flag", ["--check", "--diff"])
def test_dry_runs_write_nothing(specedit, file, flag):
    done = specedit("edit", "rename it", file, flag)
    assert file.read_bytes() == BEFORE
    assert done.returncode == (1 if flag == "--check" else 0)


@pytest.mark.parametrize("name", ["user.cs", "usr.cs"])
def test_a_file_and_words_that_are_swapped_are_told_apart(specedit, file, name):
    done = specedit("edit", name, "Add a doc comment", cwd=file.parent)
    assert done.returncode == 2
    assert b"`Add a doc comment` looks like the words" in done.stderr
    assert f'specedit edit "Add a doc comment" {name}'.encode() in done.stderr
    done = specedit("edit", "rename it", "no such file.cs", cwd=file.parent)
    assert done.returncode == 2 and b"no such file" in done.stderr


@pytest.mark.parametrize("flags", [[], ["--diff"], ["--json"], ["--quiet"]], ids=str)
def test_an_edit_that_changes_nothing_is_1_and_says_what_to_try(specedit, file, script, flags):
    script(replace=[])
    done = specedit("edit", "nothing", file, *flags)
    assert done.returncode == 1 and file.read_bytes() == BEFORE
    assert b"the model found nothing to change in" in done.stderr
    assert b"name the place in the instruction" in done.stderr


def test_a_filter_that_changes_nothing_is_1_and_returns_its_input(specedit, script):
    script(replace=[])
    done = specedit("edit", "nothing", "-", "--stdin-filename", "a.py", stdin=BEFORE)
    assert (done.returncode, done.stdout) == (1, BEFORE)


def test_an_edit_that_changes_one_of_two_files_is_0(specedit, file):
    other = file.with_name("other.py")
    other.write_bytes(b"x = 1\n")
    assert specedit("edit", "rename it", file, other).returncode == 0


def test_check_of_an_unchanged_file_is_0(specedit, file, script):
    script(replace=[])
    assert specedit("edit", "nothing", file, "--check").returncode == 0


def test_git_applies_the_patch(specedit, file):
    done = specedit("edit", "rename it", "user.py", "--diff", cwd=file.parent)
    subprocess.run(["git", "apply", "-"], input=done.stdout, cwd=file.parent, check=True)
    assert file.read_bytes() == AFTER


@pytest.mark.parametrize(
    "flags", [["--near", "1"], ["--lines", "1:"], ["--symbol", ""], ["--selected", ""]], ids=str
)
def test_half_a_place_is_an_error_and_not_the_whole_file(specedit, file, flags):
    done = specedit("edit", "rename it", file, *flags)
    assert (done.returncode, file.read_bytes()) == (2, BEFORE)


@pytest.mark.parametrize("words", [("edit", "rename it"), ("rename", "name", "email")], ids=str)
def test_a_named_file_of_a_work_tree_needs_no_git(specedit, file, words, monkeypatch):
    subprocess.run(["git", "init", "-q"], cwd=file.parent, check=True)
    monkeypatch.setenv("PATH", os.fspath(file.parent))
    done = specedit(*words, file, "--clean-only")
    assert (done.returncode, file.read_bytes()) == (2, BEFORE)
    assert b"git cannot be used" in done.stderr and b"bug" not in done.stderr
    assert specedit(*words, file).returncode == 0 and file.read_bytes() == AFTER


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stdin"])
def test_a_patch_holds_nothing_that_was_refused(specedit, file, script, stream):
    script(answer="class User(:\n```")
    words = ["-", "--stdin-filename", "user.py"] if stream else ["user.py"]
    done = specedit("edit", "x", *words, "--diff", cwd=file.parent, stdin=BEFORE)
    assert (done.returncode, done.stdout) == (2, b"")
    (one,) = json.loads(specedit("edit", "x", file, "--check", "--json").stdout)["files"]
    assert one["status"] == "refused" and "class User(:" in one["diff"]


def test_json_is_the_contract(specedit, file):
    done = specedit("edit", "rename it", file, "--json", "--audit")
    result = json.loads(done.stdout)
    assert (result["schema"], result["command"], result["server"]) == (1, "edit", None)
    (one,) = result["files"]
    assert (one["status"], one["path"]) == ("edited", str(file))
    assert one["before_sha256"] == hashlib.sha256(BEFORE).hexdigest()
    assert one["after_sha256"] == hashlib.sha256(AFTER).hexdigest()
    assert len(one["logits_digest"]) == 64
    p = one["prediction"]
    assert p["rejected"] == p["proposed"] - p["accepted"]
    accepted = sum(d["accepted"] for d in one["drafts"].values())
    assert one["tokens"]["completion"] - one["passes"] - accepted in (0, -1)
    assert set(one["timing"]) == {"load_s", "prefill_s", "decode_s", "total_s"}
    assert result["totals"]["files"] == result["totals"]["edited"] == 1
    assert set(result["model"]) >= {"name", "sha256", "engine", "device", "threads"}


@pytest.mark.parametrize("arguments", [[], ["--prediction", "none", "--draft", "none"]])
def test_guarantee_1_any_prediction_gives_the_same_file_and_digest(specedit, file, arguments):
    other = file.with_name("other.txt")
    other.write_text("something else entirely\n" * 9)
    runs = [
        json.loads(specedit("edit", "x", file, "--check", "--json", "--audit", *more).stdout)
        for more in (arguments, ["--prediction", other])
    ]
    assert len({r["files"][0]["after_sha256"] for r in runs}) == 1
    assert len({r["files"][0]["logits_digest"] for r in runs}) == 1


@pytest.mark.parametrize("fence", ["```sh", "```"])
@pytest.mark.parametrize("name", ["doc.md", "notes.txt"])
def test_a_code_block_that_is_added_to_prose_loses_nothing_behind_it(
    specedit, tmp_path, script, name, fence
):
    page = tmp_path / name
    page.write_bytes(b"# T\n\nUse it.\n\n## Licence\n\nMIT.\n")
    new = f"# T\n\nUse it:\n\n{fence}\ntool run\n```\n\n## Licence\n\nMIT.\n"
    script(answer=f"{new}```")
    assert specedit("edit", "show how to run it in a code block", page).returncode == 0
    assert page.read_text() == new


def test_filter_mode_gives_the_new_text(specedit):
    done = specedit("edit", "x", "-", "--stdin-filename", "user.py", stdin=BEFORE)
    assert (done.returncode, done.stdout) == (0, AFTER)


@pytest.mark.parametrize(
    ("stdin", "script_is"),
    [
        (BEFORE, {"answer": "class User(:\n```"}),
        (BEFORE, None),
        (b"\xff\xfe\x00bad\x00", {"replace": []}),
        (b"", {"replace": []}),
        (b"caf\xe9\n", {"replace": []}),
    ],
    ids=["refused answer", "no model", "no text", "empty", "latin-1"],
)
def test_guarantee_5_filter_mode_always_gives_text_back(specedit, stdin, script_is, script):
    env = {}
    if script_is is None:
        env = {"TESTS_SCRIPT": "/nowhere/at/all"}
    else:
        script(**script_is)
    done = specedit("edit", "x", "-", "--stdin-filename", "u.py", stdin=stdin, env=env)
    assert done.stdout == stdin
    assert done.returncode == 2
    assert done.stderr.strip()


@pytest.mark.parametrize(
    "words",
    [
        ["edit", "x", "-", "--lines", "a"],
        ["edit", "x", "-", "--lines"],
        ["edit", "x", "-", "--nosuch"],
        ["edit", "x", "--nosuch", "-"],
        ["edit", "x", "--check", "-", "--ask"],
        ["edit", "x", "-", "a.py"],
        ["edit", "x", "-", "--stdin-filename", "/"],
        ["rename", "a", "b", "-", "--scope", "wide"],
        ["rename", "a", "b", "-", "--line", "two"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("stdin", [BEFORE, b"\xff\r\n\0"], ids=["text", "bytes"])
def test_guarantee_5_bad_usage_gives_text_back_too(specedit, words, stdin):
    done = specedit(*words, stdin=stdin)
    assert (done.returncode, done.stdout) == (2, stdin)
    assert done.stderr.strip()


def test_guarantee_5_a_bad_variable_gives_text_back_too(specedit):
    done = specedit("edit", "x", "-", stdin=BEFORE, env={"SPECEDIT_THREADS": "x"})
    assert (done.returncode, done.stdout) == (2, BEFORE)


@pytest.mark.parametrize(
    "words",
    [["-", "a.py"], ["x", "a.py", "--selected", "-"], ["x", "-", "--diff"], ["x", "-", "--json"]],
    ids=" ".join,
)
def test_stdin_comes_out_only_where_it_is_the_file(specedit, words):
    done = specedit("edit", *words, "--nosuch", stdin=BEFORE)
    assert (done.returncode, done.stdout) == (2, b"")


def bad_files(folder: Path) -> dict[str, Path]:
    (folder / "dir").mkdir()
    made = {
        "binary": b"\x7fELF\x00\x00",
        "latin": b"caf\xe9\n",
        "empty": b"",
        "huge": b"x" * 10_000_000,
        "readonly": BEFORE,
    }
    for name, data in made.items():
        (folder / name).write_bytes(data)
    (folder / "readonly").chmod(0o444)
    links = {"dangling": "gone", "loop": "loop"}
    for name, target in links.items():
        (folder / name).symlink_to(target)
    return {n: folder / n for n in [*made, *links, "missing", "dir"]}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing", "no such file"),
        ("dir", "directory"),
        ("binary", "binary"),
        ("latin", "UTF-8"),
        ("empty", "empty"),
        ("huge", "MB"),
        ("readonly", "read-only"),
        ("dangling", "dangling: a link to gone, which is not there"),
        ("loop", "loop: cannot be read"),
    ],
)
def test_bad_input_is_named_and_nothing_is_lost(specedit, tmp_path, name, says):
    place = bad_files(tmp_path)[name]
    before = place.read_bytes() if place.is_file() else None
    done = specedit("edit", "x", place)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert before is None or place.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["edit", "x"], "file"),
        (["edit", "x", "-", "y"], "name no other files"),
        (["edit", "x", "-", "--ask"], "--ask"),
        (["edit", "x", "y", "--engine", "exakt"], "exact"),
        (["edit", "x", "y", "--json", "--diff"], "--json"),
        (["edit", "x", "y", "--lines", "two"], "A:B"),
        (["edit", "x", "y", "--frobnicate"], "--frobnicate"),
        (["edit", "x", "y", "--draft", "guess"], "guess"),
        (["edit", "x", ""], "name is empty"),
        (["edit", "bad\udcff", "y"], "not UTF-8"),
        (["edti"], "edti"),
    ],
)
def test_bad_usage_is_2_with_words(specedit, tmp_path, arguments, says):
    (tmp_path / "y").write_text("y\n")
    done = specedit(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert done.stdout == b""


@pytest.mark.parametrize("words", [["edit", "x"], ["rename", "name", "email"]], ids=" ".join)
def test_a_name_that_is_not_utf_8_is_a_name(specedit, tmp_path, words):
    place = tmp_path / "bad\udcff.py"
    place.write_bytes(BEFORE)
    done = specedit(*words, place.name, cwd=tmp_path)
    assert (done.returncode, place.read_bytes()) == (0, AFTER), done.stderr
    assert "bad\ufffd.py: edited" in done.stderr.decode()
    place.write_bytes(BEFORE)
    patch = specedit(*words, place.name, "--diff", cwd=tmp_path).stdout
    subprocess.run(["git", "apply", "-"], input=patch, cwd=tmp_path, check=True)
    assert place.read_bytes() == AFTER


@pytest.mark.parametrize("words", ["edit x user.py", "hook run", "config", "undo"])
def test_a_folder_that_is_gone_is_reported(tmp_path, words):
    line = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m specedit {words}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"specedit: The current folder is gone.")


@pytest.mark.parametrize("text", [b"mine\n", None], ids=["changed", "deleted"])
def test_a_file_that_changed_meanwhile_is_left_alone(file, script, specedit, text):
    calls = script(replace=[["name", "email"]], delay_s=0.05)
    with subprocess.Popen(
        [sys.executable, "-m", "specedit", "edit", "x", str(file)],
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    ) as running:
        wait_for(calls)
        file.unlink() if text is None else file.write_bytes(text)
        assert running.stderr is not None
        message = running.stderr.read().decode()
    assert running.returncode == 2
    assert "user.py: " + ("changed on disk" if text else "deleted since it was read") in message
    assert "journal" not in message
    assert (file.read_bytes() if file.exists() else None) == text


def test_ctrl_c_is_130_and_nothing_is_half_written(file, script):
    calls = script(replace=[["name", "email"]], delay_s=0.4)
    with subprocess.Popen(
        [sys.executable, "-m", "specedit", "edit", "x", str(file)],
        stderr=subprocess.PIPE,
        env=dict(os.environ),
        preexec_fn=interruptible,
    ) as running:
        wait_for(calls)
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        message = running.stderr.read().decode()
    assert running.returncode == 130
    assert "interrupted" in message
    assert "Traceback" not in message
    assert file.read_bytes() == BEFORE
    assert [p.name for p in file.parent.iterdir() if p.name.startswith(".specedit")] == []


def wait_for(place: Path, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not place.exists():
        assert time.monotonic() < end, f"{place} never came"
        time.sleep(0.02)


def test_config_says_where_each_value_came_from(specedit, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.specedit]\nthreads = 7\n")
    done = specedit("config", "threads", "--json", cwd=tmp_path)
    result = json.loads(done.stdout)["threads"]
    origin = str(tmp_path / "pyproject.toml")
    assert result == {"value": 7, "from": origin, "kind": "open"}


def test_an_instruction_that_is_a_file_is_one_that_is_missing(specedit, file):
    done = specedit("edit", file)
    assert done.returncode == 2
    assert b"The instruction is missing." in done.stderr and b"No file is named" not in done.stderr
    long = "Say more about it. " * 20  # than a file's name can have
    for words, message in (([long], b"No file is named"), (["a.py", long], b"they are swapped")):
        done = specedit("edit", *words, cwd=file.parent)
        assert done.returncode == 2 and message in done.stderr, done.stderr


def test_the_margin_of_a_method_is_full_and_its_signs_are_explained_before(tmp_path, script):
    script(replace=[["return 1", "return 2"]], rated=True)
    text = "class Cart:\n    def total(self):\n        kept = 2\n        return 1\n"
    (tmp_path / "a.py").write_text(text)
    code, text = at_a_terminal(b"", "edit", "In Cart.total, x", "a.py", cwd=tmp_path)
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", text)
    rows = text.rpartition("line 4 in Cart")
    assert code == 0 and "●" in rows[0] and "● decoded" not in rows[2]
    margins = re.findall(r"(?m)^[ \d] [ \d] (.{4}) ", rows[2])
    assert margins == ["····", "····", "····", "    ", "···●"]  # a removed line has none
    assert (
        "% copied" in " ".join(text.split()) and "accepted" not in text and ": passes" not in text
    )


@pytest.mark.parametrize(
    ("words", "says", "not_said"),
    [
        (("edit", "Add one", "a.py", "--model", "gpt-4"), "no model is named", "nearest"),
        (("edit", "Add one", "a.py", "--frobnicate"), "--frobnicate", "--strict"),
        (("edit", "Add one", "a.py", "--stric"), "--strict", "--tries"),
        (("a.py", "Add one"), 'specedit edit "Add one" a.py', "No such command"),
        (("Add one", "a.py", "--diff"), 'edit "Add one" a.py --diff', "No such command"),
        (("edit", "Add a class", "empty.py"), "Write its first line", "no text to edit"),
    ],
    ids=["model", "nonsense option", "near option", "no command", "words first", "empty file"],
)
def test_a_hint_names_what_is_near_or_nothing(
    specedit, tmp_path, monkeypatch, words, says, not_said
):
    monkeypatch.delenv("TESTS_SCRIPT", raising=False)
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "empty.py").touch()
    done = specedit(*words, cwd=tmp_path)
    assert done.returncode == 2 and says.encode() in done.stderr
    assert not_said.encode() not in done.stderr


def test_words_of_any_length_are_no_file(specedit, tmp_path):
    assert b"Traceback" not in specedit("a " * 9_000, cwd=tmp_path).stderr


def test_an_edit_in_a_work_tree_needs_no_git(process, file):
    (file.parent / ".git").mkdir()
    (file.parent / ".git/HEAD").write_text("ref: refs/heads/main\n")
    env = {"PATH": str(file.parent)}
    done = process("edit", "rename it", file, env=env)
    assert (done.returncode, file.read_bytes()) == (0, AFTER), done.stderr
    done = process("edit", "rename it", file, "--clean-only", env=env)
    assert done.returncode == 2 and b"git cannot be used" in done.stderr
    assert len(done.stderr.splitlines()) == 2, done.stderr


def test_an_interrupt_during_the_write_reports_what_was_written(specedit, file, monkeypatch):
    def replace(*words: object) -> None:
        signal.raise_signal(signal.SIGINT)
        replaced(*words)

    replaced: Callable[..., None] = atomic.replace
    monkeypatch.setattr(atomic, "replace", replace)
    done = specedit("edit", "rename it", file, "--json")
    (edit,) = json.loads(done.stdout)["files"]
    assert (done.returncode, edit["status"], file.read_bytes()) == (130, "edited", AFTER)
    assert b"Not done" not in done.stderr
