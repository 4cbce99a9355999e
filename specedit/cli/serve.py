"""`specedit serve`, `serve status`, `serve stop`, `warm`: the warm server; `specedit lsp`, `mcp`:
servers of editors and agents; `specedit editor NAME`: an editor's configuration.

The warm server's addresses go to stderr, `status` to stdout.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from specedit.cli.options import ENGINE, AsJson, argument, flag, option, settings_options
from specedit.cli.streams import put, put_object, say
from specedit.edit.backend import Event
from specedit.engines.base import Prefill
from specedit.errors import DONE, ServerError, UsageError
from specedit.files.startup import home
from specedit.server import runtime
from specedit.server.runtime import RuntimeFolder, ServerRecord, runtime_folder
from specedit.settings import Settings
from specedit.view.terminal import name as shown

if TYPE_CHECKING:
    from specedit.server.service import Options

IDLE_MINUTES = 30.0  # until a background server ends

app = typer.Typer(
    help="Keep a model in memory for later commands, and serve OpenAI's API.", rich_markup_mode=None
)


@app.callback(invoke_without_command=True)
@settings_options(*ENGINE, "draft", "draft_model")
def serve(
    context: typer.Context,
    background: bool = flag(
        "--background", "Return when the server is ready; stop it with `specedit serve stop`"
    ),
    host: str = option(
        "127.0.0.1", "Listen at this TCP address; any but loopback needs a token", metavar="HOST"
    ),
    port: int | None = option(
        None,
        "Listen at this TCP port (0: any free one)",
        min=0,
        max=65535,
        metavar="PORT",
        show_default="8737",
    ),
    token: str = option(
        "",
        "Require this token, not your own; other users can see it",
        envvar="SPECEDIT_TOKEN",
        metavar="TOKEN",
    ),
    socket_only: bool = flag(
        "--socket-only", "Open no TCP port, only the Unix socket for specedit's commands"
    ),
    idle_minutes: float | None = option(
        None,
        "Stop after this many minutes without requests (0: never)",
        min=0,
        max=525_600,  # a year
        metavar="N",
        show_default="background: 30",
    ),
    alias: list[str] | None = option(
        None, "Serve the model under this name too; repeat for more", metavar="NAME"
    ),
    replaces: bool = flag("--replace", "Stop the running server, then start this one"),
    detached: bool = flag("--detached", "", hidden=True),
    *,
    settings: Settings,
) -> int:
    """Keep a model in memory for later commands, and serve OpenAI's API. The server ends on Ctrl-C,
    on `specedit serve stop`, or in the background after some time without work."""
    if context.invoked_subcommand is not None:
        return 0
    from specedit.server.service import PORT, Options, RunningError
    from specedit.server.service import serve as run

    if idle_minutes is not None and not math.isfinite(idle_minutes):
        raise UsageError("--idle-minutes takes a number of minutes.")
    if idle_minutes is None:  # a server in a terminal stays
        idle_minutes = IDLE_MINUTES if background or detached else 0.0
    options = Options(
        host=host,
        port=None if socket_only else PORT if port is None else port,
        any_port=port is None,
        token=token,
        idle_s=idle_minutes * 60,
        background=background or detached,
        aliases=tuple(dict.fromkeys(alias or ())),
    )
    folder = runtime_folder()
    if background:
        return _background(settings, options, folder, replaces=replaces)
    if replaces and (record := folder.record()) is not None:
        from specedit.server import client

        client.stop(folder, record)
        say(f"the server (process {record.pid}) was replaced")
    try:
        return run(settings, _with_token(options), folder, _listening)
    except RunningError as error:
        if detached:  # another client was first: its server is used
            return 0
        if (record := folder.record()) is None:
            raise error from None
        addresses = ", ".join(dict.fromkeys([record.address, record.url or "no TCP"]))
        about = f"{addresses} (process {record.pid}, model {record.model})"
        raise ServerError(
            f"A server is already running: {about}.", hint="To replace it, add --replace."
        ) from None


def _background(
    settings: Settings, options: Options, folder: RuntimeFolder, *, replaces: bool
) -> int:
    """Start this same command again, detached from the terminal. A server that answers as these
    settings ask, where they ask, is kept."""
    from specedit.server import client

    with folder.lock("start.lock"):
        record = folder.record()
        if record is not None and _serves(record, settings, options):
            started = time.localtime(time.time() - client.status(record)["uptime_s"])
            say(f"already running since {time.strftime('%H:%M', started)}, model {record.model}")
            return _loaded(folder, record)
        if replaces and record is not None:
            client.stop(folder, record)
        try:
            note = client.replace(folder, settings)
        except client.LeftAloneError as problem:
            hint = "specedit serve stop, or the same command with --replace"
            raise ServerError(problem.message, hint=hint) from None
        if note:
            say(note)
        flags = ["--socket-only"] if options.port is None else ["--host", options.host]
        if options.port is not None and not options.any_port:
            flags += ["--port", str(options.port)]
        flags += ["--idle-minutes", f"{options.idle_s / 60:g}"]
        flags += [word for name in options.aliases for word in ("--alias", name)]
        record = client.launch(folder, settings, flags, options.token)
    return _loaded(folder, record)


def _with_token(options: Options) -> Options:
    """On loopback, where other users of the machine are, the user's own token is the default."""
    from specedit.server.service import is_loopback

    named = options.token or options.port is None or not is_loopback(options.host)
    return options if named else replace(options, token=runtime.own_token())


