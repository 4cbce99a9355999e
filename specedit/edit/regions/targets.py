"""What an instruction names outright: the definitions that it may change, and why each.

`in the write method`, `Cart.total`, `let save() return early`, `change LIMIT to 20`. A name that
the instruction only uses (`call f`, `like g`), or that it renames or removes everywhere, is not a
target. A new definition stands behind the one that the instruction compares it with, else at the
end of the class that the instruction names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from specedit.edit.regions.insertion import CONSTRUCTORS
from specedit.errors import InputError
from specedit.import_time import frozen, regex
from specedit.syntax.instruction_names import (
    NEW,
    TYPES,
    Mention,
    check_names,
    mentions_of,
)
from specedit.syntax.outline import CALLABLE, Symbol

SMALL_CLASS = 60  # lines of a class that is one region
_NEW_FIELD = regex(
    r"(?i)\badd\s+(?:(?!(?:to|in|for|of|on|into|from|with|that)\b)[`'\w$().:<>\[\]-]+\s+){0,7}?"
    r"(?:field|attribute|member|member variable|instance variable|option|enum value|variant)s?\b"
)
_SIGNATURE = regex(
    r"(?i)\b(?:remove|delete|drop|rename|reorder|swap)\b.*\b(?:param\w*|arg\w*)\b|\basync\b"
    r"|\brequired\s+(?:param\w*|arg\w*)"
)
_ALSO = regex(  # a new definition is not all
    r"(?i)\b(?:and|then|also)\s+(?:\w+\s+){0,2}?(?:us(?:e|ing)|call|mak(?:e|ing)|chang(?:e|ing)|replac"
    r"(?:e|ing)|mov(?:e|ing)|updat(?:e|ing)|modify|edit|let|have|remov(?:e|ing)|renam(?:e|ing)|inherit"
    r"|deriv)|\b(?:extract|encapsulate|split|refactor|convert|turn)\b"
)
LONG_QUOTE = 5  # characters of a word that is quoted and says where
PLACES = 8  # where a text stands that is replaced, at most
_QUOTED = regex(r"""(?<!\w)"([^"\n]{3,120})"|(?<!\w)'([^'\n]{3,120})'(?!\w)|`([^`\n]*\s[^`\n]*)`""")
_REPLACED = regex(  # words before a quoted text that goes
    r"(?i)\b(?:instead of|replac(?:e|es|ing)|chang(?:e|es|ing)|from|fix|correct|remov(?:e|es|ing)"
    r"|drop|delete)\s+(?:the\s+)?(?:\w+\s+){0,2}$"
)
_SEVERAL = regex(r"(?i)\b(?:all|every|each|both|any)\b")
_CALLERS = regex(r"(?i)\b(?:callers?|call sites?|(?:all|both|its|the)\s+calls)\b")
NAMED = "named in the instruction"


@frozen
class EditTarget:
    """Lines [first, last] that the edit may change, from 1, without the comments above them."""

    first: int
    last: int
    symbol: str
    why: str = NAMED
    inserts: bool = False  # only new lines behind it are open


def targets_of(symbols: Sequence[Symbol], text: str, instruction: str) -> list[EditTarget]:
    """The definitions that an instruction names as the place of the change, in the file's order;
    none where it names none or is about every use of one."""
    check_names(symbols, text, instruction)
    mentions = mentions_of(symbols, instruction)
    if any(one.everywhere for one in mentions):
        return []
    new = bool(NEW.search(instruction))
    named = _named(mentions, instruction, new)
    if new:
        return _beside_new(symbols, mentions, named, instruction)
    named = _without_holders(named)
    if _NEW_FIELD.search(instruction):
        like = [one.symbol for one in mentions if one.like]
        fields = [one for one in like if one.kind in ("property", "value")]
        holders = {one.qualified for one in named if one.kind in TYPES}
        inside = [one for one in fields if one.qualified.rpartition(".")[0] in holders]
        return [_behind((inside or fields)[-1])] if fields else _for_field(symbols, named)
    callables = {one.own_name for one in named if one.kind in CALLABLE}
    # with a field of the same name
    chosen = [one for one in named if one.own_name in callables] or named
    if not chosen:
        return _by_quote(symbols, text, instruction)
    targets = {one: _whole(one) for one in chosen}
    if _SIGNATURE.search(instruction) or _CALLERS.search(instruction):
        for one in _callers(symbols, text, chosen):
            names = ", ".join(each.own_name for each in chosen)
            targets.setdefault(one, _whole(one, f"calls {names}"))
    return sorted(targets.values(), key=lambda one: one.first)


def _whole(one: Symbol, why: str = NAMED) -> EditTarget:
    return EditTarget(one.first_line, one.last_line, one.qualified, why)


def _behind(one: Symbol) -> EditTarget:
    why = "the new definition stands behind it"
    return EditTarget(one.first_line, one.last_line, one.qualified, why, inserts=True)


def _named(mentions: Sequence[Mention], instruction: str, new: bool) -> list[Symbol]:
    """The definitions that are named as the place, without those that are only used."""
    chosen: dict[str, list[Symbol]] = {}
    for one in mentions:
        if one.used or (new and one.like):
            continue
        if one.symbol.kind in CALLABLE or one.symbol.kind in TYPES or one.valued:
            chosen.setdefault(one.symbol.own_name, []).append(one.symbol)
    holders = {n for n, held in chosen.items() if any(one.kind in TYPES for one in held)}
    results: list[Symbol] = []
    for name, held in chosen.items():
        unique = list(dict.fromkeys(held))
        if len({one.qualified for one in unique}) > 1:
            unique = _told_apart(unique, name, holders, instruction)
        results += unique
    return results


