"""Hunks of diffs and SEARCH/REPLACE blocks: find each one's place, and replace its lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from specedit.edit.apply.alignment import NEVER, NO, AlignedLine, Aligner, Costs
from specedit.edit.apply.change import ChangeHunk, replace_hunk
from specedit.edit.apply.lines import KEYS, Ambiguity, FileIndex, Margins, margin, squeezed, weight
from specedit.syntax.lines import places_of
from specedit.syntax.work import spend

MAX_ALTERNATIVES = 40  # alternatives that are looked at
SURE_MARGIN = 0.9  # margin of a hunk's place over the second best
MAX_LINE_PAIRS = 6_000_000  # pairs of lines that are compared
MISQUOTED = 0.75  # least likeness of a line that a change removes, and quotes wrongly
ALMOST = 0.95  # likeness from which on a line counts as equal
MAX_LISTED_PLACES = 8  # places that a message lists
MISSING = "its lines are not in the file"
QUOTE = "quote the lines as the file has them"
NO_CONTEXT = "it shows no line of the file, so nothing says where it belongs"


@dataclass(frozen=True, slots=True)
class HunkPlace:
    """Where a hunk's old side is: for each of its lines the file line, or None."""

    rows: range | tuple[int | None, ...]
    how: str  # "exact" | "matched"

    @property
    def first(self) -> int:
        return next(row for row in self.rows if row is not None)

    @property
    def last(self) -> int:
        return next(row for row in reversed(self.rows) if row is not None)


@dataclass(frozen=True, slots=True)
class Splice:
    """File lines [first, last) that new lines replace."""

    first: int
    last: int
    lines: tuple[str, ...]
    how: str


def joined(lines: Sequence[str], splices: Sequence[Splice]) -> list[str]:
    """The file lines with splices, which are in order and do not overlap."""
    result: list[str] = []
    at = 0
    for splice in splices:
        result += [*lines[at : splice.first], *splice.lines]
        at = splice.last
    return [*result, *lines[at:]]


def splices(hunks: Sequence[ChangeHunk], index: FileIndex) -> tuple[list[Splice], list[Ambiguity]]:
    """The replaced lines of each hunk, and the hunks without one place."""
    hunks = [_of_whole_lines(_with_margins(hunk, index), index) for hunk in hunks]
    places = [_places(hunk, index) for hunk in hunks]
    places = _decided(hunks, places)
    done: list[Splice] = []
    doubts: list[Ambiguity] = []
    for hunk, found in zip(hunks, places, strict=True):
        result = _spliced(hunk, found, index)
        if isinstance(result, Ambiguity):
            doubts.append(result)
        else:
            done.append(_trimmed(result, index.lines))
    ordered = sorted(dict.fromkeys(done), key=lambda splice: splice.first)
    for one, two in pairwise(ordered):
        if one.last > two.first:
            first = two.lines[0] if two.lines else index.lines[two.first]
            reason = "overlaps with another part of the change"
            place = ((one.first + 1, two.last),)
            doubts.append(Ambiguity(first.strip(), reason, place, "make one part of both"))
    return ordered, doubts


def in_turn(hunks: Sequence[ChangeHunk], lines: Sequence[str]) -> list[str] | None:
    """The lines after one hunk after the other, each of which may quote what those before it made;
    None where one has no single place that is exact."""
    for hunk in dict.fromkeys(hunks):
        index = FileIndex(lines)
        done, doubts = splices([hunk], index)
        if doubts or any(splice.how != "exact" for splice in done):
            return None
        lines = joined(lines, done)
    return list(lines)


def _trimmed(splice: Splice, lines: Sequence[str]) -> Splice:
    """A splice without the lines at its ends that stay."""
    first, last, new = splice.first, splice.last, list(splice.lines)
    while first < last and new and new[0] == lines[first]:
        first, new = first + 1, new[1:]
    while first < last and new and new[-1] == lines[last - 1]:
        last, new = last - 1, new[:-1]
    return replace(splice, first=first, last=last, lines=tuple(new))


