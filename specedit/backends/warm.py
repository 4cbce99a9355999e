"""The Backend that asks our warm server, and the one that goes on without it.

Knows the wire. Does not know how a server is found, started or ended; `servers` does. Standard
library only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from specedit.backends import wire
from specedit.backends.runtime import ServerRecord
from specedit.backends.talk import ServerBusyError, ServerGoneError, lines
from specedit.edit.backend import Backend, Event, Loading
from specedit.edit.plan import Plan


class ServerBackend:
    """Runs Plans in a warm server of ours. Closing a run's generator cancels it there."""

    def __init__(self, record: ServerRecord, *notes: str) -> None:
        self._record = record
        self.notes = notes  # what was done so that this server answers: said with its first run
        self._asked = False

    @property
    def server(self) -> str | None:
        return self._record.address

    def run(self, plan: Plan) -> Iterator[Event]:
        if self._asked:
            self.notes = ()
        self._asked = True
        return self._events(wire.RUN, plan)

    def warm(self, plan: Plan) -> Iterator[Event]:
        """Read the plan's prompt and nothing more, so that the next run finds it."""
        return self._events(wire.WARM, plan)

    def close(self) -> None:
        pass

    def _events(self, path: str, plan: Plan) -> Iterator[Event]:
        ended = False
        for line in lines(self._record, path, wire.dump(wire.plan_json(plan))):
            if line.get("event") == "end":
                ended = True
                continue
            yield wire.event_from(line)
        if not ended:
            raise ServerGoneError("The server ended in mid-run.")


class WithFallback:
    """A server's backend while it lasts; then the run starts over in this process.

    Nothing is lost, for nothing is written before a run's end. A `Ready` that comes again says
    that everything before it is void."""

    def __init__(self, server: Backend, make_local: Callable[[], Backend]) -> None:
        self._server: Backend | None = server
        self._make_local = make_local
        self._local: Backend | None = None
        self._lost = ""

    @property
    def server(self) -> str | None:
        return self._server.server if self._server is not None else None

    @property
    def notes(self) -> tuple[str, ...]:
        said = self._server.notes if self._server is not None else ()
        return (*said, self._lost) if self._lost else said

    def run(self, plan: Plan) -> Iterator[Event]:
        if self._server is not None:
            try:
                yield from self._server.run(plan)
                return
            except (ServerGoneError, ServerBusyError) as problem:
                note = f"{problem.message} The run went on in this process."
            self._server.close()
            self._server = None
            self._lost = note
            yield Loading(note)
        else:
            self._lost = ""
        if self._local is None:
            self._local = self._make_local()
        yield from self._local.run(plan)

    def close(self) -> None:
        for backend in (self._server, self._local):
            if backend is not None:
                backend.close()
