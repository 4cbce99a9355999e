"""What an editor asks for: an edit of selected lines, or a rename of the identifier at the cursor.

The instruction of an edit is an argument, or a comment in the selection that begins with
`specedit:`; the edit can be stopped between two passes. A rename changes all files of the work
tree, and no model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag

from specedit.connect import connect
from specedit.edit.backend import Loading, Written
from specedit.edit.job import Job, plan_edit
from specedit.edit.report import Edit
from specedit.edit.request import Request
from specedit.edit.run import run_edit
from specedit.edit.sink import Sink
from specedit.engines.base import Prefill
from specedit.errors import InputError
from specedit.files.source import Source
from specedit.import_time import frozen, regex
from specedit.integrations.lsp.connection import Stopped
from specedit.integrations.lsp.documents import BOM, Document, Place, path_of
from specedit.rename.tree import Tree
from specedit.rename.tree_rename import Target
from specedit.settings import Settings

COMMENT = regex(r"\s*(?:#|//|--|/\*|<!--|;|%)\s*specedit:\s*(?P<text>.*?)\s*(?:\*/|-->)?\s*")


def edit_lines(
    document: Document,
    instruction: str,
    lines: tuple[int, int],
    settings: Settings,
    flag: Flag,
    report: Callable[[str], None],
) -> Edit:
    """Edit lines of a document (from 1, both ends in). `report` is called with the progress, pass
    by pass: the last line written so far. Stopped once the flag is set."""
    first, last = lines
    if not instruction:
        instruction, document = _without_comment(document, first, last)
        last -= 1
    if not instruction:
        raise InputError(
            "no instruction",
            file=document.source.name,
            hint="Give it as the command's third argument, or in the selection: `# specedit: …`.",
        )

    span = document.line_of_source(first - 1), document.line_of_source(max(first, last) - 1)

    def planner(source: Source) -> Job:
        return plan_edit(source, instruction, settings, lines=span)

    settings = replace(settings, test="")  # a command would see the file on disk, not this text
    request = Request("lsp", planner, settings)
    with closing(connect(settings)) as backend:
        edit = run_edit(document.source, request, backend, _EditorProgress(flag, report))
    if edit.status == "failed":
        raise InputError("; ".join(edit.problems), file=document.source.name)
    return edit


class _EditorProgress(Sink):
    """Reports progress to the editor, and ends the run once its flag is set."""

    def __init__(self, flag: Flag, report: Callable[[str], None]) -> None:
        self._flag = flag
        self._report = report
        self._text = ""  # the end of what is written

    def _send(self, text: str) -> None:
        if self._flag.is_set():
            raise Stopped
        self._report(text)

    def loading(self, event: Loading) -> None:
        self._send(event.what)

    def prefill(self, event: Prefill) -> None:
        self._send(f"read {event.done} of {event.total} tokens")

    def written(self, event: Written) -> None:
        self._text = (self._text + event.text)[-1000:]
        lines = reversed(self._text.split("\n"))
        self._send(next((line for line in lines if line.strip()), ""))


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
