"""`specedit repeat`: from an example to its places, through the command line."""

from pathlib import Path

import pytest
from case_files import cases
from command_line import Done, at_a_terminal, in_this_process
from git_repository import Repository

from specedit.repeat.example import ExampleFile, changes_of
from specedit.repeat.generalizing import rules_of
from specedit.repeat.rewriting import Rewritten, applied, rewritten
from specedit.repeat.rule import RepeatRule
from specedit.repeat.saved import rule_from_text
from specedit.syntax.languages import BY_NAME, language_of

TESTS = """\
import unittest


class TestCart(unittest.TestCase):
    def test_first(self):
        self.assertTrue("a" in names)
        self.assertTrue(
            names[0] in self.cart,  # the first
        )
        self.assertTrue(not names)
"""


def rules(name: str, before: str, after: str) -> list[RepeatRule]:
    language = language_of(name)
    assert language is not None
    return rules_of(changes_of(ExampleFile(name, before, after, language)))[0]


def repeated(name: str, before: str, after: str, text: str, path: str = "") -> Rewritten:
    (rule,) = rules(name, before, after)
    return rewritten(rule, text, path or name)


@cases("repeat/repeat.toml", "places")
def test_places_are_rewritten_and_others_stay(name, before, after, text, wanted):
    assert applied(text, repeated(name, before, after, text).places) == wanted


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("def f(x):\n    x.close()\n", "def f(x):\n    x.stop()\n", "only `close`"),
        ("def f(x):\n    y = 1\n", "def f(x):\n    y = 2\n", "tells its places"),
    ],
    ids=["member", "literal"],
)
def test_a_rule_that_is_too_general_says_why(before, after, why):
    for rule in rules("a.py", before, after):
        assert why in rule.too_general


def test_places_of_an_example_are_proposals_of_several_kinds():
    text = "def {0}(x):\n    {1}.get_elements(1)\n"
    pairs = ("f", "x"), ("g", "x"), ("h", "y"), ("i", "x.y")
    before = "".join(text.format(*pair) for pair in pairs)
    (rule,) = rules("a.py", before, before.replace("get_elements", "items", 1))
    kinds = [
        [place.kind for place in rewritten(rule, before, name).places] for name in ("a.py", "b.py")
    ]
    forms = ("the example's text", "the example's text", "text of its form", "text of another form")
    assert kinds == [
        [f"{form} in {where}" for form in forms] for where in ("its file", "another file")
    ]
    pattern = rule_from_text("$A.get_elements($B)", "$A.items($B)", BY_NAME["python"])
    assert {place.kind for place in rewritten(pattern, before).places} == {""}


@cases("repeat/repeat.toml", "left")
def test_what_is_left_has_a_reason(before, after, text, why):
    result = repeated("a.py", before, after, text)
    assert not result.places and why in result.skipped[0][1]


def test_a_place_inside_another_is_rewritten_too():
    result = repeated(
        "a.js", "f(() => {a();});", "f(function() {a();});", "g(() => {h(() => {});});"
    )
    assert applied("g(() => {h(() => {});});", result.places) == (
        "g(function() {h(function() {});});"
    )


def test_a_place_that_would_not_parse_does_not_stop_the_others():
    before = "class A { void f() { g(c.metricName); } }"
    text = "class B { String metricName; void f() { c.metricName = 1; g(c.metricName); } }"
    result = repeated("A.java", before, before.replace("metricName", "getMetricName()"), text)
    assert "g(c.getMetricName())" in applied(text, result.places)
    assert "would not parse" in result.skipped[0][1]


def test_this_is_not_taken_into_an_arrow_function():
    text = "before(function () { go(); });\nbefore(function () { stop(); });\n"
    after = text.replace("function () { go", "() => { go")
    text = text.replace("stop()", "this.stop()")
    after = after.replace("stop()", "this.stop()")
    result = repeated("a.js", text, after, after)
    assert not result.places and "`this`" in result.skipped[0][1]


@pytest.mark.parametrize("between", ["#" * 60, "/" * 60, "/* x */" * 30])
def test_long_comments_are_searched_in_linear_time(between):
    (rule,) = rules("a.py", "import old\nold.call(1)\n", "import old\nown_call(1)\n")
    assert not rule.may_stand_in(f"old {between}\n x.call")


def test_two_examples_of_one_shape_are_one_rule():
    text = "class {0}:\n    def f(self):\n        super({0}, self).f()\n"
    before, after = text.format("A") + text.format("B"), text.format("A") + text.format("B")
    (rule,) = rules("a.py", before, after.replace("(A, self)", "()").replace("(B, self)", "()"))
    assert len(rule.examples) == 2
    places = rewritten(rule, text.format("C"), "b.py").places
    wanted = text.format("C").replace("super(C, self)", "super()")
    assert applied(text.format("C"), places) == wanted


