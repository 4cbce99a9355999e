"""A rule: what an example's nodes were and became, with holes for what differs from place to place.

One example is generalised as little as its own evidence allows: a name or literal on both sides is
a hole, unless it says what is called or read there. What stays fixed must be specific enough.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from specedit.import_time import frozen, regex
from specedit.repeat.example import LARGEST, NodeChange, is_import_node, tokens
from specedit.repeat.origin import FILE, FREE, LOCAL, MEMBER, Origins, is_import
from specedit.repeat.piece import Piece, is_word, piece_of

ENOUGH = 1.0  # weight of what is fixed in a rule
LESS_OF_TWO = 0.3  # weight that two examples of one shape need less
CLIMBS = 4
MOST_RULES = 60  # of one example
SELVES = frozenset({"self", "this", "super", "cls", "base", "Self"})
_FIXED_FIELDS = frozenset(
    {"function", "attribute", "property", "method", "constructor", "field", "macro", "key", "label"}
)
_RECEIVERS = frozenset({"object", "operand", "receiver", "expression", "scope", "path", "value"})
_DECLARING = ("declarator", "parameter", "assignment", "declaration", "let", "pattern", "binding")
MEMBERS = ("attribute", "member", "selector", "field_expression", "navigation", "scoped", "access")
_EXPRESSIONS = (
    *("expression", "identifier", "literal", "call", "attribute", "subscript", "operator"),
    *("access", "invocation", "type", "string", "integer", "float", "number", "lambda", "tuple"),
    *("dictionary", "array", "object", "true", "false", "none", "null", "nil", "self", "this"),
    *("comprehension", "constant", "name", "generic_name", "selector", "literal_value", "symbol"),
)
_DEFINING = ("_declaration", "_definition", "_item", "_spec")
_MORE_EXPRESSIONS = frozenset({"list", "set", "await", "hash", "lambda_literal", "function"})
_COMMON = frozenset(  # members that many types have
    {
        *("tostring", "tostr", "toowned", "tolist", "toarray", "tojson", "tobytes", "asstr"),
        *("getname", "getid", "getvalue", "gettype", "getkey", "getclass", "getitem", "setitem"),
        *("setname", "setvalue", "startswith", "endswith", "isempty", "hashcode", "compareto"),
        *("asref", "unwrapor", "intoiter", "indexof", "lastindexof", "tolowercase", "haskey"),
        *("touppercase", "addall", "foreach", "putall", "removeall"),
    }
)
ARGUMENTS = ("argument_list", "arguments")  # kinds of lists of arguments
_CAMEL = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def is_expression(kind: str) -> bool:
    return kind in _MORE_EXPRESSIONS or kind.endswith(_EXPRESSIONS)


@frozen
class RepeatRule:
    """What to look for, and what to write there."""

    language: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    gaps: tuple[str, ...]  # of the example, between the units of `after`
    texts: tuple[str, ...]  # of the units of `after`, as the example writes them
    old_text: str  # of `before`, with holes, in one line
    indentation: str = ""  # of the example's first line
    origins: Mapping[str, str] = field(default_factory=dict)  # of the names it looks for
    needs: tuple[tuple[str, str], ...] = ()  # names only in `after`, with their origins
    owner: str | None = None  # the class whose own member it is about
    folder: str | None = None  # a written path counts from it: elsewhere is doubtful
    parent: str = ""  # the kind of the node around a place, where that decides what is meant
    doubt: str = ""  # why its places are only proposals
    sure: tuple[tuple[str, str], ...] = ()  # what holes hold at places that are none
    examples: tuple[tuple[str, int], ...] = ()  # path and line
    written: tuple[tuple[str, int, bytes], ...] = ()  # of the examples: path, first byte, new text
    receivers: bool = False  # hand-written: its first name may be a member

    @cached_property
    def old_units(self) -> tuple[Piece, ...]:
        return tuple(unit for one in self.before for unit in one.units())

    @cached_property
    def new_units(self) -> tuple[Piece, ...]:
        return tuple(unit for one in self.after for unit in one.units())

    @cached_property
    def kept(self) -> dict[int, int]:
        """For each unit of `after` that stands in `before`, too, its number there."""
        old = [unit.hole or unit.text for unit in self.old_units]
        new = [unit.hole or unit.text for unit in self.new_units]
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        return {b + n: a + n for a, b, size in blocks for n in range(size)}

    @cached_property
    def anchor(self) -> str:
        """The longest word that every place holds; "" where there is none."""
        words = [u.text for u in self.old_units if not u.hole and is_word(u.text) and u.named]
        more = [u.text for u in self.old_units if not u.hole and is_word(u.text)]
        return max(words or more, key=len, default="")

    @cached_property
    def fits_its_result(self) -> bool:
        """Whether only what the holes hold tells a place from what is written there."""
        return _shape(self.before, names=False) == _shape(self.after, names=False)

    @property
    def key(self) -> object:
        return self.language, _shape(self.before), _shape(self.after)

    def shown(self) -> tuple[str, str]:
        """Both sides as text, with holes."""
        return self.old_text, _joined(self.new_units, self.texts, self.gaps)


def _joined(units: Sequence[Piece], texts: Sequence[str], gaps: Sequence[str]) -> str:
    """Units with what stands between them, in one line."""
    parts = []
    for number, unit in enumerate(units):
        parts.append(unit.hole or texts[number])
        if number < len(gaps):
            parts.append(" " if "\n" in gaps[number] else gaps[number])
    return "".join(parts)


def pieces_text(pieces: Sequence[Piece], data: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The text of each unit, and what stands between them."""
    units = [unit for piece in pieces for unit in piece.units()]
    texts = tuple(data[unit.start : unit.end].decode("utf-8", "replace") for unit in units)
    gaps = tuple(
        data[one.end : other.start].decode("utf-8", "replace") for one, other in pairwise(units)
    )
    return texts, gaps


