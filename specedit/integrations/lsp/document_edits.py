"""The requests of an editor: an edit of selected lines or of a document, a merge, or a rename.

The instruction of an edit is an argument, or a comment in the selection that begins with
`specedit:`. A rename changes all files of the work tree, and no model is asked.

A line of the protocol ends with "\\n", "\\r\\n" or "\\r" and with nothing else; a column counts the
code units that the editor prefers: of UTF-16, UTF-8 or UTF-32.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from threading import Event as Flag
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified
from pygls.workspace.position_codec import PositionCodec

from specedit.connect import connect
from specedit.decode import Tally
from specedit.edit.apply.apply_plan import changes_of, parts_by_file, parts_of, plan_apply
from specedit.edit.backend import Loading, Ready, Written
from specedit.edit.job import Job, plan_edit
from specedit.edit.report import Edit
from specedit.edit.request import Planner, Request
from specedit.edit.run import run_edit
from specedit.edit.sink import EditEvent, Planned, Sink
from specedit.edit.splice import whole
from specedit.engines.base import Prefill
from specedit.errors import InputError
from specedit.files.git import path_of_uri, real
from specedit.files.source import LINE_END, Source, read
from specedit.rename.tree import Tree
from specedit.rename.tree_rename import Target
from specedit.settings import Settings
from specedit.syntax.lines import opcodes
from specedit.view.colours import count

LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)")
BOM = "\ufeff"
CHANGED = "the text changed meanwhile; nothing was edited"

Place = tuple[int, int]  # a line, and a column in characters, from 0
Encoding = types.PositionEncodingKind


@dataclass(frozen=True)  # its cached properties need no slots
class Document:
    """One version of a document: text and version never come from different moments."""

    uri: str
    version: int | None  # None: it is not open, and the file on disk is the truth
    lines: tuple[str, ...]  # with their ends; the last line has none and may be empty
    encoding: Encoding  # whose code units the columns of the protocol count

    @classmethod
    def on_disk(cls, uri: str, encoding: Encoding) -> Document:
        """A file that is not open in the editor."""
        source = read(path_of_uri(uri))
        text = source.data[len(source.bom) :].decode(source.encoding)
        return cls(uri, None, split(text), encoding)

    @cached_property
    def text(self) -> str:
        return "".join(self.lines)

    @cached_property
    def source(self) -> Source:
        name = path_of_uri(self.uri).name
        return Source.from_bytes(name, self.text.encode("utf-8", "surrogatepass"))

    def line_of_source(self, line: int) -> int:
        """The line of `source`, from 1, that a line, from 0, is in. "\\r\\r\\n" ends one there."""
        pairs = pairwise(self.lines[: line + 1])
        return line + 1 - sum(a.endswith("\r") and b == "\r\n" for a, b in pairs)

    def place(self, position: types.Position) -> Place:
        """The place of a position, or the nearest before it."""
        line, units = position.line, position.character
        if line >= len(self.lines):
            return len(self.lines) - 1, len(self.lines[-1])
        content = self.lines[line].rstrip("\r\n")
        if content.isascii():
            return line, min(units, len(content))
        for column, character in enumerate(content):
            units -= self._units(character)
            if units < 0:
                return line, column
        return line, len(content)

    def range(self, start: Place, end: Place) -> types.Range:
        return types.Range(self._position(*start), self._position(*end))

    def edit_to(self, text: str) -> types.TextDocumentEdit:
        """The edit that makes this version `text`: whole lines, for this version only."""
        new = split(text)
        edits = [
            types.TextEdit(self.range((a, 0), (b, 0)), "".join(new[c:d]))
            for tag, a, b, c, d in opcodes(self.lines, new)
            if tag != "equal"
        ]
        document = types.OptionalVersionedTextDocumentIdentifier(self.uri, self.version)
        return types.TextDocumentEdit(document, edits)

    def _position(self, line: int, column: int) -> types.Position:
        if line >= len(self.lines):
            line, column = len(self.lines) - 1, len(self.lines[-1])
        return types.Position(line, self._units(self.lines[line][:column]))

    def _units(self, text: str) -> int:
        units: int = PositionCodec(self.encoding).client_num_units(text)
        return units


class Documents:
    """The documents that the editor has open, as its notifications describe them."""

    def __init__(self) -> None:
        self.encoding: Encoding = Encoding.Utf16
        self._open: dict[str, Document | None] = {}  # None: a change of it could not be applied

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        lines = split(document.text)
        self._open[document.uri] = Document(document.uri, document.version, lines, self.encoding)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Whole texts were agreed on: after a change of a part, the text is not known."""
        uri, version = params.text_document.uri, params.text_document.version
        document = self._open.get(uri)
        lines = document.lines if document else None
        for change in params.content_changes:
            is_part = isinstance(change, types.TextDocumentContentChangePartial)
            lines = None if is_part else split(change.text)
        self._open[uri] = Document(uri, version, lines, self.encoding) if lines else None

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        self._open.pop(params.text_document.uri, None)

    def forget(self, params: Any) -> None:
        """The text of a document is no longer known, because what is said about it is not valid."""
        item = params.get("textDocument") if isinstance(params, dict) else None
        uri = item.get("uri") if isinstance(item, dict) else None
        if isinstance(uri, str) and uri in self._open:
            self._open[uri] = None

    def open(self, uri: str) -> Document:
        document = self._open.get(uri)
        if document is None:
            raise InputError(f"the text of {uri} is not known: open it again")
        return document

    def get(self, uri: str) -> Document:
        """The document as it is open, or else as it is on disk."""
        return self.open(uri) if uri in self._open else Document.on_disk(uri, self.encoding)

    def files(self) -> tuple[Document, ...]:
        """The open documents that are files."""
        return tuple(filter(None, self._by_path().values()))

    def _by_path(self) -> dict[Path, Document | None]:
        documents = {}
        for uri, document in self._open.items():
            with suppress(InputError):  # an editor may have other things open
                documents[path_of_uri(uri)] = document
        return documents

    def check_current(self, documents: Iterable[Document]) -> None:
        """An error where one of these versions is not current any more."""
        if not all(map(self.is_current, documents)):
            raise JsonRpcContentModified(CHANGED)

    def is_current(self, document: Document) -> bool:
        """Whether this version is still what the editor shows, or what is on disk."""
        if document.version is not None:
            return self._open.get(document.uri) is document
        if path_of_uri(document.uri) in self._by_path():
            return False
        return Document.on_disk(document.uri, self.encoding).text == document.text


