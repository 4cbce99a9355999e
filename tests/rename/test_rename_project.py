"""A rename of a work tree from the command line: one change or none, and what is said of it."""

import codecs
import json
import sys
from pathlib import Path

import pytest
from case_files import read_file
from command_line import at_a_terminal
from hook_repository import Hooked
from renaming import rename_texts

from specedit.errors import UsageError

TREES = read_file("rename/work_trees.toml")
FILES = TREES["files"]
MARKDOWN = TREES["markdown"]
REST = TREES["rest"]
STORED = TREES["stored"]
UNDECIDED = TREES["undecided"]
TORN = TREES["torn"]
JAVA = TREES["java"]
STRINGS = TREES["strings"]
IN_C = TREES["in_c"]
TWO_LANGUAGES = TREES["two_languages"]

CODE = ("rename", "user_name", "login", "--scope", "code")


@pytest.fixture
def desk(tmp_path: Path) -> Hooked:
    made = Hooked.make(tmp_path / "repo", "[tool.specedit]\n", replace=[["user_name", "login"]])
    made.repo.commit(FILES)
    return made


def touched(desk: Hooked) -> set[str]:
    return set(desk.repo.git("diff", "--name-only").splitlines())


def test_every_file_changes_and_what_is_no_code_is_listed(desk):
    code, out, err = desk.specedit(*CODE)
    assert (code, out) == (0, "")
    assert touched(desk) == {"shop/user.py", "shop/page.py", "tests/test_page.py"}
    page = desk.repo.read("shop/page.py")
    assert "return user.login + other.login + user_name" in page
    assert "notes.md: holds `user_name` on lines 1, 3, but is not code" in " ".join(err.split())
    assert "the class before it is not known on line 5; renamed there too" in err
    assert desk.specedit("undo")[0] == 0 and touched(desk) == set()


def test_new_files_are_renamed_too_and_ignored_ones_are_not(desk):
    use = "from shop.user import User\n\nprint(User().user_name)\n"
    for path in ("new.py", "ignored.py"):
        desk.repo.write(path, use)
    desk.repo.write(".gitignore", "ignored.py\n")
    desk.repo.git("rm", "-r", "-q", "--cached", ".")  # an index without files
    assert desk.specedit(*CODE)[0] == 0
    assert desk.repo.read("new.py") == use.replace("user_name", "login")
    assert desk.repo.read("ignored.py") == use
    assert ".login" in desk.repo.read("shop/page.py")


def test_files_that_hold_the_word_and_stay_are_listed_with_the_reason(desk):
    desk.repo.commit(
        {
            "shop/local.py": "def f(user_name):\n    return user_name\n",
            "shop/text.py": 'print("user_name")\n',
            "data.json": '{"user_name": 1}\n',
        }
    )
    err = " ".join(desk.specedit(*CODE)[2].split())
    assert "shop/local.py: `user_name` is the parameter (shop/local.py:1) there" in err
    assert "data.json: holds `user_name` on line 1, but is not code: name the file" in err
    assert "shop/text.py: `user_name` stands in comments or strings alone; --scope derived" in err


def test_code_in_prose_is_renamed_with_derived_names(desk):
    desk.repo.commit({"guide.md": MARKDOWN, "guide.rst": REST})
    code, _, err = desk.specedit("rename", "user_name", "login", "--scope", "derived")
    assert code == 0
    assert desk.repo.read("guide.md") == MARKDOWN.replace(".user_name", ".login")
    after = REST.replace("`user_name`", "`login`").replace(".user_name", ".login")
    assert desk.repo.read("guide.rst") == after
    assert "notes.md: holds `user_name` on lines 1, 3, but is not code" in " ".join(err.split())


def test_a_parameter_that_is_stored_in_the_field_is_a_derived_name(desk):
    desk.repo.commit(STORED)
    code, _, err = desk.specedit(*CODE[:3], "--no-model", "shop/user.py", "shop/page.py")
    assert code == 0
    assert desk.repo.read("shop/user.py") == STORED["shop/user.py"].replace(
        "self.user_name", "self.login"
    )
    assert "line 4: it is set from the parameter `user_name`, which stays" in " ".join(err.split())
    desk.specedit("undo")
    code, _, err = desk.specedit(*CODE[:3], "--scope", "derived", "--no-model")
    assert code == 0
    assert desk.repo.read("shop/user.py") == STORED["shop/user.py"].replace("user_name", "login")
    assert "User(login=user_name).login" in desk.repo.read("shop/page.py")


