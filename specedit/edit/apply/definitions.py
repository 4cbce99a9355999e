"""The definitions of a text as a tree, and which of a snippet's are which of the file's.

A definition of a snippet stands for the one with its name and kind in the same holder; any other is
new. What stands above a definition, comments and attributes, belongs to it.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from specedit.edit.apply.lines import (
    FileIndex,
    Margins,
    likeness,
    margin,
    same_line,
    squeezed,
    weight,
)
from specedit.edit.apply.markers import LEFT_OUT, REMOVED, ShownLines, is_remark
from specedit.syntax import trees
from specedit.syntax.languages import Language
from specedit.syntax.outline import Symbol

CALLED, TYPE, VALUE, SPACE = "called", "type", "value", "namespace"
_GROUPS = {
    **dict.fromkeys(("function", "method"), CALLED),
    **dict.fromkeys(("class", "interface", "enum", "type"), TYPE),
    **dict.fromkeys(("property", "value"), VALUE),
    "namespace": SPACE,
}
_CLASS = "class Snippet__ {"  # around methods that stand alone, so that they parse
_OBJECT = "Snippet__ = {\n"  # around members of an object
_OBJECTS = frozenset({"javascript", "typescript", "tsx"})
_BARE = frozenset({"csharp", "java", "javascript", "typescript", "tsx", "kotlin", "scala"})
OPENING = {"php": "<?php"}
_OVERLOADS = frozenset({"csharp", "java", "typescript", "tsx", "kotlin", "scala", "cpp"})
BY_INDENTATION = frozenset({"python"})
ENOUGH, SAME_HEAD = 0.3, 0.75  # least share of lines, or likeness of first lines
OVERLOAD = 0.9  # least likeness of first lines of one overload
MOSTLY, LONGEST = 0.7, 100  # likeness of the text of functions, of at most so many lines
LEAD = 0.1  # by which one of several definitions must be likest
_FUNCTION = re.compile(
    r"\s*(?:async |pub(?:\([\w ]+\))? |const |unsafe )*(?:def|fn) \w+(?:<[^(]*>)?"
    r"\(\s*(?P<holder>&?(?:'\w+ )?(?:mut )?(?:self|cls)\b)?"
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition, its lines [first, last) of a text, from 0; `top`: its comments and attributes
    begin."""

    name: str
    kind: str
    first: int
    last: int
    top: int
    text: Sequence[str] = field(compare=False, repr=False)
    children: tuple[Definition, ...] = ()

    @property
    def head(self) -> str:
        return self.text[self.first]

    @property
    def body(self) -> Sequence[str]:
        return self.text[self.first + 1 : self.last]

    @property
    def remark(self) -> list[str]:
        """The lines above it that belong to it, without indentation."""
        return [line.strip() for line in self.text[self.top : self.first]]

    @property
    def is_stub(self) -> bool:
        """Whether it says only how another definition of its name may be called."""
        return any(re.fullmatch(r"@([\w.]+\.)?overload", line) for line in self.remark)

    def walk(self) -> Iterator[Definition]:
        yield self
        for child in self.children:
            yield from child.walk()


def file_definitions(lines: Sequence[str], language: Language | None) -> list[Definition]:
    symbols = trees.symbols("\n".join(lines) + "\n", language, nested=True)
    return _tree(symbols, lines, lambda row: is_remark(lines[row]))


def snippet_definitions(shown: ShownLines, language: Language | None) -> list[Definition]:
    """The definitions that a snippet shows from their first to their last line; lines may be left
    out in them."""
    if language is None or not language.grammar:
        return []
    indented = language.name in BY_INDENTATION
    depth = min((len(margin(line)) for line in shown.code(False) if line.strip()), default=0)
    opening = OPENING.get(language.name, "")
    opened = opening and any(line.lstrip().startswith(opening) for line in shown.lines)
    heads = [f"{opening}\n"] if opening and not opened else [""]
    heads += [f"{head}{_CLASS}\n" for head in heads if language.name in _BARE or head]
    heads += [_OBJECT] if language.name in _OBJECTS else []
    fewest, shift = 1 << 30, 0
    found: list[Symbol] = []
    for code in dict.fromkeys((tuple(shown.code(indented)), tuple(shown.balanced()))):
        body = "".join(f"{line[depth:] if line[:depth].isspace() else line}\n" for line in code)
        for head in heads:
            text = head + body + "}\n" * head.count("{")
            faults, defined = trees.faults_and_symbols(text, language)
            if faults < fewest:
                fewest, found, shift = faults, defined, head.count("\n")
        if not fewest or indented:
            break
    if fewest:
        return []  # the definitions of a text that does not parse are not reliable
    symbols = [
        replace(symbol, first_line=symbol.first_line - shift, last_line=symbol.last_line - shift)
        for symbol in found
        if symbol.first_line > shift
    ]
    lines, kinds = shown.lines, shown.kinds
    tree = _tree(
        symbols,
        lines,
        lambda row: is_remark(lines[row]) and kinds[row] not in (LEFT_OUT, REMOVED),
        len(lines),
    )
    return list(_closed(tree, shown, indented))


