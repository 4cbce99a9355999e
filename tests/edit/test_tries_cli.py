"""`--test COMMAND` on the real command line: a git repository, a test command, a scripted model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from case_files import rows
from command_line import interruptible
from effort import ends
from git_repository import Repository

CALC = "def add(a, b):\n    return a - b  # broken\n"
TESTS = """from calc import add, mul


def test_add():
    assert add(1, 2) == 3


def test_mul():
    assert mul(2, 3) == 6
"""
SUM = ["a - b  #", "a + b #"]  # another size: a second passes between texts of one size
WRONG = "def add(a, b):\n    return a + b\n"
WORSE = WRONG + "\n\ndef mul(a, b):\n    return a + b\n"
RIGHT = WRONG + "\n\ndef mul(a, b):\n    return a * b\n"
PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"
# A quick stand-in where what the command is does not matter: passes once the file holds `a * b`.
QUICK = "grep -q 'a \\* b' calc.py || { echo 'calc.py:1:1: error: no product'; exit 1; }"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are sh's")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository.init(tmp_path / "tree")
    made.commit({"calc.py": CALC, "test_calc.py": TESTS, ".gitignore": "__pycache__\n"})
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # importing all takes 1 s a run
    monkeypatch.chdir(made.root)
    return made


def says(script: Callable[..., Path], *answers: str, **more: object) -> Path:
    """A model that gives these answers, one to each prompt."""
    first, *others = [{"answer": f"{text}```"} for text in answers]
    return script(**first, then=others, **more)


def journal() -> list[Path]:
    return sorted((Path(os.environ["SPECEDIT_HOME"]) / "journal").glob("*/run.json"))


@pytest.mark.tools
def test_a_greedy_answer_that_fails_becomes_one_that_is_green(tree, script, specedit):
    says(script, WRONG, WORSE, RIGHT)
    done = specedit("edit", "Mend add and give it a product", "calc.py", "--test", PYTEST)
    message = done.stderr.decode()
    assert done.returncode == 0, message
    assert tree.read("calc.py") == RIGHT
    assert "try 1 of 6" in message and "cannot import name 'mul'" in message
    assert "try 2 of 6" in message and "assert 5 == 6" in message
    assert "try 3 of 6" in message and ": kept" in message
    assert len(journal()) == 1, "one run, however many tries"
    assert tree.run(*PYTEST.split()).returncode == 0
    assert specedit("undo").returncode == 0
    assert tree.read("calc.py") == CALC
    assert tree.status() == "" and not journal()


def test_json_names_each_try_and_what_was_given_before_is_not_tested(
    tree, script, inside, tmp_path
):
    says(script, WRONG, WRONG, WORSE, WORSE, WORSE, RIGHT)
    runs = tmp_path / "runs"
    done = inside("edit", "Do it", "calc.py", "--test", f"echo >> {runs}; {QUICK}", "--json")
    assert len(runs.read_text().splitlines()) == 4, "the baseline and three texts"
    report = json.loads(done.stdout)
    (file,) = report["files"]
    assert [one["kept"] for one in file["tries"]] == [*[False] * 5, True]
    assert [one["same_as"] for one in file["tries"]] == [None, 1, None, 3, 3, None]
    assert file["tries"][0]["test"]["code"] == 1
    assert file["tries"][0]["test"]["line"] == "calc.py:1:1: error: no product"
    assert file["tries"][5]["test"] == {**file["tries"][5]["test"], "code": 0, "line": ""}
    assert {"seed", "temperature", "tokens", "passes", "seconds"} <= file["tries"][0].keys()
    keys = ("seed", "temperature", "with_feedback")
    assert len({tuple(one[key] for key in keys) for one in file["tries"]}) == 6
    assert report["totals"]["passes"] == sum(one["passes"] for one in file["tries"])
    prompts = [one["prompt"] for one in file["tries"]]
    assert prompts[1]["reused"] == prompts[1]["tokens"] - 1, "the same prompt is not read again"
    assert file["tries"][5]["with_feedback"] and prompts[5]["tokens"] > prompts[0]["tokens"]
    assert all(one["reused"] > 0.7 * prompts[0]["tokens"] for one in prompts[2:])


def test_none_passes_and_nothing_is_kept(tree, script, inside):
    says(script, WRONG, WORSE)
    done = inside("edit", "Do it", "calc.py", "--test", QUICK, "--tries", "3")
    message = done.stderr.decode()
    assert done.returncode == 2
    assert tree.read("calc.py") == CALC and tree.status() == ""
    assert "no try of 3 passes" in message and "no product" in message
    assert "which failed before the edit, too" in message
    assert not journal(), "there is nothing to undo"


def test_keep_best_keeps_the_one_with_the_fewest_failures(tree, script, specedit):
    says(script, "def add(a, b):\n    return 7\n\n\nmul = add\n", WORSE, "mul = add = print\n")
    done = specedit(
        *("edit", "Do it, remove what you like", "calc.py"),
        *("--test", PYTEST, "--tries", "3", "--keep-best"),
    )
    assert done.returncode == 2, "it fails all the same"
    assert tree.read("calc.py") == WORSE, "one of two fails; of the others, both"
    assert "; try 2 is kept, though it fails" in done.stderr.decode()
    assert specedit("undo").returncode == 0
    assert tree.read("calc.py") == CALC


def test_all_files_are_one_try(tree, script, inside):
    tree.commit({"b.py": "b = 1\n"})
    script(replace=[SUM], then=[{"replace": [["= 1", "= 20"]]}] * 20)
    done = inside("edit", "Do it", "calc.py", "b.py", "--test", "exit 1", "--tries", "2")
    assert done.returncode == 2
    assert tree.status() == "", "both are as they were"
    script(replace=[SUM], then=[{"replace": [["= 1", "= 20"]]}])
    both = "grep -q 'a + b' calc.py && grep -q 'b = 20' b.py"
    done = inside("edit", "Do it", "calc.py", "b.py", "--test", both)
    assert done.returncode == 0
    assert tree.read("b.py") == "b = 20\n" and "a + b" in tree.read("calc.py")
    assert len(journal()) == 1
    inside("undo")
    assert tree.status() == ""


@pytest.mark.parametrize("other", ["./calc.py", "link.py", "hard.py"])
def test_a_file_of_two_names_is_one(tree, script, inside, other):
    (tree.root / "link.py").symlink_to("calc.py")
    (tree.root / "hard.py").hardlink_to(tree.root / "calc.py")
    script(replace=[SUM])
    done = inside("edit", "Do it", "calc.py", other, "--test", "true", "--json")
    assert done.returncode == 0, done.stderr
    assert [one["path"] for one in json.loads(done.stdout)["files"]] == ["calc.py"]
    script(replace=[])
    tree.write("b.py", "from calc import add\n")
    done = inside("rename", "add", "plus", "calc.py", other, "b.py")
    assert done.returncode == 0, done.stderr
    assert "def plus" in tree.read("calc.py") and "import plus" in tree.read("b.py")


def test_without_writing_the_tree_is_as_it_was_and_the_patch_is_one_that_passes(
    tree, script, inside
):
    says(script, WRONG, RIGHT)
    done = inside("edit", "Do it", "calc.py", "--test", QUICK, "--diff")
    assert done.returncode == 0
    assert b"+    return a * b" in done.stdout
    assert tree.status() == "" and not journal()


@rows("flags why")
def test_what_cannot_be_tested_is_refused(tree, inside, flags, why):
    file = () if "-" in flags else ("calc.py",)
    done = inside("edit", "Do it", *file, *flags, "--test", "true")
    assert done.returncode == 2 and why in done.stderr.decode()


def test_a_command_of_a_file_is_for_runs_that_can_be_tested(tree, script, specedit, monkeypatch):
    script(replace=[SUM])
    monkeypatch.setenv("SPECEDIT_TEST", "exit 1")
    done = specedit("edit", "Do it", "-", "--stdin-filename", "x.py", stdin=CALC.encode())
    assert done.returncode == 0 and done.stdout.decode() == CALC.replace(*SUM)
    assert specedit("edit", "Do it", "calc.py", "--tries", "1").returncode == 2


def test_a_command_of_a_file_leaves_a_rename_that_cannot_be_tested_be(
    tree, script, specedit, monkeypatch
):
    script(replace=[["add", "plus"]])
    monkeypatch.setenv("SPECEDIT_TEST", "exit 1")
    named = ("rename", "add", "plus")
    done = specedit(*named, "-", "--stdin-filename", "x.py", stdin=CALC.encode())
    assert done.returncode == 0 and done.stdout.decode() == CALC.replace("add", "plus")
    assert specedit(*named, "calc.py", "--ask", stdin=b"y\n").returncode == 0
    assert tree.read("calc.py") == CALC.replace("add", "plus")


@pytest.mark.parametrize("flag", ["--keep-best", "--test-timeout=3"])
def test_a_flag_of_tests_goes_with_a_test_that_counts(tree, inside, monkeypatch, flag):
    done = inside("edit", "Do it", "calc.py", flag)
    assert done.returncode == 2 and "works only with --test" in done.stderr.decode()
    monkeypatch.setenv("SPECEDIT_TEST", "true")
    done = inside("edit", "Do it", "calc.py", "--ask", flag)
    message = done.stderr.decode()
    assert done.returncode == 2 and f"{flag.partition('=')[0]} needs a test, and --ask" in message


@pytest.mark.parametrize("command", ["", "  "])
def test_an_empty_command_is_refused(tree, inside, command):
    for words in (("edit", "Do it"), ("rename", "add", "plus")):
        done = inside(*words, "calc.py", "--test", command)
        assert done.returncode == 2 and "--test" in done.stderr.decode()
    assert tree.status() == ""


def test_where_the_checks_refuse_every_try_they_are_named_and_not_the_command(tree, script, inside):
    script(replace=[["a - b", "a - c"]])
    done = inside("edit", "Do it", "calc.py", "--test", "true", "--tries", "2")
    last = done.stderr.decode().splitlines()[-1]
    assert done.returncode == 2
    assert last.startswith("calc.py: the checks refuse all 2 tries; the first: line 2: `c` is used")
    assert "calc.py: calc.py" not in done.stderr.decode()


def test_a_file_that_no_try_changes_is_not_refused(tree, script, inside):
    tree.commit({"b.py": "b = 1\n"})
    script(replace=[SUM])
    done = inside("edit", "Do it", "calc.py", "b.py", "--test", "exit 1", "--tries", "2", "--json")
    assert done.returncode == 2
    found = {one["path"]: one["status"] for one in json.loads(done.stdout)["files"]}
    assert found == {"calc.py": "refused", "b.py": "unchanged"}
    script(replace=[])
    done = inside("edit", "Do it", "calc.py", "b.py", "--test", "exit 1", "--tries", "2")
    assert done.returncode == 2, "nothing changed, and the command fails"
    assert tree.status() == ""


def test_a_refused_answer_is_asked_for_again_without_any_command(tree, script, inside):
    says(script, "def add(a, b:\n", RIGHT)
    done = inside("edit", "Do it", "calc.py", "--json")
    assert done.returncode == 0 and tree.read("calc.py") == RIGHT
    tries = json.loads(done.stdout)["files"][0]["tries"]
    assert [bool(one["refused"]) for one in tries] == [True, False]
    inside("undo")
    message = inside("edit", "Do it", "calc.py").stderr.decode()
    line = next(one for one in message.splitlines() if one.startswith("try 2"))
    assert "passes its checks" in line.split(": ")[-1]
    assert [one["test"] for one in tries] == [None, None]
    inside("undo")
    says(script, "def add(a, b:\n", RIGHT)
    assert inside("edit", "Do it", "calc.py", "--tries", "1").returncode == 2
    assert tree.read("calc.py") == CALC


def test_an_answer_that_changes_nothing_is_asked_for_again_where_one_file_is_named(
    tree, script, inside
):
    says(script, CALC.replace("a - b", "a  -  b"), RIGHT)
    done = inside("edit", "Do it", "calc.py", "--json", "--yes")
    assert done.returncode == 0 and tree.read("calc.py") == RIGHT
    tries = json.loads(done.stdout)["files"][0]["tries"]
    assert [one["kept"] for one in tries] == [False, True]
    assert "white space" in tries[0]["noted"] and tries[1]["noted"] is None
    inside("undo")
    says(script, CALC, RIGHT)
    assert inside("edit", "Do it", "calc.py", "--tries", "1").returncode == 1
    assert tree.read("calc.py") == CALC


def test_two_answers_that_change_nothing_leave_the_file_be(tree, script, inside):
    calls = says(script, CALC, CALC, CALC, CALC, RIGHT)
    done = inside("edit", "Do it", "calc.py", "--json")
    assert done.returncode == 1 and tree.read("calc.py") == CALC
    (file,) = json.loads(done.stdout)["files"]
    assert file["status"] == "unchanged" and len(file["tries"]) == 2
    assert [one["kept"] for one in file["tries"]] == [True, False]
    assert len(calls.read_text().splitlines()) == 2
    message = inside("edit", "Do it", "calc.py").stderr.decode()
    assert "asked again: the answer changes nothing" in message


def test_a_model_that_changes_nothing_is_judged_as_the_tree_was(tree, script, inside, tmp_path):
    runs = tmp_path / "runs"
    says(script, CALC)
    done = inside("edit", "Do it", "calc.py", "--test", f"echo >> {runs}")
    assert done.returncode == 1 and "unchanged" in done.stderr.decode()
    assert len(runs.read_text().splitlines()) == 1


def test_the_command_runs_in_the_work_trees_root(tree, script, inside):
    (tree.root / "deep").mkdir()
    says(script, RIGHT)
    done = inside("edit", "Do it", "../calc.py", "--test", QUICK, cwd=tree.root / "deep")
    assert done.returncode == 0 and tree.read("calc.py") == RIGHT


# 5: safe


def test_the_command_may_change_the_file(tree, script, inside):
    says(script, RIGHT)
    ends = "if grep -q 'a \\* b' calc.py; then echo '# end' >> calc.py; fi"
    done = inside("edit", "Do it", "calc.py", "--test", ends, "--json")
    assert done.returncode == 0 and tree.read("calc.py") == RIGHT + "# end\n"
    (file,) = json.loads(done.stdout)["files"]
    assert "the command's version is kept" in " ".join(file["notes"]) and "+# end" in file["diff"]
    assert inside("undo").returncode == 0 and tree.status() == ""


def test_the_command_may_change_the_file_before_any_edit(tree, script, inside):
    script(replace=[["a - b", "a * b"]])
    done = inside("edit", "Do it", "calc.py", "--test", "echo '# end' >> calc.py", "--json")
    assert done.returncode == 0, "its run before any edit leaves no trace"
    assert tree.read("calc.py") == CALC.replace("a - b", "a * b") + "# end\n"
    (note,) = [n for n in json.loads(done.stdout)["files"][0]["notes"] if "its version is in" in n]
    assert Path(note.rpartition(" ")[2]).read_text() == CALC + "# end\n"
    Path(note.rpartition(" ")[2]).unlink()
    inside("undo")
    assert tree.read("calc.py") == CALC


def test_the_command_may_change_the_file_and_fail(tree, script, inside):
    says(script, RIGHT)
    spoil = "if grep -q 'a \\* b' calc.py; then echo mine > calc.py; fi; exit 1"
    done = inside("edit", "Do it", "calc.py", "--test", spoil, "--tries", "1", "--json")
    assert done.returncode == 2 and tree.status() == ""
    note = json.loads(done.stdout)["files"][0]["notes"][-1]
    assert Path(note.rpartition(" ")[2]).read_text() == "mine\n"
    Path(note.rpartition(" ")[2]).unlink()


TRIED = "if grep -q 'a \\* b' calc.py; then {} calc.py; fi; exit {}"
ACTS = {  # the command, the exit code of the edit, the file afterwards
    "deletes before any edit": ("grep -q 'a \\* b' calc.py || { rm calc.py; exit 1; }", 0, RIGHT),
    "deletes and passes": (TRIED.format("rm", 0), 0, RIGHT),
    "deletes and fails": (TRIED.format("rm", 1), 2, CALC),
    "links": (TRIED.format("rm calc.py; ln -s /etc/hosts", 1), 2, CALC),
    "pipes": (TRIED.format("rm calc.py; mkfifo", 1), 2, CALC),
    "closes": (TRIED.format("chmod 000", 1), 2, CALC),
}


@pytest.mark.parametrize(("command", "code", "text"), ACTS.values(), ids=ACTS)
def test_whatever_the_command_does_to_the_file_ends_with_it(
    tree, script, inside, command, code, text
):
    says(script, RIGHT)
    done = inside("edit", "Do it", "calc.py", "--test", command, "--tries", "1")
    assert done.returncode == code and not (tree.root / "calc.py").is_symlink()
    assert tree.read("calc.py") == text and (text == RIGHT or tree.status() == "")


def test_a_command_that_hangs_is_ended(tree, script, inside):
    says(script, RIGHT)
    hang = "grep -q 'a \\* b' calc.py || exit 1; sleep 60"
    done = inside("edit", "Do it", "calc.py", "--test", hang, "--test-timeout", "1", "--tries", "1")
    assert done.returncode == 2 and "took more than 1 s" in done.stderr.decode()
    assert tree.status() == ""


ESCAPES = {
    "child": "{} & sleep 60",
    "ignores SIGTERM": "(trap '' TERM; {}) & sleep 60",
    "session of its own": "setsid {} & sleep 60",
    "daemon": "(setsid nohup {} &) ; sleep 60",
    "daemon of a command that ends": "(setsid nohup {} &) ; while ! test -e begun; do :; done",
}


@pytest.mark.parametrize("how", ends(ESCAPES.values()), ids=ends(ESCAPES))
@pytest.mark.skipif(sys.platform != "linux", reason="the supervisor is for Linux")
def test_a_command_ends_with_every_process_that_it_started(tree, script, inside, how):
    """The process holds a pipe open until it ends, whatever it does to its group and session."""
    says(script, RIGHT)
    os.mkfifo(tree.root / "pipe")
    reader = os.open(tree.root / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    command = how.format("sh -c 'echo yes; echo > begun; sleep 60' > pipe")
    only_the_try = f"grep -q 'a \\* b' calc.py || exit 1; {command}"
    inside(*("edit", "Do it", "calc.py", "--test", only_the_try), "--test-timeout", "1")
    os.set_blocking(reader, True)
    assert os.read(reader, 100) == b"yes\n"
    assert os.read(reader, 100) == b"", "a process of the command still has the pipe"
    os.close(reader)


def test_the_command_does_not_get_our_keys(tree, script, inside, monkeypatch):
    says(script, RIGHT)
    for name in ("SPECEDIT_API_KEY", "SPECEDIT_TOKEN", "MINE"):
        monkeypatch.setenv(name, "secret")
    inside("edit", "Do it", "calc.py", "--test", "env > variables")
    text = tree.read("variables")
    assert "MINE=secret" in text and "SPECEDIT_API_KEY" not in text and "SPECEDIT_TOKEN" not in text


def test_a_command_may_print_megabytes(tree, script, inside):
    says(script, RIGHT)
    loud = "head -c 30000000 /dev/zero | tr '\\0' 'x'; echo; echo the end failed; exit 1"
    done = inside("edit", "Do it", "calc.py", "--test", loud, "--tries", "1")
    assert done.returncode == 2 and "the end failed" in done.stderr.decode()
    assert len(done.stderr) < 20_000 and tree.status() == ""


def begun(tree: Repository, *words: str) -> subprocess.Popen[bytes]:
    """A run in a process of its own, at the moment when its try is in the work tree."""
    child = subprocess.Popen(
        [sys.executable, "-m", "specedit", *words],
        cwd=tree.root,
        stderr=subprocess.PIPE,
        preexec_fn=interruptible,
    )
    end = time.monotonic() + 60
    while "a * b" not in tree.read("calc.py"):
        assert time.monotonic() < end and child.poll() is None, child.communicate()[1]
        time.sleep(0.02)
    return child


WAITS = ("edit", "Do it", "calc.py", "--test", "grep -q 'a \\* b' calc.py && sleep 30; exit 1")


def test_guarantee_9_killed_while_a_try_is_in_the_tree_nothing_is_lost(tree, script, specedit):
    says(script, RIGHT)
    child = begun(tree, *WAITS)
    busy = specedit("edit", "Do it", "calc.py", "--test", "true")
    assert busy.returncode == 2 and "is testing an edit" in busy.stderr.decode()
    assert specedit("undo").returncode == 2, "it is not over yet"
    assert specedit("undo", "--forget").returncode == 2, "the originals are nowhere else"
    assert "still running" in specedit("refine", "more").stderr.decode()
    assert b"killed" not in specedit("undo", "--list").stdout
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert tree.read("calc.py") == RIGHT, "the try is still there"
    message = specedit("config").stderr.decode()
    assert "specedit: reverted the try of " in message and message.count("\n") == 1
    assert tree.read("calc.py") == CALC and tree.status() == "" and not journal()
    assert b"reverted" not in specedit("config").stderr


def test_killed_and_changed_since_what_stands_there_is_kept_aside(tree, script, specedit):
    says(script, RIGHT)
    child = begun(tree, *WAITS)
    child.kill()
    child.communicate()
    tree.write("calc.py", "mine = 1\n")
    undone = specedit("undo").stderr.decode()
    assert tree.read("calc.py") == CALC
    aside = Path("".join(undone.rpartition("the text that was there is in ")[2].split()))
    assert aside.read_text() == "mine = 1\n"
    aside.unlink()


@pytest.mark.parametrize("name", ends(["SIGINT", "SIGTERM", "SIGHUP"]))
def test_what_asks_the_run_to_end_restores_at_once(tree, script, name):
    if signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        pytest.skip("it is ignored from outside, as `nohup` does, and so it stays")
    says(script, RIGHT)
    child = begun(tree, *WAITS)
    child.send_signal(getattr(signal, name))
    message = child.communicate(timeout=30)[1].decode()
    assert child.returncode == 130, message
    assert tree.read("calc.py") == CALC and tree.status() == ""
    assert not journal()


@pytest.mark.tools
def test_two_texts_of_one_size_in_one_second_are_two_files_to_python(tree, script, specedit):
    """Python takes what it compiled for a file of the same second and size."""
    tree.commit({"one.py": "def one():\n    return 0\n"})
    wrong, right = "def one():\n    return 2\n", "def one():\n    return 1\n"
    says(script, wrong, right)
    asks = f"{sys.executable} -c 'from one import one; assert one() == 1'"
    done = specedit("edit", "Do it", "one.py", "--test", asks, "--tries", "2")
    assert done.returncode == 0, done.stderr.decode()
    assert tree.read("one.py") == right


def test_from_python_nothing_is_written_but_by_write(tree, script):
    from specedit import Editor

    says(script, WRONG, RIGHT)
    with Editor(test=QUICK) as editor:
        edit = editor.edit("Do it", "calc.py")
        assert [one.kept for one in edit.tries] == [False, True]
        assert tree.status() == "" and edit.changed
        assert editor.write(edit).written
    assert tree.read("calc.py") == RIGHT


@pytest.mark.parametrize("moment", ends(range(6)))
def test_guarantee_9_killed_at_any_moment(tree, script, specedit, moment):
    says(script, WRONG, WORSE, WRONG + "# 3\n", WRONG + "# 4\n", RIGHT)
    child = subprocess.Popen(
        [sys.executable, "-m", "specedit", "edit", "Do it", "calc.py", "--test", QUICK],
        cwd=tree.root,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while tree.read("calc.py") == CALC and child.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.001)
    time.sleep(0.03 * moment)
    child.kill()
    child.wait()
    done = specedit("undo")
    while b"still running" in done.stderr and time.monotonic() < end:
        done = specedit("undo")  # a fork that has not become the test's shell holds the lock too
    assert tree.read("calc.py") == CALC, done.stderr.decode()
    assert not journal() and not list(tree.root.glob(".specedit*"))


def test_a_large_file_is_tried_in_its_regions(tree, script, inside):
    parts = [
        f"def part_{n}(a, b):\n    # the number {n}\n    return a * {n} - b\n\n\n"
        for n in range(300)
    ]
    tree.commit({"large.py": "".join(parts)})
    script(replace=[["a * 150", "a // 150"]], then=[{"replace": [["a * 150 - b", "a + b"]]}])
    asks = "grep -q 'return a + b' large.py || { echo 'large.py:1:1: error: no sum'; exit 1; }"
    done = inside(*("edit", "Let part_150 return the sum", "large.py", "--test", asks, "--json"))
    (file,) = json.loads(done.stdout)["files"]
    assert done.returncode == 0, done.stderr
    assert tree.read("large.py") == "".join(parts).replace("a * 150 - b", "a + b")
    assert file["regions"] and len(file["tries"]) == 2
    assert file["tries"][1]["prompt"]["tokens"] < 4000, "a region, not the file"


def test_a_file_that_cannot_be_done_leaves_the_others_to_the_test(tree, script, inside):
    script(replace=[["a - b  #", "a + b #"]])
    long = "".join(f"def f{n}(a):\n    x = a\n    return x\n\n\n" for n in range(40))
    tree.commit({"long.py": long})
    files = ("long.py", "calc.py", "--json")
    done = inside("edit", "In add() return the sum", *files, "--test", "grep -q 'a + b' calc.py")
    statuses = [file["status"] for file in json.loads(done.stdout)["files"]]
    assert (done.returncode, statuses) == (0, ["unchanged", "edited"]), done.stderr
    done = inside("edit", "In nowhere() return 1", *files, "--test", "true")
    statuses = [file["status"] for file in json.loads(done.stdout)["files"]]
    assert (done.returncode, statuses) == (1, ["unchanged", "unchanged"]), done.stderr
    assert len(journal()) == 1
