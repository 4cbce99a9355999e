"""Whole or not at all, nobody else's bytes lost: what stands around a write in the file system."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_files import rows

from specedit.errors import InputError
from specedit.files import atomic
from specedit.files.regular import lock_now
from specedit.files.source import read

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="leases are Linux's")


def test_two_names_change_places(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    if not atomic.exchange(one, two):
        pytest.skip("this file system cannot exchange")
    assert (one.read_text(), two.read_text()) == ("2", "1")
    with pytest.raises(OSError):
        atomic.exchange(one, tmp_path / "none")


@pytest.mark.parametrize("way", ["exchange", "rename"])
@pytest.mark.parametrize("kind", ["in place", "a new file", "a link"])
def test_guarantee_3_a_write_between_comparison_and_rename_is_kept(
    tmp_path, monkeypatch, way, kind
):
    """The moment is met exactly: the other program writes when the exchange is about to be made."""
    path = tmp_path / "a.py"
    path.write_text("one\n")
    seen = read(path)
    real = atomic.exchange
    if not real(path, path):
        pytest.skip("this file system cannot exchange")
    writes = iter([True])

    def meanwhile(first: Path, second: Path) -> bool:
        if next(writes, False):
            if kind == "in place":
                path.write_text("theirs\n")
            elif kind == "a new file":
                (tmp_path / "new").write_text("theirs\n")
                (tmp_path / "new").replace(path)
            else:
                (tmp_path / "target").write_text("theirs\n")
                path.unlink()
                path.symlink_to("target")
        return way == "exchange" and real(first, second)

    monkeypatch.setattr(atomic, "exchange", meanwhile)
    with pytest.raises(InputError, match="changed on disk"):
        atomic.replace(seen, b"two\n")
    assert path.read_text() == "theirs\n"
    assert path.is_symlink() is (kind == "a link")
    assert not list(tmp_path.glob(".specedit-*"))


def test_guarantee_3_a_write_to_a_file_of_two_names_is_kept(tmp_path, monkeypatch):
    """The other program writes after the first comparison, before the file is written in place."""
    path = tmp_path / "a.py"
    path.write_text("one\n")
    (tmp_path / "b.py").hardlink_to(path)
    seen = read(path)
    real = atomic.check_unchanged

    def meanwhile(*given: object) -> Path:
        result = real(*given)  # type: ignore[arg-type]
        path.write_text("theirs\n")
        return result

    monkeypatch.setattr(atomic, "check_unchanged", meanwhile)
    with pytest.raises(InputError, match="changed on disk"):
        atomic.replace(seen, b"two\n")
    assert path.read_text() == (tmp_path / "b.py").read_text() == "theirs\n"


@LINUX
def test_a_file_that_somebody_holds_open_for_writing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "OTHER_WRITER_WAIT_S", 0.05)
    path = tmp_path / "a.py"
    path.write_text("one\n")
    seen = read(path)
    with path.open("r+") as theirs:
        with pytest.raises(InputError, match="open for writing in another program"):
            atomic.replace(seen, b"two\n")
        theirs.write("ONE\n")
    assert path.read_text() == "ONE\n"


@LINUX
def test_a_file_of_two_names_that_another_run_writes_is_refused(tmp_path, monkeypatch):
    """Two runs that held it open while they waited let each other through, and one was lost."""
    monkeypatch.setattr(atomic, "OTHER_WRITER_WAIT_S", 0.05)
    path = tmp_path / "a.py"
    path.write_text("one\n")
    (tmp_path / "b.py").hardlink_to(path)
    seen = read(path)
    with path.open("r+b", buffering=0) as theirs:
        assert lock_now(theirs)
        with pytest.raises(InputError, match="open for writing in another program"):
            atomic.replace(seen, b"two\n")
        assert path.read_text() == "one\n"
    atomic.replace(seen, b"two\n")
    assert (tmp_path / "b.py").read_text() == "two\n"


def _kept_from_all(handle: int) -> bool:
    import fcntl

    return fcntl.fcntl(handle, fcntl.F_GETLEASE) == fcntl.F_WRLCK


@LINUX
def test_nobody_reads_a_file_that_is_being_written_in_place(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\n")
    read_by: list[bytes] = []
    with path.open("r+b", buffering=0) as file:
        if atomic.lease(file.fileno(), against_readers=True) is not True:
            pytest.skip("this file system knows no leases")
        other = [sys.executable, "-c", "import sys; print(open(sys.argv[1]).read())", str(path)]
        reader = threading.Thread(target=lambda: read_by.append(subprocess.check_output(other)))
        reader.start()
        file.write(b"t")
        end = time.monotonic() + 30
        while _kept_from_all(file.fileno()) and time.monotonic() < end:
            time.sleep(0.001)
        file.write(b"wo\n")
    reader.join()
    assert read_by == [b"two\n\n"]


@pytest.fixture
def everybody_s() -> Iterator[Path]:
    """A folder that other users reach; a test's own is in one that they do not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


