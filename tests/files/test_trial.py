"""A work tree while an edit is tried in it: what is journalled, kept, and put back."""

import os
import stat
from pathlib import Path

import pytest

from specedit.errors import InputError, UsageError
from specedit.files import journal, source
from specedit.files.recorder import Trial, Wish
from specedit.files.undo import undo, unfinished

A, B = b"one\r\ntwo", b"\xef\xbb\xbfthree\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a").write_bytes(A)
    (root / "b").write_bytes(B)
    return root


def trial(tree: Path) -> Trial:
    return Trial(tree.parent / "store", tree, "edit", Wish("Do it"))


def texts(tree: Path) -> list[tuple[source.Source, bytes]]:
    return [(source.read(tree / "a"), b"new a\n"), (source.read(tree / "b"), b"new b\n")]


def held(tree: Path) -> tuple[bytes, bytes]:
    return (tree / "a").read_bytes(), (tree / "b").read_bytes()


def test_what_is_put_is_marked_and_comes_out_again(tree):
    store = tree.parent / "store"
    with trial(tree) as tried:
        for _ in range(2):
            tried.put(texts(tree))
            assert held(tree) == (b"new a\n", b"new b\n")
            (run,) = journal.runs(store)
            assert run.unfinished and run.tree == str(tree) and run.instruction == "Do it"
            assert not list(unfinished(store)), "whoever tries it lives"
            assert [one.aside for one in tried.take_out()] == ["", ""]
            assert held(tree) == (A, B) and not journal.runs(store)


def test_what_is_tried_is_in_the_journal_however_much_others_write(tree):
    store = tree.parent / "store"
    with trial(tree) as tried:
        tried.put(texts(tree))
        journal.prune(store, most=0, most_bytes=0)
        assert [run.unfinished for run in journal.runs(store)] == [True]
    assert held(tree) == (A, B)


def test_no_two_tries_look_alike_to_a_cache_of_seconds_and_sizes(tree):
    """As Python's compiled files are: also where the original was back between two tries."""
    texts_by_stamp: dict[tuple[int, int], set[bytes]] = {}
    with trial(tree) as tried:
        for text in (b"a + b\n", b"a * b\n"):
            tried.put([(source.read(tree / "a"), text)])
            status = (tree / "a").stat()
            texts_by_stamp.setdefault((int(status.st_mtime), status.st_size), set()).add(text)
            tried.take_out()
    assert [len(texts) for texts in texts_by_stamp.values()] == [1, 1]


def test_all_of_a_try_is_written_or_none_of_it(tree):
    found = texts(tree)
    (tree / "b").write_bytes(b"somebody else's\n")
    with trial(tree) as tried, pytest.raises(InputError, match="changed on disk"):
        tried.put(found)
    assert held(tree) == (A, b"somebody else's\n")


@pytest.mark.skipif(os.name == "nt", reason="POSIX")
def test_hard_links_modes_and_what_takes_the_files_place(tree):
    os.link(tree / "a", tree / "other name")
    (tree / "b").chmod(0o640)
    with trial(tree) as tried:
        tried.put(texts(tree))
        assert (tree / "other name").read_bytes() == b"new a\n"
        (tree / "b").unlink()
        (tree / "b").symlink_to("a")
        tried.take_out()
    assert (tree / "other name").read_bytes() == A and (tree / "a").stat().st_nlink == 2
    assert not (tree / "b").is_symlink() and held(tree) == (A, B)
    assert stat.S_IMODE((tree / "b").stat().st_mode) == 0o640


def test_what_cannot_be_put_back_leaves_the_others_right_and_the_journal_there(tree):
    store = tree.parent / "store"
    with pytest.raises(InputError, match="cannot be put back"), trial(tree) as tried:
        tried.put(texts(tree))
        (tree / "b").unlink()
        (tree / "b").mkdir()
    assert (tree / "a").read_bytes() == A
    (run,) = unfinished(store)
    assert run.tree == str(tree)
    with pytest.raises(UsageError, match="was killed during a test"), trial(tree):
        pass
    (tree / "b").rmdir()
    assert not undo(store).refused and held(tree) == (A, B)
    assert not list(unfinished(store))
