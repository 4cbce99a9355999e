"""One call of a tool: its arguments, the folders that it may use, its session, as every interface
runs it, its progress, and its result.

A tool reads and writes in the folders that a client has open, and nowhere else.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.json_schema import GenerateJsonSchema

from specedit.check.finding import CHECKER
from specedit.connect import connect
from specedit.edit.backend import Loading, Written
from specedit.edit.report import Edit, Finding
from specedit.edit.request import Planner, Request, read_file, uncommitted
from specedit.edit.run import run_files
from specedit.edit.sink import Begun, EditEvent, Planned, Sink
from specedit.engines.base import Prefill
from specedit.errors import InputError, UsageError, listed
from specedit.files.git import is_too_wide, path_of_uri, real
from specedit.files.recorder import Wish
from specedit.files.source import LINE_END
from specedit.files.undo import Moves
from specedit.models.resolve import present
from specedit.settings import Settings, resolve
from specedit.view.colours import count
from specedit.view.terminal import MAX_PAGE_COLUMNS, harmless
from specedit.view.terminal import name as shown


@dataclass(frozen=True, slots=True)
class Workspace:
    """The roots of one call, links followed; at least one."""

    roots: tuple[Path, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.roots))

    @classmethod
    def of_client(cls, uris: Iterable[str]) -> Workspace:
        """The folders on this machine among the roots of a client."""
        own = (uri for uri in uris if urlsplit(uri)[:2] in (("file", ""), ("file", "localhost")))
        roots = tuple(dict.fromkeys(real(path_of_uri(uri)) for uri in own if "%00" not in uri))
        if not (roots := tuple(root for root in roots if root.is_dir())):
            raise UsageError(
                "The client names no folder as a workspace root.",
                hint="Open the project's folder in the client, then call the tool again.",
            )
        return cls(roots)

    @classmethod
    def of_process(cls, folder: Path) -> Workspace:
        """The folder that the server was started in, for a client that names no roots."""
        if is_too_wide(folder):
            raise UsageError(
                f"The client names no workspace root, and the server was started in {folder}.",
                hint="Start `specedit mcp` in the project's folder (`cwd` in many clients).",
            )
        return cls((folder,))

    def root_of(self, path: str) -> tuple[Path, Path]:
        """The root that a path is in ("": the only root), and the path with links followed."""
        names = str(self)
        if not path and len(self.roots) > 1:
            raise UsageError(f"`path` must name a file in one of the roots: {names}")
        if shown(path) != path:
            raise InputError("the path has control characters", file=shown(path))
        places = [real(root / path) for root in self.roots]
        inside = [place for place in places if self.holds(place)]
        if ".." in Path(path).parts or not inside:
            raise InputError("outside of the workspace", file=path, hint=f"The roots: {names}")
        place = next((place for place in inside if place.exists()), inside[0])
        return next(root for root in self.roots if place.is_relative_to(root)), place

    def holds(self, place: Path) -> bool:
        """Whether a place, links followed, is in a root and not in a `.git`."""
        inside = (place.relative_to(root) for root in self.roots if place.is_relative_to(root))
        return any(".git" not in map(str.lower, part.parts) for part in inside)


Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
PathName = Annotated[str, Field(max_length=4096)]
Write = Annotated[bool, Field(description="Write the files; false: preview")]
Skip = Annotated[int, Field(ge=0)]  # places, or lines of diff, that the result leaves out


class Arguments(BaseModel):
    """Read the arguments of a call; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ToFind(Arguments):
    name: Annotated[Name, Field(description="The identifier, or Class.member")]
    path: Annotated[
        PathName, Field(description="The file that declares it, or that has `line`")
    ] = ""
    line: Annotated[int, Field(ge=0, description="A line that names the one thing")] = 0
    scope: Annotated[
        Literal["code", "comments", "derived"],
        Field(description="code; comments too; derived names and strings too"),
    ] = "comments"
    skip: Skip = 0


class ToRename(ToFind):
    new_name: Name
    ask_model: Annotated[
        bool, Field(description="Let the local model decide doubtful mentions; slow")
    ] = False
    allow_incomplete: Annotated[bool, Field(description="Although the uses in `left` stay")] = False
    write: Write = False


class ToEdit(Arguments):
    path: Annotated[PathName, Field(min_length=1)]
    symbol: Annotated[Name, Field(description="The function, method or class; Class.method")]
    instruction: Annotated[
        str, Field(description="One small change, in words", min_length=1, max_length=20_000)
    ]
    skip: Skip = 0
    write: Write = False


CHANGE = "SEARCH/REPLACE blocks, a diff, or code with `...` for what stays"


class ToApply(Arguments):
    path: Annotated[PathName, Field(min_length=1)]
    change: Annotated[str, Field(description=CHANGE, min_length=1, max_length=500_000)]
    skip: Skip = 0
    write: Write = False


class NoArguments(Arguments):
    pass