MEMBER = ("rename", "User.user_name", "login", "--no-model")


def test_an_incomplete_rename_is_refused_before_anything_is_written(desk):
    desk.repo.commit(UNDECIDED)
    code, out, err = desk.specedit(*MEMBER)
    said = " ".join(err.split())
    assert (code, out) == (2, "") and touched(desk) == set()
    assert "left: 3 uses in 2 files that may be meant: shop/page.py:5, shop/view.py:2,2" in said
    assert "--dry-list shows them; --incomplete renames 3 places" in said


@pytest.mark.parametrize("flag", ["--check", "--diff"])
def test_an_incomplete_rename_is_not_previewed_as_if_it_were_whole(desk, flag):
    desk.repo.commit(UNDECIDED)
    code, out, _ = desk.specedit(*MEMBER, flag)
    assert (code, out) == (2, "")
    code, out, _ = desk.specedit(*MEMBER, flag, "--incomplete")
    assert code == (1 if flag == "--check" else 0) and (flag == "--check") == (not out)


def test_an_incomplete_rename_is_written_where_that_is_accepted(desk):
    desk.repo.commit(UNDECIDED)
    code, _, err = desk.specedit(*MEMBER, "--incomplete")
    assert code == 0 and touched(desk) == {"shop/user.py", "shop/page.py", "tests/test_page.py"}
    first, second, *_ = err.splitlines()
    assert first == "renamed 3 places in 3 files"
    assert second.startswith("left: 3 uses in 2 files that may be meant (specedit rename --")
    assert "  shop/user.py: 1 place" in err and "+        self.login" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
@pytest.mark.parametrize("answer", [b"y\n", b"\n"])
def test_the_user_at_a_terminal_decides_about_an_incomplete_rename(desk, answer):
    desk.repo.commit(UNDECIDED)
    code, shown = at_a_terminal(answer, *MEMBER, cwd=desk.repo.root)
    said = " ".join(shown.split())
    assert "left: 3 uses in 2 files that may be meant: shop/page.py:5, shop/view.py:2,2" in said
    assert "Rename the 3 places in 3 files, and leave these as they are? [y/N]" in said
    assert (code, bool(touched(desk))) == ((0, True) if answer == b"y\n" else (2, False))


HELPERS = {"shop/a.py": "def helper(): ...\n", "shop/b.py": "def helper(x): ...\n"}
TWICE = "`helper` means 2 things, which change together: function (shop/"


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
@pytest.mark.parametrize("answer", [b"y\n", b"\n"])
def test_the_user_at_a_terminal_decides_about_a_name_of_several_things(desk, answer):
    desk.repo.commit(HELPERS)
    code, shown = at_a_terminal(answer, "rename", "helper", "assist", cwd=desk.repo.root)
    said = " ".join(shown.split())
    assert TWICE in said and "Rename the 2 places in 2 files? [y/N]" in said
    assert (code, touched(desk)) == ((0, {*HELPERS}) if answer == b"y\n" else (2, set()))


def test_without_a_terminal_a_name_of_several_things_is_renamed_with_a_note(desk):
    desk.repo.commit(HELPERS)
    code, _, err = desk.specedit("rename", "helper", "assist")
    assert code == 0 and touched(desk) == {*HELPERS} and TWICE in err


def test_the_json_of_an_incomplete_rename_names_the_uses_that_are_left(desk):
    desk.repo.commit(UNDECIDED)
    code, out, _ = desk.specedit(*MEMBER, "--json")
    files = {one["path"]: one for one in json.loads(out)["files"]}
    assert code == 2 and touched(desk) == set()
    assert files["shop/user.py"]["status"] == "refused"
    assert files["shop/view.py"]["left"] == [{"path": "shop/view.py", "line": 2}] * 2
    code, out, _ = desk.specedit(*MEMBER, "--json", "--incomplete")
    files = {one["path"]: one for one in json.loads(out)["files"]}
    assert code == 0 and files["shop/user.py"]["status"] == "edited"
    assert len(files["shop/view.py"]["left"]) == 2


