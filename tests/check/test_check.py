"""What the checks find in an edited file, what they leave alone, and what they refuse."""

from textwrap import indent

import pytest
from case_files import read_file, rows

CASES = read_file("check/check.toml")
TEXTS, TABLE = CASES["texts"], CASES["table"]["rows"]
NAMES = {  # of the files that hold the texts
    **{"python": "a.py", "shop": "a.py", "clock": "a.py", "typescript": "a.ts", "rust": "a.rs"},
    **{"go": "a.go", "licence": "a.go", "java": "a.java", "csharp": "a.cs"},
}
NOTES = {"nothing", "whitespace", "copied-run", "unnamed-loss", "not-checked"}
TWO = "import os\n\n\ndef one():\n    return os.sep\n\n\ndef two():\n    return 2\n"


def kinds(findings):
    for finding in findings:
        assert (finding["verdict"] == "note") == (finding["kind"] in NOTES), finding
    return [finding["kind"] for finding in findings]


@pytest.mark.parametrize(
    ("expected", "text", "old", "new", "instruction"),
    TABLE,
    ids=[f"{row[0] or 'fine'}-{row[1]}-{at}" for at, row in enumerate(TABLE)],
)
def test_each_kind_is_found_where_it_is_and_nowhere_else(
    checked, expected, text, old, new, instruction
):
    before = TEXTS[text]
    assert before.count(old) == 1
    after = before.replace(old, new)
    findings = checked(before, after, NAMES[text], instruction=instruction or "Do it")
    assert kinds(findings) == expected.split()


def test_guarantee_11_nothing_disappears_that_is_not_taken_away(checked):
    after = TWO.partition("\n\n\ndef two")[0] + "\n"
    (finding,) = checked(TWO, after, "a.py", instruction="Log what one returns")
    assert (finding["kind"], finding["verdict"]) == ("lost-definition", "refuse")
    assert "two" in finding["text"]
    assert checked(TWO, after, "a.py", "--allow", "removal") == []
    assert kinds(checked(TWO, "def one(:\n", "a.py", "--allow", "removal")) == ["syntax"]


def test_a_text_that_parses_worse_is_refused_with_count_and_place(checked):
    (finding,) = checked(TWO, TWO.replace("return 2", "return ("), "a.py")
    assert finding["line"] == 9 and "(1 syntax error, 0 before)" in finding["text"]
    broken = "def (:\n    x = 1\n"
    assert checked(broken, broken.replace("1", "2"), "a.py") == [], "it did not parse before"


def test_one_error_more_in_a_file_that_the_grammar_cannot_read_is_no_reason_to_refuse(checked):
    broken = "x = = 1\n" * 12
    assert kinds(checked(broken, broken + "y = = 2\n", "a.py")) == ["not-checked"]
    assert kinds(checked(broken, broken + "y = = 2\n" * 5, "a.py")) == ["syntax"]


@pytest.mark.parametrize("name", ["a.txt", "a.sql"])
def test_without_a_grammar_the_report_says_not_checked(checked, name):
    assert kinds(checked("a\n", "b\n", name)) == ["not-checked"]
    assert kinds(checked("a\n", "", name)) == ["empty", "not-checked"]


def test_lines_of_the_file_that_it_has_a_second_time_are_noted(checked):
    lines = [f"    a{number} = {number}\n" for number in range(10)]
    before = "def f():\n" + "".join(lines) + "    return a0\n"
    copy = "\n\ndef g():\n" + "".join(lines)
    (found,) = checked(before, before + copy, "a.py")
    assert (found["kind"], found["line"]) == ("copied-run", 16)
    assert checked(before, before + copy.replace("a5 =", "b5 ="), "a.py") == []


def test_the_text_of_a_string_is_code_and_not_a_comment(checked):
    before, after = 'print("no such thing: %s\\n" % a)\n', 'print("unknown: %s\\n" % a)\n'
    assert checked(before, after, "a.py", instruction="Shorten it") == []


def test_a_text_nested_too_deep_is_refused_and_a_long_one_is_not_looked_into(checked):
    (found,) = checked("x = 1\n", "x = " + "+".join("1" * 1_100) + "\n", "a.py")
    assert found["verdict"] == "refuse" and "nested more than 1,000 levels" in found["text"]
    long = "".join(f"x{number} = '{'a' * 100}'\n" for number in range(2_000))
    assert checked(long, long + "y = z\n", "a.py", instruction="Add y") == []


