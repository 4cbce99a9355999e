"""What an editor asks for: an edit of selected lines, or a rename of the identifier at the cursor.

The instruction of an edit is an argument, or a comment in the selection that begins with
`specedit:`; the edit can be stopped between two passes. A rename changes all files of the work
tree, and no model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag

from specedit.edit.backend import Loading, Written
from specedit.edit.job import Job, plan_edit
from specedit.edit.report import Edit
from specedit.edit.session import run_one
from specedit.engines.base import Prefill
from specedit.errors import InputError
from specedit.files.source import Source
from specedit.import_time import frozen, regex
from specedit.integrations.lsp.connection import Stopped
from specedit.integrations.lsp.documents import BOM, Document, Place, path_of
from specedit.rename.tree import Tree
from specedit.rename.tree_rename import Target
from specedit.server.connect import connect
from specedit.settings import Settings

COMMENT = regex(r"\s*(?:#|//|--|/\*|<!--|;|%)\s*specedit:\s*(?P<text>.*?)\s*(?:\*/|-->)?\s*")


def ask(
    document: Document,
    instruction: str,
    lines: tuple[int, int],
    settings: Settings,
    flag: Flag,
) -> Iterator[str | Edit]:
    """The progress, pass by pass (the last line written so far), then the Edit; Stopped once the
    flag is set. `lines`: from 1, both ends in."""
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
    written = ""
    with (
        closing(connect(settings)) as backend,
        closing(run_one("lsp", document.source, planner, backend, settings)) as items,
    ):
        for item in items:
            if flag.is_set():
                raise Stopped
            if isinstance(item, Loading):
                yield item.what
            elif isinstance(item, Prefill):
                yield f"read {item.done} of {item.total} tokens"
            elif isinstance(item, Written):
                written = (written + item.text)[-1000:]
                yield next((line for line in reversed(written.split("\n")) if line.strip()), "")
            elif isinstance(item, Edit):
                if item.status == "failed":
                    raise InputError("; ".join(item.problems), file=document.source.name)
                yield item


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
        tuple(f"{name}: {one.text}" for name, doubts in result.undecided.items() for one in doubts),
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