def test_a_use_in_a_part_that_does_not_parse_is_left(desk):
    desk.repo.commit({"Cart.cs": "class Cart { void Total() {} }\n", "View.cs": TORN})
    code, _, err = desk.specedit("rename", "Cart.Total", "Sum", "--no-model")
    assert code == 2 and "left: 1 use in 1 file that may be meant: View.cs:2" in err


def test_the_file_of_a_java_class_moves_with_it(desk):
    desk.repo.commit(JAVA)
    code, out, _ = desk.specedit("rename", "Cart", "Basket", "--no-model", "--diff")
    assert code == 0 and "rename from src/shop/Cart.java\nrename to src/shop/Basket.java\n" in out
    code, _, err = desk.specedit("rename", "Cart", "Basket", "--no-model")
    assert code == 0 and "moves to src/shop/Basket.java" in err
    assert not (desk.repo.root / "src/shop/Cart.java").exists()
    assert desk.repo.read("src/shop/Basket.java") == JAVA["src/shop/Cart.java"].replace(
        "Cart", "Basket"
    )
    assert "Basket cart" in desk.repo.read("src/shop/Use.java")
    assert desk.specedit("undo")[0] == 0
    assert desk.repo.read("src/shop/Cart.java") == JAVA["src/shop/Cart.java"]
    assert not (desk.repo.root / "src/shop/Basket.java").exists()


def test_a_class_is_not_renamed_to_the_name_of_another_file(desk):
    desk.repo.commit({**JAVA, "src/shop/Basket.java": "package shop;\n"})
    code, _, err = desk.specedit("rename", "Cart", "Basket", "--no-model")
    assert code == 2 and "src/shop/Basket.java exists already" in " ".join(err.split())
    assert desk.repo.git("status", "--porcelain") == ""


def test_a_path_in_a_string_that_leads_to_the_symbol_is_renamed(desk):
    desk.repo.commit(STRINGS)
    code, _, err = desk.specedit("rename", "Store", "Shop", "--no-model", "--scope", "code")
    assert code == 0, err
    assert desk.repo.read("app/settings.py") == (
        'BACKEND = "app.models.Shop"\nOTHER = "lib.models.Store"\nWORD = "Store"\n'
    )
    assert desk.repo.read("pyproject.toml") == (
        '[project.scripts]\nrun = "app.__main__:Shop"\nfar = "lib.models:Store"\n'
    )


@pytest.mark.parametrize("written", ["from . import models", "from app import models"])
def test_a_module_that_its_package_imports_from_itself_is_followed(desk, written):
    use = "from app import models\nimport app\n\nmodels.Store()\napp.models.Store()\n"
    desk.repo.commit(STRINGS | {"app/__init__.py": f"{written}\n", "use.py": use})
    code, _, err = desk.specedit("rename", "Store", "Shop", "--no-model", "--scope", "code")
    assert code == 0, err
    assert desk.repo.read("use.py") == use.replace("Store", "Shop")


def test_a_member_that_is_read_by_its_name_is_renamed(desk):
    desk.repo.commit(STRINGS)
    code, _, err = desk.specedit("rename", "Store.size", "count", "--no-model", "--scope", "code")
    assert code == 0, err
    assert desk.repo.read("app/models.py") == STRINGS["app/models.py"].replace("size", "count")


def test_the_name_under_which_c_gives_a_function_to_python_is_renamed(desk):
    desk.repo.commit(TWO_LANGUAGES)
    code, _, err = desk.specedit("rename", "escape", "quote", "--no-model", "--scope", "code")
    assert code == 0, err
    assert desk.repo.read("text/_fast.c") == IN_C.replace('"escape"', '"quote"')
    assert desk.repo.read("text/_other.c") == TWO_LANGUAGES["text/_other.c"]
    assert desk.repo.read("text/__init__.py").count("import quote") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
