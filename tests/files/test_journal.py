"""The journal: what a run found before it wrote can be put back, and nothing else is touched."""

import json
import signal
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from specedit.errors import InputError
from specedit.files import journal
from specedit.files.recorder import Recorder
from specedit.files.regular import Lock
from specedit.files.source import Source
from specedit.files.undo import is_mixed, undo


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


def test_one_file_that_changed_since_leaves_all_of_them_as_they_are(tmp_path, store):
    a, b, c = (file(tmp_path, n) for n in "abc")
    run(store, (a, b"new"), (b, b"new"), (c, b"new"))
    a.write_bytes(b"mine")
    c.unlink()
    done = undo(store)
    assert [(o.status, o.problem) for o in done.files] == [
        ("refused", "changed since the run wrote it"),
        ("left", ""),
        ("refused", "is gone"),
    ]
    assert (a.read_bytes(), b.read_bytes(), c.exists()) == (b"mine", b"new", False)
    done = undo(store, partly=True)
    assert [o.status for o in done.files] == ["refused", "restored", "refused"]
    assert (a.read_bytes(), b.read_bytes(), c.exists()) == (b"mine", b"old\r\n", False)


def test_of_two_changes_at_once_the_one_that_lost_is_not_in_the_way_of_undo(tmp_path, store):
    files = [file(tmp_path, name, b"old") for name in "abc"]
    held = [Source.from_bytes(str(one), b"old", one) for one in files]

    class Second(Recorder):
        def _begin(self, texts: Sequence[tuple[Source, bytes]]) -> None:
            super()._begin(texts)
            Recorder(store, "edit").write_all([(one, b"theirs") for one in held])

    with pytest.raises(InputError, match="changed on disk"):
        Second(store, "rename").write_all([(one, b"mine") for one in held])
    assert {one.read_bytes() for one in files} == {b"theirs"}
    assert [one.command for one in journal.runs(store)] == ["edit"]
    undo(store)
    assert {one.read_bytes() for one in files} == {b"old"}


def test_a_file_written_twice_is_put_back_in_reverse_order(tmp_path, store):
    a = file(tmp_path, "a", b"1")
    (tmp_path / "b").hardlink_to(a)
    run(store, (a, b"2"), (tmp_path / "b", b"3"), (a, b"4"))  # its lock is taken once
    assert [o.status for o in undo(store).files] == ["restored"] * 3
    assert a.read_bytes() == b"1"


def test_an_undo_that_fails_half_way_takes_back_what_it_did(tmp_path, store):
    a, b, c = (file(tmp_path, n) for n in "abc")
    run(store, (c, b"new"), (a, b"new"), (b, b"new"))
    (last,) = journal.runs(store)
    blocked = journal.draft_of(last, last.files[0], "-undo")
    blocked.mkdir()
    done = undo(store)
    assert [(o.status, o.problem) for o in done.files] == [
        ("refused", "not written: File exists"),
        ("left", ""),
        ("left", ""),
    ]
    assert {p.read_bytes() for p in (a, b, c)} == {b"new"}
    blocked.rmdir()
    assert [o.status for o in undo(store).files] == ["restored"] * 3
    assert {p.read_bytes() for p in (a, b, c)} == {b"old\r\n"}


def test_a_run_interrupted_before_it_wrote_is_no_obstacle(tmp_path, store):
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    recorder = Recorder(store, "edit")
    recorder.add(a, a.read_bytes(), b"new")
    a.write_bytes(b"new")
    recorder.add(b, b.read_bytes(), b"never written")
    assert [o.status for o in undo(store).files] == ["restored", "as-before"]


def source(path: Path, data: bytes = b"old\r\n") -> Source:
    return Source(str(path), "", data, path)


def test_a_write_that_failed_is_not_the_last_run(tmp_path, store):
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    run(store, (a, b"new"))
    with pytest.raises(InputError, match="changed on disk"):
        Recorder(store, "edit").write(source(b, b"seen"), b"new")
    assert [o.path for o in undo(store).files] == [str(a)]
    recorder = Recorder(store, "edit")
    recorder.write(source(a), b"new")
    with pytest.raises(InputError):
        recorder.write(source(b, b"seen"), b"new")
    recorder.write(source(b), b"new")
    assert [Path(o.path).name for o in undo(store).files] == ["a", "b"]
    assert (a.read_bytes(), b.read_bytes()) == (b"old\r\n", b"old\r\n")


