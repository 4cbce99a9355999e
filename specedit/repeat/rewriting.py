"""Rewrites the places of a rule in one text, and checks that each became what the rule says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specedit.repeat.example import is_import_node
from specedit.repeat.matching import Match, matches, outermost, tree_of
from specedit.repeat.origin import FILE, FREE, IMPORT, LOCAL, MEMBER, Origins
from specedit.repeat.piece import BYTES
from specedit.repeat.rule import RepeatRule, covers
from specedit.syntax.languages import BY_NAME
from specedit.syntax.lines import common

if TYPE_CHECKING:
    from tree_sitter import Node

NEAR_RULE = -1  # of no rule, but of lines that are like the example's
MOST_PARSES = 30  # of one file, to find the places that do not parse


@dataclass(frozen=True, slots=True)
class Repeated:
    """One place of a text that a rule changes: bytes [start, end) become `new`."""

    start: int
    end: int
    line: int
    old: str
    new: str
    holes: tuple[tuple[int, int], ...] = ()  # bytes of `new` that come from the place
    whole_new: str = ""  # what `old` becomes; `new` may be a part of it
    kind: str = ""  # of a proposal: those of one kind are asked about together
    rule: int = 0  # which of several rules it is of, or `NEAR_RULE`


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text's places, and the lines that fit and stay, each with the reason. `parsed`: the text
    with all places, where it has no more syntax errors than before."""

    places: tuple[Repeated, ...] = ()
    skipped: tuple[tuple[int, str], ...] = ()
    parsed: str = ""


def rewritten(rule: RepeatRule, text: str, path: str = "") -> Rewritten:
    """Every place of the rule in the text of a file. What a user wrote as a pattern is meant; what
    an example comes to is proposed (docs/research/2026-11-repeat.md: 10 to 40 % were wrong)."""
    root = tree_of(text, rule.language)
    found = matches(rule, text, rule.before, root)
    if not found:
        return Rewritten()
    data = text.encode(*BYTES)
    here = Origins(text, BY_NAME[rule.language])
    others = [
        name
        for name, origin in rule.origins.items()
        if not here.agrees(name, origin) and any(u.text == name for u in rule.old_units)
    ]
    lines = [data.count(b"\n", 0, match.start) + 1 for match in found]
    if others:
        why = f"`{others[0]}` is something else in this file"
        return Rewritten(skipped=tuple((line, why) for line in lines))
    skipped: list[tuple[int, str]] = []
    kept: list[Match] = []
    done = [] if rule.fits_its_result else _done_before(rule, root, data)
    general = len(rule.after) == 1 and covers(rule.after[0], rule.before[0])
    own = [
        (start, start + len(new))
        for example, start, new in rule.written
        if example == path and data[start : start + len(new)] == new
    ]
    for match, line in zip(found, lines, strict=True):
        if any(start < match.end and match.start < end for start, end in own):
            continue  # the example itself
        if any(
            start <= match.start
            and match.end <= end
            and not (general and (start, end) == (match.start, match.end))
            for start, end in done
        ):
            skipped.append((line, "it is as the example made it already"))
        elif any(bad.has_error for bad in _around(root, match)):
            skipped.append((line, "the code there does not parse"))
        elif why := _means_other(rule, match, root, here, path):
            skipped.append((line, why))
        elif _loses_comment(rule, match, root):
            skipped.append((line, "a comment in it would be lost"))
        else:
            kept.append(match)
    places: list[Repeated] = []
    while kept:  # what is inside a place, such as in its hole, may be a place of its own
        layer = outermost(kept)
        taken = {(match.start, match.end) for match in layer}
        kept = [match for match in kept if (match.start, match.end) not in taken]
        for place in _checked(rule, data, layer, skipped):
            if why := _stays(rule, place, data):
                skipped.append((place.line, why))
                continue
            least = _changed_part(replace(place, kind=_kind(rule, place, path)))
            if all(least.end <= other.start or other.end <= least.start for other in places):
                places.append(least)
            else:
                skipped.append((place.line, "it is inside another place; run it again"))
    places.sort(key=lambda place: place.start)
    new = applied(text, places)
    parses = _faults(tree_of(new, rule.language)) <= _faults(root)
    return Rewritten(tuple(places), tuple(sorted(skipped)), new if parses else "")


