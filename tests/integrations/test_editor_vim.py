"""Vim and Neovim, driven headless: what an edit does to the buffer, its undo and the messages."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from editing import BUFFER, Desk, find, text

from specedit.integrations import editors

pytestmark = pytest.mark.tools

# `Wait()` until nothing runs; `Result()` says what there is to know; both editors run this.
DRIVER = Path(__file__).with_name("driver.vim").read_text("utf-8")


@dataclass(frozen=True)
class Vim:
    """One of the two, with its snippet loaded."""

    desk: Desk
    line: tuple[str, ...]

    def drive(self, *body: str) -> dict[str, Any]:
        """Open the file, run these commands, wait for what they started; what came of it."""
        commands = ["let g:specedit_warm = 0", "edit a\\ é.py", *body]
        commands += ["call Wait()", "call Result()"]
        path = self.desk.root.parent / "drive.vim"
        path.write_text(DRIVER.replace("{body}", "\n".join(f"  {c}" for c in commands)))
        result = self.desk.result(self.desk.run(*self.line, "-S", str(path)))
        assert "error" not in result, result
        return result


def make(name: str, desk: Desk) -> Vim:
    program = {"vim": "vim", "neovim": "nvim"}[name]
    path = desk.root.parent / f"snippet.{'vim' if name == 'vim' else 'lua'}"
    path.write_text(editors.snippet(editors.editor(name)))
    quiet = ("--headless",) if name == "neovim" else ("-es", "--not-a-term", "-N")
    own = ("-u", "NONE", "-i", "NONE", "-n")
    load = ("--cmd", "filetype on", "-c", f"source {path}")
    return Vim(desk, (find(program), *quiet, *own, *load))


@pytest.fixture(params=["vim", "neovim"])
def vim(request: pytest.FixtureRequest, tmp_path: Path) -> Vim:
    return make(request.param, Desk.make(tmp_path))


def test_the_buffer_is_edited_as_it_is_and_one_undo_takes_it_back(vim):
    result = vim.drive("4", "call setline(1, 'Old = 0')", "Specedit Old becomes New.")
    unsaved = BUFFER.replace("x = 1", "Old = 0")
    assert text(result["lines"]) == unsaved.replace("Old", "New")
    assert text(result["undone"]) == unsaved
    assert result["cursor"][0] == 4
    assert result["messages"].strip().splitlines()[-1].startswith("a é.py: ")
    assert (vim.desk.root / "a é.py").read_text() == BUFFER, "the file on the disk is not touched"


@pytest.mark.parametrize(
    ("before", "pairs"),
    [
        (BUFFER, [["x = 1\n", "x = 10\n"], ["z = 3\n", "z = 4\nzz = 5\nmore = 6\n"]]),
        ("one = 'Old → 文'\r\n\r\ntwo = 2", [["→", "⇒"], ["two = 2", "two = 3"]]),
    ],
    ids=["longer", "dos, wide, no last newline"],
)
def test_the_whole_answer_arrives(vim, before, pairs):
    vim.desk.play(replace=pairs)
    path = vim.desk.write("a é.py", before)
    result = vim.drive("Specedit as you like", "call Wait()", "silent write! out.py")
    after = before
    for old, new in pairs:
        after = after.replace(old, new)
    out = (vim.desk.root / "out.py").read_bytes().decode()
    assert out.rstrip("\r\n") == after.rstrip("\r\n")
    assert text(result["undone"]).strip("\n") == before.replace("\r\n", "\n").strip("\n")
    assert path.read_bytes().decode() == before


def test_a_selection_is_edited_and_the_rest_is_not(vim):
    result = vim.drive('exe "normal! 2GV\\<Esc>"', "'<,'>Specedit x")
    assert text(result["lines"]) == BUFFER.replace("Old = 2", "New = 2")


def test_the_identifier_under_the_cursor_is_renamed(vim):
    result = vim.drive("call cursor(3, 6)", "SpeceditRename New")
    assert text(result["lines"]) == BUFFER.replace("Old", "New")
    assert text(result["undone"]) == BUFFER


# Keys for the preview, and the text that they lead to: two parts, and a first line is new.
TWO_PARTS = [["x = 1", "w = 0\nx = 1"], ["y = Old", "y = New"]]
FIRST, SECOND = "w = 0\n" + BUFFER, BUFFER.replace("y = Old", "y = New")
KEYS = {
    "both": ("yy", "w = 0\n" + SECOND),
    "first": ("yn", FIRST),
    "second": ("ny", SECOND),
    "all": ("\\<CR>", "w = 0\n" + SECOND),
    "none": ("\\<Esc>", BUFFER),
    "next": ("\\<Tab>yq", SECOND),
    "around": ("\\<Tab>\\<Tab>yq", FIRST),
    "closed": ("y:tabclose\\<CR>", FIRST),
}


@pytest.mark.parametrize(("keys", "wanted"), KEYS.values(), ids=KEYS)
def test_parts_are_accepted_and_rejected_in_a_preview(tmp_path, keys, wanted):
    vim = make("neovim", Desk.make(tmp_path))
    vim.desk.play(replace=TWO_PARTS)
    result = vim.drive(
        "SpeceditPreview Do it.",
        "call Wait()",
        "let g:shown = getline(1, '$')",
        f'call feedkeys("{keys}", "tx")',
        "sleep 50m",
        "call assert_equal(1, tabpagenr('$'))",
        "call writefile(g:shown + v:errors, 'shown')",
    )
    both = ["w = 0", "x = 1", "Old = 2", "y = Old", "y = New", "z = 3"]
    assert (vim.desk.root / "shown").read_text("utf-8").splitlines() == both
    assert text(result["lines"]) == wanted
    assert (result["undo"], text(result["undone"])) == (int(wanted != BUFFER), BUFFER)


def test_a_preview_of_a_buffer_that_changes_is_dropped(tmp_path):
    vim = make("neovim", Desk.make(tmp_path))
    result = vim.drive(
        "SpeceditPreview Do it.",
        "call Wait()",
        "call setbufline('a é.py', 1, 'typed = 1')",
        'call feedkeys("\\<CR>", "tx")',
        "sleep 50m",
    )
    assert text(result["lines"]) == BUFFER.replace("x = 1", "typed = 1")
    assert "the buffer changed meanwhile" in result["messages"]


FAILURES = {"refused": {"replace": [["Old = 2", "Old = = 2"]]}, "no model": None}


@pytest.mark.parametrize("script", FAILURES.values(), ids=FAILURES)
def test_a_failure_leaves_the_buffer_and_its_undo_history(vim, script):
    if script is None:
        Path(vim.desk.env["TESTS_SCRIPT"]).unlink()
    else:
        vim.desk.play(**script)
    result = vim.drive("call setline(1, 'x = 9')", "Specedit Old becomes New.")
    assert text(result["lines"]) == BUFFER.replace("x = 1", "x = 9")
    assert (result["undo"], text(result["undone"])) == (1, BUFFER)
    missing = vim.desk.env["TESTS_SCRIPT"][:30]  # a long path is cut to the window
    assert "a é.py" in result["messages"] or missing in result["messages"]


def test_a_program_that_is_missing_is_reported(vim):
    result = vim.drive("let g:specedit_command = ['no-such-program']", "Specedit x")
    assert text(result["lines"]) == BUFFER and result["undo"] == 0
    assert "no-such-program" in result["messages"]


def test_an_answer_for_a_text_that_changed_meanwhile_is_dropped(vim):
    result = vim.drive("Specedit Old becomes New.", "call setline(4, 'mine')")
    assert text(result["lines"]) == BUFFER.replace("z = 3", "mine")
    assert "the answer is dropped" in result["messages"]
    assert result["undo"] == 1


def test_an_edit_can_be_stopped(vim):
    vim.desk.play(replace=[["Old", "New"]], delay_s=2)
    result = vim.drive("Specedit x", "sleep 400m", "Specedit y", "SpeceditStop")
    assert text(result["lines"]) == BUFFER and result["undo"] == 0
    assert "at work" in result["messages"]


def test_a_file_is_warmed_when_it_is_opened(vim, tmp_path):
    log = tmp_path / "calls.txt"
    fake = tmp_path / "recorder"
    fake.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\n')
    fake.chmod(0o755)
    command = json.dumps([str(fake)])
    messages = (f"let g:specedit_command = {command}", "let g:specedit_warm = 1")
    vim.drive(*messages, "edit! a\\ é.py", "sleep 200m")
    assert "warm --quiet -- a é.py" in log.read_text()