def test_ctrl_c_while_a_file_is_written_waits_until_it_is_whole(tmp_path, store, monkeypatch):
    a = file(tmp_path, "a")

    def interrupted(run: journal.JournalRun) -> None:
        journal.save(run)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("specedit.files.recorder.save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Recorder(store, "edit").write(source(a), b"new")
    assert a.read_bytes() == b"new"
    assert [o.status for o in undo(store).files] == ["restored"]


def test_a_run_undone_while_it_writes_goes_on_with_a_journal_of_its_own(tmp_path, store):
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    recorder = Recorder(store, "edit")
    recorder.write(source(a), b"new")
    undo(store)
    recorder.write(source(b), b"new")
    assert [o.path for o in undo(store).files] == [str(b)]
    assert (a.read_bytes(), b.read_bytes()) == (b"old\r\n", b"old\r\n")


def test_nobody_undoes_between_the_entry_and_the_write(tmp_path, store, monkeypatch):
    monkeypatch.setattr(journal, "OTHER_RUN_WAIT_S", 0.05)
    run(store, (file(tmp_path, "a"), b"new"))
    lock = Lock(store / "locks/journal.lock")
    assert lock.take()
    with pytest.raises(InputError, match="Another run of specedit"):
        undo(store)
    with pytest.raises(InputError, match="Another run of specedit"):
        Recorder(store, "edit").write(source(tmp_path / "a", b"new"), b"newer")
    lock.release()
    assert [o.status for o in undo(store).files] == ["restored"]


def test_a_torn_file_with_other_names_is_restored(tmp_path, store):
    a = file(tmp_path, "a", b"one two three")
    (tmp_path / "b").hardlink_to(a)
    Recorder(store, "edit").add(a, b"one two three", b"ONE TWO THREE FOUR")
    a.write_bytes(b"one two THREE FO")  # killed in the middle
    assert [o.status for o in undo(store).files] == ["restored"]
    assert (tmp_path / "b").read_bytes() == b"one two three"
    Recorder(store, "edit").add(a, b"one two three", b"ONE TWO")
    a.write_bytes(b"somebody else")
    assert [o.status for o in undo(store).files] == ["refused"]


@pytest.mark.parametrize(
    ("now", "mixed"),
    [(b"aaaa", True), (b"bbbbbb", True), (b"abab", True), (b"aaaabb", True), (b"aab", False),
     (b"aaca", False), (b"bbbbbbb", False)],
)  # fmt: skip
def test_what_a_torn_file_may_hold(now, mixed):
    assert is_mixed(now, b"aaaa", b"bbbbbb") is mixed


def test_a_file_with_other_names_that_was_written_whole_is_torn_no_more(tmp_path, store):
    a = file(tmp_path, "a", b"one two")
    (tmp_path / "b").hardlink_to(a)
    Recorder(store, "edit").write(source(a, b"one two"), b"ONE TWO")
    a.write_bytes(b"ONE two")  # a person took half of it back
    assert [o.status for o in undo(store).files] == ["refused"]
    assert a.read_bytes() == b"ONE two"


@pytest.mark.parametrize(
    ("there", "draft", "then"),
    [
        pytest.param(b"old\r\n", b"ne", b"old\r\n", id="killed while the draft was written"),
        pytest.param(b"new", b"old\r\n", b"new", id="killed after the exchange"),
        pytest.param(b"new", b"theirs", b"theirs", id="killed with somebody else's write in hand"),
        pytest.param(b"later", b"theirs", None, id="nobody can tell: it stays"),
    ],
)
def test_what_a_killed_run_left_is_cleared_up(tmp_path, store, there, draft, then):
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    entry = Recorder(store, "edit").add(a, b"old\r\n", b"new")
    left = journal.draft_of(journal.runs(store)[0], entry)
    left.write_bytes(draft)
    a.write_bytes(there)
    (tmp_path / ".specedit-somebody.tmp").write_bytes(b"who knows")
    Recorder(store, "edit").write(source(b), b"new")
    assert left.exists() is (then is None)
    assert a.read_bytes() == (there if then is None else then)
    assert (tmp_path / ".specedit-somebody.tmp").exists()


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o4755], ids=oct)
def test_permissions_come_back(tmp_path, store, mode):
    a = file(tmp_path, "a")
    a.chmod(mode)
    run(store, (a, b"new"))
    a.chmod(0o644)
    undo(store)
    assert stat.S_IMODE(a.stat().st_mode) == mode


def test_a_journal_is_private(tmp_path, store):
    run(store, (file(tmp_path, "a"), b"new"))
    folder = next((store / "journal").iterdir())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()} == {0o600}