def _kind(rule: RepeatRule, place: Repeated, path: str) -> str:
    """What the place of an example has in common with those that are asked about together; "" for a
    place of a pattern."""
    if not rule.examples:
        return ""
    is_same = "".join(place.old.split()) == "".join(rule.old_text.split())
    is_own = not path or any(path == example for example, _ in rule.examples)
    text = "the example's text" if is_same else place.kind
    return f"{text} in {'its file' if is_own else 'another file'}"


def _stays(rule: RepeatRule, place: Repeated, data: bytes) -> str:
    """Why a place must not become its new text; "" where it may."""
    old, new = "".join(place.old.split()), "".join(place.new.split())
    added = new.removeprefix(old)
    if _assigns_itself(data, place):
        return "it would be assigned to itself"
    if added != new and added.startswith(".") and old.endswith(added):
        return "it ends with what the example appends"
    if rule.binds_this and {"this", "arguments"} & set(re.findall(r"\w+", place.old)):
        return "`this` or `arguments` is something else in an arrow function"
    return ""


def _changed_part(place: Repeated) -> Repeated:
    """The place without the text at its ends that stays as it is."""
    first = common(place.old, place.new)
    old, new = place.old[first:], place.new[first:]
    last = common(old[::-1], new[::-1])
    return replace(
        place,
        start=place.start + len(place.old[:first].encode(*BYTES)),
        end=place.end - len(old[len(old) - last :].encode(*BYTES)),
        new=new[: len(new) - last],
        whole_new=place.new,
    )


def _assigns_itself(data: bytes, place: Repeated) -> bool:
    """Whether the new text would stand on both sides of one assignment."""
    start, end = data.rfind(b"\n", 0, place.start) + 1, data.find(b"\n", place.end)
    before = data[start : place.start].decode("utf-8", "replace").split()
    after = data[place.end : end if end >= 0 else len(data)].decode("utf-8", "replace").split()
    new = place.new.strip()
    if len(before) > 1 and before[-1] in ("=", ":="):
        return before[-2] == new and "".join(after) in ("", ";")
    return len(after) == 2 and after[0] in ("=", ":=") and after[1].rstrip(";") == new


_DECLARES = ("parameter", "declarator", "_declaration", "_definition", "_item", "_spec")


def _means_other(rule: RepeatRule, match: Match, root: Node, here: Origins, path: str) -> str:
    """Why a place that fits is none; "" where it is one."""
    node = root.descendant_for_byte_range(match.start, match.end)
    while (
        node is not None
        and node.parent is not None
        and ((node.parent.start_byte, node.parent.end_byte) == (match.start, match.end))
    ):
        node = node.parent
    parent = node.parent if node is not None else None
    if node is not None and len(rule.before) == 1 and rule.before[0].is_name:
        up = parent
        declares = parent is not None and parent.type.endswith(_DECLARES)
        if parent is not None and declares and node in parent.children_by_field_name("name"):
            return "it is declared there"
        while up is not None:
            if is_import_node(up.type):
                return "it is an import"
            up = up.parent
    brought = {name.removeprefix("self.") for name, _ in rule.needs}
    while parent is not None:
        name_node = parent.child_by_field_name("name")
        name = (name_node.text or b"").decode(*BYTES) if name_node is not None else ""
        if name in brought and parent.child_by_field_name("body") is not None:
            return f"it is in the definition of `{name}`, which the change brings in"
        parent = parent.parent
    in_example = any(path == example for example, _ in rule.examples)
    for name, origin in rule.needs:
        if name.startswith("self."):
            continue
        seen = here.seen(name, match.start)
        if origin == LOCAL and seen in (FREE, FILE, IMPORT):
            return f"there is no `{name}` there"
        if origin == MEMBER and seen == FREE and not in_example:
            return f"there is no `{name}` there"
        if origin in (FILE, IMPORT, FREE) and seen == LOCAL:
            return f"`{name}` is something else there"
    return ""