AS_SOMEBODY = """\
import ctypes, os, sys
from specedit.files import atomic
from specedit.files.source import read
seen = read(sys.argv[1])
groups = [int(g) for g in sys.argv[2].split(",")]
os.setgroups(groups[1:])
os.setgid(groups[0])
os.setuid(4321)
atomic.replace(seen, b"two\\n")
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs two users")
@rows("groups mode group then")
def test_somebody_else_s_file_keeps_its_group_or_the_group_s_rights_go(
    everybody_s, groups, mode, group, then
):
    path = everybody_s / "a.py"
    path.write_text("one\n")
    os.chown(path, 1234, 6000)
    path.chmod(mode)
    done = subprocess.run(
        [sys.executable, "-c", AS_SOMEBODY, path, groups], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    status = path.stat()
    assert (path.read_text(), status.st_uid, status.st_gid) == ("two\n", 4321, group)
    assert oct(stat.S_IMODE(status.st_mode)) == oct(then)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs two users")
def test_somebody_else_s_file_with_other_names_is_written_and_said_to_be(everybody_s):
    path = everybody_s / "a.py"
    path.write_text("one\n")
    os.chown(path, 1234, 6000)
    path.chmod(0o6660)
    (everybody_s / "b.py").hardlink_to(path)
    done = subprocess.run(
        [sys.executable, "-c", AS_SOMEBODY, path, "5000,6000"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert (everybody_s / "b.py").read_text() == "two\n"
    assert path.stat().st_uid == 1234


def test_our_own_files_are_written_whole(tmp_path):
    path = tmp_path / "deep/er/a.json"
    atomic.whole(path, b"1")
    atomic.whole(path, b"2", 0o600)
    assert path.read_bytes() == b"2"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(ZeroDivisionError), atomic.drafted(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"2"
    assert [p.name for p in path.parent.iterdir()] == ["a.json"]


EARLY = """\
import signal, sys
class Meanwhile:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.argv[1:] = ["--version"]
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Meanwhile())
from specedit.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["specedit.cli", "typer", "specedit.errors"])
def test_ctrl_c_while_modules_are_imported_prints_no_traceback(module):
    done = subprocess.run([sys.executable, "-c", EARLY, module], capture_output=True, check=False)
    assert done.returncode == 130
    assert done.stderr == b"specedit: interrupted; nothing half-written\n"


HIDDEN = """\
import signal, sys
from specedit import __main__
__main__._quiet()
class Late:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000): pass
try:
    Late()
    for _ in range(10**9): pass
except KeyboardInterrupt:
    print("raised")
"""


def test_ctrl_c_where_python_cannot_raise_it_comes_a_little_later():
    done = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, check=False)
    assert (done.stdout.split(), done.stderr) == ([b"raised"], b"")
