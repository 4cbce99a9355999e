"""One peer in a process of its own: its memory is its own, and its crash ends nothing else.

The parent sends tasks down a pipe and gets runs back; the peer idles between them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from specedit.bench.peers.base import PeerOptions, PeerRun, Task
from specedit.errors import ModelError, SpeceditError


@dataclass(frozen=True)
class Opened:
    """What a peer says once its weights are in memory."""

    load_s: float
    note: str


class PeerProcess:
    """A peer's process, as the parent sees it."""

    def __init__(self, family: str, options: PeerOptions) -> None:
        context = multiprocessing.get_context("spawn")
        self.family = family
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, family, options), daemon=True)
        self._process.start()
        theirs.close()
        self._busy = True
        try:
            opened = self._take()
        except BaseException:
            self.close()
            raise
        self._busy = False
        assert isinstance(opened, Opened)
        self.load_s, self.note = opened.load_s, opened.note
        self.peak_mb = 0.0

    def run(self, task: Task, way: str) -> PeerRun:
        self._busy = True
        try:
            self._pipe.send((task, way))
        except OSError:
            raise self._gone() from None
        run, self.peak_mb = self._take()
        assert isinstance(run, PeerRun)
        self._busy = False
        return run

    def close(self) -> None:
        """End the process; one that is still at work (we were interrupted) is not waited for."""
        if self._process.is_alive() and not self._busy:
            with suppress(OSError):
                self._pipe.send(None)
            self._process.join(timeout=20)
        if self._process.is_alive():
            self._process.terminate()
        self._pipe.close()

    def _take(self) -> Any:
        try:
            found = self._pipe.recv()
        except (EOFError, OSError):
            raise self._gone() from None
        if isinstance(found, str):
            raise ModelError(f"{self.family}: {found}")
        return found

    def _gone(self) -> ModelError:
        """What is said of a process that ended by itself."""
        self._process.join(timeout=5)
        return ModelError(
            f"{self.family} ended with exit code {self._process.exitcode}",
            hint="Was there enough memory? Fewer peers at once: --against NAME",
        )


def _serve(pipe: Connection, family: str, options: PeerOptions) -> None:
    """The child: open the peer, answer tasks until None comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    try:
        started = time.perf_counter()
        peer = import_module(f"specedit.bench.peers.{family}").open_peer(options)
        pipe.send(Opened(time.perf_counter() - started, peer.note))
        while (sent := pipe.recv()) is not None:
            task, way = sent
            pipe.send((peer.run(task, way), peak_mb()))
    except SpeceditError as problem:
        pipe.send(str(problem))
    except EOFError:
        pass  # the parent is gone
    except Exception as problem:
        pipe.send(" ".join(f"{type(problem).__name__}: {problem}".split()))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # foreign libraries may crash while they are taken down


def peak_mb() -> float:
    """The most memory this process ever held."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))
