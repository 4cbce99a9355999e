"""Peers in processes of their own: their memory is their own, and a crash ends nothing else."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing.connection import Connection
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
        if name.missing:
            self.problem = f"not installed: {name.install}"
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        options = replace(options, lookup=name.lookup)
        arguments = (theirs, name.module, options)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        self._busy = True
        try:
            self.load_s, self.note = self._take() or (0.0, "")
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    def call(self, method: str, *arguments: Any) -> Any:
        """What a method of the peer returns; None once the process has ended."""
        if self.problem:
            return None
        self._busy = True
        with suppress(OSError):  # then nothing comes back either
            self._pipe.send((method, arguments))
        return self._take()

    def close(self) -> None:
        """End the process; one that is still at work (the user pressed Ctrl-C) is not awaited."""
        if not hasattr(self, "_process"):
            return
        if self._process.is_alive() and not self._busy:
            with suppress(OSError):
                self._pipe.send(None)
            self._process.join(timeout=20)
        if self._process.is_alive():
            self._process.terminate()
        self._pipe.close()

    def line(self, name: str) -> PeerLine:
        return PeerLine(name, round(self.load_s, 2), round(self.peak_mb), self.note, self.problem)

    def _take(self) -> Any:
        try:
            received = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(timeout=5)
            received = f"ended with exit code {self._process.exitcode}; was there enough memory?"
        if isinstance(received, str):
            self.problem = received
            return None
        result, self.peak_mb = received
        self._busy = False
        return result


def _serve(pipe: Connection, module: str, options: PeerOptions) -> None:
    """The child: open the peer, then answer calls until None comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    try:
        started = time.perf_counter()
        peer = import_module(module).open_peer(options)
        pipe.send(((time.perf_counter() - started, peer.note), peak_mb()))
        while (received := pipe.recv()) is not None:
            method, arguments = received
            pipe.send((getattr(peer, method)(*arguments), peak_mb()))
    except EOFError:
        pass  # the parent is gone
    except Exception as problem:
        kind = "" if isinstance(problem, SpeceditError) else f"{type(problem).__name__}: "
        pipe.send(" ".join(f"{kind}{problem}".split()))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # libraries of peers may crash in their destructors


def peak_mb() -> float:
    """The most memory that this process, or a process that it ran and ended, ever held."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(one).ru_maxrss for one in whose)
    return float(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))
