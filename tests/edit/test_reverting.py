"""Changes that an instruction does not ask for are reverted."""

from case_files import rows
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from one_edit import edit

PY = '''\
import os


def f(a):
    """What f does."""
    # about b
    b = {'x': 1}
    return g(a, b)


def g(a, b):
    return a + b
'''
SUBTRACT = "Subtract b from a in g"
ALL = ("--whole", "--allow", "nothing,whitespace")


@rows("old new")
def test_a_change_of_form_alone_is_reverted_unless_it_is_all_of_the_answer(old, new):
    edited = edit(SUBTRACT, PY, *ALL, replace=[[old, new], ["a + b", "a - b"]])
    assert edited.text == PY.replace("a + b", "a - b") and "reverted" in edited.kinds
    edited = edit("Do it", PY, *ALL, "--yes", replace=[[old, new]])
    assert edited.text == PY.replace(old, new) and "reverted" not in edited.kinds


@rows("old new")
def test_a_change_that_means_something_stays(old, new):
    edited = edit(SUBTRACT, PY, *ALL, replace=[[old, new]])
    assert edited.proposed == PY.replace(old, new) and "reverted" not in edited.kinds


def test_an_instruction_that_the_answer_repeats_is_left_out():
    replaced = [["import os\n", f"{SUBTRACT}\n\nimport os\n"], ["a + b", "a - b"]]
    edited = edit(SUBTRACT, PY, "--whole", replace=replaced)
    assert edited.text == PY.replace("a + b", "a - b") and "reverted" in edited.kinds


def test_an_instruction_that_is_code_is_written_as_it_stands():
    edited = edit("import sys", PY, "--whole", replace=[["import os\n", "import os\nimport sys\n"]])
    assert edited.text == PY.replace("import os\n", "import os\nimport sys\n")


def test_a_line_that_the_file_has_stays_though_the_instruction_is_the_same():
    text = f"# {SUBTRACT}\n{PY}"
    edited = edit(f"# {SUBTRACT}", text, "--whole", replace=[["a + b", "a - b"]])
    assert edited.text == text.replace("a + b", "a - b")


def test_comments_stay_where_the_instruction_is_about_comments():
    replaced = [["about b", "on b"], ["a + b", "a - b"]]
    edited = edit("Subtract; fix the comment", PY, *ALL, replace=replaced)
    assert edited.text == PY.replace("about b", "on b").replace("a + b", "a - b")


@rows("name before after")
def test_in_other_languages(name, before, after):
    edited = edit("Set b to 3", before, *ALL, name=name, answer=after)
    assert edited.text == before.replace("2", "3")


LINES = st.lists(
    st.sampled_from([*PY.splitlines(True), "\n", "x = 1\n", "# c\n"]), min_size=1, max_size=14
)


@given(LINES, LINES, st.sampled_from(["Do it", "Translate the comments", "Reformat"]))
@examples(30)
def test_what_is_proposed_is_made_of_lines_of_either_text(old, new, instruction):
    before, after = "".join(old), "".join(new)
    if not before.strip():
        return
    edited = edit(instruction, before, *ALL, answer=after)
    lines = {line.strip() for line in f"{before}\n{after}".splitlines()}
    assert {line.strip() for line in edited.proposed.splitlines()} <= lines