def _tree(
    symbols: Iterable[Symbol],
    lines: Sequence[str],
    remark: Callable[[int], bool],
    most: int = 1 << 30,
) -> list[Definition]:
    """Definitions whose lines are their own, outer before inner."""
    spans = []
    for symbol in symbols:
        top = first = symbol.first_line - 1
        while top and remark(top - 1) and lines[top - 1].strip():
            top -= 1
        group, last = _GROUPS[symbol.kind], min(symbol.last_line, most)
        if is_remark(lines[first]):  # attributes are a part of some languages' definitions
            name = re.compile(rf"(?<![\w$]){re.escape(symbol.own_name)}(?![\w$])")
            named = (n for n in range(first, last) if name.search(lines[n]))
            first = next((n for n in named if not is_remark(lines[n])), first)
        spans.append(Definition(symbol.name, group, first, last, top, lines))
    return _nested(deque(sorted(spans, key=lambda span: (span.first, -span.last))), 1 << 30)


def _nested(spans: deque[Definition], end: int) -> list[Definition]:
    """The definitions that begin before a line, with those inside of them."""
    result: list[Definition] = []
    while spans and spans[0].first < end:
        span = spans.popleft()
        if span.last > end:
            continue
        if spans and spans[0].first == span.first:  # one that has no line of its own
            inside = spans[0].last
            while spans and spans[0].first < inside:
                spans.popleft()
        children = (
            replace(child, top=max(child.top, span.first + 1))
            for child in _nested(spans, span.last)
        )
        result.append(replace(span, children=tuple(children)))
    return result


def _closed(tree: Iterable[Definition], shown: ShownLines, indented: bool) -> Iterator[Definition]:
    """Those that end, with the lines below that stand for others at their end."""
    lines, kinds = shown.lines, shown.kinds
    for definition in tree:
        last, depth = definition.last, len(margin(lines[definition.first]))
        at = last
        while indented and at < len(lines) and (kinds[at] or not lines[at].strip()):
            if kinds[at] and len(margin(lines[at])) > depth:
                last = at + 1
            at += 1
        ending = lines[last - 1].strip()
        left = range(definition.first + 1, last)
        cut = next((n for n in left if kinds[n] and len(margin(lines[n])) <= depth), last)
        if indented and cut < last:  # what is left out ends it
            inner = [child for child in definition.children if child.last <= cut]
            rest = [child for child in definition.children if child.last > cut]
            children = tuple(_closed(inner, shown, indented))
            yield replace(definition, last=cut, children=children)
            yield from _closed(rest, shown, indented)
            continue
        if indented or last - definition.first == 1:
            whole = True
        elif ending[:1] in tuple("}])"):
            whole = len(margin(lines[last - 1])) == depth
        else:
            whole = ending.rstrip(";") == "end" or ending.endswith((";", ",", "}", ")"))
        children = tuple(_closed(definition.children, shown, indented))
        if whole:
            yield replace(definition, last=last, children=children)
        else:
            yield from children


Pairs = dict[Definition, Definition]  # the snippet's definitions, and the file's