def test_of_a_rename_whole_files_are_asked_about(desk):
    twice = (
        "class User:\n    user_name = 1\n" + "\n\n" * 20 + "class Guest(User):\n    user_name = 2\n"
    )
    desk.repo.commit({"shop/user.py": twice})
    code, shown = at_a_terminal(b"?\ny\nn\nn\n", *CODE, "--ask", cwd=desk.repo.root)
    assert code == 0 and "Apply the 2 hunks of this file [y,n,q]?" in shown
    assert "Apply this hunk" not in shown and touched(desk) == {"shop/page.py"}


def test_what_cannot_be_meant_where_it_stands_is_not_left(desk):
    desk.repo.commit(
        {
            "a.go": "package a\nfunc Run() {}\nfunc use(x unknown) { x.Run() }\n",
            "b.py": "def f():\n    doc = 1\n    return doc\n",
            "c.py": "def g(x):\n    return x.doc, doc\n",
            "w.go": 'package a\nimport "net/http"\ntype Writer interface { http.ResponseWriter }\n'
            "type Pile struct{}\nfunc (p Pile) Get(key string) {}\n"
            'func read(w Writer) { w.Header().Get("x") }\n',
            "piles.py": "class Pile:\n    def get(self, key): ...\n",
            "near.py": "import piles\n\ndef near(made):\n    return made.get(1)\n",
            "far.py": "def far(made):\n    return made.get(1)\n",
        }
    )
    assert desk.specedit("rename", "Pile.Get", "Take", "--no-model")[0] == 0
    code, _, err = desk.specedit("rename", "Pile.get", "take", "--no-model")
    assert code == 2 and "left: 1 use in 1 file that may be meant: near.py:4" in err
    assert desk.specedit("rename", "Run", "Start", "--no-model")[0] == 0
    assert "func Start() {}\nfunc use(x unknown) { x.Run() }" in desk.repo.read("a.go")
    assert desk.specedit("rename", "doc", "text", "--no-model")[0] == 0
    assert desk.repo.read("c.py") == "def g(x):\n    return x.doc, doc\n"


def test_the_list_asks_no_model_and_says_why(desk):
    code, out, err = desk.specedit(*CODE, "--dry-list")
    assert code == 0 and desk.asked == 0 and touched(desk) == set()
    lines = out.splitlines()
    assert (
        "shop/page.py:5:17: user_name -> login  (code: use of the member of Guest, User)" in lines
        or "shop/page.py:5:17: user_name -> login  (code: use of the member of User)" in lines
    )
    assert any(line.startswith("shop/page.py:5: = ") or "parameter" in line for line in lines)
    assert any(line.startswith("notes.md:1: !") for line in lines)
    assert "4 places in 3 files; nothing was asked or written" in err


def test_the_name_of_a_file_forges_no_line_of_the_list(desk):
    """A file's name may have line breaks."""
    desk.repo.write("a.py\nb.py:1:1: x -> y  (code).py", "from shop.user import User\n")
    desk.repo.write("shop/user.py\nb.py:1:1: user_name -> x", "user_name\n")
    out = desk.specedit(*CODE, "--dry-list")[1]
    assert "␊b.py" in out and not any(line.startswith("b.py") for line in out.splitlines())


def test_the_json_holds_places_kinds_and_reasons(desk):
    code, out, _ = desk.specedit(*CODE, "--dry-list", "--json")
    files = {one["path"]: one for one in json.loads(out)["files"]}
    assert code == 0
    (change,) = files["shop/user.py"]["changes"]
    assert (change["line"], change["column"], change["kind"]) == (3, 14, "code")
    assert (change["old"], change["new"]) == ("user_name", "login") and change["why"]
    code, out, _ = desk.specedit(*CODE, "--check", "--json")
    assert code == 1
    checked = {one["path"]: one["changes"] for one in json.loads(out)["files"]}
    assert checked["shop/user.py"] == [change]
    assert touched(desk) == set()


def test_one_file_says_who_else_uses_the_name_and_where_it_is_declared(desk):
    code, _, err = desk.specedit(*CODE, "shop/page.py")
    said = " ".join(err.split())
    assert code == 0 and touched(desk) == {"shop/page.py"}
    assert "used in shop/user.py (line 3), tests/test_page.py (line 5)" in said
    assert "nothing in this file declares" not in said


