"""Changes that an instruction does not ask for are reverted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specedit.edit.reverting import without_form_changes
from specedit.syntax.languages import language_of

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
DONE = PY.replace("a + b", "a - b")
REVERTED = {
    "blank-line": PY.replace("import os\n", "import os\n\n"),
    "blank-line-lost": PY.replace("import os\n\n", "import os\n"),
    "quotes": PY.replace("'x'", '"x"'),
    "wrapping": PY.replace("g(a, b)\n\n", "g(\n        a,\n        b,\n    )\n\n"),
    "spaces": PY.replace("b = {", "b  =  {"),
    "comment-lost": PY.replace("    # about b\n", ""),
    "comment-changed": PY.replace("about b", "on b"),
    "doc-string-lost": PY.replace('    """What f does."""\n', ""),
}
KEPT = {
    "dedent": PY.replace("    return a + b", "return a + b"),
    "comment-with-code": PY.replace("    # about b\n    b = {'x': 1}", "    b = {'x': 2}  # now"),
    "new-comment": PY.replace("    return a + b", "    # adds\n    return a + b"),
    "indented": PY.replace("    return a + b", "    if a:\n        return a + b"),
}


@pytest.mark.parametrize("after", REVERTED.values(), ids=REVERTED)
def test_a_change_of_form_alone_is_reverted(after):
    both = after.replace("a + b", "a - b")
    text, findings = without_form_changes(PY, both, language_of("a.py"), "Subtract b from a in g")
    assert text == DONE
    assert [one.kind for one in findings] == ["reverted"]


@pytest.mark.parametrize("after", KEPT.values(), ids=KEPT)
def test_a_change_that_means_something_stays(after):
    assert without_form_changes(PY, after, language_of("a.py"), "Subtract b from a in g") == (
        after,
        [],
    )


@pytest.mark.parametrize("after", REVERTED.values(), ids=REVERTED)
def test_a_change_of_form_that_is_all_of_the_answer_stays(after):
    assert without_form_changes(PY, after, language_of("a.py"), "Do it") == (after, [])


def test_comments_stay_where_the_instruction_is_about_comments():
    both = REVERTED["comment-changed"].replace("a + b", "a - b")
    text, findings = without_form_changes(
        PY, both, language_of("a.py"), "Subtract; fix the comment"
    )
    assert (text, findings) == (both, [])


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
    text, _ = without_form_changes(before, after, language_of(name), "Set b to 3")
    assert text == before.replace("2", "3")


LINES = st.lists(st.sampled_from([*PY.splitlines(True), "\n", "x = 1\n", "# c\n"]), max_size=14)


@given(LINES, LINES, st.sampled_from(["Do it", "Translate the comments", "Reformat"]))
def test_what_is_kept_is_a_line_of_either_text(old, new, instruction):
    before, after = "".join(old), "".join(new)
    text, findings = without_form_changes(before, after, language_of("a.py"), instruction)
    assert set(text.splitlines()) <= set(before.splitlines()) | set(after.splitlines())
    assert without_form_changes(before, before, language_of("a.py"), instruction) == (before, [])
    assert findings or text == after
