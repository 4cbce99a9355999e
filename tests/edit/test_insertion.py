"""New definitions are asked for alone and put behind the one that the instruction names."""

from __future__ import annotations

import pytest
from scripted_backend import Scripted, perform

from specedit.edit.job import plan_edit
from specedit.edit.report import Edit
from specedit.files.source import Source
from specedit.settings import Settings

CART = """\
class Cart:
    def __init__(self):
        self.items = []

    def total(self):
        return sum(self.items)

    def clear(self):
        self.items = []


def load(path):
    return Cart()
"""
COUNT = "def count(self):\n    return len(self.items)\n"
BEHIND_TOTAL = CART.replace(
    "    def clear", "    def count(self):\n        return len(self.items)\n\n    def clear"
)


def edited(instruction: str, answer: str, text: str = CART, name: str = "a.py") -> Edit:
    source = Source.from_bytes(name, text.encode())
    backend = Scripted(answer + "```")
    edit = perform(plan_edit(source, instruction, Settings()), backend, Settings())
    assert isinstance(edit, Edit)
    return edit


ANSWERS = {
    "alone": COUNT,
    "indented": "    def count(self):\n        return len(self.items)\n",
    "with-sibling": "def total(self):\n    return sum(self.items)\n\n" + COUNT,
    "sibling-behind": COUNT + "\n    def total(self):\n        return sum(self.items)\n",
    "in-its-class": "class Cart:\n    def count(self):\n        return len(self.items)\n",
    "whole-class": CART.split("\n\n\n")[0] + "\n\n    def count(self):\n"
    "        return len(self.items)\n",
    "blank-lines": "\n\n" + COUNT + "\n\n\n",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_new_method_stands_behind_its_sibling(answer: str) -> None:
    edit = edited("Add a count method like total", answer)
    assert edit.after.decode() == BEHIND_TOTAL
    (region,) = edit.figures.regions
    assert region.why == "the new definition stands behind it"


OTHERS = {
    "python": ("a.py", CART, "Add a function save like load", "def save(path):\n    return 1\n",
               CART + "\n\ndef save(path):\n    return 1\n"),
    "java": ("A.java", "class A {\n    int f() {\n        return 1;\n    }\n}\n",
             "Add a method g like f",
             "class A {\n    int g() {\n        return 2;\n    }\n}\n",
             "class A {\n    int f() {\n        return 1;\n    }\n\n"
             "    int g() {\n        return 2;\n    }\n}\n"),
    "rust": ("a.rs", "struct C;\n\nimpl C {\n    fn f(&self) -> i32 {\n        1\n    }\n}\n",
             "Add a method g like f", "impl C {\n    fn g(&self) -> i32 {\n        2\n    }\n}\n",
             "struct C;\n\nimpl C {\n    fn f(&self) -> i32 {\n        1\n    }\n\n"
             "    fn g(&self) -> i32 {\n        2\n    }\n}\n"),
    "go": ("a.go", "package a\n\nfunc F() int {\n\treturn 1\n}\n", "Add a function G like F",
           "func G() int {\n\treturn 2\n}\n",
           "package a\n\nfunc F() int {\n\treturn 1\n}\n\nfunc G() int {\n\treturn 2\n}\n"),
    "crlf": ("a.py", CART.replace("\n", "\r\n"), "Add a count method like total", COUNT,
             BEHIND_TOTAL.replace("\n", "\r\n")),
    "no-final-newline": ("a.js", "function f() {\n  return 1;\n}", "Add a function g like f",
                         "function g() {\n  return 2;\n}\n",
                         "function f() {\n  return 1;\n}\n\nfunction g() {\n  return 2;\n}"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "instruction", "answer", "expected"), OTHERS.values(), ids=OTHERS
)
def test_in_every_language(
    name: str, text: str, instruction: str, answer: str, expected: str
) -> None:
    assert edited(instruction, answer, text, name).after.decode() == expected


AROUND = {
    "class": "class Cart:\n    def total(self):\n        return max(self.items)\n",
    "class-and-import": 'import math\n\nclass Cart:\n    """A cart."""\n\n'
    "    def total(self):\n        return max(self.items)\n",
    "sibling": "def total(self):\n    return max(self.items)\n\ndef clear(self):\n    pass\n",
}


@pytest.mark.parametrize("answer", AROUND.values(), ids=AROUND)
def test_what_an_answer_repeats_around_its_definition_is_left_out(answer: str) -> None:
    edit = edited("Return the largest item in Cart.total", answer)
    assert edit.after.decode() == CART.replace("sum(", "max(")


def test_an_import_in_front_of_a_method_goes_to_the_imports() -> None:
    answer = "import logging\n\ndef total(self):\n    logging.info(1)\n    return sum(self.items)\n"
    edit = edited("Log in Cart.total", answer, "import os\n\n\n" + CART + "\n\nos.sep\n")
    assert edit.after.decode() == (
        "import logging\nimport os\n\n\n"
        + CART.replace("        return sum", "        logging.info(1)\n        return sum")
        + "\n\nos.sep\n"
    )


LOCAL = """\
def total(items, tax=0):
    result = 0
    for item in items:
        result += item  # adds to result
    print(f"{result}")
    return result


def other(items):
    result = total(items, tax=1)
    return result
"""
RENAMED = {
    "variable": ("Rename the local variable result to amount in total",
                 LOCAL.replace("result", "amount", 2).replace("{result}", "{amount}")
                 .replace("return result", "return amount", 1)),
    "before": ("In total, rename the variable result to amount.",
               LOCAL.replace("result", "amount", 2).replace("{result}", "{amount}")
               .replace("return result", "return amount", 1)),
    "parameter": ("Rename the parameter tax of total to rate", LOCAL.replace("tax", "rate")),
    "sentence": ("Rename the variable item to one in total.", LOCAL.replace("item in", "one in")
                 .replace("+= item ", "+= one ")),
    "only-meaning": ("Rename item to one", LOCAL.replace("item in", "one in")
                     .replace("+= item ", "+= one ")),
    "function": ("Rename the function total to sum_up", LOCAL.replace("total(", "sum_up(")),
    "misspelled": ("other is misspelled; rename it to others.", LOCAL.replace("other(", "others(")),
}  # fmt: skip


@pytest.mark.parametrize(("instruction", "expected"), RENAMED.values(), ids=RENAMED)
def test_a_local_name_is_renamed_by_its_scope_without_a_model(
    instruction: str, expected: str
) -> None:
    source = Source.from_bytes("a.py", LOCAL.encode())
    backend = Scripted("never asked")
    edit = perform(plan_edit(source, instruction, Settings()), backend, Settings())
    assert isinstance(edit, Edit) and edit.after.decode() == expected
    assert not backend.plans


@pytest.mark.parametrize(
    "instruction",
    [
        "Rename result to amount",
        "Rename the local variable result to items in total",  # is used there already
        "Rename the local variable results to amount in total",
        "Rename the local variable result to amount in total and return early",
        "Rename print to show",  # is not defined here
    ],
)
def test_anything_else_is_the_model_s(instruction: str) -> None:
    source = Source.from_bytes("a.py", LOCAL.encode())
    assert plan_edit(source, instruction, Settings()).known is None