def _serves(record: ServerRecord, settings: Settings, options: Options) -> bool:
    """Whether a running server answers as the settings ask, and where the options ask."""
    from specedit.server.client import address, answers
    from specedit.server.service import is_loopback

    if not answers(record, settings) or not {*options.aliases} <= {*record.aliases}:
        return False
    if options.port is None or not record.url:
        return options.port is None
    host, port = address(record.url)
    same = host == options.host or (is_loopback(host) and is_loopback(options.host))
    fixed_port = 0 if options.any_port else options.port
    return same and fixed_port in (0, port) and options.token in ("", record.token)


def _loaded(folder: RuntimeFolder, record: ServerRecord) -> int:
    """Wait until the model can answer, or say why it cannot."""
    from specedit.server import client
    from specedit.view.colours import terminal
    from specedit.view.live import Live

    _listening(record)
    with Live(terminal()) as live:
        for step in client.loading(folder, record):
            live.emit(step)
    return DONE


@app.command()
def status(as_json: AsJson = False) -> int:
    """Show the running server: model, memory, uptime, cache, requests."""
    from specedit.server import client

    record = runtime_folder().record()
    if record is None:
        raise ServerError("No server is running.", hint="specedit serve --background")
    state = client.status(record)
    put_object(state) if as_json else print(_table(state))
    return 0


@app.command()
def stop() -> int:
    """Stop the running server; its requests end within 5 seconds."""
    from specedit.server import client

    folder = runtime_folder()
    record = folder.record()
    if record is None:
        say("no server is running")
        return 0
    client.stop(folder, record)
    say(f"the server (process {record.pid}) has ended")
    return 0


def _listening(record: ServerRecord) -> None:
    say(f"listening on {record.address} (process {record.pid})")
    if record.url:
        say(f"OpenAI clients: base_url={record.url}/v1")
        if record.token:
            is_own = record.token == runtime.own_token()
            own = f" in {home() / runtime.TOKEN_FILE}" if is_own else ""
            say(f"TCP clients send the token{own} as their API key")


def _table(state: dict[str, Any]) -> str:
    model, cache, requests = state["model"], state["cache"], state["requests"]
    rows = {
        "model": f"{model['name']} ({model['engine'] or state['state']})",
        "state": state["state"],
        "address": state["address"],
        "url": f"{state['url']}/v1" if state["url"] else "no TCP",
        "process": state["pid"],
        "version": state["version"],
        "memory": f"{state['memory_bytes'] / 2**20:.0f} MiB",
        "uptime": f"{state['uptime_s'] / 60:.1f} min, idle {state['idle_s'] / 60:.1f} min",
        "cache": f"{cache['entries']} files, {cache['bytes'] / 2**20:.0f} of "
        f"{cache['limit_bytes'] / 2**20:.0f} MiB, {cache['hits']} hits, {cache['misses']} misses",
        "requests": ", ".join(f"{count} {name}" for name, count in requests.items()),
    }
    return "\n".join(f"{name:<9} {value}" for name, value in rows.items())


@settings_options(*ENGINE, "focus", "quiet")
def warm(
    files: list[str] = argument("FILE", "Files, named as the edit will name them"),
    *,
    settings: Settings,
) -> int:
    """Read files into the server's cache. Their next edit starts at once. If no server runs, one
    starts in the background."""
    from specedit.edit.job import plan_edit
    from specedit.edit.regions.locate import shared_beginnings
    from specedit.files import source as sources
    from specedit.server.client import find

    settings = replace(settings, warm=True, server="auto")
    server, why = find(settings)
    if server is None:
        raise ServerError(why, hint="specedit serve status")
    for name in files:
        source = sources.read(name)
        read = known = total = 0
        for plan in shared_beginnings(plan_edit(source, "-", settings), settings):
            last = Prefill(0, 0, 0, 0.0)

            def emit(event: Event) -> None:
                nonlocal last
                last = event if isinstance(event, Prefill) else last

            server.warm(plan, emit)
            read, known, total = read + last.done, known + last.reused, total + last.total
        if not settings.quiet:
            say(f"{shown(name)}: {read} of {total} tokens read, {known} known before")
    return 0


SERVING = ("model", "engine", "device", "threads", "server", "warm", "allow")


def editor(
    name: str | None = argument(
        None, "vim, neovim, emacs, helix, vscode, zed, jetbrains or sublime", None
    ),
    install: bool = flag(
        "--install", "Write the configuration to the editor's folder, if it is one file"
    ),
) -> int:
    """Print the configuration for an editor, or install it."""
    from specedit.integrations import editors

    if name is None:
        if install:
            raise UsageError("--install needs an editor.", hint=", ".join(editors.names()))
        put("".join(f"{known}\n" for known in editors.names()))
        return DONE
    setup = editors.editor(name)
    if install:
        say(f"wrote {editors.install(setup)}", setup.then)
    else:
        put(editors.snippet(setup))
    return DONE


@settings_options("scope", *SERVING)
def lsp(*, settings: Settings) -> int:
    """Serve editors over LSP on stdio."""
    from specedit.integrations.lsp import serve

    return serve(settings)


@settings_options(*SERVING)
def mcp(*, settings: Settings) -> int:
    """Serve tools for agents over MCP on stdio."""
    from specedit.integrations.mcp import serve

    return serve({name: getattr(settings, name) for name in filter(settings.is_flag, SERVING)})
