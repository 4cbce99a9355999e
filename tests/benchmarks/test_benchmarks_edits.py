"""The benchmark of edits: its judge, and every case with right and spoilt answers."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from case_files import rows
from effort import some

from benchmarks.edits import __main__ as script_module
from benchmarks.edits.case import Case, Original, judged, original, replaced
from benchmarks.edits.cases import all_cases, half, predicate

DATA = Path(os.environ.get("SPECEDIT_DATA") or Path(__file__).parents[3] / "shared" / "data")
CASES = {case.id: case for case in all_cases()}
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs the evaluation data")
each_case = pytest.mark.parametrize("name", some(CASES, 8))


# -- every case ------------------------------------------------------------------------------------


@needs_data
@each_case
def test_the_right_answer_is_right_and_no_other(name):
    case = CASES[name]
    file = original(DATA, case.file)
    assert judged(case, file, file.text).verdict == "wrong"
    found = judged(case, file, replaced(file.text, case.right))
    assert (found.verdict, found.reasons) == ("right", ())
    assert len(case.spoilt) >= 2
    for spoilt in case.spoilt:
        assert judged(case, file, replaced(file.text, spoilt)).verdict != "right", spoilt


@needs_data
@pytest.mark.parametrize("name", some((n for n, case in CASES.items() if case.accepted), 8))
def test_other_right_answers_are_right_too(name):
    file = original(DATA, CASES[name].file)
    found = judged(CASES[name], file, replaced(file.text, CASES[name].accepted))
    assert (found.verdict, found.reasons) == ("right", ())


def test_ids_are_unique_and_begin_with_their_language():
    assert len(CASES) == len(all_cases())
    for case in CASES.values():
        assert re.fullmatch(r"(python|javascript|typescript|go|java|csharp|rust)-[\w-]+", case.id)


def test_the_halves_have_the_same_kinds_and_languages():
    cases = all_cases()
    even, odd = half(cases, "even"), half(cases, "odd")
    assert {case.id for case in even} | {case.id for case in odd} == set(CASES)
    assert not {case.id for case in even} & {case.id for case in odd}
    for key, most in (("kind", 1), ("language", 8)):
        for value in {getattr(case, key) for case in cases}:
            counts = [sum(getattr(c, key) == value for c in part) for part in (even, odd)]
            assert abs(counts[0] - counts[1]) <= most, (value, counts)


# -- the judge -------------------------------------------------------------------------------------

SHOP = '''"""A shop."""

import json
from typing import Any

LIMIT = 3


class Cart:
    """Items."""

    size = 1

    def total(self, items: list[int]) -> int:
        # every item counts
        return sum(items)

    def clear(self) -> None:
        self.items = []


def load(path: str) -> Any:
    with open(path) as file:
        return json.load(file)
'''
FILE = Original("shop.py", SHOP)
ASKED = (predicate(("contains", "Cart.total", r"\* 2")),)
DOUBLE = ("return sum(items)", "return sum(items) * 2")


def case(*where: str, keeps: tuple = ()) -> Case:  # type: ignore[type-arg]
    return Case("python-shop", "", "guard", "Double it.", (DOUBLE,), where, ASKED, keeps)


@rows("where more verdict")
def test_an_answer_is_judged_by_what_changed_and_where(where, more, verdict):
    answer = replaced(replaced(SHOP, (DOUBLE,)), tuple(more))
    assert judged(case(*where), FILE, answer).verdict == verdict


def test_an_unasked_change_inside_the_place_is_found_by_keeps():
    answer = replaced(
        SHOP, (DOUBLE, ("items: list[int]", "things: list[int]"), ("sum(items)", "sum(things)"))
    )
    for parts in (("keeps_lines", "total", "return"), ("only", "total", (r"\)$", ") * 2"))):
        wanted = case("total", keeps=(predicate(parts),))
        assert judged(wanted, FILE, answer).verdict == "partly"
        assert judged(wanted, FILE, replaced(SHOP, (DOUBLE,))).verdict == "right"


def test_pure_functions_can_be_run():
    asked = (predicate(("passes", "assert LIMIT == 4", "LIMIT")),)
    made = Case("python-shop", "", "guard", "", (), ("load",), asked)
    assert judged(made, FILE, SHOP.replace("LIMIT = 3", "LIMIT = 4")).verdict == "partly"
    assert judged(made, FILE, SHOP.replace("LIMIT = 3", "LIMIT = 5")).verdict == "wrong"


# -- the table -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "verdict", "more"),
    [
        (replaced(SHOP, (DOUBLE,)), "right", {"status": "would-edit"}),
        (replaced(SHOP, (DOUBLE, ("LIMIT = 3", "LIMIT = 4"))), "partly", {}),
        (SHOP.replace("LIMIT = 3", "LIMIT = 4"), "wrong", {}),
        (SHOP.replace("sum(items)", "sum(items"), "refused", {"refused_verdict": "wrong"}),
        (SHOP, "unchanged", {"answer": None, "diff": ""}),
    ],
    ids=["right", "partly", "wrong", "refused", "unchanged"],
)  # fmt: skip
def test_a_case_is_edited_and_judged(script, tmp_path, monkeypatch, answer, verdict, more):
    script(answer=f"{answer}```")
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a__shop.py").write_text(SHOP)
    made = Case("python-a", "files/a__shop.py", "guard", "Do it.", (DOUBLE,), ("total",), ASKED)
    monkeypatch.setattr(script_module, "all_cases", lambda: [made])
    out = tmp_path / "out.jsonl"
    arguments = [str(tmp_path), "--set", "whole=true", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["edits", *arguments])
    assert script_module.main() == 0
    (row,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert row["verdict"] == verdict, row
    assert {key: row[key] for key in more} == more
