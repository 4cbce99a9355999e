"""`rename --verify`: a compiler or type checker of the project runs before and after, and a rename
that it rejects is undone."""

import os
import sys
from pathlib import Path

import pytest
from hook_repository import Hooked

CART = "class Cart:\n    def total(self) -> int:\n        return 1\n"
USE = "from cart import Cart\n\nsum: int = Cart().total()\n"
HIDDEN = (  # a type that is not read says that it is Cart's
    "import cart\n\n\nclass Bill:\n    def total(self) -> int:\n        return 2\n\n\n"
    "def both(one: 'cart.Cart | Bill', other) -> None:\n    one.total()\n"
)
MYPY = {"pyproject.toml": "[tool.mypy]\n", "cart.py": CART, "use.py": USE}
RENAME = ("rename", "Cart.total", "price", "--no-model", "--incomplete")
TSC = (  # a checker that knows one error more for each use of `total`, and an old error
    "#!/bin/sh\necho 'old.ts(1,1): error TS1: it was there'\n"
    "grep -n 'total' *.ts | sed 's/\\([^:]*\\):\\([0-9]*\\):.*/\\1(\\2,1): error TS2: no total/'\n"
)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hooked:
    programs = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return Hooked.make(tmp_path / "repo", "", replace=[])


def test_a_rename_that_the_type_checker_rejects_is_undone(desk):
    desk.repo.commit(MYPY | {"hidden.py": HIDDEN})
    code, _, err = desk.specedit(*RENAME, "--verify")
    assert code == 2 and "undone, since mypy: hidden.py: error: Item" in err
    assert "edited" not in err
    assert desk.repo.git("status", "--porcelain") == ""
    assert desk.specedit("undo")[0] == 2  # no run is left


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
@pytest.mark.parametrize(
    ("new", "code", "text"),
    [
        ("sum", 0, "verified: tsc reports no new error; 2 were there before"),
        ("totally", 2, "undone, since tsc: cart.ts: error TS2: no total"),
    ],
)
def test_only_what_the_compiler_reports_anew_counts(desk, new, code, text):
    desk.repo.commit(
        {
            "tsconfig.json": "{}\n",
            "cart.ts": "export class Cart { prize = 1 }\n",
            "old.ts": "// a total\n",
            ".gitignore": "node_modules\n",
            "node_modules/.bin/tsc": TSC,
        }
    )
    (desk.repo.root / "node_modules/.bin/tsc").chmod(0o755)
    done, _, err = desk.specedit("rename", "prize", new, "--no-model", "--verify")
    assert (done, text in err) == (code, True), err
    assert (desk.repo.git("status", "--porcelain") == "") is (code == 2)


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"cart.py": CART}, "no compiler or type checker for python is installed and set up here"),
        (MYPY | {"broken.py": "def (:\n"}, "mypy fails: "),
    ],
    ids=["nothing is set up", "it fails before"],
)
def test_what_cannot_be_verified_is_not_written(desk, files, text):
    desk.repo.commit(files)
    code, _, err = desk.specedit(*RENAME, "--verify")
    assert code == 2 and text in err
    assert desk.repo.read("cart.py") == CART


def test_a_preview_cannot_be_verified(desk):
    desk.repo.commit(MYPY)
    code, _, err = desk.specedit(*RENAME, "--verify", "--check")
    assert code == 2 and "--verify needs files to write" in err
