"""What is never written: texts that do not parse, placeholders, lost definitions."""

import pytest

from specedit.check.answer import check_answer
from specedit.check.finding import ALL_OFF, Checks, Finding
from specedit.check.new_code import stands_in
from specedit.syntax.languages import BY_NAME, Language

PYTHON = BY_NAME["python"]
BEFORE = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"


def kinds(
    after: str,
    instruction: str = "",
    before: str = BEFORE,
    language: Language | None = PYTHON,
    may_remove: bool = False,
) -> list[str]:
    return [one.kind for one in check(before, after, language, instruction, may_remove)]


def check(
    before: str,
    after: str,
    language: Language | None,
    instruction: str = "",
    may_remove: bool = False,
) -> list[Finding]:
    """The findings that no table of verdicts turns off."""
    return check_answer(before, after, language, instruction, Checks(may_remove, ALL_OFF))


def test_no_change_and_an_honest_change_have_no_problem():
    assert kinds(BEFORE) == []
    assert kinds(BEFORE.replace("return 1", "return 3")) == []


def test_a_text_that_parses_worse_is_refused_with_count_and_place():
    (problem,) = check(BEFORE, BEFORE.replace("return 2", "return ("), PYTHON)
    assert problem.refuses
    assert problem.line == 9
    assert "(1 syntax error, 0 before)" in problem.text


def test_what_did_not_parse_before_may_go_on_not_parsing():
    broken = "def (:\n    x = 1\n"
    assert kinds(broken.replace("1", "2"), before=broken) == []


def test_one_error_more_in_a_file_that_the_grammar_cannot_read_is_no_reason_to_refuse():
    broken = "x = = 1\n" * 12
    (problem,) = check(broken, broken + "y = = 2\n", PYTHON)
    assert (problem.kind, problem.refuses) == ("not-checked", False)
    assert kinds(broken + "y = = 2\n" * 5, before=broken) == ["syntax"]


def test_without_a_grammar_the_report_says_not_checked():
    for language in (None, BY_NAME["sql"]):
        (problem,) = check("a", "b", language)
        assert problem.kind == "not-checked"
        assert not problem.refuses


@pytest.mark.parametrize(
    ("after", "instruction", "expected"),
    [
        pytest.param(
            "import os\n\n\ndef one():\n    return 1\n", "", ["lost-definition"], id="lost"
        ),
        pytest.param("def one():\n    return 1\n", "Remove two", [], id="named"),
        pytest.param(
            "def one():\n    return 1\n", "Remove unused code", ["unnamed-loss"], id="unnamed"
        ),
        pytest.param(BEFORE.replace("two", "three"), "Better names", [], id="replaced"),
        pytest.param("", "", ["empty", "lost-definition"], id="empty"),
    ],
)
def test_definitions_are_lost_only_where_the_instruction_says_so(after, instruction, expected):
    assert kinds(after, instruction) == expected


SHOP = """from math import floor


def add(a, b):
    total = a + b
    return floor(total)


def price_of(item):
    if item.free:
        return 0
    return add(item.price, item.tax)


class Cart:
    def sum(self):
        return sum(price_of(item) for item in self.items)
"""
ADD, PRICE, CART = (part + "\n" for part in SHOP.rstrip("\n").split("\n\n\n")[1:])
EXTRACTED = "def is_free(item):\n    return item.free\n"
BASKET = "class Basket(list):\n    items = ()\n"
TWO = EXTRACTED + "\n\nclass Id:\n    x = 1\n"
LOSSES = {  # instruction, what is taken out of SHOP, what comes in its place, the kind of finding
    "verb-of-the-instruction": ("Add type hints", ADD, "", "lost-definition"),
    "verb-behind-another": ("Remove the comments and add type hints", ADD, "", "lost-definition"),
    "part-of-a-word": ("Remove the additional import of Cartesian", CART, "", "unnamed-loss"),
    "another-came": ("Extract the test of free items", ADD, EXTRACTED, "lost-definition"),
    "the-example-became-the-new-one": (
        "Add cost_of, in the style of price_of", PRICE, PRICE.replace("price_of", "cost_of"),
        "lost-definition",
    ),
    "named-anew-after-the-old-name": ("add becomes plus", ADD, ADD.replace("add", "plus"), ""),
    "two-lost-two-came": ("Tidy up", ADD + "\n\n" + PRICE, TWO, "lost-definition"),
    "mentioned-to-be-kept": (
        "Make price_of return None for free items", PRICE, "", "lost-definition",
    ),
    "what-it-is-taken-from": ("Remove sum from Cart", CART, "", "lost-definition"),
    "still-used": ("Remove the unused functions", PRICE, "", "lost-definition"),
    "clears-something-else": ("Remove the unused argument", CART, "", "unnamed-loss"),
    "renamed": ("Better names", ADD, ADD.replace("add", "plus"), ""),
    "renamed-and-another-came": (
        "Better names", ADD, ADD.replace("add", "plus") + "\n\n" + EXTRACTED, "",
    ),
    "renamed-and-rewritten": ("Rename Cart to Basket and keep a list", CART, BASKET, ""),
    "named-anew-and-rewritten": ("The class is called Basket", CART, BASKET, ""),
    "still-used-and-a-word": ("Remove add", ADD, "", "lost-definition"),
    "removed": ("Drop the class Cart", CART, "", ""),
    "removed-in-quotes": ("Price items one by one; delete `add` and `price_of`", ADD, "", ""),
    "removed-in-words": ("Inline the price of an item", PRICE, "", ""),
    "imported": ("Use our own arithmetic", ADD, "from shop.arithmetic import add\n", ""),
}  # fmt: skip


