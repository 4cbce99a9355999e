"""The manifest for the pre-commit framework, with the real framework on a real repository."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from git_repository import Repository
from hook_repository import START, Hooked

pytestmark = pytest.mark.tools

ROOT = Path(__file__).parents[2]
ASK = '[[tool.specedit.hook]]\ninstruction = "Old becomes New."\nfiles = ["*.py"]\n'
CONFIG = """\
repos:
  - repo: {repo}
    rev: {rev}
    hooks:
      - id: {id}
"""


@pytest.fixture
def hooked(tmp_path: Path) -> Hooked:
    made = Hooked.make(tmp_path / "repo", ASK)
    made.repo.env["PRE_COMMIT_HOME"] = str(tmp_path / "pre-commit")
    place = tmp_path / "bin"
    place.mkdir()
    script = place / "specedit"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specedit "$@"\n')
    script.chmod(0o755)
    made.repo.env["PATH"] = f"{place}:{made.repo.env['PATH']}"
    return made


def published(root: Path, hook: str) -> tuple[Path, str]:
    """This project as pre-commit fetches it: a git repository with the manifest."""
    source = Repository.init(root)
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", root)
    if hook == "specedit":  # the framework installs it
        for name in ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py"):
            shutil.copy(ROOT / name, root)
        shutil.copytree(ROOT / "specedit", root / "specedit")
        project = (root / "pyproject.toml").read_text()
        project = re.sub(r"(?ms)^dependencies = \[.*?^\]", "dependencies = []", project)
        (root / "pyproject.toml").write_text(project)
    source.commit({})
    return root, source.git("rev-parse", "HEAD").strip()


def framework(hooked: Hooked, *words: str) -> tuple[int, str]:
    done = hooked.repo.run(sys.executable, "-m", "pre_commit", *words, ok=False)
    return done.returncode, (done.stdout + done.stderr).decode()


def use(hooked: Hooked, tmp_path: Path, hook: str) -> None:
    repo, rev = published(tmp_path / "published", hook)
    hooked.repo.stage({".pre-commit-config.yaml": CONFIG.format(repo=repo, rev=rev, id=hook)})


def test_the_manifest_is_valid():
    words = [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_commit_through_the_framework(hooked, tmp_path):
    use(hooked, tmp_path, "specedit-installed")
    assert framework(hooked, "install")[0] == 0
    hooked.repo.stage({"a b.py": "Old = 1\n", "clean.py": "x = 1\n"})
    hooked.repo.write("clean.py", "x = 1\nOld = 2  # not staged\n")
    code, text = hooked.commit()
    assert code == 1 and "-Old = 1\n+New = 1\n" in text and "a b.py: rewritten" in text
    assert hooked.repo.read("a b.py") == "New = 1\n"
    assert hooked.repo.read("clean.py") == "x = 1\nOld = 2  # not staged\n"
    hooked.repo.git("add", "a b.py")
    code, text = hooked.commit()
    assert code == 0 and "Passed" in text
    assert hooked.asked == 2


def test_all_files_are_looked_at_when_the_framework_is_asked_to(hooked, tmp_path):
    use(hooked, tmp_path, "specedit-installed")
    hooked.repo.commit({"a.py": "Old = 1\n", "sub/b.py": "Old = 1\n", "c.txt": "Old\n"})
    code, text = framework(hooked, "run", "--all-files")
    assert code == 1 and "files were modified by this hook" in text
    assert hooked.repo.read("a.py") == hooked.repo.read("sub/b.py") == "New = 1\n"
    assert hooked.repo.read("c.txt") == "Old\n"
    hooked.repo.git("add", "-A")
    assert framework(hooked, "run", "--all-files")[0] == 0


def test_ours_beside_the_framework_s_own_hook(hooked, tmp_path):
    use(hooked, tmp_path, "specedit-installed")
    framework(hooked, "install")
    assert hooked.specedit("hook", "install")[0] == 0
    hooked.repo.stage({"a.py": "Old = 1\n"})
    assert hooked.commit()[0] == 1
    assert hooked.specedit("hook", "uninstall")[0] == 0
    assert "pre-commit" in (hooked.repo.root / ".git/hooks/pre-commit").read_text()


@pytest.mark.long
def test_the_framework_installs_specedit_itself(hooked, tmp_path):
    """`language: python`; dependencies come from this environment, for they are a gigabyte."""
    site = sysconfig.get_path("purelib")
    use(hooked, tmp_path, "specedit")
    hooked.repo.env["SPECEDIT_BUILD"] = "none"  # kernels take minutes to compile
    hooked.repo.env["PYTHONPATH"] = os.pathsep.join([START.split(os.pathsep)[0], site])
    hooked.repo.stage({"a.py": "Old = 1\n"})
    code, text = framework(hooked, "run")
    assert code == 1 and "a.py: rewritten" in text
    results = list((tmp_path / "pre-commit").glob("repo*/py_env-*/bin/specedit"))
    assert len(results) == 1, json.dumps(text)
