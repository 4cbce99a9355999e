"""`specedit apply`: calls of agents' editing tools, and texts that are part of lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from case_files import rows
from command_line import Done
from git_repository import Repository

Run = Callable[..., Done]

APP = """\
import math


def total(items, tax):
    value = sum(items) + fee(items, tax)  # with the fee
    return value


def fee(items, tax):
    return tax
"""
PATCH = """\
*** Begin Patch
*** Update File: app.py
@@ def fee(items, tax):
-    return tax
+    return tax * len(items)
*** End Patch"""
OLD, NEW = "    return tax\n", "    return tax * len(items)\n"
AFTER = APP.replace(OLD, NEW)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repository = Repository.init(tmp_path)
    repository.commit({"app.py": APP, "web/a.js": "let a = 1;\n"})
    monkeypatch.chdir(tmp_path)
    return repository


def merge(inside: Run, change: str, *file: str) -> Done:
    return inside("apply", *file, stdin=change.encode())


def search(*pairs: tuple[str, str], head: str = "app.py\n") -> str:
    blocks = (
        f"{head}<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n" for old, new in pairs
    )
    return "\n".join(blocks)


ARGUMENTS = {"path": "app.py", "old_text": OLD, "new_text": NEW}
CALLS: dict[str, Any] = {
    "old_string": {"file_path": "app.py", "old_string": OLD, "new_string": NEW},
    "part of a line": {
        "file_path": "app.py",
        "old_string": "return tax",
        "new_string": NEW.strip(),
    },
    "str_replace": {"command": "str_replace", "path": "app.py", "old_str": OLD, "new_str": NEW},
    "several edits": {"filePath": "app.py", "edits": [{"oldText": OLD, "newText": NEW}]},
    "a call in a message": {"type": "tool_use", "input": {**ARGUMENTS}},
    "arguments as text": [{"function": {"name": "edit", "arguments": json.dumps(ARGUMENTS)}}],
    "a patch as a command": {"cmd": ["apply_patch", PATCH]},
    "a patch as input": {"input": PATCH},
    "blocks in a field": {"path": "app.py", "diff": search((OLD[:-1], NEW[:-1]), head="")},
    "lazy code": {
        "target_file": "app.py",
        "code_edit": f"# ... existing code ...\n\ndef fee(items, tax):\n{NEW}",
    },
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```\n", "I change it:\n\n{}\n\nDone.\n"])
def test_a_tools_call_is_merged(inside, repo, call, form):
    text = form.replace("{}", json.dumps(call, indent=2))
    done = merge(inside, text)
    assert done.returncode == 0, done.stderr.decode()
    assert repo.read("app.py") == AFTER


def test_calls_one_below_the_other_and_absolute_paths(inside, repo):
    js = {"file_path": str(repo.root / "web/a.js"), "old_string": "= 1", "new_string": "= 2"}
    text = "\n".join(map(json.dumps, (CALLS["old_string"], js)))
    assert merge(inside, text).returncode == 0
    assert (repo.read("app.py"), repo.read("web/a.js")) == (AFTER, "let a = 2;\n")


@rows("call message")
def test_a_call_without_one_place_is_refused(inside, repo, call, message):
    done = merge(inside, json.dumps({"path": "app.py", **call}))
    assert done.returncode == 2 and message in " ".join(done.stderr.decode().split())
    assert repo.git("status", "--short") == ""


def test_a_part_of_a_line_becomes_several_lines(inside, repo):
    pair = ("value = sum(items)", "whole = sum(items)\nvalue = whole")
    assert merge(inside, search(pair)).returncode == 0
    assert "    whole = sum(items)\n    value = whole + fee" in repo.read("app.py")


def test_a_call_that_is_cut_off_is_named(inside, repo):
    done = merge(inside, json.dumps(CALLS["old_string"])[:-4], "app.py")
    assert done.returncode == 2 and b"not valid JSON" in done.stderr


@pytest.mark.parametrize("keys", [("old", "new"), ("path", "content"), ("search", "replace")])
def test_data_with_the_names_of_a_call_is_data(inside, repo, keys):
    before, after = (json.dumps(dict.fromkeys(keys, "a") | {keys[1]: x}, indent=2) for x in "ab")
    repo.commit({"a.json": before})
    assert merge(inside, after, "a.json").returncode == 0
    assert repo.read("a.json").strip() == after


def test_a_diff_may_take_away_the_marks_of_a_conflict(inside, repo):
    text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\nd\n"
    repo.commit({"a.txt": text})
    body = (line if line in ("a", "b", "d") else f"-{line}" for line in text.splitlines())
    marked = "".join(f" {line}\n" if len(line) == 1 else f"{line}\n" for line in body)
    diff = f"--- a.txt\n+++ a.txt\n@@ -1,7 +1,3 @@\n{marked}"
    assert merge(inside, diff).returncode == 0
    assert repo.read("a.txt") == "a\nb\nd\n"


@pytest.mark.parametrize("change", ['{"name": "b"', '{"name": "b"}', "[1, 2]", "[" * 100_000])
def test_json_that_is_no_call_is_no_call(inside, repo, change):
    repo.commit({"a.json": '{\n"name": "a"\n}\n'})
    done = merge(inside, change, "a.json")
    assert done.returncode == 2 and b"Traceback" not in done.stderr


@rows("old new")
def test_a_block_that_quotes_a_part_of_lines_keeps_the_rest(inside, repo, old, new):
    assert merge(inside, search((old, new))).returncode == 0
    assert repo.read("app.py") == APP.replace(old, new if old[0] == " " else new.lstrip())


ONE, TWO, THREE = "let a = 1;", "let b = 2;", "let c = 3;"
JS = "\n".join((ONE, TWO, THREE, ""))


@pytest.mark.parametrize(
    ("pairs", "after"),
    [
        ([(f"{ONE}\n{TWO}", f"let a;\n{TWO}"), (f"{TWO}\n{THREE}", f"{TWO}\nlet c;")], "a;b=c;"),
        ([(f"{ONE}\n{TWO}", f"let a;\n{TWO}"), (f"{TWO}\n{THREE}", "let b;\nlet c;")], "a;b;c;"),
        ([(ONE, "let a;"), (f"let a;\n{TWO}", "let a;\nlet b;")], "a;b;c="),
        ([(ONE, "let a;"), (ONE, "let a;")], "a;b=c="),
        ([("let a", "var a"), ("= 1", "= 10")], "v=b=c="),
        ([(ONE, "let a;"), (ONE, "let a = 7;")], None),
    ],
    ids=["context", "then changed", "quotes the new text", "twice", "one line", "contradiction"],
)
def test_blocks_that_overlap_are_applied_in_turn(inside, repo, pairs, after):
    repo.commit({"a.js": JS})
    done = merge(inside, search(*pairs, head="a.js\n"))
    lines = {"a;": "let a;", "v=": "var a = 10;", "b;": "let b;", "b=": TWO, "c;": "let c;"}
    lines["c="] = THREE
    wanted = [lines[after[at : at + 2]] for at in (0, 2, 4)] if after else [ONE, TWO, THREE]
    assert done.returncode == (0 if after else 2), done.stderr.decode()
    assert repo.read("a.js").split() == " ".join(wanted).split()


@rows("head")
def test_a_file_is_named_above_a_block(inside, repo, head):
    change = search((OLD[:-1], NEW[:-1]), head=head)
    done = merge(inside, change)
    assert done.returncode == 0, done.stderr.decode()
    assert repo.read("app.py") == AFTER


def test_a_byte_order_mark_that_a_change_shows_is_not_written_twice(inside, repo):
    (repo.root / "b.py").write_bytes(b"\xef\xbb\xbfimport os\n\nx = os.name\n")
    for change in ("b.py\n```python\n\ufeffimport os\n\nx = os.sep\n```\n", "\ufeff"):
        if change == "\ufeff":
            change = (
                "--- b.py\n+++ b.py\n@@ -1,3 +1,3 @@\n \ufeffimport os\n \n-x = os.sep\n+x = 1\n"
            )
        assert merge(inside, change).returncode == 0
    assert (repo.root / "b.py").read_bytes() == b"\xef\xbb\xbfimport os\n\nx = 1\n"


NO_COLUMN = """\
--- a.js
+++ a.js
@@
it(`handles a script`, () => {
  const env = {}
+  const shell = true
+  if (shell) {
+    run()
+  }
  expect(spawn).toHaveBeenCalledWith('echo', {
    stdio: 'inherit',
+    shell,
    env,
"""


def test_a_diff_whose_context_has_no_column_for_the_sign_keeps_its_indentation(inside, repo):
    lines = NO_COLUMN.splitlines(keepends=True)[3:]
    repo.commit({"a.js": "".join(line for line in lines if line[0] != "+") + "  })\n})\n"})
    assert merge(inside, NO_COLUMN).returncode == 0
    assert repo.read("a.js") == "".join(line.removeprefix("+") for line in lines) + "  })\n})\n"


def test_blank_lines_around_a_block_that_the_file_lacks_do_not_matter(inside, repo):
    """With them only lines like it are found, and several are."""
    tests = "\n".join(f"def test_{n}():\n    assert run({n})\n    assert done\n" for n in range(4))
    repo.commit({"tests.py": tests})
    block = ("    assert run(3)\n    assert done\n\n", "    assert run(3)\n    assert not done\n\n")
    assert merge(inside, search(block, head="tests.py\n")).returncode == 0
    assert repo.read("tests.py") == tests[: -len("done\n")] + "not done\n"