@pytest.mark.parametrize(
    "line", ['x, rest = x.partition(" ")', "x, y = y.f(x), x", "x, y = x.f(y).g(x)"]
)
def test_a_name_that_is_unpacked_from_a_call_of_itself_is_checked(checked, line):
    after = "def f(x, y):\n" + f"    {line}\n" * 9 + "    return x.g(y)\n"
    assert checked("def f(x, y):\n    return 1\n", after, "a.py") == []


@pytest.mark.parametrize(
    "use", ["use log::{self, info};", "use log::{self};\nuse a::{self as log};"]
)
def test_a_module_that_is_imported_with_its_names_is_checked(checked, use):
    after = f"{use}\n\nfn f() {{\n    log::max_level();\n}}\n"
    assert checked("fn f() {}\n", after, "a.rs") == []


def test_many_members_lost_are_a_loss(checked):
    members = [f"    def m{number}(self):\n        pass\n" for number in range(6)]
    before, after = (f"class A:\n{''.join(some)}" for some in (members, members[:1]))
    assert kinds(checked(before, after, "a.py")) == ["lost-definition"]


SHOWN = "def price(item):\n    return item.price\n\n\ndef tax(item):\n    return price(item) / 5\n"


@pytest.mark.parametrize("copied", [SHOWN, SHOWN[: SHOWN.index("    return price")]])
def test_a_file_that_is_only_shown_is_not_copied(checked, tmp_path, copied):
    (tmp_path / "shop.py").write_text(SHOWN)
    beside = ("--with", "shop.py")
    assert "copied" in kinds(checked(TWO, TWO + copied, "a.py", *beside))
    known = TWO + "\n\ndef price(item):\n    return item.price\n"
    assert checked(known, known.replace("return 2", "return 3"), "a.py", *beside) == []


EXAMPLE = """\
def fetch(url, timeout=10):
    \"""Return the body of a page.\"""
    for attempt in range(3):
        try:
            return download(url, timeout)
        except OSError as error:
            logger.warning("cannot fetch %s: %s", url, error)
            time.sleep(attempt)  # be polite
    return None
"""


def test_a_worked_example_of_the_prompt_is_no_answer(checked):
    assert kinds(checked("a\nb\n", EXAMPLE, "a.txt")) == ["not-checked", "copied"]
    nested = TWO + "\n\nclass A:\n" + indent(EXAMPLE, "    ")
    assert "copied" in kinds(checked(TWO, nested, "a.py"))
    assert "copied" not in kinds(checked(nested, nested.replace("return 2", "return 3"), "a.py"))


def test_lines_of_a_text_without_a_grammar_do_not_disappear(checked):
    lines = [f"Sentence {number}.\n" for number in range(20)]
    before, after = "".join(lines), "".join(lines[:4] + lines[10:])
    assert kinds(checked(before, after, "a.md")) == ["not-checked", "lost-lines"]
    assert kinds(checked(before, after, "a.md", "--allow", "removal")) == ["not-checked"]
    assert kinds(checked(before, after, "a.md", instruction="Remove six")) == ["not-checked"]
    assert kinds(checked(before, before.replace("7", "8"), "a.md")) == ["not-checked"]


@rows("line")
def test_placeholders_of_any_syntax_are_refused(checked, line):
    text = f"a\n{line}\n"
    assert kinds(checked("a\nb\n", text, "a.txt")) == ["placeholder", "not-checked"]
    assert kinds(checked(text, text.replace("a\n", "c\n", 1), "a.txt")) == ["not-checked"]
    assert "placeholder" in kinds(checked(text, text * 2, "a.txt")), "a second one"


def test_half_a_character_is_refused_where_nothing_had_one(checked):
    assert kinds(checked("a\nb\n", "a\n\ufffd\n", "a.txt")) == ["placeholder", "not-checked"]
    assert kinds(checked("\ufffd\nb\n", "\ufffd\nc\ufffd\n", "a.txt")) == ["not-checked"]
    assert kinds(checked("a\nb\n", "a\n\0\n", "a.txt")) == ["placeholder", "not-checked"]
    asked = {"instruction": "Let b be \ufffd"}
    assert kinds(checked("a\nb\n", "a\n\ufffd\n", "a.txt", **asked)) == ["not-checked"]


@rows("line")
def test_honest_lines_are_no_placeholders(checked, line):
    assert kinds(checked("a\nb\n", f"a\n{line}\n", "a.txt")) == ["not-checked"]
