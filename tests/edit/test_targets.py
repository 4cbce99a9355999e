"""Where an instruction says that a file may change."""

import pytest
from case_files import cases, read_texts, rows
from one_edit import edit

SHOP = read_texts("edit/targets.toml")["SHOP"]


def targets(instruction: str, text: str = SHOP, name: str = "a.py") -> list[str]:
    """The definitions that the instruction names, or that hold a text that it quotes."""
    edited = edit(instruction, text, "--focus", "1", name=name, places="")
    regions = edited.file["regions"]
    named = [one for one in regions if one["why"].startswith(("named in the instruction", "`"))]
    return [symbol for region in named for symbol in region["symbol"].split(", ")]


@cases("edit/targets.toml", "named")
def test_what_is_named_as_the_place_is_open_to_change(instruction, expected):
    assert targets(instruction) == expected


@cases("edit/targets.toml", "languages")
def test_in_every_language(file, text, instruction, expected):
    assert targets(instruction, text, file) == expected


@rows("instruction near")
def test_a_name_that_is_not_there_is_an_error_with_the_nearest_one(instruction, near):
    edited = edit(instruction, SHOP)
    assert (edited.code, edited.prompts) == (2, []) and near in edited.file["problems"][0]


@rows("instruction")
def test_a_word_that_may_be_english_is_not_missed(instruction):
    assert edit(instruction, SHOP).prompts


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("first", ["", "\ufeff"])
def test_guarantee_11_outside_of_a_named_definition_every_byte_stays(end, first):
    text = first + SHOP.replace("\n", end)
    new = "    return 1  # was: the file's state"
    edited = edit("Let load() return 1", text, answer=f"def load(path):\n{new}\n\n")
    assert edited.text == text.replace("    return os.stat(path)", new)
    (region,) = edited.file["regions"]
    assert (region["symbol"], region["why"]) == ("load", "named in the instruction")


@rows("instruction answer")
def test_guarantee_11_no_definition_is_lost(instruction, answer):
    edited = edit(instruction, SHOP, answer=answer)
    assert (edited.code, edited.text) == (2, SHOP)


def test_of_a_long_class_the_likely_members_are_open():
    methods = "".join(
        f"    def weigh_{n}(self, fruit):\n"
        + f"        total = {n}\n" * 8
        + "        return total\n\n"
        for n in range(40)
    )
    text = (
        f"LIMIT = 3\n\n\nclass Shop:\n{methods}\n    def kiwi(self, ripe):\n        return ripe\n"
    )
    edited = edit(
        "In class Shop, return 1 for kiwi that is ripe",
        text,
        places="kiwi",
        answer="def kiwi(self, ripe):\n    return 1\n",
    )
    assert edited.symbols == ["Shop.kiwi"] and edited.text == text.replace("ripe\n", "1\n")
