"""The engine thread: one model, one ticket at a time, a bounded queue in front of it.

A ticket hands its items to a sink. Its client may cancel it at any time, which frees the engine
within one pass. The thread and its clients wait for each other by events, never by polling.
"""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from specedit.edit.backend import WAITING, Answer, Event, Loading, Plan, Ready, Written
from specedit.errors import ServerError, SpeceditError
from specedit.inference.loading import load
from specedit.inference.model import CACHE_BYTES, LoadedModel
from specedit.settings import Settings

STOPPING = "The server is stopping."


@dataclass(frozen=True, slots=True)
class Ended:
    """The last item of every ticket. With an `error` there was no Answer."""

    error: SpeceditError | None = None


Item = Event | Ended


@dataclass
class ServerCounts:
    """The counters of a server since it started."""

    answered: int = 0
    cancelled: int = 0  # runs whose client left
    refused: int = 0  # because the queue was full
    passes: int = 0
    seconds: float = 0.0  # of answering

    def add(self, answer: Answer) -> None:
        self.answered += 1
        self.seconds += answer.prefill_s + answer.decode_s

    def retry_s(self, waiting: int) -> int:
        """Estimated whole seconds until a full queue accepts tickets again."""
        each = self.seconds / self.answered if self.answered else 1.0
        return max(1, min(120, math.ceil(each * (waiting + 1) / 2)))


class QueueFullError(ServerError):
    """Too many tickets wait already."""

    def __init__(self, retry_s: int) -> None:
        super().__init__("The server's queue is full.", hint=f"Try again in {retry_s} s.")
        self.retry_s = retry_s


@dataclass(eq=False)
class Ticket:
    """One request, from the queue to its last item."""

    plan: Plan
    sink: Callable[[Item], None]
    warm: bool = False  # prefill only
    count: bool = False  # count the predicted ids that appear in the answer
    queued: float = field(default_factory=time.monotonic)
    cancelled: threading.Event = field(default_factory=threading.Event)
    yields: threading.Event = field(default_factory=threading.Event)  # a run waits: end the warm-up


class _Cancelled(BaseException):  # no handler of errors may take it for one
    """The run of a ticket is not wanted any more."""


class _Yielded(Exception):
    """A warm-up ends early, for a run that waits."""


