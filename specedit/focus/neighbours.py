"""What an edit of one place asks of others in the same file: imports, callers, fields.

Found in what was written, so that only what really changed draws others in: a name that nothing
in the file brings in, a signature that is another now, a member that no class has. Knows texts,
blocks and words; reads lines, no scopes: what is drawn in is looked at, never changed by rule.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specedit.focus.blocks import Block
from specedit.focus.listing import title
from specedit.focus.signatures import signature, stands
from specedit.syntax.outline import CALLABLE
from specedit.text.lines import lines_of

CALLERS = 8  # places that a changed signature draws in
_NAME = re.compile(r"(?<![\w$.])[A-Za-z_]\w*")
_MEMBER = re.compile(r"\b(?:self|this|cls)(?:\.|->)([A-Za-z_]\w*)")
_OUTSIDE = re.compile(  # what is no code: strings and comments
    r"\"\"\".*?\"\"\"|'''.*?'''|/\*.*?\*/"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`"
    r"|//[^\n]*|(?<!\S)#(?!include)[^\n]*",
    re.DOTALL,
)
_SET = re.compile(r"\b(?:self|this|cls)(?:\.|->)([A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)")
_MAKERS = frozenset({"__init__", "constructor", "initialize", "__construct", "new", "init"})
_GIVEN = """\
self this cls super base var let const nil null undefined true false console Math JSON Object
Array String Number Promise Error print println len cap append make panic string int bool float
double char byte void object Self Some None Ok Err Vec Box Option Result std if for while switch
return catch not and or in elif else assert await async yield with match sizeof typeof new throw
lambda print del def class func fn function is raise except
"""
KNOWN = frozenset(dir(builtins)) | frozenset(_GIVEN.split())


@dataclass(frozen=True)
class Placed:
    """What became of one place."""

    blocks: tuple[Block, ...]
    before: str
    after: str


@dataclass(frozen=True)
class Drawn:
    """A block that is looked at because of what was written elsewhere, and why."""

    block: Block
    why: str
    name: str = ""  # that the lines hold which may change


def drawn(text: str, found: Sequence[Block], written: Sequence[Placed]) -> list[Drawn]:
    """The blocks, none of them written, that what was written asks to be looked at."""
    changed = [one for one in written if one.before != one.after]
    done = {block for one in written for block in one.blocks}
    lines = lines_of(text)
    names: dict[Block, Drawn] = {}
    for one in changed:
        for each in (
            *_imports(text, found, one, changed),
            *_callers(lines, found, one),
            *_fields(text, found, one),
        ):
            if each.block not in done:
                names.setdefault(each.block, each)
    return sorted(names.values(), key=lambda each: each.block.first)


def _imports(
    text: str, found: Sequence[Block], one: Placed, changed: Sequence[Placed]
) -> Iterator[Drawn]:
    """Where what is imported stands, when a name is new that nothing in the file brings in."""
    imports = next((block for block in found if block.kind == "imports"), None)
    if imports is None:
        return
    known = set(_NAME.findall(text)) | KNOWN
    known.update(name for other in changed for name in _brought(other.after))
    fresh = [n for n in _used(one.after) if n not in known]
    if fresh:
        yield Drawn(imports, f"`{fresh[0]}` is new", fresh[0])


def _used(text: str) -> list[str]:
    """Names that a text uses as something from elsewhere: `name.x`, `name(...)`, `Name`."""
    bare = _OUTSIDE.sub('""', text)
    found = re.findall(r"(?<![\w$.])([A-Za-z_]\w*)(?=\s*(?:\.|\(|::|<\w))", bare)
    found += re.findall(r"(?<![\w$.])([A-Z][a-z]\w*)", bare)
    return list(dict.fromkeys(found))


def _brought(text: str) -> Iterator[str]:
    """Names that a text itself gives a meaning to: assigned, declared, parameters, loops."""
    bare = _OUTSIDE.sub('""', text)
    yield from re.findall(r"([A-Za-z_]\w*)\s*(?::=|=(?!=)|:(?!:)|\bin\b|,)", bare)
    yield from re.findall(
        r"\b(?:as|def|class|func|fn|function|import|for|let|var|const)\s+([A-Za-z_]\w*)", bare
    )
    yield from re.findall(r"([A-Za-z_]\w*)\s*\)", bare)
    yield from re.findall(r"(?m)^[^=(\n;]*?([A-Za-z_]\w*)\s*\([^;\n]*\)[^;\n]*\{\s*$", bare)
    yield from re.findall(r"[\w>\]?&*]\s+\**&?([a-z_]\w*)\s*(?:=|;|\))", bare)


def _callers(lines: Sequence[str], found: Sequence[Block], one: Placed) -> Iterator[Drawn]:
    """Where a definition is called that takes something else now, so that the call must change."""
    for block in one.blocks:
        simple = block.name.rpartition(".")[2]
        if not block.head or block.kind not in CALLABLE or not simple:
            continue
        if simple.startswith("__") or signature(one.before, simple) == signature(one.after, simple):
            continue
        calls = re.compile(rf"(?<![\w$]){re.escape(simple)}\s*(?:<[\w, ]*>)?\(")
        calling = [
            other
            for other in found
            if other != block
            and any(
                calls.search(line) and number != title(other, lines)[0]
                for number, line in enumerate(lines[other.first - 1 : other.last], other.first)
            )
            and not stands(
                one.before, one.after, simple, "".join(lines[other.first - 1 : other.last])
            )
        ]
        for other in calling[:CALLERS]:
            yield Drawn(other, f"it calls `{simple}`, which has another signature now", simple)


def _fields(text: str, found: Sequence[Block], one: Placed) -> Iterator[Drawn]:
    """The class's own lines and its constructor, when a member is used that it does not have."""
    holder = one.blocks[0].name.rpartition(".")[0]
    if not holder:
        return
    known = set(re.findall(r"[A-Za-z_]\w*", text))
    set_here = set(
        re.findall(r"\b(?:self|this|cls)(?:\.|->)([A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)", one.after)
    )
    fresh = [n for n in _MEMBER.findall(one.after) if n not in known | set_here]
    if not fresh:
        return
    said = f"`{fresh[0]}` is new in {holder}"
    maker = {f"{holder}.{name}" for name in (*_MAKERS, holder.rpartition(".")[2])}
    heads = [block for block in found if block.name == holder and block.head][:1]
    yield from (Drawn(block, said, fresh[0]) for block in found if block.name in maker)
    yield from (Drawn(block, said, fresh[0]) for block in heads)