def test_the_hole_of_a_list_of_arguments_is_shown_as_a_pattern():
    text = "def f(x):\n    x = native_string(x, 1)\n"
    (rule,) = rules("a.py", text, text.replace("native_string", "to.native_string"))
    assert rule.shown() == ("native_string($$$A)", "to.native_string($$$A)")
    language = BY_NAME["python"]
    assert rule_from_text(*rule.shown(), language).shown() == rule.shown()


@cases("repeat/repeat.toml", "patterns")
def test_patterns(language, before, after, text, wanted):
    rule = rule_from_text(before, after, BY_NAME[language])
    result = applied(text, rewritten(rule, text).places)
    if wanted is None:
        assert result == "class A { int a = 3; }"
    elif ", 1)\n" in wanted:
        assert "new(a, b, 1)" in result
    else:
        assert result == wanted


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository.init(tmp_path / "work")
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SPECEDIT_HOME", str(tmp_path / "store"))
    made.commit({"test_cart.py": TESTS, "test_shop.py": TESTS, "vendor/test_x.py": TESTS})
    monkeypatch.chdir(made.root)
    return made


def changed(shop: Repository, old: str = '"a" in names', new: str = '"a", names') -> str:
    text = TESTS.replace(f"assertTrue({old})", f"assertIn({new})")
    shop.write("test_cart.py", text)
    return text


def run(*words: str, stdin: bytes = b"") -> Done:
    return in_this_process("repeat", *words, stdin=stdin)


REPEATED = TESTS.replace('assertTrue("a" in names)', 'assertIn("a", names)').replace(
    "assertTrue(\n            names[0] in self.cart,", "assertIn(\n            names[0], self.cart,"
)


def test_the_uncommitted_change_is_repeated_and_undone(shop):
    own = changed(shop)
    done = run("--yes")
    assert done.returncode == 0, done.stderr
    assert b"self.assertTrue($A in $B) -> self.assertIn($A, $B)" in done.stderr
    assert shop.read("test_cart.py") == shop.read("test_shop.py") == REPEATED
    assert shop.read("vendor/test_x.py") == TESTS and b"vendored" in done.stderr
    assert run().returncode == 0 and shop.read("test_shop.py") == REPEATED
    assert in_this_process("undo").returncode == 0
    assert shop.read("test_cart.py") == own and shop.read("test_shop.py") == TESTS


@pytest.mark.parametrize("twice", [False, True], ids=["one", "two"])
def test_an_example_writes_nothing_unasked(shop, twice):
    own = changed(shop)
    if twice:
        own = own.replace("True(\n            names[0] in", "In(\n            names[0],")
        shop.write("test_cart.py", own)
    done = run()
    assert done.returncode == 2
    for kind in (b"the example's text", b"text of another form"):
        assert b"1 place in 1 file: " + kind + b" in another file: test_shop.py (1)" in done.stderr
    assert b"nothing was written: " in done.stderr and b"--yes writes them, --ask" in done.stderr
    assert run("--json").returncode == 2
    assert (shop.read("test_cart.py"), shop.read("test_shop.py")) == (own, TESTS)


@pytest.mark.parametrize(
    "typed, code, text", [(b"y\n", 0, REPEATED), (b"\n", 2, TESTS), (b"t\n", 2, TESTS)]
)
def test_at_a_terminal_nothing_is_written_unasked(shop, typed, code, text):
    changed(shop)
    words = ("--example", "assertTrue($A in $B)", "assertIn($A, $B)", "test_shop.py")
    result, shown = at_a_terminal(typed, "repeat", *words)
    assert (result, shop.read("test_shop.py")) == (code, text)
    assert "Repeat it at 2 places?" in shown


@pytest.mark.parametrize(
    ("typed", "code", "written"),
    [
        (b"\ny\ny\ny\n", 0, "bcde"),
        (b"y\ny\ny\nn\n", 0, "be"),
        (b"y\ny\nn\n", 0, "b"),
        (b"\nn\n", 2, ""),
        (b"a\n", 0, "bcde"),
        (b"e\nn\ny\nn\nn\n", 0, "c"),
        (b"n\n", 2, ""),
        (b"q\n", 2, ""),
    ],
    ids=["three", "two", "first", "neither", "all", "each", "none", "other"],
)
def test_at_a_terminal_three_places_of_a_kind_decide(shop, typed, code, written):
    text = "def f(x):\n    x.get_elements(1)\n"
    new = text.replace("get_elements", "items")
    shop.commit({f"{name}.py": text for name in "abcde"})
    shop.write("a.py", new)
    result, shown = at_a_terminal(typed, "repeat")
    assert result == code and "Three places of each kind decide [Y]" in shown
    if typed[:1] in b"\ny":
        assert "-     x.get_elements(1)\r\n" in shown and "+     x.items(1)\r\n" in shown
        assert shown.count("Is it meant?") == typed.count(b"\n") - 1
    for name in "bcde":
        assert shop.read(f"{name}.py") == (new if name in written else text)


