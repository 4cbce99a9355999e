"""Real git, real repositories: which files are chosen, what is staged, what would be lost."""

import os
from pathlib import Path

import pytest
from git_repository import CLEAN, Repository

from specedit.errors import UsageError
from specedit.files import git

pytestmark = pytest.mark.tools


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in CLEAN.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository.init(tmp_path / "repo")
    monkeypatch.chdir(made.root)
    return made


def chosen(here: Path | None = None, **how: object) -> set[str]:
    return {path.as_posix() for path in git.choose(here or Path.cwd(), **how)}  # type: ignore[arg-type]


ODD = [
    "plain.py",
    "with space.py",
    "naïve/ünïcode 文.py",
    "quote'\".py",
    "tab\there.py",
    "-dash.py",
]


@pytest.mark.parametrize("name", ODD, ids=range(len(ODD)))
def test_every_way_of_choosing_finds_a_file_whatever_its_name(repo, name):
    repo.commit({"other.py": "x = 1\n", name: "x = 1\n"})
    first = repo.git("rev-parse", "HEAD").strip()
    repo.write(name, "Old = 1\n")
    assert chosen(changed=True) == {name}
    assert chosen(containing=["Old"]) == {name}
    assert git.dirty([Path(name), Path("other.py")]) == {Path(name)}
    assert chosen(staged=True) == set()
    repo.git("add", "-A")
    assert chosen(staged=True) == {name}
    assert git.dirty([Path(name)]) == {Path(name)}
    repo.git("commit", "-q", "-m", "second")
    assert chosen(since=first) == {name}
    assert chosen(changed=True) == set()
    assert git.dirty([Path(name)]) == set()


def test_containing_looks_at_text_files_that_git_does_not_ignore(repo):
    repo.commit(
        {
            "has.py": "Old\n",
            "not.py": "Other\n",
            "deep/er/has.cs": "class Old {}\n",
            "b.bin": "\0Old",
            ".gitignore": "ignored.py\n",
        }
    )
    repo.write("new.py", "Old\n")
    repo.write("ignored.py", "Old\n")
    assert chosen(containing=["Old"]) == {"has.py", "deep/er/has.cs", "new.py"}
    assert chosen(containing=["Old"], changed=True) == {"new.py"}
    assert chosen(containing=["Old", "Other"]) == {"has.py", "not.py", "deep/er/has.cs", "new.py"}
    assert chosen(containing=["Nowhere"]) == set()
    assert chosen(containing=["-e"]) == set()


def test_the_whole_work_tree_is_chosen_from_and_named_as_seen(repo, monkeypatch):
    repo.commit({"top.py": "Old\n", "a/in.py": "Old\n", "b/in.py": "Old\n"})
    monkeypatch.chdir(repo.root / "a")
    assert chosen(containing=["Old"]) == {"../top.py", "in.py", "../b/in.py"}
    assert all(path.is_file() for path in git.choose(Path.cwd(), containing=["Old"]))
    monkeypatch.chdir(repo.root.parent)
    assert all(path.is_file() for path in git.choose(repo.root / "a", containing=["Old"]))


def test_what_is_no_file_to_edit_is_not_chosen(repo):
    repo.commit({"kept.py": "Old\n", "gone.py": "Old\n", "moved.py": "Old\n"})
    (repo.root / "link.py").symlink_to("kept.py")
    repo.git("add", "link.py")
    (repo.root / "gone.py").unlink()
    repo.git("mv", "moved.py", "new name.py")
    repo.write("kept.py", "Old = 2\n")
    repo.git("add", "kept.py")
    assert chosen(staged=True) == {"kept.py", "new name.py"}
    assert chosen(changed=True) == {"kept.py", "new name.py"}
    assert chosen(containing=["Old"]) == {"kept.py", "new name.py"}


def test_since_means_since_this_branch_left(repo):
    repo.commit({"a.py": "1\n", "b.py": "1\n"})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"b.py": "2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"a.py": "2\n"})
    repo.git("checkout", "-q", "topic")
    assert chosen(since="main") == {"b.py"}
    repo.write("c.py", "new\n")
    assert chosen(since="main") == {"b.py", "c.py"}


@pytest.mark.parametrize("ref", ["nowhere", "--output=x", ""])
def test_since_what_git_does_not_know_is_an_error(repo, ref):
    repo.commit({"a.py": "1\n"})
    with pytest.raises(UsageError, match="knows no such commit"):
        git.choose(repo.root, since=ref)
    assert repo.status() == ""


def test_dirty_asks_each_file_s_own_repository(repo, tmp_path):
    other = Repository.init(tmp_path / "other")
    repo.commit({"a.py": "1\n", ".gitignore": "skip.py\n"})
    other.commit({"b.py": "1\n"})
    other.write("b.py", "2\n")
    new, ignored = repo.write("new/file.py", "1\n"), repo.write("skip.py", "1\n")
    paths = [Path("a.py"), other.root / "b.py", new, ignored]
    assert git.dirty(paths) == {other.root / "b.py", new}


def test_dirty_answers_for_more_files_than_a_command_line_holds(repo):
    repo.commit({f"{n:04}.py": "1\n" for n in range(git.MAX_PATH_ARGUMENTS + 50)})
    repo.write("0007.py", "2\n")
    assert git.dirty(Path(f"{n:04}.py") for n in range(git.MAX_PATH_ARGUMENTS + 50)) == {
        Path("0007.py")
    }


def staged(repo: Repository) -> dict[str, git.Staged]:
    return {entry.name: entry for entry in git.staged_files(repo.root)}


def test_staged_content_has_the_newlines_of_a_checkout(repo):
    repo.stage({".gitattributes": "*.cs text eol=crlf\n", "a.cs": "1\r\n2\r\n"})
    entry = staged(repo)["a.cs"]
    assert git.content(repo.root, entry) == b"1\r\n2\r\n"
    assert entry.blob == git.blob_of(repo.root, "a.cs", b"1\r\n2\r\n")
    assert entry.blob == git.blob_of(repo.root, "plain", b"1\n2\n")
