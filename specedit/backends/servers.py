"""Which of a user's warm servers answers: one is found, started beside another, or replaced.

Two models may be warm at once, each in a server of its own; one that has nothing to do makes room.
Knows settings, records and memory. Does not know HTTP or processes. Standard library only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specedit.backends import memory
from specedit.backends.processes import arguments, launch, stop
from specedit.backends.runtime import RuntimeFolder, ServerRecord, identity, runtime_folder
from specedit.backends.talk import status
from specedit.backends.warm import ServerBackend
from specedit.errors import ServerError
from specedit.settings import Settings
from specedit.version import VERSION

MOST = 2  # servers of one user


@dataclass(frozen=True)
class Warm:
    """A server that lives, and the folder it lives in."""

    place: RuntimeFolder
    record: ServerRecord

    @property
    def model(self) -> str:
        return self.record.identity.get("model", "")


@dataclass(frozen=True)
class Room:
    """Where a new server goes, what is said of it, and the one whose place it takes."""

    place: RuntimeFolder
    note: str = ""
    before: ServerRecord | None = None


class LeftAloneError(ServerError):
    """The servers that run may not be replaced."""


def warm(where: RuntimeFolder) -> list[Warm]:
    """The servers that live, the first folder's first."""
    found = [(place, place.record()) for place in where.places()]
    return [Warm(place, record) for place, record in found if record is not None]


def look(settings: Settings) -> tuple[ServerBackend | None, str]:
    """The server to use, and why one that is there (or was wanted) is not used.

    One that a person started in a terminal is left alone, and so is one that is at work."""
    if settings.server != "auto":
        return None, ""
    try:
        where = runtime_folder()
        living = warm(where)
        if not living and not settings.warm:
            return None, ""
        if (one := answering(living, settings)) is not None:
            return ServerBackend(one.record), ""
        if not settings.warm and not any(one.record.background for one in living):
            return None, str(_left_alone(living, settings))
        return _started(where, settings), ""
    except LeftAloneError as problem:
        return None, str(problem)
    except (ServerError, OSError) as problem:
        return None, f"No server was used: {problem}"


def answers(record: ServerRecord, settings: Settings) -> bool:
    return record.version == VERSION and record.identity == identity(settings)


def answering(living: Sequence[Warm], settings: Settings) -> Warm | None:
    return next((one for one in living if answers(one.record, settings)), None)


def _started(where: RuntimeFolder, settings: Settings) -> ServerBackend:
    """A server that fits, after starting it (or waiting for who does)."""
    with where.starting():
        if (one := answering(warm(where), settings)) is not None:
            return ServerBackend(one.record)
        room = make_room(where, settings)
        before = room.before
        secret = {"SPECEDIT_TOKEN": before.token} if before is not None and before.token else {}
        record = launch(room.place, arguments(settings, *_doors(before)), secret)
    return ServerBackend(record, *([room.note] if room.note else []))


def make_room(where: RuntimeFolder, settings: Settings) -> Room:
    """Where a server of these settings can start, after ending what must go for it. Call it while
    holding `where.starting()`."""
    living = warm(where)
    if living:
        _check_model(settings)
    wanted = identity(settings)
    for one in living:
        if one.record.version != VERSION or one.model == wanted["model"]:
            if not _resting(one):
                raise _left_alone([one], settings)
            stop(one.place, one.record)
            said = f"The warm server was replaced: it had {_other(one.record, wanted)}."
            return Room(one.place, said, one.record)
    staying, leaving = _sorted_out(living, settings)
    for one in leaving:
        stop(one.place, one.record)
    if leaving:
        gone = leaving[0]
        why = "memory has no room for both" if len(living) < MOST else f"{MOST} are warm at most"
        said = f"The warm server was replaced: it had {_other(gone.record, wanted)}, and {why}."
        return Room(gone.place, said, gone.record)
    held = {one.place.folder for one in staying}
    place = next(place for place in where.places() if place.folder not in held)
    beside = "".join(f"A second server is warm now, beside {one.model}'s." for one in staying)
    return Room(place, beside)


def beside(where: RuntimeFolder, settings: Settings) -> RuntimeFolder:
    """Where a server in a terminal goes: beside another model's, if there is room for both."""
    living = warm(where)
    named = [one.model for one in living]
    if len(living) != 1 or identity(settings)["model"] in named or not has_room(living, settings):
        return where
    return next(place for place in where.places() if place.folder != living[0].place.folder)


def _sorted_out(living: Sequence[Warm], settings: Settings) -> tuple[list[Warm], list[Warm]]:
    """Who stays beside a new server and who goes for it: who has rested longest goes first."""
    staying, leaving, freed = list(living), list[Warm](), 0
    while staying and not (len(staying) < MOST and has_room(staying, settings, freed)):
        resting = [(found["idle_s"], one, found) for one in staying if (found := _resting(one))]
        if not resting:
            break
        _, one, found = max(resting, key=lambda each: float(each[0]))
        freed += found["memory_bytes"] - _weights(one)
        staying.remove(one)
        leaving.append(one)
    if (staying and not leaving and not has_room(staying, settings)) or len(staying) == MOST:
        raise _left_alone(staying, settings)
    return staying, leaving


def has_room(living: Sequence[Warm], settings: Settings, freed: int = 0) -> bool:
    """Whether another model fits into memory. What servers map of their files counts as free with
    the system, and is not."""
    mapped = sum(_weights(one) for one in living)
    return not living or memory.needed(settings) <= memory.free() + freed - mapped


def _weights(one: Warm) -> int:
    return memory.weights(one.model, one.record.identity["engine"])


def _resting(one: Warm) -> dict[str, Any] | None:
    """What a server says of itself, if it may be ended: in the background, with nothing to do."""
    found = status(one.record) if one.record.background else None
    return found if found and not found["requests"]["running"] else None


def _left_alone(living: Sequence[Warm], settings: Settings) -> LeftAloneError:
    one = living[0]
    own = identity(settings)["model"]
    what = f"model {one.model}" if own != one.model else "other settings or another version"
    return LeftAloneError(
        f"The running server (process {one.record.pid}) has {what}, and was left alone."
    )


def _other(one: ServerRecord, wanted: dict[str, str]) -> str:
    """What a server had that another one has not."""
    if one.version != VERSION:
        return f"version {one.version}"
    named = [f"{n} {one.identity.get(n)}" for n in wanted if one.identity.get(n) != wanted[n]]
    return ", ".join(named) or "other settings"


def _check_model(settings: Settings) -> None:
    """An error for a model that nothing is named by, before a server that works is ended."""
    if settings.engine != "scripted":
        from specedit.models.resolve import local

        local(settings.model)


def _doors(record: ServerRecord | None) -> list[str]:
    """Where the server that comes after another one listens: where that did."""
    if record is None or not record.url:
        return ["--socket-only"]
    host, _, port = record.url.removeprefix("http://").rpartition(":")
    named = [word for one in record.aliases for word in ("--alias", one)]
    return ["--host", host.strip("[]"), "--port", port, *named]
