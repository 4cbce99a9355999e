"""Runs of backends as lists of events, and runs that are held or stopped in the middle."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from specedit.edit.backend import Answer, Backend, Event, Loading, Plan, Ready, Written
from specedit.edit.sink import Answered, Begun, EditEvent, Sink
from specedit.engines.base import Prefill


class Recorded(Sink):
    """Keeps every event of a model's run."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: EditEvent) -> None:
        match event:
            case Answered():
                self.events.append(event.answer)
            case Loading() | Ready() | Prefill() | Written():
                self.events.append(event)


def events(backend: Backend, plan: Plan) -> list[Event]:
    """The events of a run, its Answer last."""
    recorded = Recorded()
    answer = backend.run(plan, recorded.emit)
    return [*recorded.events, answer]


class Stop(Exception):
    """Raised in the middle of a run, to cancel it."""


def stopping(event: Event) -> None:
    """Cancel a run at its first text."""
    if isinstance(event, Written):
        raise Stop


class _Held:
    def __init__(self) -> None:
        self.began, self.goes_on = threading.Event(), threading.Event()
        self.stops = True

    def emit(self, event: Event) -> None:
        if not isinstance(event, Written):
            return
        self.began.set()
        self.goes_on.wait(20)
        if self.stops:
            raise Stop


@contextmanager
def held(backend: Backend, plan: Plan) -> Iterator[None]:
    """A run that stands at its first text as long as the block lasts, and is then cancelled."""
    progress = _Held()

    def run() -> None:
        with suppress(Stop):
            backend.run(plan, progress.emit)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert progress.began.wait(20), "the run did not begin"
    try:
        yield
    finally:
        progress.goes_on.set()
        thread.join(20)


def feed(sink: Sink, name: str, *events: Event) -> None:
    """Report events of one file."""
    sink.emit(Begun(name))
    for event in events:
        sink.emit(Answered(event) if isinstance(event, Answer) else event)
