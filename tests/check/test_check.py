"""The checks whose verdict the user chooses: what they find, by kind and language, and what not."""

from pathlib import PurePath

import pytest
from case_files import read_file
from hypothesis import given
from hypothesis import strategies as st

from specedit.check.answer import MAX_PARSED_CHARACTERS, check_answer
from specedit.check.finding import DEFAULT, NOTE, REFUSE, Checks, verdicts
from specedit.errors import TooComplex
from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME, LANGUAGES

CASES = read_file("check/check.toml")
TEXTS, TABLE = CASES["texts"], CASES["table"]["rows"]


@pytest.mark.parametrize(
    ("kind", "language", "old", "new", "instruction"),
    TABLE,
    ids=[f"{row[0] or 'fine'}-{row[1]}-{at}" for at, row in enumerate(TABLE)],
)
def test_each_kind_is_found_where_it_is_and_nowhere_else(kind, language, old, new, instruction):
    before = TEXTS[language]
    assert old in before
    after = before.replace(old, new)
    assert not trees.errors(after, BY_NAME[language]), "a case parses"
    found = check_answer(before, after, BY_NAME[language], instruction)
    assert {one.kind for one in found} == ({kind} if kind else set()), found
    lines = after.split("\n")
    assert all(one.line and 1 <= one.line <= len(lines) for one in found)
    assert all(one.refuses == (DEFAULT.get(one.kind, REFUSE) == REFUSE) for one in found)


@pytest.mark.parametrize("language", TEXTS)
def test_a_new_text_without_faults_has_no_finding(language):
    assert check_answer("", TEXTS[language], BY_NAME[language]) == []


def test_a_go_name_is_undefined_where_no_file_of_its_folder_has_it(tmp_path):
    before, own = TEXTS["go"], tmp_path / "shop.go"
    own.write_text(before)
    after = before.replace("return sum * rate", "return sum * factor")

    def found(instruction: str = "") -> list[str]:
        place = tmp_path, PurePath(own.name)
        results = check_answer(before, after, BY_NAME["go"], instruction, None, lambda: place)
        return [one.kind for one in results]

    assert found() == ["undefined"]
    assert found("Multiply it by factor") == []
    (tmp_path / "rates.go").write_text("package shop\n\nvar factor = 2\n")
    assert found() == []


def test_lines_of_the_file_that_it_has_a_second_time_are_noted():
    lines = [f"    a{number} = {number}\n" for number in range(10)]
    before = "def f():\n" + "".join(lines) + "    return a0\n"
    copy = "\n\ndef g():\n" + "".join(lines)
    (found,) = check_answer(before, before + copy, BY_NAME["python"])
    assert (found.kind, found.refuses, found.line) == ("copied-run", False, 16)
    assert check_answer(before, before + copy.replace("a5 =", "b5 ="), BY_NAME["python"]) == []
    twice = before + copy
    assert check_answer(twice, twice + "\n\nx = 1\n", BY_NAME["python"]) == []


def test_a_word_inside_of_another_asks_for_no_other_name():
    before, after = "def total(a):\n    return a\n", "def sums(a):\n    return a + 1\n"
    found = check_answer(before, after, BY_NAME["python"], "Return what it has to")
    assert [one.kind for one in found] == ["renamed"]


def test_the_text_of_a_string_is_code_and_not_a_comment():
    before, after = 'print("no such thing: %s\\n" % a)\n', 'print("unknown: %s\\n" % a)\n'
    assert check_answer(before, after, BY_NAME["python"], "Shorten it") == []


def test_strict_refuses_notes_and_what_is_allowed_is_noted():
    assert verdicts()["undefined"] == REFUSE
    strict = verdicts(strict=True, allowed=["renamed"])
    assert (strict["whitespace"], strict["renamed"], strict["nothing"]) == (REFUSE, NOTE, NOTE)
    before = TEXTS["python"]
    after = before.replace("sum(cart)", "sum(cart) - discount")
    checks = Checks(verdicts=verdicts(allowed=["undefined"]))
    (note,) = check_answer(before, after, BY_NAME["python"], "", checks)
    assert (note.kind, note.verdict, note.warns) == ("undefined", "note", True)


def test_an_answer_that_changes_nothing_is_noted():
    (found,) = check_answer("x\n", "x\n", None)
    assert (found.kind, found.refuses) == ("nothing", False)


def test_a_text_nested_too_deep_is_refused_and_a_long_one_is_not_looked_into():
    deep, plain = "x = " + "+".join("1" * 2_000) + "\n", "x = 1\n"
    with pytest.raises(TooComplex, match="nested more than 1,000 levels deep"):
        check_answer(deep, deep + "y = 2\n", BY_NAME["python"], "Say it once more")
    [found] = check_answer(plain, deep, BY_NAME["python"], "Say it once more")
    assert found.refuses and "nested more than 1,000 levels deep" in found.text
    long = f"x = '{'a' * MAX_PARSED_CHARACTERS}'\n"
    assert check_answer(long, long + "y = z\n", BY_NAME["python"], "Say it once more") == []


@given(text=st.text(), language=st.sampled_from(LANGUAGES))
def test_an_edit_that_changes_nothing_is_never_refused(text, language):
    found = check_answer(text, text, language)  # type: ignore[arg-type]
    assert [one.kind for one in found] == ["nothing"] and not found[0].refuses


@pytest.mark.parametrize(
    "line", ['x, rest = x.partition(" ")', "x, y = y.f(x), x", "x, y = x.f(y).g(x)"]
)
def test_a_name_that_is_unpacked_from_a_call_of_itself_is_checked(line):
    after = "def f(x, y):\n" + f"    {line}\n" * 9 + "    return x.g(y)\n"
    before = "def f(x, y):\n    return 1\n"
    assert not check_answer(before, after, BY_NAME["python"])


@pytest.mark.parametrize(
    "use", ["use log::{self, info};", "use log::{self};\nuse a::{self as log};"]
)
def test_a_module_that_is_imported_with_its_names_is_checked(use):
    after = f"{use}\n\nfn f() {{\n    log::max_level();\n}}\n"
    assert not check_answer("", after, BY_NAME["rust"])
