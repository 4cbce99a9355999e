"""The peers, specedit and what people use instead: a task in, a measured run out, each in a process
of its own: their memory is their own, and a crash ends nothing else.

Every peer runs from the same weights and the same prompt ids. *Dictated*: `answer` holds the ids of
the answer. Every peer does all the work of choosing and then takes those ids, so all write the same
text and times compare. *Own*: `answer` is empty, and each peer writes what its own arithmetic
chooses.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

from benchmarks.speed.cases import Case
from specedit.edit import prompt
from specedit.edit.backend import Message, Plan
from specedit.edit.job import plan_edit
from specedit.errors import SpeceditError, UsageError
from specedit.files.source import Source
from specedit.inference.reader import Reader, whole_answer
from specedit.models.tokenizer import Tokenizer
from specedit.settings import Settings


@dataclass(frozen=True, slots=True)
class PeerName:
    """One peer. `module` has its `open_peer`; `way` is how it decodes."""

    name: str
    module: str
    way: str
    library: str = ""  # what must be installed: a module, and the command that installs it
    install: str = ""
    lookup: bool = False  # opened for a prompt lookup, where that is a way of opening

    @property
    def process(self) -> tuple[str, bool]:
        """Peers that share weights share a process."""
        return self.module, self.lookup

    @property
    def missing(self) -> bool:
        return bool(self.library) and find_spec(self.library) is None


PREDICTED, PLAIN, ASSISTED = "predicted", "plain", "assisted"
OWN_MODULE = f"{__name__}.own"
TORCH = (f"{__name__}.transformers", "transformers", "pip install 'specedit[torch]'")
LLAMA = (f"{__name__}.llama", "llama_cpp", "pip install llama-cpp-python")


def _peers(
    name: str, ways: Iterable[str], of: tuple[str, str, str], *, lookup: bool = False
) -> list[PeerName]:
    module, library, install = of
    return [PeerName(f"{name}{way}", module, way, library, install, lookup) for way in ways]


NAMES = [
    PeerName("specedit", OWN_MODULE, PREDICTED),
    PeerName("specedit-plain", OWN_MODULE, PLAIN),
    *_peers("transformers-", (PLAIN, ASSISTED), TORCH),  # the latter needs --draft-model
    *_peers("transformers-lookup-", ("10", "32"), TORCH),
    *_peers("llama.cpp-", (PLAIN,), LLAMA),
    *_peers("llama.cpp-lookup-", ("2", "5", "10", "20"), LLAMA, lookup=True),
]
OWN = NAMES[0].name


def selected(against: str) -> list[PeerName]:
    """specedit and the peers of `--against`: `all`, `none`, whole names, or their beginnings.

    Assisted generation needs a draft model, so only its whole name selects it."""
    names = [NAMES[0]]
    for word in (w.strip() for w in against.split(",")):
        if word in ("", "none"):
            continue
        hits = [
            n
            for n in NAMES
            if n.name == word
            or (n.way != ASSISTED and (word == "all" or n.name.startswith(f"{word}-")))
        ]
        if not hits:
            raise UsageError(
                f"--against {word}: there is no such peer.",
                hint=f"Known: all, none, {', '.join(n.name for n in NAMES)}",
            )
        names += [n for n in hits if n not in names]
    return names


TEXT = "text"  # the kind of a case that is a request for new text, without a file
MARGIN = 1024  # tokens that a peer's own answer may have beyond the file


@dataclass(frozen=True, slots=True)
class Task:
    """The same for every peer: prompt ids and where to stop. The Plan is for specedit."""

    id: str
    plan: Plan
    prompt: tuple[int, ...]
    answer: tuple[int, ...]  # () for the peer's own
    limit: int  # tokens to write

    @property
    def dictated(self) -> bool:
        return bool(self.answer)


@dataclass(frozen=True, slots=True)
class PeerRun:
    """One peer's run of one task. `passes` is 0 where the peer does not count them."""

    prefill_s: float  # until the prompt is in the cache
    decode_s: float
    tokens: tuple[int, ...]
    passes: int = 0
    proposed: int = 0
    accepted: int = 0
    early: int = 0  # tokens that came within `prefill_s`

    @property
    def total_s(self) -> float:
        return self.prefill_s + self.decode_s


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """What every peer is opened with. The engine among the settings is specedit's."""

    settings: Settings
    threads: int
    window: int  # positions that the longest task needs
    lookup: bool = False  # open for a prompt lookup, where that is a way of opening


