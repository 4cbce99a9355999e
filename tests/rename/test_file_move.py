"""`rename OLD.ext NEW.ext`: a file moves, and the imports of the work tree follow it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from case_files import read_file
from git_repository import Repository

TREES = read_file("rename/work_trees.toml")
PYTHON = TREES["python"]
SCRIPTS = TREES["scripts"]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository.init(tmp_path / "repo")
    made.commit(PYTHON)
    monkeypatch.chdir(made.root)
    return made


def runs(repo: Repository) -> bool:
    words = [sys.executable, "-B", "main.py"]
    return subprocess.run(words, cwd=repo.root, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    "new", ["src/shop/account.py", "src/shop/sub/account.py", "src/shop/sub/", "src/person.py"]
)
def test_python_imports_follow_a_file_and_undo_takes_it_back(inside, repo, new):
    done = inside("rename", "src/shop/user.py", new)
    assert done.returncode == 0, done.stderr.decode()
    assert not (repo.root / "src/shop/user.py").exists()
    assert runs(repo), "every import finds its module"
    assert repo.git("status", "--short", "--untracked-files=no").count("R") == 1
    assert b"README.md: line 1: names `src/shop/user.py`; it stays" in done.stderr
    assert inside("undo").returncode == 0
    assert repo.git("status", "--short") == ""


@pytest.mark.parametrize("flag", ["--check", "--yes"])
def test_the_report_says_that_a_file_whose_text_stays_moves(inside, repo, monkeypatch, flag):
    repo.commit({"src/alone.py": "x = 1\n"})
    monkeypatch.chdir(repo.root / "src")
    done = inside("rename", "alone.py", "other.py", flag)
    assert done.stderr.splitlines() == [b"alone.py: moves to other.py", b"alone.py: moves"]


def test_a_file_to_move_that_is_not_there_is_named(inside, repo):
    done = inside("rename", "no_such.py", "x.py")
    assert done.returncode == 2 and b"no_such.py: no such file" in done.stderr


def test_undo_removes_the_folders_that_the_move_made_and_no_others(inside, repo):
    (repo.root / "empty" / "there").mkdir(parents=True)
    assert inside("rename", "src/shop/user.py", "empty/there/new/deep/user.py").returncode == 0
    assert inside("undo").returncode == 0
    assert [path.name for path in (repo.root / "empty").rglob("*")] == ["there"]


@pytest.mark.parametrize("new", ["src/shop/account.py", "src/shop/sub/account.py", "src/person.py"])
def test_uses_through_an_imported_package_follow_a_file(inside, repo, new):
    through = (
        "import shop\nimport shop as s\nfrom shop import sub\n\n"
        "assert shop.user.User is s.user.User and sub.deep.User is shop.user.User\n"
    )
    repo.commit({"src/through.py": through})
    repo.commit({"main.py": f"{PYTHON['main.py']}import through\n"})
    assert runs(repo)
    assert inside("rename", "src/shop/user.py", new).returncode == 0
    assert runs(repo), repo.read("src/through.py")


def test_a_string_that_is_a_path_to_a_module_follows(inside, repo):
    named = (
        'USER = "shop.user.User"\nMODULE = "shop.user"\nFILE = "user.py"\nTEXT = "see shop.user"\n'
    )
    repo.commit({"src/settings.py": named})
    assert inside("rename", "src/shop/user.py", "src/shop/sub/account.py").returncode == 0
    assert repo.read("src/settings.py") == named.replace('"shop.user', '"shop.sub.account')


def test_a_variable_called_like_a_package_is_not_the_package(inside, repo):
    repo.commit({"src/other.py": "import shop.page\n\n\ndef f(shop):\n    return shop.user\n"})
    done = inside("rename", "src/shop/user.py", "src/shop/account.py")
    assert done.returncode == 0 and repo.read("src/other.py").endswith("return shop.user\n")


def test_a_name_in_the_way_is_kept_by_an_alias(inside, repo):
    repo.commit({"src/shop/page.py": "from shop import user\naccount = user.User\n"})
    assert inside("rename", "src/shop/user.py", "src/shop/account.py").returncode == 0
    text = repo.read("src/shop/page.py")
    assert text == "from shop import account as user\naccount = user.User\n" and runs(repo)


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_folder_moves_with_its_files(inside, repo, slash):
    assert inside("rename", f"src/shop/sub{slash}", f"src/shop/deeper{slash}").returncode == 0
    assert "import shop.page, shop.deeper.deep" in repo.read("main.py") and runs(repo)
    assert not (repo.root / "src/shop/sub/deep.py").exists()


def test_the_outermost_package_moves(inside, repo):
    sub = "from ..user import User\nfrom .. import user\nimport shop.user as x\nassert user is x\n"
    repo.commit({"src/shop/sub/deep.py": sub, "src/shop/page.py": "from shop.user import User\n"})
    assert inside("rename", "src/shop", "src/store").returncode == 0
    assert "import store.page, store.sub.deep" in repo.read("main.py") and runs(repo)


def test_a_folder_that_looks_like_a_name_has_a_hint(inside, repo):
    repo.commit({"tools/a.py": "x = 1\n"})
    done = inside("rename", "tools", "kit")
    assert done.returncode == 2 and b"specedit rename ./tools ./NEW" in done.stderr
    assert inside("rename", "./tools", "./kit").returncode == 0 and repo.read("kit/a.py")


def test_script_imports_follow_in_the_way_they_are_written(inside, repo):
    repo.commit(SCRIPTS)
    assert inside("rename", "web/user.ts", "web/model/account.ts").returncode == 0
    assert repo.read("web/model/account.ts") == SCRIPTS["web/user.ts"].replace("./", "../")
    index = SCRIPTS["web/lib/index.ts"].replace("../user", "../model/account")
    assert repo.read("web/lib/index.ts") == index
    app = SCRIPTS["web/app.tsx"].replace("/user", "/model/account")
    assert repo.read("web/app.tsx") == app
    assert inside("rename", "web/lib", "web/library").returncode == 0
    text = SCRIPTS["web/user.ts"].replace("./lib", "../library")
    assert repo.read("web/model/account.ts") == text


def test_the_class_of_a_java_file_is_renamed_with_it(inside, repo):
    repo.commit(
        {
            "a/User.java": "package a;\npublic class User { User() {} }\n",
            "a/B.java": "package a;\nclass B { User u = new User(); }\n",
        }
    )
    assert inside("rename", "a/User.java", "a/Account.java").returncode == 0
    assert repo.read("a/Account.java") == "package a;\npublic class Account { Account() {} }\n"
    assert "Account u = new Account()" in repo.read("a/B.java")
    assert "User" in repo.read("src/shop/user.py"), "another language's class stays"
    done = inside("rename", "a/Account.java", "b/Account.java")
    assert done.returncode == 2 and b"nothing was moved" in done.stderr


def test_the_patch_of_a_move_is_one_that_git_applies(inside, repo):
    done = inside("rename", "src/shop/user.py", "src/shop/sub/account.py", "--diff", "-q")
    assert repo.git("status", "--short") == "" and done.returncode == 0
    patch = repo.root.parent / "move.diff"
    patch.write_bytes(done.stdout)
    repo.git("apply", str(patch))
    assert runs(repo)
    assert inside("rename", "main.py", "start.py", "--check").returncode == 1
    done = inside("rename", "main.py", "start.py", "--json")
    (one,) = json.loads(done.stdout)["files"]
    assert one["path"] == "main.py" and (repo.root / "start.py").exists()


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("src/shop/base.py", "exists already"),
        ("src/shop/Base.py", "differs from it only in case"),
        ("../user.py", "outside the work tree"),
        ("src/shop/user.py", "are both"),
    ],
)
def test_a_place_that_is_not_free_moves_nothing(inside, repo, new, message):
    done = inside("rename", "src/shop/user.py", new)
    assert done.returncode == 2 and message in " ".join(done.stderr.decode().split())
    assert repo.git("status", "--short") == ""


@pytest.mark.parametrize("new", ["out/user.py", "out/", ".git/user.py", "../user.py"])
def test_a_file_does_not_leave_the_work_tree(inside, repo, tmp_path_factory, new):
    outside = tmp_path_factory.mktemp("outside")
    (repo.root / "out").symlink_to(outside)
    done = inside("rename", "./src/shop/user.py", f"./{new}")
    assert done.returncode == 2 and b"outside the work tree" in done.stderr
    assert not list(outside.iterdir()) and not (repo.root / ".git/user.py").exists()


def test_a_move_is_reverted_where_a_file_cannot_be_written(inside, repo, monkeypatch):
    from specedit.errors import InputError
    from specedit.files import undo

    def full(*_: object) -> None:
        raise InputError("no space left", file="x")

    monkeypatch.setattr(undo, "_move", full)
    done = inside("rename", "src/shop/user.py", "src/shop/account.py")
    assert done.returncode == 2 and repo.git("status", "--short") == ""


KILLED = """\
import os, sys
from specedit.files import undo

