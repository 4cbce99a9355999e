"""The benchmark of apply: what each form shows, what it determines, and how an answer is judged."""

import os
import re
from pathlib import Path

import pytest
from case_files import rows

from benchmarks.apply import __main__ as script_module
from benchmarks.apply import tools
from benchmarks.apply.cases import FORMS, Case, cases
from benchmarks.apply.readings import determined
from benchmarks.apply.record import Record, record_of, records
from benchmarks.apply.snippets import ELISIONS

DATA = Path(os.environ.get("SPECEDIT_DATA") or Path(__file__).parents[3] / "shared" / "data")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs the evaluation data")

SHOP = '''"""A shop."""

import json

LIMIT = 3


class Cart:
    """Items."""

    def total(self, items):
        price = 0
        for item in items:
            price += item
        return price

    def clear(self):
        self.items = []
        self.price = 0


def load(path):
    with open(path) as file:
        return json.load(file)


def save(path, cart):
    with open(path, "w") as file:
        json.dump(cart.items, file)
'''


def record(after: str, before: str = SHOP, name: str = "shop.py", **more: str) -> Record:
    return Record("commits/x", name, before, after, **more)


def change(form: str, one: Record) -> str | None:
    return next((case.change for case in cases([one], [form])), None)


def plain(text: str | None) -> str:
    """The change without its fence, its elisions all `# ...`."""
    text = re.sub(r"^```\w*\n((?s:.*))```\n$", r"\1", text or "")
    return re.sub("|".join(re.escape(f"# {one}\n") for one in sorted(ELISIONS)), "# ...\n", text)


PRICED = record(SHOP.replace("price += item\n", "price += item.price\n"))


@pytest.mark.parametrize(
    ("form", "one", "shown"),
    [
        (
            "lazy-1",
            PRICED,
            "# ...\nfor item in items:\nprice += item.price\nreturn price\n# ...\n",
        ),
        (
            "functions",
            PRICED,
            "def total(self, items):\nprice = 0\nfor item in items:\n"
            "price += item.price\nreturn price\n",
        ),
    ],
)  # fmt: skip
def test_a_form_shows_these_lines(form, one, shown):
    lines = [line.strip() for line in plain(change(form, one)).split("\n")]
    assert lines == [line.strip() for line in shown.split("\n")]


@pytest.mark.parametrize(
    ("form", "one"),
    [
        ("functions", record(SHOP.replace("LIMIT = 3", "LIMIT = 4"))),
        ("functions", record(SHOP + "\n\ndef close():\n    pass\n")),
        ("functions", record(SHOP.replace("def total", "def sum"))),
        ("lazy-1", record(SHOP.removeprefix('"""A shop."""\n'))),
        ("search-replace", record("<<<<<<< SEARCH\n" + SHOP)),
        ("search-replace-damaged", record(SHOP.replace("    price = 0", "  price = 0"))),
    ],
)
def test_a_form_is_left_out_where_it_does_not_determine_the_result(form, one):
    assert change(form, one) is None


TWICE = ["a", "{", "x", "}", "b", "{", "y", "}", "c"]


@rows("part first last holds")
def test_a_part_determines_its_range_when_one_reading_changes_least(part, first, last, holds):
    assert determined(part, TWICE, first, last) is holds


@rows("before after usable")
def test_a_commit_is_usable_where_its_line_ends_and_mark_stay(before, after, usable):
    one = record_of("commits/x", {"filename": "a.py", "before": before, "after": after})
    assert (one is not None) is usable
    if one is not None:
        assert one.encode(one.after) == after.encode()


@pytest.fixture(scope="module")
def real_cases() -> list[Case]:
    return list(cases(list(records(DATA))[::6]))


@needs_data
def test_every_form_and_language_has_cases(real_cases):
    assert {case.form for case in real_cases} == set(FORMS)
    assert len({case.id for case in real_cases}) == len(real_cases)
    names = {case.record.language.name for case in real_cases if case.record.language}
    assert names >= {"python", "csharp", "cpp", "typescript", "rust", "go", "javascript", "java"}
    assert real_cases == list(cases(list(records(DATA))[::6]))  # the same in every run


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        (PRICED.after.encode(), "right"),
        (PRICED.after.encode() + b"\n", "wrong"),
        (PRICED.after.replace("\n", "\r\n").encode(), "wrong"),
        (b"\xef\xbb\xbf" + PRICED.after.encode(), "wrong"),
        (SHOP.encode(), "wrong"),
        (PRICED.after.replace("    ", "\t", 1).encode(), "wrong"),
        (b"", "wrong"),
        (None, "refused"),
    ],
    ids=["right", "line", "ends", "mark", "unchanged", "tab", "empty", "refused"],
)
def test_an_answer_is_right_byte_for_byte(data, verdict):
    (case,) = cases([PRICED], ["lazy-1"])
    row = script_module.measured("x", lambda _: tools.Answer(data, "why"), case)
    assert row["verdict"] == verdict
    assert ("diff" in row) is (verdict == "wrong")