def _shape(pieces: Sequence[Piece], *, names: bool = True) -> tuple[object, ...]:
    """Kinds, texts and holes of pieces; `names`: which hole each is."""
    return tuple(
        (
            piece.kind,
            piece.hole if names else bool(piece.hole),
            piece.text,
            _shape(piece.children, names=names),
        )
        for piece in pieces
    )


# from one change


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
        data = wider.file.before.encode("utf-8", "surrogatepass")
        size = sum(len(tokens(node, data, wider.file.language.name)) for node in wider.old)
        if size > LARGEST:
            break
        if _is_part(wider):
            wider = wider.climbed()
            continue
        for level in (OPEN, NAMED, STRICT):
            rule = _generalised(wider, origins, level)
            if rule is None:
                continue
            rule = _with_needs(rule, wider, new_origins, origins)
            missing = _missing(rule)
            if not missing and level == OPEN and (names := _defined(wider, rule)):
                return replace(rule, doubt=ANY_DEFINITION, sure=names)
            if not missing:
                return rule
            if best is None or not any(piece.children for piece in best.before):
                best = replace(rule, doubt=missing)
        wider = wider.climbed()
    return best or "what stays the same around it is not specific enough"


ANY_DEFINITION = "any definition of this form is a place"


def _defined(change: NodeChange, rule: RepeatRule) -> tuple[tuple[str, str], ...]:
    """The holes of a rule that are names of definitions, each with the example's name."""
    data = change.file.before.encode("utf-8", "surrogatepass")
    return tuple(
        (piece.hole, data[piece.start : piece.end].decode("utf-8", "replace"))
        for piece, parent in _with_parents(rule.before)
        if piece.hole and piece.field == "name" and parent and parent.kind.endswith(_DEFINING)
    )


OPEN, NAMED, STRICT = 0, 1, 2  # holes for names of definitions; for local receivers; for neither


def _is_part(change: NodeChange) -> bool:
    """Whether what changed says nothing without the node around it: a list, a member's name."""
    if len(change.old) != 1 or not change.above:
        return False
    node = change.old[0]
    if node.type.endswith(_PARTS) or node.type in ("block", "pair", "case"):
        return True
    parent = node.parent
    if parent is None or node.child_count:
        return False
    if not node.is_named:
        return True
    is_member = any(word in parent.type for word in MEMBERS) and parent.children[0].id != node.id
    return is_member or parent.type in ("method_invocation", "call", "generic_name")


_PARTS = (
    *("argument_list", "arguments", "parameters", "parameter_list", "_list", "expression_list"),
    *("keyword_argument", "argument", "_arguments", "initializer", "declarator", "token_tree"),
    *("formal_parameter", "parameter", "field_initializer", "type_annotation", "value_spec"),
)


def _is_callee(piece: Piece, parent: Piece | None) -> bool:
    return piece.field in ("function", "method") or (
        parent is not None and parent.kind == "method_invocation" and piece.field == "name"
    )