def make_moves(todo, real=undo.make_moves):
    {before}
    os._exit(9)

undo.make_moves = make_moves
from specedit.__main__ import main
sys.argv = ["specedit", "rename", "src/shop/user.py", "src/shop/account.py", "-q"]
main()
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [("pass", "reverted the change of 3 files"), ("real(todo)", "completed the change of 3 files")],
    ids=["before the move", "after the move"],
)
def test_guarantee_3_a_killed_move_is_whole_or_undone_after_the_next_command(
    inside, repo, before, after
):
    words = [sys.executable, "-c", KILLED.format(before=before)]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 9
    done = inside("undo", "--list")
    assert after in done.stderr.decode(), done.stderr.decode()
    assert (repo.git("status", "--short") == "") is (before == "pass")
    assert runs(repo)


KILLED_UNDO = """\
import os, sys
from pathlib import Path
from specedit.files import atomic, undo

def dies(*given, **more):
    os._exit(9)

{patch}
from specedit.__main__ import main
sys.argv = ["specedit", "undo"]
main()
"""


@pytest.mark.parametrize(
    "patch",
    [
        "undo._follow = dies",
        "undo._looked_at = dies",
        "atomic.replace = dies",
        "undo.delete = dies",
    ],
    ids=["before git's index", "before the texts", "before the first text", "before the end"],
)
def test_guarantee_3_the_killed_undo_of_a_move_is_whole_after_the_next_command(inside, repo, patch):
    assert inside("rename", "src/shop/user.py", "src/shop/account.py").returncode == 0
    words = [sys.executable, "-c", KILLED_UNDO.format(patch=patch)]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 9
    inside("undo", "--list")
    assert repo.git("status", "--short") == ""


