"""Runs of backends as lists of events, and runs that are held or stopped in the middle."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from specedit.edit.backend import Answer, Backend, Event, Loading, Plan, Progress, Ready, Written
from specedit.edit.sink import Sink
from specedit.engines.base import Prefill


class Recorded(Sink):
    """Keeps every event of a model's run."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def loading(self, event: Loading) -> None:
        self.events.append(event)

    def ready(self, event: Ready) -> None:
        self.events.append(event)

    def prefill(self, event: Prefill) -> None:
        self.events.append(event)

    def written(self, event: Written) -> None:
        self.events.append(event)

    def answered(self, answer: Answer) -> None:
        self.events.append(answer)


def events(backend: Backend, plan: Plan) -> list[Event]:
    """The events of a run, its Answer last."""
    recorded = Recorded()
    answer = backend.run(plan, recorded)
    return [*recorded.events, answer]


class Stop(Exception):
    """Raised in the middle of a run, to cancel it."""


class Stopping(Progress):
    """Cancels a run at its first text."""

    def written(self, event: Written) -> None:
        raise Stop


class _Held(Progress):
    def __init__(self) -> None:
        self.began, self.goes_on = threading.Event(), threading.Event()
        self.stops = True

    def written(self, event: Written) -> None:
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
            backend.run(plan, progress)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert progress.began.wait(20), "the run did not begin"
    try:
        yield
    finally:
        progress.goes_on.set()
        thread.join(20)


_METHODS = {Loading: "loading", Ready: "ready", Prefill: "prefill", Written: "written"}


def feed(sink: Sink, name: str, *events: Event) -> None:
    """Report events of one file."""
    sink.file(name)
    for event in events:
        getattr(sink, _METHODS.get(type(event), "answered"))(event)