@pytest.mark.parametrize(("instruction", "gone", "come", "kind"), LOSSES.values(), ids=LOSSES)
def test_a_definition_that_is_gone_is_accounted_for(instruction, gone, come, kind):
    assert SHOP.count(gone) == 1
    found = kinds(SHOP.replace(gone, come), instruction, before=SHOP)
    assert found == ([kind] if kind else [])


def test_what_goes_unnamed_and_unused_is_noted():
    (note,) = check(SHOP, SHOP.replace(CART, ""), PYTHON, "Remove unused classes")
    assert (note.kind, note.refuses, note.warns) == ("unnamed-loss", False, True)
    assert "Cart" in note.text


def test_allowing_removal_overrides_lost_definitions_and_nothing_else():
    assert kinds("def one():\n    return 1\n", may_remove=True) == []
    assert kinds("def one(:\n    return 1\n", may_remove=True) == ["syntax"]


def test_many_members_lost_are_a_loss():
    members = "".join(f"    def m{n}(self):\n        pass\n" for n in range(6))
    before = f"class A:\n{members}"
    after = "class A:\n    def m0(self):\n        pass\n"
    assert kinds(after, before=before) == ["lost-definition"]


@pytest.mark.parametrize(
    "line",
    [
        "// ... existing code ...",
        "    [other lines]",
        "    # ... rest of the code unchanged",
        "# rest of the file remains the same",
        "/* ... */",
        "<!-- ... rest of the document ... -->",
        "-- ...",
        "// Rest of the methods...",
        "    # ... (other methods)",
        "// existing code",
        "{/* ... other components ... */}",
        "        // The remaining methods stay unchanged",
        "pass  # ... existing code ...",
        "# [rest of the function unchanged]",
        "// … unchanged …",
        "; ... existing code ...",
        "// Your existing code here",
        "# other methods omitted",
    ],
)
def test_placeholders_of_any_syntax_are_seen(line):
    assert stands_in(line.strip())
    assert kinds(BEFORE + line + "\n", language=None) == ["placeholder", "not-checked"]


@pytest.mark.parametrize(
    "line",
    [
        "# rest",
        "...",
        "def f(*rest): ...",
        "// the rest of the arguments are passed on",
        "# wait...",
        "// loading...",
        "x = [...]",
        "const { a, ...rest } = b;",
        "# TODO: ...and so on, see the manual",
        "# existing users keep their name",
        "// same as above",
        "log('...')",
        "# unchanged since 2019",
        "    return other.code  # the other code",
        "#include <rest.h>",
        "// remaining: seconds left",
    ],
)
def test_honest_lines_are_no_placeholders(line):
    assert not stands_in(line)


def test_a_placeholder_that_was_there_is_none_of_ours():
    before = "# ... existing code ...\nx = 1\n"
    assert kinds(before.replace("1", "2"), before=before) == []
    assert kinds(before + "# ... existing code ...\n", before=before) == ["placeholder"]


CLOCK = """\
import time

LIMIT = 10


class Clock:
    zone = "utc"

    def now(self):
        seconds = time.time()
        minutes = seconds / 60
        hours = minutes / 60
        days = hours / 24
        weeks = days / 7
        years = weeks / 52
        return years

    def reset(self):
        self.zone = None
"""
BODY = CLOCK[CLOCK.index("        minutes") : CLOCK.index("        return")]
REFUSED = {
    "one-method": (CLOCK.split("    def reset")[0], "lost-definition"),
    "a-constant": (CLOCK.replace("LIMIT = 10\n", ""), "lost-definition"),
    "a-field": (CLOCK.replace('    zone = "utc"\n\n', ""), "lost-definition"),
    "half-of-a-body": (CLOCK.replace(BODY, ""), "lost-definition"),
    "defined-twice": (CLOCK + "\n    def now(self):\n        return 1\n", "repeated"),
    "without-a-body": (CLOCK + "\n\ndef late():\n", "syntax"),
}


@pytest.mark.parametrize(("after", "kind"), REFUSED.values(), ids=REFUSED)
def test_guarantee_11_nothing_disappears_that_is_not_taken_away(after, kind):
    results = check_answer(CLOCK, after, BY_NAME["python"], "Log the hour in Clock.now")
    assert [one.kind for one in results if one.refuses] == [kind]


def test_lines_that_are_gone_with_nothing_in_their_place_are_refused():
    before = "// A licence.\n// Of three\n// lines.\n\npackage a\n\nfunc F() int { return 1 }\n"
    after = "package a\n\nfunc F() int { return 2 }\n"
    results = check_answer(before, after, BY_NAME["go"], "F should return 2")
    assert [one.kind for one in results if one.refuses] == ["lost-lines"]
    assert not [one for one in check_answer(before, after, BY_NAME["go"], "Delete the licence")
                if one.refuses]  # fmt: skip


SHOWN = "def price(item):\n    return item.price\n\n\ndef tax(item):\n    return price(item) / 5\n"


@pytest.mark.parametrize("copied", [SHOWN, SHOWN[: SHOWN.index("def tax") + 16]])
def test_a_file_that_is_only_shown_is_not_copied(copied):
    checks = Checks(shown=(("shop.py", SHOWN),))
    results = check_answer(CLOCK, CLOCK + copied, BY_NAME["python"], "Use the price", checks)
    assert "copied" in [one.kind for one in results if one.refuses]
    known = CLOCK + "\n\ndef price(item):\n    return item.price\n"
    changed = known.replace("LIMIT = 10", "LIMIT = 11")
    assert not [
        one
        for one in check_answer(known, changed, BY_NAME["python"], "Set LIMIT to 11", checks)
        if one.refuses
    ]
