"""Large files: which places an instruction is about, and that editing only them is an edit."""

import random
import re
from itertools import pairwise

import pytest
from case_files import rows
from effort import ends, some
from fruits import python
from one_edit import Edited, edit, shown_in

LET = "Let weigh_lemon_4 start at 99"
CHANGE = ["total = 4\n", "total = 99\n"]
LEMON = python().replace(*CHANGE)


def let(*flags: str, text: str = python(), **script: object) -> Edited:
    return edit(LET, text, *flags, **{"replace": [CHANGE], "places": "nothing", **script})


# which places


@rows("instruction symbols")
def test_a_place_that_is_named_is_the_place(instruction, symbols):
    text = python() + (
        "\n\ndef fetch_prices(url):\n    http_errors = 0\n    return http_errors\n"
        '\n\ndef checked(text):\n    raise ValueError("not a number")\n'
        "\n\nclass Scale:\n    def tare(self):\n        # nul\n        pass\n\n"
        "    def read(self):\n        pass\n"
    )
    edited = edit(instruction, text, replace=[["nul", "zero"]], places="nothing")
    assert (edited.symbols, edited.asked_for_places) == (symbols, False)
    assert edited.text == (text.replace("nul", "zero") if symbols == ["Scale"] else text)


@pytest.mark.parametrize(
    "instruction", ["Mend the crash", "Make the zeppelin faster", "🍋", "x" * 5000]
)
def test_where_nothing_is_named_the_model_is_asked_and_names_nothing(instruction):
    edited = edit(instruction, python(), replace=[["total = 7\n", "total = 70\n"]], places="?")
    assert edited.asked_for_places and len(edited.prompts) == 2
    assert (edited.file["regions"], edited.kinds) == ([], ["whole"])
    assert edited.text == python().replace("total = 7\n", "total = 70\n")


@rows("instruction about_all")
def test_an_instruction_about_all_of_it_is_told_apart(instruction, about_all):
    edited = edit(instruction, python(), replace=[["Weigh the", "Wiege"]], places="weigh_lemon_4")
    assert (not edited.asked_for_places and not edited.file["regions"]) == about_all
    if about_all:
        assert "all of it" in edited.file["notes"][0]
        assert edited.text == python().replace("Weigh the", "Wiege")


def test_equal_functions_are_no_choice_and_a_named_one_of_them_is():
    text = "".join(f"def f{n}(a):\n    return a + 1\n\n\n" for n in range(600))
    edited = edit("Subtract instead of adding", text, "--max-tokens", "9", places="f432")
    outline = shown_in(edited.prompts[0]).splitlines()
    assert edited.asked_for_places and 0 < len(outline) <= 300, "a longer one is cut"
    edited = edit("Let f123 subtract instead", text, replace=[["a + 1", "a - 1"]])
    assert (edited.symbols, edited.asked_for_places) == (["f123"], False)


@pytest.mark.parametrize("name", ["weigh_olive_7", "weigh_cherry_29"])
def test_the_model_chooses_among_the_names_of_the_outline_by_its_chances(name):
    others = dict.fromkeys(("weigh_olive_7", "weigh_cherry_29", "weigh_lemon_4"), 0.02)
    edited = edit(
        "Make the zeppelin faster",
        python(),
        replace=[["total = 7\n", "total = 70\n"]],
        ranked={**others, name: 0.9},
    )
    assert edited.asked_for_places and edited.file["regions"]
    likeliest = max(edited.file["regions"], key=lambda region: region["chance"])
    assert name in likeliest["symbol"].split(", ")


def test_words_that_doubt_ask_the_model_and_it_is_evidence():
    edited = edit(
        "Mend the weight of the olive, the melon and the lemon",
        python(),
        replace=[["total = 7\n", "total = 70\n"]],
        places="weigh_olive_7\nweigh_melon_6",
    )
    chances = {
        name: region["chance"]
        for region in edited.file["regions"]
        for name in region["symbol"].split(", ")
    }
    assert len(edited.file["regions"]) > 1
    assert len(edited.prompts) == 2, "a question about places, and one about all of them"
    assert chances["weigh_olive_7"] == max(chances.values()) <= 1 and min(chances.values()) >= 0
    assert len(chances) < 25
    assert "total = 70\n" in edited.text
    assert edited.file["passes"] > sum(region["passes"] for region in edited.file["regions"])


