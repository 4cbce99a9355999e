"""Merge a change into the text of a file, without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specedit.edit.apply.change import ChangeHunk, Part, Snippet
from specedit.edit.apply.laying import Laid, laid
from specedit.edit.apply.merged import (
    Ambiguity,
    Merged,
    MergedPart,
    Splice,
    joined,
)
from specedit.edit.apply.part_places import FileIndex, weight
from specedit.edit.apply.patching import in_turn, splices
from specedit.syntax import trees
from specedit.syntax.languages import BY_NAME, Language, language_of
from specedit.syntax.lines import opcodes

MOST_IN_TURN = 50  # hunks, each of which compares the file anew


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
        done, refused = splices(hunks, FileIndex(lines), lambda: trees.symbols(text, language))
        lines = joined(lines, done)
    exact = all(splice.how == "exact" for splice in done)
    if refused and 1 < len(hunks) <= MOST_IN_TURN and all(hunk.text for hunk in hunks):
        later = in_turn(hunks, before, lambda body: trees.symbols(f"{body}{end}", language))
        if later is not None:
            lines, exact, refused = later, True, []
    for snippet in (part for part in parts if isinstance(part, Snippet)):
        result = _laid(snippet, lines, language)
        if lines != before and (overlap := _overlap(snippet, before, lines, result, language)):
            refused.append(overlap)
            continue
        refused += result.refused
        exact &= result.exact
        if not result.refused:
            lines = list(result.lines)
    if refused:
        return Merged(None, (), tuple(dict.fromkeys(refused)))
    how = "exact" if exact else "matched"
    return Merged("\n".join(lines) + end, tuple(merged_parts(before, lines, how)))


def _laid(snippet: Snippet, lines: Sequence[str], language: Language | None) -> Laid:
    if doubt := _other_language(snippet, language):
        return Laid(refused=(doubt,))
    return laid(snippet, lines, language)


def _overlap(
    snippet: Snippet,
    before: Sequence[str],
    lines: Sequence[str],
    result: Laid,
    language: Language | None,
) -> Ambiguity | None:
    """The lines of a snippet that the parts before it changed, too. `result`: it on their lines."""
    done = [block for block in opcodes(before, lines) if block[0] != "equal"]
    if result.refused:
        alone = _laid(snippet, before, language)
        blocks = opcodes(before, alone.lines) if not alone.refused else []
        own = [(a, b) for tag, a, b, *_ in blocks if tag != "equal"]
        both = [(a, b) for _, a, b, *_ in done if any(a <= d and c <= b for c, d in own)]
    else:
        both = []
        for tag, a, b, c, d in opcodes(lines, result.lines):
            new = {line.strip() for line in result.lines[c:d] if weight(line) == 1}
            for _, first, last, start, end in done if tag != "equal" else ():
                undone = a <= end and start <= b and new & set(map(str.strip, before[first:last]))
                if max(a, start) < min(b, end) or undone:
                    both.append((first, last))
    if not both:
        return None
    places = tuple((a + 1, max(a + 1, b)) for a, b in dict.fromkeys(both))
    reason = "overlaps with another part of the change"
    return Ambiguity(snippet.lines[0].strip(), reason, places, "make one part of both")


_FAMILIES = ({"javascript", "typescript", "tsx", "jsx", "js", "ts"}, {"c", "cpp", "c++", "cuda"})


def _other_language(snippet: Snippet, language: Language | None) -> Ambiguity | None:
    """An objection to a snippet whose fence names another language than the file's."""
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
