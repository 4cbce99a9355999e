"""Renames in the sources of real packages, as they are installed here: mypy says nothing new after.

A rename counts as clean where mypy finds what it found before, with the new name in it; and as
wrong in silence where it does not and nothing was said.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from renaming import rename_texts
from test_rename_trees import texts

pytestmark = pytest.mark.tools

PACKAGES = {
    "starlette": ("scope", "Headers.getlist", "run_in_threadpool", "HTTPException", "receive"),
    "packaging": ("Specifier", "canonicalize_name", "is_prerelease", "_key", "contains"),
    "click": ("invoke", "Parameter", "get_current_context", "param_type_name", "consume_value"),
    "platformdirs": ("user_data_dir", "appname", "PlatformDirsABC", "_append_app_name_and_version",
                     "ensure_exists"),
}  # fmt: skip


def findings(folder: Path, package: str, cache: Path, old: str = "", new: str = "") -> Counter[str]:
    """What mypy says, without lines and columns, in the old words."""
    flags = ("--strict", "--no-error-summary", "--hide-error-context", "--no-pretty")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *flags, "--cache-dir", str(cache), "-p", package],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    lines = (line.split(": ", 1) for line in done.stdout.splitlines() if ": error: " in line)
    return Counter(said.replace(new, old) if new else said for _, said in lines)


@pytest.mark.parametrize("package", PACKAGES)
def test_five_names_of_a_real_package(package, tmp_path):
    pytest.importorskip("mypy")
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    home = Path(found.submodule_search_locations[0])
    shutil.copytree(home, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    before = texts(tmp_path)
    said = findings(tmp_path, package, tmp_path / ".cache")
    unclean, silent = [], []
    for name in PACKAGES[package]:
        old, new = name.split(".")[-1], "z" + name.split(".")[-1].strip("_") + "_q"
        tree = rename_texts(before, name, new, root=tmp_path)
        assert tree.files
        for path, guess in tree.files.items():
            (tmp_path / path).write_text(guess.text, encoding="utf-8")
        more = findings(tmp_path, package, tmp_path / ".cache", old, new) - said
        if more:
            unclean.append(f"{name}: {dict(more)}")
            doubts = any(guess.notes or guess.undecided for guess in tree.files.values())
            silent += [] if doubts or tree.unchanged else [name]
        for path in tree.files:
            (tmp_path / path).write_text(before[path], encoding="utf-8")
    assert len(unclean) <= 1, unclean
    assert not silent, unclean