def _of_whole_lines(hunk: ChangeHunk, index: FileIndex) -> ChangeHunk:
    """A hunk whose old text is part of lines, once in the file: the same with the whole lines."""
    if hunk.text is None or not hunk.text[0].strip():
        return hunk
    if any(place.how == "exact" for place in equal_places(index, hunk.old)):
        return hunk
    old, new = hunk.text
    found, file = index.found(old), index.text
    if len(found) != 1 or _in_word(file, found[0]) or _in_word(file, found[0] + len(old)):
        return hunk
    at, end = found[0], found[0] + len(old)
    first = file.rfind("\n", 0, at) + 1
    last = file.find("\n", end) if "\n" in file[end:] else len(file)
    before, after = file[first:at], file[end:last]
    if not before.strip():
        if not after.strip() and "\n" not in old.strip("\n"):
            return hunk  # whole lines, indented in another way
        if new[:1].isspace():
            before = ""
        elif "\n" not in old:
            new = _indented(new, before)
    return replace_hunk(file[first:last].split("\n"), f"{before}{new}{after}".split("\n"))


def _indented(text: str, margin: str) -> str:
    """A text whose first line is shown without its margin, and perhaps the others, too."""
    first, *others = text.split("\n")
    if all(line.startswith(margin) for line in others if line.strip()):
        return text
    return "\n".join([first, *(f"{margin}{line}" if line.strip() else line for line in others)])


def _in_word(text: str, at: int) -> bool:
    """Whether a name continues over this place."""
    return all(char.isalnum() or char == "_" for char in text[max(0, at - 1) : at + 1].ljust(2))


def _places(hunk: ChangeHunk, index: FileIndex) -> list[HunkPlace]:
    if not any(line.strip() for line in hunk.old):
        return []
    if found := equal_places(index, hunk.old):
        return found
    if len(found := _without_edges(hunk.old, index)) == 1:
        return found
    return _distinct(hunk, similar_places(hunk, index), index)


def _without_edges(old: Sequence[str], index: FileIndex) -> list[HunkPlace]:
    """The places of an old side that begins or ends with blank lines that the file lacks."""
    shown = [number for number, line in enumerate(old) if line.strip()]
    above, below = shown[0], len(old) - shown[-1] - 1
    if not above and not below:
        return []
    return [
        HunkPlace((*(None,) * above, *place.rows, *(None,) * below), "matched")
        for place in equal_places(index, old[above : len(old) - below])
    ]


def _with_margins(hunk: ChangeHunk, index: FileIndex) -> ChangeHunk:
    """A diff's hunk whose context has no column for the sign, read so, if that fits the file."""
    if hunk.bare is None:
        return hunk
    known = index.rows(1)
    fits = [
        sum(sign == " " and bool(text.strip()) and text.rstrip() in known for sign, text in lines)
        for lines in (hunk.lines, hunk.bare)
    ]
    return replace(hunk, lines=hunk.bare) if fits[1] > fits[0] else hunk


def _distinct(hunk: ChangeHunk, places: Sequence[HunkPlace], index: FileIndex) -> list[HunkPlace]:
    """The places that give different texts, blank lines and indentation left out; of several with
    one text the first."""
    whole = [place for place in places if _is_run(place)]
    places = [
        place
        for place in places
        if place in whole or not any(a.first <= place.last and place.first <= a.last for a in whole)
    ]
    filled = [_filled(hunk, place, index, "") for place in places]
    if filled and isinstance(filled[0], Ambiguity):
        return [*places[:1]]
    done = [
        (place, splice)
        for place, splice in zip(places, filled, strict=True)
        if isinstance(splice, Splice)
    ]
    lines, before = index.told  # a change has many hunks, a hunk many places, a file many lines
    low = before[min((splice.first for _, splice in done), default=0)]
    high = before[max((splice.last for _, splice in done), default=0)]
    results: dict[tuple[str, ...], HunkPlace] = {}
    for place, splice in done:
        own = filter(None, map(str.strip, splice.lines))
        first, last = before[splice.first], before[splice.last]
        results.setdefault((*lines[low:first], *own, *lines[last:high]), place)
    return list(results.values())


def _decided(
    hunks: Sequence[ChangeHunk], places: Sequence[list[HunkPlace]]
) -> list[list[HunkPlace]]:
    """The places that order and line numbers leave."""
    result = [list(found) for found in places]
    _by_order(hunks, result)
    shifts = {
        found[0].first - hunk.line
        for hunk, found in zip(hunks, result, strict=True)
        if len(found) == 1 and hunk.line is not None and found[0].rows[0] is not None
    }
    if len(shifts) <= 1:
        shift = next(iter(shifts), -1)
        for hunk, found in zip(hunks, result, strict=True):
            if len(found) > 1 and hunk.line is not None:
                found[:] = [at for at in found if at.rows[0] == hunk.line + shift] or found
    _by_order(hunks, result)
    return result


