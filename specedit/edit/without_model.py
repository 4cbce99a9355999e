"""Instructions that need no model: a rename of a local name, `one text -> another`, or a question.
The first two count only where they are the whole instruction and the file leaves no choice. When
unsure whether it is a question, it is an edit: an edit can be undone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from specedit.check.answer import ABOUT_COMMENTS
from specedit.check.finding import Finding, Spot
from specedit.edit.regions.blocks import paths_in
from specedit.errors import NotDefined, Skipped, listed
from specedit.files.source import Source
from specedit.syntax import trees
from specedit.syntax.branch import grow, passages
from specedit.syntax.identifiers import near
from specedit.syntax.languages import Language
from specedit.syntax.outline import CALLABLE, Symbol

if TYPE_CHECKING:
    from specedit.scoping.meaning import Meaning
    from specedit.scoping.typing import Typing

    _Renamed = tuple[list[Meaning], str, tuple[int, int]]  # what, where, its first and last line


_ARROW = re.compile(r"^\s*(\S.*?)\s+(?:->|=>|→)\s+(\S.*?)\s*$")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_NAME = r"[`'\"]?([A-Za-z_$][\w$]*)(?:\(\))?[`'\"]?"
_INSIDE = (
    r"(?:\s+in\s+(?:the\s+)?(?:function\s+|method\s+)?"
    r"[`'\"]?([A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[\w$]+)*)(?:\(\))?[`'\"]?(?:\s+only)?)?"
)
_RENAME = re.compile(  # `Rename the local variable total to result in checkout`
    r"(?i)^\s*(?:please\s+)?rename\s+"
    r"(?:(?:the|local|variable|parameter|function|method|field|class)\s+)*"
    rf"{_NAME}{_INSIDE}\s+(?:to|as|into)\s+{_NAME}{_INSIDE}\s*[.!]?\s*$"
)
_CHANGE = re.compile(
    r"(?is)^\s*(?:please\s+)?(?:change|replace)\s+(?:the\s+)?(?:(?:text|string|message|word)\s+)?"
    r"(?P<mark>[`'\"])(?P<old>[^\n]+?)(?P=mark)\s+(?:to|with|by|into)\s+"
    r"(?P<other>[`'\"])(?P<new>[^\n]+?)(?P=other)\s*[.!]?\s*$"
)
_VALUE = re.compile(  # `Raise LIMIT to 50`
    r"(?i)^\s*(?:please\s+)?\w+\s+(?:the\s+)?`?(?P<name>[a-z_$][\w$]*)`?\s+to\s+"
    r"(?P<value>-?\d(?:[\w.]*\w)?|true|false|none|null|\"[^\"\n]*\"|'[^'\n]*')\s*[.!]?\s*$"
)
LOCAL = frozenset({"local", "parameter"})


def local_rename(source: Source, instruction: str) -> tuple[str, Finding] | None:
    """The new text, and what was done, where the whole instruction is a rename that scopes decide:
    of a local name of the one function that it names, or of a name with one meaning in the file."""
    asked = _rename_of(instruction)
    if asked is None or source.language is None:
        return None
    old, new, function = asked
    if not function and any(path.is_code for path in paths_in(instruction) if path.name == old):
        _check_occurs(source.text, old)
    from specedit.scoping.languages import rules_of
    from specedit.scoping.meaning import meanings_over
    from specedit.scoping.project import Project

    word = rf"(?<![\w$]){re.escape(old)}(?![\w$])"
    if rules_of(source.language.name) is None:
        return None
    if not (function or re.search(word, source.text)) or trees.errors(source.text, source.language):
        return None
    typing = Project.of_text(source.text, source.language)
    meanings = meanings_over([typing], old)
    if function:
        named = trees.find_symbol(source.text, source.language, function)
        holders = [symbol for symbol in named if symbol.kind in CALLABLE]
        if len(holders) == len(named) == 1:
            _check_used(source, typing, meanings, old, holders[0])
        renamed = _in_function(meanings, holders[0]) if len(holders) == 1 else None
    else:
        renamed = _in_file(meanings, typing)
    if renamed is None:
        return None
    chosen, where, (first, last) = renamed
    leaves = sorted(
        {(leaf.start, leaf.end, leaf.line) for meaning in chosen for leaf in meaning.leaves}
    )
    shorthand = any("shorthand" in leaf.type for meaning in chosen for leaf in meaning.leaves)
    if not leaves or shorthand:
        return None
    for other in meanings_over([typing], new):
        if any(first <= leaf.line <= last for leaf in other.leaves):
            return None
    data = source.text.encode("utf-8", "surrogatepass")
    for start, end, _ in reversed(leaves):
        if data[start:end] != old.encode():
            return None  # a sigil, an escaped name
        data = data[:start] + new.encode() + data[end:]
    spots = tuple(Spot(line) for line in dict.fromkeys(line for *_, line in leaves))
    text = f"renamed {old} in {where} by its scope; no model was asked"
    if any(each.kind not in LOCAL for meaning in chosen for each in meaning.declared):
        text += f"; specedit rename {old} {new} renames it in other files too"
    return data.decode("utf-8", "surrogatepass"), Finding("renamed-local", text, spots)


def _rename_of(instruction: str) -> tuple[str, str, str | None] | None:
    """The old name, the new one, and the function that the instruction names."""
    if match := _RENAME.match(instruction):
        return match[1], match[3], match[2] or match[4]
    texts = _ARROW.match(instruction)
    names = [text.strip("`") for text in texts.groups()] if texts else []
    if not names or not all(map(_IDENTIFIER.fullmatch, names)):
        return None
    return names[0], names[1], None


def _in_function(meanings: Sequence[Meaning], holder: Symbol) -> _Renamed | None:
    """The meanings of a name as a local of a function."""
    first, last = holder.first_line, holder.last_line
    chosen = [
        meaning
        for meaning in meanings
        if meaning.declared
        and all(each.kind in LOCAL and first <= each.leaf.line <= last for each in meaning.declared)
    ]
    return (chosen, holder.qualified, (first, last)) if chosen else None


def _check_used(
    source: Source, typing: Typing, meanings: Sequence[Meaning], old: str, holder: Symbol
) -> None:
    """An error where the code of a function does not have this name."""
    from specedit.scoping.meaning import meanings_over

    first, last = holder.first_line, holder.last_line
    if any(first <= leaf.line <= last for meaning in meanings for leaf in meaning.leaves):
        return
    words = dict.fromkeys(_IDENTIFIER.findall("\n".join(source.text.split("\n")[first - 1 : last])))
    has = [word for word in words if _in_function(meanings_over([typing], word), holder)]
    raise NotDefined(
        f"{holder.qualified} has no {old}; nothing was asked.",
        hint=f"Its own names are {listed(has, 8)}." if has else "",
    )


def _in_file(meanings: Sequence[Meaning], typing: Typing) -> _Renamed | None:
    """The meaning of a name that means one thing in all of the file."""
    if len(meanings) != 1 or not meanings[0].declared:
        return None
    if any(declaration.kind == "import" for declaration in meanings[0].declared):
        return None
    return [*meanings], "the file", (1, typing.scopes.data.count(b"\n") + 1)


MAX_SEARCHED_WORDS = 20_000  # for the nearest one
_SPELLING = re.compile(r"[\s\\\"'`]+")  # what a text in a string may have more or less of


def _check_occurs(text: str, old: str) -> None:
    """An error with the nearest text where a file does not have this one, in no spelling."""
    as_spelled, everything = (_SPELLING.sub("", part).lower() for part in (old, text))
    if as_spelled in everything:
        return
    words = [*islice(re.finditer(r"[\w$]+", text), MAX_SEARCHED_WORDS)]
    last = max(1, len(re.findall(r"[\w$]+", old))) - 1
    runs = {text[a.start() : b.end()] for a, b in zip(words, words[last:], strict=False)}
    hint = near(old, {run for run in runs if "\n" not in run}, cutoff=0.75)
    raise NotDefined(f"`{old}` does not occur; nothing was asked.", hint=hint)


def check_value(text: str, instruction: str) -> None:
    """An error where all that is asked for is a value that a name has: it is assigned once."""
    asked = _VALUE.match(instruction)
    if asked is None:
        return
    assigned = rf"(?m)(?<![\w$]){re.escape(asked['name'])}\b(?:\s*:[^=\n]*)?\s*(\S*?=)(?!=)\s*(.*)$"
    found = [*re.finditer(assigned, text)]
    value = re.sub(r"\s*[;,]?\s*(?:(?:#|//|--).*)?$", "", found[0][2]) if found else ""
    if len(found) == 1 and found[0][1] == "=" and value == asked["value"]:
        line = text.count("\n", 0, found[0].start()) + 1
        raise Skipped(f"`{asked['name']}` is {value} already (line {line}); nothing was asked")


_NEEDS_CARE = re.compile(r"[\"'`\\{}%$]")  # what a string literal may have to escape or to fill in
SHORTEST_ANCHOR = 3  # characters of a text that says where


def text_replacement(source: Source, instruction: str) -> tuple[str, Finding] | None:
    """The new text, and what was done, where the whole instruction is `one text -> another one`, in
    comments and strings only, or `Change 'one text' to 'another one'`, at one place only."""
    if (quoted := _CHANGE.match(instruction)) is not None:
        return _only_place(source.text, quoted["old"], quoted["new"])
    texts = _ARROW.match(instruction)
    if source.language is None or texts is None:
        return None
    old, new = (_without_quotes(text) for text in texts.groups())
    if len(old) < SHORTEST_ANCHOR or old == new or set(_NEEDS_CARE.findall(new)) - set(old):
        return None
    word = re.compile(_standing_alone(old, re.escape(old)))
    text, starts = source.text, [hit.start() for hit in word.finditer(source.text)]
    if not starts or not _are_in_prose(text, source.language, starts):
        return None
    line, lines = 1, []
    for before, start in pairwise((0, *starts)):
        line += text.count("\n", before, start)
        lines.append(line)
    where = "the only place" if len(starts) == 1 else f"all {len(starts)} places"
    note = f"replaced {where} of `{old[:60]}`; no model was asked"
    return word.sub(lambda _: new, text), Finding("replaced", note, tuple(map(Spot, lines)))


def _only_place(text: str, old: str, new: str) -> tuple[str, Finding] | None:
    """The text with the only place of `old` replaced; that may begin with the other of a capital
    and a small letter, and then the new text does too."""
    either = f"(?i:{re.escape(old[:1])}){re.escape(old[1:])}"
    found = list(re.finditer(_standing_alone(old, either), text))
    if not found:
        _check_occurs(text, old)
    if len(found) != 1 or set(_NEEDS_CARE.findall(new)) - set(old):
        return None
    place = found[0]
    if place[0] != old:
        new = (new[:1].upper() if place[0][0].isupper() else new[:1].lower()) + new[1:]
    note = f"replaced the only place of `{place[0][:60]}`; no model was asked"
    spot = Spot(text.count("\n", 0, place.start()) + 1)
    return text[: place.start()] + new + text[place.end() :], Finding("replaced", note, (spot,))


def _standing_alone(text: str, pattern: str) -> str:
    """The pattern of a text, where it is not part of a longer name."""
    begin = r"(?<![\w$])" if re.match(r"\w", text) else ""
    return begin + pattern + (r"(?![\w$])" if re.search(r"\w$", text) else "")


def _without_quotes(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`" else text


def _are_in_prose(text: str, language: Language, places: Sequence[int]) -> bool:
    """Whether each of these places, in rising order, is in a comment or a string."""
    from specedit.scoping.languages import rules_of

    rules, data = rules_of(language.name), text.encode("utf-8", "surrogatepass")
    literals = rules.strings if rules else frozenset[str]()
    spans = passages(grow(text, language), data, literals)
    offset = at = 0
    for before, place in pairwise((0, *places)):
        offset += len(text[before:place].encode("utf-8", "surrogatepass"))
        while at < len(spans) and spans[at].end <= offset:
            at += 1
        if at == len(spans) or offset < spans[at].start:
            return False
    return True


_ASKS = re.compile(
    r"(?i)^\W*(?:please\s+|(?:can|could|would) you (?:please )?)?"
    r"(?:explain|why(?! not| don't)|tell me|walk me through|help me understand"
    r"|how (?:does|do|did|is|are|many|much|come)|what does)\b"
)
_WISHES = re.compile(  # an edit in the words of a question
    r"(?i)^\W*(?:please\s+)?(?:(?:can|could|would|will) (?:you|we)|why not|why (?:don't|can't)"
    r"|(?:what|how) about)\b"
)


OPERATORS = frozenset({"??", "?:", "?."})


def is_question(instruction: str) -> bool:
    """Whether each sentence is a question."""
    text = instruction.replace("’", "'").strip()
    if not OPERATORS.isdisjoint(text.split()[-1:]):  # replace it by ??
        return False
    sentences = [part for part in re.split(r"(?<=[.?!？！。])\s*", text) if part.strip(" .")]
    return bool(sentences) and all(map(_is_question, sentences))


def _is_question(sentence: str) -> bool:
    if asks := _ASKS.match(sentence):
        return sentence.endswith("?") or not ABOUT_COMMENTS.search(sentence[asks.end() :])
    return sentence.endswith(("?", "？")) and not _WISHES.match(sentence)