def test_a_file_that_is_another_is_no_example(shop):
    shop.write("test_cart.py", "".join(f"value_{number} = {number}\n" for number in range(20)))
    done = run()
    assert done.returncode == 2 and b"test_cart.py: nearly every line is another" in done.stderr


def test_a_rule_that_fits_what_it_writes_is_applied_once(shop):
    shop.commit({"a.py": "x = len(y)\n"})
    words = ("--example", "len($A)", "len(list($A))", "a.py")
    done = run(*words)
    assert b"fits the rule again" in done.stderr and shop.read("a.py") == "x = len(list(y))\n"
    assert run(*words).returncode == 0 and shop.read("a.py") == "x = len(list(y))\n"


def test_a_rule_that_is_only_proposed_is_not_looked_for_everywhere(shop):
    text = "def f(x):\n    x.close()\n"
    shop.commit({f"{name}.py": text * 400 for name in "abcd"})
    shop.write("a.py", text.replace("close", "stop") + text * 399)
    shown = run("--check").stderr
    assert b"d.py: not searched, since 500 places may be meant" in shown
    assert run("--yes").returncode == 0 and "close" not in shop.read("d.py")


def test_check_and_diff_write_nothing(shop):
    own = changed(shop)
    assert run("--check").returncode == 1
    done = run("--diff")
    assert done.returncode == 0 and b"+        self.assertIn(" in done.stdout
    assert shop.read("test_cart.py") == own and shop.read("test_shop.py") == TESTS


def test_the_last_commit_is_repeated_in_a_folder(shop):
    changed(shop)
    shop.git("commit", "-qam", "in")
    shop.commit({"more/test_b.py": TESTS})
    done = run("HEAD~1", "more", "--yes")
    assert done.returncode == 0, done.stderr
    assert shop.read("more/test_b.py") == REPEATED and shop.read("test_shop.py") == TESTS


def test_patterns_on_the_command_line(shop):
    done = run("--example", "assertTrue($A in $B)", "assertIn($A, $B)", "test_shop.py")
    assert done.returncode == 0 and shop.read("test_shop.py") == REPEATED


def test_several_changes_are_listed_and_one_is_chosen(shop):
    own = changed(shop).replace("assertTrue(not names)", "assertFalse(names)")
    shop.write("test_cart.py", own)
    done = run()
    assert done.returncode == 2 and b"1  self.assertTrue($A in $B)" in done.stderr
    assert shop.read("test_shop.py") == TESTS
    assert run("--hunk", "2", "--yes").returncode == 0
    assert shop.read("test_shop.py") == TESTS.replace("assertTrue(not names)", "assertFalse(names)")
    assert run("--hunk", "7").returncode == 2


