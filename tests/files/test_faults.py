"""No byte is lost: killed at any line, met by other writers, twice at once, on a full disk.

`python -m pytest -m faults` runs the long ones; each prints its count of torn, lost and stuck.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import faults
import pytest
from faults import Count, at_line, child, ended, source
from git_repository import Repository

from specedit.errors import InputError
from specedit.files import atomic, journal
from specedit.files.recorder import Recorder
from specedit.files.undo import recover, undo

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
SEED = 7
Say = Callable[[Count], None]


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str]) -> Say:
    def said(count: Count) -> None:
        with capfd.disabled():
            print(f"\n{count}")
        count.check()

    return said


def _long(short: int, long: int) -> pytest.MarkDecorator:
    """A few of them in the default group, all of them by hand."""
    values = [
        pytest.param(short, id="short"),
        pytest.param(long, id="long", marks=pytest.mark.faults),
    ]
    return pytest.mark.parametrize("trials", values)


@_long(10, 600)
def test_guarantee_9_killed_at_any_line_nothing_is_lost(tmp_path, trials, say):
    chance, count = random.Random(SEED), Count("kills at a chosen line")
    total = faults.lines(faults.trial(tmp_path / "counted", chance).write)
    for number in faults.aimed_lines(total, trials):
        one = faults.trial(tmp_path / str(count.trials), chance)
        faults.killed(count, one, kill=faults.at_the_line(number))
    assert count.said.get("killed", 0) > 0.9 * trials
    say(count)


@_long(5, 400)
def test_guarantee_9_killed_at_a_random_moment_nothing_is_lost(tmp_path, trials, say):
    chance, count = random.Random(SEED), Count("kills at a random moment")
    began = time.monotonic()
    assert ended(child(faults.trial(tmp_path / "timed", chance).write)) == 0
    longest = time.monotonic() - began
    while count.said.get("killed", 0) < trials:
        before = count.said.get("ended before", 0)
        one = faults.trial(tmp_path / str(count.trials), chance)
        faults.killed(count, one, kill=faults.at_random(chance, longest))
        if count.said.get("ended before", 0) > before:  # the machine has more time for us now
            longest *= 0.95
    say(count)


@_long(2, 100)
def test_guarantee_9_the_command_line_killed_at_a_random_moment_loses_nothing(
    tmp_path, trials, say, script
):
    """The whole program, with a model that answers at once."""
    chance, count = random.Random(SEED), Count("kills of the command line")
    script(replace=[["username", "email"]])
    before = b"username = 1\n" * 50
    words = [sys.executable, "-m", "specedit", "edit", "Say email.", "a.py", "b.py", "--quiet"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    longest = 1.0
    for number in range(trials):
        count.trials += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in ("a.py", "b.py"):
            (folder / name).write_bytes(before)
        began = time.monotonic()
        run = subprocess.Popen(words, cwd=folder, **quiet)
        if number:
            time.sleep(chance.uniform(0.4 * longest, longest))
            run.kill()
        count.note("killed" if run.wait() else "ended before")
        longest = longest if number else time.monotonic() - began
        for name in ("a.py", "b.py"):
            if (folder / name).read_bytes() not in (before, before.replace(b"username", b"email")):
                count.torn.append(str(folder / name))
        home = journal.home()
        while journal.runs(home):
            undo(home)
        for name in ("a.py", "b.py"):
            if (folder / name).read_bytes() != before:
                count.lost.append(str(folder / name))
        if left := list(folder.glob(".specedit-*")):
            count.stuck.append(str(left))
    say(count)


@_long(6, 400)
def test_guarantee_3_a_change_of_many_files_killed_at_any_line_is_whole_or_reverted(
    tmp_path, trials, say
):
    """More files than are put on the disk one by one; a third of the recoveries are killed, too."""
    chance, count = random.Random(SEED), Count("kills at a chosen line of a change of many files")
    old, new = b"username = 1\n" * 20, b"email = 1\n" * 20

    def files(folder: Path) -> list[Path]:
        folder.mkdir()
        result = [folder / f"{number}.py" for number in range(12)]
        for path in result:
            path.write_bytes(old)
        (folder / "other.py").hardlink_to(result[3])
        return result

    def change(folder: Path) -> None:
        texts = [(source(path, old), new) for path in sorted(folder.glob("[0-9]*.py"))]
        Recorder(folder / "store", "rename").write_all(texts)

    files(tmp_path / "counted")
    total = faults.lines(partial(change, tmp_path / "counted"))
    for number in faults.aimed_lines(total, trials):
        folder = tmp_path / str(count.trials)
        paths = files(folder)
        count.trials += 1
        code = faults.at_the_line(number)(partial(change, folder))
        count.note("killed" if code == -signal.SIGKILL else f"exit code {code}")
        if count.trials % 3 == 0:
            faults.at_the_line(chance.randrange(2000))(partial(_recovered, folder / "store"))
        recover(folder / "store")
        held = {path.read_bytes() for path in paths}
        if len(held) > 1 or not held <= {old, new}:
            count.torn.append(f"{folder}: line {number}")
        if left := list(folder.glob(".specedit-*")):
            count.stuck.append(f"{folder}: line {number}: {left}")
        while journal.runs(folder / "store"):
            undo(folder / "store")
        if {path.read_bytes() for path in paths} != {old}:
            count.lost.append(f"{folder}: line {number}")
    say(count)


def _recovered(store: Path) -> None:
    recover(store)


NEXT = (  # commands that come after the kill
    ("edit", "Say email.", "m00.py", "--check"),
    ("rename", "nothing", "more", "m00.py", "--check"),
    ("undo", "--list"),
    ("hook", "run"),
    ("lsp",),
)


@pytest.mark.faults
@pytest.mark.parametrize(("name", "trials"), [("SIGKILL", 200), ("SIGTERM", 100)])
def test_guarantee_3_a_killed_rename_of_many_files_is_whole_after_the_next_command(
    tmp_path, name, trials, say, script
):
    """Killed after its journal or its first file is written, at a random moment."""
    chance, count = random.Random(SEED), Count(f"{name} of a rename of 40 files")
    script(replace=[["username", "email"]])
    before = {f"m{n:02}.py": b"from m00 import username\nusername()\n" for n in range(1, 40)}
    before["m00.py"] = b"def username():\n    return 1\n"
    after = {name: data.replace(b"username", b"email") for name, data in before.items()}
    Repository.init(tmp_path).commit({name: data.decode() for name, data in before.items()})
    command = [sys.executable, "-m", "specedit"]
    more: dict[str, Any] = {"cwd": tmp_path, "stdin": subprocess.DEVNULL}
    runs, longest = journal.home() / "journal", 1.0
    while count.trials < trials:
        for one, data in before.items():
            (tmp_path / one).write_bytes(data)
        shutil.rmtree(runs, ignore_errors=True)
        words = [*command, "rename", "username", "email", "--quiet"]
        run = subprocess.Popen(words, stderr=subprocess.DEVNULL, **more)
        began = (runs.exists, lambda: (tmp_path / "m00.py").read_bytes() != before["m00.py"])
        while run.poll() is None and not began[chance.random() < 0.85]():
            time.sleep(0.0005)
        time.sleep(chance.uniform(0, longest))
        if run.poll() is not None:
            longest *= 0.9
            continue
        run.send_signal(getattr(signal, name))
        code = run.wait(faults.STUCK)
        count.trials += 1
        held = {one: (tmp_path / one).read_bytes() for one in before}
        half = held not in (before, after)
        count.note("half done" if half else "all new" if held == after else "all old")
        if name == "SIGTERM" and (half or (code != 130 and (code, held) != (0, after))):
            count.stuck.append(f"exit code {code}, half done: {half}")
        words = [*command, *NEXT[count.trials % len(NEXT)]]
        said = subprocess.run(words, capture_output=True, check=False, **more).stderr
        held = {one: (tmp_path / one).read_bytes() for one in before}
        if held not in (before, after):
            count.torn.append(f"{words[3]}: {said.decode()}")
        if half and said.count(b"specedit: reverted the change of 40 files") != 1:
            count.stuck.append(f"{words[3]}: {said.decode()}")
        if list(tmp_path.glob(".specedit-*")) or list(runs.glob("*/unfinished")):
            count.stuck.append("a temporary file or a mark is left")
    assert count.said.get("half done", 0) > trials / 20 or name == "SIGTERM"
    say(count)


# What another program may do to a file: each gets the path and the text that must not be lost.
def _truncate(path: Path, mark: bytes) -> None:
    path.write_bytes(mark)


def _rename(path: Path, mark: bytes) -> None:
    beside = path.with_name("theirs")
    beside.write_bytes(mark)
    beside.replace(path)


def _append(path: Path, mark: bytes) -> None:
    with path.open("ab") as file:
        file.write(mark)


def _hold(path: Path, mark: bytes) -> None:
    """Open it, think for longer than we wait, write."""
    with path.open("r+b") as file:
        time.sleep(0.02)
        file.write(mark)


def _copy_and_rename(path: Path, mark: bytes) -> None:
    data = path.read_bytes()
    beside = path.with_name("theirs")
    beside.write_bytes(data + mark)
    beside.replace(path)


WRITERS = (_truncate, _rename, _append, _hold, _copy_and_rename)


@_long(10, 500)
@pytest.mark.skipif(sys.platform != "linux", reason="needs the exchange, and leases")
def test_guarantee_3_what_somebody_else_writes_meanwhile_is_never_lost(tmp_path, trials, say):
    """The other program begins at a line after the first comparison, and ends when it can."""
    chance, count = random.Random(SEED), Count("foreign writes")
    for number in range(trials):
        writer, linked = WRITERS[number % len(WRITERS)], number % 7 == 0
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "a.py"
        before, after = faults.text(chance, 900), faults.text(chance, 800)
        path.write_bytes(before)
        if linked:
            (folder / "b.py").hardlink_to(path)
        if number < 2 * len(WRITERS) or number % 50 == 0:
            total = faults.lines(lambda p=path, a=after: atomic.replace(source(p), a))
            path.write_bytes(before)
        _meet(count, path, before, after, writer, chance.randrange(4, total))
    say(count)


def _meet(
    count: Count,
    path: Path,
    before: bytes,
    after: bytes,
    writer: Callable[[Path, bytes], None],
    line: int,
) -> None:
    count.trials += 1
    mark = b"<%d>" % count.trials
    go_in, go = os.pipe()
    done, done_out = os.pipe()

    def theirs() -> None:
        os.read(go_in, 1)
        writer(path, mark)
        os.write(done_out, b".")

    def ours() -> None:
        def meet() -> None:
            os.write(go, b".")
            faults.wait(done, 0.01)  # it may have to wait for us

        at_line(line, meet)
        try:
            atomic.replace(source(path, before), after)
        finally:
            sys.settrace(None)
            os.write(go, b".")

    other, our = child(theirs), child(ours)
    codes = ended(our), ended(other)
    for one in (go_in, go, done, done_out):
        os.close(one)
    now = path.read_bytes()
    told = f"{path} line {line} {writer.__name__} {codes}: {now[:30]!r}"
    count.note("refused" if codes[0] else "written")
    if None in codes or codes[1]:
        count.stuck.append(told)
    if mark not in now:
        count.lost.append(told)
    held = {_after(writer, text, mark) for text in (before, after)}
    if now not in held or list(path.parent.glob(".specedit-*")):
        count.torn.append(told)


def _after(writer: Callable[[Path, bytes], None], text: bytes, mark: bytes) -> bytes:
    if writer in (_truncate, _rename):
        return mark
    return mark + text[len(mark) :] if writer is _hold else text + mark


@_long(6, 200)
def test_two_runs_at_once_do_not_overwrite_each_other(tmp_path, trials, say):
    """Both have read the same text; half of them share no lock: each has a store of its own."""
    chance, count = random.Random(SEED), Count("two runs at once")
    for number in range(trials):
        count.trials += 1
        one = faults.trial(tmp_path / str(number), chance)
        path = next(iter(one.before)) if number % 3 else list(one.before)[1]
        texts = [faults.text(chance, 5000) for _ in range(2)]
        stores = [one.store, one.store if number % 2 else one.store / "other"]
        gate, ready = os.pipe(), os.pipe()
        pids = [
            child(partial(_run_at_once, ready[1], gate[0], path, store, data))
            for store, data in zip(stores, texts, strict=True)
        ]
        for _ in pids:
            os.read(ready[0], 1)
        os.write(gate[1], b"..")
        codes = [ended(pid) for pid in pids]
        for one_end in (*gate, *ready):
            os.close(one_end)
        now = path.read_bytes()
        told = f"{path}: {codes}"
        count.note(f"{codes.count(0)} written")
        if None in codes:
            count.stuck.append(told)
        elif codes.count(0) != 1 or now != texts[codes.index(0)]:
            (count.lost if now in texts else count.torn).append(told)
    say(count)


def _run_at_once(ready: int, gate: int, path: Path, store: Path, data: bytes) -> None:
    seen = source(path)
    os.write(ready, b".")
    os.read(gate, 1)
    Recorder(store, "edit").write(seen, data)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@_long(12, 240)
def test_guarantee_3_on_a_full_disk_every_write_is_whole_or_refused(small_disk, trials, say):
    """With more and more room each time, the disk is full at each write of a run in turn."""
    chance, count = random.Random(SEED), Count("runs on a full disk")
    for number in range(trials):
        count.trials += 1
        one = faults.trial(small_disk / str(number), chance)
        filler = small_disk / "filler"
        _fill(filler, keep=number * 120_000 // trials)
        try:
            one.write()
            count.note("written")
        except InputError as error:
            count.note("refused: journal" if "journal" in error.reason else "refused")
        filler.unlink()
        for path, before in one.before.items():
            if path.read_bytes() not in (before, one.after[path]):
                count.torn.append(str(path))
        one.put_back()
        for path, before in one.before.items():
            if path.read_bytes() != before:
                count.lost.append(str(path))
        if left := list(one.folder.glob(".specedit-*")):
            count.stuck.append(str(left))
        subprocess.run(["rm", "-r", one.folder.parent], check=True)
    assert {"written", "refused", "refused: journal"} <= count.said.keys()
    say(count)


def _fill(filler: Path, keep: int) -> None:
    filler.write_bytes(bytes(keep))
    with (filler.parent / "more").open("wb", buffering=0) as more:
        try:
            while more.write(bytes(4096)):
                pass
        except OSError:
            pass
    filler.unlink()
    (filler.parent / "more").rename(filler)
