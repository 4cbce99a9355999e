"""The identifier at the cursor, and its rename in all files of its work tree. No model is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specedit.errors import InputError
from specedit.files.source import read
from specedit.integrations.lsp.documents import BOM, Document, Place, path_of
from specedit.rename.tree import Tree
from specedit.rename.tree_rename import Target
from specedit.settings import Settings

WORD = re.compile(r"[^\W\d][\w$]*")


@dataclass(frozen=True)
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
    start = (
        sum(len(before) + 1 for before in _text(document).split("\n")[:line]) + identifier.start()
    )
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


def _changed(tree: Tree, name: str, document: Document | None, text: str) -> tuple[Document, str]:
    """A document, or the file of this name, and its new text with the line ends that it had."""
    if document is not None:
        return document, document.source.encode(text).decode("utf-8")
    source = read(tree.root / name)
    if source.text != tree.project.text(name):
        raise InputError("modified by another program since it was read", file=name)
    skip = len(source.bom)
    before = source.data[skip:].decode(source.encoding)
    after = source.encode(text)[skip:].decode(source.encoding)
    return Document.of((tree.root / name).as_uri(), None, before), after


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