def split(text: str) -> tuple[str, ...]:
    """The lines of a text with their ends: always one more than there are ends."""
    lines = LINE.findall(text)
    return (*lines, text[sum(map(len, lines)) :])


COMMENT = re.compile(r"\s*(?:#|//|--|/\*|<!--|;|%)\s*specedit:\s*(?P<text>.*?)\s*(?:\*/|-->)?\s*")


def edit_lines(
    document: Document,
    instruction: str,
    lines: tuple[int, int] | None,
    settings: Settings,
    progress: EditProgress,
    *,
    applies: bool = False,
) -> Edit:
    """Edit lines of a document, or what is named. `applies`: an unsure edit is refused."""
    first, last = lines or (1, 0)
    held = enumerate(map(COMMENT.fullmatch, document.lines[first - 1 : last]), first - 1)
    found = [(at, comment["text"]) for at, comment in held if comment and comment["text"]]
    if not instruction and found:  # the selection holds it
        at, instruction = found[0]
        rest = (*document.lines[:at], *document.lines[at + 1 :])
        document, last = replace(document, lines=rest), last - 1
    if not instruction:
        raise InputError(
            "no instruction",
            file=document.source.name,
            hint="Give it as the command's third argument, or in the selection: `# specedit: …`.",
        )
    span = document.line_of_source(first - 1), document.line_of_source(max(first, last) - 1)

    planner = partial(plan_edit, instruction=instruction, settings=settings, lines=lines and span)
    return _edited(document, planner, "lsp", settings, progress, confirms_unsure=applies)


def change_documents(
    document: Document | None,
    text: str,
    read: Callable[[str], Document],
    settings: Settings,
    progress: EditProgress,
) -> Iterator[tuple[Document, Edit]]:
    """Merge a change into the files that it names, or into the document."""
    changes = changes_of(text)
    if any(change.path for change in changes):
        found = parts_by_file(changes)
        parts = [(read(Path(name).absolute().as_uri()), own) for name, own in found.items()]
    elif document is None:
        raise InputError("the change names no file", hint="Open the file that it is for.")
    else:
        parts = [(document, parts_of(changes, str(path_of_uri(document.uri))))]
    for changed, own in parts:
        planner = partial(plan_apply, parts=own, settings=settings)
        yield changed, _edited(changed, planner, "apply", settings, progress)


def _edited(
    document: Document,
    planner: Planner,
    command: str,
    settings: Settings,
    progress: EditProgress,
    *,
    confirms_unsure: bool = False,
) -> Edit:
    settings = replace(settings, test="")  # a command would see the file on disk, not this text
    request = Request(command, planner, settings, confirms_unsure=confirms_unsure)
    with closing(connect(settings)) as backend:
        edit = run_edit(document.source, request, backend, progress)
    if edit.status == "failed":
        raise InputError("; ".join(edit.problems), file=document.source.name)
    return edit


class Stopped(Exception):
    """The edit was cancelled between two passes."""


