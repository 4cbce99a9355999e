"""A change of several files whose process was killed: the next command completes or reverts it."""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from case_files import rows
from faults import child, ended
from killed_runs import NAMES, NEW, OLD, change, held, killed
from lsp_client import Process

from specedit.api import Editor
from specedit.errors import InputError, UsageError
from specedit.files import atomic, journal, recorder
from specedit.files.recorder import Recorder, Trial
from specedit.files.source import read
from specedit.files.undo import forget, recover, undo

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_bytes(OLD)
    return folder


@pytest.mark.parametrize("number", range(len(NAMES) + 1))
def test_guarantee_3_a_change_of_several_files_that_is_killed_is_reverted_or_completed(
    tree, tmp_path, number
):
    store = tmp_path / "store"
    killed(number, lambda: change(store, tree))
    assert held(tree) == [NEW] * number + [OLD] * (len(NAMES) - number)
    lines = recover(store)
    assert held(tree) == [NEW if number == len(NAMES) else OLD] * len(NAMES)
    word = ["", "reverted the change", "reverted the change", "completed the change"][number]
    assert len(lines) == (number > 0) and all(line.startswith(word) for line in lines)
    assert recover(store) == [] and not list(tree.glob(".specedit-*"))
    if number == len(NAMES):
        assert not undo(store).refused
    assert held(tree) == [OLD] * len(NAMES) and journal.runs(store) == []


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_guarantee_3_an_undo_that_is_killed_is_completed(tree, tmp_path, number):
    store = tmp_path / "store"
    change(store, tree)
    killed(number, lambda: undo(store) and None)
    assert held(tree) == [NEW] * (len(NAMES) - number) + [OLD] * number
    assert len(recover(store)) == 1
    assert held(tree) == [OLD if number else NEW] * len(NAMES)
    assert recover(store) == [] and bool(journal.runs(store)) == (not number)


def test_another_process_neither_reverts_nor_undoes_a_change_at_work(tree, tmp_path):
    store = tmp_path / "store"
    reached, go = os.pipe(), os.pipe()

    def work() -> None:
        real, count = recorder.alone, 0

        def alone(place: Path) -> AbstractContextManager[None]:
            nonlocal count
            count += 1
            if count == 3:  # for the mark, for the first file, for the second
                os.write(reached[1], b".")
                os.read(go[0], 1)
            return real(place)

        recorder.alone = alone  # type: ignore[attr-defined]
        change(store, tree)

    pid = child(work)
    os.read(reached[0], 1)
    assert recover(store) == [] and held(tree) == [NEW, OLD, OLD]
    for refused in (undo, forget):
        with pytest.raises(UsageError, match="still running"):
            refused(store)
    os.write(go[1], b".")
    assert ended(pid) == 0 and held(tree) == [NEW] * len(NAMES)
    for handle in (*reached, *go):
        os.close(handle)
    assert recover(store) == []


def test_an_interrupt_between_two_files_restores_all_of_them(tree, tmp_path, monkeypatch):
    store, real = tmp_path / "store", atomic.replace

    def interrupted(source: object, data: bytes, *more: object, **words: object) -> None:
        real(source, data, *more, **words)  # type: ignore[arg-type]
        if held(tree)[1] == NEW and data == NEW:
            raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        change(store, tree)
    assert held(tree) == [OLD] * len(NAMES) and journal.runs(store) == []


def test_what_was_modified_since_the_kill_is_not_overwritten(tree, tmp_path):
    store = tmp_path / "store"
    killed(2, lambda: change(store, tree))
    (tree / "a.py").write_bytes(b"mine\n")
    for _ in range(2):  # it says so until the user decides
        (line,) = recover(store)
        assert "a.py changed since" in line and "specedit undo --partly --run" in line
        assert held(tree) == [b"mine\n", NEW, OLD]
    undo(store, partly=True)
    assert held(tree) == [b"mine\n", OLD, OLD] and recover(store) == []


def test_a_try_that_is_killed_while_its_journal_is_deleted_leaves_nothing_to_undo(tree, tmp_path):
    """Deleting a folder is many steps: after the first, nothing may take it for a run."""
    store = tmp_path / "store"

    def dies() -> None:
        def half(folder: Path, **_: object) -> None:
            (folder / journal.ORIGINALS).unlink()
            os._exit(9)

        journal.shutil.rmtree = half  # type: ignore[attr-defined,assignment]
        with Trial(store, tree, "edit") as tried:
            tried.put([(read(tree / name), NEW) for name in NAMES])
            tried.take_out()

    assert ended(child(dies)) == 9 and held(tree) == [OLD] * len(NAMES)
    with pytest.raises(UsageError, match="nothing to undo"):
        undo(store)
    assert recover(store) == [] and not list((store / "journal").iterdir())


def test_undo_clears_up_a_run_that_was_killed_before_it_wrote(tree, inside):
    def dies() -> None:
        Recorder._stored = lambda *_: os._exit(9)  # type: ignore[method-assign]
        change(journal.home(), tree)

    assert ended(child(dies)) == 9 and list((journal.home() / "journal").iterdir())
    assert inside("undo", cwd=tree).returncode == 2
    assert held(tree) == [OLD] * len(NAMES) and not list((journal.home() / "journal").iterdir())


def test_a_run_that_was_killed_before_its_journal_leaves_no_mark(tree, tmp_path):
    def dies() -> None:
        Recorder._save = lambda *_: os._exit(9)  # type: ignore[method-assign]
        change(tmp_path / "store", tree)

    assert ended(child(dies)) == 9
    runs = tmp_path / "store" / "journal"
    assert list(runs.glob("*/unfinished"))
    assert recover(tmp_path / "store") == [] and not list(runs.iterdir())