def test_a_name_that_is_taken_anywhere_leaves_every_file(desk):
    more = "from shop.user import User\n\n\nclass B(User):\n    login = 2\n"
    desk.repo.commit({"shop/more.py": more, "shop/other.py": more.replace("class B", "class C")})
    code, _, err = desk.specedit(*CODE)
    assert code == 2 and desk.asked == 0 and touched(desk) == set()
    said = " ".join(err.split())
    assert "shop/more.py, line 5: `login` is already a field there" in said
    assert "shop/other.py, line 5" in said


def test_generated_and_vendored_files_stay_and_are_named(desk):
    use = "from shop.user import User\n\nprint(User().user_name)\n"
    desk.repo.commit(
        {"gen.py": f"# Code generated by x. DO NOT EDIT.\n{use}", "vendor/lib.py": use}
    )
    code, _, err = desk.specedit(*CODE)
    assert code == 2 and "left: 2 uses in 2 files" in err and "gen.py:4, vendor/lib.py:3" in err
    code, _, err = desk.specedit(*CODE, "--incomplete", "-v")
    assert code == 0 and "gen.py" not in touched(desk) and "vendor/lib.py" not in touched(desk)
    assert "gen.py: a generated file, left as it is: run its generator again (it says “" in err
    assert "vendor/lib.py: a vendored file, left as it is: name it to rename there" in err
    desk.repo.commit({"made.py": "# @generated\ndef built():\n    pass\n"})
    code, _, err = desk.specedit("rename", "built", "made")
    assert code == 2 and "declares it (function), in a generated file" in " ".join(err.split())


def test_an_attribute_hides_no_use(desk):
    use = "from shop.user import User\n\nprint(User().user_name)\n"
    marks = "gen.py linguist-generated\nseen.py binary\nmine.py -diff linguist-vendored=false\n"
    desk.repo.commit({".gitattributes": marks, "gen.py": use, "seen.py": use, "mine.py": use})
    code, _, err = desk.specedit(*CODE)
    assert code == 2 and "left: 1 use in 1 file that may be meant: gen.py:3" in err
    assert desk.specedit(*CODE, "--incomplete")[0] == 0
    assert {"seen.py", "mine.py"} <= touched(desk) and "gen.py" not in touched(desk)


def test_built_files_are_not_searched_and_are_counted(desk):
    made = "x.user_name = 1;\n"
    built = {
        "web/package-lock.json": '{"user_name": 1}\n',
        "web/a.min.js": made,
        "web/b.js": f"{made}//# sourceMappingURL=b.js.map\n",
        "web/c.js": made + ("y=1;" * 2_000) + "\n",
    }
    desk.repo.commit(built)
    code, _, err = desk.specedit(*CODE)
    assert code == 0 and not touched(desk) & set(built)
    assert "4 files left as they are: built from other files, and not searched:\n" in err
    assert desk.specedit("undo")[0] == 0
    assert desk.specedit(*CODE, "web/b.js")[0] == 0 and touched(desk) == {"web/b.js"}


def test_a_file_that_is_not_text_stays_and_is_named_with_the_reason(desk):
    wide = codecs.BOM_UTF16_LE + b"user_name"
    bundle = b"var user_name;" + b"x" * 500_000
    for path, data in {"old.py": wide, "bundle.js": bundle}.items():
        (desk.repo.root / path).write_bytes(data)
    code, _, err = desk.specedit(*CODE, "--strict")
    assert code == 2 and touched(desk) == set() and "one change with" in " ".join(err.split())
    code, out, err = desk.specedit(*CODE, "--json")
    assert code == 0 and touched(desk) == {"shop/user.py", "shop/page.py", "tests/test_page.py"}
    reports = {one["path"]: one for one in json.loads(out)["files"]}
    for path, reason in {
        "old.py": "not UTF-16: byte",
        "bundle.js": "a line of 500,014",
    }.items():
        (finding,) = reports[path]["findings"]
        assert reports[path]["status"] == "unchanged" and finding["kind"] == "skipped"
        assert f"not renamed: {reason}" in finding["text"]
        assert f"{path}: not renamed: {reason}" in err
    assert desk.specedit(*CODE, "old.py", "shop/page.py")[0] == 2  # the user named it