def paired(
    own: Sequence[Definition],
    old: Sequence[Definition],
    language: Language | None,
    members: Mapping[Definition, Definition] | None = None,
) -> tuple[Pairs, list[tuple[Definition, list[Definition]]]]:
    """Pair definitions of one holder by name and kind, several of one name by their first lines;
    and those that may be several. The others are new. `members`: the file's definitions with their
    holders, where the snippet shows no holder."""
    pairs: Pairs = {}
    taken: set[Definition] = set()
    unsure: list[tuple[Definition, list[Definition]]] = []
    by_name: dict[tuple[str, str], list[Definition]] = {}
    for other in old:
        by_name.setdefault((other.name, other.kind), []).append(other)

    def candidates(definition: Definition) -> list[Definition]:
        takes = _takes_holder(definition)
        return [
            other
            for other in by_name.get((definition.name, definition.kind), ())
            if (other not in (members or {}) or takes in (None, _takes_holder(other)))
            and other.is_stub == definition.is_stub
        ]

    for definition in own:  # equal first lines first
        named = [other for other in candidates(definition) if other not in taken]
        equal = [other for other in named if other.head.strip() == definition.head.strip()]
        if len(equal) == 1:
            pairs[definition] = equal[0]
            taken.add(equal[0])
    overloaded = language is None or language.name in _OVERLOADS
    for definition in (definition for definition in own if definition not in pairs):
        overloads = overloaded and definition.kind == CALLED
        named = candidates(definition)
        left = [other for other in named if other not in taken]
        rates = {other: _alike(definition, other, overloads) for other in left}
        left.sort(key=lambda other: (-rates[other], other.first))
        rated = [rates[other] for other in left]
        if not named and (moved := _with_holder(definition, old)):
            pairs[definition] = moved
            taken.add(moved)
        elif not rated or (rated[0] == 0 and (overloads or len(named) > 1)):
            continue
        elif len(rated) == 1 or rated[0] >= rated[1] + LEAD:
            pairs[definition] = left[0]
            taken.add(left[0])
        else:
            unsure.append((definition, left))
    return dict(sorted(pairs.items(), key=lambda pair: pair[0].first)), unsure


def _with_holder(own: Definition, old: Sequence[Definition]) -> Definition | None:
    """The one definition with a holder in place of none, or none in place of one, as of a Go
    function that becomes a method, with the comment above as far as one is shown."""
    found = [
        other
        for other in old
        if own.kind == other.kind == CALLED
        and (own.name.endswith(f".{other.name}") or other.name.endswith(f".{own.name}"))
        and own.remark in ([], other.remark)
        and rewritten(own, other)
    ]
    return found[0] if len(found) == 1 else None


def rewritten(own: Definition, old: Definition) -> bool:
    """Whether two functions have most of their text in common."""
    if max(own.last - own.first, old.last - old.first) > LONGEST:
        return share_of(own, old) >= ENOUGH
    return likeness("".join(own.body), "".join(old.body)) >= MOSTLY


def continuous(
    own: Definition,
    old: Definition,
    shown: ShownLines,
    rows: Mapping[str, Sequence[int]],
    language: Language | None,
) -> bool:
    """Whether the lines of a definition after what it leaves out are of the file's definition, and
    not of another one. `rows`: the lines of each text in the file."""
    begin = own.first
    for end in [*(n for n in range(own.first, own.last) if shown.kinds[n] == LEFT_OUT), own.last]:
        places = [
            rows[shown.lines[n].strip()]
            for n in range(begin, end)
            if weight(shown.lines[n]) == 1 and shown.lines[n].strip() in rows
        ]
        inside = [any(old.top <= row < old.last for row in found) for found in places]
        if inside and sum(inside) * 2 < len(inside):
            return False
        begin = end + 1
    pairs, _ = paired(own.children, old.children, language)
    return all(continuous(*pair, shown, rows, language) for pair in pairs.items())


def _alike(own: Definition, old: Definition, overload: bool) -> float:
    """How alike two definitions of one name are; 0 where they share neither a first line nor some
    of the others. Of an overload, parameters are added to the first line or taken out."""
    heads = own.head, old.head
    head, share = likeness(*heads), share_of(own, old)
    same = not overload or head >= OVERLOAD or same_line(*heads) or _same_parameters(*heads)
    return head + share if (head >= SAME_HEAD and same) or share >= ENOUGH else 0.0


def _same_parameters(one: str, other: str) -> bool:
    """Whether the first lines of two functions of one name have the same parameters."""
    own, theirs = (squeezed(line.partition("(")[2]).rstrip("{") for line in (one, other))
    return ")" in own and own == theirs


def share_of(own: Definition, old: Definition) -> float:
    """How much of the shorter of two definitions is in the other one."""
    texts = [one.text[one.first : one.last] for one in (own, old)]
    ours, theirs = (Counter(line.strip() for line in text if weight(line) == 1) for text in texts)
    return (ours & theirs).total() / max(1, min(ours.total(), theirs.total()))