def test_ask_asks_about_each_place(shop):
    changed(shop)
    done = run("--ask", stdin=b"n\nn\nn\nn\n")
    assert done.returncode == 0 and shop.read("test_shop.py") == TESTS


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), b"no uncommitted change"),
        (("nowhere",), b"neither a file, nor a saved rule, nor a commit"),
        (("HEAD",), b"has no parent"),
        (("--example", "test_cart.py", "test_shop.py"), b"the same"),
        (("--example", "f($A", "g($A)"), b"does not parse"),
        (("--example", "f($A)", "g($B)"), b"$B stands only"),
        (("--example", "$A", "g($A)"), b"fits everything"),
        (("--example", "f($A)", "f($A)"), b"the same"),
        (("--example", "f($$$A, $$$B)", "f($$$B)"), b"two holes of any length"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_not_an_example_says_why(shop, words, why):
    done = run(*words)
    assert done.returncode == 2 and why in done.stderr, done.stderr
    assert not shop.status()


def test_an_example_of_white_space_says_so(shop):
    shop.write("test_cart.py", TESTS.replace("(not names)", "( not names )"))
    done = run()
    assert done.returncode == 2 and b"white space" in done.stderr


def test_an_example_that_does_not_parse_says_so(shop):
    shop.write("test_cart.py", TESTS.replace('assertTrue("a" in names)', 'assertIn("a", names'))
    done = run()
    assert done.returncode == 2 and b"does not parse" in done.stderr


def test_line_ends_and_tabs_of_a_place_are_kept(shop):
    text = TESTS.replace("\n", "\r\n").replace("        ", "\t\t")
    shop.commit({"test_shop.py": text})
    changed(shop)
    assert run("--yes").returncode == 0
    expected = REPEATED.replace("\n", "\r\n").replace("        ", "\t\t")
    assert shop.read("test_shop.py") == expected


def test_a_place_that_fits_what_is_written_is_changed_once(shop):
    shop.commit({"a.py": "check_pair(a, b)\ncheck_pair(1, 2)\n"})
    shop.write("a.py", "check_pair(b, a)\ncheck_pair(1, 2)\n")
    assert run("--ask", stdin=b"y\n").returncode == 0
    assert shop.read("a.py") == "check_pair(b, a)\ncheck_pair(2, 1)\n"


def test_near_places_are_proposed(shop):
    text = "cache = make_cache(LruCache, {0})\n"
    shop.commit({"a.py": text.format("16, hasher=s"), "b.py": text.format("2") + "x = 1\n"})
    shop.write("a.py", text.format("Size(16), hasher=s"))
    assert run().returncode == 2 or b"b.py" not in run().stderr
    done = run("--near")
    assert done.returncode == 2 and b"like the example: b.py (1)" in done.stderr, done.stderr
    assert shop.read("b.py") == text.format("2") + "x = 1\n"
    assert run("--near", "--yes").returncode == 0
    assert shop.read("b.py") == text.format("Size(2)") + "x = 1\n"
    assert run("--near", "--example", "f($A)", "g($A)").returncode == 2


def test_a_rule_is_saved_and_used_by_name_and_by_the_hook(shop):
    changed(shop)
    done = run("--save", "in-to-assertIn")
    assert done.returncode == 0 and shop.read("test_shop.py") == TESTS, done.stderr
    assert 'before = "self.assertTrue($A in $B)"' in shop.read("pyproject.toml")
    assert run("--save", "in-to-assertIn").returncode == 2
    shop.git("checkout", "-q", "test_cart.py")
    assert run("in-to-assertIn", "--check").returncode == 1
    rules = shop.read("pyproject.toml")
    shop.stage({"pyproject.toml": rules + '\n[[tool.specedit.hook]]\nrepeat = "in-to-assertIn"\n'})
    shop.write("test_shop.py", TESTS + "x = 1\n")
    shop.git("add", "test_shop.py")
    done = in_this_process("hook", "run")
    assert done.returncode == 1 and b"repeat in-to-assertIn" in done.stderr, done.stderr
    assert shop.read("test_shop.py") == REPEATED + "x = 1\n"
    shop.git("add", "-A")
    assert in_this_process("hook", "run").returncode == 0
    assert run("in-to-assertIn").returncode == 0
    assert shop.read("test_cart.py") == REPEATED


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('before = "f($A"\nafter = "g($A)"\nlanguage = "python"', b"does not parse"),
        ('before = "f($A)"\nafter = "g($A)"', b"language must be"),
        ('before = "f($A)"\nafter = "g($A)"\nlanguage = "python"\nrun = "x"', b"no key 'run'"),
        ('before = 3\nafter = "g($A)"\nlanguage = "python"', b"before must be a text"),
        ('before = "f($A)"\nafter = "g($A)"\nlanguage = "klingon"', b"language must be one"),
    ],
)
def test_a_wrong_rule_says_what_is_wrong(shop, table, why):
    shop.write("pyproject.toml", f"[tool.specedit.repeat.mine]\n{table}\n")
    done = run("mine")
    assert done.returncode == 2 and why in done.stderr, done.stderr


def test_imports_follow(shop):
    old = "import socket\n\n\ndef f():\n    raise socket.error(1)\n"
    shop.commit({"a.py": old, "b.py": old})
    shop.write("a.py", "def f():\n    raise OSError(1)\n")
    done = run("--yes")
    assert done.returncode == 0, done.stderr
    assert shop.read("b.py").strip() == "def f():\n    raise OSError(1)"


def test_a_name_that_nothing_defines_is_searched_for_once(shop):
    old = "def {0}():\n    return old_call(1)\n"
    shop.commit({f"{name}.py": old.format(name) for name in "abc"})
    done = run("--example", "old_call($A)", "NewThing($A)")
    assert b"a.py, b.py, c.py: not changed" in done.stderr, done.stderr
    assert not shop.status()


def test_a_file_with_thousands_of_places_is_left_by_name(shop):
    shop.write("many.py", "f(old)\n" * 3000)
    shop.write("few.py", "f(old)\n")
    done = run("--example", "f(old)", "f(1)", "--diff")
    message = done.stderr.decode()
    assert done.returncode == 0 and "left: many.py: more than 2,000 places fit" in message
    assert b"few.py" in done.stdout and b"many.py" not in done.stdout