def test_a_file_in_another_encoding_is_renamed_byte_by_byte(desk):
    use = b"from shop.user import User\n\nprint(User().user_name)  # caf\xe9\r\n"
    (desk.repo.root / "old.py").write_bytes(use)
    code, _, err = desk.specedit(*CODE)
    assert code == 0, err
    assert (desk.repo.root / "old.py").read_bytes() == use.replace(b"user_name", b"login")
    assert desk.specedit("edit", "x", "old.py")[0] == 2  # an edit by a model is of UTF-8 alone
    code, _, err = desk.specedit("rename", "login", "prénom", "--scope", "code")
    assert code == 2 and "it can be given ASCII alone" in " ".join(err.split())
    assert (desk.repo.root / "old.py").read_bytes() == use.replace(b"user_name", b"login")


def test_a_file_that_does_not_parse_is_said(desk):
    use = "from shop.user import User\nUser().user_name  # user_name\ndef f(:\n"
    desk.repo.commit({"shop/bad.py": use})
    code, _, err = desk.specedit("rename", "user_name", "login", "--no-model")
    assert code == 0
    assert (desk.repo.root / "shop/bad.py").read_text() == use.replace("user_name", "login", 1)
    assert "shop/bad.py: line 3: does not parse" in " ".join(err.split())


def test_a_built_in_that_the_new_name_hides_is_said(desk):
    code, _, err = desk.specedit("rename", "title", "sorted")
    assert code == 0 and "`sorted` is a built-in of python, which the new name hides" in err
    desk.repo.commit({"shop/more.py": "def first(x):\n    return sorted(x)\n"})
    code, _, err = desk.specedit("rename", "first", "sorted")
    assert code == 2 and "line 2: `sorted` is something else there" in " ".join(err.split())


def test_files_that_a_sparse_checkout_leaves_out_are_named(desk):
    desk.repo.git("sparse-checkout", "set", "shop")
    assert not (desk.repo.root / "tests").exists()
    code, _, err = desk.specedit(*CODE)
    assert code == 0 and "files that are not checked out have `user_name`, and stay:" in err
    assert "tests/test_page.py" in err
    desk.specedit("undo")
    desk.repo.git("sparse-checkout", "set", "shop", "tests")
    assert "not checked out" not in desk.specedit(*CODE)[2]


def test_submodules_are_named_as_not_searched(desk, tmp_path):
    part = type(desk.repo).init(tmp_path / "part")
    part.commit({"s.py": "user_name = 1\n"})
    desk.repo.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(part.root), "sub"
    )
    code, _, err = desk.specedit(*CODE)
    assert code == 0 and "submodules are not searched: sub" in err


def test_one_file_that_is_refused_leaves_every_file(desk):
    checker = "grep -nH user.login {file}"
    code, _, err = desk.specedit(*CODE, "--check-with", checker, "--strict")
    assert code == 2 and touched(desk) == set()
    assert "one change with" in " ".join(err.split())


def test_a_member_of_one_class_leaves_what_may_be_another_s():
    texts = {
        "a.py": "class Cart:\n    total = 1\n\n\nclass Bill:\n    total = 2\n",
        "b.py": "from a import Cart\n\n\ndef f(x, cart: Cart):\n    return x.total + cart.total\n",
    }
    made = rename_texts(texts, "Cart.total", "sum_")
    assert made.files["a.py"].text.count("sum_") == 1
    assert made.files["b.py"].text.endswith("return x.total + cart.sum_\n")
    ((path, doubts),) = made.undecided.items()
    assert path == "b.py" and [doubt.line for doubt in doubts] == [5]
    assert "the class before it is not known" in doubts[0].text


def test_a_comment_speaks_of_one_class_s_member_only_beside_it():
    texts = {
        "a.py": "class Cart:\n    total = 1  # the total\n",
        "b.py": "x = 1  # a total of something else\n",
    }
    made = rename_texts(texts, "Cart.total", "amount", "comments")
    assert list(made.files) == ["a.py"] and made.files["a.py"].text.count("amount") == 2


def test_a_package_s_own_name_is_taken_in_another_of_its_files():
    texts = {
        "go.mod": "module m\n",
        "a.go": "package m\n\nfunc Old() {}\n",
        "b.go": "package m\n\nfunc New() { Old() }\n",
    }
    made = rename_texts(texts, "Old", "New")
    assert [(path, one.line) for path, one in made.collisions][:1] == [("a.go", 3)]


