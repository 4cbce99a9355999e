"""What a rule is, and which files it is for."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from effort import examples
from git_repository import environment
from hook_repository import Hooked
from hypothesis import given
from hypothesis import strategies as st

FILES = ["a.py", "src/a.py", "src/a.cs", "src/deep/er/b.cs", "b c.py", "é/文.py", "src/.hid.cs"]
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


def staged(root: Path, names: list[str]) -> Hooked:
    """A repository in which every file breaks a rule of names."""
    hooked = Hooked.make(root, "")
    hooked.repo.stage(dict.fromkeys(names, "Old = 1\n") | {".gitignore": "pyproject.toml\n"})
    return hooked


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Hooked:
    return staged(tmp_path_factory.mktemp("files") / "repo", FILES)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Hooked:
    return staged(tmp_path_factory.mktemp("tree") / "repo", TREE)


def run(hooked: Hooked, keys: str) -> tuple[int, str, str]:
    """`hook run` with one rule of these keys."""
    hooked.repo.write("pyproject.toml", f"[[tool.specedit.hook]]\n{keys}\n")
    return hooked.specedit("hook", "run")


def wanted(hooked: Hooked, globs: list[str], more: str = "") -> list[str]:
    """The files that a rule for these globs would change."""
    keys = f'rename = {{Old = "New"}}\nmode = "check"\nfiles = {json.dumps(globs)}\n{more}'
    code, _, text = run(hooked, keys)
    line = r"(?m)^specedit: (.+): “rename Old to New”: \+1 -1 \(check: not written\)"
    names = re.findall(line, text)
    assert code == bool(names), text
    return names


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
def test_globs(files, globs, chosen):
    assert {*wanted(files, globs)} == {*chosen}


def test_what_is_excluded_is_not_wanted(files):
    excluded = 'exclude = ["src/deep/", "*.py"]'
    assert {*wanted(files, ["**"], excluded)} == {"src/a.cs", "src/.hid.cs"}


@examples(60)
@given(GLOBS)
def test_a_glob_means_what_it_means_in_a_gitignore(tree, glob):
    words = ["git", "ls-files", "-z", "--cached", "--ignored", f"--exclude={glob}"]
    done = subprocess.run(
        words, cwd=tree.repo.root, env=environment(), capture_output=True, check=True
    )
    ignored = {*filter(None, done.stdout.decode().split("\0"))} - {".gitignore"}
    assert {*wanted(tree, [glob])} == ignored


@pytest.mark.parametrize(
    ("glob", "says"),
    [
        *((glob, "at most 2") for glob in ("*a" * 40 + "b", "**/x*/" * 40 + "y", "**/" * 40 + "z")),
        *(
            (glob, "is not a glob")
            for glob in ("src/[z-a].py", "#a", "!", "/", "a\\", "a[", "[[:alpha:]]", " ")
        ),
    ],
)
def test_what_is_not_a_glob_or_could_take_for_ever_is_refused(files, glob, says):
    code, _, text = run(files, f'instruction = "x"\nfiles = {json.dumps([glob])}')
    assert code == 2 and says in text


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("", "must have one of"),
        ('rename = {a = "b"}\ninstruction = "x"', "must have one of"),
        ('instruction = "x"\nrequires = "docstrings"', "no key 'requires'"),
        ('instruction = " "', "says what to do"),
        ('instruction = ["x"]', "says what to do"),
        ("rename = {}", "must be a table of names"),
        ('rename = "a"', "must be a table of names"),
        ('rename = {a = ""}', "must be a table of names"),
        ("rename = {a = 1}", "must be a table of names"),
        ('instruction = "x"\nmode = "fixx"', "mode must be fix or check"),
        *(
            (f'instruction = "x"\nmax_seconds = {value}', "above 0")
            for value in ("0", "true", "nan", "inf", "0x" + "f" * 1_250)
        ),
        ('instruction = "x"\nfiles = [1]', "must be a list of globs"),
        ('instruction = "x"\nfile = ["a"]', "no key 'file'"),
    ],
    ids=lambda value: value[:40],
)
def test_a_rule_that_cannot_be_meant_is_named(files, keys, says):
    code, _, text = run(files, f'instruction = "fine"\n[[tool.specedit.hook]]\n{keys}')
    assert code == 2 and says in text
    assert "pyproject.toml: [[tool.specedit.hook]] number 2" in text
