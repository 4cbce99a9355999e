"""Merge a change into the text of a file, without a model."""

from __future__ import annotations

from collections.abc import Sequence

from specedit.edit.apply.change import ChangeHunk, Part, Snippet, read_change
from specedit.edit.apply.laying import Laid, laid
from specedit.edit.apply.merged import Ambiguity, Merged, MergedPart
from specedit.edit.apply.part_places import FileIndex
from specedit.edit.apply.patching import Splice, splices
from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME, Language, language_of
from specedit.syntax.lines import opcodes


def merge(text: str, change: str, name: str) -> Merged:
    """`text`, the file `name`, with a change for it; no text where a part has no single place."""
    parts = [part for one in read_change(change) for part in one.parts]
    return merge_parts(text, parts, name)


def merge_parts(text: str, parts: Sequence[Part], name: str) -> Merged:
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
        if doubt := _other_language(one, language):
            doubts.append(doubt)
            continue
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


_FAMILIES = ({"javascript", "typescript", "tsx", "jsx", "js", "ts"}, {"c", "cpp", "c++", "cuda"})


def _other_language(snippet: Snippet, language: Language | None) -> Ambiguity | None:
    """What stands against a snippet whose fence names another language than the file's."""
    named = language_of(f"x.{snippet.language}") or BY_NAME.get(snippet.language.lower())
    if named is None or language is None or named == language:
        return None
    if any({named.name, language.name} <= family for family in _FAMILIES):
        return None
    reason = f"its fence names {named.name}, and the file is {language.name}"
    return Ambiguity(snippet.lines[0].strip(), reason)


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
