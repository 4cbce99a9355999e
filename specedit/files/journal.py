"""The journal: the original of every file that a run writes, so that `undo` can restore it.

One folder per run: `run.json`, and the bytes of all files in `originals`. One lock makes every
single write one step for all other runs, and its holder clears away what a killed run left. A run
whose files are one change has a file `unfinished` in its folder until it is whole; the run's
process holds a lock on that file, so that a killed run differs from one at work.
`recorder` adds runs; `undo` restores what they changed and finishes those that were killed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from specedit.errors import InputError
from specedit.files import atomic, regular, stored
from specedit.files.regular import UNLOCKABLE, Lock
from specedit.files.startup import JOURNAL, UNFINISHED
from specedit.files.startup import home as home

ORIGINALS = "originals"
RECORD = "run.json"  # what a run is and which files it writes
PRIVATE = 0o600  # the mode of a journal's files
KEEP_RUNS = 50
KEEP_BYTES = 64 * 1024 * 1024
OTHER_RUN_WAIT_S = 10.0  # seconds to wait for the writes of other runs
# A run's folder: when it began, unless an older run was stamped later, and its process.
RUN = re.compile(r"(\d{8})T(\d{6})\.(\d{6})-\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a run: where it is, what it held, and what the run put there."""

    path: str  # absolute, symlinks followed
    before_sha256: str
    after_sha256: str
    mode: int
    size: int
    blob: str
    torn: bool = False  # is written in place, for it has hard links; BLOB.after has the new text
    start: int = 0  # where its bytes begin in the run's originals


@dataclass(frozen=True, slots=True)
class JournalRun:
    name: str  # the folder's
    command: str
    when: float  # seconds since the epoch
    folder: str  # where it was started
    files: tuple[Entry, ...]
    place: Path = field(default=Path(), compare=False, repr=False)  # the journal it is in
    instruction: str = ""  # in the user's words, where there was one
    part: str = ""  # of each file: "lines A:B", "symbol NAME" or "selected NEAR TEXT"
    refines: str = ""  # the run that it continues
    whole: bool = False  # its files are one change: all of them or none
    tree: str = ""  # of tries: the work tree they are tested in
    moves: tuple[tuple[str, str], ...] = ()  # files that get another name after all are written
    made: tuple[str, ...] = ()  # folders that the moves create

    @property
    def path(self) -> Path:
        """The folder with its `run.json` and its originals."""
        return self.place / self.name

    @property
    def mark(self) -> Path:
        """Exists until the change is whole, or the try is kept; locked by the run's process."""
        return self.path / UNFINISHED

    @property
    def unfinished(self) -> bool:
        return self.mark.exists()

    @property
    def at_work(self) -> bool:
        """Whether the process that has to finish it lives."""
        try:
            return Lock(self.mark).is_held()
        except OSError as error:  # a network's file system may know no locks
            return error.errno in UNLOCKABLE and _lives(int(self.name.rpartition("-")[2]))

    @property
    def label(self) -> str:
        when = datetime.fromtimestamp(self.when, UTC).astimezone()
        return f"{self.command}, {when:%Y-%m-%d %H:%M:%S}"


def _lives(pid: int) -> bool:
    """Whether a process of this number runs; on Windows, where asking would end it, False."""
    if os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _folders(store: Path) -> list[Path]:
    """Everything in the journal."""
    try:
        return list((store / JOURNAL).iterdir())
    except OSError:
        return []


@contextlib.contextmanager
def alone(store: Path) -> Iterator[None]:
    """No other process of ours writes, undoes or clears up meanwhile."""
    lock = Lock(store / "locks" / "journal.lock")
    try:
        if not lock.take(OTHER_RUN_WAIT_S):
            raise InputError(
                f"Another run of specedit has been writing for {OTHER_RUN_WAIT_S:g} s; "
                "nothing was written",
                hint="Wait until it is done, or end it; then run the command again.",
            )
    except OSError as error:
        # A network's file system may know no locks; each file is compared before it is replaced.
        if error.errno not in UNLOCKABLE:
            raise unwritable(store, error) from error
    try:
        yield
    finally:
        lock.release()


def unwritable(place: Path, error: OSError) -> InputError:
    return InputError(
        f"{place}: the journal cannot be written: {error.strerror}",
        hint="Without it there is no undo, so nothing was written. "
        "SPECEDIT_HOME names another place for the store.",
    )


def draft_of(run: JournalRun, entry: Entry, way: str = "") -> Path:
    """The temporary file for an entry's new bytes. Its name tells what a killed run left."""
    return atomic.draft_of(Path(entry.path), f"{run.name}-{entry.blob}{way}")


def new_name(store: Path) -> str:
    """The name of a run that is newer than all others, whatever the clock says."""
    stamp = int(f"{datetime.now(UTC):%Y%m%d%H%M%S%f}")
    others = [int("".join(m.groups())) for f in _folders(store) if (m := RUN.fullmatch(f.name))]
    newest = max((other for other in others if other < 9 * 10**19), default=0)  # 9000 is no year
    digits = f"{max(stamp, newest + 1):020}"
    return f"{digits[:8]}T{digits[8:14]}.{digits[14:]}-{os.getpid()}"


