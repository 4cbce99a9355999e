"""The change that was made by hand in some lines of a document, repeated in the files of the work
tree. An open document counts with the text in the editor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from specedit.edit.report import Edit
from specedit.errors import InputError
from specedit.files import git
from specedit.files.source import Source
from specedit.integrations.lsp.document_edits import (
    Document,
    path_in_tree,
    searched_text,
    split,
)
from specedit.rename.tree import Tree
from specedit.repeat.example import ExampleFile
from specedit.repeat.finding import FoundFile, candidates, find, planned, read_text, settled
from specedit.repeat.request import rules_from
from specedit.repeat.rewriting import applied
from specedit.settings import Settings
from specedit.syntax.lines import opcodes

MOST_PROPOSED = 200  # places that may be meant; more are only counted


@dataclass(frozen=True, slots=True)
class RepeatEdit:
    """What repeating a change comes to. `texts`: with every place; `proposed`: TextDocumentEdits of
    the places, each edit with its kind as `why`; `left`: what fits and stays, with the reason."""

    rule: str
    places: int
    texts: tuple[tuple[Document, str], ...]
    proposed: tuple[tuple[Document, dict[str, Any]], ...]
    left: tuple[str, ...]

    @property
    def used(self) -> tuple[Document, ...]:
        """The documents whose places are in it."""
        return tuple(document for document, _ in (*self.texts, *self.proposed))


def committed_text(document: Document) -> str | None:
    """The text of a document in the last commit, with the line ends that the document has; None
    where the commit does not have it."""
    data = git.committed(path_in_tree(document))
    if data is None:
        return None
    text = Source.from_bytes(document.source.name, data).text
    return document.source.encode(text).decode("utf-8")


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
    document: Document,
    lines: tuple[int, int],
    first: str | None,
    opened: Sequence[Document],
    settings: Settings,
) -> RepeatEdit:
    """Repeat what changed in these lines of a document since its text was `first`; since the last
    commit, where that is None."""
    path = path_in_tree(document)
    since = "it was opened" if first is not None else "the last commit"
    if first is None and (first := committed_text(document)) is None:
        hint = "The example is what changed since the last commit."
        raise InputError("the last commit does not have it", file=path.name, hint=hint)
    example = changed_lines(document, first, lines)
    if example is None:
        problem = f"lines {lines[0]} to {lines[1]} have not changed since {since}"
        raise InputError(problem, file=path.name, hint="Change one place, then repeat it.")
    if document.source.language is None:
        raise InputError("the language is not known", file=path.name)
    tree = Tree.around([str(path)]) or Tree.of_files([str(path)])
    held = {
        tree.path(str(path_in_tree(opened_document))): opened_document
        for opened_document in (*opened, document)
    }
    name = tree.path(str(path))
    before, after = (Document.of(document.uri, None, text).source.text for text in (first, example))
    rules = rules_from([ExampleFile(name, before, after, document.source.language)])
    if len(rules) > 1:
        raise InputError("these lines hold several changes; select one", file=path.name)
    names = {
        tree.path(candidate) for candidate in candidates(tree.root, rules, tree.root)
    } | held.keys()

    def read(name: str) -> str:
        return searched_text(held[name]) if name in held else read_text(name, tree.root)

    found = find(rules, sorted(names & tree.project.paths), read)
    left = [f"{name}: {why}" for name, why in found.left.items()]
    offers = found.places <= MOST_PROPOSED
    if not offers:
        left.append(f"{found.places} places may be meant: `specedit repeat` asks about them")
    every = settled(found, lambda *_: True)
    texts, proposed = [], []
    for name, file in found.files.items():
        left += [f"{name}:{line}: {why}" for line, why in file.skipped]
        shown = held.get(name) or Document.on_disk((tree.root / name).as_uri())
        source = replace(shown.source, name=name, path=tree.root / name, root=tree.root)
        job = planned(source, every, settings)
        if isinstance(job, Edit) or job.known is None:
            continue
        judged = job.judge(job.known)
        if judged.problems:
            left.append(f"{name}: not changed: {judged.problems[0].text}")
            continue
        texts.append((shown, shown.source.encode(judged.text).decode("utf-8")))
        if offers:
            proposed.append((shown, _proposed(shown, file)))
    rule = " -> ".join(rules[0].shown())
    return RepeatEdit(rule, found.places, tuple(texts), tuple(proposed), tuple(left))


def _proposed(document: Document, file: FoundFile) -> dict[str, Any]:
    """A TextDocumentEdit of the places that may be meant."""
    result: dict[str, Any] = document.edit_to(document.text)
    for place in file.places:
        text = document.source.encode(applied(file.text, [place])).decode("utf-8")
        result["edits"] += [{**edit, "why": place.kind} for edit in document.edit_to(text)["edits"]]
    return result