def _by_order(hunks: Sequence[ChangeHunk], places: list[list[HunkPlace]]) -> None:
    """Leave the places of a diff's hunks that stand after the hunk before, before the next."""
    if not all(hunk.numbered for hunk in hunks):
        return
    low, high = -1, 1 << 40
    for found in places:
        found[:] = [place for place in found if place.first > low or len(found) == 1] or found
        low = found[0].last if len(found) == 1 else low
    for found in reversed(places):
        found[:] = [place for place in found if place.last < high or len(found) == 1] or found
        high = found[0].first if len(found) == 1 else high


def _spliced(hunk: ChangeHunk, found: Sequence[HunkPlace], index: FileIndex) -> Splice | Ambiguity:
    first = next((text.strip() for _, text in hunk.lines if text.strip()), "")
    if len(found) > 1:
        lines = tuple(dict.fromkeys(_lines_of(found)))
        how = "places equally" if len(lines) > 1 else "ways into the same lines"
        return Ambiguity(first, f"fits {len(found)} {how}", lines)
    adds = any(sign == "+" and text.strip() for sign, text in hunk.lines)
    there = equal_places(index, hunk.new) if adds and not (found and _is_run(found[0])) else []
    if found and not any(a.first <= found[0].last and found[0].first <= a.last for a in there):
        return _filled(hunk, found[0], index, first)
    if there:
        reason = f"{MISSING}, and the new ones are"
        return Ambiguity(first, reason, _lines_of(there), "is it applied already?")
    if hunk.text and hunk.text[0].strip() and (parts := index.found(hunk.text[0])):
        rows = [row for row, _ in places_of(index.text, parts)]
        why = "is part of a name" if len(rows) == 1 else f"fits {len(rows)} places equally"
        return Ambiguity(
            first, why, tuple((row, row) for row in dict.fromkeys(rows[:MAX_LISTED_PLACES])), QUOTE
        )
    shows = any(line.strip() for line in hunk.old)
    return Ambiguity(first, MISSING if shows else NO_CONTEXT, hint=QUOTE)


def _is_run(place: HunkPlace) -> bool:
    """Whether a place has all lines of its hunk, one directly below the other."""
    return tuple(place.rows) == tuple(range(place.first, place.last + 1))


def _lines_of(places: Sequence[HunkPlace]) -> tuple[tuple[int, int], ...]:
    return tuple((place.first + 1, place.last + 1) for place in places[:MAX_LISTED_PLACES])


def _filled(hunk: ChangeHunk, place: HunkPlace, index: FileIndex, first: str) -> Splice | Ambiguity:
    """The hunk's new side with the file's own lines where it keeps them."""
    spend(5 * len(hunk.lines))
    pairs = [
        (line, index.lines[row])
        for line, row in zip(hunk.old, place.rows, strict=True)
        if row is not None and squeezed(line) == squeezed(index.lines[row])
    ]
    known = {old.strip(): old for _, old in pairs if old.strip()}
    shown = [text for sign, text in hunk.lines if sign == "+" and text.strip() in known]
    as_shown = shown and all(margin(text) == margin(known[text.strip()]) for text in shown)
    quoted = any(line == old and margin(line) for line, old in pairs)
    margins = Margins([] if as_shown or quoted else pairs)
    result: list[str] = []
    old = hunk.old
    rows = iter(enumerate(place.rows))
    at = place.first
    gone = added = False  # the line before was removed; lines were added after it
    for sign, text in hunk.lines:
        if sign == "+":
            result.append(margins.applied(text))
            added = True
            continue
        line, row = next(rows)
        if row is None and sign == "-" and text.strip():
            reason = f"it removes a line that is not there: {text.strip()[:60]}"
            return Ambiguity(first, reason, hint=QUOTE)
        same = row is not None and squeezed(text) == squeezed(index.lines[row])
        if not same and _is_other_head(old, place, line, index):
            reason = f"the line that it stands under is not there: {text.strip()[:60]}"
            return Ambiguity(first, reason, hint=QUOTE)
        if row is None:
            continue
        skipped = index.lines[at:row]
        if gone and sign == "-" and any(line.strip() for line in skipped):
            reason = "it removes lines around one that it does not show"
            return Ambiguity(first, reason, ((at + 1, row + 1),), QUOTE)
        if not gone or (sign == " " and (hunk.numbered or any(line.strip() for line in skipped))):
            if added and not result[-1].strip() and skipped and not skipped[0].strip():
                skipped = skipped[1:]  # the blank line that the new side adds is there
            result += skipped
        at, added = row + 1, False
        gone = sign == "-"
        result += [] if gone else [index.lines[row]]
    return Splice(place.first, at, tuple(result), place.how)


