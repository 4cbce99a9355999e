"""A run's trace: JSON lines, one per pass, in the order they happened; read, and written as the
events come, over an older trace and nothing else; and its page, one HTML file that asks for no
other.

What concerns a whole file stands in the line of its first pass (`begin`) and of its last (`end`).
The template `page.html` escapes every text and makes it harmless.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, Any

from specedit.decode import Chunk
from specedit.edit.backend import Ready, Written
from specedit.edit.report import Trying
from specedit.edit.sink import Answered, Begun, EditEvent, Sink
from specedit.engines.base import Prefill
from specedit.errors import InputError
from specedit.files import git, stored
from specedit.view import provenance as prov
from specedit.view.colours import LOOKS, count, seconds
from specedit.view.terminal import harmless

MAX_FIRST_LINE_BYTES = 1 << 24  # bytes of a trace's first line
INVALID = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Pass:
    """One line of a trace."""

    written: Written
    at: float  # seconds of decoding before it


@dataclass(frozen=True, slots=True)
class FileTrace:
    """The passes over one file, with what was known before the first and after the last."""

    file: str
    passes: tuple[Pass, ...]
    begin: Mapping[str, Any] = field(default_factory=dict)
    end: Mapping[str, Any] = field(default_factory=dict)


def begins_a_trace(path: Path) -> bool:
    """Whether a file is empty or a trace."""
    try:
        with path.open("rb") as file:
            line = file.readline(MAX_FIRST_LINE_BYTES)
            return not line or bool(list(_runs([json.loads(line)])))
    except (OSError, *INVALID):
        return False


def read(path: str | Path) -> list[FileTrace]:
    """The runs of a trace."""
    number, lines = 1, []
    try:
        text = Path(path).read_bytes().decode("utf-8")
        for line in text.split("\n"):
            if line.strip():
                lines.append(json.loads(line))
                list(_runs(lines[-1:]))
            number += 1
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}", hint="`--trace FILE` writes a trace."
        ) from error
    except INVALID as error:
        raise InputError(
            f"{path}: line {number} is not a pass of a trace",
            hint="`specedit edit … --trace FILE` writes one JSON line per pass.",
        ) from error
    if not lines:
        raise InputError(f"{path}: no passes in it", hint="The run it traced made none.")
    return list(_runs(lines))


def line_of(file: str, number: int, at: float, written: Written) -> dict[str, Any]:
    """One pass as it stands in a trace."""
    chunk = written.chunk
    plain = ("width", "proposed", "accepted", "source", "resynced")
    line: dict[str, Any] = {
        "file": file,
        "pass": number,
        **{name: getattr(chunk, name) for name in plain},
        "seconds": round(chunk.seconds, 6),
        "at": round(at, 6),
        "tokens": list(chunk.tokens),
        "pieces": list(written.pieces),
    }
    if chunk.depth != chunk.proposed:  # the draft was a tree
        line["depth"] = chunk.depth
    if chunk.drafting:
        line["drafting"] = round(chunk.drafting, 6)
    return line


def _runs(lines: Iterable[Mapping[str, Any]]) -> Iterator[FileTrace]:
    file, at = "", 0.0
    passes: list[Pass] = []
    begin: dict[str, Any] = {}
    for line in lines:
        if passes and (line["file"] != file or "begin" in line):
            yield FileTrace(file, tuple(passes), begin)
            passes, at = [], 0.0
        if not passes:
            file, begin = str(line["file"]), dict(line.get("begin") or {})
        passes.append(Pass(_written(line), at))
        at += passes[-1].written.chunk.seconds
        if "end" in line:
            yield FileTrace(file, tuple(passes), begin, dict(line["end"]))
            passes, at = [], 0.0
    if passes:
        yield FileTrace(file, tuple(passes), begin)


CHUNK = ("tokens", "proposed", "accepted", "source", "resynced", "seconds", "depth", "drafting")


def _written(line: Mapping[str, Any]) -> Written:
    own = {name: line[name] for name in CHUNK if name in line}
    chunk = stored.typed(Chunk, {"resynced": False, "depth": line["proposed"]} | own)
    return Written(chunk, tuple(map(str, line.get("pieces", [""] * len(chunk.tokens)))))


class TraceWriter(Sink):
    """Writes a trace: the last line of a file when its run is over. An older trace is replaced when
    the first line is written; any other file is refused."""

    def __init__(self, path: str | Path, inputs: Iterable[str] = ()) -> None:
        inputs = tuple(inputs)
        _refuse_foreign(Path(path), inputs)
        try:
            self._file: IO[str] = open(  # noqa: SIM115  (closed by `close`; an opener)
                path,
                "a",
                encoding="utf-8",
                errors="backslashreplace",
                newline="\n",
                opener=_opened,
            )
            _share_as(inputs, self._file.fileno())
        except OSError as error:
            raise InputError(
                f"{path}: the trace cannot be written: {error.strerror}",
                hint="--trace takes the path of a file to make.",
            ) from error
        self.begun = False  # a line was written, and the older trace is gone
        self._begin: dict[str, Any] = {}
        self._model: dict[str, Any] = {}
        self._try: dict[str, Any] = {}
        self._waiting: dict[str, Any] | None = None  # a line that may be the last of its file
        self._name = ""  # of the file that events are about
        self._number = 0
        self._at = 0.0

    def emit(self, event: EditEvent) -> None:
        """Write what happens in a file's run."""
        match event:
            case Begun():
                self._name = event.name
            case Ready():
                self._flush()
                self._number, self._at = 0, 0.0
                self._model = {"model": asdict(event.model), "load_s": event.load_s}
            case Prefill():
                prompt = event.total + 1  # its last id is read by the first pass
                prefill = {"prompt": prompt, "reused": event.reused, "prefill_s": event.seconds}
                self._begin = {**self._model, **prefill}
            case Written():
                self._write(event)
            case Answered():
                end = asdict(event.answer)
                del end["text"]
                self._flush(end)
                self._number, self._at, self._begin = 0, 0.0, {}
            case Trying():  # the passes that follow are this try's
                self._try = {
                    "number": event.number,
                    "seed": event.sampling.seed,
                    "temperature": event.sampling.temperature,
                    "with_feedback": event.with_feedback,
                }

    def _write(self, event: Written) -> None:
        self._flush()
        self._empty()
        self._waiting = line_of(self._name, self._number, self._at, event)
        if self._number == 0:
            tried = {"try": self._try} if self._try else {}
            self._waiting["begin"] = {**(self._begin or self._model), **tried}
        self._number += 1
        self._at += event.chunk.seconds

    def close(self) -> None:
        self._flush()
        self._file.close()

    def _empty(self) -> None:
        """Remove the older trace; a pipe or a device holds none."""
        if not self.begun and stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            self._file.truncate(0)
        self.begun = True

    def _flush(self, end: dict[str, Any] | None = None) -> None:
        if self._waiting is not None:
            if end is not None:
                self._waiting["end"] = end
            self._file.write(json.dumps(self._waiting, ensure_ascii=False) + "\n")
            self._file.flush()
            self._waiting = None


