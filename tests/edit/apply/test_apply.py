"""`specedit apply`: a change is merged, written and undone; or refused, and nothing is written."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from case_files import cases, changed, read_cases, read_texts, rows
from command_line import Done
from git_repository import Repository

from specedit import Editor

CASES = "edit/apply/apply.toml"
SHOP = read_texts(CASES)["SHOP"]


def form(name: str, table: str = "merged") -> str:
    return read_cases(CASES, table)[name]["change"]


TOTAL = changed(SHOP, ("return sum(prices)", "return sum(prices or [])"))


EDIT = (
    "diff --git a/shop.py b/shop.py\n--- a/shop.py\n+++ b/shop.py\n@@ -16,3 +16,3 @@\n"
    "         prices = self.items\n-        return sum(prices)\n"
    "+        return sum(prices or [])\n"
)


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\r\r\n"], ids=repr)
@pytest.mark.parametrize("styled", [True, False], ids=["as the file", "plain"])
def test_line_ends_outside_of_a_change_stay(inside, repo, newline, styled):
    (repo.root / "shop.py").write_bytes(SHOP.replace("\n", newline).encode())
    change = EDIT.replace("\n", newline) if styled else EDIT
    done = inside("apply", "shop.py", stdin=change.encode())
    assert done.returncode == 0, done.stderr
    assert (repo.root / "shop.py").read_bytes() == TOTAL.replace("\n", newline).encode()


@cases(CASES, "others")
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_a_part_that_is_not_carried_out_refuses_the_change(inside, repo, part, words, first):
    change = part + EDIT if first else EDIT + part
    done = inside("apply", stdin=change.encode())
    assert done.returncode == 2 and words in done.stderr.decode()
    assert repo.read("shop.py") == SHOP
    done = inside("apply", stdin=EDIT.encode())
    assert (done.returncode, repo.read("shop.py")) == (0, TOTAL)


@rows("change words")
def test_an_empty_block_and_a_moved_file_refuse_the_change(inside, repo, change, words):
    snippet = "def first(items):\n    return items[-1]\n"
    done = inside("apply", stdin=change.format(snippet).encode())
    assert done.returncode == 2 and words in done.stderr.decode()
    assert repo.read("shop.py") == SHOP


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository.init(tmp_path / "repo")
    made.commit({"shop.py": SHOP, "User.cs": "class User\n{\n    int Age;\n}\n"})
    monkeypatch.chdir(made.root)
    return made


@cases(CASES, "merged")
def test_every_form_is_merged_without_a_model_and_undone(inside, repo, change, changes):
    wanted = changed(SHOP, *changes)
    done = inside("apply", "shop.py", "-", stdin=change.encode())
    assert (done.returncode, repo.read("shop.py")) == (0, wanted), done.stderr.decode()
    again = inside("apply", "shop.py", stdin=change.encode())
    assert repo.read("shop.py") == wanted, "never twice"
    assert again.returncode in (0, 2)
    assert inside("undo").returncode == 0 and repo.read("shop.py") == SHOP


def test_a_new_method_stands_behind_the_one_it_is_shown_with(inside, repo):
    head = "class A {\n  foo() {\n    return 1;\n  }\n\n  bar() {\n    return "
    repo.write("a.ts", head + "2;\n  }\n}\n")
    methods = "  bar() {\n    return 3;\n  }\n\n  baz() {\n    return 4;\n  }\n"
    done = inside("apply", "a.ts", stdin=methods.encode())
    assert done.returncode == 0, done.stderr.decode()
    assert repo.read("a.ts") == head + "3;\n  }\n\n  baz() {\n    return 4;\n  }\n}\n"


def test_guarantee_11_a_snippet_that_leaves_a_definition_out_is_refused(inside, repo):
    change = (
        "# ...\n    def __init__(self, items):\n        self.items = items\n\n"
        "    def count(self):\n        return len(self.items)\n# ...\n"
    )
    done = inside("apply", "shop.py", stdin=change.encode())
    kept = done.returncode == 0 and repo.read("shop.py") == SHOP
    assert kept or (done.returncode == 2 and b"Cart.total" in done.stderr), done.stderr.decode()
    assert "def total" in repo.read("shop.py")


@rows("before change wanted")
def test_guarantee_11_a_new_method_takes_no_other_ones_place(inside, repo, before, change, wanted):
    repo.write("s.py", before)
    done = inside("apply", "s.py", stdin=change.encode())
    assert (done.returncode, repo.read("s.py")) == (0, wanted), done.stderr.decode()


def test_a_comment_that_stands_for_members_is_not_written(inside, repo):
    old = (
        "class W {\n    static final int FACTORY = 1;\n    int size;\n\n    void write() {\n"
        "        put(size);\n    }\n\n    void close() {\n        size = 0;\n    }\n}\n"
    )
    repo.write("W.java", old)
    change = (
        "class W {\n    // (FACTORY and the other fields stay the same)\n\n"
        "    // write() unchanged\n\n    void close() {\n        size = -1;\n    }\n}\n"
    )
    done = inside("apply", "W.java", stdin=change.encode())
    assert repo.read("W.java") == old.replace("size = 0", "size = -1"), done.stderr.decode()


@pytest.mark.parametrize("server", ["auto", "http://localhost:9"])
def test_a_doubtful_part_is_refused_and_no_model_is_asked(
    inside, repo, script, monkeypatch, server
):
    calls = script(answer="        return True\n```")
    monkeypatch.setenv("SPECEDIT_SERVER", server)
    doubtful = "# ...\n            print(thing)\n# ...\n"
    done = inside("apply", "shop.py", stdin=doubtful.encode())
    assert done.returncode == 2 and repo.read("shop.py") == SHOP and not calls.exists()
    assert b"(line 29); show the line above it: `for item in self.items:`" in done.stderr
    flag = inside("apply", "shop.py", "--no-model", stdin=doubtful.encode())
    assert flag.returncode == 2 and b"--no-model: it is an option of rename" in flag.stderr


@cases(CASES, "refused")
def test_bad_input_is_an_error_and_nothing_is_written(inside, repo, change, message):
    done = inside("apply", "shop.py", "-", stdin=change.encode())
    assert done.returncode == 2 and message in done.stderr.decode()
    assert repo.read("shop.py") == SHOP and repo.git("status", "--short") == ""


def test_a_change_that_was_taken_for_the_file_is_named(inside, repo):
    repo.write("change.txt", form("search-replace"))
    done = inside("apply", "change.txt", stdin=b"")
    assert done.returncode == 2 and b"Nothing came from stdin" in done.stderr


SWAPPED = {  # the file of the change, which is given first, and its text
    "SEARCH blocks": ("change.txt", form("search-replace")),
    "a snippet": ("change.txt", form("snippet-with-elisions")),
    "a model's answer": ("answer.md", f"Here:\n\n```python\n{form('two-functions')}```\n"),
    "a diff in a source file's name": ("change.py", form("patch-of-codex")),
}


@pytest.mark.parametrize("name", SWAPPED)
def test_a_change_given_before_its_file_is_refused_and_stays(inside, repo, name):
    path, change = SWAPPED[name]
    repo.write(path, change)
    done = inside("apply", path, "shop.py")
    assert done.returncode == 2 and f"specedit apply shop.py {path}" in done.stderr.decode()
    assert (repo.read(path), repo.read("shop.py")) == (change, SHOP)


@pytest.mark.parametrize(
    ("path", "change"),
    [("shop.py", "snippet.py"), ("shop.py", "snippet.txt"), ("notes.txt", "notes.diff")],
)
def test_a_file_given_before_its_change_does_not_look_swapped(inside, repo, path, change):
    snippet = form("method-without-its-class")
    repo.write("snippet.py", snippet)
    repo.write("snippet.txt", snippet)
    repo.write("notes.txt", "first\nsecond\n")
    repo.write("notes.diff", "--- a/notes.txt\n+++ b/notes.txt\n@@\n first\n-second\n+last\n")
    done = inside("apply", path, change)
    assert done.returncode == 0, done.stderr.decode()


def test_binary_input_is_an_error(inside, repo):
    assert inside("apply", "shop.py", stdin=b"\x00\x01\xff").returncode == 2
    repo.write("data.bin", "a\0b")
    done = inside("apply", "data.bin", "-", stdin=form("search-replace").encode())
    assert done.returncode == 2 and b"binary" in done.stderr


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_line_ends_and_a_missing_final_newline_stay(inside, repo, ending):
    path = repo.root / "shop.py"
    path.write_bytes(SHOP.rstrip("\n").replace("\n", ending).encode())
    change = form("snippet-with-elisions").replace("\n", "\r\n")
    assert inside("apply", "shop.py", "-", stdin=change.encode()).returncode == 0
    assert path.read_bytes() == TOTAL.rstrip("\n").replace("\n", ending).encode()


def test_several_files_change_together_or_not_at_all(inside, repo):
    good = f"shop.py\n{form('search-replace')}"
    user = "User.cs\n<<<<<<< SEARCH\n    int Age;\n=======\n    int Years;\n>>>>>>> REPLACE\n"
    done = inside("apply", stdin=f"{good}\n{user.replace('int Age', 'int Name')}".encode())
    assert done.returncode == 2 and repo.git("status", "--short") == ""
    repo.write("change.md", f"{good}\n{user}")
    assert inside("apply", "-", "change.md").returncode == 2
    done = inside("apply", stdin=(repo.root / "change.md").read_bytes())
    assert done.returncode == 0, done.stderr.decode()
    assert repo.read("shop.py") == TOTAL and "Years" in repo.read("User.cs")
    assert inside("undo").returncode == 0
    done = inside("apply", "User.cs", "change.md")
    assert done.returncode == 0 and b"Not merged: the change for shop.py." in done.stderr
    assert repo.read("shop.py") == SHOP and "Years" in repo.read("User.cs"), "FILE restricts it"


@pytest.mark.parametrize("path", ["/etc/hostname", "../outside.py", "src/../../outside.py"])
def test_a_change_cannot_name_files_outside(inside, repo, path):
    (repo.root.parent / "outside.py").write_text("x = 1\n")
    change = f"{path}\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n"
    done = inside("apply", stdin=change.encode())
    assert done.returncode == 2 and (repo.root.parent / "outside.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("path", [".git/config", "b/../.GIT/hooks/pre-commit", "lib/.git/config"])
def test_a_change_cannot_name_files_in_a_git_folder(inside, repo, path):
    (repo.root / "b").mkdir()
    place = Path(os.path.normpath(repo.root / path))
    place.parent.mkdir(parents=True, exist_ok=True)
    before = place.read_bytes() if place.exists() else b"x = 1\n"
    place.write_bytes(before)
    first = before.decode().splitlines()[0]
    change = f"--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,2 @@\n {first}\n+fsmonitor = touch pwned\n"
    done = inside("apply", stdin=change.encode())
    assert (done.returncode, place.read_bytes()) == (2, before), done.stderr.decode()
    assert b"in its .git" in done.stderr


def objects(done: Done) -> Any:
    return json.loads(done.stdout)


def test_json_says_how_each_part_was_merged(inside, repo):
    change = form("import-between-its-neighbours").encode()
    found = objects(inside("apply", "shop.py", "--json", stdin=change))
    assert found["command"] == "apply" and found["model"] is None
    assert found["files"][0]["parts"] == [{"lines": [2, 2], "how": "exact"}]
    both = form("two-places", "refused").encode()
    found = objects(inside("apply", "shop.py", "--json", stdin=both))
    (finding,) = found["files"][0]["findings"]
    assert finding["kind"] == "ambiguous"
    assert [one["line"] for one in finding["places"]] == [14, 26]


def test_check_and_diff_write_nothing(inside, repo):
    change = form("search-replace").encode()
    assert inside("apply", "shop.py", "--check", stdin=change).returncode == 1
    done = inside("apply", "shop.py", "--diff", stdin=change)
    assert done.returncode == 0 and repo.read("shop.py") == SHOP
    repo.write("a.patch", done.stdout.decode())
    repo.git("apply", "--check", "a.patch")
    assert inside("apply", "a.patch").returncode == 0, "a patch names its files"
    assert repo.read("shop.py") == TOTAL


PEAK = """import sys
from specedit.cli import run
code = run(sys.argv[1:])
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")), flush=True)
sys.exit(code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a process's own peak memory")
def test_20000_lines_are_replaced_in_92_mb(repo, tmp_path):
    lines = [f"v{number} = {number}\n" for number in range(20_000)]
    repo.write("large.py", "".join(lines))
    new = [line.replace("v", "w") for line in lines]
    rows = ["--- a/large.py\n", "+++ b/large.py\n", "@@ -1,20000 +1,20000 @@\n"]
    rows += [*(f"-{line}" for line in lines), *(f"+{line}" for line in new)]
    (tmp_path / "change.diff").write_text("".join(rows))
    words = ["apply", "large.py", str(tmp_path / "change.diff"), "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *words], cwd=repo.root, capture_output=True, check=True
    )
    assert repo.read("large.py") == "".join(new)
    assert int(done.stdout.split()[1]) / 1024 < 92


NAMED = {
    "diff": "--- LICENSE\n+++ LICENSE\n@@ -1,1 +1,1 @@\n-old\n+new\n",
    "fence": "```LICENSE\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n",
    "above": "LICENSE\n```\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n",
    "snippet": "**LICENSE**\n```text\nfirst\nnew\nlast\n```\n",
}


@pytest.mark.parametrize("path", ["LICENSE", ".gitignore", ".eslintrc.js"])
@pytest.mark.parametrize("form", NAMED)
def test_a_change_names_files_without_a_dot_or_with_one_in_front(inside, repo, form, path):
    repo.write(path, "first\nold\nlast\n")
    done = inside("apply", "-", stdin=NAMED[form].replace("LICENSE", path).encode())
    assert repo.read(path) == "first\nnew\nlast\n", done.stderr.decode()
    again = inside("apply", stdin=NAMED[form].replace("LICENSE", "NOTHERE").encode())
    assert again.returncode == 2


@pytest.mark.parametrize("piped", [True, False])
def test_a_change_that_is_too_large_is_named(inside, repo, piped):
    change = "x = 2\n" * 400_000
    repo.write("change.py", change)
    rest = {"stdin": change.encode()} if piped else {}
    done = inside("apply", "shop.py", *([] if piped else ["change.py"]), **rest)
    assert done.returncode == 2 and b"The change has 2.4 million characters" in done.stderr


def test_the_python_api_merges_and_writes(repo):
    with Editor() as editor:
        edit = editor.apply(form("search-replace"), "shop.py")
        assert edit.changed and repo.read("shop.py") == SHOP
        assert editor.write(edit).written and repo.read("shop.py") == TOTAL
        assert editor.apply(form("two-places", "refused"), "shop.py").status == "refused"


@pytest.mark.parametrize("head", ["@@ -{0},3 +{0},3 @@\n", "@@ -1,{0} +1,{0} @@\n"])
def test_a_number_of_thousands_of_digits_in_a_diff_is_no_line(inside, repo, head):
    change = EDIT.replace("@@ -16,3 +16,3 @@\n", head.format("9" * 5_000))
    done = inside("apply", stdin=change.encode())
    assert (done.returncode, repo.read("shop.py")) == (0, TOTAL), done.stderr.decode()[-500:]


def test_a_marker_that_ends_a_function_and_one_below_it_are_merged(inside, repo):
    repo.write("a.py", "def f():\n    a = 1\n    b = 2\n\n\ndef g():\n    return 1\n")
    change = "def f():\n    a = 3\n    # ...\n# ...\n\n    # ...\n"
    done = inside("apply", "a.py", stdin=change.encode())
    assert done.returncode in (0, 2) and b"Traceback" not in done.stderr


ATTACKS = {  # the file, the change: each took 30 seconds and more
    "blocks": (
        "".join(f"def f{n}(a):\n    return a + {n}\n\n\n" for n in range(400)),
        "```python\nx\n```\n\n" * 1_250,
    ),
    "markers": ("a = 1\nb = 2\nc = 3\n", "...\n" * 20_000),
    "dividers": ("a = 1\nb = 2\nc = 3\n", "=======\n" * 20_000),
    "heads": ("a = 1\n", "--- a.py\n+++ a.py\n@@\n-a = 1\n+a = 2\n" * 5_000),
    "equal lines": ("x = 1\n" * 3, "x = 1\n" * 20_000),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_change_is_answered_in_seconds(inside, repo, name):
    before, change = ATTACKS[name]
    repo.write("a.py", before)
    started = time.process_time()
    assert inside("apply", "a.py", stdin=change.encode()).returncode in (0, 2)
    assert time.process_time() - started < 5