def _takes_holder(definition: Definition) -> bool | None:
    """Whether a function's parameters begin with its holder, as a method's in Python and Rust; None
    for what is not a function of these languages."""
    head = _FUNCTION.match(" ".join(definition.text[definition.first : definition.first + 2]))
    return None if head is None else bool(head["holder"])


def words_of_lines(lines: Iterable[str]) -> set[str]:
    return {word for line in lines for word in re.findall(r"[\w$]+", line)}


def reindented(
    shown: ShownLines,
    own: Sequence[Definition],
    pairs: Mapping[Definition, Definition],
    index: FileIndex,
) -> list[str]:
    """The lines: a definition as deep as the one that it stands for, and what stands around it with
    it; other lines between markers as deep as the file has them, where all that it has are at one
    other depth."""
    lines = list(shown.lines)
    solid = [other for other in own if other in pairs or other.kind != VALUE]
    covered = {n for definition in solid for n in range(definition.top, definition.last)}
    shifts = {definition: Margins(_pairs(definition, old)) for definition, old in pairs.items()}
    last: Margins | None = None
    for definition in solid:
        change = shifts.get(definition, last)
        if change is None and shifts:
            change = next(iter(shifts.values()))
        if change is None or change.same:
            continue
        last = change
        deep = _literal(definition, pairs.get(definition))
        for n in range(definition.top, definition.last):
            if deep is None or len(margin(lines[n])) < deep:
                lines[n] = change.applied(lines[n])
    start = 0
    for end in [*(n for n, kind in enumerate(shown.kinds) if kind == LEFT_OUT), len(lines)]:
        rest = [n for n in range(start, end) if n not in covered]
        start = end + 1
        for n, line in _moved(shown.lines, rest, index):
            lines[n] = line
    return lines


def _literal(own: Definition, old: Definition | None) -> int | None:
    """From which indentation on a definition's lines are as deep as the file's, where its first
    line is not."""
    if old is None or margin(own.head) == margin(old.head):
        return None
    inside = set(old.body)
    deeper = [line for line in own.body if weight(line) >= 0.6 and line.strip() != "end"]
    change = Margins([(own.head, old.head)])
    depth = len(margin(old.head))
    if any(len(margin(line)) <= depth for line in deeper):
        return None
    equal = sum(map(inside.__contains__, deeper))
    return depth if equal > sum(change.applied(line) in inside for line in deeper) else None


def _pairs(own: Definition, old: Definition) -> list[tuple[str, str]]:
    """First lines, and equal ones where the file indents with another character, or by another
    number of them for each level."""
    head = (own.head, old.head)
    inside: dict[str, set[str]] = {}
    for line in (old.head, *old.body):
        inside.setdefault(line.strip(), set()).add(line)
    equal = [
        (line, next(iter(inside[line.strip()])))
        for line in own.body
        if len(inside.get(line.strip(), ())) == 1 and weight(line) >= 0.6 and line.strip()[0] != "*"
    ]
    deeper = [(a, b) for a, b in equal if margin(a) and margin(b)]
    if any(a == b for a, b in deeper):
        return [head]
    if any(set(margin(a)) ^ set(margin(b)) for a, b in deeper):
        return [head, *equal]
    base = [len(margin(line)) for line in head]
    levels = {(len(margin(a)) - base[0], len(margin(b)) - base[1]) for a, b in deeper}
    (one, other), *rest = sorted(levels) or [(0, 0)]
    scaled = rest and 0 < one != other > 0 and all(a * other == b * one for a, b in rest)
    return [head, *equal] if scaled else [head]


def _moved(lines: Sequence[str], rest: Sequence[int], index: FileIndex) -> list[tuple[int, str]]:
    rows = index.rows(2)
    known = [
        (lines[n], index.lines[found[0]])
        for n in rest
        if len(found := rows.get(lines[n].strip(), [])) == 1 and weight(lines[n]) >= 0.6
    ]
    margins = Margins(known)
    deep = [lines[n] for n in rest if margin(lines[n]) and weight(lines[n]) >= 0.6]
    literal = any(line in index.rows(0) for line in deep)
    top = {margin(line) for line, other in known if not margin(other)}
    if known and margins.sure and not literal and len(top) < 2:
        return [(n, margins.applied(lines[n])) for n in rest]
    return []
