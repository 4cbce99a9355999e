"""Faults on purpose: a process that is killed, or met by somebody else, at a chosen line.

The children are real processes, forked so that a thousand of them take a minute. Lines are counted
in `specedit/files`: what a child does at the one that was chosen is the test's.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import specedit
from specedit.files import journal
from specedit.files.recorder import Recorder
from specedit.files.source import Source
from specedit.files.undo import undo

FILES = str(Path(specedit.__file__).parent / "files")
STUCK = 20.0  # seconds after which a child that was not killed does not end
NEVER = 1 << 30


@dataclass
class Count:
    """What became of the trials."""

    what: str
    trials: int = 0
    torn: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    said: dict[str, int] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def note(self, word: str) -> None:
        self.said[word] = self.said.get(word, 0) + 1

    def __str__(self) -> str:
        more = ", ".join(f"{word} {count}" for word, count in sorted(self.said.items()))
        return (
            f"{self.what}: {self.trials} in {time.monotonic() - self.began:.0f} s: torn "
            f"{len(self.torn)}, lost {len(self.lost)}, stuck {len(self.stuck)} ({more})"
        )

    def check(self) -> None:
        assert (self.torn, self.lost, self.stuck) == ([], [], []), str(self)


def child(work: Callable[[], None]) -> int:
    """Fork, and do `work` there; the exit code is 0, or 1 where it raised."""
    sys.stdout.flush()
    sys.stderr.flush()
    if pid := os.fork():
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException as error:
        if os.environ.get("FAULTS_SAY"):
            os.write(2, f"{error!r}\n".encode())
    finally:
        os._exit(code)


def ended(pid: int) -> int | None:
    """The child's exit code, minus the signal that killed it; None where it does not end."""
    end = time.monotonic() + STUCK
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def at_line(number: int, act: Callable[[], None]) -> Callable[[], int]:
    """From now on, `act` before the line of that number; gives what counts the lines."""
    passed = 0

    def local(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal passed
        if event == "line":
            if passed == number:
                act()
            passed += 1
        return local

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        return local if frame.f_code.co_filename.startswith(FILES) else None

    sys.settrace(trace)
    return lambda: passed


def lines(work: Callable[[], None]) -> int:
    """How many lines `work` passes, done once in a child."""
    inner, outer = os.pipe()

    def counted() -> None:
        count = at_line(NEVER, lambda: None)
        try:
            work()
        finally:
            sys.settrace(None)
            os.write(outer, str(count()).encode())

    code = ended(child(counted))
    assert code == 0, f"the work itself fails: {code}"
    found = int(os.read(inner, 20))
    os.close(inner)
    os.close(outer)
    return found


def wait(handle: int, seconds: float) -> None:
    """Until there is something to read, or the time is over."""
    import select

    select.select([handle], [], [], seconds)


def kill_me() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def source(path: Path, data: bytes | None = None) -> Source:
    return Source(str(path), "", path.read_bytes() if data is None else data, path)


def text(chance: random.Random, size: int) -> bytes:
    return bytes(chance.choices(b"abcdefghij \n", k=size))


@dataclass(frozen=True)
class Trial:
    """A folder with two files, one of them with another name, and a store."""

    folder: Path
    store: Path
    before: dict[Path, bytes]
    after: dict[Path, bytes]

    def write(self) -> None:
        recorder = Recorder(self.store, "edit")
        for path, data in self.after.items():
            recorder.write(source(path), data)

    def put_back(self) -> None:
        while journal.runs(self.store):
            undo(self.store)


def trial(at: Path, chance: random.Random) -> Trial:
    folder = at / "work"
    folder.mkdir(parents=True)
    before, after = {}, {}
    for name in ("plain.py", "linked.py"):
        path = folder / name
        before[path], after[path] = (text(chance, chance.randint(1, 30_000)) for _ in range(2))
        path.write_bytes(before[path])
    (folder / "other.py").hardlink_to(folder / "linked.py")
    return Trial(folder, at / "store", before, after)


def killed(count: Count, one: Trial, *, kill: Callable[[Callable[[], None]], int | None]) -> None:
    """Kill a run; then look, let another run clear up, undo, and look again."""
    count.trials += 1
    code = kill(one.write)
    count.note("killed" if code == -signal.SIGKILL else "ended before" if code == 0 else "failed")
    if code not in (0, -signal.SIGKILL):
        count.stuck.append(f"{one.folder}: exit code {code}")
    for path, before in one.before.items():
        now = path.read_bytes()
        if now not in (before, one.after[path]):
            if path.name == "linked.py":
                count.note("torn in place, until undone")
            else:
                count.torn.append(str(path))
    another = one.folder / "another.py"
    another.write_bytes(b"1\n")
    began = time.monotonic()
    Recorder(one.store, "edit").write(source(another), b"2\n")
    if count.trials % 4 == 0:
        kill(one.put_back)
    one.put_back()
    if time.monotonic() - began > STUCK / 2:
        count.stuck.append(f"{one.folder}: the next run took {time.monotonic() - began:.1f} s")
    for path, before in one.before.items():
        if path.read_bytes() != before:
            (count.torn if path.name == "linked.py" else count.lost).append(str(path))
    left = [p.name for p in one.folder.iterdir() if p.name.startswith(".specedit-")]
    if left:
        count.stuck.append(f"{one.folder}: {left}")


def at_random(chance: random.Random, longest: float) -> Callable[[Callable[[], None]], int | None]:
    def kill(work: Callable[[], None]) -> int | None:
        pid = child(work)
        time.sleep(chance.uniform(0, longest))
        os.kill(pid, signal.SIGKILL)
        return ended(pid)

    return kill


def at_the_line(number: int) -> Callable[[Callable[[], None]], int | None]:
    def aimed(work: Callable[[], None]) -> None:
        at_line(number, kill_me)
        work()

    return lambda work: ended(child(lambda: aimed(work)))


def aimed_lines(total: int, count: int) -> Iterator[int]:
    """As many lines of `total` as are wanted, evenly apart, again from the start if need be."""
    for number in range(count):
        yield number * total // count if count < total else number % total