def _with_needs(
    rule: RepeatRule, change: NodeChange, origins: Origins, old_origins: Origins
) -> RepeatRule:
    """The rule with what its new side takes for granted at a place."""
    first = change.new[0].start_byte if change.new else 0
    last = change.new[-1].end_byte if change.new else 0
    old = {unit.text for unit in rule.old_units if not unit.hole}
    values = {
        piece.text
        for piece, parent in _with_parents(rule.before)
        if piece.is_name and not _is_callee(piece, parent)
    }
    needs: dict[str, str] = {}
    selves = ""
    for piece, parent in _with_parents(rule.after):
        known = old if _is_callee(piece, parent) else values
        if piece.hole or piece.children or piece.text in known:
            continue
        if piece.text in SELVES:
            selves = piece.text
        elif piece.kind in ("instance_variable", "class_variable", "global_variable"):
            needs[f"self.{piece.text}"] = MEMBER
        elif piece.is_name and _is_own_name(piece, parent):
            declared = origins.declared(piece.text, piece.start)
            if declared is None or not first <= declared.leaf.start < last:
                seen = origins.seen(piece.text, piece.start)
                is_value = piece.text[:1].islower() and _stands_alone(piece, parent)
                if seen == FREE and is_value and not origins.is_builtin(piece.text):
                    seen = UNKNOWN
                needs[piece.text] = seen
    texts = [text.lstrip("rbuf") for text in rule.texts]
    relative = any(text[1:3] == "./" or text[1:4] == "../" for text in texts if text not in old)
    members = {
        parent.children[-1].text
        for piece, parent in _with_parents(rule.after)
        if parent is not None and piece.text in SELVES and len(parent.children) > 1
    } - old
    if any(unit.text in SELVES for unit in rule.old_units):
        members = set()  # the place has the same object, with what the rule reads of it
    around = change.old[0].parent if change.old else None
    own = [
        parent.children[-1].text
        for piece, parent in _with_parents(rule.before)
        if parent is not None and piece.text in SELVES and len(parent.children) > 1
    ]
    at = change.old[0].start_byte if change.old else 0
    is_own = any(old_origins.has_member(name) for name in own if name)
    return replace(
        rule,
        owner=old_origins.class_at(at) if is_own else None,
        needs=tuple(needs.items()) + tuple((f"self.{name}", MEMBER) for name in members if name),
        folder=posixpath.dirname(change.file.path) if relative else None,
        parent=around.type if selves and around is not None else "",
    )


UNKNOWN = "unknown"  # the origin of a variable that nothing declares


def _stands_alone(piece: Piece, parent: Piece | None) -> bool:
    """Whether a name is a value: neither called nor something of which a member is read."""
    if _is_callee(piece, parent):
        return False
    return parent is None or not any(word in parent.kind for word in MEMBERS)


def _piece(node: object, change: NodeChange, *, old: bool) -> Piece:
    text = change.file.before if old else change.file.after
    data = text.encode("utf-8", "surrogatepass")
    return piece_of(node, data, change.file.language.name)  # type: ignore[arg-type]


def _generalised(change: NodeChange, origins: Origins, level: int) -> RepeatRule | None:
    """The rule with holes."""
    old = tuple(_piece(node, change, old=True) for node in change.old)
    new = tuple(_piece(node, change, old=False) for node in change.new)
    common = {one.key for piece in new for one in piece.walk() if one.named}
    around_lists = {
        (parent.kind, piece.key)
        for piece, parent in _with_parents(new)
        if parent is not None and piece.kind.endswith(ARGUMENTS)
    }
    holes: dict[tuple[str, ...], str] = {}

    def opened(piece: Piece, parent: Piece | None, *, before: bool) -> Piece:
        if piece.named and parent is not None:
            known = piece.key in holes
            if before and not known and piece.key in common and _may_vary(piece):
                known = not _is_fixed(piece, parent, origins, level)
                if piece.kind.endswith(ARGUMENTS):  # another kind of call takes as many as it takes
                    known = known and (parent.kind, piece.key) in around_lists
                if known:
                    holes[piece.key] = f"${_letter(len(holes))}"
            if known and (before or piece.key in holes):
                kind = "" if is_expression(piece.kind) else piece.kind
                if not (before and _is_fixed(piece, parent, origins, level)):
                    return replace(piece, kind=kind, text="", children=(), hole=holes[piece.key])
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
    if _shape(before) == _shape(after):
        return None
    return _with_texts(change, before, after, origins)


