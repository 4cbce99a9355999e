"""`--with FILE`: what the model is shown beside the file to edit, and that it stays as it is."""

import os

import pytest

from specedit.edit.job import plan_edit
from specedit.edit.prompt import GAP, MAX_BESIDE_CHARACTERS, Beside, read_beside, shown_beside
from specedit.errors import InputError
from specedit.files.source import Source
from specedit.settings import Settings

SHORT = "def price(item):\n    return item.net * 1.2\n"
LONGER = '"""A module."""\n\nimport os\n\n\nclass Cart:\n    """All of it."""\n\n' + "".join(
    f"    def part_{n}(self, first, second):\n"
    + "".join(f"        line_{n}_{k} = first + second * {k}\n" for k in range(9))
    + "        return first\n\n"
    for n in range(20)
)


def test_a_short_file_is_shown_whole_and_of_a_long_one_the_signatures():
    assert shown_beside(Source.from_bytes("a.py", SHORT.encode())) == Beside("a.py", SHORT)
    found = shown_beside(Source.from_bytes("b.py", LONGER.encode()))
    assert len(LONGER) > MAX_BESIDE_CHARACTERS and found.signatures
    assert "class Cart:\n" in found.text and "    def part_19(self, first, second):" in found.text
    assert "line_3_1 =" not in found.text and GAP in found.text
    plain = shown_beside(Source.from_bytes("notes.txt", ("word " * MAX_BESIDE_CHARACTERS).encode()))
    assert len(plain.text) <= MAX_BESIDE_CHARACTERS, "nothing defines anything there: its beginning"


def test_it_stands_first_and_the_same_for_every_file():
    others = (Beside("price.py", SHORT), Beside("b.py", "```\n", signatures=True))
    first, second = (
        plan_edit(Source.from_bytes(name, b"x = 1\n"), "Use price", Settings(), beside=others)
        .plan.messages[-1]
        .segments
        for name in ("one.py", "two.py")
    )
    same = [a for a, b in zip(first, second, strict=True) if a == b]
    assert "never repeat" in first[0] and first[: len(others) * 3 + 1] == tuple(
        same[: len(others) * 3 + 1]
    )
    assert SHORT in first and "````\n\n" in first, "a fence longer than any in the file"
    assert "The signatures in `b.py`" in "".join(first)
    assert "one.py" not in "".join(first[: len(others) * 3 + 1])


def test_the_file_is_known_and_not_edited(tmp_path, script, inside, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("old = 1\n")
    (tmp_path / "b.py").write_text("old = 2\n")
    script(replace=[["old", "new"]])
    assert inside("edit", "Do it", "a.py", "--with", "b.py").returncode == 0
    assert (tmp_path / "a.py").read_text() == "new = 1\n"
    assert (tmp_path / "b.py").read_text() == "old = 2\n"
    done = inside("edit", "Do it", "a.py", "--with", "c.py")
    assert done.returncode == 2 and b"c.py: no such file" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_out_of_the_work_tree_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "tree/.git").mkdir(parents=True)
    (tmp_path / "tree/.git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "tree/a.py").symlink_to(tmp_path / "secret")
    monkeypatch.chdir(tmp_path / "tree")
    with pytest.raises(InputError, match="outside"):
        read_beside(["a.py"])
