"""Side by side, in one run: cases and peers in, measured rows out.

Knows the peers' names and how to open them; shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from specedit.bench import tasks as making
from specedit.bench.cases import Case
from specedit.bench.peers import Name, missing, wanted
from specedit.bench.peers.base import PeerOptions, PeerRun, Task
from specedit.bench.quality import CaseResult, outcome
from specedit.bench.tasks import Words
from specedit.bench.timing import Interrupted, Measured, alternate
from specedit.bench.worker import PeerProcess
from specedit.errors import ModelError
from specedit.settings import Settings

Said = Callable[[str], None]
INTERRUPTED = "interrupted: what was measured until now is shown"


@dataclass(frozen=True)
class Note:
    """Something to be said once, when all is shown."""

    text: str


@dataclass(frozen=True)
class PeerLine:
    """What is said of one peer, whether it ran or not."""

    name: str
    load_s: float = 0.0
    peak_mb: float = 0.0
    note: str = ""
    skipped: str = ""  # why, and what to install


@dataclass(frozen=True)
class SideRow:
    """One case, all peers."""

    case: Case
    task: Task
    measured: tuple[Measured, ...]

    def of(self, peer: str) -> Measured | None:
        return next((m for m in self.measured if m.peer == peer), None)


@dataclass(frozen=True)
class Measuring:
    """What to measure."""

    against: str
    rounds: int
    own: bool
    limit: int


def threads_of(settings: Settings) -> int:
    """The same number for every peer."""
    return settings.threads or _cores()


def _cores() -> int:
    from specedit.engines.exact.cores import physical_cores

    return physical_cores()


def peers(against: str) -> tuple[list[Name], list[PeerLine]]:
    """Those that can run, and those skipped with what to install."""
    names = wanted(against)
    lost = missing(names)
    lines = [PeerLine(n.name, skipped=f"not installed: {n.install}") for n in lost]
    return [n for n in names if n not in lost], lines


class Bench:
    """Open peers, each in its own process, for as long as the `with` lasts."""

    def __init__(self, names: Sequence[Name], options: PeerOptions, said: Said) -> None:
        self._wanted = names
        self._options = options
        self._said = said
        self._stack = ExitStack()
        self._workers: dict[str, PeerProcess] = {}
        self._broken: dict[str, str] = {}

    def __enter__(self) -> Bench:
        for name in self._wanted:
            if name.family in self._workers or name.family in self._broken:
                continue
            self._said(f"{name.name}: loading")
            try:
                worker = PeerProcess(name.family, self._options)
            except ModelError as problem:
                self._broken[name.family] = problem.message
            else:
                self._workers[name.family] = worker
                self._stack.callback(worker.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def names(self) -> list[Name]:
        """Those that opened."""
        return [n for n in self._wanted if n.family in self._workers]

    def runner(self, name: Name) -> PeerProcess:
        return self._workers[name.family]

    def broke(self, name: Name, problem: ModelError) -> None:
        """A peer's process ended: it is not asked again."""
        self._broken[name.family] = problem.message

    @property
    def problem(self) -> ModelError:
        """Why nothing opened."""
        return ModelError(next(iter(self._broken.values()), "no peer can run"))

    def run(self, name: Name, task: Task) -> PeerRun | None:
        """A measured run; None when the peer's process ended, now or earlier."""
        if name.family in self._broken:
            return None
        try:
            return self._workers[name.family].run(task, name.way)
        except ModelError as problem:
            self.broke(name, problem)
            return None

    def lines(self) -> list[PeerLine]:
        """What is to be said of each."""
        return [self._line(n) for n in self._wanted]

    def _line(self, name: Name) -> PeerLine:
        if name.family in self._broken:
            return PeerLine(name.name, skipped=self._broken[name.family])
        w = self._workers[name.family]
        return PeerLine(name.name, round(w.load_s, 2), round(w.peak_mb), w.note)


def side_by_side(
    cases: Sequence[Case], words: Words, settings: Settings, asked: Measuring, said: Said
) -> Iterator[SideRow | PeerLine | Note]:
    """Each case's row as it is done, then a line for each peer."""
    names, skipped = peers(asked.against)
    found = [making.task(c, words, settings, own=asked.own, limit=asked.limit) for c in cases]
    warm = making.task(making.WARM, words, settings, own=False)
    options = PeerOptions(settings, threads_of(settings), making.longest([*found, warm]) + 64)
    with Bench(names, options, said) as bench:
        if not bench.names:
            raise bench.problem
        for name in bench.names:
            said(f"{name.name}: warming up")
            bench.run(name, warm)
        for case, task in zip(cases, found, strict=True):
            try:
                measured = alternate(task, bench.names, bench.run, rounds=asked.rounds, said=said)
            except Interrupted as early:
                if early.measured:
                    yield SideRow(case, task, tuple(early.measured))
                yield Note(INTERRUPTED)
                break
            yield SideRow(case, task, tuple(measured))
        yield from bench.lines()
    yield from skipped


def judged(
    cases: Sequence[Case], words: Words, settings: Settings, against: str, said: Said
) -> Iterator[tuple[Name, list[CaseResult]] | PeerLine | Note]:
    """Each peer's outcomes of all cases, one peer after the other; of fewer, once interrupted."""
    names, skipped = peers(against)
    found = [making.task(c, words, settings, own=True) for c in cases]
    options = PeerOptions(settings, threads_of(settings), making.longest(found) + 64)
    for name in names:
        with Bench([name], options, said) as bench:
            if bench.names:
                outcomes: list[CaseResult] = []
                try:
                    for number, case in enumerate(cases, 1):
                        said(f"{name.name}: {case.id} ({number} of {len(cases)})")
                        answered = outcome(case, words, bench.runner(name), name.way, settings)
                        outcomes.append(answered)
                except KeyboardInterrupt:
                    yield Note("interrupted: what was judged until now is shown")
                    yield name, outcomes
                    break
                except ModelError as problem:
                    bench.broke(name, problem)
                yield name, outcomes
            yield from bench.lines()
    yield from skipped
