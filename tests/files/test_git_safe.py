"""Guarantee 10: nothing that a cloned repository says is run when git is asked about it.

Real git, and a repository for each trick that makes git start a program; each program would make a
file called `ran`.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from effort import some
from git_repository import CLEAN, Repository

from specedit.errors import GitError, SpeceditError
from specedit.files import git
from specedit.files.git import ask

Trick = Callable[[Repository, str], None]
GIT = shutil.which("git")
TEXT = "username = 1\n"
RULES = """\
[[tool.specedit.hook]]
rename = ["username", "email"]
files = "*.py"
mode = "check"
"""


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [n for n in os.environ if n.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in CLEAN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global"))


def _configured(repo: Repository, text: str) -> None:
    with (repo.root / ".git/config").open("a") as file:
        file.write(text)


def _fsmonitor(repo: Repository, run: str) -> None:
    _configured(repo, f'[core]\nfsmonitor = "{run} #"\n')


def _bare_inside(repo: Repository, run: str) -> None:
    """A whole repository, committed as the files of a folder."""
    for folder in (repo.root, repo.root / "sub"):
        subprocess.run(["git", "init", "-q", "--bare", "x"], cwd=repo.root.parent, check=True)
        bare = repo.root.parent / "x"
        for one in bare.iterdir():
            with suppress(OSError):
                one.rename(folder / one.name)
        head = "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n"
        (folder / "config").write_text(f'{head}fsmonitor = "{run} #"\n')


def _filter(key: str, name: str = "evil") -> Trick:
    def trick(repo: Repository, run: str) -> None:
        _configured(repo, f'[filter "{name}"]\n{key} = "{run}; cat"\nrequired = true\n')
        repo.write(".gitattributes", f"*.py filter={name} diff={name}\n")

    trick.__name__ = f"filter-{key}-{name}"
    return trick


def _diff(key: str) -> Trick:
    def trick(repo: Repository, run: str) -> None:
        _configured(repo, f'[diff "evil"]\n{key} = "{run}; cat"\n[diff]\nexternal = "{run}"\n')
        repo.write(".gitattributes", "*.py diff=evil\n")

    trick.__name__ = f"diff-{key}"
    return trick


def _hooks(repo: Repository, run: str) -> None:
    for name in ("post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"):
        path = repo.write(f".git/hooks/{name}", f"#!/bin/sh\n{run}\n")
        path.chmod(0o755)


def _hooks_path(repo: Repository, run: str) -> None:
    path = repo.write("hooks/post-index-change", f"#!/bin/sh\n{run}\n")
    path.chmod(0o755)
    _configured(repo, "[core]\nhooksPath = hooks\n")


def _included(repo: Repository, run: str) -> None:
    repo.write("more", f'[core]\nfsmonitor = "{run} #"\n[filter "evil"]\nclean = "{run}; cat"\n')
    repo.write(".gitattributes", "*.py filter=evil\n")
    _configured(repo, "[include]\npath = ../more\n")


def _worktree_config(repo: Repository, run: str) -> None:
    _configured(repo, "[extensions]\nworktreeConfig = true\n")
    repo.write(
        ".git/config.worktree", f'[filter "evil"]\nclean = "{run}; cat"\nprocess = "{run}"\n'
    )
    repo.write(".gitattributes", "*.py filter=evil\n")


def _git_file(repo: Repository, run: str) -> None:
    _fsmonitor(repo, run)
    (repo.root / ".git").rename(repo.root / "elsewhere")
    repo.write(".git", "gitdir: elsewhere\n")


def _missing_object(repo: Repository, run: str) -> None:
    """A clone that is only a part fetches the rest by the program that its remote names."""
    _configured(
        repo,
        "[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n"
        f'[remote "origin"]\nurl = "ext::sh -c {run.replace(" ", "% ")}"\nuploadpack = "{run} #"\n'
        'promisor = true\n[protocol]\nallow = always\n[protocol "ext"]\nallow = always\n',
    )
    for blob in ("HEAD:sub/a.py", ":sub/a.py"):
        name = repo.git("rev-parse", blob).strip()
        (repo.root / ".git/objects" / name[:2] / name[2:]).unlink(missing_ok=True)


def _submodule(repo: Repository, run: str) -> None:
    inner = Repository.init(repo.root / "inner")
    inner.commit({"in.py": TEXT})
    repo.git("add", "inner")
    repo.git("commit", "-q", "-m", "inner")
    _fsmonitor(inner, run)
    _filter("clean")(inner, run)
    inner.write("in.py", "username = 3\n")


def _alias_and_programs(repo: Repository, run: str) -> None:
    keys = "pager editor sshCommand gitProxy askPass alternateRefsCommand virtualFilesystem"
    lines = "".join(f'{key} = "{run} #"\n' for key in keys.split())
    names = ["rev-parse", "status", "diff", "grep", "ls-files", "cat-file", "hash-object", "config"]
    aliases = "".join(f'{name} = "!{run}"\n' for name in names)
    _configured(repo, f'[core]\n{lines}[alias]\n{aliases}[gpg]\nprogram = "{run}"\n')
    _configured(
        repo, f'[pager]\nstatus = "{run}"\ngrep = "{run}"\n[credential]\nhelper = "!{run}"\n'
    )


TRICKS = [
    *(_fsmonitor, _bare_inside, _hooks, _hooks_path, _included, _worktree_config, _git_file),
    *(_missing_object, _submodule, _alias_and_programs),
    *(_filter(key) for key in ("clean", "smudge", "process")),
    *(_filter("clean", "a.b-c"), _filter("smudge", "x=y"), _filter("clean", "lfs")),
    *(_diff(key) for key in ("command", "textconv")),
]


@pytest.fixture(params=some(TRICKS, 2), ids=lambda t: t.__name__.strip("_"))
def repo(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Repository]:
    """A repository with a trick in it, whose files differ from what is staged and committed."""
    made = Repository.init(tmp_path / "repo", GIT_CONFIG_GLOBAL=str(tmp_path / "global"))
    (tmp_path / "global").write_text(f"[safe]\ndirectory = {made.root}\n")
    made.commit({"sub/a.py": TEXT, "b.py": TEXT, "pyproject.toml": RULES})
    made.write("b.py", "username = 2\n")
    made.git("add", "b.py")
    made.write("b.py", "username = 2\nmore = 1\n")
    made.write("sub/a.py", "username = 4\n")
    made.write("new.py", TEXT)
    ran = tmp_path / "ran"
    request.param(made, f"touch {ran}")
    ran.unlink(missing_ok=True)  # what building the repository ran itself
    monkeypatch.chdir(made.root)
    yield made
    assert not ran.exists(), f"{request.param.__name__} ran"


def asked(function: Callable[[], object]) -> None:
    """An answer and an error are both right: what counts is that nothing is run."""
    with suppress(SpeceditError, OSError):
        function()


def test_guarantee_10_no_question_to_git_runs_what_a_repository_says(repo, specedit, script):
    root = repo.root
    staged = b"username = 2\n"
    entry = git.Staged("b.py", hashlib.sha1(b"blob %d\0%b" % (len(staged), staged)).hexdigest())
    for here in (root, root / "sub"):
        asked(lambda here=here: git.top(here))
        for how in (
            {"staged": True},
            {"changed": True},
            {"since": "HEAD"},
            {"containing": ["user"]},
        ):
            asked(lambda here=here, how=how: git.choose(here, **how))
        asked(lambda here=here: git.choose(here, containing=["user"], changed=True))
    asked(lambda: git.dirty([root / "sub/a.py"]))
    asked(lambda: git.dirty([root / "b.py", root / "inner/in.py"]))
    asked(lambda: git.staged_files(root))
    asked(lambda: git.indexed(root, ["b.py", "sub/a.py"]))
    asked(lambda: git.content(root, entry))
    asked(lambda: git.blob_of(root, "b.py", b"x\n"))
    asked(lambda: git.merge(root, b"a\n", b"a\n", b"b\n"))
    asked(lambda: git.hooks_folder(root))
    asked(lambda: git.hooks_path(root))
    script(replace=[["username", "email"]])
    for words in (
        ("edit", "Say email.", "sub/a.py", "--diff"),
        ("edit", "Say email.", "b.py", "--clean-only", "--diff"),
        ("rename", "username", "email", "--check"),
        ("rename", "username", "email", "--changed", "--check"),
        ("hook", "run"),
    ):
        done = specedit(*words, cwd=repo.root / ("sub" if words[0] == "rename" else "."))
        assert b"Traceback" not in done.stderr, done.stderr.decode()


@pytest.mark.parametrize("key", ["clean", "process"])
def test_guarantee_10_a_moved_file_s_entry_is_written_without_filters(tmp_path, specedit, key):
    """Git compares a file that is as old as the index when it writes the index."""
    repo = Repository.init(tmp_path / "repo")
    repo.commit({"sub/a.py": TEXT, "b.py": TEXT})
    ran = tmp_path / "ran"
    _filter(key)(repo, f"touch {ran}")
    os.utime(repo.root / ".git/index", (1, 1))
    done = specedit("rename", "sub/a.py", "sub/c.py", "--no-model", cwd=repo.root)
    assert done.returncode == 0, done.stderr.decode()
    assert "sub/c.py" in ask(repo.root, "ls-files")[1].decode() and not ran.exists()


def test_every_trick_works_where_git_is_asked_plainly(tmp_path):
    """Without this a trick that git does not fall for would prove nothing."""
    works = set()
    for number, trick in enumerate(TRICKS):
        made = Repository.init(tmp_path / str(number))
        made.commit({"sub/a.py": TEXT, "b.py": TEXT})
        ran = tmp_path / f"ran{number}"
        trick(made, f"touch {ran}")
        ran.unlink(missing_ok=True)
        made.write("b.py", "username = 9\n")
        os.utime(made.root / "sub/a.py", (1, 1))  # so that `status` writes the index
        made.at(made.root / "sub").git("status", ok=False)
        for words in (
            ("status",),
            ("diff",),
            ("diff", "HEAD"),
            ("update-index", "--refresh"),
            ("cat-file", "--filters", "HEAD:sub/a.py"),
            ("hash-object", "--path=b.py", "b.py"),
        ):
            made.git(*words, ok=False)
        if ran.exists():
            works.add(trick.__name__.strip("_"))
    assert {t.__name__.strip("_") for t in TRICKS} - works == {"alias_and_programs"}


def test_guarantee_10_hooks_that_a_configuration_names_are_switched_off(
    tmp_path, specedit, monkeypatch
):
    """Git starts them from version 2.54 on; what it is asked shows that they are off."""
    repo = Repository.init(tmp_path / "work")
    repo.commit({"a.py": "old = 1\n"})
    config = '[hook "a.b"]\ncommand = "touch pwned"\nevent = post-index-change\n'
    _configured(repo, config)
    (tmp_path / "git").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexec {GIT} "$@"\n')
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(repo.root)
    assert specedit("rename", "a.py", "b.py").returncode == 0
    asked = (tmp_path / "asked").read_text().splitlines()
    writing = [line for line in asked if " update-index " in line]
    assert writing and all("hook.a.b.enabled=false" in line for line in writing)


def test_filters_of_the_user_s_own_configuration_still_work(tmp_path, monkeypatch):
    made = Repository.init(tmp_path / "repo")
    clean = '[filter "up"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n\trequired = true\n'
    (tmp_path / "global").write_text(clean)
    made.commit({"a.py": "X\n"})
    made.write(".gitattributes", "*.py filter=up\n")
    blob = git.blob_of(made.root, "b.py", b"x\n")
    assert (
        git.content(made.root, git.Staged("b.py", made.git("rev-parse", ":a.py").strip())) == b"x\n"
    )
    _configured(made, f'[filter "up"]\nclean = "touch {tmp_path / "ran"}"\n')
    assert git.blob_of(made.root, "b.py", b"x\n") == blob
    assert blob == made.git("rev-parse", ":a.py").strip()
    assert not (tmp_path / "ran").exists()


def test_a_work_tree_that_the_configuration_puts_elsewhere_is_refused(tmp_path, monkeypatch):
    made = Repository.init(tmp_path / "home/repo")
    made.commit({"a.py": TEXT})
    made.git("config", "core.worktree", str(tmp_path / "home"))
    with pytest.raises(SpeceditError, match="work tree is"):
        git.choose(made.root, containing=["username"])


@pytest.mark.parametrize("harm", ["another owner", "no objects"])
def test_a_repository_that_git_refuses_has_no_clean_files(harm, tmp_path, monkeypatch):
    made = Repository.init(tmp_path / "repo")
    made.commit({"a.py": TEXT})
    if harm == "no objects":
        shutil.rmtree(made.root / ".git/objects")
    else:
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    made.write("a.py", TEXT * 2)
    with pytest.raises(GitError, match="fatal: "):
        git.dirty([made.root / "a.py"])


def test_colours_that_a_configuration_asks_for_are_in_no_name(tmp_path):
    made = Repository.init(tmp_path / "repo")
    made.commit({"a.py": TEXT})
    made.write("a.py", TEXT * 2)
    for key in ("ui", "grep", "diff", "status"):
        made.git("config", f"color.{key}", "always")
    for how in ({"containing": ["username"]}, {"changed": True}):
        assert [path.name for path in git.choose(made.root, **how)] == ["a.py"]
    assert git.dirty([made.root / "a.py"])


def test_no_question_waits_for_somebody_to_answer(tmp_path):
    made = Repository.init(tmp_path / "repo")
    code, out = ask(made.root, "config", "--get", "core.fsmonitor")
    assert (code, out) == (0, b"false\n")
