"""Where an instruction says that a file may change."""

import pytest
from case_files import cases, read_texts
from scripted_backend import Scripted, perform

from specedit.edit.job import plan_edit
from specedit.edit.regions.targets import targets_of
from specedit.edit.report import Edit
from specedit.errors import NotDefined
from specedit.files.source import Source
from specedit.settings import Settings
from specedit.syntax.languages import language_of
from specedit.syntax.trees import symbols

SHOP = read_texts("edit/targets.toml")["SHOP"]


def names(instruction: str, text: str = SHOP, file: str = "a.py") -> list[str]:
    found = targets_of(symbols(text, language_of(file)), text, instruction)
    return [target.name for target in found]


@cases("edit/targets.toml", "named")
def test_what_is_named_as_the_place_is_open_to_change(instruction, expected):
    assert names(instruction) == expected


def test_all_definitions_of_one_name_are_candidates():
    assert names("Let heaviest() skip empty baskets") == ["Basket.heaviest", "Crate.heaviest"]


@pytest.mark.parametrize(
    ("instruction", "near"),
    [
        ("In the function `heaviest_off`, skip baskets", "heaviest_of"),
        ("Return early in the method ligthest()", "Basket.lightest"),
        ("In Basket.ligthest, return early", "Basket.lightest"),
        ("In `laod`, return early", "load"),
        ("In Basket.discount, return 0", "It defines: STEP, LIMIT, Basket, Basket.size"),
    ],
)
def test_a_name_that_is_not_there_is_an_error_with_the_nearest_one(instruction, near):
    with pytest.raises(NotDefined) as caught:
        names(instruction)
    assert near in caught.value.hint


@pytest.mark.parametrize(
    "instruction",
    [
        "Add a function heaviest_all that calls heaviest_of",
        "In the main loop function, stop early",
        "Return early in the first method",
        "In the class fruit, weigh",
        "Make the discount method return None",
        "In orders, sort by date",
        "In package.json, sort by date",
        "In ASP.Net, sort by date",
        "Extract the choice of the fruit into a function heaviest_off()",
        "Fix the function to skip empty baskets",
        "In e.g., the second case, return None",
        "Add a `reset()` function",
        "Return early in laod",
    ],
)
def test_a_word_that_may_be_english_is_not_missed(instruction):
    names(instruction)


@cases("edit/targets.toml", "languages")
def test_in_every_language(file, text, instruction, expected):
    assert names(instruction, text, file) == expected


def edited(instruction: str, answer: str, text: str = SHOP, name: str = "a.py") -> Edit:
    source = Source.from_bytes(name, text.encode())
    backend = Scripted(answer + "\n```")
    edit = perform(plan_edit(source, instruction, Settings()), backend, Settings())
    assert isinstance(edit, Edit)
    return edit


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("first", ["", "\ufeff"])
def test_guarantee_11_outside_of_a_named_definition_every_byte_stays(end, first):
    text = first + SHOP.replace("\n", end)
    edit = edited(
        "Let load() return 1", "def load(path):\n    return 1  # was: the file's state\n", text
    )
    expected = text.replace("return os.stat(path)", "return 1  # was: the file's state")
    assert edit.after.decode() == expected
    (region,) = edit.figures.regions
    assert (region.symbol, region.why) == ("load", "named in the instruction")


LOST = {
    "method": ("Make the class Crate iterable", "class Crate:\n    pass\n"),
    "constant": ("Change LIMIT to 7", "\n"),
    "cut": ("In `Basket.write`, write a header", "    def write(self, path):\n"),
}  # fmt: skip


@pytest.mark.parametrize(("instruction", "answer"), LOST.values(), ids=LOST)
def test_guarantee_11_no_definition_is_lost(instruction, answer):
    edit = edited(instruction, answer)
    assert edit.status == "refused"
    assert edit.after == b"" or edit.problems


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
    source = Source.from_bytes("a.py", text.encode())
    backend = Scripted(
        lambda prompt: (
            "kiwi\n```" if "Which parts" in prompt else "def kiwi(self, ripe):\n    return 1\n```"
        )
    )
    job = plan_edit(source, "In class Shop, return 1 for kiwi that is ripe", Settings())
    edit = perform(job, backend, Settings())
    assert isinstance(edit, Edit) and edit.figures.regions
    assert all(one.lines[0] > 4 for one in edit.figures.regions)
