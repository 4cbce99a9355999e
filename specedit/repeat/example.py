"""An example of a change: two texts, or what git knows (the uncommitted change, or that of one
commit). What it changed: the smallest syntax nodes that were replaced.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.errors import FileError, GitError, UsageError
from specedit.files.git import ask
from specedit.files.source import Source
from specedit.files.source import read as read_source
from specedit.repeat.piece import BYTES, leaf_text, parts
from specedit.scoping.languages import rules_of
from specedit.syntax import trees
from specedit.syntax.languages import Language, language_of

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_FILES = 300  # of an example
EXAMPLE = "Change one place by hand, then run specedit repeat; or --example OLD NEW."
MOST_TOGETHER = 4  # statements that are replaced as one
MAX_EXAMPLE_BYTES = 20_000  # bytes of the nodes of a change that is an example
_LISTS = ("arguments", "argument_list", "parameters", "parameter_list", "array", "list", "object")


@dataclass(frozen=True, slots=True)
class ExampleFile:
    """One file of an example, before and after it."""

    path: str
    before: str
    after: str
    language: Language


@dataclass(frozen=True, slots=True)
class NodeChange:
    """Neighbouring nodes that became others. `above`: the nodes around them, nearest first, as
    they were and as they are."""

    file: ExampleFile
    old: tuple[Node, ...]
    new: tuple[Node, ...]
    above: tuple[tuple[Node, Node], ...]

    @property
    def line(self) -> int:
        """Its first line in the old text, from 1."""
        node = self.old[0] if self.old else self.above[0][0]
        return node.start_point[0] + 1

    def climbed(self) -> NodeChange | None:
        """The change of the nodes around it; None where that is a whole block."""
        if not self.above:
            return None
        old, new = self.above[0]
        if is_block(old) or old.parent is None:
            return None
        return NodeChange(self.file, (old,), (new,), self.above[1:])


def is_block(node: Node) -> bool:
    """Whether a node is a list of statements or members."""
    kind = node.type
    return (
        kind.endswith(("block", "_body", "body_statement", "declaration_list", "_unit"))
        or kind in ("module", "program", "source_file", "compound_statement", "suite", "then")
        or kind in ("document", "stream", "statement_list", "do", "else")
    )


def is_import_node(kind: str) -> bool:
    """Whether a kind of node brings names in from elsewhere, or is a part of one that does."""
    return (
        "import" in kind
        or kind.startswith(("use_", "scoped_use", "namespace_use"))
        or kind in ("using_directive", "preproc_include")
    )


def is_compound(node: Node) -> bool:
    """Whether a node is a statement or definition with a body."""
    return is_block(node) or any(is_block(child) for child in node.children)


def tokens(node: Node, data: bytes, language: str) -> list[str]:
    result, waiting = [], [node]
    while waiting:
        branch = waiting.pop()
        below = parts(branch)
        if below:
            waiting.extend(reversed(below))
        elif branch.end_byte > branch.start_byte:
            result.append(leaf_text(branch, data, language))
    return result


def changes_of(file: ExampleFile) -> list[NodeChange]:
    """The changes of one file; an error where they do not parse."""
    try:
        changes = list(_Comparison(file).changes())
    except RecursionError:
        raise UsageError(f"{file.path or 'BEFORE'}: the example is nested too deep.") from None
    for change in changes:
        if any(node.has_error for node in (*change.old, *change.new)):
            faults = trees.errors(file.after, file.language) or trees.errors(
                file.before, file.language
            )
            where = f": {faults[0]}" if faults else ""
            raise UsageError(
                f"{file.path or 'BEFORE and AFTER'}: the example does not parse{where}.",
                hint="Repeat a change that has no syntax errors before and after it.",
            )
    return changes


class _Comparison:
    def __init__(self, file: ExampleFile) -> None:
        self.file = file
        self.language = file.language.name
        self.old_data = file.before.encode(*BYTES)
        self.new_data = file.after.encode(*BYTES)

    def changes(self) -> Iterator[NodeChange]:
        old = trees.parse(self.file.before, self.file.language).root_node
        new = trees.parse(self.file.after, self.file.language).root_node
        yield from self._differing(old, new, ())

    def _old(self, node: Node) -> bytes:
        return self.old_data[node.start_byte : node.end_byte]

    def _new(self, node: Node) -> bytes:
        return self.new_data[node.start_byte : node.end_byte]

    def _same(self, old: Node, new: Node) -> bool:
        if self._old(old) == self._new(new):
            return True
        return tokens(old, self.old_data, self.language) == tokens(
            new, self.new_data, self.language
        )

    def _differing(
        self, old: Node, new: Node, above: tuple[tuple[Node, Node], ...]
    ) -> Iterator[NodeChange]:
        """The changes in two nodes that differ."""
        here = NodeChange(self.file, (old,), (new,), above)
        old_parts, new_parts = parts(old), parts(new)
        if old.type != new.type or not old_parts or not new_parts:
            yield here
            return
        around = ((old, new), *above)
        below: list[NodeChange] = []
        changed = 0
        block = is_block(old)
        for olds, news in self._gaps(old_parts, new_parts):
            if block and len(olds) != len(news):  # imports follow by themselves
                olds = [node for node in olds if not is_import_node(node.type)]
                news = [node for node in news if not is_import_node(node.type)]
            if len(olds) == len(news):
                for one, other in zip(olds, news, strict=True):
                    if self._same(one, other):
                        continue
                    if not block and not (one.is_named and other.is_named):
                        yield here
                        return
                    changed += 1
                    below += self._differing(one, other, around)
            elif not block:
                yield here
                return
            elif olds and news and max(len(olds), len(news)) > MOST_TOGETHER:
                below += self._by_likeness(olds, news, around)
            else:
                below.append(NodeChange(self.file, tuple(olds), tuple(news), around))
        if changed > 1 and not is_compound(old) and not old.type.endswith(_LISTS):
            yield here
            return
        yield from below

    def _gaps(
        self, olds: Sequence[Node], news: Sequence[Node]
    ) -> Iterator[tuple[list[Node], list[Node]]]:
        """The runs of children that differ."""
        old_keys = [b" ".join(self._old(old).split()) for old in olds]
        new_keys = [b" ".join(self._new(new).split()) for new in news]
        first = 0
        while first < min(len(olds), len(news)) and old_keys[first] == new_keys[first]:
            first += 1
        last = 0
        most = min(len(olds), len(news)) - first
        while last < most and old_keys[-1 - last] == new_keys[-1 - last]:
            last += 1
        matcher = SequenceMatcher(
            None,
            old_keys[first : len(olds) - last],
            new_keys[first : len(news) - last],
            autojunk=False,
        )
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                yield list(olds[first + a : first + b]), list(news[first + c : first + d])

    def _by_likeness(
        self, olds: Sequence[Node], news: Sequence[Node], above: tuple[tuple[Node, Node], ...]
    ) -> Iterator[NodeChange]:
        """The changes of runs of statements of unequal length: each old one is compared with the
        first new one after the last pair that is more alike than not."""
        at = 0
        for old in olds:
            words = tokens(old, self.old_data, self.language)
            for number in range(at, min(at + MOST_TOGETHER, len(news))):
                new = news[number]
                others = tokens(new, self.new_data, self.language)
                if old.type == new.type and SequenceMatcher(None, words, others).ratio() > 0.6:
                    if words != others:
                        yield from self._differing(old, new, above)
                    at = number + 1
                    break


def is_commit(root: Path, name: str) -> bool:
    if name.startswith("-"):
        return False
    words = ("rev-parse", "--verify", "-q", f"{name}^{{commit}}")
    return ask(root, *words, codes=(0, 1, 128))[0] == 0


def uncommitted(root: Path) -> list[ExampleFile]:
    """The changes of the work tree to files of the last commit."""
    if not is_commit(root, "HEAD"):
        raise GitError("There is no commit yet, so there is no change.", hint=EXAMPLE)
    return _changed(root, "HEAD")


def of_commit(root: Path, name: str) -> list[ExampleFile]:
    """The changes of a commit, compared with its first parent."""
    if not is_commit(root, f"{name}^"):
        raise UsageError(f"{name} has no parent, so it changed nothing.", hint=EXAMPLE)
    return _changed(root, f"{name}^", name)


def _changed(root: Path, before: str, after: str = "") -> list[ExampleFile]:
    """The changes in files of known languages up to the commit `after`, or the work tree."""
    commits = [before, after] if after else [before]
    words = ("diff", "--name-only", "-z", "--no-renames", "--diff-filter=M", *commits, "--")
    names = [os.fsdecode(name) for name in ask(root, *words)[1].split(b"\0") if name]
    known = [name for name in names if is_code(language_of(name))]
    if len(known) > MOST_FILES:
        raise UsageError(
            f"The example changes {len(known)} files; one place is enough.",
            hint="specedit repeat --example OLD NEW takes one file before and after.",
        )
    examples = []
    for path in known:
        try:
            old = _committed(root, before, path)
            new = _committed(root, after, path) if after else read_source(root / path)
        except FileError:  # not a text
            continue
        if old is None or new is None or new.language is None:
            continue
        if old.text != new.text:
            name = os.path.relpath(root / path, Path.cwd())
            examples.append(ExampleFile(name, old.text, new.text, new.language))
    return examples


def _committed(root: Path, commit: str, path: str) -> Source | None:
    """A file of a commit; None where git has no text for it, as for a submodule."""
    code, data = ask(root, "cat-file", "blob", f"{commit}:{path}", codes=(0, 128))
    return None if code else Source.from_bytes(path, data)


def is_code(language: Language | None) -> bool:
    """Whether a language is a programming language whose grammar and names are known."""
    return language is not None and bool(language.grammar) and rules_of(language.name) is not None
