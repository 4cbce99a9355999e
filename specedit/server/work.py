"""The engine thread: one model, one ticket at a time, a bounded queue in front of it.

Knows Plans, events and caches. Does not know HTTP: a ticket hands its events to a sink, and whoever
waits behind the sink may cancel the ticket, which frees the engine within one pass.
"""

from __future__ import annotations

import asyncio
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass

from specedit.backends.prefixes import Prefixes
from specedit.backends.running import Loaded
from specedit.backends.starting import load
from specedit.backends.wire import appeared
from specedit.edit.backend import Answer, Event, Ready, Written
from specedit.edit.plan import Plan
from specedit.errors import ServerError, SpeceditError
from specedit.server.metrics import Metrics, give_back
from specedit.settings import Settings


@dataclass(frozen=True)
class Predicted:
    """The prediction's ids that appeared in the completion, and those that did not."""

    appeared: int
    absent: int


@dataclass(frozen=True)
class Ended:
    """The last item of every ticket; `error` says why there was no Answer."""

    error: SpeceditError | None = None


Item = Event | Predicted | Ended


class QueueFullError(ServerError):
    """Too many wait already."""

    def __init__(self, retry_s: int) -> None:
        super().__init__("The server has too much to do.", hint=f"Try again in {retry_s} s.")
        self.retry_s = retry_s


class Ticket:
    """One request, from the queue to its last item."""

    def __init__(
        self, plan: Plan, sink: Callable[[Item], None], *, warm: bool = False, count: bool = False
    ) -> None:
        self.plan = plan
        self.sink = sink
        self.warm = warm  # prefill only
        self.count = count  # say which part of the prediction appeared
        self.queued = time.monotonic()
        self.cancelled = threading.Event()
        self.yields = threading.Event()  # a warm ticket whose place a run wants; what it read stays


STOPPING = "The server is stopping."


class Worker:
    """Owns the engine. All of its state is the thread's, but the queue and a few figures."""

    def __init__(self, settings: Settings, metrics: Metrics, *, waiting: int = 16) -> None:
        self._settings = settings
        self._metrics = metrics
        self._most = waiting
        self._changed = threading.Condition()
        self._waiting: deque[Ticket] = deque()
        self._running: Ticket | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)
        self.loaded: Loaded | None = None
        self.prefixes: Prefixes | None = None
        self.failed: SpeceditError | None = None
        self.active = time.monotonic()  # when there was last something to do

    def start(self) -> None:
        self._thread.start()

    @property
    def state(self) -> str:
        if self.failed is not None:
            return "failed"
        return "loading" if self.loaded is None else "ready"

    @property
    def running(self) -> bool:
        return self._running is not None

    @property
    def queued(self) -> int:
        return len(self._waiting)

    async def known(self) -> None:
        """Wait until it is known what the model is called, or that there will be none."""
        while self.state == "loading" and not self._stopping:
            await asyncio.sleep(0.02)

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
            if len(self._waiting) >= self._most:
                self._metrics.refused += 1
                raise QueueFullError(self._metrics.wait_guess(len(self._waiting)))
            self._waiting.append(ticket)
            running = self._running
            if running is not None and running.warm and not ticket.warm:
                running.yields.set()
            self._changed.notify_all()

    def cancel(self, ticket: Ticket) -> None:
        """The one who waits has left: out of the queue, or out of the engine within a pass."""
        ticket.cancelled.set()
        with self._changed:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
                self._metrics.cancelled += 1

    def stop(self, grace_s: float) -> None:
        """Take nothing more. What runs may finish within `grace_s` and is cancelled then."""
        with self._changed:
            if self._stopping:
                return
            self._stopping = True
            turned_away, running = list(self._waiting), self._running
            self._waiting.clear()
            self._changed.notify_all()
        for ticket in turned_away:
            ticket.sink(Ended(ServerError(STOPPING)))
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
            return
        except Exception as error:
            traceback.print_exc()
            self._fail(ServerError(f"The model could not be loaded: {error}"))
            return
        while (ticket := self._next()) is not None:
            self._do(ticket)
            self.active = time.monotonic()
            with self._changed:
                self._running = None
                resting = not self._waiting
            if resting:
                give_back()
        if self.loaded is not None:
            self.loaded.close()

    def _load(self) -> None:
        loading = load(self._settings)
        while True:
            try:
                event = next(loading)
            except StopIteration as done:
                loaded: Loaded = done.value
                break
            with self._changed:
                waiting = list(self._waiting)
            for ticket in waiting:
                ticket.sink(event)
        self.prefixes = Prefixes(loaded.engine, self._settings.cache_bytes)
        self.loaded = loaded
        self._metrics.loaded = self.active = time.monotonic()

    def _fail(self, error: SpeceditError) -> None:
        with self._changed:
            self.failed = error
            waiting = list(self._waiting)
            self._waiting.clear()
        for ticket in waiting:
            ticket.sink(Ended(error))

    def _next(self) -> Ticket | None:
        with self._changed:
            while not self._waiting and not self._stopping:
                self._changed.wait()
            if self._stopping:
                return None
            self._running = next((j for j in self._waiting if not j.warm), self._waiting[0])
            self._waiting.remove(self._running)
            return self._running

    def _do(self, ticket: Ticket) -> None:
        """Run one ticket; nothing it does ends the thread."""
        self._metrics.queue_s.add(time.monotonic() - ticket.queued)
        error: SpeceditError | None = None
        try:
            with closing(self._items(ticket)) as items:
                for item in items:
                    if ticket.cancelled.is_set():
                        self._metrics.cancelled += 1
                        error = ServerError(STOPPING if self._stopping else "Cancelled.")
                        break
                    ticket.sink(item)
                    if ticket.yields.is_set():
                        break
        except SpeceditError as known:
            error = known
        except Exception as unknown:
            traceback.print_exc()
            error = ServerError(f"unexpected {type(unknown).__name__}: {unknown}")
        ticket.sink(Ended(error))

    def _items(self, ticket: Ticket) -> Generator[Item, None, None]:
        loaded, prefixes = self.loaded, self.prefixes
        assert loaded is not None and prefixes is not None
        yield Ready(loaded.line, max(0.0, self._metrics.loaded - ticket.queued))
        prompt = loaded.prompt(ticket.plan)
        prefixes.choose(prompt, fresh=ticket.plan.fresh)
        try:
            if ticket.warm:
                yield from loaded.engine.begin(prompt)
            else:
                yield from self._answer(ticket, loaded)
        finally:
            prefixes.settle()

    def _answer(self, ticket: Ticket, loaded: Loaded) -> Generator[Item, None, None]:
        completion: list[int] = []
        for event in loaded.run(ticket.plan):
            self._metrics.event(event)
            if isinstance(event, Written):
                completion += event.chunk.tokens
            if isinstance(event, Answer) and ticket.count:
                yield self._predicted(ticket.plan, loaded, completion)
            yield event

    def _predicted(self, plan: Plan, loaded: Loaded, completion: list[int]) -> Predicted:
        ids = loaded.tokenizer.encode(plan.prediction) if plan.prediction else []
        found = appeared(ids, completion)
        self._metrics.appeared += found
        self._metrics.absent += len(ids) - found
        return Predicted(found, len(ids) - found)
