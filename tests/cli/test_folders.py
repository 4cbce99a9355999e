"""A folder stands for the tracked files of known languages in it."""

import json
from pathlib import Path

import pytest
from git_repository import Repository

from specedit.cli import run
from specedit.errors import GitError
from specedit.files import git

FILES = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        # price sum\n        return 0\n",
    "shop/user.py": "class User:\n    def login(self, password):\n        return False\n",
    "shop/mail.py": "def send(address, text):\n    # over smtp\n    return None\n",
    "web/page.js": "function render(cart) {\n  return cart;\n}\n",
    "notes.bin": "cart total sum of the prices\n",
}


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
        "TESTS_SCRIPT": str(script),
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


def test_a_folder_is_its_tracked_files_of_known_languages(shop, capsys):
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


def test_a_folder_without_source_or_without_git_says_so(shop, capsys, tmp_path):
    (shop.root / "empty").mkdir()
    (shop.root / "empty/new.py").write_text("return_ = 1\n")
    code, files, message = said(capsys, "x", "empty")
    assert (code, files) == (2, {}) and "empty holds no tracked file of a known" in message
    assert said(capsys, "x", "empty", "shop/mail.py")[0] == 0
    outside = tmp_path / "outside"
    outside.mkdir()
    with pytest.raises(GitError):
        git.under(outside)
