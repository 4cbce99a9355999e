"""The journal: what every run that writes found before it wrote, so that `undo` can put it back.

Knows bytes, digests, permissions and the store's `journal` folder. Does not know edits or text.
One folder per run: `run.json` and the bytes of each file as `0`, `1`, …. A run is recorded
*before* it writes, so that an interrupted one can be undone as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from specedit.errors import InputError, UsageError
from specedit.report import Edit

KEEP_RUNS = 50
KEEP_BYTES = 64 * 1024 * 1024
RESTORED, AS_BEFORE, REFUSED = "restored", "as-before", "refused"


@dataclass(frozen=True)
class Entry:
    """One file of a run: where it is, what it held, and what the run put there."""

    path: str  # absolute, symlinks followed
    before_sha256: str
    after_sha256: str
    mode: int
    size: int
    blob: str


@dataclass(frozen=True)
class Run:
    """One run that wrote."""

    name: str  # the folder's
    command: str
    when: float  # seconds since the epoch
    folder: str  # where it was started
    files: tuple[Entry, ...]

    @property
    def said(self) -> str:
        when = datetime.fromtimestamp(self.when, UTC).astimezone()
        return f"{self.command}, {when:%Y-%m-%d %H:%M:%S}"


@dataclass(frozen=True)
class Outcome:
    """What became of one file of an undone run."""

    path: str
    status: str  # RESTORED | AS_BEFORE | REFUSED
    problem: str = ""


@dataclass(frozen=True)
class Undone:
    run: Run
    files: tuple[Outcome, ...]

    @property
    def refused(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.files if o.status == REFUSED)


class Recorder:
    """The journal of one run. Nothing is on the disk until the first `add`."""

    def __init__(self, store: Path, command: str) -> None:
        now = time.time()
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%S.%f")
        self._place = store / "journal"
        self._run = Run(f"{stamp}-{os.getpid()}", command, now, str(Path.cwd()), ())

    def add(self, path: Path, before: bytes, after: bytes) -> None:
        """Call it just before `path` is written: from then on the run can be undone."""
        folder = self._place / self._run.name
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError as error:
            raise InputError("gone from the disk; nothing was written", file=str(path)) from error
        try:
            if not self._run.files:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            blob = str(len(self._run.files))
            _whole(folder / blob, before)
            entry = Entry(
                str(path.resolve()), _digest(before), _digest(after), mode, len(before), blob
            )
            self._run = replace(self._run, files=(*self._run.files, entry))
            _save(self._place, self._run)
        except OSError as error:
            raise InputError(
                f"{folder}: the journal cannot be written: {error.strerror}",
                hint="Without it there is no undo, so nothing was written. "
                "SPECEDIT_HOME names another place for the store.",
            ) from error
        if len(self._run.files) == 1:
            prune(self._place.parent, keep=self._run.name)

    @contextlib.contextmanager
    def writing(self, path: Path, before: bytes, after: bytes) -> Iterator[None]:
        """`add`, then the write; a write that did not happen leaves the journal."""
        self.add(path, before, after)
        try:
            yield
        except BaseException:
            with contextlib.suppress(OSError):
                if path.read_bytes() != after:
                    self._withdraw()
            raise

    def _withdraw(self) -> None:
        self._run = replace(self._run, files=self._run.files[:-1])
        if self._run.files:
            _save(self._place, self._run)
        else:
            shutil.rmtree(self._place / self._run.name, ignore_errors=True)


def record(store: Path, edits: Iterable[Edit], command: str = "edit") -> None:
    """Journal every edit that is about to be written."""
    recorder = Recorder(store, command)
    for edit in edits:
        if edit.changed:
            recorder.add(Path(edit.path), edit.before, edit.after)


def runs(store: Path) -> list[Run]:
    """The runs that can be undone, the last one first."""
    place = store / "journal"
    try:
        names = sorted((p.name for p in place.iterdir() if p.is_dir()), reverse=True)
    except OSError:
        return []
    found = (_load(place / name) for name in names)
    return [run for run in found if run is not None and run.files]


def undo(store: Path, name: str | None = None) -> Undone:
    """Put back what the last run (or the run called `name`) changed, file by file.

    A file that changed since is refused and stays in the journal; the others leave it.
    """
    run = _pick(store, name)
    outcomes = tuple(_restore(store / "journal" / run.name, entry) for entry in run.files)
    left = [e for e, o in zip(run.files, outcomes, strict=True) if o.status == REFUSED]
    if left:
        _save(store / "journal", replace(run, files=tuple(left)))
    else:
        shutil.rmtree(store / "journal" / run.name, ignore_errors=True)
    return Undone(run, outcomes)


def forget(store: Path, name: str | None = None) -> Run:
    """Drop the last run (or `name`) from the journal; no file is touched."""
    run = _pick(store, name)
    shutil.rmtree(store / "journal" / run.name, ignore_errors=True)
    return run


def prune(
    store: Path, *, keep: str = "", most: int = KEEP_RUNS, most_bytes: int = KEEP_BYTES
) -> None:
    """Forget the oldest runs beyond `most`, or beyond `most_bytes` of kept text."""
    total = 0
    for number, run in enumerate(runs(store)):
        total += sum(e.size for e in run.files)
        if run.name != keep and (number >= most or total > most_bytes):
            shutil.rmtree(store / "journal" / run.name, ignore_errors=True)


def _pick(store: Path, name: str | None) -> Run:
    found = runs(store)
    if not found:
        raise UsageError("There is nothing to undo.", hint=f"No run is in {store / 'journal'}.")
    if name is None:
        return found[0]
    for run in found:
        if run.name == name:
            return run
    raise UsageError(
        f"There is no run {name!r} to undo.", hint="`specedit undo --list` names them."
    )


def _restore(folder: Path, entry: Entry) -> Outcome:
    from specedit.files.atomic import replace as put
    from specedit.files.source import Source

    path = Path(entry.path)

    def refused(why: str) -> Outcome:
        return Outcome(entry.path, REFUSED, why)

    try:
        now = path.read_bytes()
    except FileNotFoundError:
        return refused("is gone")
    except OSError as error:
        return refused(f"cannot be read: {error.strerror}")
    if path.is_symlink():
        return refused("became a symlink since")
    if _digest(now) == entry.before_sha256:
        return Outcome(entry.path, AS_BEFORE)
    if _digest(now) != entry.after_sha256:
        return refused("changed since the run wrote it")
    try:
        before = (folder / entry.blob).read_bytes()
    except OSError as error:
        return refused(f"its journal cannot be read: {error.strerror}")
    if _digest(before) != entry.before_sha256:
        return refused("its journal is damaged")
    try:
        put(Source(entry.path, "", now, path), before)
        if stat.S_IMODE(path.stat().st_mode) != entry.mode:
            path.chmod(entry.mode)
    except InputError as error:
        return refused(error.reason)
    except OSError as error:
        return refused(f"cannot be written: {error.strerror}")
    return Outcome(entry.path, RESTORED)


def _save(place: Path, run: Run) -> None:
    _whole(place / run.name / "run.json", json.dumps(asdict(run), indent=1).encode())


def _load(folder: Path) -> Run | None:
    """A run, or None for a folder that a crash left without one."""
    try:
        data = json.loads((folder / "run.json").read_bytes())
        files = tuple(Entry(**one) for one in data.pop("files"))
        return Run(**{**data, "name": folder.name}, files=files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _whole(path: Path, data: bytes) -> None:
    """Write a file of the journal whole or not at all; only its owner may read it."""
    handle, name = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
