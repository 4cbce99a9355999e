"""Instructions that need no model: a rename of a local name, and one text for another.

Each counts only where it is the whole instruction and the file leaves no choice.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specedit.check.finding import Finding, Spot
from specedit.edit.imports.statements import IMPORTS
from specedit.files.source import Source
from specedit.import_time import regex
from specedit.syntax import trees
from specedit.syntax.branch import grow, passages
from specedit.syntax.languages import Language
from specedit.syntax.outline import CALLABLE

if TYPE_CHECKING:
    from specedit.scoping.meaning import Meaning
    from specedit.scoping.typing import Typing

    _Renamed = tuple[list[Meaning], str, tuple[int, int]]  # what, where, its first and last line

# `Rename the local variable total to result in checkout`
_IDENTIFIER = r"[`'\"]?(?P<{}>[A-Za-z_$][\w$]*)(?:\(\))?[`'\"]?"
_OLD = (
    r"(?:please\s+)?rename\s+(?:the\s+)?(?:(?:local|loop|private|static)\s+)*"
    r"(?:(?:variable|parameter|param|argument|arg|local|constant|function|method|field|class)\s+)?"
    + _IDENTIFIER.format("old")
)
_NEW = r"(?:to|as|into)\s+" + _IDENTIFIER.format("new")
_FUNCTION = (
    r"(?:in|inside|of|within)\s+(?:the\s+)?(?:function\s+|method\s+|constructor\s+)?"
    r"[`'\"]?(?P<function>[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[\w$]+)*)(?:\(\))?[`'\"]?"
    r"(?:\s+(?:function|method|constructor))?"
    r"(?:\s+only)?"
)
_MISSPELT = _IDENTIFIER.format("old") + r"\s+is\s+mis-?spel(?:led|t)\s*[;:,.]\s*rename\s+it"
_RENAMES = [
    regex(rf"(?i)^\s*{form}\s*[.!]?\s*$")
    for form in (
        rf"{_OLD}\s+{_NEW}\s+{_FUNCTION}",
        rf"{_OLD}\s+{_FUNCTION}\s+{_NEW}",
        rf"{_FUNCTION}\s*,?\s*{_OLD}\s+{_NEW}",
        rf"{_OLD}\s+{_NEW}",
        rf"{_MISSPELT}\s+{_NEW}",
    )
]
LOCAL = frozenset({"local", "parameter"})


def local_rename(source: Source, instruction: str) -> tuple[str, Finding] | None:
    """The new text, and what was done, where the whole instruction is a rename that the scopes of
    this file decide: of a local name of the one function that it names, or of a name that means one
    thing only in the file. Else None."""
    match = next((hit for form in _RENAMES if (hit := form.match(instruction))), None)
    if match is None or source.language is None:
        return None
    old, new, function = match["old"], match["new"], match.groupdict().get("function")
    from specedit.scoping.languages import rules_of
    from specedit.scoping.meaning import meanings_over
    from specedit.scoping.project import Project

    word = rf"(?<![\w$]){re.escape(old)}(?![\w$])"
    if rules_of(source.language.name) is None or not re.search(word, source.text):
        return None
    if trees.errors(source.text, source.language):
        return None
    typing = Project.of_text(source.text, source.language)
    if function:
        renamed = _in_function(source.text, source.language, typing, old, function)
    else:
        renamed = _in_file(typing, old)
    if renamed is None:
        return None
    chosen, where, (first, last) = renamed
    leaves = sorted({(leaf.start, leaf.end, leaf.line) for one in chosen for leaf in one.leaves})
    shorthand = any("shorthand" in leaf.type for one in chosen for leaf in one.leaves)
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
    if any(each.kind not in LOCAL for one in chosen for each in one.declared):
        text += f"; specedit rename {old} {new} renames it in other files too"
    return data.decode("utf-8", "surrogatepass"), Finding("renamed-local", text, spots)


def _in_function(
    text: str, language: Language, typing: Typing, old: str, function: str
) -> _Renamed | None:
    """What the name means as a local of the only function of that name."""
    named = trees.find_symbol(text, language, function)
    from specedit.scoping.meaning import meanings_over

    holders = [one for one in named if one.kind in CALLABLE]
    if len(holders) != 1:
        return None
    first, last = holders[0].first_line, holders[0].last_line
    chosen = [
        one
        for one in meanings_over([typing], old)
        if one.declared
        and all(each.kind in LOCAL and first <= each.leaf.line <= last for each in one.declared)
    ]
    return chosen, holders[0].qualified, (first, last)


def _in_file(typing: Typing, old: str) -> _Renamed | None:
    """What the name means where it means one thing in all of the file."""
    from specedit.scoping.meaning import meanings_over

    every = meanings_over([typing], old)
    if len(every) != 1 or not every[0].declared:
        return None
    if any(one.kind == "import" for one in every[0].declared):
        return None
    return every, "the file", (1, typing.scopes.data.count(b"\n") + 1)


# `Change the message "not found" to "no such file"`
_TEXT = r"""("[^"\n]+"|(?<!\w)'[^'\n]+'(?!\w)|`[^`\n]+`|“[^”\n]+”)"""  # with its marks
_WORDS = (
    r"(?:(?!\b(?:and|also|then|if|when|where|all|every|each|both|except|unless)\b)[^\"'`“\n]){0,60}"
)
_OLD_FIRST = regex(
    rf"(?i)^\s*{_WORDS}{_TEXT}\s*[,;]?\s*(?:to|with|by|into|(?:it\s+)?should\s+(?:be|say|read)"
    rf"|must\s+be)\s+{_TEXT}{_WORDS}$"
)
_NEW_FIRST = regex(
    rf"(?i)^\s*{_WORDS}{_TEXT}\s*,?\s*(?:instead\s+of|not|rather\s+than)\s+{_TEXT}{_WORDS}$"
)
_BESIDE = regex(r"(?i)\b(?:append|add|after|before|behind|between|next to|prefix|insert)\b")
_NEEDS_CARE = regex(r"[\"'`\\{}%$]")  # what a string literal may have to escape or to fill in
_NAMES = regex(  # what stands before a text that is a name: `the default of "timeout"`
    r"(?i)\b(?:of|for|in|on|from|keys?|fields?|param\w*|options?|variables?|arg\w*|named|called"
    r"|types?|defaults?|values?|functions?|methods?|class(?:es)?|rename)\s+$"
)
SHORTEST = 3  # characters of a text that says where


