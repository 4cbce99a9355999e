"""Peers in processes of their own: their memory is their own, and a crash ends nothing else."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing import get_context
from typing import Any

from specedit.bench.peers import PeerName, PeerOptions
from specedit.errors import SpeceditError


@dataclass(frozen=True)
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