def applied(text: str, places: Sequence[Repeated]) -> str:
    """The text with these places rewritten."""
    data = text.encode(*BYTES)
    for place in sorted(places, key=lambda place: place.start, reverse=True):
        new = place.new.encode(*BYTES)
        data = data[: place.start] + new + data[place.end :]
    return data.decode(*BYTES)


def _around(root: Node, match: Match) -> list[Node]:
    node = root.descendant_for_byte_range(match.start, match.end)
    return [node] if node is not None else []


def _done_before(rule: RepeatRule, root: Node, data: bytes) -> list[tuple[int, int]]:
    """Where the text already is what the rule writes: only asked where that fits the rule again."""
    if not rule.after or rule.after[0].hole:
        return []
    text = data.decode(*BYTES)
    return [(place.start, place.end) for place in matches(rule, text, rule.after, root)]


def _loses_comment(rule: RepeatRule, match: Match, root: Node) -> bool:
    """Whether a comment stands between units that the rule does not keep next to each other."""
    waiting, comments = _around(root, match), []
    while waiting:
        node = waiting.pop()
        if node.end_byte <= match.start or node.start_byte >= match.end:
            continue
        if "comment" in node.type:
            comments.append((node.start_byte, node.end_byte))
        waiting.extend(node.children)
    kept = {rule.kept[n] for n in rule.kept if rule.kept.get(n + 1) == rule.kept[n] + 1}
    for start, end in comments:
        inside = any(a <= start and end <= b for a, b in match.spans)
        between = any(
            number + 1 < len(match.spans)
            and match.spans[number][1] <= start
            and end <= match.spans[number + 1][0]
            for number in kept
        )
        if not inside and not between:
            return True
    return False


def _checked(
    rule: RepeatRule, data: bytes, found: Sequence[Match], skipped: list[tuple[int, str]]
) -> list[Repeated]:
    """The places whose new text has the shape that the rule says, with parentheses around what a
    hole holds where it needs them."""
    waiting, results = list(found), []
    for parenthesized in (False, True):
        places = [_place(rule, data, match, parenthesized=parenthesized) for match in waiting]
        good = _fitting(rule, data, places)
        results += [place for place, fits_ in zip(places, good, strict=True) if fits_]
        waiting = [match for match, fits_ in zip(waiting, good, strict=True) if not fits_]
        if not waiting or not any(unit.hole for unit in rule.new_units):
            break
    for match in waiting:
        line = data.count(b"\n", 0, match.start) + 1
        skipped.append((line, "what stands there does not fit into the new form"))
    results.sort(key=lambda place: place.start)
    return still_parsing(data.decode(*BYTES), rule.language, results, skipped)


def still_parsing(
    text: str, language: str, places: list[Repeated], skipped: list[tuple[int, str]]
) -> list[Repeated]:
    """The places after which a text has no more syntax errors than before."""
    faults, parses = _faults(tree_of(text, language)), 0

    def parsing(some: list[Repeated]) -> list[Repeated]:
        nonlocal parses
        parses += 1
        if not some or _faults(tree_of(applied(text, some), language)) <= faults:
            return some
        if len(some) == 1 or parses > MOST_PARSES:
            skipped.extend((place.line, "the new text would not parse") for place in some)
            return []
        half = len(some) // 2
        return [*parsing(some[:half]), *parsing(some[half:])]

    return parsing(places)