def test_a_quoted_text_of_many_places_is_evidence_for_each():
    checks = [f"check_{n}" for n in range(4)]
    text = python() + "".join(
        f'\n\ndef {n}(x):\n    raise ValueError("not even")\n' for n in checks
    )
    edited = edit('The message "not even" is wrong', text, places="check_2")
    assert {*checks} <= {*edited.symbols}


def test_an_answer_counts_as_far_as_it_names_what_exists():
    answer = "1. `weigh_lemon_4`\n- weigh_banana_1: def weigh\nweigh_nothing\nThe first one.\n"
    instruction = "Mend weigh_banana_1(), weigh_lemon_4() and weigh_olive_7()"
    edited = edit(instruction, python(), places=answer)
    assert edited.symbols == ["weigh_banana_1", "weigh_lemon_4"]
    assert "weigh_olive_7: def weigh_olive_7(basket):\n" in edited.prompts[0]


def test_lines_that_are_too_long_for_source_are_no_places():
    text = f"{python()}\ny = '{'a' * 30_000}'\n"
    edited = let(text=text)
    assert (edited.file["regions"], edited.text) == ([], text.replace(*CHANGE))
    assert "its lines are too long to be lines of source" in edited.file["notes"][0]


# the parts of a file


SOURCES = ("py", "ts", "js", "go", "rs", "java", "cs", "c", "cpp", "rb", "php", "kt", "md", "txt")


@pytest.mark.parametrize("suffix", some(SOURCES[::-1], 3))
def test_the_parts_of_a_long_file_are_all_of_its_lines(suffix):
    """Of any text, in any language: source, nonsense, blank lines. Its parts are asked about one
    after the other where all of it is meant and it exceeds the window."""
    draw = random.Random(suffix)
    lines = [
        "def f():",
        "    x",
        "",
        "}",
        "class A {",
        "  int b() {",
        "/* c",
        "*/",
        "import x",
        "# y",
    ]
    text = "".join(f"{draw.choice(lines)}\n" for _ in range(400)) + draw.choice(["", "end"])
    first = edit("Translate all comments", text, "--whole", name=f"a.{suffix}")
    window = first.file["tokens"]["prompt"] + len(text) - 1
    edited = edit("Translate all comments", text, name=f"a.{suffix}", window=window)
    assert edited.text == text, edited.messages
    spans = [region["lines"] for region in edited.file["regions"]]
    covered = [n for first, last in spans for n in range(first, last + 1)]
    assert covered == list(range(1, text.count("\n") + (not text.endswith("\n")) + 1))
    assert len(spans) > 4 and max(last - first + 1 for first, last in spans) <= 90
    if suffix == "txt":
        rows = text.split("\n")
        assert not any(rows[last - 1] for _, last in spans[:-1]), "cut behind a blank line"


def test_all_of_a_file_beyond_the_window_is_edited_in_parts():
    edited = edit(
        *("Translate all comments to German", python()),
        replace=[["Weigh the", "Wiege"]],
        window=12_000,
    )
    assert edited.text == python().replace("Weigh the", "Wiege")
    assert len(edited.file["regions"]) > 4 and edited.kinds == ["focused"]


DEFINITIONS = (
    "import a\n\nx = 1\n\n\n# about f\n@d\ndef f():\n    pass\n\n\n"
    "class C:\n    y = 2\n\n    def g(self):\n        pass\n"
)


@pytest.mark.parametrize(
    ("instruction", "lines"),
    [("Mend `f`", [6, 9]), ("In `C.g`, return", [15, 16]), ("Make the class C smaller", [12, 16])],
    ids=["with the comment above it", "a member", "a class"],
)
def test_a_definition_is_a_part(instruction, lines):
    (region,) = edit(instruction, DEFINITIONS, "--focus", "1").file["regions"]
    assert region["lines"] == lines