_CALLED = re.compile(r"(\w+)\(")
_NAMED = re.compile(r"(\w+)\s*[({:<]")


def _is_other_head(old: Sequence[str], place: HunkPlace, line: int, index: FileIndex) -> bool:
    """Whether a line of an old side is the head of the next one, which the file has, and names what
    the file does not have: the next line stands under another head there."""
    held = next((n for n in range(line + 1, len(old)) if old[n].strip()), None)
    if held is None or place.rows[held] is None:
        return False
    name = _NAMED.search(old[line])
    is_held = len(margin(old[held])) > len(margin(old[line]))
    return is_held and name is not None and not index.found(name[1])


def equal_places(index: FileIndex, wanted: Sequence[str]) -> list[HunkPlace]:
    """All places that are equal, by the strictest comparison that finds one."""
    for level in range(len(KEYS)):
        if starts := index.runs(wanted, level):
            how = "matched" if level > 1 else "exact"
            return [HunkPlace(range(at, at + len(wanted)), how) for at in starts]
    return []


def similar_places(hunk: ChangeHunk, index: FileIndex) -> list[HunkPlace]:
    """The best place of a hunk that differs in some lines from the file, and others that are nearly
    as good; none where too little of it is in the file."""
    import numpy as np

    old, lines = hunk.old, index.lines
    if len(old) * len(lines) > MAX_LINE_PAIRS:
        return []
    signs = [sign for sign, _ in hunk.lines if sign != "+"]
    rows, weights = index.rows(3), [weight(line) for line in old]
    scores: list[dict[int, float]] = []  # of each line, by the file lines that it may be
    for n, line in enumerate(old):
        near = {
            row: weights[n] * (ratio - 0.3)
            for row, ratio in index.likeness.rows(line)
            if signs[n] == " " or ratio >= MISQUOTED
        }
        equal = rows.get(squeezed(line), ())
        spend(len(equal) / 10)
        scores.append(near | dict.fromkeys(equal, weights[n]))
    table = np.full((len(old), len(lines)), NO)
    for n, near in enumerate(scores):
        table[n, list(near)] = list(near.values())
    insert = np.array([3.0 if sign == "-" else 0.5 for sign in signs]) * weights
    skips = [0.0, *[NEVER] * (len(old) - 1), 0.0]
    costs = Costs(table, skips, [NEVER] * len(old), insert, 0.3 * np.array(index.weights))
    aligner = Aligner(costs)
    path = aligner.path()
    place = _of_path(path)
    if not _enough(place, old, index, scores, weights):
        return []
    others = sorted(
        islice(aligner.alternatives(path, SURE_MARGIN), MAX_ALTERNATIVES),
        key=lambda other: -other[2],
    )
    return list(
        dict.fromkeys([place, *(_of_path(aligner.path_through(n, at)) for n, at, _ in others)])
    )


def _enough(
    place: HunkPlace,
    old: Sequence[str],
    index: FileIndex,
    scores: Sequence[Mapping[int, float]],
    weights: Sequence[float],
) -> bool:
    """Whether a place holds as much of a hunk as says that it is its place. A line that calls what
    the file does not have is another one."""
    equal = near = 0.0
    for n, row in enumerate(place.rows):
        if row is None:
            continue
        if scores[n].get(row, 0.0) >= weights[n] * (ALMOST - 0.3):
            equal += weights[n]
        elif scores[n].get(row, 0.0) >= weights[n] * (MISQUOTED - 0.3) and all(
            map(index.found, _CALLED.findall(old[n]))
        ):
            near += weights[n]
    return equal >= 1.0 and equal + near >= 0.5 * sum(weights)


def _of_path(path: Sequence[AlignedLine]) -> HunkPlace:
    return HunkPlace(tuple(step.at if step.matched else None for step in path), "matched")
