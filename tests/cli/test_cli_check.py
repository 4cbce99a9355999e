"""Checks on the command line: what is noted, refused and allowed."""

import json
import sys
from pathlib import Path

import pytest
from case_files import rows

BEFORE = "def total(cart):\n    # net\n    return sum(cart)\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "cart.py"
    place.write_text(BEFORE)
    return place


def test_an_undefined_name_is_refused_and_can_be_let_pass(inside, file, script):
    script(replace=[["sum(cart)", "sum(cart) - discount"]])
    done = inside("edit", "Subtract it", file)
    assert (done.returncode, file.read_text()) == (2, BEFORE)
    assert b"line 3: `discount` is used, and nothing defines it" in done.stderr
    done = inside("edit", "Subtract it", file, "--allow", "undefined")
    assert done.returncode == 0 and "discount" in file.read_text()
    assert b"`discount`" in done.stderr


def test_a_note_is_reported_and_strict_refuses_it(inside, file, script):
    lines = "".join(f"    print({number})\n" for number in range(10))
    text = f"def show():\n{lines}"
    file.write_text(text)
    script(replace=[[lines, f"{lines}{lines}"]])
    done = inside("edit", "Show it twice", file, "--strict")
    assert (done.returncode, file.read_text()) == (2, text)
    done = inside("edit", "Show it twice", file, "--strict", "--allow", "copied-run", "--check")
    assert done.returncode == 1 and b"repeat lines" in done.stderr
    done = inside("edit", "Show it twice", file, "--json")
    (one,) = json.loads(done.stdout)["files"]
    (result,) = [each for each in one["findings"] if each["kind"] == "copied-run"]
    assert result["file"] == str(file) and result["line"] == 12 and result["verdict"] == "note"
    assert one["status"] == "edited" and result["text"] in one["notes"]


@pytest.mark.parametrize(
    ("kinds", "says"),
    [("undefined unreachable", b"unreachable was removed in 1.1"), ("undefind", b"mean undefined")],
)
def test_a_kind_that_is_none_is_an_error(inside, file, script, kinds, says):
    script(replace=[])
    done = inside("edit", "x", file, "--allow", kinds)
    assert done.returncode == 2 and says in done.stderr


RENAMED = """def one(a):
    return a


def two(b):
    return one(b)
"""


@rows("flags code")
def test_a_rename_honours_the_checks_that_a_name_can_break(inside, file, script, flags, code):
    checker = file.with_name("no_uno.py")
    checker.write_text(
        "import sys\nif 'uno' in open(sys.argv[1]).read(): print(sys.argv[1] + ':1:1: no uno')\n"
    )
    file.write_text(RENAMED)
    script(replace=[["one", "uno"]])
    words = [one.format(python=sys.executable, checker=checker) for one in flags]
    done = inside("rename", "one", "uno", file, *words)
    assert done.returncode == code, done.stderr
    assert file.read_text() == (RENAMED.replace("one", "uno") if code == 0 else RENAMED)
    if "--check-with" in flags:
        assert b"no uno" in done.stderr
    elif code:
        assert b"a rename has no findings of this kind" in done.stderr
