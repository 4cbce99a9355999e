"""A folder stands for the tracked files of known languages in it."""

import json
from pathlib import Path

import pytest
from hook_repository import Hooked

FILES = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        # price sum\n        return 0\n",
    "shop/user.py": "class User:\n    def login(self, password):\n        return False\n",
    "shop/mail.py": "def send(address, text):\n    # over smtp\n    return None\n",
    "web/page.js": "function render(cart) {\n  return cart;\n}\n",
    "notes.bin": "cart total sum of the prices\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Hooked:
    made = Hooked.make(tmp_path / "shop folder", "", replace=[["return", "return 1 or"]])
    (made.repo.root / "pyproject.toml").unlink()
    made.repo.commit(FILES)
    made.repo.write("shop/untracked.py", "class Cart:\n    pass\n")
    return made


def edited(desk: Hooked, *words: str) -> tuple[int, dict[str, str], str]:
    """The exit code, each file's status, and what was said to a person."""
    code, out, err = desk.specedit("edit", *words, "--json")
    files = json.loads(out)["files"] if out else []
    return code, {one["path"]: one["status"] for one in files}, err


def test_a_folder_is_its_tracked_files_of_known_languages(shop):
    names = {f"shop/{name}.py": "edited" for name in ("cart", "mail", "user")}
    assert edited(shop, "Return early", "shop")[:2] == (0, names)
    assert edited(shop, "Return early", ".", "--check")[1].keys() == {*names, "web/page.js"}
    assert shop.repo.read("shop/untracked.py") == "class Cart:\n    pass\n"


def test_a_folder_without_source_or_without_git_says_so(shop, tmp_path):
    shop.repo.write("empty/new.py", "return_ = 1\n")
    code, files, message = edited(shop, "x", "empty")
    assert (code, files) == (2, {}) and "empty holds no tracked file of a known" in message
    assert edited(shop, "x", "empty", "shop/mail.py")[0] == 0
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.py").write_text("return_ = 1\n")
    code, files, message = edited(shop, "x", str(tmp_path / "outside"))
    assert (code, [*files.values()]) == (2, ["failed"])
    assert "outside: a directory" in message and "Name the files in it." in message


UNKNOWN = {"SPECEDIT_HOME": ["model", "list"], "SPECEDIT_RUNTIME": ["serve", "status"]}


@pytest.mark.parametrize(("name", "words"), UNKNOWN.items(), ids=UNKNOWN)
def test_the_home_of_an_unknown_user_is_a_name_like_any_other(name, words, specedit, tmp_path):
    done = specedit(*words, cwd=tmp_path, env={name: "~nobody-is-called-so/x"})
    assert b"Traceback" not in done.stderr, done.stderr
