"""What a rule is, and which files it is for."""

import math
import subprocess
from pathlib import Path

import pytest
from effort import examples
from git_repository import environment
from hypothesis import given
from hypothesis import strategies as st

from specedit.errors import UsageError
from specedit.integrations.hook.hook_rules import CHECK, DEFAULT_SECONDS, FIX, Rule, Step, rules

FILES = ["a.py", "src/a.py", "src/a.cs", "src/deep/er/b.cs", "b c.py", "é/文.py", "src/.hid.cs"]


@pytest.mark.parametrize(
    ("globs", "chosen"),
    [
        ([], FILES),
        (["**"], FILES),
        (["*.py"], ["a.py", "src/a.py", "b c.py", "é/文.py"]),
        (["/*.py"], ["a.py", "b c.py"]),
        (["./src/*.cs"], ["src/a.cs", "src/.hid.cs"]),
        (["src/**/*.cs"], ["src/a.cs", "src/deep/er/b.cs", "src/.hid.cs"]),
        (["src/"], ["src/a.py", "src/a.cs", "src/deep/er/b.cs", "src/.hid.cs"]),
        (["**/er/*"], ["src/deep/er/b.cs"]),
        (["[ab].py", "?/文.py"], ["a.py", "src/a.py", "é/文.py"]),
        (["a.p[!x]"], ["a.py", "src/a.py"]),
        (["src"], ["src/a.py", "src/a.cs", "src/deep/er/b.cs", "src/.hid.cs"]),
        (["src/**", "!*.cs"], ["src/a.py"]),
        (["src/deep", "!b.cs", "/a.py"], ["a.py"]),
        (["a+.py", "(a).py", "a|b"], []),
    ],
    ids=lambda value: " ".join(value) if value is not FILES else "all",
)
def test_globs(globs, chosen):
    assert wanted(globs, FILES) == chosen


@pytest.mark.parametrize("glob", ["*a" * 40 + "b", "**/x*/" * 40 + "y", "**/" * 40 + "z"])
def test_a_glob_that_could_take_for_ever_is_refused(glob):
    with pytest.raises(UsageError, match="at most 2"):
        wanted([glob], [])


@pytest.mark.parametrize("glob", ["src/[z-a].py", "#a", "!", "/", "a\\", "a[", "[[:alpha:]]", " "])
def test_what_is_not_a_glob_is_refused(glob):
    with pytest.raises(UsageError, match="is not a glob"):
        wanted([glob], [])


def wanted(globs: list[str], names: list[str]) -> list[str]:
    """The files that a rule for these globs is for."""
    (rule,) = rules([{"instruction": "x", "files": globs}])
    return [name for name in names if rule.wants(name)]


PARTS = st.text("ab.*?", min_size=1, max_size=4).filter(
    lambda part: "**" not in part and part.count("*") < 3 and part.strip(".")
)
GLOBS = (
    st.lists(st.one_of(PARTS, st.just("**")), min_size=1, max_size=4)
    .filter(lambda parts: parts.count("**") < 3)
    .map("/".join)
)
TREE = [f"{x}/{y}/{z}" for x in ("a", "b.") for y in ("a", "bb") for z in ("a", "b.a", ".a", "ab")]
TREE += [f"{x}b/{y}" for x in ("a", "b") for y in ("a", "aa.b", "b")] + ["a.a", "ba", "c"]
_made: list[Path] = []


@examples(60)
@given(GLOBS)
def test_a_glob_means_what_it_means_in_a_gitignore(tmp_path_factory, glob):
    words = ["git", "ls-files", "-z", "--others", "--ignored", f"--exclude={glob}"]
    root = _tree(tmp_path_factory)
    done = subprocess.run(words, cwd=root, env=environment(), capture_output=True, check=True)
    assert set(wanted([glob], TREE)) == {*filter(None, done.stdout.decode().split("\0"))}


def _tree(factory: pytest.TempPathFactory) -> Path:
    if not _made:
        root = factory.mktemp("tree")
        subprocess.run(["git", "init", "-q"], cwd=root, env=environment(), check=True)
        for name in TREE:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("")
        _made.append(root)
    return _made[0]


def test_a_rule_says_what_is_asked_of_which_files():
    result = rules(
        [
            {"rename": {"Username": "Email", "user": "account"}, "files": ["src/**/*.cs"]},
            {"instruction": "Sort imports.", "files": "*.py", "exclude": ["gen/"], "mode": "check"},
            {"instruction": "x", "max_seconds": 3},
        ]
    )
    assert result == [
        Rule(
            (Step(old="Username", new="Email"), Step(old="user", new="account")), ("src/**/*.cs",)
        ),
        Rule((Step("Sort imports."),), ("*.py",), ("gen/",), DEFAULT_SECONDS, CHECK),
        Rule((Step("x"),), ("**",), (), 3.0, FIX),
    ]
    assert result[1].wants("lib/a.py") and not result[1].wants("gen/deep/a.py")


@pytest.mark.parametrize(
    ("table", "output"),
    [
        ({}, "must have one of"),
        ({"rename": {"a": "b"}, "instruction": "x"}, "must have one of"),
        ({"instruction": "x", "requires": "docstrings"}, "no key 'requires'"),
        ({"instruction": " "}, "says what to do"),
        ({"instruction": ["x"]}, "says what to do"),
        ({"rename": {}}, "must be a table of names"),
        ({"rename": "a"}, "must be a table of names"),
        ({"rename": {"a": ""}}, "must be a table of names"),
        ({"rename": {"a": 1}}, "must be a table of names"),
        ({"instruction": "x", "mode": "fixx"}, "mode must be fix or check"),
        ({"instruction": "x", "max_seconds": 0}, "above 0"),
        ({"instruction": "x", "max_seconds": True}, "above 0"),
        ({"instruction": "x", "max_seconds": math.nan}, "above 0"),
        ({"instruction": "x", "max_seconds": math.inf}, "above 0"),
        ({"instruction": "x", "max_seconds": 1 << 5000}, "above 0"),
        ({"instruction": "x", "max_seconds": 1 << 50_000}, "above 0"),
        ({"rename": {"x": 1 << 50_000}}, "must be a table of names"),
        ({"instruction": "x", "files": [1]}, "must be a list of globs"),
        ({"instruction": "x", "file": ["a"]}, "no key 'file'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_rule_that_cannot_be_meant_is_named(table, output):
    with pytest.raises(UsageError, match=output) as caught:
        rules([{"instruction": "fine"}, table], "here.toml")
    assert "here.toml: [[tool.specedit.hook]] number 2" in caught.value.message
