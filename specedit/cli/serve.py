"""`specedit serve`, `serve status`, `serve stop`: the warm server's door.

Reads flags, starts or asks a server. Where it listens is said on stderr; `status` is on stdout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from specedit.cli.commands import Commands, Context, Option
from specedit.cli.options import settings_options
from specedit.settings import Resolved, Settings, checked

if TYPE_CHECKING:
    from specedit.backends.runtime import ServerRecord
    from specedit.backends.servers import Warm

app = Commands(help="Keep a model warm, and serve OpenAI's API with it.")


@app.itself
@settings_options(
    *("model", "engine", "device", "threads", "precision", "draft", "draft_model", "cache_bytes")
)
def serve(
    context: Context,
    background: Annotated[
        bool, Option("--background", help="return when it listens; end it with serve stop")
    ] = False,
    host: Annotated[
        str, Option(help="where TCP listens; one that is not loopback needs a token")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        Option(min=0, max=65535, help="0 takes any", show_default="8737"),
    ] = None,
    token: Annotated[
        str, Option(help="what TCP clients send as their API key", envvar="SPECEDIT_TOKEN")
    ] = "",
    socket_only: Annotated[
        bool, Option("--socket-only", help="no TCP: the command line's own socket only")
    ] = False,
    idle_minutes: Annotated[
        float | None,
        Option(
            min=0, help="end after this long without work; 0 never", show_default="background: 30"
        ),
    ] = None,
    alias: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="another name that clients may ask for; several allowed"),
    ] = None,
    detached: Annotated[bool, Option("--detached", hidden=True)] = False,
    *,
    resolved: Resolved,
) -> int:
    """Keep the model warm: the command line finds the server by itself, and OpenAI clients with a
    base URL. Ends on Ctrl-C, on `serve stop`, or (in the background) when idle."""
    if context.invoked_subcommand is not None:
        return 0
    settings = resolved.values
    if idle_minutes is not None:
        idle_minutes = checked("idle_minutes", idle_minutes, "--idle-minutes")
    if background:
        if idle_minutes is not None:
            settings = replace(settings, idle_minutes=idle_minutes)
        doors = ["--host", host] if port is None else ["--host", host, "--port", str(port)]
        doors = ["--socket-only"] if socket_only else doors
        doors += [word for one in alias or () for word in ("--alias", one)]

        def opened(record: ServerRecord) -> bool:
            if not set(alias or ()) <= set(record.aliases):
                return False
            fits = record.url.endswith(f":{port}") if port else bool(record.url)
            return (socket_only or fits) and (not token or token == record.token)

        return _background(settings, doors, token, opened)
    from specedit.backends.runtime import runtime_folder
    from specedit.backends.servers import beside
    from specedit.server.lifetime import PORT, Options, TakenError
    from specedit.server.lifetime import serve as run

    idle = idle_minutes if idle_minutes is not None else settings.idle_minutes if detached else 0.0
    options = Options(
        host=host,
        port=None if socket_only else PORT if port is None else port,
        any_port=port is None,
        token=token,
        idle_s=idle * 60,
        background=detached,
        aliases=tuple(dict.fromkeys(alias or ())),
    )
    where = runtime_folder()
    try:
        return run(settings, options, where if detached else beside(where, settings), _listening)
    except TakenError:
        if detached:  # another client was first: its server will do
            return 0
        raise


@app.define()
def status(
    as_json: Annotated[bool, Option("--json", help="one JSON object on stdout")] = False,
) -> int:
    """Show the running servers: model, memory, uptime, cache, requests."""
    import json

    from specedit.backends import talk

    result, *others = [talk.status(one.record) for one in _living()]
    if as_json:
        print(json.dumps({**result, "others": others}, indent=2))
    else:
        print("\n\n".join(map(_shown, (result, *others))))
    return 0


@app.define()
def stop(
    model: Annotated[str, Option(metavar="NAME", help="only the one that has this model")] = "",
) -> int:
    """End what runs; what a server is at is finished or cancelled within 5 s."""
    from specedit.backends import processes
    from specedit.backends.runtime import runtime_folder
    from specedit.backends.servers import warm
    from specedit.errors import ServerError

    living = warm(runtime_folder())
    wanted = [one for one in living if model in ("", one.model)]
    if living and not wanted:
        names = ", ".join(one.model for one in living)
        raise ServerError(f"No server has {model}.", hint=f"What runs has {names}.")
    for one in wanted:
        processes.stop(one.place, one.record)
        _say(f"the server (process {one.record.pid}) has ended")
    if not living:
        _say("no server is running")
    return 0


def _background(
    settings: Settings, doors: list[str], token: str, opened: Callable[[ServerRecord], bool]
) -> int:
    """Start this same command once more, detached from the terminal."""
    from specedit.backends import processes, servers
    from specedit.backends.runtime import runtime_folder
    from specedit.errors import ServerError

    where = runtime_folder()
    with where.starting():
        one = servers.answering(servers.warm(where), settings)
        if one is not None and opened(one.record):
            _listening(one.record)
            return 0
        try:
            room = servers.make_room(where, settings)
        except servers.LeftAloneError as problem:
            raise ServerError(problem.message, hint="specedit serve stop") from None
        if room.note:
            _say(room.note)
        # The token is no flag: command lines can be listed by others.
        secret = {"SPECEDIT_TOKEN": token} if token else {}
        command = processes.arguments(settings, *doors)
        _listening(processes.launch(room.place, command, secret))
    return 0


def _living() -> list[Warm]:
    from specedit.backends.runtime import runtime_folder
    from specedit.backends.servers import warm
    from specedit.errors import ServerError

    living = warm(runtime_folder())
    if not living:
        raise ServerError("No server is running.", hint="specedit serve --background")
    return living


def _listening(record: ServerRecord) -> None:
    _say(f"listening on {record.address} (process {record.pid})")
    if record.url:
        _say(f"OpenAI clients: base_url={record.url}/v1")
    if record.token:
        _say("TCP clients send the token as their API key")


def _say(text: str) -> None:
    print(f"specedit: {text}", file=sys.stderr, flush=True)


def _shown(found: dict[str, Any]) -> str:
    model, cache, requests = found["model"], found["cache"], found["requests"]
    rows = {
        "model": f"{model['name']} ({model['engine'] or found['state']})",
        "state": found["state"],
        "address": found["address"],
        "url": f"{found['url']}/v1" if found["url"] else "no TCP",
        "process": found["pid"],
        "version": found["version"],
        "memory": f"{found['memory_bytes'] / 2**20:.0f} MiB",
        "uptime": f"{found['uptime_s'] / 60:.1f} min, idle {found['idle_s'] / 60:.1f} min",
        "cache": f"{cache['entries']} files, {cache['bytes'] / 2**20:.0f} of "
        f"{cache['limit_bytes'] / 2**20:.0f} MiB, {cache['hits']} hits, {cache['misses']} misses",
        "requests": ", ".join(f"{count} {name}" for name, count in requests.items()),
    }
    return "\n".join(f"{name:<9} {value}" for name, value in rows.items())
