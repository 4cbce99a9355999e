"""Merge a change into the text of a file, without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specedit.edit.apply.change import ChangeHunk, Part, Snippet
from specedit.edit.apply.laying import Laid, laid
from specedit.edit.apply.merged import (
    Ambiguity,
    Doubtful,
    Merged,
    MergedPart,
    Splice,
    joined,
)
from specedit.edit.apply.part_places import FileIndex
from specedit.edit.apply.patching import splices
from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME, Language, language_of
from specedit.syntax.lines import opcodes


def merge_parts(text: str, parts: Sequence[Part], name: str) -> Merged:
    """`text`, the file `name`, with the parts of a change: hunks, or snippets, each of which
    continues from the text before it; no text where a part has no single place."""
    language = language_of(name, text)
    hunks = [part for part in parts if isinstance(part, ChangeHunk)]
    body, end = (text[:-1], "\n") if text.endswith("\n") else (text, "")
    before = lines = body.split("\n")
    done: list[Splice] = []
    refused: list[Ambiguity] = []
    if hunks:
        done, refused = splices(hunks, FileIndex(lines), trees.symbols(text, language))
        lines = joined(lines, done)
    waiting: list[tuple[Snippet, Laid]] = []
    for one in (part for part in parts if isinstance(part, Snippet)):
        result = _laid(one, lines, language)
        refused += result.refused
        if result.doubts:
            waiting.append((one, result))
        else:
            lines = joined(lines, result.readings[0])
            done += result.readings[0]
    doubts = [doubt for _, result in waiting for doubt in result.doubts]
    if refused or len(waiting) > 1:
        return Merged(None, (), tuple(dict.fromkeys((*refused, *doubts))))
    if waiting:
        [(one, result)] = waiting
        result = _laid(one, lines, language) if done else result
        return Merged(None, (), tuple(doubts), Doubtful(tuple(lines), result.readings))
    how = "matched" if any(one.how == "matched" for one in done) else "exact"
    return Merged("\n".join(lines) + end, tuple(merged_parts(before, lines, how)))


def _laid(snippet: Snippet, lines: Sequence[str], language: Language | None) -> Laid:
    if doubt := _other_language(snippet, language):
        return Laid(refused=(doubt,))
    symbols = trees.symbols("\n".join(lines) + "\n", language)
    return laid(snippet, FileIndex(lines), symbols, language)


_FAMILIES = ({"javascript", "typescript", "tsx", "jsx", "js", "ts"}, {"c", "cpp", "c++", "cuda"})


def _other_language(snippet: Snippet, language: Language | None) -> Ambiguity | None:
    """What stands against a snippet whose fence names another language than the file's."""
    named = language_of(f"x.{snippet.language}") or BY_NAME.get(snippet.language.lower())
    if named is None or language is None or named == language:
        return None
    if any({named.name, language.name} <= family for family in _FAMILIES):
        return None
    reason = f"its fence names {named.name}, and the file is {language.name}"
    return Ambiguity(snippet.lines[0].strip(), reason, hint="name the file that it is for")


def merged_parts(before: Sequence[str], after: Sequence[str], how: str) -> Iterator[MergedPart]:
    """The changed lines of a merge."""
    for tag, _, _, c, d in opcodes(before, after):
        if tag != "equal":
            yield MergedPart((c + 1, max(c + 1, d)), how)
