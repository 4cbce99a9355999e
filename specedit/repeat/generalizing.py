"""From an example to its rules: what its nodes were and became, with holes for what differs.

One example is generalised as little as its own evidence allows: a name or literal on both sides is
a hole, unless it says what is called or read there. What stays fixed must be specific enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from specedit.repeat.evidence import missing_evidence
from specedit.repeat.example import MAX_EXAMPLE_BYTES, NodeChange, is_import_node
from specedit.repeat.origin import FREE, MEMBER, UNKNOWN, Origins
from specedit.repeat.piece import BYTES, Piece, piece_of
from specedit.repeat.roles import (
    ARGUMENTS,
    FIXED_FIELDS,
    SELVES,
    is_callee,
    is_expression,
    is_fixed,
    is_own_name,
    is_part,
    may_vary,
    stands_alone,
    with_parents,
)
from specedit.repeat.rule import RepeatRule, shape

LESS_OF_TWO = 0.3  # weight that two examples of one shape need less
CLIMBS = 4
MOST_RULES = 60  # of one example


def rule_of(change: NodeChange) -> RepeatRule | str:
    """The rule of one change; a text that says why there is none."""
    if not change.old:
        return "only adds lines: nothing says where else they belong"
    if any(is_import_node(node.type) for node in (*change.old, *(old for old, _ in change.above))):
        return "it changes imports, which follow by themselves where names come and go"
    origins = Origins(change.file.before, change.file.language)
    new_origins = Origins(change.file.after, change.file.language)
    wider: NodeChange | None = change
    best: RepeatRule | None = None
    for _ in range(CLIMBS):
        if wider is None:
            break
        if sum(node.end_byte - node.start_byte for node in wider.old) > MAX_EXAMPLE_BYTES:
            break
        if is_part(wider):
            wider = wider.climbed()
            continue
        if (rule := _generalised(wider, origins)) is not None:
            rule = _with_needs(rule, wider, new_origins)
            if not (missing := missing_evidence(rule)):
                return rule
            if best is None or not any(piece.children for piece in best.before):
                best = replace(rule, too_general=missing)
        wider = wider.climbed()
    return best or "what stays the same around it is not specific enough"


def _with_needs(rule: RepeatRule, change: NodeChange, origins: Origins) -> RepeatRule:
    """The rule with what its new side takes for granted at a place."""
    first = change.new[0].start_byte if change.new else 0
    last = change.new[-1].end_byte if change.new else 0
    old = {unit.text for unit in rule.old_units if not unit.hole}
    values = {
        piece.text
        for piece, parent in with_parents(rule.before)
        if is_own_name(piece, parent) and not is_callee(piece, parent)
    }
    needs: dict[str, str] = {}
    for piece, parent in with_parents(rule.after):
        known = old if is_callee(piece, parent) else values
        if piece.hole or piece.children or piece.text in known:
            continue
        if piece.text in SELVES:
            continue
        if piece.is_name and is_own_name(piece, parent):
            declared = origins.declared(piece.text, piece.start)
            if declared is None or not first <= declared.leaf.start < last:
                seen = origins.seen(piece.text, piece.start)
                is_value = piece.text[:1].islower() and stands_alone(piece, parent)
                if seen == FREE and is_value and not origins.is_builtin(piece.text):
                    seen = UNKNOWN
                needs[piece.text] = seen
    members = {
        parent.children[-1].text
        for piece, parent in with_parents(rule.after)
        if parent is not None and piece.text in SELVES and len(parent.children) > 1
    } - old
    if any(unit.text in SELVES for unit in rule.old_units):
        members = set()  # the place has the same object, with what the rule reads of it
    return replace(
        rule,
        needs=tuple(needs.items()) + tuple((f"self.{name}", MEMBER) for name in members if name),
    )


def _piece(node: object, change: NodeChange, *, old: bool) -> Piece:
    data = (change.file.before if old else change.file.after).encode(*BYTES)
    return piece_of(node, data, change.file.language.name)  # type: ignore[arg-type]


def _generalised(change: NodeChange, origins: Origins) -> RepeatRule | None:
    """The rule with holes."""
    old = tuple(_piece(node, change, old=True) for node in change.old)
    new = tuple(_piece(node, change, old=False) for node in change.new)
    common = {inner.key for piece in new for inner in piece.walk() if inner.named}
    unchanged = _unchanged(old, new)
    around_lists = {
        (parent.kind, piece.key)
        for piece, parent in with_parents(new)
        if parent is not None and piece.kind.endswith(ARGUMENTS)
    }
    holes: dict[object, str] = {}

    def opened(piece: Piece, parent: Piece | None, *, before: bool) -> Piece:
        if piece.named and parent is not None:
            key: object = unchanged.get(id(piece), piece.key)
            known = key in holes
            if before and not known and piece.key in common and may_vary(piece):
                known = not is_fixed(piece, parent, origins)
                if piece.kind.endswith(ARGUMENTS):  # another kind of call takes as many as it takes
                    known = known and (parent.kind, piece.key) in around_lists
                if known:
                    holes[key] = f"${_letter(len(holes))}"
            if known and (before or key in holes):
                kind = "" if is_expression(piece.kind) else piece.kind
                if not (before and is_fixed(piece, parent, origins)):
                    return piece.as_hole(holes[key], kind)
        if not piece.children:
            return piece
        return piece.with_children([opened(c, piece, before=before) for c in piece.children])

    top = Piece("", named=False) if len(old) > 1 else None
    before = tuple(opened(piece, top, before=True) for piece in old)
    used = {unit.hole for piece in before for unit in piece.units() if unit.hole}
    for key, name in list(holes.items()):
        if name not in used:
            del holes[key]
    top = Piece("", named=False)
    after = tuple(opened(piece, top, before=False) for piece in new)
    if shape(before) == shape(after):
        return None
    old_source, new_source = change.file.before.encode(*BYTES), change.file.after.encode(*BYTES)
    first = change.old[0].start_byte
    line = old_source[old_source.rfind(b"\n", 0, first) + 1 : first]
    names = {
        piece.text: origins.of(piece.text)
        for piece, parent in with_parents(before)
        if piece.is_name and not piece.hole and is_own_name(piece, parent)
        if piece.text not in SELVES and piece.text != "_"
    }
    written: tuple[tuple[str, int, bytes], ...] = ()
    if change.new:
        start, end = change.new[0].start_byte, change.new[-1].end_byte
        written = ((change.file.path, start, new_source[start:end]),)
    return RepeatRule(
        change.file.language.name,
        before,
        after,
        old_source,
        new_source,
        indentation=line[: len(line) - len(line.lstrip())].decode("utf-8", "replace"),
        origins=names,
        examples=((change.file.path, change.line),),
        written=written,
    )


def _unchanged(old: Sequence[Piece], new: Sequence[Piece]) -> dict[int, object]:
    """For pieces that stay where they are, and whose tokens occur nowhere else in what changes, a
    number for each pair: two equal literals in two arguments are two holes."""
    pairs: list[tuple[Piece, Piece]] = []
    changed: list[Piece] = []

    def compare(olds: Sequence[Piece], news: Sequence[Piece]) -> None:
        matcher = SequenceMatcher(None, [o.key for o in olds], [n.key for n in news], False)
        for tag, a, b, c, d in matcher.get_opcodes():
            for one, other in zip(olds[a:b], news[c:d], strict=False):
                if tag == "equal":
                    pairs.append((one, other))
                elif one.kind == other.kind and one.children and other.children:
                    compare(one.children, other.children)
                else:
                    changed.extend((one, other))
            rest = min(b - a, d - c)
            changed.extend((*olds[a + rest : b], *news[c + rest : d]))

    compare(old, new)
    words = {piece.key for root in changed for piece in root.walk()}
    result: dict[int, object] = {}
    for number, (one, other) in enumerate(pairs):
        for number_below, (a, b) in enumerate(zip(one.walk(), other.walk(), strict=True)):
            if a.key not in words:
                result[id(a)] = result[id(b)] = (number, number_below)
    return result


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"H{number}"


def unified(rule: RepeatRule, other: RepeatRule) -> RepeatRule | None:
    """The rule of two examples of one shape; None where they are not of one shape."""
    if rule.language != other.language or len(rule.before) != len(other.before):
        return None
    if len(rule.after) != len(other.after):
        return None
    table: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}

    def joined(a: Piece, b: Piece, *, old: bool) -> Piece | None:
        if not a.hole and not b.hole and a.kind == b.kind:
            if not a.children and not b.children and a.text == b.text:
                return a
            if a.children and len(a.children) == len(b.children):
                size = len(table)
                below = [joined(c, d, old=old) for c, d in zip(a.children, b.children, strict=True)]
                kept = [child for child in below if child is not None]
                if len(kept) == len(below):
                    return a.with_children(kept)
                for key in list(table)[size:]:
                    del table[key]
        if not (a.named and b.named):
            return None
        pair = (a.key, b.key)
        if old:
            table.setdefault(pair, f"${_letter(len(table))}")
        if pair not in table:
            return None
        kinds = {"" if is_expression(kind) else kind for kind in (a.kind, b.kind)}
        if len(kinds) > 1:
            return None
        return a.as_hole(table[pair], kinds.pop())

    before = [joined(a, b, old=True) for a, b in zip(rule.before, other.before, strict=True)]
    after = [joined(a, b, old=False) for a, b in zip(rule.after, other.after, strict=True)]
    if None in before or None in after or any(piece and piece.hole for piece in before):
        return None
    olds = tuple(piece for piece in before if piece is not None)
    used = {unit.hole for piece in after if piece for unit in piece.units()}
    units_before = [unit for piece in olds for unit in piece.units()]
    if any(unit.hole and unit.hole not in used and _names_what(unit) for unit in units_before):
        return None  # what is called or read differs
    news = tuple(piece for piece in after if piece is not None)
    units = [unit for piece in news for unit in piece.units()]
    if len(units) != len(rule.new_units):
        return None  # a hole took in several units: their texts are of the first example
    names = {
        name: origin
        for name, origin in rule.origins.items()
        if any(unit.text == name for piece in olds for unit in piece.units())
    }
    return replace(
        rule,
        before=olds,
        after=news,
        origins=names,
        examples=(*rule.examples, *other.examples),
        written=(*rule.written, *other.written),
    )


def _names_what(piece: Piece) -> bool:
    return piece.field in FIXED_FIELDS or piece.field == "name"


def rules_of(
    changes: Sequence[NodeChange],
) -> tuple[list[RepeatRule], list[tuple[NodeChange, str]]]:
    """The rules of an example's changes, those of one shape together, and the changes that are
    none, each with the reason."""
    rules: dict[object, RepeatRule] = {}
    none: list[tuple[NodeChange, str]] = []
    for change in changes:
        rule = rule_of(change)
        if isinstance(rule, str):
            none.append((change, rule))
        elif (known := rules.get(rule.key)) is not None:
            rules[rule.key] = replace(
                known,
                examples=(*known.examples, *rule.examples),
                written=(*known.written, *rule.written),
            )
        else:
            rules[rule.key] = rule
    joined: list[RepeatRule] = []
    for rule in list(rules.values())[:MOST_RULES]:
        for number, known in enumerate(joined):
            both = unified(known, rule)
            if both is not None and not missing_evidence(both, less=LESS_OF_TWO):
                joined[number] = replace(both, too_general="")
                break
        else:
            joined.append(rule)
    return joined, none