@pytest.mark.parametrize(
    ("name", "text", "listed"),
    [
        ("a.py", DEFINITIONS, ["imports 1-5", "f", "C", "C.g"]),
        ("a.py", "#!/bin/x\n# L\n\nimport os\n", ["comment 1-3", "imports 4-4"]),
        ("a.py", "# L\n\n# about f\ndef f():\n    pass\n", ["comment 1-2", "f"]),
        ("a.py", "import os\n# L\n\n\ndef f():\n    pass\n", ["imports 1-4", "f"]),
        ("a.py", '"""What."""\n\nimport os\n\n\ndef f():\n    pass\n', ["imports 1-5", "f"]),
        ("a.h", "/* L\n   M */\n#include <a>\n", ["comment 1-2", "imports 3-3"]),
        ("a.h", "#pragma once\n// L\n\n#include <a>\nint f() {\n}\n", ["imports 1-4", "f"]),
        ("a.go", "// L\n\n// Package a is.\npackage a\n", ["comment 1-3", "imports 4-4"]),
        ("a.ts", "/*\n L\n*/\n\nimport a from 'a'\n", ["comment 1-4", "imports 5-5"]),
        ("a.rs", "#![no_std]\nuse a::b;\nfn f() {\n}\n", ["imports 1-2", "f"]),
    ],
)
def test_the_model_is_asked_about_definitions_imports_and_the_comment_at_the_head(
    name, text, listed
):
    edited = edit("Mend the crash", text, "--focus", "1", name=name, places="nothing")
    outline = shown_in(edited.prompts[0])
    assert [line.partition(":")[0] for line in outline.splitlines()] == listed


LICENCE = "# Use of total and count\n# # is granted to all who weigh fruit.\n# # No limit.\n"
HEADED = f"{LICENCE}\nimport os\nimport sys\n\nLOWEST = 10\nLIMIT = 10\n\n\n" + "\n\n".join(
    f"def weigh_{n}(basket):\n    return LIMIT + basket.fruit[{n}]\n" for n in range(200)
)


@rows("instruction is_meant")
def test_a_licence_counts_where_the_instruction_is_about_it(instruction, is_meant):
    edited = edit(instruction, HEADED, places="nothing")
    assert any(region["lines"][0] == 1 for region in edited.file["regions"]) == is_meant


def test_a_licence_outlives_an_edit_of_the_imports():
    drops = [[line, ""] for line in LICENCE.splitlines(True)]
    edited = edit(
        "Let `LOWEST` be 7000",
        HEADED,
        places="imports 5-10",
        replace=[*drops, ["LOWEST = 10", "LOWEST = 7000"]],
    )
    assert edited.file["regions"]
    assert edited.text == HEADED.replace("LOWEST = 10", "LOWEST = 7000")


# the edit


def test_a_named_place_is_all_that_is_read_and_written():
    edited = let()
    assert (edited.code, edited.text, len(edited.prompts)) == (0, LEMON, 1)
    assert edited.file["tokens"]["completion"] < len(python()) / 10
    ((finding,),) = [edited.file["findings"]]
    assert (finding["kind"], "weigh_lemon_4" in finding["text"]) == ("focused", True)
    (region,) = edited.file["regions"]
    assert set(region) == {"lines", "symbol", "why", "chance", "changed", "passes"}
    assert (region["symbol"], region["changed"]) == ("weigh_lemon_4", True)
    first, last = region["lines"]
    assert python().splitlines()[first - 1].startswith("def weigh_lemon_4") and first < last


@pytest.mark.parametrize(
    "flags", [("--focus", "off"), ("--whole",), ("--focus", "5000")], ids=" ".join
)
def test_focus_can_be_left_out(flags):
    edited = let(*flags)
    assert (edited.file["regions"], edited.kinds) == ([], [])
    assert (edited.text, len(edited.prompts)) == (LEMON, 1)
    assert edited.file["tokens"]["completion"] > len(python().split())


def test_a_number_of_lines_says_from_when_on():
    assert let("--focus", "5000", text=python(8)).file["regions"] == []
    assert let("--focus", "20", text=python(8)).file["regions"]
    assert edit("Let x be 2", "x = 1\n", replace=[["1", "2"]]).file["regions"] == []


@pytest.mark.parametrize("flags", [("--symbol", "weigh_grape_3"), ("--lines", "1:4")], ids=" ".join)
def test_lines_and_symbol_stay_the_persons_word(flags):
    edited = let(*flags)
    assert edited.file["regions"] == [] and "weigh_lemon_4(" not in edited.prompts[0]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ends(["", "\n", "\n\n\n", "# end"]))
