"""Near places: lines that are like an example's, with its change merged in token by token.

They are proposals alone, the most alike first. A near place may have one more argument, another
name or another wrapper, where a rule asks for the same syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from specedit.errors import FileError
from specedit.rename.tree import origin
from specedit.repeat.example import ExampleFile
from specedit.repeat.piece import BYTES
from specedit.repeat.rewriting import NEAR_RULE, Repeated, still_parsing
from specedit.syntax.languages import Language, language_of

MOST_LINES = 6  # of an example's hunk
MOST_NEAR = 50  # places that are shown
MIN_EQUAL_SHARE = 0.5  # share of equal tokens
_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_$][\w$]*|\d[\w.]*|\S")


@dataclass(frozen=True, slots=True)
class NearHunk:
    """Lines of an example that became others. `edits`: tokens [first, last) that become a text."""

    language: Language
    path: str
    line: int  # from 1
    tokens: tuple[str, ...]
    edits: tuple[tuple[int, int, str], ...]
    lines: int

    @property
    def words(self) -> frozenset[str]:
        return frozenset(token for token in self.tokens if token[0].isalpha() or token[0] in "_$")

    @property
    def removed(self) -> frozenset[str]:
        """The words that a place must have."""
        return self.words & {t for first, last, _ in self.edits for t in self.tokens[first:last]}


def hunks_of(example: ExampleFile) -> Iterator[NearHunk]:
    """The hunks of a file that are short enough."""
    olds, news = example.before.split("\n"), example.after.split("\n")
    matcher = SequenceMatcher(None, olds, news, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "replace" or b - a > MOST_LINES or d - c > 2 * MOST_LINES:
            continue
        old, new = "\n".join(olds[a:b]), "\n".join(news[c:d])
        before, after = list(_TOKEN.finditer(old)), list(_TOKEN.finditer(new))
        tokens, others = [m[0] for m in before], [m[0] for m in after]
        edits = []
        for what, i, j, k, last in SequenceMatcher(None, tokens, others, False).get_opcodes():
            if what != "equal":
                start = after[k].start() if k < len(after) else len(new)
                end = after[last].start() if i == j and last < len(after) else 0
                end = max(end, after[last - 1].end() if last > k else start)
                edits.append((i, j, new[start:end] if last > k else ""))
        if edits and tokens:
            yield NearHunk(
                example.language, example.path, a + 1, tuple(tokens), tuple(edits), b - a
            )


def near_places(
    hunks: Sequence[NearHunk],
    names: Iterable[str],
    read: Callable[[str], str],
    taken: Callable[[str, int, int], bool],
) -> dict[str, tuple[str, list[Repeated]]]:
    """The texts of files with near places, those most alike in all files. `taken`: whether bytes
    of a file are a place already, or the example."""
    scored: list[tuple[float, str, Repeated]] = []
    texts: dict[str, str] = {}
    for name in names:
        language = language_of(name)
        fitting = [
            hunk for hunk in hunks if language is None or hunk.language.name == language.name
        ]
        try:
            text = read(name) if fitting else ""
        except FileError:
            continue
        language = language_of(name, text)
        found = [
            near
            for hunk in fitting
            if language is hunk.language and all(word in text for word in hunk.removed)
            for near in _in_text(hunk, text, name)
            if not taken(name, near[1].start, near[1].end)
        ]
        if found and language is not None and not origin(name, text):
            texts[name] = text
            scored += [(share, name, place) for share, place in found]
    scored.sort(key=lambda scored_place: (-scored_place[0], scored_place[1], scored_place[2].start))
    chosen: dict[str, tuple[str, list[Repeated]]] = {}
    count = 0
    for _, name, place in scored:
        places = chosen.setdefault(name, (texts[name], []))[1]
        if count < MOST_NEAR and all(
            place.end <= other.start or other.end <= place.start for other in places
        ):
            places.append(place)
            count += 1
    result = {}
    for name, (text, places) in chosen.items():
        language = language_of(name, text)
        if language is not None and places:
            whole = still_parsing(text, language.name, sorted(places, key=lambda p: p.start), [])
            result[name] = text, whole
    return result


def _in_text(hunk: NearHunk, text: str, name: str) -> Iterator[tuple[float, Repeated]]:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    least = max(1, len(hunk.words) // 2)
    tokens_of = [[m[0] for m in _TOKEN.finditer(line)] for line in lines]
    for number in range(len(lines) - hunk.lines + 1):
        if name == hunk.path and hunk.line - hunk.lines < number + 1 < hunk.line + hunk.lines:
            continue
        tokens = [token for tokens in tokens_of[number : number + hunk.lines] for token in tokens]
        words = hunk.words.intersection(tokens)
        if not tokens or len(words) < least or not words >= hunk.removed:
            continue
        matcher = SequenceMatcher(None, hunk.tokens, tokens, autojunk=False)
        share = matcher.ratio()
        old = text[starts[number] : starts[number + hunk.lines] - 1]
        new = _merged(hunk, old, matcher) if share >= MIN_EQUAL_SHARE else None
        if new is not None and new != old:
            first = len(text[: starts[number]].encode(*BYTES))
            last = first + len(old.encode(*BYTES))
            why = f"it is {round(100 * share)} % like the example"
            yield (
                share,
                Repeated(
                    first,
                    last,
                    number + 1,
                    old.strip(),
                    new,
                    whole_new=new.strip(),
                    kind=why,
                    rule=NEAR_RULE,
                ),
            )


def _merged(hunk: NearHunk, old: str, matcher: SequenceMatcher[str]) -> str | None:
    """The lines with the edits of the example; None where what one replaces is not there."""
    spans = [m.span() for m in _TOKEN.finditer(old)]
    equal: dict[int, int] = {}
    beside: dict[int, int] = {}  # of tokens that differ: which stands in the same place
    for tag, a, b, c, d in matcher.get_opcodes():
        pairs = zip(range(a, b), range(c, d), strict=False)
        (equal if tag == "equal" else beside).update(pairs)
    names = {hunk.tokens[a]: old[slice(*spans[b])] for a, b in beside.items()}
    changes: list[tuple[int, int, str]] = []
    for first, last, new in hunk.edits:
        text = _TOKEN.sub(lambda hit: names.get(hit[0], hit[0]), new)
        if last > first:
            at = [equal.get(number, -1) for number in range(first, last)]
            if -1 in at or at[-1] - at[0] != last - first - 1:
                return None
            start, end = spans[at[0]][0], spans[at[-1]][1]
            if not text and at[-1] + 1 < len(spans):  # what was deleted takes its gap along
                end = spans[at[-1] + 1][0]
            changes.append((start, end, text))
        elif first in equal or first in beside:
            at_right = equal.get(first, beside.get(first, 0))
            changes.append((spans[at_right][0], spans[at_right][0], text))
        elif first and (first - 1 in equal or first - 1 in beside):
            at_left = equal.get(first - 1, beside.get(first - 1, 0))
            changes.append((spans[at_left][1], spans[at_left][1], text))
        else:
            return None
    for start, end, text in sorted(changes, reverse=True):
        old = old[:start] + text + old[end:]
    return old