AGENT = "mcp "  # how the commands of these tools begin in the journal
MAX_RESULT_CHARACTERS = 4000  # characters of a result
LISTS = ("files", "left", "places", "undecided", "notes")  # of a result: one line for each
MAX_LIST_LINES = 40  # of a list in a result,
MAX_LINE_CHARACTERS = 600  # and of one of its lines
MAX_LISTED_PLACES = 10  # places that one finding names, and lines of a place
MOST_LEFT = 20  # places that an incomplete rename names
LINES = re.compile(r",? on lines? [\d, …]*\d…?")
UNDECIDED = frozenset(  # kinds of findings that are about uncertain places of a rename
    ("undecided", "skipped", "left", "elsewhere", "disagreed", "unsure", "by-rule", "prose")
)


class ToolResult(BaseModel):
    """The result of every tool. Fields without a value are left out."""

    status: Literal["preview", "written", "unchanged", "refused", "incomplete", "undone", "ok"]
    summary: str
    roots: list[str] = []
    files: list[str] = []
    places: Annotated[list[str], Field(description="path:line:column: kind: text")] = []
    left: Annotated[list[str], Field(description="Uses that may be meant and would stay")] = []
    undecided: Annotated[list[str], Field(description="Uncertain places: look at them")] = []
    notes: list[str] = []
    diff: str = ""
    more: Annotated[str, Field(description="What was cut off, and how to see it")] = ""
    _rejected: list[str] = PrivateAttr(default_factory=list)

    @property
    def rejected(self) -> list[str]:
        """The findings of the user's own program in the new text."""
        return self._rejected


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, _: object) -> bool:
        return False


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model, without what a client does not need."""
    schema = model.model_json_schema(schema_generator=_Untitled)
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


@dataclass
class Call:
    """One call of a tool. `flags`: settings of the server's command line. `stop` is set when the
    result is no longer wanted; `report` sends progress."""

    workspace: Workspace
    flags: Mapping[str, Any]
    stop: threading.Event
    report: Callable[[str], None]

    def check(self) -> None:
        """Raise where the call is cancelled."""
        if self.stop.is_set():
            raise Cancelled

    def settings(self, root: Path, **chosen: Any) -> Settings:
        """Those of a root, and what a tool chooses. The client asks the user."""
        return replace(resolve(self.flags, start=root).values, ask=False, **chosen)

    def run(
        self,
        command: str,
        root: Path,
        names: Sequence[str],
        planner: Planner,
        settings: Settings,
        wish: Wish,
        *,
        writes: bool,
        moves: Moves = (),
    ) -> ToolResult:
        """Run a command over files of a root to its end, or until the call is cancelled."""
        writes = writes and not (settings.check or settings.diff)
        settings = settings if writes else replace(settings, test="")  # it needs the new text there
        dirty = uncommitted(names, settings, root) if writes or settings.clean_only else set()
        with closing(connect(settings)) as backend:
            request = Request(
                AGENT + command,
                planner,
                settings,
                writes,
                replace(wish, root=root),
                together=len(names) > 1 or bool(moves),
                alone=len(names) == 1,
                moves=moves,
                confirms_unsure=writes,
                read=partial(read_file, root=root, skips=command == "rename"),
                uncommitted=lambda: dirty,
            )
            report = run_files(names, request, backend, _CallProgress(self, settings))
        result = result_of(report.edits)
        if len(self.workspace.roots) > 1:
            result.roots = [str(root)]  # that the names count from
        return result


class Cancelled(Exception):
    """The client has cancelled the call; nothing is written."""


class _CallProgress(Sink):
    """Sends the progress of a call, and ends its run once the call is cancelled."""

    def __init__(self, call: Call, settings: Settings) -> None:
        self._call = call
        self._settings = settings
        self._name = ""
        self._tokens = 0

    def _send(self, text: str) -> None:
        self._call.check()
        self._call.report(text)

    def emit(self, event: EditEvent) -> None:
        match event:
            case Begun():
                self._call.check()
                self._name = event.name
            case Planned():
                if event.job.known is None and self._settings.server in ("auto", "off"):
                    present(self._settings.model)  # no tool downloads a model
            case Loading():
                self._send(event.what)
            case Prefill():
                self._send(f"{self._name}: read {event.done} of {event.total} tokens")
            case Written():
                self._tokens += len(event.pieces)
                self._send(f"{self._name}: {self._tokens} tokens written")


class NewestReport:
    """Sends what a call reports from its thread; while one text is sent, only the newest waits."""

    def __init__(self, session: Any) -> None:
        self._loop, self._session = asyncio.get_running_loop(), session
        self._numbers = itertools.count(1)
        self._newest: str | None = None
        self._sending: asyncio.Task[None] | None = None

    def report(self, text: str) -> None:
        self._loop.call_soon_threadsafe(self._reported, text)

    def _reported(self, text: str) -> None:
        self._newest = text
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._send())

    async def _send(self) -> None:
        while (text := self._newest) is not None:
            self._newest = None
            await self._session.report_progress(next(self._numbers), None, harmless(text))

    async def sent(self) -> None:
        """Wait for the newest text, so that a client sees it before the result."""
        if self._sending is not None:
            await self._sending


FLAG = re.compile(r"--[^\W\d_]")
FOR_SHELL = re.compile(rf"^`?specedit |(?<!\S){FLAG.pattern}")
WORDS = (  # of the command line, and of these tools
    ("Name it as Class.member, or use --lines A:B.", "Name it as Class.member."),
    ("; --whole opens all of the file", ""),
    ("specedit undo puts it back", "undo restores it"),
    ("--scope ", "scope: "),
    ("--line ", "line: "),
)


def own_words(message: str) -> str:
    """A message without lines that advise the command line, but for `model pull`."""
    for theirs, ours in WORDS:
        message = message.replace(theirs, ours)
    lines = message.split("\n")
    kept = [line for line in lines if "specedit model pull" in line or not FOR_SHELL.search(line)]
    return "\n".join(kept or [" ".join(w for w in lines[0].split(" ") if not FLAG.match(w))])


def result_of(edits: Sequence[Edit]) -> ToolResult:
    """The result that a client gets for the Edits of a session."""
    result = ToolResult(status="unchanged", summary="nothing to change")
    findings = [(edit.path, finding) for edit in edits for finding in edit.findings]
    notes = [pair for pair in findings if not pair[1].refuses]
    result.undecided = _by_reason(pair for pair in notes if pair[1].kind in UNDECIDED)
    rest = (pair for pair in notes if not (pair[1].kind in UNDECIDED or pair[1].is_detail))
    result.notes = _by_reason(rest)
    result._rejected = [f"{path}: {found}" for path, found in findings if found.kind == CHECKER]
    changed = [edit for edit in edits if edit.changed]
    problems = [f"{edit.path}: {own_words(str(text))}" for edit in edits for text in edit.problems]
    if problems:
        result.status, result.summary = "refused", "; ".join(problems[:5])
    elif changed:
        result.status = "written" if all(edit.written for edit in changed) else "preview"
        result.places = [line for edit in changed for line in _places(edit)]
        if result.places:
            result.files = [f"{edit.path}: {count(len(edit.changes), 'place')}" for edit in changed]
            files = count(len(changed), "file")
            result.summary = f"{count(len(result.places), 'place')} in {files}"
        else:
            result.summary = "; ".join(f"{e.path}: +{e.added} -{e.removed}" for e in changed)
            result.diff = harmless("".join(e.diff for e in changed).replace("\r\n", "\n"))
    return result


def _by_reason(findings: Iterable[tuple[str, Finding]]) -> list[str]:
    """Each text of a finding once, with the places that it is about."""
    places: dict[str, list[str]] = {}
    for path, finding in findings:
        if finding.kind not in ("stays", "outside"):
            lines = [str(spot.line) for spot in finding.places]
            text = own_words(LINES.sub("", finding.text) if lines else finding.text)
            numbers = ",".join(lines[:MAX_LISTED_PLACES])
            numbers += "…" * (len(lines) > MAX_LISTED_PLACES)
            places.setdefault(text, []).append(":".join(filter(None, (path, numbers))))
    return [f"{text}: {listed(at, MAX_LISTED_PLACES)}" for text, at in places.items()]


def _places(edit: Edit) -> Iterator[str]:
    lines = LINE_END.split(edit.before.decode("utf-8", "replace"))
    for change in edit.changes:
        text = "".join(lines[change.line - 1 : change.line]).strip()[:MAX_PAGE_COLUMNS]
        yield f"{edit.path}:{change.line}:{change.column}: {change.kind}: {text}"


def _shorter(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _cut(lines: Sequence[str], most: int) -> list[str]:
    """The first lines of a list, each not too long, and how many more there are."""
    kept = [_shorter(line, MAX_LINE_CHARACTERS) for line in lines[:most]]
    return [*kept, f"… and {len(lines) - most} more"] if len(lines) > most else kept


def fitted(result: ToolResult, skip: int, ask: str) -> ToolResult:
    """The result within MAX_RESULT_CHARACTERS; `ask`: the tool that shows the rest."""
    main = "places" if result.places else "diff"
    whole = {name: list(map(shown, getattr(result, name))) for name in LISTS}
    whole["diff"] = result.diff.split("\n") if result.diff else []
    whole[main] = whole[main][skip:]
    kept = {name: min(len(lines), MAX_LIST_LINES) for name, lines in whole.items()}
    kept |= {"left": min(len(whole["left"]), MOST_LEFT), "diff": len(whole["diff"])}
    summary = _shorter(harmless(result.summary), MAX_RESULT_CHARACTERS // 2)
    while True:
        lists = {name: _cut(lines, kept[name]) for name, lines in whole.items()}
        update = lists | {"diff": "\n".join(lists["diff"]), "summary": summary}
        rest = len(whole[main]) - kept[main]
        if rest > 0:
            what = "places" if main == "places" else "lines of the diff"
            update["more"] = f"{rest} more {what}: {ask} with skip: {skip + kept[main]}"
        made = result.model_copy(update=update)
        size = len(made.model_dump_json(exclude_defaults=True))
        longest = max(kept, key=lambda name: sum(map(len, lists[name])) if kept[name] else 0)
        if size <= MAX_RESULT_CHARACTERS or not kept[longest]:
            return made
        kept[longest] = kept[longest] * 4 // 5
