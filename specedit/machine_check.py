"""Checks this machine: one `Fact` a line, with what to do where something does not work.

Reads what the other modules know. Loads no model and no torch, and asks no server but the user's
own local one. Control characters in what is shown are replaced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib.util import find_spec
from pathlib import Path

from specedit.decode import cost
from specedit.engines.cores import (
    default_threads,
    logical_cores,
    may_have_gpu,
    processor_name,
    thread_count,
)
from specedit.engines.exact import conversion
from specedit.engines.exact.engine import available
from specedit.engines.exact.kernels.library import NO_KERNELS, load
from specedit.errors import ModelError, SpeceditError
from specedit.files import git
from specedit.integrations import editors
from specedit.integrations.vllm import launch
from specedit.models import catalogue, resolve, store
from specedit.models.adapter import with_adapter
from specedit.server import client, remote
from specedit.server.runtime import runtime_folder
from specedit.settings import Resolved, Settings, here
from specedit.settings import resolve as resolve_settings
from specedit.settings.table import shown
from specedit.version import VERSION
from specedit.view.terminal import name as harmless

OK, NOTE, STOPS = "ok", "note", "stops"
SPARE_BYTES = 100 << 20  # free space for the journal and the caches
INT8_BYTES = 1.31e9  # of converted weights, for a billion parameters


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. NOTE: edits work, and `advice` improves something. STOPS: edits fail until then."""

    topic: str
    text: str
    advice: str = ""
    state: str = OK


Facts = Iterator[Fact]


def lines(topics: tuple[str, ...] = ()) -> Facts:
    """All lines, or those of some parts. A part that fails is itself a line."""
    try:
        resolved, problem = resolve_settings(), None
    except SpeceditError as error:
        resolved, problem = Resolved(Settings()), _failed("settings", error)
    settings, local = resolved.values, resolved.values.server in ("auto", "off")
    parts: dict[str, Callable[[], Facts]] = {
        "version": _version,
        "processor": lambda: _processor(settings),
        **({"kernel": _kernel, "model": lambda: _model(settings)} if local else {}),
        "server": lambda: _server(settings),
        "git": _git,
        "editors": _editors,
        "settings": lambda: iter((problem,)) if problem else _chosen(settings),
        "trust": lambda: _trust(resolved),
        "vllm": _vllm,
    }
    for topic in topics or parts:
        try:
            found = list(parts[topic]()) if topic in parts else []
        except (SpeceditError, OSError) as error:
            found = [_failed(topic, error)]
        for fact in found:
            yield Fact(fact.topic, harmless(fact.text), harmless(fact.advice), fact.state)


def _failed(topic: str, error: Exception) -> Fact:
    message, hint = getattr(error, "message", str(error)), getattr(error, "hint", "")
    advice = hint or "Correct it, and run specedit doctor again."
    return Fact(topic, message, advice, STOPS if topic in ("kernel", "model", "settings") else NOTE)


def _version() -> Facts:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Fact("version", f"specedit {VERSION}, Python {python}, {Path(__file__).parent}")


def _processor(settings: Settings) -> Facts:
    yield Fact("processor", processor_name())
    most = logical_cores()
    if settings.threads > most:
        text = f"{settings.threads} are set, and {most} are used"
        yield Fact("threads", text, "Set threads to 0: one per performance core.", NOTE)
    elif settings.threads:
        yield Fact("threads", f"{settings.threads} of {most}")
    else:
        number, left_out = default_threads()
        why = f"; left out: {', '.join(left_out)}" if left_out else ""
        yield Fact("threads", f"{number} of {most}{why}")


def _not_exact(topic: str, reason: str, advice: str) -> Fact:
    """The exact engine cannot run; the generic one can, where torch is installed."""
    if find_spec("torch") and find_spec("transformers"):
        return Fact(topic, f"the generic engine is used: {reason}", advice, NOTE)
    return Fact(topic, reason, f"{advice} It needs pip install 'specedit[torch]'.", STOPS)


def _kernel() -> Facts:
    library = load()
    if isinstance(library, str):
        yield _not_exact("kernel", library, NO_KERNELS)
    elif library.note:
        advice = "Slower kernels are used. Please report it: no processor should differ."
        yield Fact("kernel", f"{library.name}; {library.note}", advice, NOTE)
    else:
        yield Fact("kernel", library.name)
    if may_have_gpu():
        yield Fact("gpu", "the generic engine uses it, unless device is cpu")


def _model(settings: Settings) -> Facts:
    root, entry = store.store_path(), catalogue.find(settings.model)
    files = resolve.local(settings.model, home=root)
    needed = SPARE_BYTES
    if files is None:
        advice = f"The first edit fetches it, or: specedit model pull {settings.model}"
        yield Fact("model", f"{settings.model} is not on this machine", advice, NOTE)
        needed += entry.size + int(INT8_BYTES * entry.parameters) if entry else 0
    else:
        resolve.check_usable(files)
        yield Fact("model", f"{files.name}, SHA-256 {files.sha256[:12]}, {files.path}")
        files = with_adapter(files, settings.adapter)
        if own := files.adapter:
            trained = f", trained for {own.base}" if own.base else ""
            yield Fact("adapter", f"{own.name}, SHA-256 {own.sha256[:12]}, {own.path}{trained}")
        library = load()
        if settings.engine != "huggingface" and not isinstance(library, str):
            yield from _converted(settings, files, root, library.name)
            if entry and not conversion.is_converted(files, root, settings.weights):
                needed += int(INT8_BYTES * entry.parameters)
    yield _memory(entry, settings.weights)
    try:
        store.require_space(root, needed, "models and the journal")
        yield Fact("disk", f"{store.sized(store.free(root))} free, {root}")
    except ModelError as error:
        yield Fact("disk", error.message, error.hint, STOPS)


