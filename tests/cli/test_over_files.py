"""Work over the files that git chooses: what is touched, what is said, and Ctrl-C in the middle."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import interruptible
from hook_repository import Hooked

pytestmark = pytest.mark.tools

FILES = {
    "a.py": "Old = 1\nprint(Old)\n",
    "b dir/é.py": "class Old:\n    pass\n",
    "comment.py": "# Old is it\nx = 1\n",
    "string.py": 'print("Old")\n',
    "part.py": "OldThing = 1\n",
    "lower.py": "old_id = 1\n",
    "notes.md": "About Old.\n",
    "data.json": '{"Old": 1}\n',
}


@pytest.fixture
def desk(tmp_path: Path) -> Hooked:
    made = Hooked.make(tmp_path / "repo", "[tool.specedit]\n")
    made.repo.commit(FILES)
    made.repo.git("config", "core.quotePath", "false")
    return made


def touched(desk: Hooked) -> set[str]:
    return set(desk.repo.git("diff", "--name-only").splitlines())


def test_a_file_that_only_holds_another_spelling_is_found_for_derived_names(desk):
    Path(desk.repo.env["TESTS_SCRIPT"]).write_text(
        '{"replace": [["USER_NAME", "EMAIL"], ["userNames", "emails"]]}'
    )
    desk.repo.commit({"constant.py": "USER_NAME = 1\n", "many.py": "userNames = []\n"})
    assert desk.specedit("rename", "userName", "email", "--scope", "derived")[0] == 0
    assert touched(desk) == {"constant.py", "many.py"}
    assert desk.repo.read("constant.py") == "EMAIL = 1\n"
    assert desk.repo.read("many.py") == "emails = []\n"


@pytest.mark.parametrize("how", [["--staged"], ["--changed"], ["--since", "HEAD"]], ids="".join)
def test_git_chooses_the_files_of_an_edit(desk, how):
    desk.repo.write("a.py", FILES["a.py"] + "y = 2\n")
    desk.repo.git("add", "a.py")
    code, _, err = desk.specedit("edit", "Old becomes New.", *how)
    assert code == 0 and touched(desk) == {"a.py"}
    assert "a.py: its text was in no commit: specedit undo puts it back" in err


def test_clean_only_refuses_before_anything_happens(desk):
    desk.repo.write("comment.py", FILES["comment.py"] + "mine = 2\n")
    code, _, err = desk.specedit("rename", "Old", "New", "--clean-only")
    assert code == 2 and "Uncommitted changes in comment.py" in err
    assert touched(desk) == {"comment.py"} and desk.asked == 0
    desk.repo.git("commit", "-qam", "mine")
    assert desk.specedit("rename", "Old", "New", "--clean-only")[0] == 0


def test_nothing_chosen_is_done_at_once(desk):
    code, out, err = desk.specedit("rename", "Old", "New", "--staged", "--json")
    assert code == 0 and json.loads(out)["files"] == []
    assert "git names no file that holds 'Old'" in err
    assert desk.specedit("edit", "x", "--staged")[0] == 0


@pytest.mark.parametrize("name", ["Nowhere", "Ol"])
def test_a_name_that_nothing_declares_is_refused_with_the_nearest(desk, name):
    code, out, err = desk.specedit("rename", name, "New")
    assert (code, out) == (2, "") and desk.asked == 0 and touched(desk) == set()
    assert f"`{name}` is not declared in this work tree." in err
    assert ("Did you mean `Old`" in err) == (name == "Ol")


def test_files_and_git_do_not_both_choose(desk):
    code, _, err = desk.specedit("edit", "x", "a.py", "--staged")
    assert code == 2 and "not both" in err


def test_an_interrupt_leaves_a_rename_of_many_files_undone(tmp_path):
    slow = Hooked.make(tmp_path / "repo", "[tool.specedit]\n", delay_s=0.4)
    slow.repo.commit({f"{n}.py": f"old = {n}  # some old one\n" for n in range(10)})
    words = [sys.executable, "-m", "specedit", "rename", "old", "new"]
    process = subprocess.Popen(
        words,
        cwd=slow.repo.root,
        env=slow.repo.env,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    )
    until = time.monotonic() + 30
    while slow.asked < 2 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=30)
    assert process.returncode == 130
    assert slow.asked >= 2 and touched(slow) == set()
    assert "nothing half-written" in text.replace("\n", " ")
    left = " ".join(text.partition("Not done:")[2].split())
    assert left.startswith(", ".join(f"{n}.py" for n in range(8)) + " and 2 more")
    assert not list(slow.repo.root.glob(".specedit-*"))


@pytest.mark.parametrize("here", [".", "sub", "sub/deep"])
@pytest.mark.parametrize("spelled", ["relative", "absolute", "linked"])
def test_git_applies_a_patch_wherever_it_was_made(desk, here, spelled):
    desk.repo.commit({f"{folder}/a é.py": FILES["a.py"] for folder in ("sub", "sub/deep")})
    folder = desk.repo.root / here
    place = folder / ("a.py" if here == "." else "a é.py")
    name = {"relative": place.name, "absolute": str(place), "linked": "link.py"}[spelled]
    if spelled == "linked":
        (folder / name).symlink_to(place.name)
    there = Hooked(desk.repo.at(folder), desk.calls)
    code, patch, _ = there.specedit("edit", "Old becomes New.", name, "--diff")
    assert code == 0
    there.repo.write("made.patch", patch)
    there.repo.git("apply", "made.patch")
    assert place.read_bytes() == b"New = 1\nprint(New)\n"


@pytest.mark.parametrize("spelled", ["a.py", "./a.py", "../plain/a.py", "{here}/a.py"])
def test_outside_a_repository_a_patch_counts_from_here(desk, tmp_path, spelled):
    desk.repo.env["GIT_CEILING_DIRECTORIES"] = str(tmp_path.parent)
    here = Hooked(desk.repo.at(tmp_path / "plain"), desk.calls)
    here.repo.write("a.py", FILES["a.py"])
    name = spelled.format(here=here.repo.root)
    _, patch, _ = here.specedit("edit", "Old becomes New.", name, "--diff")
    here.repo.write("made.patch", patch)
    here.repo.git("apply", "made.patch")
    assert here.repo.read("a.py") == "New = 1\nprint(New)\n"


def test_a_hook_run_below_the_top_gives_a_patch_that_counts_from_it(tmp_path):
    rules = '[[tool.specedit.hook]]\ninstruction = "Old becomes New."\nmode = "check"\n'
    made = Hooked.make(tmp_path / "repo", rules + 'files = ["*.py"]\n')
    made.repo.stage({"sub/a.py": FILES["a.py"]})
    code, patch, _ = Hooked(made.repo.at(made.repo.root / "sub"), made.calls).specedit(
        "hook", "run"
    )
    assert code == 1 and patch.startswith("diff --git a/sub/a.py b/sub/a.py\n")
