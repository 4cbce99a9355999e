"""Merge a change into the text of a file, without a model."""

from __future__ import annotations

from collections.abc import Sequence

from specedit.edit.apply.change import ChangeHunk, FileChange, Snippet, read_change
from specedit.edit.apply.laying import Laid, laid
from specedit.edit.apply.patching import Splice, splices
from specedit.edit.apply.placing import FileIndex
from specedit.edit.apply.result import Ambiguity, Merged, MergedPart
from specedit.syntax import trees
from specedit.syntax.languages import language_of
from specedit.syntax.lines import opcodes


def merge(text: str, change: str, name: str) -> Merged:
    """`text`, the file `name`, with a change for it; no text where a part has no single place."""
    parts = [part for one in read_change(change) for part in one.parts]
    return merge_parts(text, parts, name)


def merge_parts(text: str, parts: Sequence[ChangeHunk | Snippet], name: str) -> Merged:
    """The same for parts that are read already. Each snippet continues from the text before it."""
    language = language_of(name, text)
    hunks = [part for part in parts if isinstance(part, ChangeHunk)]
    snippets = [part for part in parts if isinstance(part, Snippet)]
    hows: list[tuple[Sequence[str], str]] = []
    doubts: list[Ambiguity] = []
    body, end = (text[:-1], "\n") if text.endswith("\n") else (text, "")
    lines = body.split("\n")
    before = lines
    if hunks:
        done, found = splices(hunks, FileIndex(lines), trees.symbols(text, language))
        doubts += found
        if not found:
            lines = _joined(lines, done)
            hows += [(one.lines, one.how) for one in done]
    for one in snippets:
        current = "\n".join(lines) + "\n"
        result = laid(one, FileIndex(lines), trees.symbols(current, language), language)
        if isinstance(result, Laid):
            lines = list(result.lines)
            hows += [((), result.how)]
        else:
            doubts += result
    if doubts:
        return Merged(None, (), tuple(doubts))
    how = "matched" if any(one == "matched" for _, one in hows) else "exact"
    after = "\n".join(lines) + end
    return Merged(after, tuple(_parts(before, lines, how)))


def _joined(lines: Sequence[str], done: Sequence[Splice]) -> list[str]:
    result: list[str] = []
    at = 0
    for one in done:
        result += [*lines[at : one.first], *one.lines]
        at = one.last
    return [*result, *lines[at:]]


def _parts(before: Sequence[str], after: Sequence[str], how: str) -> list[MergedPart]:
    return [
        MergedPart((c + 1, max(c + 1, d)), how)
        for tag, _, _, c, d in opcodes(before, after)
        if tag != "equal"
    ]


def for_file(changes: Sequence[FileChange], name: str) -> list[ChangeHunk | Snippet]:
    """The parts of a change that are for a file."""
    return [part for one in changes for part in one.parts]