def _share_as(inputs: Iterable[str], handle: int) -> None:
    """Let only the users read a trace who may read all the files whose texts it holds."""
    held = os.fstat(handle)
    if not stat.S_ISREG(held.st_mode) or not hasattr(os, "fchmod"):
        return
    allowed = 0o666
    for name in inputs:
        with contextlib.suppress(OSError):
            allowed &= Path(name).stat().st_mode
    mask = os.umask(0o077)
    os.umask(mask)
    mode = allowed & (held.st_mode if held.st_size else ~mask)
    with contextlib.suppress(PermissionError):  # another user's file, which we may write
        os.fchmod(handle, mode | 0o600)


def _opened(name: str, flags: int) -> int:
    """A handle for writing: a pipe that nothing reads is an error, and is not waited for."""
    handle = os.open(name, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(handle, True)
    return handle


def _refuse_foreign(path: Path, inputs: Iterable[str]) -> None:
    """Refuse a file that is not a trace, and a link of a repository that leads elsewhere."""
    real = os.path.realpath(path)
    if _leads_away(path, Path(real)):
        raise InputError(
            f"{path}: is a link out of this folder, to {real}",
            hint="--trace names the file itself; nothing was changed.",
        )
    if real in map(os.path.realpath, inputs):
        raise InputError(
            f"{path}: is a file to work on; no trace is written over it",
            hint="--trace names another file.",
        )
    if path.is_file() and not begins_a_trace(path):
        raise InputError(
            f"{path}: exists, and is not a trace",
            hint="--trace names another file; nothing was changed.",
        )


def _leads_away(path: Path, real: Path) -> bool:
    """Whether a name in this work tree (or folder) stands for a file elsewhere, or git's own."""
    place = git.real(".")
    top = git.top_of(place) or place
    named = Path(os.path.normpath(place / path))
    if not named.is_relative_to(top):
        return False
    return not real.is_relative_to(top) or ".git" in real.relative_to(top).parts


GENERATOR = '<meta name="generator" content="specedit">'  # how our pages are recognized
WIDTH, HEIGHT, LEFT = 1000, 84, 46  # of a plot; LEFT: room for the numbers of the vertical axis
TICK_STEPS_S = tuple(a * 10**b for b in range(-4, 5) for a in (1, 2, 5))  # seconds between ticks


def page(runs: Sequence[FileTrace]) -> str:
    """The whole page."""
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    shown = list(map(_shown, runs))
    environment = Environment(
        loader=PackageLoader("specedit", "view"),
        autoescape=True,
        trim_blocks=True,
        finalize=lambda value: harmless(value) if isinstance(value, str) else value,
    )
    environment.filters |= {"seconds": seconds, "count": count}
    return environment.get_template("page.html").render(
        generator=Markup(GENERATOR),
        runs=shown,
        kinds={kind for run in shown for node in run["passes"] for kind, _ in node["pieces"]},
        looks=LOOKS,
        rest="Point at a token or a bar to see its pass.",
        **{"width": WIDTH, "height": HEIGHT, "left": LEFT},
    )


def _shown(run: FileTrace) -> dict[str, Any]:
    """The values of a run for the template."""
    total = min(max(run.passes[-1].at + run.passes[-1].written.chunk.seconds, 1e-6), 5e5)
    scale = (WIDTH - LEFT) / total
    chunks = [pass_.written.chunk for pass_ in run.passes]
    proposed = accumulate(chunk.proposed for chunk in chunks)
    accepted = accumulate(chunk.accepted for chunk in chunks)
    passes = [
        {
            "number": number,
            "at": step.at,
            "chunk": chunk,
            "text": step.written.text,
            # A pass is named after its draft; one whose draft gave nothing was decoded freely.
            "kind": drafted if chunk.accepted else prov.FREE,
            "pieces": [
                (drafted if place < chunk.accepted else own, piece)
                for place, piece in enumerate(step.written.pieces)
            ],
            "left": LEFT + scale * step.at,
            "right": LEFT + scale * (step.at + chunk.seconds),
            "proposed_so_far": p,
            "accepted_so_far": a,
        }
        for number, (step, chunk, (drafted, own), a, p) in enumerate(
            zip(run.passes, chunks, _kinds(chunks), accepted, proposed, strict=True)
        )
    ]
    step = next(step for step in TICK_STEPS_S if total / step <= 10)  # the last one for 5e5 s
    ticks = ((LEFT + scale * n * step, f"{n * step:g} s") for n in range(int(total / step) + 1))
    return {
        "file": run.file,
        "begin": run.begin,
        "tokens": sum(len(chunk.tokens) for chunk in chunks),
        "seconds": sum(chunk.seconds for chunk in chunks),
        "passes": passes,
        "ticks": [(x, label) for x, label in ticks if x <= WIDTH - 30],
    }


def _kinds(chunks: Sequence[Chunk]) -> list[tuple[str, str]]:
    return [prov.kinds_of(c, following) for c, following in pairwise([*chunks, None]) if c]
