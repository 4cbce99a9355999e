"""Definitions and lines that an edit lost, and whether the instruction asks for that.

A definition that is gone continues under another name, is imported now, or the instruction takes it
away: it says that something goes, and names the definition or leaves it unused.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from operator import itemgetter

from specedit.check.finding import Finding, at
from specedit.check.parsed import Change
from specedit.syntax.identifiers import words_of
from specedit.syntax.lines import changed_runs
from specedit.syntax.outline import Symbol

MOST_COMPARED = 200_000  # pairs of a definition that is gone and one that is added
# Share of common words from which a definition continues under another name
MIN_COMMON_WORDS_SHARE = 0.6
GONE = 5  # lines that are gone with nothing in their place

TAKES_AWAY = re.compile(  # a word that takes something away, or makes another thing of it
    r"(?i)\b(?:remov|delet|drop(?!d)|strip|clean|prun|renam|replac|inlin|merg|mov(?:e|ing)|extract"
    r"|split|combin|fold(?!e)|conver|turn(?:s|ed|ing)? \w+ into|swap|collaps|unif|rid\b"
    r"|lösch|entfern|supprim|elimin|borra|quita|удал)|删|移除|削除"
)
LESS = re.compile(  # a word that asks for less code
    r"(?i)\b(?:simplif|shorten|refactor|rewrit|reduc|compact|comprehension|one[- ]?line|dedup|reus"
    r"|delegat|us(?:e|ing)\b|call\b|generator|compute|optimi[sz]|only\b|instead\b|chang|longer\b)"
)


def lost_definitions(change: Change) -> tuple[list[str], list[str]]:
    """The names of definitions that are gone and that nothing accounts for; and of those that the
    instruction may mean, as they are used nowhere, and does not name."""
    old, new = change.before.symbols, change.after.symbols
    places, count = {symbol.qualified for symbol in new}, Counter(symbol.name for symbol in new)
    had = Counter(symbol.name for symbol in old)
    gone = [
        symbol
        for symbol in old
        if symbol.qualified not in places and count[symbol.name] < had[symbol.name]
    ]
    names = {symbol.name for symbol in gone}
    imported = {name for name in names if _is_imported(name, change.after.text)}
    gone = [symbol for symbol in gone if symbol.name not in imported]
    if not gone:
        return [], []
    names = {symbol.name for symbol in old}
    added = [symbol for symbol in new if symbol.name not in names]
    gone = list(_discontinued(gone, added, change))
    held_by_gone = {symbol.qualified for symbol in old} - places  # members go with what held them
    gone = [symbol for symbol in gone if symbol.qualified.rpartition(".")[0] not in held_by_gone]
    if not TAKES_AWAY.search(change.instruction):
        return [symbol.qualified for symbol in gone], []
    words = _words(change.instruction)
    named = {symbol for symbol in old if _place_of(symbol, words) >= 0}
    lost, unnamed = [], []
    for symbol in gone:
        inside = f"{symbol.qualified}."
        of_member = any(member.qualified.startswith(inside) for member in named)
        is_used = _is_used(symbol.name, change.after.text)
        if symbol in named and not of_member:
            if is_used and _may_be_a_verb(symbol, change.instruction):
                lost.append(symbol.qualified)
        elif is_used or of_member or symbol.depth:
            lost.append(symbol.qualified)
        else:
            unnamed.append(symbol.qualified)
    return lost, unnamed


def lost_lines(before: str, after: str, instruction: str) -> Iterator[Finding]:
    """Lines that are gone with nothing in their place and stand nowhere else, where the instruction
    takes nothing away and does not ask for less code."""
    if TAKES_AWAY.search(instruction) or LESS.search(instruction):
        return
    old, new = before.split("\n"), after.split("\n")
    kept = {"", *map(str.strip, new)}
    for a, b, c, d in changed_runs(old, new):
        gone = sum(line.strip() not in kept for line in old[a:b])
        if gone >= GONE and not any(line.strip() for line in new[c:d]):
            text = f"lines {a + 1}-{b} are gone, and the instruction does not ask for that"
            yield replace(at("lost-lines", min(c + 1, len(new)), text), refuses=True)


def _discontinued(
    gone: Sequence[Symbol], added: Sequence[Symbol], change: Change
) -> Iterator[Symbol]:
    """Those that do not continue as one of the added definitions; each of these continues one: by
    what is in it, or of the same kind and under a name that the instruction gives."""
    before, after = change.before.text.split("\n"), change.after.text.split("\n")
    bodies = [_body(other, after) for other in added]
    words = _words(change.instruction)
    named = [_place_of(other, words) for other in added]
    takes_away = TAKES_AWAY.search(change.instruction) is not None
    equal = defaultdict[frozenset[tuple[str, int]], deque[int]](deque)
    for number, body in enumerate(bodies):
        equal[frozenset(body.items())].append(number)
    left = dict.fromkeys(range(len(added)))  # those that continue none yet
    most = max(1, MOST_COMPARED // max(1, len(gone)))
    for symbol in gone:
        body = _body(symbol, before)
        same = equal[frozenset(body.items())]
        while same and same[0] not in left:
            same.popleft()
        best, number = (1.0, same[0]) if same and body else (0.0, 0)
        if not best:
            rated = ((_alike(body, bodies[other]), other) for other in islice(left, most))
            best, number = max(rated, key=itemgetter(0), default=(0.0, 0))  # the first of the best
        kind = symbol.kind, symbol.depth
        if best < MIN_COMMON_WORDS_SHARE:
            by_name = (n for n in left if named[n] >= 0 and (added[n].kind, added[n].depth) == kind)
            if (first := next(by_name, None)) is None:
                yield symbol
                continue
            number = first
        beside = (added[number].kind, added[number].depth) == kind
        if beside and not takes_away and 0 <= named[number] < _place_of(symbol, words):
            yield symbol  # "add GetLong like GetInt"; a rename names the old one first
            continue
        del left[number]


def _body(symbol: Symbol, lines: Sequence[str]) -> Counter[str]:
    """The words of a definition, without its name."""
    text = "\n".join(lines[symbol.first_line - 1 : symbol.last_line])
    words = Counter(re.findall(r"\w+|[^\w\s]", text))
    del words[symbol.name]
    return words


def _alike(words: Counter[str], other: Counter[str]) -> float:
    return 2 * (words & other).total() / max(1, words.total() + other.total())


def _own_word(name: str) -> str:
    return rf"(?<![\w$]){re.escape(name.rpartition('.')[2])}(?![\w$])"


def _is_used(name: str, text: str) -> bool:
    return re.search(_own_word(name), text) is not None


def _is_imported(name: str, text: str) -> bool:
    importing = r"(?m)^[^\w\n]*(?:import|from|use|pub use)\b.*"
    return re.search(importing + _own_word(name), text) is not None


def _may_be_a_verb(symbol: Symbol, instruction: str) -> bool:
    """Whether the name is a word as any other, and does not stand in quotes or as a call."""
    name = _own_word(symbol.name)
    is_marked = re.search(rf"[`'\"]{name}[`'\"]|{name}\(", instruction)
    return symbol.own_name.islower() and symbol.own_name.isalpha() and not is_marked


def _words(text: str) -> list[str]:
    """The words of a text, those of a name apart."""
    return [part.lower() for word in re.findall(r"[\w$]+", text) for part in words_of(word)]


def _place_of(symbol: Symbol, words: Sequence[str]) -> int:
    """Where the words of the name first stand in the instruction, in any spelling: `user_name` is
    "the user name" too; -1 where they do not."""
    wanted = [word.lower() for word in words_of(symbol.own_name)]
    starts = range(len(words) - len(wanted) + 1) if wanted else ()
    return next((start for start in starts if words[start : start + len(wanted)] == wanted), -1)