@pytest.mark.parametrize(("old", "new"), [("shapes.rs", "forms.rs"), ("shapes.h", "lib/shapes.h")])
def test_a_file_whose_imports_are_not_followed_stays(inside, repo, old, new):
    repo.commit({old: "struct A;\n"})
    done = inside("rename", old, new)
    assert done.returncode == 2 and (repo.root / old).exists()
    where = " to another folder" if "/" in new else ""
    assert f"are not followed{where}; nothing was moved" in " ".join(done.stderr.decode().split())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(("src/shop/user.py", f"src/shop/{name}.py") for name in ("user-account", "class", "1")),
        *(("src/shop/user.py", f"src/shop/{name}.py") for name in ("x y", "a\nb", "a\x1b", "a.b")),
        ("src/shop/user.py", "src/my-shop/user.py"),
        *(("web/user.ts", f"web/{name}.ts") for name in ("a'b", 'a"b', "a`b", "a\\b", "a\nb")),
    ],
)
def test_a_name_that_no_import_can_say_moves_nothing(inside, repo, old, new):
    repo.commit(SCRIPTS)
    done = inside("rename", old, new)
    assert done.returncode == 2 and b"an import cannot say" in done.stderr
    assert repo.git("status", "--short") == ""


def test_a_script_that_nothing_imports_may_have_any_name(inside, repo):
    repo.commit({"tool.py": "x = 1\n"})
    assert inside("rename", "tool.py", "my-tool.py").returncode == 0


NAMING = {
    "lib/user.js": "module.exports = 1\n",
    "package.json": '{"main": "./lib/user.js", "bin": {"u": "lib/user.js"},\n'
    ' "files": ["lib/user.js"],\n "exports": {"./user": "./lib/user"}}\n',
    "lib/package.json": '{\n "main": "user.js"}\n',
    "pyproject.toml": '[project.scripts]\nshop = "shop.user:main"\nbare = "user:main"\n',
    "docs/a.md": "See [it](../lib/user.js) and shop.user.User.\n\nThe user is `other/user.js`.\n",
}


def test_files_that_name_a_moved_file_in_another_way_are_listed(inside, repo):
    repo.commit(NAMING)
    said = inside("rename", "lib/user.js", "lib/account.js").stderr.decode()
    assert "lib/package.json: line 2: names `user.js`; it stays" in said
    lines = (
        "line 1: names `./lib/user.js`; line 1: names `lib/user.js`; line 2: names `lib/user.js`"
    )
    assert f"package.json: {lines}; line 3: names `./lib/user`; it stays" in said
    assert "docs/a.md: line 1: names `../lib/user.js`; it stays" in said
    said = inside("rename", "src/shop/user.py", "src/shop/account.py").stderr.decode()
    where = "line 2: names `shop.user`; line 3: names `user`; it stays"
    assert f"pyproject.toml: {where}" in said
    assert "docs/a.md: line 1: names `shop.user.User`; it stays" in said
    assert inside("undo").returncode == inside("undo").returncode == 0
    said = inside("rename", "lib/", "library/").stderr.decode()
    assert "package.json: line 1: names `./lib/user.js`" in said
