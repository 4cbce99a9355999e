"""Folders, and which of many files an instruction is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from git_repository import Repository

from specedit.cli import run
from specedit.errors import GitError
from specedit.files import git
from specedit.focus.files import FEW_WORDS, NO_NAME, sifted

FILES = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        # price sum\n        return 0\n",
    "shop/user.py": "class User:\n    def login(self, password):\n        return False\n",
    "shop/mail.py": "def send(address, text):\n    # over smtp\n    return None\n",
    "web/page.js": "function render(cart) {\n  return cart;\n}\n",
    "notes.bin": "cart total sum of the prices\n",
}


@pytest.mark.parametrize(
    ("instruction", "kept"),
    [
        ("Round the sum of prices in the total of the cart", ["shop/cart.py"]),
        ("Hash the password at login", ["shop/user.py"]),
        ("Let `Cart.total` be an integer", ["shop/cart.py"]),
        ("Rename render() to draw()", ["web/page.js"]),
        ("Translate all comments", ["shop/cart.py", "shop/mail.py", "shop/user.py", "web/page.js"]),
        ("Tune the zeppelin", []),
    ],
)
def test_files_are_kept_for_names_and_words(instruction: str, kept: list[str]) -> None:
    texts = {name: text for name, text in FILES.items() if name != "notes.bin"}
    left = sifted(texts, instruction).left
    assert sorted(set(texts) - set(left)) == kept
    assert set(left.values()) <= {NO_NAME, FEW_WORDS}


@pytest.mark.parametrize(
    ("instruction", "kept"),
    [
        ("Mend add", ["a.py"]),
        ("Please fix add, it subtracts", ["a.py"]),
        ("In put, raise where it is None", ["b.py"]),
        ("Let the function use return early", ["b.py"]),
        ("Add a function mul", []),  # add is what is to be done
        ("Make use of sets", []),
        ("Mend remove", []),
    ],
)
def test_an_everyday_verb_is_a_name_where_a_name_stands(instruction: str, kept: list[str]) -> None:
    texts = {
        "a.py": "def add(a, b):\n    return a - b\n",
        "b.py": "class Box:\n    def put(self, x):\n        x\n\n    def use(self):\n        1\n",
        "c.py": "def other():\n    return 0\n",
    }
    assert sorted(set(texts) - set(sifted(texts, instruction).left)) == kept


def test_no_files_leave_none_out() -> None:
    assert sifted({}, "anything").left == {}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repository = Repository.init(tmp_path / "shop folder")
    for name, text in FILES.items():
        path = repository.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    repository.git("add", ".")
    repository.git("commit", "-qm", "begin")
    (repository.root / "shop/untracked.py").write_text("class Cart:\n    pass\n")
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replace": [["return", "return 1 or"]]}))
    for name, value in {
        **repository.env,
        "SPECEDIT_ENGINE": "scripted",
        "SPECEDIT_SCRIPT": str(script),
        "SPECEDIT_HOME": str(tmp_path / "store"),
        "SPECEDIT_SERVER": "off",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repository.root)
    return repository


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, str], str]:
    """The exit code, each file's status, and what was said to a person."""
    code = run(["edit", *words, "--json"])
    out, err = capsys.readouterr()
    files = json.loads(out)["files"] if out.strip() else []
    return code, {one["path"]: one["status"] for one in files}, err


def test_a_folder_is_its_tracked_files_of_known_languages(
    shop: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "Return early", "shop")[:2] == (
        0,
        {f"shop/{name}.py": "edited" for name in ("cart", "mail", "user")},
    )
    assert said(capsys, "Return early", ".", "--check")[1].keys() == {
        "shop/cart.py",
        "shop/mail.py",
        "shop/user.py",
        "web/page.js",
    }
    assert (shop.root / "shop/untracked.py").read_text() == "class Cart:\n    pass\n"


def test_find_leaves_files_out_and_says_why(
    shop: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    code, statuses, err = said(capsys, "Hash the password at login", "--find")
    assert code == 0
    assert [name for name, status in statuses.items() if status == "edited"] == ["shop/user.py"]
    assert len(statuses) == 4
    assert f"3 files left as they are: {FEW_WORDS}" in err
    assert (shop.root / "shop/cart.py").read_text() == FILES["shop/cart.py"]


def test_find_that_finds_nothing_is_an_error_and_writes_nothing(
    shop: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    code, statuses, err = said(capsys, "Tune the zeppelin", "--find", "shop")
    assert (code, statuses) == (2, {})
    assert "None of the 3 files" in err
    assert said(capsys, "x", "-", "--find")[0] == 2


def test_one_file_is_the_one_that_is_meant(
    shop: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop.root / "shop/untracked.py").unlink()
    (shop.root / "shop/cart.py").write_text("def total():\n    return 0\n")
    code, statuses, _ = said(capsys, "Tune the zeppelin", "--changed", "--find")
    assert (code, statuses) == (0, {"shop/cart.py": "edited"})


def test_a_folder_without_source_or_without_git_says_so(
    shop: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (shop.root / "empty").mkdir()
    assert said(capsys, "x", "empty")[0] == 0
    outside = tmp_path / "outside"
    outside.mkdir()
    with pytest.raises(GitError):
        git.under(outside)


def test_find_asks_the_model_where_words_leave_it_open(
    shop: Repository, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (shop.root / "shop/bill.py").write_text("def draw(cart):\n    return cart\n")
    (shop.root / "shop/tax.py").write_text("def total(sum):\n    return sum\n")
    shop.git("add", ".")
    texts = {name: text for name, text in FILES.items() if name.endswith(".py")}
    texts |= {f"shop/{n}.py": (shop.root / f"shop/{n}.py").read_text() for n in ("bill", "tax")}
    asked = "Round the total sum of the price in the cart"
    found = sifted(texts, asked)
    assert found.doubtful and "shop/mail.py" not in found.doubtful
    one = found.doubtful[0]
    calls = tmp_path / "calls.txt"
    script = {"answer": f"- `{one}`\nno/such.py\n```", "calls": str(calls)}
    (tmp_path / "script.json").write_text(json.dumps(script))
    _, statuses, err = said(capsys, asked, "--find", "shop", "--check", "--tries", "1")
    assert f"asking the model about {len(found.doubtful)} files" in err or one in err
    assert f"{one}: {FEW_WORDS}" not in err, "it is asked about, for the model means it"
    assert f"shop/mail.py: {FEW_WORDS}" in err or "left as they are" in err
    assert set(statuses) >= {one, "shop/cart.py"}
    assert len(calls.read_text().splitlines()) == 3, "one question, and the two files"
