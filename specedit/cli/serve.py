"""`specedit serve`, `serve status`, `serve stop`: the warm server's door.

Reads flags, starts or asks a server. Where it listens is said on stderr; `status` is on stdout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specedit.cli.options import settings_options
from specedit.settings import Resolved, Settings, checked

if TYPE_CHECKING:
    from specedit.backends.runtime import ServerRecord

app = typer.Typer(help="Keep a model warm, and serve OpenAI's API with it.", rich_markup_mode=None)


@app.callback(invoke_without_command=True)
@settings_options(
    *("model", "engine", "device", "threads", "precision", "draft", "draft_model", "cache_bytes")
)
def serve(
    context: typer.Context,
    background: Annotated[
        bool, typer.Option("--background", help="return when it listens; end it with serve stop")
    ] = False,
    host: Annotated[
        str, typer.Option(help="where TCP listens; one that is not loopback needs a token")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="0 takes any", show_default="8737"),
    ] = None,
    token: Annotated[
        str, typer.Option(help="what TCP clients send as their API key", envvar="SPECEDIT_TOKEN")
    ] = "",
    socket_only: Annotated[
        bool, typer.Option("--socket-only", help="no TCP: the command line's own socket only")
    ] = False,
    idle_minutes: Annotated[
        float | None,
        typer.Option(
            min=0, help="end after this long without work; 0 never", show_default="background: 30"
        ),
    ] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="another name that clients may ask for; several allowed"),
    ] = None,
    detached: Annotated[bool, typer.Option("--detached", hidden=True)] = False,
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
    try:
        return run(settings, options, runtime_folder(), _listening)
    except TakenError:
        if detached:  # another client was first: its server will do
            return 0
        raise


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object on stdout")] = False,
) -> int:
    """Show the running server: model, memory, uptime, cache, requests."""
    import json

    from specedit.backends import warm as client

    found = client.status(_running())
    print(json.dumps(found, indent=2) if as_json else _shown(found))
    return 0


@app.command()
def stop() -> int:
    """End the running server; what it runs is finished or cancelled within 5 s."""
    from specedit.backends import warm as client
    from specedit.backends.runtime import runtime_folder

    where = runtime_folder()
    record = where.record()
    if record is None:
        _say("no server is running")
        return 0
    client.stop(where, record)
    _say(f"the server (process {record.pid}) has ended")
    return 0


def _background(
    settings: Settings, doors: list[str], token: str, opened: Callable[[ServerRecord], bool]
) -> int:
    """Start this same command once more, detached from the terminal."""
    from specedit.backends import warm as client
    from specedit.backends.runtime import runtime_folder
    from specedit.errors import ServerError

    where = runtime_folder()
    with where.starting():
        record = where.record()
        if record is not None and not (client.answers(record, settings) and opened(record)):
            if not record.background:
                raise ServerError(
                    f"Another server runs in a terminal (process {record.pid}).",
                    hint="specedit serve stop",
                )
            client.stop(where, record)
            record = None
        if record is None:  # the token is no flag: command lines can be listed by others
            secret = {"SPECEDIT_TOKEN": token} if token else {}
            record = client.launch(where, client.arguments(settings, *doors), secret)
    _listening(record)
    return 0


def _running() -> ServerRecord:
    from specedit.backends.runtime import runtime_folder
    from specedit.errors import ServerError

    record = runtime_folder().record()
    if record is None:
        raise ServerError("No server is running.", hint="specedit serve --background")
    return record


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