def test_files_that_are_gone_are_forgotten(tree, tmp_path):
    store = tmp_path / "store"
    killed(2, lambda: change(store, tree))
    for name in NAMES:
        (tree / name).unlink()
    assert recover(store) == [] == recover(store)
    assert not any(run.unfinished for run in journal.runs(store))


def test_a_try_that_is_killed_is_reverted_even_when_it_is_whole(tree, tmp_path):
    store = tmp_path / "store"

    def tries() -> None:
        with Trial(store, tree, "edit") as trial:
            trial.put([(read(tree / name), NEW) for name in NAMES])
            os._exit(9)

    assert ended(child(tries)) == 9 and held(tree) == [NEW] * len(NAMES)
    (line,) = recover(store)
    assert line.startswith("reverted the try of 3 files (edit, ") and "judged" in line
    assert held(tree) == [OLD] * len(NAMES) and journal.runs(store) == []


@pytest.mark.parametrize("after", [False, True], ids=["before the write", "after the write"])
def test_a_file_whose_write_is_killed_is_cleared_up_by_the_next_command(tree, inside, after):
    def dies() -> None:
        def put(path: Path, held: object, draft: Path, real: Any = atomic._put) -> None:
            if after:
                atomic.exchange(draft, path)
            os._exit(9)

        atomic._put = put  # type: ignore[assignment]
        Recorder(journal.home(), "edit").write(read(tree / "a.py"), NEW)

    assert ended(child(dies)) == 9 and list(tree.glob(".specedit-*"))
    done = inside("undo", "--list", cwd=tree)
    assert not list(tree.glob(".specedit-*"))
    assert held(tree) == [NEW if after else OLD, OLD, OLD]
    assert (b"a.py" in done.stdout) is after
    assert inside("undo", cwd=tree).returncode == (0 if after else 2)
    assert held(tree) == [OLD] * 3


def test_a_file_that_was_half_written_in_place_is_completed(tree, tmp_path, monkeypatch):
    """It has hard links; the other file of the run is an edit of its own."""
    store = tmp_path / "store"
    (tree / "link.py").hardlink_to(tree / "b.py")

    def edits() -> None:
        def torn(handle: int, data: bytes) -> None:
            os.pwrite(handle, data[:4], 0)
            os._exit(9)

        atomic._overwrite = torn
        recorder = Recorder(store, "edit")
        for name in ("a.py", "b.py"):
            recorder.write(read(tree / name), NEW)

    assert ended(child(edits)) == 9
    assert held(tree) == [NEW, NEW[:4] + OLD[4:], OLD]
    (line,) = recover(store)
    assert "completed" in line and "b.py" in line
    assert held(tree) == [NEW, NEW, OLD] and (tree / "link.py").read_bytes() == NEW
    assert not undo(store).refused and held(tree) == [OLD] * len(NAMES)


def test_a_change_that_cannot_be_written_whole_is_not_written(tree, tmp_path):
    texts = [(read(tree / name), NEW) for name in NAMES]
    (tree / "c.py").write_bytes(b"other\n")
    with pytest.raises(InputError, match="changed on disk"):
        Recorder(tmp_path / "store", "rename").write_all(texts)
    assert held(tree) == [OLD, OLD, b"other\n"] and journal.runs(tmp_path / "store") == []


@rows("words")
def test_the_next_command_reverts_it_and_says_so_in_one_line(tree, inside, script, words):
    script(replace=[["username", "email"]])
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    killed(2, lambda: change(journal.home(), tree))
    done = inside(*words, cwd=tree)
    assert held(tree) == [OLD] * len(NAMES)
    said = [line for line in done.stderr.decode().splitlines() if "reverted" in line]
    if words == ["undo"]:  # it chooses this run, and shows its files
        assert done.returncode == 0 and b"put back" in done.stderr
    else:
        assert len(said) == 1 and said[0].startswith("specedit: reverted the change of 3 files")


def test_a_language_server_that_runs_reverts_it_before_its_next_request(tree):
    process = Process(tree)
    editor = process.editor
    editor.start()
    killed(2, lambda: change(journal.home(), tree))
    answer = editor.wait(editor.rename((tree / "c.py").as_uri(), (0, 1), "mail"))
    assert "result" in answer and held(tree) == [OLD] * len(NAMES)
    assert "reverted" in editor.shown()[0]
    assert process.leave() == 0


def test_an_editor_from_python_reverts_it_and_warns(tree):
    killed(2, lambda: change(journal.home(), tree))
    with pytest.warns(UserWarning, match="reverted the change of 3 files"):
        Editor(engine="exact").close()
    assert held(tree) == [OLD] * len(NAMES)


def test_a_change_of_many_files_waits_for_the_disk_a_few_times(tmp_path, monkeypatch):
    if not atomic.sync_file_system(tmp_path):
        pytest.skip("this system cannot put a whole file system on the disk")
    waits: list[object] = []
    for module, name in ((os, "fsync"), (atomic, "sync_file_system")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda at, real=real: waits.append(at) or real(at))
    paths = [tmp_path / f"{number}.py" for number in range(30)]
    for path in paths:
        path.write_bytes(OLD)
    Recorder(tmp_path / "store", "rename").write_all([(read(path), NEW) for path in paths])
    assert {path.read_bytes() for path in paths} == {NEW} and len(waits) < 10
    waits.clear()
    undo(tmp_path / "store")
    assert {path.read_bytes() for path in paths} == {OLD} and len(waits) < 10