def stops(pieces: Tokenizer, task: Task) -> Callable[[int], bool]:
    """Whether a token ends the answer: a peer's own by the same rule for all, a dictated one at its
    length. Called with each token in order."""
    if not task.dictated:
        plan = task.plan
        expected = plan.prediction or plan.least
        return Reader(pieces, plan.closing, plan.stop, nested=plan.nested, expected=expected).ends
    left = len(task.answer)

    def ends(token: int) -> bool:
        nonlocal left
        left -= 1
        return left <= 0

    return ends


def cut(pieces: Tokenizer, task: Task, tokens: list[int]) -> tuple[int, ...]:
    """The ids up to the one that ends the answer."""
    ends = stops(pieces, task)
    last = next((at for at, token in enumerate(tokens) if ends(token)), len(tokens))
    return tuple(tokens[: last + 1])


@dataclass(frozen=True, slots=True)
class Words:
    """A model's tokenizer and its prompt form."""

    tokenizer: Any
    prompt: Callable[[Plan], list[int]]

    def task(self, case: Case, settings: Settings, *, own: bool, limit: int = 0) -> Task:
        if case.kind == TEXT:
            plan = Plan((Message("user", (case.instruction,)),), "```python\n", closing="```")
            return Task(case.id, plan, tuple(self.prompt(plan)), (), limit)
        source = Source.from_bytes(case.filename, case.before.encode("utf-8"))
        plan = plan_edit(source, case.instruction, settings).plan
        answer: list[int] = []
        if case.after is not None and not own:
            after = prompt.finished(Source.from_bytes("", case.after.encode("utf-8")).text)
            answer = whole_answer(after, plan.closing, self.tokenizer)[: limit or None]
        most = len(answer) or limit or len(self.tokenizer.encode(source.text)) + MARGIN
        return Task(case.id, plan, tuple(self.prompt(plan)), tuple(answer), most)


@dataclass(frozen=True, slots=True)
class PeerLine:
    """What is reported of one peer, whether it ran or not."""

    name: str
    load_s: float = 0.0
    peak_mb: float = 0.0
    note: str = ""
    skipped: str = ""  # why, and what to install


class PeerProcess:
    """Peers that share weights, as their parent sees them. `problem`: why they do not run."""

    def __init__(self, name: PeerName, options: PeerOptions) -> None:
        self.load_s = self.peak_mb = 0.0
        self.note = self.problem = ""
        self._pool: ProcessPoolExecutor | None = None
        if name.missing:
            self.problem = f"not installed: {name.install}"
            return
        ignore = (signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C ends
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), signal.signal, ignore)
        self.pid = self._pool.submit(os.getpid).result()
        options = replace(options, lookup=name.lookup)
        try:
            self.load_s, self.note = self._result(_open, name.module, options) or (0.0, "")
        except BaseException:
            self.close()
            raise

    def call(self, method: str, *arguments: Any) -> Any:
        """What a method of the peer returns; None once it has failed or its process has ended."""
        return self._result(_call, method, *arguments)

    def close(self) -> None:
        """End the process, also one at work: there is nothing that it has to finish, and libraries
        of peers may crash in their destructors."""
        if self._pool is not None:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGTERM)
            self._pool.shutdown(wait=False, cancel_futures=True)

    def line(self, name: str) -> PeerLine:
        return PeerLine(name, round(self.load_s, 2), round(self.peak_mb), self.note, self.problem)

    def _result(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self.problem or self._pool is None:
            return None
        try:
            received = self._pool.submit(_answered, function, *arguments).result()
        except BrokenProcessPool:
            received = "its process ended; was there enough memory?"
        if isinstance(received, str):
            self.problem = received
            return None
        result, self.peak_mb = received
        return result


_PEERS: list[Any] = []  # in the child: its one peer


def _answered(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float] | str:
    """In the child: a result and the memory until then, or the message of an error, which pickle
    may not restore."""
    try:
        return function(*arguments), peak_mb()
    except Exception as problem:
        kind = "" if isinstance(problem, SpeceditError) else f"{type(problem).__name__}: "
        return " ".join(f"{kind}{problem}".split())


def _open(module: str, options: PeerOptions) -> tuple[float, str]:
    started = time.perf_counter()
    _PEERS.append(import_module(module).open_peer(options))
    return time.perf_counter() - started, _PEERS[0].note


def _call(method: str, *arguments: Any) -> Any:
    return getattr(_PEERS[0], method)(*arguments)


def peak_mb() -> float:
    """The most memory that this process, or a process that it ran and ended, ever held."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(one).ru_maxrss for one in whose)
    return float(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))
