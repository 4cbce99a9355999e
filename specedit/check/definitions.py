"""Definitions that an edit lost or gave another name, and whether the instruction asks for that.

A definition that is gone is accounted for in one of four ways: it continues under another name, the
instruction takes it away by name, the instruction clears things of its kind away and nothing uses
it any more, or it is imported now. Whatever else is new in the text accounts for nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from specedit.check.finding import Finding, at
from specedit.check.parsed import Change, ParsedText
from specedit.import_time import frozen, regex
from specedit.scoping.builtin_names import words
from specedit.syntax.identifiers import words_of
from specedit.syntax.lines import changed_runs
from specedit.syntax.outline import Symbol

ALIKE = 0.6  # share of common words from which a definition continues under another name
SHORTER = 0.5  # share of a definition's lines below which it is refused as cut,
LINES = 8  # where it had so many
GONE = 3  # lines that are gone with nothing in their place

TAKES = regex(  # a word that takes something away, or makes another thing of it
    r"(?i)\b(?:remov|delet|drop(?!d)|strip|clean|prun|renam|replac|inlin|merg|mov(?:e|ing)|extract"
    r"|split|combin|fold(?!e)|conver|turn|instead|swap|switch|chang|eliminat|collaps|unif"
    r"|rid\b|longer\b)"
)
_ADDS = regex(r"(?i)^\W*(?:please\s+)?(?:add|introduce|create|implement|provide)(?:e?[sd])?\b")
_KINDS = (
    r"code|functions?|methods?|class(?:es)?|definitions?|declarations?|helpers?|types?|symbols?"
    r"|tests?|constants?|variables?|interfaces?|structs?|enums?|macros?|members?|fields?"
    r"|propert(?:y|ies)|everything|stuff"
)
LESS = regex(  # a word that asks for less code
    r"(?i)\b(?:simplif|shorten|refactor|rewrit|reduc|compact|comprehension|one[- ]?line|dedup|reus"
    r"|delegat|use\b|using\b|call\b|generator|compute|optimi[sz]|only\b)"
)
CLEARS = regex(  # "remove unused methods" names nothing and means several
    r"(?i)\b(?:remov|delet|drop|strip|clean|prun)\w*\b[^.;\n]*\b(?:unused|obsolete|dead|deprecated"
    r"|redundant|unnecessary|unreachable|all|every|duplicate\w*|legacy|old)\b[^.;\n]{0,40}?"
    rf"\b(?:{_KINDS})\b"
)
# "Remove x from Cart" takes x away and leaves Cart.
_WITHIN = frozenset({"in", "inside", "within", "from", "for", "on", "at", "into", "to"})
_NOUNS = regex(rf"(?i)(?:{_KINDS}|def|func|fn|the)$")
# A verb of the instruction can be a function's name too: it counts as one where that is clear.
_VERBS = words(
    "add allow append apply build call change check clean clear close compute convert copy count",
    "create define delete disable drop enable ensure extract filter find fix format get handle",
    "ignore implement insert join load log make map merge move open parse print process raise read",
    "remove rename replace report reset return reverse run save search set show skip sort split",
    "start stop strip support swap test update use validate write",
)
# "Change it to count all, instead of the first": the verb says what to do, and not a name.
_MILD = regex(r"(?i)\b(?:chang|switch|instead|longer)\w*")
_NAMED_KINDS = frozenset({"function", "method", "class"})
_WITHOUT_OVERLOADS = frozenset({"python", "go", "ruby", "php"})


def lost_definitions(change: Change) -> list[str]:
    """The names of definitions that are gone and that nothing accounts for."""
    old, new = change.before.symbols, change.after.symbols
    places, count = {one.qualified for one in new}, Counter(one.name for one in new)
    had = Counter(one.name for one in old)
    gone = [one for one in old if one.qualified not in places and count[one.name] < had[one.name]]
    if not gone:
        return []
    words, after = list(_words(change.instruction)), change.after.text
    gone = [symbol for symbol in gone if not _is_taken(symbol.name, words)]
    if CLEARS.search(change.instruction):
        gone = [symbol for symbol in gone if symbol.depth == 0 and _is_used(symbol.name, after)]
    gone = [symbol for symbol in gone if not _is_imported(symbol.name, after)]
    names = {symbol.name for symbol in old}
    added = [symbol for symbol in new if symbol.name not in names]
    if not _ADDS.match(change.instruction) or TAKES.search(change.instruction):
        gone = list(_discontinued(gone, added, change, words))
    held_by_gone = {one.qualified for one in old} - places  # what is gone goes with its members
    return [one.qualified for one in gone if one.qualified.rpartition(".")[0] not in held_by_gone]


def _asks_for_less(instruction: str) -> bool:
    return bool(TAKES.search(instruction) or LESS.search(instruction))


def shortened_definitions(change: Change) -> Iterator[Finding]:
    """Definitions that lost more than half of their lines although the instruction does not ask
    for less code."""
    if _asks_for_less(change.instruction):
        return
    old, new = _unique(change.before), _unique(change.after)
    for name, (symbol, lines) in old.items():
        if name not in new or symbol.kind not in _NAMED_KINDS or lines < LINES:
            continue
        after, left = new[name]
        if left < SHORTER * lines:
            text = (
                f"`{name}` has {left} lines of {lines}, and the instruction does not ask for less"
            )
            yield at("lost-definition", after.first_line, text)


def lost_lines(change: Change) -> Iterator[Finding]:
    """Lines that are gone with nothing in their place, where the instruction takes nothing away."""
    if _asks_for_less(change.instruction):
        return
    old, new = change.before.text.split("\n"), change.after.text.split("\n")
    for a, b, c, d in changed_runs(old, new):
        gone = sum(bool(line.strip()) for line in old[a:b])
        if gone >= GONE and not any(line.strip() for line in new[c:d]):
            text = f"lines {a + 1}-{b} are gone, and the instruction does not ask for that"
            yield at("lost-lines", min(c + 1, len(new)), text)


def repeated_definitions(change: Change) -> Iterator[Finding]:
    """Definitions that stand in the text more often than before, where a language has no
    overloads."""
    if change.before.language.name not in _WITHOUT_OVERLOADS:
        return
    old, new = (
        Counter(one.qualified for one in text.symbols if one.kind in _NAMED_KINDS)
        for text in (change.before, change.after)
    )
    lines = change.after.text.split("\n")
    for one in change.after.symbols:
        if new[one.qualified] > max(1, old[one.qualified]) and one.kind in _NAMED_KINDS:
            if lines[one.first_line - 1].lstrip().startswith("@"):
                continue  # a property's setter, an overload
            if change.after.language.name == "go" and one.qualified in ("init", "_"):
                continue
            new[one.qualified] = 0
            yield at("repeated", one.first_line, f"`{one.qualified}` is defined twice")


def _unique(parsed: ParsedText) -> dict[str, tuple[Symbol, int]]:
    """The definitions whose name stands there once, each with its lines that are not blank."""
    count = Counter(one.qualified for one in parsed.symbols)
    lines = parsed.text.split("\n")
    return {
        one.qualified: (
            one,
            sum(bool(line.strip()) for line in lines[one.first_line - 1 : one.last_line]),
        )
        for one in parsed.symbols
        if count[one.qualified] == 1
    }


def renamed_definitions(change: Change) -> Iterator[Finding]:
    """Definitions that are gone by name although the instruction asks for no other names."""
    instruction, old, new = change.instruction, change.before.symbols, change.after.symbols
    old_names, new_names = {one.name for one in old}, {one.name for one in new}
    words = set(re.findall(r"[A-Za-z_$][\w$]*", instruction))
    added = [one for one in new if one.name not in old_names]
    about_names = re.search(r"(?i)\bname", instruction)
    if TAKES.search(instruction if about_names else _MILD.sub("", instruction)):
        return
    if any(one.own_name in words for one in added):
        return
    for one in old:
        if one.kind not in _NAMED_KINDS or one.name in new_names:
            continue
        if one.own_name.startswith("_") or one.own_name in words:
            continue
        if not _is_used(one.name, change.after.text):
            other = next((new for new in added if new.kind == one.kind), None)
            now = f": it is `{other.name}` now" if other is not None else ""
            line = other.first_line if other is not None else 1
            yield at("renamed", line, f"the instruction does not rename `{one.name}`{now}")


@frozen
class _Word:
    """One word of the instruction, and how it stands there."""

    text: str
    quoted: bool  # in quotes or backticks, or with a call's parentheses
    taken_by: int  # the last word before it, in its sentence, that takes something away; or -1


def _discontinued(
    gone: Sequence[Symbol], added: list[Symbol], change: Change, words: Sequence[_Word]
) -> Iterator[Symbol]:
    """Those that do not continue as one of the added definitions; each of these continues one."""
    before, after = change.before.text.split("\n"), change.after.text.split("\n")
    candidates = list(added)
    for symbol in gone:
        body = _body(symbol, before)
        rated = [(_alike(body, _body(other, after)), -n) for n, other in enumerate(candidates)]
        best, index = max(rated, default=(0.0, 0))
        if best < ALIKE:
            named = [
                other
                for other in candidates
                if (other.kind, other.depth) == (symbol.kind, symbol.depth)
                and any(True for _ in _mentions(other.name, words))
            ]
            if not named:
                yield symbol
                continue
            index = -candidates.index(named[0])
        del candidates[-index]


def _body(symbol: Symbol, lines: Sequence[str]) -> Counter[str]:
    """The words of a definition, without its name."""
    text = "\n".join(lines[symbol.first_line - 1 : symbol.last_line])
    words = Counter(re.findall(r"\w+|[^\w\s]", text))
    del words[symbol.name]
    return words


def _alike(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def _own_word(name: str) -> str:
    return rf"(?<![\w$]){re.escape(name.rpartition('.')[2])}(?![\w$])"


def _is_used(name: str, text: str) -> bool:
    return re.search(_own_word(name), text) is not None


def _is_imported(name: str, text: str) -> bool:
    importing = r"(?m)^[^\w\n]*(?:import|from|use|pub use)\b.*"
    return re.search(importing + _own_word(name), text) is not None


def _words(instruction: str) -> Iterator[_Word]:
    pattern = re.compile(r"([`'\"]?)([\w$]+(?:(?:\.|::)[\w$]+)*)(\(\))?|([.;\n])")
    index, taken_by = 0, -1
    for match in pattern.finditer(instruction):
        if match[4]:
            taken_by = -1
            continue
        yield _Word(match[2], bool(match[1] or match[3]), taken_by)
        if TAKES.match(match[2]) and not match[2].lower().startswith("chang"):
            taken_by = index
        index += 1


def _mentions(name: str, words: Sequence[_Word]) -> Iterator[int]:
    """Where the words of a name stand, in any spelling: `user_name` is "the user name" too."""
    wanted = [word.lower() for word in words_of(name.rpartition(".")[2])]
    pieces = [(part.lower(), n) for n, word in enumerate(words) for part in words_of(word.text)]
    for first in range(len(pieces) - len(wanted) + 1) if wanted else ():
        if [part for part, _ in pieces[first : first + len(wanted)]] == wanted:
            yield pieces[first][1]


def _is_taken(name: str, words: Sequence[_Word]) -> bool:
    """Whether the instruction takes this definition away."""
    for index in _mentions(name, words):
        verb = words[index].taken_by
        if verb < 0:
            continue
        before = index - 1
        while before > verb and _NOUNS.match(words[before].text):
            before -= 1
        if words[before].text.lower() in _WITHIN:
            continue
        if name.lower() not in _VERBS or words[index].quoted or before == verb:
            return True
    return False