def test_without_git_the_named_files_are_the_tree(tmp_path, desk):
    folder = tmp_path / "plain"
    folder.mkdir()
    for name in ("user.py", "use.py"):
        text = {"user.py": "def old():\n    pass\n", "use.py": "from user import old\n\nold()\n"}
        (folder / name).write_text(text[name])
    Path(desk.repo.env["TESTS_SCRIPT"]).write_text(json.dumps({"replace": [["old", "new"]]}))
    there = Hooked(desk.repo.at(folder), desk.calls)
    assert there.specedit("rename", "old", "new", "user.py", "use.py")[0] == 0
    assert (folder / "use.py").read_text() == "from user import new\n\nnew()\n"


def test_imports_in_a_cycle_are_followed_once():
    """`Draft` is declared nowhere: every file imports it from every other one."""
    calls, names = 0, "abcdefgh"

    def counted(*_: object) -> None:
        nonlocal calls
        calls += 1
        assert calls < 500_000

    texts = {
        f"{name}.ts": "".join(
            f'import {{ Draft }} from "./{other}"\nexport * from "./{other}"\n'
            for other in names.replace(name, "")
        )
        + "export function use(x: Draft) { return x.go(); }\n"
        for name in names
    }
    sys.setprofile(counted)
    try:
        with pytest.raises(UsageError, match="not declared"):
            rename_texts(texts, "go", "run")
    finally:
        sys.setprofile(None)
    assert calls > 1000


def test_classes_that_extend_each_other_in_a_cycle_are_one_family():
    names = [f"C{number}" for number in range(20)]
    texts = {
        "a.py": "".join(
            f"class {one}({', '.join(n for n in names if n != one)}):\n"
            "    def go(self):\n        return self.go()\n\n"
            for one in names
        )
    }
    made = rename_texts(texts, "go", "run")
    assert made.files["a.py"].text.count("run(") == 40


def test_a_name_built_from_the_old_one_may_be_declared_where_that_is_not():
    field = "namespace N { class A { public string SuperState; } }\n"
    uses = "class G { string superstate; void F(A a) { a.SuperState = superstate; } }\n"
    texts = {"A.cs": field, "B.cs": f"namespace N {{\nclass SuperState {{}}\n{uses}}}\n"}
    made = rename_texts(texts, "superstate", "parent", "derived")
    assert "string parent; void F(A a)" in made.files["B.cs"].text


SAME_NAME = {
    "bag.go": """package bag

type Bag struct{ items []string }

func (b *Bag) Has(name string) bool { return len(b.items) > 0 }

func Has(name string) bool { return name != "" }
""",
    "bag_test.go": """package bag

func both(b *Bag) bool { return b.Has("a") && Has("b") }
""",
}


def test_a_line_of_a_file_names_one_of_several_things_in_all_files(desk):
    desk.repo.commit(SAME_NAME)
    code, _, err = desk.specedit("rename", "Has", "Holds", "bag.go", "--line", "5", "--check")
    assert code == 1
    assert "used in bag_test.go (line 3), which keep" in err and "--line bag.go:5 without" in err
    assert desk.specedit("rename", "Has", "Holds", "--line", "bag.go:5")[0] == 0
    assert desk.repo.read("bag_test.go") == SAME_NAME["bag_test.go"].replace("b.Has", "b.Holds")
    assert desk.repo.read("bag.go") == SAME_NAME["bag.go"].replace(") Has", ") Holds")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("5", "--line needs a line and its file"),
        ("bag.go:", "--line needs a line and its file"),
        ("bag.go:0", "line 0 has no `Has`; lines that have it: 5, 7"),
        ("bag.go:9", "line 9 has no `Has`"),
        ("no.go:5", "no.go: not text, or ignored by git"),
    ],
)
def test_a_line_that_names_nothing_is_an_error(desk, line, problem):
    desk.repo.commit(SAME_NAME)
    code, _, err = desk.specedit("rename", "Has", "Holds", "--line", line)
    assert code == 2 and problem in " ".join(err.split()) and touched(desk) == set()