def quoted_replacement(source: Source, instruction: str) -> tuple[str, Finding] | None:
    """The new text, and what was done; None where the instruction is not such a replacement."""
    texts = None if _BESIDE.search(instruction) else _texts(instruction)
    if source.language is None or texts is None:
        return None
    old, new = texts
    if len(old) < SHORTEST or old == new or source.text.count(new):
        return None
    if set(_NEEDS_CARE.findall(new)) - set(_NEEDS_CARE.findall(old)):
        return None
    begin = r"(?<![\w$])" if re.match(r"\w", old) else ""
    end = r"(?![\w$])" if re.search(r"\w$", old) else ""
    place = re.search(begin + re.escape(old) + end, source.text)
    if place is None or source.text.count(old) != 1:
        return None
    start, stop = place.span()
    if not _in_prose(source.text, source.language, start):
        return None
    line = source.text.count("\n", 0, start) + 1
    text = f"replaced the only place of `{old[:60]}`; no model was asked"
    return source.text[:start] + new + source.text[stop:], Finding("replaced", text, (Spot(line),))


def _in_prose(text: str, language: Language, at: int) -> bool:
    """Whether a place of a text is in a comment or a string."""
    from specedit.scoping.languages import rules_of

    rules, data = rules_of(language.name), text.encode("utf-8", "surrogatepass")
    offset = len(text[:at].encode("utf-8", "surrogatepass"))
    literals = rules.strings if rules else frozenset[str]()
    return any(
        one.start <= offset < one.end for one in passages(grow(text, language), data, literals)
    )


def _texts(instruction: str) -> tuple[str, str] | None:
    """The text that goes and the one that comes."""
    match = _OLD_FIRST.match(instruction)
    if match is not None and not _NAMES.search(instruction[: match.start(1)]):
        return match[1][1:-1], match[2][1:-1]
    if (match := _NEW_FIRST.match(instruction)) is not None:
        return match[2][1:-1], match[1][1:-1]
    return None


# `Sort the imports`, and nothing else
_SORT_IMPORTS = (
    r"(?:sort|organi[sz]e|order|reorder) (?:(?:all|the|its|my|any|of|these|this) )*"
    r"(?:imports?|import statements|usings|using directives|use statements)(?: alphabetically)?"
    r"(?: (?:in|of|at the top of) (?:the|this) (?:whole )?(?:file|module))?"
)


def imports_to_sort(source: Source, instruction: str) -> tuple[int, int] | None:
    """The lines of the import statements, where sorting them is all that is asked for; None where
    it is not, or where there are none."""
    words = " ".join(instruction.lower().replace("please", " ").split()).strip(" .!")
    if source.language is None or not re.fullmatch(_SORT_IMPORTS, words):
        return None
    first = last = None
    for node in grow(source.text, source.language).children:
        if node.type in IMPORTS:
            first, last = first or node, node
        elif node.named and first and "comment" not in node.type:
            break
    if first is None or last is None:
        return None
    before = source.text.encode("utf-8", "surrogatepass")[: last.end].rstrip(b"\n")
    return first.line, before.count(b"\n") + 1