def _with_texts(
    change: NodeChange, before: tuple[Piece, ...], after: tuple[Piece, ...], origins: Origins
) -> RepeatRule:
    data = change.file.after.encode("utf-8", "surrogatepass")
    texts, gaps = pieces_text(after, data)
    first = change.old[0].start_byte if change.old else 0
    olds = change.file.before.encode("utf-8", "surrogatepass")
    old_units = [unit for piece in before for unit in piece.units()]
    old_text = _joined(old_units, *pieces_text(before, olds))
    line = olds[olds.rfind(b"\n", 0, first) + 1 : first]
    indentation = line[: len(line) - len(line.lstrip())].decode("utf-8", "replace")
    names = {
        piece.text: origins.of(piece.text)
        for piece, parent in _with_parents(before)
        if piece.is_name and not piece.hole and _is_own_name(piece, parent)
        if piece.text not in SELVES
    }
    return RepeatRule(
        change.file.language.name,
        before,
        after,
        gaps,
        texts,
        old_text,
        indentation,
        names,
        examples=((change.file.path, change.line),),
        written=_written(change, data),
    )


def _written(change: NodeChange, data: bytes) -> tuple[tuple[str, int, bytes], ...]:
    if not change.new:
        return ()
    start, end = change.new[0].start_byte, change.new[-1].end_byte
    return ((change.file.path, start, data[start:end]),)


def _letter(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"H{number}"


def _with_parents(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, Piece | None]]:
    waiting: list[tuple[Piece, Piece | None]] = [(piece, None) for piece in pieces]
    while waiting:
        piece, parent = waiting.pop()
        yield piece, parent
        waiting += [(child, piece) for child in piece.children]


def _may_vary(piece: Piece) -> bool:
    """Whether a node can be a hole: it holds a name or a literal."""
    return any(leaf.named and not leaf.children for leaf in piece.walk())


def _is_member(piece: Piece, parent: Piece) -> bool:
    """Whether a name is read from something: the last part of a member access."""
    return (
        any(word in parent.kind for word in MEMBERS)
        and len(parent.children) > 1
        and parent.children[0] is not piece
        and piece is parent.children[-1]
    ) or (parent.kind in ("method_invocation", "call") and piece.field in ("name", "method"))


def _is_own_name(piece: Piece, parent: Piece | None) -> bool:
    """Whether a name stands for itself: not a member, a key or the name of an argument."""
    if parent is None:
        return piece.kind in ("identifier", "type_identifier", "constant", "name")
    if piece.kind not in ("identifier", "type_identifier", "constant", "name", "simple_identifier"):
        return False
    if piece.field in ("attribute", "property", "field", "key", "label", "method"):
        return False
    if parent.kind in ("keyword_argument", "keyword_parameter") and piece.field == "name":
        return False
    has_object = any(child.field in ("object", "receiver") for child in parent.children)
    return not (_is_member(piece, parent) and (has_object or parent.kind != "method_invocation"))


def _is_fixed(piece: Piece, parent: Piece, origins: Origins, level: int) -> bool:
    """Whether a node says what is done there, and so is no hole although both sides have it."""
    if piece.field in ("function", "macro"):
        return True  # what it is a member of may be a hole
    if "import" in parent.kind or parent.kind in ("decorator", "command_name"):
        return True
    if piece.children:
        return False
    if parent.kind == "token_tree":  # a macro's tokens, whose roles the grammar does not tell
        number = next(n for n, child in enumerate(parent.children) if child is piece)
        around = parent.children[max(0, number - 1) : number + 2]
        signs = {child.text for child in around if child is not piece and not child.children}
        called = around[-1].kind == "token_tree" and around[-1] is not piece
        return called or bool(signs & {".", "::", "!"})
    if piece.text in SELVES or piece.kind in ("this", "super", "self"):
        return True
    if not piece.is_name:
        return piece.kind in ("type_identifier", "predefined_type") and parent.field == "function"
    if piece.field in _FIXED_FIELDS or _is_member(piece, parent):
        return True
    if piece.field == "name" and parent.kind.endswith(_DEFINING):
        return level > OPEN
    if piece.field == "name" and not any(word in parent.kind for word in _DECLARING):
        return True
    if piece.field == "type" and parent.kind.endswith(("creation_expression", "new_expression")):
        return True
    is_receiver = parent.children[0] is piece and (
        any(word in parent.kind for word in MEMBERS)
        or (parent.kind in ("method_invocation", "call") and piece.field in _RECEIVERS)
    )
    if is_receiver:
        origin = origins.of(piece.text)
        return level == STRICT or origin != LOCAL
    return False


# evidence


