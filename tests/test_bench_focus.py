"""`specedit bench --focus --equal`: a file edited in places and whole, and whether they agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_backend import Scripted

from specedit.bench import equality
from specedit.bench.cases import Case, read_cases
from specedit.bench.wanted import Wanted
from specedit.engines.scripted import fenced
from specedit.errors import InputError, UsageError
from specedit.settings import Settings

FRUITS = ("apple", "berry", "cherry", "grape", "lemon", "mango", "melon", "olive")


def text(number: int = 60) -> str:
    """A file that is long enough to be edited in places."""
    parts = [
        f"def weigh_{FRUITS[n % 8]}_{n}(items):\n"
        f'    """Weigh what belongs to tray {n}."""\n'
        f"    total = {n}\n"
        "    for item in items:\n"
        f"        total += item.grams * {n}\n"
        "    return total\n"
        for n in range(number)
    ]
    return "\n\n".join(["import os\n", *parts])


def case(instruction: str, before: str = "") -> Case:
    return Case("one", "a.py", instruction, before or text())


def answers(*pairs: tuple[str, str], whole: tuple[str, str] = ("", "")) -> Callable[[str], str]:
    """Replacements in what is to be edited; `whole`: one only where that is all of the file."""

    def said(prompt: str) -> str:
        if "Which parts will be changed?" in prompt:
            return "nothing\n```"
        block, closing = fenced(prompt.encode())
        found = block.decode()
        for old, new in (*pairs, *([whole] if found.startswith("import os") else [])):
            found = found.replace(old, new) if old else found
        return found + closing.decode()

    return said


NAMED = "Let weigh_lemon_4 start at 99"
EDIT = ("total = 4\n", "total = 99\n")


def compared(said: Callable[[str], str], instruction: str = NAMED) -> list[equality.BothWays]:
    return list(equality.measure([case(instruction)], Settings(), Scripted(said)))


def test_the_same_text_both_ways_is_equal_and_places_are_cheaper() -> None:
    (one,) = compared(answers(EDIT))
    assert one.both
    assert one.equal
    assert one.whole is not None
    assert one.parts.text == text().replace(*EDIT)
    assert len(one.parts.places) == 1
    assert one.within
    assert one.parts.completion < one.whole.completion / 10
    found = equality.as_json([one])
    assert (found["equal"], found["both_finished"]) == (1, 1)
    assert "1 of 1 (100.0%)" in equality.as_text(found)
    assert text()[:400] not in json.dumps(found)  # the diff says it, not the file twice


def test_another_text_is_told_with_both_diffs() -> None:
    (one,) = compared(answers(EDIT, whole=("total = 7\n", "total = 8\n")))
    assert one.both
    assert not one.equal
    assert one.within  # it differs elsewhere
    (other,) = compared(answers(EDIT, whole=("total = 99\n", "total = 98\n")))
    assert not other.within
    row = equality.as_json([one])["each"][0]
    assert "+    total = 8" in row["whole"]["diff"]
    assert "+    total = 8" not in row["parts"]["diff"]


def test_what_one_way_does_not_finish_is_counted_apart() -> None:
    (one,) = compared(answers(EDIT, whole=("def weigh_apple_0(items):", "def weigh_apple_0(items")))
    assert one.whole is not None
    assert one.whole.status == "refused"
    found = equality.as_json([one])
    assert (found["unfinished"], found["both_finished"], found["equal"]) == (1, 0, 0)
    assert "0 of 0" in equality.as_text(found)


def test_where_focus_takes_all_of_it_there_is_one_run() -> None:
    backend = Scripted(answers(EDIT))
    asked = [case("Translate all comments to German")]
    (one,) = equality.measure(asked, Settings(), backend)
    assert one.whole is None
    assert len(backend.plans) == 1
    found = equality.as_json([one])
    assert (found["whole_by_choice"], found["both_finished"]) == (1, 0)


def test_a_small_file_is_no_case() -> None:
    asked = [case("Let x be 2", "x = 1\n")]
    assert list(equality.measure(asked, Settings(), Scripted(answers()))) == []


def test_a_case_may_name_its_file(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_bytes(b"x = 1\r\n")
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps({"instruction": "Let x be 2", "path": "b.py"}))
    (one,) = read_cases(cases)
    assert (one.filename, one.before) == ("b.py", "x = 1\r\n")


@pytest.mark.parametrize("data", [None, b"\xff"], ids=["missing", "not UTF-8"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "b.py").write_bytes(data)
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps({"instruction": "Let x be 2", "path": "b.py"}))
    with pytest.raises(InputError, match=r"cases\.jsonl:1.*b\.py"):
        read_cases(cases)


def test_equal_is_about_focus() -> None:
    whatever = {
        "against": "",
        "kinds": ("line",),
        "lines": (50,),
        "languages": ("python",),
        "rounds": 1,
        "half": "all",
    }
    with pytest.raises(UsageError, match="--equal"):
        Wanted(equal=True, **whatever)  # type: ignore[arg-type]
    Wanted(equal=True, focus=(Path("x"),), **whatever)  # type: ignore[arg-type]
