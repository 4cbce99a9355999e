"""Where a name means what: one case per `===` of cases/*.txt, and what is said about it.

A case marks what must be renamed: «name». The line of the first mark is `--line`, unless it says.
"""

import re
import sys
from pathlib import Path

import pytest
from case_files import cases
from hypothesis import given
from hypothesis import strategies as st
from renaming import MARK
from renaming import rename_text as rename

from specedit.errors import UsageError
from specedit.syntax.languages import BY_NAME


def _cases() -> list[object]:
    found = []
    for path in sorted((Path(__file__).parent / "cases").glob("*.txt")):
        for part in re.split(r"^=== ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            head, text = part.split("\n", 1)
            name, filename, new, *line = [word.strip() for word in head.split("|")]
            at = int(line[0].removeprefix("line ")) if line else None
            found.append(pytest.param(filename, new, text, at, id=f"{path.stem}/{name}"))
    return found


@pytest.mark.parametrize(("filename", "new", "marked", "line"), _cases())
def test_only_what_the_line_means_is_renamed(filename, new, marked, line):
    first = MARK.search(marked)
    assert first is not None
    before = MARK.sub(r"\1", marked)
    line = line or marked.count("\n", 0, first.start()) + 1
    guess = rename(before, first[1], new, line=line, language=filename)
    assert guess.text == MARK.sub(lambda _: new, marked)
    assert not guess.collisions


USER = """\
class User:
    \"\"\"A user with a username and two usernames.\"\"\"

    def __init__(self, username):
        # the Username as typed
        self.username = username
        self._username = "username"

    def get_username(self):
        return self.username
"""


def test_each_scope_holds_the_one_before_it():
    code = rename(USER, "username", "email").text
    comments = rename(USER, "username", "email", "comments").text
    derived = rename(USER, "username", "email", "derived").text
    assert "self.email = email" in code
    assert "A user with a username" in code
    assert "A user with an email and two emails" in comments
    assert "the Email as typed" in comments
    assert "get_username" in comments
    assert '_username = "username"' in comments
    assert 'self._email = "email"' in derived
    assert "get_email" in derived
    assert "username" not in derived.lower()


@cases("rename/rename.toml", "comments")
def test_mentions_in_comments(comment, written):
    text = f"# {comment}\nusername = 1\n"
    expected = f"# {written or comment}\nemail = 1\n"
    assert rename(text, "username", "email", "comments").text == expected


@pytest.mark.parametrize(
    ("comment", "written"),
    [
        pytest.param("to a or b", None, id="prose"),
        pytest.param("see `to`", "see `target`", id="marked-as-code"),
        pytest.param("@param to where", "@param target where", id="parameter"),
    ],
)
def test_everyday_words_are_mentions_only_when_marked(comment, written):
    text = f"# {comment}\nto = 1\n"
    expected = f"# {written or comment}\ntarget = 1\n"
    assert rename(text, "to", "target", "comments").text == expected


def test_what_stands_outside_the_scope_is_counted_with_the_flag_that_takes_it_in():
    outside = [one.text for one in rename(USER, "username", "email").outside]
    assert "not renamed: get_username, 1 place; --scope derived" in outside
    assert "not renamed: username in comments, 1 place" in outside
    assert "not renamed: username in strings, 1 place; --scope derived" in outside


def test_more_than_one_thing_of_a_name_is_said():
    guess = rename("x = 1\ndef f():\n    x = 2\n    return x\n", "x", "y")
    assert guess.text == "y = 1\ndef f():\n    y = 2\n    return y\n"
    assert "means 2 things" in guess.notes[0].text


def test_a_member_is_selected_by_its_class():
    text = "class A:\n    def m(self): pass\nclass B:\n    def m(self): pass\nA().m(); B().m()\n"
    assert rename(text, "A.m", "n").text == (
        "class A:\n    def n(self): pass\nclass B:\n    def m(self): pass\nA().n(); B().m()\n"
    )


def test_a_use_that_another_class_may_have_stays_in_one_file():
    text = "class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\ng(x.f())\n"
    guess = rename(text, "A.f", "h", "comments")
    assert [place.line for place in guess.places] == [2]
    assert any("not known on line 5: not renamed" in note.text for note in guess.notes)


@cases("rename/rename.toml", "refused")
def test_what_cannot_be_renamed_is_an_error(old, new, line, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        rename("x = 1\ny = 2\n", old, new, "code", line)


@cases("rename/rename.toml", "taken")
def test_a_name_that_is_taken_is_a_collision_with_its_line(language, text, line):
    guess = rename(text, "x", "y", language=language)
    assert [one.line for one in guess.collisions] == [line]


def test_what_a_name_is_already_is_said_with_its_article():
    said = [str(one) for one in rename("import y\nx = 1\n", "x", "y").collisions]
    assert len(said) == 1 and "`y` is already an import there" in said[0]


@cases("rename/rename.toml", "captures")
def test_a_rename_that_would_capture_another_use_is_a_collision(language, text, line):
    guess = rename(text, "x", "y", language=language)
    assert [one.line for one in guess.collisions] == [line]


@cases("rename/rename.toml", "free")
def test_a_name_taken_elsewhere_is_none(language, text):
    assert not rename(text, "x", "y", language=language).collisions


@cases("rename/rename.toml", "brought")
def test_a_member_of_what_the_language_brings_keeps_its_name(language, marked):
    old = MARK.findall(marked)[0]
    guess = rename(MARK.sub(r"\1", marked), old, "fetch", language=language)
    assert guess.text == MARK.sub("fetch", marked)


@cases("rename/rename.toml", "foreign")
def test_a_member_of_another_module_keeps_its_name(language, marked):
    guess = rename(MARK.sub(r"\1", marked), "get", "fetch", language=language)
    assert guess.text == MARK.sub("fetch", marked)
    assert any("a member of" in str(one) and "--line" in str(one) for one in guess.outside)


def test_a_member_of_another_module_is_renamed_where_a_line_says_so():
    text = "import requests\ndef get(url):\n    return requests.get(url)\n"
    after = text.replace("requests.get", "requests.fetch")
    assert rename(text, "get", "fetch", line=3).text == after


def test_a_name_that_is_only_mentioned_is_renamed_where_it_is_and_this_is_said():
    guess = rename('f("old_name")\n', "old_name", "new_name")
    assert guess.text == 'f("new_name")\n'
    assert "not an identifier" in guess.notes[0].text


@cases("rename/rename.toml", "keywords")
def test_a_keyword_is_refused_as_a_new_name(language, text, words):
    for word in words.split():
        with pytest.raises(UsageError, match=f"`{word}` is a keyword of {language}"):
            rename(text, "x", word, language=language)


@cases("rename/rename.toml", "names")
def test_a_word_that_is_a_keyword_elsewhere_is_a_name(language, text, words):
    for word in words.split():
        assert word in rename(text, "x", word, language=language).text


def test_without_rules_whole_words_are_renamed_and_this_is_said():
    guess = rename("# port\nport: 1\nports: 2\n", "port", "gate", language="yaml")
    assert guess.text == "# port\ngate: 1\nports: 2\n"
    assert "scopes not checked" in guess.notes[0].text
    assert rename("a b", "a", "c", language=None).text == "c b"


def test_a_shorthand_is_spelled_out_when_half_of_it_is_renamed():
    text = "function f(p) {\n  return { p };\n}\nlet p = 1;\n"
    assert rename(text, "p", "q", line=1, language="typescript").text == (
        "function f(q) {\n  return { p: q };\n}\nlet p = 1;\n"
    )


@cases("rename/rename.toml", "receivers")
def test_rust_s_self_becomes_a_parameter_and_back(parameter, written):
    method = "impl A {{\n    fn f({}, n: i32) -> i32 {{ g({}.x); let self_x = 1; n }}\n}}\n"
    before, after = method.format(parameter, "self"), method.format(f"this: {written}", "this")
    there = rename(before, "self", "this", line=2, language="rust")
    assert there.text == after
    assert "calls" in there.notes[0].text
    assert rename(after, "this", "self", line=2, language="rust").text == before


def test_rust_s_self_becomes_no_keyword():
    with pytest.raises(UsageError, match="keyword"):
        rename("impl A { fn f(&self) {} }\n", "self", "Self", language="rust")


def test_rust_s_self_is_renamed_in_formats():
    text = 'impl A {\n    fn f(&self) { println!("{self:?} self {}", self.x); }\n}\n'
    assert rename(text, "self", "this", line=2, language="rust").text == (
        'impl A {\n    fn f(this: &Self) { println!("{this:?} self {}", this.x); }\n}\n'
    )


@pytest.mark.parametrize(
    "used",
    [
        pytest.param("", id="nowhere"),
        pytest.param("int h(int count) { return INC() + f(INC()); }\n", id="for-another"),
    ],
)
def test_a_macro_that_may_mean_another_thing_is_said(used):
    text = "int count;\n#define INC() (count++)\nint g(int count) { return count; }\n" + used
    more = "int f(int i) { return INC(); }\n" if used else ""
    guess = rename(text + more, "count", "total", line=1, language="c")
    assert "(total++)" in guess.text
    assert "line 2" in guess.notes[0].text


@pytest.mark.parametrize("scope", ["code", "comments", "derived"])
@cases("rename/rename.toml", "read_by_string")
def test_a_name_that_a_string_reads_is_code(language, text, scope):
    guess = rename(text, "x", "y", scope, text.count("\n"), language)
    assert "x" not in guess.text.split("\n")[-2]
    assert not guess.notes and not guess.collisions


def test_a_go_import_gets_an_alias():
    text = 'package a\n\nimport "fmt"\n\nfunc f() { fmt.Println() }\n'
    assert rename(text, "fmt", "out", language="go").text == (
        'package a\n\nimport out "fmt"\n\nfunc f() { out.Println() }\n'
    )


@given(st.text("xyz_ =\n()[]{}:.,;'\"#/*\\né𝒳", max_size=60), st.sampled_from(sorted(BY_NAME)))
def test_any_text_of_any_language_is_renamed_or_refused(text, language):
    try:
        guess = rename(text, "x", "w", "derived", language=language)
    except UsageError:
        return
    rebuilt, at = [], 0
    for place in guess.places:
        assert text[place.offset : place.offset + len(place.replaced)] == place.replaced
        rebuilt += [text[at : place.offset], place.replacement]
        at = place.offset + len(place.replaced)
    assert "".join([*rebuilt, text[at:]]) == guess.text


def test_the_work_grows_with_the_uses_and_not_with_their_square():
    def steps(uses: int) -> int:
        count = 0

        def trace(*_: object) -> object:
            nonlocal count
            count += 1
            return trace

        sys.settrace(trace)
        try:
            rename("total = 1\n" * uses, "total", "count")
        finally:
            sys.settrace(None)
        return count

    steps(1)
    assert steps(600) < 2.2 * steps(300)
