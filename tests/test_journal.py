"""The journal: what a run found before it wrote can be put back, and nothing else is touched."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from specedit.errors import InputError, UsageError
from specedit.files import journal
from specedit.files.journal import Recorder
from specedit.report import Edit


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def run(store: Path, *changes: tuple[Path, bytes], command: str = "edit") -> None:
    """One run of the tool: each file journalled, then written."""
    recorder = Recorder(store, command)
    for path, after in changes:
        recorder.add(path, path.read_bytes(), after)
        path.write_bytes(after)


def file(tmp_path: Path, name: str, data: bytes = b"old\r\n") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_undo_restores_the_last_run_whole(tmp_path: Path, store: Path) -> None:
    a, b = file(tmp_path, "a"), file(tmp_path, "b", b"\xef\xbb\xbfb")
    run(store, (a, b"new"), (b, b""))
    done = journal.undo(store)
    assert [o.status for o in done.files] == ["restored", "restored"]
    assert (a.read_bytes(), b.read_bytes()) == (b"old\r\n", b"\xef\xbb\xbfb")


def test_undo_again_goes_further_back(tmp_path: Path, store: Path) -> None:
    a = file(tmp_path, "a", b"1")
    run(store, (a, b"2"))
    run(store, (a, b"3"))
    journal.undo(store)
    assert a.read_bytes() == b"2"
    journal.undo(store)
    assert a.read_bytes() == b"1"
    with pytest.raises(UsageError, match="nothing to undo"):
        journal.undo(store)


def test_what_changed_since_is_refused_and_the_rest_restored(tmp_path: Path, store: Path) -> None:
    a, b, c = (file(tmp_path, n) for n in "abc")
    run(store, (a, b"new"), (b, b"new"), (c, b"new"))
    a.write_bytes(b"mine")
    c.unlink()
    done = journal.undo(store)
    assert [(o.status, o.problem) for o in done.files] == [
        ("refused", "changed since the run wrote it"),
        ("restored", ""),
        ("refused", "is gone"),
    ]
    assert (a.read_bytes(), b.read_bytes(), c.exists()) == (b"mine", b"old\r\n", False)


def test_a_refused_file_can_still_be_undone_later(tmp_path: Path, store: Path) -> None:
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    run(store, (a, b"new"), (b, b"new"))
    a.write_bytes(b"mine")
    journal.undo(store)
    a.write_bytes(b"new")
    assert [o.status for o in journal.undo(store).files] == ["restored"]
    assert a.read_bytes() == b"old\r\n"
    assert journal.runs(store) == []


def test_forget_goes_past_a_run_without_touching_files(tmp_path: Path, store: Path) -> None:
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    run(store, (a, b"new"))
    run(store, (b, b"new"), command="rename")
    assert journal.forget(store).command == "rename"
    journal.undo(store)
    assert (a.read_bytes(), b.read_bytes()) == (b"old\r\n", b"new")


def test_an_earlier_run_can_be_named(tmp_path: Path, store: Path) -> None:
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    run(store, (a, b"new"))
    run(store, (b, b"new"))
    journal.undo(store, journal.runs(store)[1].name)
    assert (a.read_bytes(), b.read_bytes()) == (b"old\r\n", b"new")
    with pytest.raises(UsageError, match="no run 'nope'"):
        journal.undo(store, "nope")


def test_a_run_interrupted_before_it_wrote_is_no_obstacle(tmp_path: Path, store: Path) -> None:
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    recorder = Recorder(store, "edit")
    recorder.add(a, a.read_bytes(), b"new")
    a.write_bytes(b"new")
    recorder.add(b, b.read_bytes(), b"never written")
    assert [o.status for o in journal.undo(store).files] == ["restored", "as-before"]


def test_a_write_that_failed_is_not_the_last_run(tmp_path: Path, store: Path) -> None:
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    run(store, (a, b"new"))
    with (
        pytest.raises(InputError),
        Recorder(store, "edit").writing(b, b"old\r\n", b"new"),
    ):
        raise InputError("disk full")
    assert [o.path for o in journal.undo(store).files] == [str(a)]
    recorder = Recorder(store, "edit")
    with recorder.writing(a, b"old\r\n", b"new"):
        a.write_bytes(b"new")
    with pytest.raises(InputError), recorder.writing(b, b"old\r\n", b"new"):
        raise InputError("disk full")
    with pytest.raises(KeyboardInterrupt), recorder.writing(b, b"old\r\n", b"new"):
        b.write_bytes(b"new")
        raise KeyboardInterrupt
    assert [Path(o.path).name for o in journal.undo(store).files] == ["a", "b"]


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o4755], ids=oct)
def test_permissions_come_back(tmp_path: Path, store: Path, mode: int) -> None:
    a = file(tmp_path, "a")
    a.chmod(mode)
    run(store, (a, b"new"))
    a.chmod(0o644)
    journal.undo(store)
    assert stat.S_IMODE(a.stat().st_mode) == mode


def test_a_journal_is_private(tmp_path: Path, store: Path) -> None:
    run(store, (file(tmp_path, "a"), b"new"))
    folder = next((store / "journal").iterdir())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()} == {0o600}


def test_the_target_of_a_link_is_restored_and_the_link_stays(tmp_path: Path, store: Path) -> None:
    a = file(tmp_path, "a")
    link = tmp_path / "link"
    link.symlink_to(a)
    run(store, (link, b"new"))
    journal.undo(store)
    assert link.is_symlink()
    assert a.read_bytes() == b"old\r\n"


def test_hard_links_stay_one_file(tmp_path: Path, store: Path) -> None:
    a = file(tmp_path, "a")
    (tmp_path / "b").hardlink_to(a)
    run(store, (a, b"new"))
    journal.undo(store)
    assert (tmp_path / "b").read_bytes() == b"old\r\n"


def test_a_damaged_journal_restores_nothing(tmp_path: Path, store: Path) -> None:
    a = file(tmp_path, "a")
    run(store, (a, b"new"))
    next((store / "journal").iterdir()).joinpath("0").write_bytes(b"rot")
    assert [o.problem for o in journal.undo(store).files] == ["its journal is damaged"]
    assert a.read_bytes() == b"new"


def test_a_folder_that_a_crash_left_is_no_run(tmp_path: Path, store: Path) -> None:
    run(store, (file(tmp_path, "a"), b"new"))
    (store / "journal" / "99991231T000000.000000-1").mkdir()
    (store / "journal" / "99991231T000000.000000-2").mkdir()
    (store / "journal" / "99991231T000000.000000-2" / "run.json").write_text('{"files": 3}')
    assert len(journal.runs(store)) == 1


def test_the_journal_keeps_the_last_runs_only(tmp_path: Path, store: Path) -> None:
    a = file(tmp_path, "a", b"0")
    for n in range(1, 6):
        run(store, (a, b"%d" % n))
    newest = [r.name for r in journal.runs(store)]
    journal.prune(store, most=2)
    assert [r.name for r in journal.runs(store)] == newest[:2]
    journal.prune(store, keep=newest[0], most_bytes=0)
    assert [r.name for r in journal.runs(store)] == newest[:1]


def test_nothing_is_journalled_for_edits_that_change_nothing(tmp_path: Path, store: Path) -> None:
    a = file(tmp_path, "a")
    same = Edit(str(a), "unchanged", b"old", b"old")
    refused = Edit(str(a), "refused", b"old", b"new")
    journal.record(store, [same, refused])
    assert not store.exists()
    journal.record(store, [Edit(str(a), "would-edit", b"old", b"new")])
    assert [e.path for e in journal.runs(store)[0].files] == [str(a)]


@pytest.mark.parametrize("name", ["a b", "-f", "quo'te\"", "new\nline", "bad-\udcff"])
def test_any_name_can_be_undone(tmp_path: Path, store: Path, name: str) -> None:
    a = file(tmp_path, name)
    run(store, (a, b"new"))
    journal.undo(store)
    assert a.read_bytes() == b"old\r\n"


def test_a_journal_that_cannot_be_written_stops_the_run_before_it_writes(tmp_path: Path) -> None:
    blocked = file(tmp_path, "store")
    with pytest.raises(InputError, match="journal cannot be written"):
        Recorder(blocked, "edit").add(file(tmp_path, "a"), b"old", b"new")