def test_the_target_of_a_link_is_restored_and_the_link_stays(tmp_path, store):
    a = file(tmp_path, "a")
    link = tmp_path / "link"
    link.symlink_to(a)
    run(store, (link, b"new"))
    undo(store)
    assert link.is_symlink()
    assert a.read_bytes() == b"old\r\n"


@pytest.mark.parametrize("exchanged", ["folder", "file"])
@pytest.mark.parametrize("undoes", [False, True], ids=["write", "undo"])
def test_what_is_exchanged_for_a_link_meanwhile_is_not_written_through(
    tmp_path, store, exchanged, undoes
):
    (tmp_path / "work").mkdir()
    (tmp_path / "outside").mkdir()
    a = file(tmp_path, "work/a", b"old")
    other = file(tmp_path, "outside/a", b"new" if undoes else b"old")
    held = source(a, b"old")
    if undoes:
        Recorder(store, "edit").write(held, b"new")
    place = a if exchanged == "file" else a.parent
    place.rename(tmp_path / "aside")
    place.symlink_to(other if exchanged == "file" else other.parent)
    before = other.read_bytes()
    if undoes:
        assert [o.status for o in undo(store).files] == ["refused"]
    else:
        with pytest.raises(InputError, match="nothing was written"):
            Recorder(store, "edit").write(held, b"new")
    assert other.read_bytes() == before


def test_a_damaged_journal_restores_nothing(tmp_path, store):
    a = file(tmp_path, "a")
    run(store, (a, b"new"))
    next((store / "journal").iterdir()).joinpath("originals").write_bytes(b"rot")
    assert [o.problem for o in undo(store).files] == ["its journal is damaged"]
    assert a.read_bytes() == b"new"


def written_in_2099(store: Path) -> None:
    """The newest run's folder has the name that a clock of the year 2099 gave it."""
    newest = journal.runs(store)[0]
    newest.path.rename(newest.place / "20990101T000000.000000-1")


def test_after_the_clock_is_set_back_undo_takes_the_last_run_first(tmp_path, store):
    a, b, c = (file(tmp_path, name) for name in "abc")
    run(store, (a, b"new"))
    written_in_2099(store)
    run(store, (b, b"new"))
    Recorder(store, "edit").write_all([(source(c), b"new")])
    assert [Path(r.files[0].path).name for r in journal.runs(store)] == ["c", "b", "a"]
    assert [undo(store).files[0].path for _ in "abc"] == [str(c), str(b), str(a)]


def test_a_run_is_as_new_as_its_first_write(tmp_path, store):
    a, b = file(tmp_path, "a"), file(tmp_path, "b")
    slow = Recorder(store, "edit")
    run(store, (b, b"new"))
    slow.write(source(a), b"new")
    assert undo(store).files[0].path == str(a)


def test_a_run_of_version_1_0_is_read(tmp_path, store):
    a = file(tmp_path, "a", b"new")
    folder = store / "journal" / "20261101T120000.000000-4711"
    folder.mkdir(parents=True)
    (folder / "originals").write_bytes(b"old")
    entry = {
        "path": str(a), "before_sha256": journal.digest(b"old"),
        "after_sha256": journal.digest(b"new"), "mode": 0o644, "size": 3, "blob": "0",
        "torn": False, "start": 0,
    }  # fmt: skip
    run = {
        "name": folder.name, "command": "edit", "when": 1793534400.5, "folder": str(tmp_path),
        "files": [entry], "instruction": "Say new.", "part": "", "refines": "", "whole": False,
        "tree": "", "moves": [],
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(run))
    assert [o.status for o in undo(store).files] == ["restored"]
    assert a.read_bytes() == b"old"


def test_the_journal_keeps_the_last_runs_only(tmp_path, store):
    a = file(tmp_path, "a", b"0")
    for n in range(1, 6):
        run(store, (a, b"%d" % n))
    newest = [r.name for r in journal.runs(store)]
    journal.prune(store, most=2)
    assert [r.name for r in journal.runs(store)] == newest[:2]
    journal.prune(store, most_bytes=1)
    assert [r.name for r in journal.runs(store)] == newest[:1]


def test_a_journal_that_cannot_be_written_stops_the_run_before_it_writes(tmp_path):
    blocked = file(tmp_path, "store")
    with pytest.raises(InputError, match="journal cannot be written"):
        Recorder(blocked, "edit").add(file(tmp_path, "a"), b"old", b"new")
