"""Emacs, driven in batch: what an edit does to the buffer, its undo and the echo area."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from editing import BUFFER, Desk, find

from specedit.integrations import editors

pytestmark = pytest.mark.tools

DRIVER = Path(__file__).with_name("driver.el").read_text("utf-8")


@dataclass(frozen=True)
class Emacs:
    desk: Desk
    program: str

    def drive(self, *body: str, before: str = "(setq specedit-warm nil)") -> dict[str, Any]:
        """Open the file, evaluate these forms, wait for what they started; what came of it."""
        snippet = self.desk.root.parent / "specedit.el"
        snippet.write_text(editors.snippet(editors.editor("emacs")))
        driver = self.desk.root.parent / "drive.el"
        text = DRIVER.replace("{body}", "\n      ".join(body)).replace("{before}", before)
        driver.write_text(text.replace("{snippet}", str(snippet)))
        result = self.desk.result(self.desk.run(self.program, "-Q", "--batch", "-l", str(driver)))
        assert "error" not in result, result
        return result


@pytest.fixture
def emacs(tmp_path: Path) -> Emacs:
    return Emacs(Desk.make(tmp_path), find("emacs"))


def test_the_snippet_compiles_without_a_warning(emacs):
    snippet = emacs.desk.root / "specedit.el"
    snippet.write_text(editors.snippet(editors.editor("emacs")))
    fatal = ("--eval", "(setq byte-compile-error-on-warn t)")
    words = (emacs.program, "-Q", "--batch", *fatal, "-f", "batch-byte-compile", "specedit.el")
    done = emacs.desk.run(*words)
    assert done.returncode == 0, done.stderr.decode()


def test_the_buffer_is_edited_as_it_is_and_one_undo_takes_it_back(emacs):
    unsaved = "Old = 0\n" + BUFFER
    result = emacs.drive(
        '(insert "Old = 0\\n")', "(forward-line 3)", '(specedit "Old becomes New.")'
    )
    assert (result["text"], result["undone"]) == (unsaved.replace("Old", "New"), unsaved)
    assert result["line"] == 5
    assert result["messages"].strip().splitlines()[-1].startswith("a é.py: ")
    assert (emacs.desk.root / "a é.py").read_text() == BUFFER, "the file is not touched"


@pytest.mark.parametrize(
    ("before", "pairs"),
    [
        (BUFFER, [["x = 1\n", "x = 10\n"], ["z = 3\n", "z = 4\nzz = 5\nmore = 6\n"]]),
        ("one = 'Old → 文'\n\nOld", [["→", "⇒"], ["Old", "New"]]),
    ],
    ids=["longer", "wide, no last newline"],
)
def test_the_whole_answer_arrives(emacs, before, pairs):
    emacs.desk.play(replace=pairs)
    emacs.desk.write("a é.py", before)
    result = emacs.drive('(specedit "as you like")')
    after = before
    for old, new in pairs:
        after = after.replace(old, new)
    assert (result["text"], result["undone"]) == (after, before)


def test_a_dos_file_keeps_its_line_ends(emacs):
    path = emacs.desk.write("a é.py", BUFFER.replace("\n", "\r\n"))
    emacs.drive('(specedit "Old becomes New.")', "(wait)", "(save-buffer)")
    assert path.read_bytes().decode() == BUFFER.replace("Old", "New").replace("\n", "\r\n")


def test_a_region_is_edited_by_its_lines_and_the_rest_is_not(emacs):
    body = '(specedit "x" (progn (forward-line 1) (point)) (line-beginning-position 2))'
    result = emacs.drive(body)
    assert result["text"] == BUFFER.replace("Old = 2", "New = 2")


def test_the_identifier_at_point_is_renamed(emacs):
    result = emacs.drive("(forward-line 2)", "(end-of-line)", '(specedit-rename "New")')
    assert (result["text"], result["undone"]) == (BUFFER.replace("Old", "New"), BUFFER)


FAILURES = {"refused": {"replace": [["Old = 2", "Old = = 2"]]}, "no model": None}


@pytest.mark.parametrize("script", FAILURES.values(), ids=FAILURES)
def test_a_failure_leaves_the_buffer_and_its_undo_history(emacs, script):
    if script is None:
        Path(emacs.desk.env["TESTS_SCRIPT"]).unlink()
    else:
        emacs.desk.play(**script)
    result = emacs.drive('(insert "mine\\n")', '(specedit "Old becomes New.")')
    assert (result["text"], result["undone"]) == ("mine\n" + BUFFER, BUFFER)
    missing = emacs.desk.env["TESTS_SCRIPT"][:30]  # a long path is cut to the window
    assert ("a é.py: " if script else f"specedit: {missing}") in result["messages"]


def test_a_program_that_is_missing_is_reported(emacs):
    before = '(setq specedit-warm nil specedit-command (list "no-such-program"))'
    form = '(condition-case e (specedit "x") (user-error (message "%s" (cadr e))))'
    result = emacs.drive(form, before=before)
    assert result["text"] == BUFFER and not result["modified"]
    assert "no-such-program" in result["messages"]


def test_an_answer_for_a_text_that_changed_meanwhile_is_dropped(emacs):
    result = emacs.drive('(specedit "Old becomes New.")', '(insert "mine\\n")')
    assert (result["text"], result["undone"]) == ("mine\n" + BUFFER, BUFFER)
    assert "the answer is dropped" in result["messages"]


def test_an_edit_can_be_stopped(emacs):
    emacs.desk.play(replace=[["Old", "New"]], delay_s=2)
    body = ['(specedit "x")', "(accept-process-output nil 0.4)", "(specedit-stop)"]
    result = emacs.drive(*body)
    assert result["text"] == BUFFER and not result["modified"]


def test_a_file_is_warmed_when_it_is_opened(emacs, tmp_path):
    log, fake = tmp_path / "calls.txt", tmp_path / "recorder"
    fake.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\n')
    fake.chmod(0o755)
    emacs.drive("(sleep-for 0.3)", before=f'(setq specedit-command (list "{fake}"))')
    assert log.read_text() == "warm --quiet -- a é.py\n"
