"""fixtures/trees/<case>/: case.toml, before/, after/: a rename is one change of the whole tree.

`after/` holds the files that change. `accepts` names the compilers that take both; `undecided` the
lines, by file, that are listed and left.
"""

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import compilers
import pytest
from case_files import cases
from renaming import MARK, rename_texts, texts_after

from specedit.errors import UsageError
from specedit.syntax.identifiers import split_member

ROOT = Path(__file__).parents[2] / "fixtures" / "trees"
CASES = sorted(path.parent for path in ROOT.glob("*/case.toml"))


def named(case: Path) -> str:
    return case.name


def said(case: Path) -> dict[str, Any]:
    return tomllib.loads((case / "case.toml").read_text("utf-8"))


def texts(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in paths
        if path.suffix not in (".pyc", ".typed")
    }


def renamed(case: Path) -> Any:
    about = said(case)
    root = case / "before"
    return rename_texts(texts(root), about["old"], about["new"], about["scope"], root=root)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_rename_is_one_change_of_the_whole_tree(case):
    about, tree = said(case), renamed(case)
    assert {path: guess.text for path, guess in tree.files.items()} == texts(case / "after")
    assert not list(tree.collisions)
    undecided = {
        path: sorted({line for doubt in doubts for line in (spot.line for spot in doubt.places)})
        for path, doubts in tree.undecided.items()
    }
    assert undecided == about.get("undecided", {})


@pytest.mark.parametrize("case", CASES, ids=named)
def test_every_place_says_why_and_where(case):
    about, before = said(case), texts(case / "before")
    tree = renamed(case)
    for path, guess in tree.files.items():
        lines = before[path].split("\n")
        for place in guess.places:
            assert place.why
            assert lines[place.line - 1][place.column - 1 :].startswith(
                place.replaced.split("\n")[0]
            )
    assert tree.declared
    for path, line, _ in tree.declared:
        name = split_member(about["old"])[1]
        assert name in before[path].split("\n")[line - 1]


@pytest.mark.tools
@pytest.mark.parametrize("state", ["before", "after"])
@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_compilers_accept(case, state, tmp_path):
    shutil.copytree(case / "before", tmp_path, dirs_exist_ok=True)
    if state == "after":
        shutil.copytree(case / "after", tmp_path, dirs_exist_ok=True)
    wanted = said(case)["accepts"]
    assert list(compilers.accept(tmp_path, wanted)) == wanted.split()


def renamed_at(path: str, marked: str) -> Any:
    """The rename of the name behind the mark, in a tree of this one file."""
    start, text = marked.index("|"), marked.replace("|", "", 1)
    word = re.match(r"\w+", text[start:])
    assert word is not None
    return rename_texts({path: text}, word[0], at=(path, start))


@cases("rename/trees.toml", "required")
def test_a_name_that_something_of_another_project_requires_is_refused(path, marked, why):
    (collision,) = renamed_at(path, marked).files[path].collisions
    assert why in collision.text


@cases("rename/trees.toml", "may_be_required")
def test_a_name_that_may_be_required_has_a_note(path, marked, why):
    guess = renamed_at(path, marked).files[path]
    assert not guess.collisions
    assert any("may be required" in note.text and why in note.text for note in guess.notes)


@cases("rename/trees.toml", "own")
def test_what_these_files_require_is_renamed_with_it(path, marked):
    guess = renamed_at(path, marked).files[path]
    assert not guess.collisions and not guess.undecided
    assert len(guess.places) == 2


MARKED = (Path(__file__).with_name("rename_several_files.txt")).read_text("utf-8")
TREES = dict(re.findall(r"^=== (\S+)\n(.*?)(?=^=== |\Z)", MARKED, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("case", TREES.values(), ids=TREES)
def test_the_marked_places_are_renamed_and_no_other(case):
    """The rename of the first marked name; a line `--- path` begins a file."""
    marked = dict(re.findall(r"^--- (\S+)\n(.*?)(?=^--- |\Z)", case, re.MULTILINE | re.DOTALL))
    plain = {path: MARK.sub(r"\1", text) for path, text in marked.items()}
    path, first = next((path, found) for path, x in marked.items() if (found := MARK.search(x)))
    result = rename_texts(plain, first[1], at=(path, first.start()))
    after = {path: MARK.sub("other", text) for path, text in marked.items()}
    assert texts_after(plain, result) == after
    assert not result.left


@cases("rename/trees.toml", "modules")
def test_a_name_of_a_module_is_renamed_in_it(old, marked):
    plain = {path: MARK.sub(r"\1", text) for path, text in marked.items()}
    after = {path: MARK.sub("Other", text) for path, text in marked.items()}
    assert texts_after(plain, rename_texts(plain, old, "Other")) == after


def test_a_module_name_that_may_be_each_of_several_is_refused():
    files = {"a/tools.py": "def get(): ...\n", "b/tools.py": "def get(): ...\n"}
    with pytest.raises(UsageError, match=r"may be each of a/tools\.py:1, b/tools\.py:1"):
        rename_texts(files, "tools.get", "x")


def test_a_go_name_that_other_packages_use_stays_exported():
    files = {
        "go.mod": "module x.org/a\n",
        "web/a.go": "package web\nfunc Get() {}\n",
        "web/a_test.go": "package web\nfunc f() { Get() }\n",
    }
    use = {"b.go": 'package a\nimport "x.org/a/web"\nfunc f() { web.Get() }\n'}
    outside = {"web/b_test.go": 'package web_test\nimport "x.org/a/web"\nvar _ = web.Get\n'}
    for more, collisions in (({}, []), (use, ["b.go"]), (outside, ["web/b_test.go"])):
        result = rename_texts({**files, **more}, "Get", "get")
        assert [path for path, _ in result.collisions] == collisions


@cases("rename/trees.toml", "left")
def test_a_use_that_may_be_meant_is_left(path, marked):
    assert len(renamed_at(path, marked).left) == 1


@cases("rename/trees.toml", "accessors")
def test_a_use_under_a_name_that_is_made_of_the_old_one_is_left(old, files):
    assert len(rename_texts(files, old, "sum").left) == 1


def test_a_path_from_an_imported_module_is_followed():
    texts = {
        "src/lib.rs": "mod hir;\nmod more;\n",
        "src/hir.rs": "pub enum Class {\n    Bytes(u8),\n}\n",
        "src/more.rs": "use crate::hir::{self};\nfn f() { hir::Class::Bytes(1); }\n",
    }
    result = rename_texts(texts, "Bytes", "Raw", root=Path())
    assert result.files["src/more.rs"].text == texts["src/more.rs"].replace("Bytes", "Raw")
    assert not result.undecided


def test_an_attribute_s_class_is_named_without_its_suffix():
    texts = {
        "A.cs": "namespace Shop { class RequiredAttribute : System.Attribute { } }\n",
        "B.cs": "using Shop;\nnamespace Web { class B { [Required, Shop.Required(1)] int b; } }\n",
    }
    for new, short in (("NeededAttribute", "Needed"), ("Needed", "Needed")):
        result = rename_texts(texts, "RequiredAttribute", new, root=Path())
        assert result.files["B.cs"].text == texts["B.cs"].replace("Required", short)


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.c", "int f(void) { return 1; }\nint |return;\n", "return"),
        ("a.hpp", "class A { API |std::vector<int> f(); };\n", "std"),
    ],
)
def test_a_keyword_that_reads_as_a_name_where_nothing_parses_is_refused(path, text, name):
    with pytest.raises(UsageError, match=f"`{name}` is a keyword"):
        renamed_at(path, text)