def _told_apart(
    held: Sequence[Symbol], name: str, holders: set[str], instruction: str
) -> list[Symbol]:
    """Of several definitions of one name, those of the class that the instruction names."""
    members = [one for one in held if set(one.qualified.split(".")[:-1]) & holders]
    if members or _SEVERAL.search(instruction):
        return members or list(held)
    bodies = [one for one in held if one.last_line > one.first_line]
    if len(bodies) == 1:  # the others only declare it
        return bodies
    places = ", ".join(f"{one.qualified} (line {one.first_line})" for one in held)
    raise InputError(
        f"defines {name} {len(held)} times: {places}.",
        hint="Name it as Class.member in the instruction, or with --symbol or --lines A:B.",
    )


def _constructs(one: Symbol) -> bool:
    holder = one.qualified.rpartition(".")[0].rpartition(".")[2]
    return bool(holder) and (one.own_name in CONSTRUCTORS or one.own_name == holder)


def _without_holders(named: Sequence[Symbol]) -> list[Symbol]:
    """Without the classes of which a member is named: they only say where that is."""
    return [
        one
        for one in named
        if not any(other.qualified.startswith(f"{one.qualified}.") for other in named)
    ]


def _beside_new(
    symbols: Sequence[Symbol],
    mentions: Sequence[Mention],
    named: Sequence[Symbol],
    instruction: str,
) -> list[EditTarget]:
    """Where a new definition is added: behind the one that it is compared with, else behind the
    last one of the class that is named, or of the file."""
    functions = [one for one in named if one.kind in CALLABLE]
    classes = _without_holders([one for one in named if one.kind in TYPES])
    like = [one.symbol for one in mentions if one.like]
    siblings = [one for one in like if one.kind in CALLABLE] or like
    if _ALSO.search(instruction):  # it is used somewhere, too
        return [_whole(one) for one in functions]
    if siblings:
        within = {one.qualified for one in classes}
        inside = [one for one in siblings if one.qualified.rpartition(".")[0] in within]
        return [_behind((inside or siblings)[-1])]
    if functions and not classes:  # "extract a helper from f"
        return [_whole(one) for one in functions]
    method = re.search(r"(?i)\b(?:methods?|propert(?:y|ies)|getters?|setters?)\b", instruction)
    if not classes and method:
        classes = [one for one in symbols if one.kind in TYPES and one.depth == 0]
    if len(classes) > 1:
        return []
    if classes:
        members = [one for one in symbols if _is_member(one, classes[0]) and one.kind in CALLABLE]
        if not members:
            return [_whole(classes[0])]
    else:
        members = [one for one in symbols if one.depth == 0 and one.kind in CALLABLE]
    return [_behind(members[-1])] if members else []


def _is_member(one: Symbol, holder: Symbol) -> bool:
    return one.qualified.rpartition(".")[0] == holder.qualified or (
        one.name.rpartition(".")[0] == holder.name  # Go: methods stand outside of their type
    )


def _for_field(symbols: Sequence[Symbol], named: Sequence[Symbol]) -> list[EditTarget]:
    """The class that gets a field: all of a small one, else its lines before the first method and
    its constructor."""
    classes = [one for one in named if one.kind in TYPES]
    if len(classes) != 1:
        return [_whole(one) for one in named]
    holder = classes[0]
    if holder.last_line - holder.first_line < SMALL_CLASS:
        return [_whole(holder)]
    members = [one for one in symbols if _is_member(one, holder) and one.kind in CALLABLE]
    first = min((one.first_line for one in members), default=holder.last_line + 1)
    targets = [EditTarget(holder.first_line, max(holder.first_line, first - 1), holder.qualified)]
    for one in members:
        if _constructs(one):
            targets.append(_whole(one, "its constructor"))
    return targets


def _by_quote(symbols: Sequence[Symbol], text: str, instruction: str) -> list[EditTarget]:
    """The definitions that hold the only place of a text that the instruction quotes (of one that
    is to be replaced: each place), or its lines where no definition does."""
    targets: dict[str, EditTarget] = {}
    for one in _QUOTED.finditer(instruction):
        quoted = next(filter(None, one.groups()))
        most = PLACES if _REPLACED.search(instruction[: one.start()]) else 1
        if len(quoted) < LONG_QUOTE and " " not in quoted:
            continue
        places = [match.start() for match in re.finditer(re.escape(quoted), text)]
        for at in places if len(places) <= most else []:
            target = _holding(symbols, text.count("\n", 0, at) + 1, quoted)
            targets.setdefault(target.symbol or str(target.first), target)
    return sorted(targets.values(), key=lambda one: one.first)


def _holding(symbols: Sequence[Symbol], line: int, quoted: str) -> EditTarget:
    """The smallest definition around a line, or the lines of the quoted text alone."""
    why = f"`{quoted[:40]}` is there"
    holders = [one for one in symbols if one.first_line <= line <= one.last_line]
    if not holders or holders[-1].kind in TYPES:
        return EditTarget(line, line + quoted.count("\n"), "", why)
    return _whole(holders[-1], why)


def _callers(symbols: Sequence[Symbol], text: str, chosen: Sequence[Symbol]) -> Iterator[Symbol]:
    """The functions that call what changes its signature."""
    names = [one.own_name for one in chosen if one.kind in CALLABLE]
    if not names:
        return
    call = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, names))})\s*\(")
    lines = text.split("\n")
    for one in symbols:
        if one.kind not in CALLABLE or one in chosen or one.own_name in names:
            continue
        if call.search("\n".join(lines[one.first_line - 1 : one.last_line])):
            yield one