@dataclass
class EditProgress(Sink):
    """Reports an edit to the editor pass by pass, and ends it once `stopped` is set. `opened` gets
    the regions that may change before the model is asked; `trace` gets the events, too."""

    stopped: Flag
    report: Callable[[str], object]
    opened: Callable[[Sequence[RegionLines]], object] = lambda _: None
    trace: Sink = field(default_factory=Sink)
    model: str = ""
    _text: str = ""  # the end of what is written
    _passes: int = 0
    _drafted: Tally = field(default_factory=Tally)

    def _send(self, text: str) -> None:
        if self.stopped.is_set():
            raise Stopped
        self.report(text)

    def emit(self, event: EditEvent) -> None:
        match event:
            case Planned() if not self.stopped.is_set():
                self.opened(regions_of(event.job))
            case Loading():
                self._send(event.what)
            case Ready():
                self.model = event.model.name
            case Prefill():
                self._send(f"read {event.done} of {event.total} tokens")
            case Written():
                self._passes += 1
                self._drafted += Tally(event.chunk.proposed, event.chunk.accepted)
                self._text = (self._text + event.text)[-1000:]
                line = next((line for line in reversed(self._text.split("\n")) if line.strip()), "")
                copied = self._drafted.accepted / (self._passes + self._drafted.accepted)
                share = f", {copied:.0%} copied" if self._drafted.proposed else ""
                self._send(f"{count(self._passes, 'pass', 'passes')}{share} · {line.strip()}")
        self.trace.emit(event)


RegionLines = dict[str, Any]  # `lines` (from 1, both ends in), `symbol`, `why`


def regions_of(job: Job) -> list[RegionLines]:
    """The parts of a file that may change; none: all of it."""
    if job.regions or job.region == whole(job.source):
        return [{"lines": of.lines, "symbol": of.symbol, "why": of.why} for of in job.regions]
    first = job.source.text.count("\n", 0, job.region.start) + 1
    last = job.source.text.count("\n", 0, max(job.region.start, job.region.stop - 1)) + 1
    return [{"lines": (first, last), "symbol": "", "why": ""}]


WORD = re.compile(r"[^\W\d][\w$]*")


@dataclass(frozen=True, slots=True)
class TreeEdit:
    """The documents that a rename changes, each with its new text, and what stays uncertain."""

    old: str
    texts: tuple[tuple[Document, str], ...]
    doubts: tuple[str, ...]


def identifier_at(line: str, column: int) -> re.Match[str] | None:
    """The identifier that a column is in, or at the end of."""
    matches = (match for match in WORD.finditer(line) if match.start() <= column <= match.end())
    return next(matches, None)


def rename_at(
    document: Document, place: Place, new: str, opened: Sequence[Document], settings: Settings
) -> TreeEdit:
    """Rename the identifier at a place. An open document counts with the text in the editor."""
    line, column = place
    identifier = identifier_at(document.lines[line], column)
    path = path_in_tree(document)
    if identifier is None:
        raise InputError("there is no identifier at this position", file=path.name)
    old = identifier[0]
    tree = Tree.around([str(path)]) or Tree.of_files([str(path)])
    by_name: dict[str, Document] = {}
    for opened_document in (*opened, document):
        name = tree.path(str(path_in_tree(opened_document)))
        if name in tree.project.paths:
            by_name[name] = opened_document
            text = ""
            with suppress(InputError):  # it is binary or too large
                text = opened_document.source.text
            tree.project.hold(name, text)
    name = tree.path(str(path))
    before = "".join(document.lines[:line]) + document.lines[line][: identifier.start()]
    start = len(LINE_END.sub("\n", before.removeprefix(BOM)))
    paths = [name]
    if tree.tracks:
        paths += tree.holding(old, derived=settings.scope == "derived")
    paths += [other for other in by_name if old in (tree.project.text(other) or "")]
    target = Target(name, start, start + len(old))
    result = tree.rename_in(list(dict.fromkeys(paths)), old, new, settings, target)
    tree.refuse_taken(result, settings)
    if settings.scope != "derived":
        result = result.without_prose(tree.project, "in an editor")
    texts = tuple(
        _changed(tree, name, by_name.get(name), guess.text, document.encoding)
        for name, guess in result.files.items()
    )
    doubts = [f"{name}: {doubt.text}" for name, of in result.undecided.items() for doubt in of]
    doubts += [f"rename the file {name} to {to}" for name, to in result.moves.items()]
    return TreeEdit(old, texts, tuple(doubts))


def _changed(
    tree: Tree, name: str, opened: Document | None, text: str, encoding: Encoding
) -> tuple[Document, str]:
    """A document, or the file of this name, and its new text with the line ends that it had."""
    document = opened or Document.on_disk((tree.root / name).as_uri(), encoding)
    if document.source.text != tree.project.text(name):
        raise InputError("modified by another program since it was read", file=name)
    return document, document.source.encode(text).decode("utf-8")


def path_in_tree(document: Document) -> Path:
    """Where a document is, with the links of its folder followed, as git names files."""
    path = path_of_uri(document.uri)
    return real(path.parent) / path.name
