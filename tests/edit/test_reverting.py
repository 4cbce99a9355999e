"""Changes that an instruction does not ask for are reverted."""

import pytest
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
REVERTED = {
    "blank-line": ("import os\n", "import os\n\n"),
    "blank-line-lost": ("import os\n\n", "import os\n"),
    "quotes": ("'x'", '"x"'),
    "wrapping": ("g(a, b)\n\n", "g(\n        a,\n        b,\n    )\n\n"),
    "spaces": ("b = {", "b  =  {"),
    "comment-lost": ("    # about b\n", ""),
    "comment-changed": ("about b", "on b"),
    "doc-string-lost": ('    """What f does."""\n', ""),
}
KEPT = {
    "dedent": ("    return a + b", "return a + b"),  # which does not parse
    "comment-with-code": ("    # about b\n    b = {'x': 1}", "    b = {'x': 2}  # now"),
    "new-comment": ("    return a + b", "    # adds\n    return a + b"),
    "indented": ("    return a + b", "    if a:\n        return a + b"),
}
ALL = ("--whole", "--allow", "nothing,whitespace")


@pytest.mark.parametrize(("old", "new"), REVERTED.values(), ids=REVERTED)
def test_a_change_of_form_alone_is_reverted_unless_it_is_all_of_the_answer(old, new):
    edited = edit(SUBTRACT, PY, *ALL, replace=[[old, new], ["a + b", "a - b"]])
    assert edited.text == PY.replace("a + b", "a - b") and "reverted" in edited.kinds
    edited = edit("Do it", PY, *ALL, "--yes", replace=[[old, new]])
    assert edited.text == PY.replace(old, new) and "reverted" not in edited.kinds


@pytest.mark.parametrize(("old", "new"), KEPT.values(), ids=KEPT)
def test_a_change_that_means_something_stays(old, new):
    edited = edit(SUBTRACT, PY, *ALL, replace=[[old, new]])
    assert edited.proposed == PY.replace(old, new) and "reverted" not in edited.kinds


def test_comments_stay_where_the_instruction_is_about_comments():
    replaced = [["about b", "on b"], ["a + b", "a - b"]]
    edited = edit("Subtract; fix the comment", PY, *ALL, replace=replaced)
    assert edited.text == PY.replace("about b", "on b").replace("a + b", "a - b")


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.go", "package a\n\n// F is.\nfunc F() int { return 1 }\n\nvar B = 2\n",
         "package a\n\nfunc F() int { return 1 }\n\nvar B = 3\n"),
        ("a.ts", "/** Doc. */\nfunction f() { return 'a' }\nlet a\nlet b = 2\n",
         "function f() { return \"a\" }\nlet a\nlet b = 3\n"),
        ("A.cs", "class A {\n  // x\n  int F() => 1;\n\n  int b = 2;\n}\n",
         "class A {\n  int F() => 1;\n\n  int b = 3;\n}\n"),
    ],
)  # fmt: skip
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