class Worker:
    """Owns the engine. The thread owns all state except the queue and a few figures."""

    def __init__(self, settings: Settings, *, waiting: int = 16) -> None:
        self._settings = settings
        self.counts = ServerCounts()
        self._loaded = time.monotonic()
        self._longest_queue = waiting
        self._changed = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._running: Ticket | None = None
        self._stopping = False
        self.settled = threading.Event()  # loaded, or it is known that nothing will be
        self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)
        self.loaded: LoadedModel | None = None
        self.failed: SpeceditError | None = None
        self.loading: Loading | None = None  # what it does before the model can answer
        self.active = time.monotonic()  # end of the last work

    def start(self) -> None:
        self._thread.start()

    @property
    def state(self) -> str:
        return "failed" if self.failed else "ready" if self.loaded else "loading"

    @property
    def running(self) -> bool:
        return self._running is not None

    @property
    def queued(self) -> int:
        return len(self._waiting)

    def idle_s(self) -> float:
        busy = self.running or self.queued or self.state == "loading"
        return 0.0 if busy else time.monotonic() - self.active

    def submit(self, ticket: Ticket) -> None:
        """Queue a ticket. Its sink gets every item, an `Ended` last, unless it is cancelled."""
        with self._changed:
            if self.failed is not None:
                raise self.failed
            if self._stopping:
                raise ServerError(STOPPING)
            if len(self._waiting) >= self._longest_queue:
                self.counts.refused += 1
                raise QueueFullError(self.counts.retry_s(len(self._waiting)))
            self._waiting.append(ticket)
            self._send_places()
            running = self._running
            if running is not None and running.warm and not ticket.warm:
                running.yields.set()
            self._changed.notify_all()

    def cancel(self, ticket: Ticket) -> None:
        """Remove a ticket from the queue, or end its run within a pass."""
        ticket.cancelled.set()
        with self._changed:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                self.counts.cancelled += 1

    def stop(self, grace_s: float) -> None:
        """Accept nothing more; after `grace_s` the running ticket is cancelled."""
        with self._changed:
            if self._stopping:
                return
            self._stopping = True
            running = self._running
            self._changed.notify_all()
        self.settled.set()
        self._refuse_waiting(ServerError(STOPPING))
        if running is not None:
            timer = threading.Timer(grace_s, running.cancelled.set)
            timer.daemon = True
            timer.start()

    def join(self, timeout_s: float) -> bool:
        """Whether the thread has ended."""
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _serve(self) -> None:
        try:
            self._load()
        except SpeceditError as error:
            self._fail(error)
        except Exception as error:
            traceback.print_exc()
            self._fail(ServerError(f"The model could not be loaded: {error}"))
        self.settled.set()
        if self.loaded is None:
            return
        while (ticket := self._next()) is not None:
            self._run(ticket)
            self.active = time.monotonic()
            with self._changed:
                self._running = None
                idle = not self._waiting
            if idle:
                _return_memory()
        self.loaded.close()

    def _load(self) -> None:
        def tell_waiting(event: Event) -> None:
            if isinstance(event, Loading):
                self.loading = event
                with self._changed:
                    waiting = list(self._waiting)
                for ticket in waiting:
                    ticket.sink(event)

        loaded = load(self._settings, tell_waiting)
        self.loading = None
        loaded.keep_prefixes(CACHE_BYTES)
        self.loaded = loaded
        self._loaded = self.active = time.monotonic()

    def _fail(self, error: SpeceditError) -> None:
        with self._changed:
            self.failed = error
        self._refuse_waiting(error)

    def _refuse_waiting(self, error: SpeceditError) -> None:
        with self._changed:
            waiting = list(self._waiting)
            self._waiting.clear()
        for ticket in waiting:
            ticket.sink(Ended(error))

    def _next(self) -> Ticket | None:
        """The next ticket, runs before warm-ups; None when the server stops."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            if self._stopping:
                return None
            self._running = next((t for t in self._waiting if not t.warm), self._waiting[0])
            self._waiting.remove(self._running)
            self._send_places()
            return self._running

    def _send_places(self) -> None:
        """Send each run that waits how many others are before it."""
        running = [] if self._running is None or self._running.warm else [self._running]
        runs = [*running, *(ticket for ticket in self._waiting if not ticket.warm)]
        for before, ticket in enumerate(runs):
            if before and ticket is not self._running:
                others = "1 other is" if before == 1 else f"{before} others are"
                ticket.sink(Loading(f"{WAITING}{others} before this one"))

    def _run(self, ticket: Ticket) -> None:
        """Run one ticket; no error of it ends the thread."""
        error: SpeceditError | None = None
        try:
            with suppress(_Yielded):
                self._answer(ticket)
        except _Cancelled:
            self.counts.cancelled += 1
            error = ServerError(STOPPING if self._stopping else "Cancelled.")
        except SpeceditError as expected:
            error = expected
        except Exception as unexpected:
            traceback.print_exc()
            error = ServerError(f"unexpected {type(unexpected).__name__}: {unexpected}")
        ticket.sink(Ended(error))

    def _answer(self, ticket: Ticket) -> None:
        assert self.loaded is not None

        def emit(event: Event) -> None:
            """Hand an event to the ticket, and end the run when the ticket does."""
            self.counts.passes += isinstance(event, Written)
            if ticket.cancelled.is_set():
                raise _Cancelled
            ticket.sink(event)
            if ticket.yields.is_set():
                raise _Yielded

        load_s = max(0.0, self._loaded - ticket.queued)
        emit(Ready(self.loaded.line, load_s))
        if ticket.warm:
            self.loaded.warm(ticket.plan, emit)
            return
        answer = self.loaded.answer(ticket.plan, emit, count=ticket.count)
        self.counts.add(answer)
        ticket.sink(replace(answer, load_s=load_s))


def _return_memory() -> None:
    """Return freed memory to the system: a long prediction leaves holes."""
    with suppress(OSError, AttributeError):
        _system_library().malloc_trim(0)


@cache
def _system_library() -> Any:
    import ctypes

    return ctypes.CDLL(None)  # each one defines a class anew: 4 kB that a long run would keep