def _faults(root: Node) -> int:
    count, waiting = 0, [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        count += node.is_error or node.is_missing
        waiting.extend(child for child in node.children if child.has_error or child.is_missing)
    return count


def _fitting(rule: RepeatRule, data: bytes, places: Sequence[Repeated]) -> list[bool]:
    """Whether in each place, all of them written, the new text is whole nodes, and so is what each
    hole holds: nothing binds stronger across their ends."""
    if not rule.after:
        return [True] * len(places)
    after = applied(data.decode(*BYTES), places)
    root = tree_of(after, rule.language)
    shift, results = 0, []
    for place in sorted(places, key=lambda place: place.start):
        start = place.start + shift
        size = len(place.new.encode(*BYTES))
        shift += size - (place.end - place.start)
        # Otherwise something stays before it.
        replaced_whole = len(rule.after) == 1 and not rule.receivers
        spans = [(start, start + size)] if replaced_whole else []
        spans += [(start + first, start + last) for first, last in place.holes if last > first]
        results.append(all(_is_whole(root, *span) for span in spans))
    return results


def _is_whole(root: Node, start: int, end: int) -> bool:
    """Whether bytes [start, end) are one node, or neighbours in one."""
    node = root.descendant_for_byte_range(start, end)
    if node is None or node.has_error:
        return False
    if (node.start_byte, node.end_byte) == (start, end):
        return True
    starts = {child.start_byte for child in node.children}
    ends = {child.end_byte for child in node.children}
    separated = any(child.type == "," for child in node.children)
    return start in starts and end in ends and (separated or node.type.endswith("string"))


def _place(rule: RepeatRule, data: bytes, match: Match, *, parenthesized: bool) -> Repeated:
    def text_at(start: int, end: int) -> str:
        return data[start:end].decode(*BYTES)

    line_start = data.rfind(b"\n", 0, match.start) + 1
    line = text_at(line_start, match.start)
    indentation = line[: len(line) - len(line.lstrip())]
    holes = {
        unit.hole: text_at(*span)
        for unit, span in zip(rule.old_units, match.spans, strict=True)
        if unit.hole
    }
    old_gaps = [
        text_at(span[1], other[0])
        for span, other in zip(match.spans, match.spans[1:], strict=False)
    ]
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    size = 0
    dropped = {  # the comma after a hole that holds nothing
        number + 1
        for number, unit in enumerate(rule.new_units)
        if unit.many and not holes[unit.hole]
    }
    for number, unit in enumerate(rule.new_units):
        if number in dropped and unit.text == ",":
            continue
        at = rule.kept.get(number)
        if unit.hole:
            text = holes[unit.hole]
            wraps = parenthesized and not text.isidentifier() and text[:1] not in "(\"'["
            text = f"({text})" if wraps else text
        else:
            text = text_at(*match.spans[at]) if at is not None else rule.texts[number]
        parts.append(text)
        start, size = size, size + len(text.encode(*BYTES))
        if unit.hole:
            spans.append((start, size))
        if number < len(rule.gaps) and not (unit.hole and not holes[unit.hole]):
            gap = _gap(rule, number, old_gaps)
            if gap is rule.gaps[number]:
                gap = gap.replace(f"\n{rule.indentation}", f"\n{indentation}")
            parts.append(gap)
            size += len(gap.encode(*BYTES))
    start, end = match.start, match.end
    new = "".join(parts)
    if not rule.after:
        start, end = _whole_line(data, start, end)
    line_number = data.count(b"\n", 0, match.start) + 1
    old = text_at(match.start, match.end)
    kind = "text of its form" if match.is_alike else "text of another form"
    return Repeated(start, end, line_number, old, new, tuple(spans), kind=kind)


def _gap(rule: RepeatRule, number: int, old_gaps: Sequence[str]) -> str:
    """The text after a unit of the new side: what the place has there, where the example did
    not change it."""
    at, after = rule.kept.get(number), rule.kept.get(number + 1)
    if at is not None and after == at + 1:
        return old_gaps[at]
    left, right = rule.new_units[number].text, rule.new_units[number + 1].text
    may_break = left in ("(", "[", "{", ",") or right in (")", "]", "}")
    for old in (at, None if after is None else after - 1):
        if old is not None and 0 <= old < len(old_gaps):
            is_break = "\n" in old_gaps[old]
            if may_break if is_break else rule.gaps[number] == rule.old_gaps[old]:
                return old_gaps[old]
    return rule.gaps[number]


def _whole_line(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The span with its line, where nothing else stands on it."""
    first = data.rfind(b"\n", 0, start) + 1
    last = data.find(b"\n", end)
    last = len(data) if last < 0 else last + 1
    if data[first:start].strip() or data[end:last].strip():
        return start, end
    return first, last
