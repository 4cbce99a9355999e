"""What an editor asks for: an edit of selected lines or of a document, the merge of a change, or a
rename of the identifier at the cursor.

The instruction of an edit is an argument, or a comment in the selection that begins with
`specedit:`; the edit can be stopped between two passes. A rename changes all files of the work
tree, and no model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag
from typing import Any

from specedit.connect import connect
from specedit.decode import Tally
from specedit.edit.apply.apply_plan import changes_of, parts_by_file, parts_of, plan_apply
from specedit.edit.apply.change import Part
from specedit.edit.backend import Answer, Loading, Ready, Written
from specedit.edit.job import Job, plan_edit
from specedit.edit.report import Edit, Trying
from specedit.edit.request import Planner, Request
from specedit.edit.run import run_edit
from specedit.edit.sink import Sink
from specedit.edit.splice import whole
from specedit.engines.base import Prefill
from specedit.errors import InputError
from specedit.files.source import Source
from specedit.import_time import frozen, regex
from specedit.integrations.lsp.connection import Stopped
from specedit.integrations.lsp.documents import BOM, Document, Place, path_of, split
from specedit.rename.tree import Tree
from specedit.rename.tree_rename import Target
from specedit.repeat.example import ExampleFile
from specedit.repeat.finding import candidates, find, new_text, read_text
from specedit.repeat.request import rules_from
from specedit.settings import Settings
from specedit.syntax.lines import opcodes
from specedit.view.colours import count
from specedit.view.trace import TraceWriter

COMMENT = regex(r"\s*(?:#|//|--|/\*|<!--|;|%)\s*specedit:\s*(?P<text>.*?)\s*(?:\*/|-->)?\s*")


def edit_lines(
    document: Document,
    instruction: str,
    lines: tuple[int, int] | None,
    settings: Settings,
    progress: EditProgress,
) -> Edit:
    """Edit lines of a document (from 1, both ends in), or what the instruction names in it."""
    if not instruction and lines is not None:
        first, last = lines
        instruction, document = _without_comment(document, first, last)
        lines = first, last - 1
    if not instruction:
        raise InputError(
            "no instruction",
            file=document.source.name,
            hint="Give it as the command's third argument, or in the selection: `# specedit: …`.",
        )

    span = None
    if lines is not None:
        first, last = lines
        span = document.line_of_source(first - 1), document.line_of_source(max(first, last) - 1)

    def planner(source: Source) -> Job:
        return plan_edit(source, instruction, settings, lines=span)

    return _edited(document, planner, "lsp", settings, progress)


def change_documents(
    document: Document | None,
    text: str,
    read: Callable[[str], Document],
    settings: Settings,
    progress: EditProgress,
) -> Iterator[tuple[Document, Edit]]:
    """Merge a change into the files that it names, each read by `read` from its URI; into the
    document where it names none."""
    changes = changes_of(text)
    if any(one.path for one in changes):
        found = parts_by_file(changes)
        parts = [(read(Path(name).absolute().as_uri()), own) for name, own in found.items()]
    elif document is None:
        raise InputError("the change names no file", hint="Open the file that it is for.")
    else:
        parts = [(document, parts_of(changes, str(path_of(document.uri))))]
    for changed, own in parts:

        def planner(source: Source, own: tuple[Part, ...] = own) -> Job | Edit:
            return plan_apply(source, own, settings)

        yield changed, _edited(changed, planner, "apply", settings, progress)


def _edited(
    document: Document, planner: Planner, command: str, settings: Settings, progress: EditProgress
) -> Edit:
    settings = replace(settings, test="")  # a command would see the file on disk, not this text
    request = Request(command, planner, settings)
    with closing(connect(settings)) as backend:
        edit = run_edit(document.source, request, backend, progress)
    if edit.status == "failed":
        raise InputError("; ".join(edit.problems), file=document.source.name)
    return edit


class EditProgress(Sink):
    """Reports an edit to the editor pass by pass, and ends it once `flag` is set. `opened` gets the
    regions that may change before the model is asked; `trace`: a file of the passes."""

    def __init__(
        self,
        flag: Flag,
        report: Callable[[str], None],
        opened: Callable[[Sequence[RegionLines]], None] = lambda _: None,
        trace: Path | None = None,
    ) -> None:
        self._flag = flag
        self._report = report
        self._opened = opened
        self._trace = TraceWriter(trace) if trace else None
        self._text = ""  # the end of what is written
        self._passes = 0
        self._drafted = Tally()
        self.model = ""

    def _send(self, text: str) -> None:
        if self._flag.is_set():
            raise Stopped
        self._report(text)

    def file(self, name: str) -> None:
        if self._trace:
            self._trace.file(name)

    def planned(self, job: Job) -> None:
        self._opened(regions_of(job))
        if self._trace:
            self._trace.planned(job)

    def loading(self, event: Loading) -> None:
        self._send(event.what)

    def ready(self, event: Ready) -> None:
        self.model = event.model.name
        if self._trace:
            self._trace.ready(event)

    def prefill(self, event: Prefill) -> None:
        self._send(f"read {event.done} of {event.total} tokens")
        if self._trace:
            self._trace.prefill(event)

    def written(self, event: Written) -> None:
        self._passes += 1
        self._drafted += Tally(event.chunk.proposed, event.chunk.accepted)
        self._text = (self._text + event.text)[-1000:]
        line = next((line for line in reversed(self._text.split("\n")) if line.strip()), "")
        share = f", {self._drafted.rate:.0%} accepted" if self._drafted.proposed else ""
        self._send(f"{count(self._passes, 'pass', 'passes')}{share} · {line.strip()}")
        if self._trace:
            self._trace.written(event)

    def answered(self, answer: Answer) -> None:
        if self._trace:
            self._trace.answered(answer)

    def trying(self, attempt: Trying) -> None:
        if self._trace:
            self._trace.trying(attempt)

    def close(self) -> None:
        if self._trace:
            self._trace.close()


RegionLines = dict[str, Any]  # `lines` (from 1, both ends in), `symbol`, `why`


def regions_of(job: Job) -> list[RegionLines]:
    """The parts of a file that may change; none: all of it."""
    if job.regions:
        return [{"lines": one.lines, "symbol": one.symbol, "why": one.why} for one in job.regions]
    if job.region == whole(job.source):
        return []
    first = job.source.text.count("\n", 0, job.region.start) + 1
    last = job.source.text.count("\n", 0, max(job.region.start, job.region.end - 1)) + 1
    return [{"lines": (first, last), "symbol": "", "why": ""}]


def _without_comment(document: Document, first: int, last: int) -> tuple[str, Document]:
    """The instruction that these lines hold, and the document without its line."""
    for at, line in enumerate(document.lines[first - 1 : last], first - 1):
        comment = COMMENT.fullmatch(line)
        if comment is not None and comment["text"]:
            rest = (*document.lines[:at], *document.lines[at + 1 :])
            return comment["text"], replace(document, lines=rest)
    return "", document


WORD = regex(r"[^\W\d][\w$]*")


@frozen
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
    path = _path(document)
    if identifier is None:
        raise InputError("there is no identifier at this position", file=path.name)
    old = identifier[0]
    tree = Tree.around([str(path)]) or Tree.of_files([str(path)])
    by_name: dict[str, Document] = {}
    for one in (*opened, document):
        name = tree.path(str(_path(one)))
        if name in tree.project.paths:
            by_name[name] = one
            tree.project.hold(name, _text(one))
    name = tree.path(str(path))
    rows = _text(document).split("\n")[: document.line_of_source(line) - 1]
    start = sum(len(before) + 1 for before in rows) + identifier.start()
    start -= line == 0 and document.text.startswith(BOM)
    paths = [name]
    if tree.tracks:
        paths += tree.holding(old, derived=settings.scope == "derived")
    paths += [other for other in by_name if old in (tree.project.text(other) or "")]
    target = Target(name, start, start + len(old))
    result = tree.rename_in(list(dict.fromkeys(paths)), old, new, settings, target)
    tree.refuse_taken(result, settings)
    return TreeEdit(
        old,
        tuple(
            _changed(tree, name, by_name.get(name), guess.text)
            for name, guess in result.files.items()
        ),
        (
            *(f"{name}: {one.text}" for name, doubts in result.undecided.items() for one in doubts),
            *(f"rename the file {name} to {to}" for name, to in result.moves.items()),
        ),
    )


def changed_lines(document: Document, first: str, lines: tuple[int, int]) -> str | None:
    """The text `first` with only those of its changes that touch these lines (from 1, both ends in)
    of the document; None where they did not change."""
    old, result, touched = split(first), list[str](), False
    for tag, a, b, c, d in opcodes(old, document.lines):
        inside = c < lines[1] and lines[0] - 1 < max(d, c + 1)
        touched = touched or (tag != "equal" and inside)
        result += document.lines[c:d] if inside else old[a:b]
    return "".join(result) if touched else None


def repeat_at(
    document: Document, first: str, example: str, opened: Sequence[Document], settings: Settings
) -> TreeEdit:
    """Repeat a change that was made by hand in a document, `first` before and `example` after it,
    in the files of the work tree. An open document counts with the text in the editor."""
    path = _path(document)
    source = document.source
    if source.language is None:
        raise InputError("the language is not known", file=path.name)
    tree = Tree.around([str(path)]) or Tree.of_files([str(path)])
    held = {tree.path(str(_path(one))): one for one in (*opened, document)}
    name = tree.path(str(path))
    before, after = (Document.of(document.uri, None, text).source.text for text in (first, example))
    rules = rules_from([ExampleFile(name, before, after, source.language)])
    if len(rules) > 1:
        raise InputError("these lines hold several changes; select one", file=path.name)
    names = {tree.path(one) for one in candidates(tree.root, rules, tree.root)} | held.keys()

    def read(one: str) -> str:
        return _text(held[one]) if one in held else read_text(one, tree.root)

    found = find(rules, sorted(names & tree.project.paths), read)
    doubts = [f"{one}: {why}" for one, why in found.left.items()]
    texts = []
    for one, file in found.files.items():
        doubts += [f"{one}:{line}: {why}" for line, why in file.skipped]
        doubts += [f"{one}:{place.line}: {place.doubt}" for place in file.doubtful]
        if file.sure:
            shown = held.get(one) or Document.on_disk((tree.root / one).as_uri())
            text = new_text(replace(shown.source, name=one, root=tree.root), file.sure, rules)[0]
            texts.append((shown, shown.source.encode(text).decode("utf-8")))
    return TreeEdit(rules[0].shown()[0], tuple(texts), tuple(doubts))


def _changed(tree: Tree, name: str, opened: Document | None, text: str) -> tuple[Document, str]:
    """A document, or the file of this name, and its new text with the line ends that it had."""
    document = opened or Document.on_disk((tree.root / name).as_uri())
    if document.source.text != tree.project.text(name):
        raise InputError("modified by another program since it was read", file=name)
    return document, document.source.encode(text).decode("utf-8")


def _path(document: Document) -> Path:
    """Where a document is, with the links of its folder followed, as git names files."""
    path = path_of(document.uri)
    return path.parent.resolve() / path.name


def _text(document: Document) -> str:
    """The text with "\\n" alone; nothing where it is empty, binary or too large."""
    try:
        return document.source.text
    except InputError:
        return ""