def _converted(settings: Settings, files: store.ModelFiles, root: Path, kernel: str) -> Facts:
    """The converted weights, and the cost curve of these weights on these threads."""
    if reason := available(files, root, settings.weights):
        if settings.weights != "auto":
            text = f"--weights {settings.weights} needs the exact engine: {reason}"
            yield Fact("weights", text, "Use --weights auto or another model.", STOPS)
            return
        yield _not_exact("weights", reason, "Choose --engine huggingface or another model.")
        return
    if not conversion.is_converted(files, root, settings.weights):
        yield Fact("weights", "not converted yet", "The first edit converts them, once.", NOTE)
        return
    path = conversion.converted_path(files, root, settings.weights)
    yield Fact("weights", f"{store.sized(store.size_of(path))}, {path}")
    curves = root / cost.CURVES_FILE
    threads = thread_count(settings.threads)
    start, end = f"{files.digest or files.name} exact ", f", {kernel} cpu {threads}"
    known = cost.curves(curves).items()
    widths = [points for key, points in known if key.startswith(start) and key.endswith(end)]
    if not widths:
        yield Fact("cost curve", "not measured yet", "The first edit measures it.", NOTE)
        return
    (width, narrow), (most, wide) = widths[0][0], widths[0][-1]
    measured = date.fromtimestamp(curves.stat().st_mtime)
    text = f"width {width}: {narrow * 1e3:.0f} ms, width {most}: {wide * 1e3:.0f} ms"
    yield Fact("cost curve", f"{text}; measured by {measured}")


def _memory(entry: catalogue.Listed | None, weights: str) -> Fact:
    machine = catalogue.this_machine(default_threads().number)
    rows = catalogue.rows(machine)
    text = store.sized(machine.memory) if machine.memory else "the system does not tell"
    row = next((row for row in rows if row.entry is entry), None)
    if row is None:
        return Fact("memory", text)
    four = weights == "int4" or (weights == "auto" and not row.fits_int8)
    needed = row.entry.memory_int4 if four else row.entry.memory
    text += f"; {row.entry.name} needs {store.sized(needed)} with int{4 if four else 8}"
    if not row.fits:
        best = catalogue.best(rows)
        use = f"Use {best.entry.name}" if best.fits else "No known model fits"
        return Fact("memory", text, f"{use}; see specedit model suggest.", NOTE)
    advice = "" if four or row.fits_int8 else "Use --weights int4."
    return Fact("memory", text, advice, NOTE if advice else OK)


def _server(settings: Settings) -> Facts:
    if settings.server not in ("auto", "off"):
        _, host = remote.address(settings.server)
        yield Fact("server", f"files are sent to {host}, which was not asked now")
        return
    record = runtime_folder().record() if settings.server == "auto" else None
    if record is None:
        why = "none is running; specedit serve --background keeps the model in memory"
        yield Fact("server", why if settings.server == "auto" else "off")
        return
    memory = store.sized(client.status(record)["memory_bytes"])
    text = f"process {record.pid}, version {record.version}, model {record.model}, {memory}"
    other = "It has other settings than these: specedit serve --background --replace"
    advice = "" if client.answers(record, settings) else other
    yield Fact("server", text, advice, NOTE if advice else OK)


def _git() -> Facts:
    _, out = git.ask(here(), "--version")
    yield Fact("git", out.decode("utf-8", "replace").strip().removeprefix("git version "))


def _editors() -> Facts:
    current = [(setup.name, editors.is_current(setup)) for setup in editors.EDITORS]
    for name, same in current:
        if same:
            yield Fact("editors", f"{name}: the snippet of this version")
        elif same is not None:
            advice = f"See specedit editor {name}; --install replaces a snippet without changes."
            yield Fact("editors", f"{name}: not the snippet of this version", advice, NOTE)
    if all(same is None for _, same in current):
        yield Fact("editors", "no snippet is installed (specedit editor NAME --install)")


def _chosen(settings: Settings) -> Facts:
    rows = [(key, value, of) for key, value, of, _ in settings.rows() if of != "default"]
    for key, value, origin in rows:
        yield Fact("settings", f"{key} = {shown(value)}, from {origin}")
    if not rows:
        yield Fact("settings", "all are the defaults")


def _trust(resolved: Resolved) -> Facts:
    if resolved.ignored:
        yield Fact("trust", resolved.ignored_note, "Read them before you trust them.", NOTE)
    else:
        yield Fact("trust", "no restricted setting is ignored here")


def _vllm() -> Facts:
    """Whether vLLM and its packages load; nothing where it is not installed."""
    if (vllm := launch.installed()) is None:
        return
    problems = [*launch.warning(), *launch.not_loading()]
    yield from (
        Fact("vllm", problem, "specedit vllm check; see specedit help vllm", NOTE)
        for problem in problems
    )
    if not problems:
        yield Fact("vllm", f"{vllm.name} {vllm.version}, tested")
