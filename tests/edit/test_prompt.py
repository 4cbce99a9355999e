"""What the model reads: the file, the instruction, files beside it; and what it should say."""

import os

import pytest
from one_edit import edit

CODE = "import os\n\n\nclass Cart:\n    def total(self):\n        return 1\n"
SHORT = "def price(item):\n    return item.net * 1.2\n"
LONG = '"""A module."""\n\nimport os\n\n\nclass Cart:\n    """All of it."""\n\n' + "".join(
    f"    def part_{n}(self, first, second):\n"
    + "".join(f"        line_{n}_{k} = first + second * {k}\n" for k in range(9))
    + "        return first\n\n"
    for n in range(20)
)


def test_the_file_comes_first_and_the_instruction_last():
    (prompt,) = edit("Sort the names", CODE).prompts
    assert prompt.index(CODE) < prompt.rindex("Sort the names")
    assert prompt.endswith("```\n"), "the answer is opened"


def test_the_prediction_is_the_file_as_the_prompt_shows_it():
    edited = edit("x", CODE.rstrip("\n"), words=False)
    assert CODE in edited.prompts[0]
    assert edited.file["prediction"]["accepted"] > 0.9 * len(CODE)


def test_plain_decoding_has_neither_prediction_nor_drafters():
    file = edit("x", CODE, "--prediction", "none", "--draft", "none").file
    assert (file["prediction"]["proposed"], file["drafts"]) == (0, {})
    assert file["passes"] == file["tokens"]["completion"]


@pytest.mark.parametrize(
    ("text", "marks"), [("x", "```"), ("a ``` b", "````"), ("`````\n`````", "``````"), ("`", "```")]
)
def test_the_fence_is_longer_than_any_in_the_file(text, marks):
    edited = edit("x", text, name="a.txt")
    assert f"\n{marks}\n{text}\n{marks}\n" in edited.prompts[0]
    assert edited.file["status"] == "unchanged", "it is known how the answer is closed"


@pytest.mark.parametrize("instruction", ["", "  "])
def test_an_empty_instruction_is_an_error(instruction):
    edited = edit(instruction, CODE)
    assert (edited.code, edited.prompts) == (2, [])


def test_a_short_file_beside_it_is_shown_whole_and_of_a_long_one_the_signatures(tmp_path):
    texts = {"a.py": SHORT, "b.py": LONG, "notes.txt": "word " * 6000, "c.md": "```\n"}
    flags = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        flags += ["--with", str(tmp_path / name)]
    first, second = (edit("Use price", "x = 1\n", *flags, name=f"{n}.py").prompts for n in (1, 2))
    beside, _, asked = first[0].partition("File `1.py`")
    assert second[0].startswith(beside) and asked, "the same for every file"
    beside = beside[beside.index("never repeat") :]
    assert SHORT in beside and "signatures" in beside
    assert "class Cart:\n" in beside and "    def part_19(self, first, second):" in beside
    assert "line_3_1 =" not in beside and "…" in beside
    assert beside.count("word ") < 1300, "nothing is defined there: its beginning"
    assert "````\n```\n````\n\n" in beside, "a fence longer than any in the file"


def test_a_file_beside_it_is_not_edited(tmp_path, script, inside, monkeypatch):
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
def test_a_link_out_of_the_work_tree_is_not_read(tmp_path, script, inside):
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "tree/.git").mkdir(parents=True)
    (tmp_path / "tree/.git/HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "tree/a.py").symlink_to(tmp_path / "secret")
    (tmp_path / "tree/b.py").write_text("x = 1\n")
    calls = script(replace=[])
    done = inside("edit", "Do it", "b.py", "--with", "a.py", cwd=tmp_path / "tree")
    assert done.returncode == 2 and b"outside" in done.stderr and not calls.exists()