def test_regions_that_come_back_unchanged_are_the_file_byte_for_byte(ending, tail):
    text = (python().rstrip("\n") + "\n" + tail).replace("\n", ending)
    names = re.findall(r"def (\w+)", text)
    for seed in range(3):
        some = {*random.Random(f"{ending}{tail}{seed}").sample(names, 3), names[-1]}
        edited = edit(f"Mend {', '.join(f'`{name}`' for name in some)}", text, places="")
        assert {*edited.symbols} >= some and edited.text == text


def test_guarantee_1_holds_for_each_region():
    edited = let("--compare", "--audit")
    compared = edited.file["compared"]
    assert compared["identical"] and compared["digests_equal"]
    assert compared["passes"] > edited.file["passes"]
    plain = let("--audit", "--prediction", "none")
    assert (plain.text, plain.file["prediction"]["proposed"]) == (LEMON, 0)
    assert plain.file["logits_digest"] == edited.file["logits_digest"]


@rows("flags answer says")
def test_a_region_that_is_refused_is_no_file(flags, answer, says):
    edited = let(*flags, answer=answer)
    assert (edited.code, edited.text) == (2, python())
    assert says in " ".join(edited.file["problems"])


# several places in one question


BOTH = "Let weigh_lemon_4 and weigh_grape_12 start at 99"
CHANGES = [CHANGE, ["total = 12\n", "total = 99\n"]]
STAND_IN = "# (58 lines of the file are not shown here)\n"


def both(*replaced: list[str], tries: str = "1", **more: bool) -> Edited:
    replace = [*CHANGES, *replaced]
    return edit(BOTH, python(), "--tries", tries, places="", replace=replace, **more)


def test_places_that_are_asked_about_together_are_all_that_changes():
    edited = both()
    expected = python()
    for old, new in CHANGES:
        expected = expected.replace(old, new)
    assert edited.text == expected
    assert STAND_IN in edited.shown, "for the lines between"
    assert "weigh_olive_7" not in edited.shown
    assert [region["changed"] for region in edited.file["regions"]] == [True, True]
    lines = [line for line in edited.shown.splitlines() if "not shown" not in line]
    spans = [range(first - 1, last) for first, last in (r["lines"] for r in edited.file["regions"])]
    assert lines == [python().splitlines()[n] for span in spans for n in span]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (STAND_IN, ""),
        (STAND_IN, "# (8 lines)\n"),
        (STAND_IN, "pass\n"),
        ("total = 99\n", f"total = 99\n    {STAND_IN}"),
        ("# (38 lines of", "# (3 lines of"),
        ("# (38 lines of the file are", "# (The first 38 lines of the file are"),
    ],
    ids=["lost", "shortened", "code", "a second one", "another number", "other words"],
)
def test_a_line_that_stands_for_others_is_never_written_and_never_lost(old, new):
    edited = both([old, new])
    assert "# (38 lines of" in edited.shown
    assert (edited.code, edited.text) == (2, python())
    assert any(one["kind"] == "placeholder" for one in edited.file["findings"])


@pytest.mark.parametrize("seed", ends(range(8)))
def test_an_answer_is_divided_as_its_regions_were_put_together(seed):
    """With new lines anywhere but in place of a line that stands for others, all lines between the
    regions stay, and each new line is where the answer had it."""
    draw = random.Random(seed)
    names = draw.sample(re.findall(r"def (\w+)", python()), draw.randint(1, 6))
    instruction = f"Mend {', '.join(f'`{name}`' for name in names)}"
    lines = edit(instruction, python(), places="").shown.splitlines()
    for at in sorted({draw.randrange(2, len(lines) - 1) for _ in range(2)}, reverse=True):
        lines.insert(at, f"# new {at}")
    edited = edit(instruction, python(), places="", answer="\n".join(lines) + "\n")
    after = edited.proposed
    assert [line for line in after.splitlines() if line[:5] != "# new"] == python().splitlines()
    for line, following in pairwise(lines):
        if line.startswith("# new") and "lines of the file" not in following:
            assert f"{line}\n{following}\n" in after


def test_a_further_answer_to_regions_is_told_what_was_wrong_and_expects_the_one_before():
    new = f"return weight  # {random.Random(1).randbytes(100).hex()}\n"
    edited = both(["return total\n", new], tries="2", words=False)
    assert edited.code == 2 and "`weight` is used" in edited.prompts[-1]
    first, second = edited.file["tries"]
    assert second["passes"] < first["passes"] / 2, "it expects the answer before"