def runs(store: Path) -> list[JournalRun]:
    loaded = [run for path in _folders(store) if (run := load(path)) is not None and run.files]
    return sorted(loaded, key=lambda run: run.name, reverse=True)


def new_folders(moves: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The folders that these moves create, each before those in it."""
    folders = {parent for _, new in moves for parent in Path(new).parents}
    return tuple(sorted(str(folder) for folder in folders if not os.path.lexists(folder)))


def damaged(store: Path) -> list[JournalRun]:
    """The runs whose record cannot be read, without files, the newest first."""
    return [
        JournalRun(folder.name, "damaged run", folder.lstat().st_mtime, "", (), folder.parent)
        for folder in sorted(_folders(store), reverse=True)
        if RUN.fullmatch(folder.name) and os.path.lexists(folder / RECORD)
        if (run := load(folder)) is None or not (run.files or run.unfinished)
    ]


def prune(store: Path, *, most: int = KEEP_RUNS, most_bytes: int = KEEP_BYTES) -> None:
    """Delete the oldest runs beyond `most` or `most_bytes`, unless unfinished, and old answers."""
    stored.clear_refused(store)
    total = 0
    every = sorted([*clear_up(store), *damaged(store)], key=lambda run: run.name, reverse=True)
    for number, run in enumerate(every):
        with contextlib.suppress(OSError):
            total += (run.path / ORIGINALS).stat().st_size
        if (number >= most or total > most_bytes) and not run.unfinished:
            delete(run)


def clear_up(store: Path) -> list[JournalRun]:
    """The runs, after the temporary files of killed ones are removed. The caller holds `alone`."""
    for folder in _folders(store):
        if RUN.fullmatch(folder.name) and not os.path.lexists(folder / RECORD):
            shutil.rmtree(folder, ignore_errors=True)
    result = runs(store)
    for run in result:
        left = _left(run)
        for entry in run.files if left and not (run.unfinished and run.at_work) else ():
            for way, new, old in (
                ("", entry.after_sha256, entry.before_sha256),
                ("-undo", entry.before_sha256, entry.after_sha256),
            ):
                with contextlib.suppress(OSError):
                    _clear(draft_of(run, entry, way), Path(entry.path), new, old)
    return result


def _left(run: JournalRun) -> bool:
    """Whether a temporary file of this run is next to one of its thousands of files."""
    folders = {Path(entry.path).parent for entry in run.files}
    return any(True for folder in folders for _ in folder.glob(f".specedit-{run.name}-*"))


def _clear(draft: Path, path: Path, new: str, old: str) -> None:
    """Remove a killed run's temporary file, unless it holds bytes that are not in the journal.

    A run that is killed between the exchange and its check leaves another program's write there:
    that is exchanged back. Where neither is certain, the file stays."""
    if not os.path.lexists(draft):
        return
    held, there = digest(regular.read(draft)), digest(regular.read(path))
    if held not in (new, old) and there == new:
        if not atomic.exchange(draft, path):
            return
    elif held not in (new, old) and there != old:
        return
    draft.unlink()


def delete(run: JournalRun) -> None:
    """Remove a run, its record first: whoever is killed here leaves a folder that is no run."""
    with contextlib.suppress(OSError):
        (run.path / RECORD).unlink(missing_ok=True)
    shutil.rmtree(run.path, ignore_errors=True)


def save(run: JournalRun) -> None:
    data = {name: value for name, value in asdict(run).items() if name != "place"}
    atomic.whole(run.path / RECORD, json.dumps(data, indent=1).encode(), PRIVATE)


def load(folder: Path) -> JournalRun | None:
    """A run, or None for a folder that a crash left without one, or whose record is damaged."""
    try:
        run = stored.typed(JournalRun, stored.parsed(regular.read(folder / RECORD)))
        run = replace(run, name=folder.name, place=folder.parent)
        _check(run)
        return run
    except (OSError, ValueError, OverflowError):
        return None


def _check(run: JournalRun) -> None:
    """A ValueError, or one of the system's, where a record has what no run writes."""
    paths = [*(entry.path for entry in run.files), *run.made]
    paths += [path for move in run.moves for path in move]
    numbers = (n for entry in run.files for n in (entry.mode, entry.size, entry.start))
    whole = RUN.fullmatch(run.name) and run.label.isprintable() and min(numbers, default=0) >= 0
    names = all(b"\0" not in os.fsencode(path) and os.path.isabs(path) for path in paths)  # noqa: PTH117
    if not (whole and names and all(entry.blob.isdecimal() for entry in run.files)):
        raise ValueError(run.name)


def original(run: JournalRun, entry: Entry) -> bytes:
    """The content of a file before the run."""
    with regular.reading(run.path / ORIGINALS) as file:
        whole = entry.start + entry.size <= os.fstat(file.fileno()).st_size
        before = file.read(entry.size) if whole and file.seek(entry.start) >= 0 else b""
    if not whole or digest(before) != entry.before_sha256:
        raise InputError("its journal is damaged", file=entry.path)
    return before


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