def weight(word: str) -> float:
    """How much a name tells: of several words or long, it is rarely met by chance."""
    count = len(_CAMEL.findall(word))
    if word.lower().replace("_", "") in _COMMON:
        return 0.4
    if count > 1:
        return 1.0 if len(word) > 6 else 0.7
    return 0.8 if len(word) > 8 else 0.6 if len(word) > 4 else 0.4


def _weight_of(piece: Piece, parent: Piece | None, origins: Mapping[str, str]) -> float:
    text = piece.text
    if not piece.named:
        return 0.2 if is_word(text) else 0.05
    if text == "super":
        return 0.6
    if text in SELVES or piece.kind in ("true", "false", "none", "null", "nil"):
        return 0.2
    if text[:1] in "\"'`" or "string" in piece.kind:
        return min(0.9, len(text) / 12)
    if not is_word(text):
        return 0.2
    if _is_own_name(piece, parent):
        origin = origins.get(text, FREE)
        if origin == LOCAL:
            return 0.2
        if is_import(origin):
            return 1.0
        if origin == FREE and len(text) < 6:
            return 0.5  # of the language: len, print, Some
        return max(0.8, weight(text))
    return weight(text)


def _missing(rule: RepeatRule, *, less: float = 0.0) -> str:
    """Why a rule is too general; "" where it is specific."""
    total, words = 0.0, []
    signs = 0.0
    for piece, parent in _with_parents(rule.before):
        if piece.hole or piece.children:
            continue
        value = _weight_of(piece, parent, rule.origins)
        if piece.named:
            total += value
            words.append(piece.text)
        else:
            signs += value
    total += min(0.4, signs)
    if not words:
        return "no name or literal is fixed in it"
    left = {unit.text for unit in rule.new_units if not unit.hole}
    gone = [u for u in rule.old_units if not u.hole and u.named and u.text not in left]
    roots = rule.before
    if len(roots) == 1 and roots[0].is_name and len(rule.after) == 1 and rule.after[0].is_name:
        origin = rule.origins.get(roots[0].text, FREE)
        if origin in (LOCAL, FILE):
            names = f"{roots[0].text} {rule.after[0].text}"
            return f"it is a rename: specedit rename {names} follows what the name means"
    if any(rule.origins.get(u.text) == FILE for u in gone) and FILE in dict(rule.needs).values():
        return f"`{gone[0].text}` and what replaces it are both defined in the file"
    if not gone:
        return "it takes nothing away, so nothing tells which places need it"
    if total < ENOUGH - less:
        return f"only {', '.join(f'`{word}`' for word in words[:4])} tells its places"
    return ""


# from several


def unified(one: RepeatRule, other: RepeatRule) -> RepeatRule | None:
    """The rule of two examples of one shape; None where they are not of one shape."""
    if one.language != other.language or len(one.before) != len(other.before):
        return None
    if len(one.after) != len(other.after):
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
        return replace(a, kind=kinds.pop(), text="", children=(), hole=table[pair])

    before = [joined(a, b, old=True) for a, b in zip(one.before, other.before, strict=True)]
    after = [joined(a, b, old=False) for a, b in zip(one.after, other.after, strict=True)]
    if None in before or None in after or any(piece and piece.hole for piece in before):
        return None
    olds = tuple(piece for piece in before if piece is not None)
    used = {unit.hole for piece in after if piece for unit in piece.units()}
    units_before = [unit for piece in olds for unit in piece.units()]
    if any(unit.hole and unit.hole not in used and _names_what(unit) for unit in units_before):
        return None  # what is called or read differs
    news = tuple(piece for piece in after if piece is not None)
    units = [unit for piece in news for unit in piece.units()]
    if len(units) != len(one.new_units):
        return None  # a hole took in several units: their texts are of the first example
    names = {
        name: origin
        for name, origin in one.origins.items()
        if any(unit.text == name for piece in olds for unit in piece.units())
    }
    return replace(
        one,
        before=olds,
        after=news,
        old_text=_unified_text(one, olds),
        origins=names,
        examples=(*one.examples, *other.examples),
        written=(*one.written, *other.written),
    )


def _unified_text(one: RepeatRule, pieces: Sequence[Piece]) -> str:
    units = [unit for piece in pieces for unit in piece.units()]
    return " ".join(unit.hole or unit.text for unit in units)


def _names_what(piece: Piece) -> bool:
    return piece.field in _FIXED_FIELDS or piece.field == "name"


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
            if both is not None and not _missing(both, less=LESS_OF_TWO):
                joined[number] = replace(both, doubt="")
                break
        else:
            joined.append(rule)
    return joined, none
