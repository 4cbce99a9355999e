"""A link that leads out of a work tree: named, asked about, or refused."""

import os
import sys
from pathlib import Path

import pytest
from command_line import at_a_terminal
from endpoint import listening, stream
from git_repository import Repository

from specedit.errors import InputError
from specedit.files.git import beyond


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = Repository.init(tmp_path / "repo")
    repo.write("in.py", "username = 1\n")
    repo.write("sub/deep.py", "username = 1\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/rc.py").write_text("username = 1\n")
    (tmp_path / "home/to_repo").symlink_to(repo.root)
    (repo.root / "out.py").symlink_to("../home/rc.py")
    (repo.root / "near.py").symlink_to("sub/deep.py")
    (repo.root / "folder").symlink_to("../home")
    (repo.root / "round.py").symlink_to("../home/to_repo/in.py")
    (repo.root / "config.py").symlink_to(".git/config")
    monkeypatch.chdir(repo.root)
    return repo.root


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("in.py", None),
        ("near.py", None),
        ("sub/../in.py", None),
        ("round.py", None),
        ("../home/rc.py", None),  # named as it is
        ("../home/to_repo/in.py", None),  # a link in no work tree
        ("out.py", "home/rc.py"),
        ("sub/../out.py", "home/rc.py"),
        ("folder/rc.py", "home/rc.py"),
        ("../home/to_repo/out.py", "home/rc.py"),
        ("config.py", "repo/.git/config"),
    ],
)
def test_beyond_is_where_a_link_out_of_the_work_tree_leads(tree, name, target):
    wanted = None if target is None else Path(os.path.realpath(tree.parent / target))
    assert beyond(name) == beyond(tree / name) == wanted


def test_guarantee_10_a_link_out_of_the_work_tree_is_refused_without_a_terminal(
    specedit, script, tree
):
    script(replace=[["username", "email"]])
    done = specedit("edit", "Say email.", "out.py", "folder/rc.py", "near.py", stdin=b"y\ny\n")
    assert done.returncode == 2
    assert done.stderr.count(str(tree.parent / "home/rc.py").encode()) == 2
    assert b"outside its work tree" in done.stderr
    assert (tree.parent / "home/rc.py").read_text() == "username = 1\n"
    assert (tree / "sub/deep.py").read_text() == "email = 1\n"
    assert specedit("edit", "Say email.", "../home/rc.py").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
@pytest.mark.parametrize(("answer", "text"), [(b"y\n", "email = 1\n"), (b"\n", "username = 1\n")])
def test_the_user_at_a_terminal_sees_the_target_and_is_asked(script, tree, answer, text):
    script(replace=[["username", "email"]], rated=True)
    _, shown = at_a_terminal(answer, "edit", "Say email.", "out.py")
    assert "out.py is a link to " in shown and "rc.py, outside its work tree" in shown
    assert (tree.parent / "home/rc.py").read_text() == text
    assert (tree / "out.py").is_symlink()


def test_what_a_link_leads_to_outside_is_sent_to_no_server(tree, inside, monkeypatch):
    """The user has named the server, and the link came with the repository."""
    from specedit import Editor

    with listening() as server:
        server.answer = stream("```\nemail = 1\n", "```")
        monkeypatch.setenv("SPECEDIT_SERVER", server.url)
        monkeypatch.setenv("SPECEDIT_PROFILE", "openai")
        with Editor() as editor:
            with pytest.raises(InputError, match="outside its work tree"):
                editor.edit("Say email.", "out.py")
            with pytest.raises(InputError, match="outside its work tree"):
                editor.rename("username", "email", tree / "folder/rc.py")
        done = inside("edit", "Say email.", "in.py", "--diff", "--prediction", "out.py")
        assert done.returncode == 2 and b"outside its work tree" in done.stderr
        assert server.requests == []
        done = inside("edit", "Say email.", "in.py", "--diff", "--prediction", "near.py")
        assert done.returncode == 0 and len(server.requests) == 1
