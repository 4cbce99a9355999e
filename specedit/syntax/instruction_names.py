"""Where an instruction names definitions, and how: to be changed, used, compared with, removed.

A word counts as a name where only a name is written so: as code, beside its kind ("the write
method"), or behind a preposition ("in write only").
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from specedit.errors import NotDefined
from specedit.import_time import frozen, regex
from specedit.syntax.identifiers import words_of
from specedit.syntax.outline import Symbol

TYPES = frozenset({"class", "interface", "enum", "type"})
_KIND = (
    r"(?:functions?|methods?|class(?:es)?|structs?|interfaces?|enums?|traits?|types?|constructors?"
    r"|propert(?:y|ies)|fields?|constants?|const|members?|helpers?|getters?|setters?|hooks?"
    r"|components?|handlers?|def|func|fn|test)"
)
_KIND_BEFORE = regex(rf"(?i)\b{_KIND}\s+[`'\"]?$")
_KIND_BEHIND = regex(rf"(?i)[`'\"]?(?:\(\))?(?:'s)?\s+{_KIND}\b")
# Words before a name that is not a definition of the file.
_LOCAL = regex(
    r"(?i)\b(?:variables?|locals?|parameters?|params?|arguments?|args?|attributes?|keys?|flags?"
    r"|options?|columns?|keyword|named|called|import|exception|error|string|value|module"
    r"|package|library|header|alias|annotation|decorator|(?<!the\s)type)\s+[`'\"]?$"
)
_ADDED = regex(
    r"(?i)\b(?:add|create|introduce|implement|define|write|provide)\s+(?:an?\s+|the\s+|another\s+"
    r"|new\s+|static\s+|public\s+|private\s+|async\s+)*[`'\"]?(?:[\w$.]+\.)?$"
)
_AS = regex(r"[`'\"]?\s+as\b")  # "write f as a loop": it is there already
_USED = regex(  # words before a name that is used, not changed
    r"(?i)\b(?:us(?:e|es|ed|ing)|call(?:s|ed|ing)?|invok(?:e|es|ing)|via|with|than|through"
    r"|instead of|rais(?:e|es|ing)|throw(?:s|ing)?|catch(?:es|ing)?"
    r"|return(?:s|ing)?(?!\s+(?:value|type)\b)"
    r"|pass(?:es|ing)?|set(?:s|ting)? to|equals?|instance of|subclass of|extend(?:s|ing)?"
    r"|deriv(?:e|es|ing) from|delegat(?:e|es|ing) to|import(?:s|ing)?|if|when|unless|until|while"
    r"|and then|is an?|as an?|before|after|once)"
    r"(?:\s+(?:of|to|by|the|an?|its|their|our|existing|result|value|function|method|class))*"
    r"\s+[`'\"]?(?:[\w$]+(?:\.|::|->|#))*$"
)
_LIKE = regex(  # words before a name that a new definition is compared with
    r"(?i)\b(?:like|in the (?:style|manner) of|similar to|same (?:way )?as|as in|analogous to"
    r"|modell?ed (?:on|after)|next to|besides?|behind|after|before|below|under|above|following"
    r"|counterpart (?:of|to|for))"
    r"(?:\s+(?:the|its|existing|sibling|function|method|class))*\s+[`'\"]?(?:[\w$]+(?:\.|::|->|#))*$"
)
_COMPARED = regex(
    r"(?i)\b(?:like|in the (?:style|manner) of|similar to|same (?:way )?as|just as|as in|as)"
    r"\s+(?:the\s+)?[`'\"]?"
    r"(?:[\w$]+(?:\.|::|->|#))*$"
)
_EVERYWHERE = regex(  # words before a name that goes, with its uses
    r"(?i)\b(?:renam(?:e|es|ed|ing)|replac(?:e|es|ed|ing)|remov(?:e|es|ed|ing)"
    r"|delet(?:e|es|ed|ing)|drop|mov(?:e|es|ed|ing)|inlin(?:e|es|ed|ing)|(?:uses|usages?|calls|"
    r"callers|references|occurrences)\s+(?:of|to))"
    r"(?:\s+(?:the|to|function|method|class|constant|unused|dead|old))*\s+[`'\"]?"
    r"(?:[\w$]+(?:\.|::|->|#))*$"
)
_QUALIFIES = regex(r"(?:\.|::|->|#)[\w$]")  # behind a name that only says where
_SUBJECT_BEFORE = regex(  # where a plain word is a name: `in write only`
    r"(?i)(?:^\W*|\b(?:in|inside|within|of|to|for|from|let|make|have|on|like|to|beside|behind|after|before)\s+)[`'\"]?$"
)
_SUBJECT_BEHIND = regex(
    r"[`'\"]?(?:[:.,;](?:\s|$)|\s*$|\s+(?:should|must|shall|only|so|accept|return|raise|throw|take|with|when|that|and|if|which|whose"
    r"|as|by|instead|before|after|unless|using|where)\b)"
)
NEW = regex(  # a new definition is asked for
    r"(?i)\b(?:add|create|introduce|implement|write|provide|define)\s+"
    r"(?!(?:the|this|that|these)\s+(?!new\b))"
    r"(?:(?!(?:to|in|for|of|on|into|from|with|that|parameter|argument|param|docs?|comments?|hints?"
    r"|docstrings?|annotations?|checks?|calls?|logging|guard|case|import|as)\b)[`'\w$().-]+\s+){0,6}?"
    r"(?:method|function|helper|class|struct|interface|enum|constructor|getter|setter|overload|test"
    r"|property|constant)s?\b(?!\s+(?:parameter|argument|call|name|comment|doc\w*|type|signature)\b)"
    r"(?!\s*(?:,\s*)?(?:should|must)\b)"
)
_VALUE = regex(
    r"(?i)\b(?:change|set|let|make|raise|lower|reduce|increase|decrease|double|halve|bump|turn"
    r"|update|rewrite|extend)\s+(?:(?:the|default|value|constant|limit|of)\s+)*[`'\"]?(?:[\w$]+\.)*$"
)
_VALUE_NEW = regex(r"[`'\"]?\s+(?:to|from|by)\s")
_VALUE_BEHIND = regex(r"(?i)[`'\"]?\s+(?:should|must|shall|has to|is to)\s+")
_HOLDS = regex(  # words before a value that gets another part
    r"(?i)\b(?:add(?:s|ed|ing)?|append(?:s|ing)?|put(?:s|ting)?|insert(?:s|ing)?|remov(?:e|es|ing)"
    r"|drop(?:s|ping)?|delet(?:e|es|ing)|list|includ(?:e|es|ing)|allow|sort)\b.*"
    r"\b(?:in|to|into|from|of)\s+(?:the\s+)?(?:\w+\s+)?[`'\"]?(?:[\w$]+\.)*$"
)
_LISTED = regex(  # `the methods stop and run`, up to the last of the names
    rf"(?i)\b{_KIND}\s+(?:[`'\"]?[\w$.]+[`'\"]?(?:\(\))?(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+))+[`'\"]?$"
)
CODE = regex(r"_|\d|[a-z$][A-Z]|[A-Z]{2,}[a-z]|\$")
_PLACED = regex(  # `in the function f`, `in the f method`
    rf"(?i)\b(?:in|inside|of)\s+(?:the\s+)?(?:{_KIND}\s+[`'\"]?([A-Za-z_$][\w$.:#]*[\w$])"
    rf"(?:\(\))?[`'\"]?|[`'\"]?([A-Za-z_$][\w$.:#]*[\w$])(?:\(\))?[`'\"]?\s+{_KIND}\b)"
)


_PLACED_AT = regex(  # `In Cart.total, …`, `of f()`; `it` is no name, which the caller tells
    r"(?i)(?:^\W*|\b(?:in|inside|within|of)\s+(?:the\s+)?)(?:`([A-Za-z_$][\w$.:#]*)(?:\(\))?`"
    r"|([A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*)(?:\(\))?)(?=\s*[,:;]\s)"
)
_PLAIN = regex(  # `the write method`, `the method write`
    r"(?i)\bthe\s+([a-z]\w+)\s+(?:function|method|class|constant)\b"
    r"|\bthe\s+(?:function|method|class|constant)\s+([a-z]\w+)\b"
)
SIMILAR = 0.75  # of a plain word to a name that it likely means, as difflib measures it
FEW = 8  # names that a message lists


@frozen
class Mention:
    """A definition where the instruction names it."""

    symbol: Symbol
    before: str  # the instruction's text on both sides of the name
    behind: str

    @property
    def everywhere(self) -> bool:
        """It is renamed, removed or replaced with all of its uses."""
        return bool(_EVERYWHERE.search(self.before))

    @property
    def used(self) -> bool:
        """It is only used, or something else is compared with it."""
        if _VALUE.search(self.before) and _VALUE_NEW.match(self.behind):  # "raise LIMIT to 3"
            return False
        return bool(_USED.search(self.before) or _COMPARED.search(self.before))

    @property
    def like(self) -> bool:
        """A new definition is compared with it, or stands beside it."""
        return bool(_LIKE.search(self.before))

    @property
    def valued(self) -> bool:
        """It gets another value, or what it holds changes."""
        behind = _VALUE_BEHIND.match(self.behind)
        return bool(behind or _VALUE.search(self.before) or _HOLDS.search(self.before))


def mentions_of(symbols: Sequence[Symbol], instruction: str) -> list[Mention]:
    """Where the instruction names definitions, in a way that only a name is written."""
    by_name: dict[str, list[Symbol]] = {}
    for one in symbols:
        by_name.setdefault(one.own_name, []).append(one)
    mentions = []
    for name, held in by_name.items():
        for match in _places(name, instruction):
            before, behind = instruction[: match.start()], instruction[match.end() :]
            prefix = re.search(r"[\w$.:#>-]*?([\w$]+)(?:\.|::|->|#)$", before)
            members = [
                one
                for one in held
                if prefix and f".{one.qualified}".endswith(f".{prefix[1]}.{name}")
            ]
            added = _ADDED.search(before) and not _AS.match(behind)
            if _LOCAL.search(before) or added or _QUALIFIES.match(behind):
                continue
            is_call = match[0].endswith("()")
            if not (members or is_call or _is_name(name, before, behind, held)):
                continue
            chosen = members or ([] if prefix and prefix[1] not in ("this", "self") else held)
            mentions += [Mention(one, before, behind) for one in chosen]
    return mentions


def _places(name: str, instruction: str) -> Iterator[re.Match[str]]:
    yield from re.finditer(rf"(?<![\w$]){re.escape(name)}(?:\(\))?(?![\w$])", instruction)
    words = words_of(name)
    if len(words) > 1:  # "the lookup path method"
        spoken = r"[\s-]+".join(map(re.escape, words))
        yield from re.finditer(rf"(?i)(?<![\w$.]){spoken}(?=\s+{_KIND}\b)", instruction)


def _is_name(name: str, before: str, behind: str, held: Sequence[Symbol]) -> bool:
    """Whether a word stands as a name and not as a word of English."""
    if CODE.search(name) or before.endswith("`") or behind.startswith(("(", "`")):
        return True
    if before.endswith(("'", '"')) and behind.startswith(before[-1]):
        return True
    if any(one.search(before) for one in (_KIND_BEFORE, _LISTED)) or _KIND_BEHIND.match(behind):
        return True
    if name[:1].isupper() and before.strip() and any(one.kind in TYPES for one in held):
        return True
    if name.isupper() and len(name) > 2:
        return True
    if _VALUE.search(before) and re.match(r"\s+(?:to|from|by|should|must)\b", behind):
        return all(one.kind in ("value", "property") for one in held)
    return bool(_SUBJECT_BEFORE.search(before) and _SUBJECT_BEHIND.match(behind))


def check_names(symbols: Sequence[Symbol], text: str, instruction: str) -> None:
    """An error where the instruction places the change in a definition that the file does not
    have: the file does not even have the word, and it is written as only a name is, or as a name
    of the file with a letter too many, too few or wrong."""
    if NEW.search(instruction) or not symbols:
        return
    known = {each.own_name: each.qualified for each in symbols}
    for pattern in (_PLACED, _PLACED_AT, _PLAIN):
        for one in pattern.finditer(instruction):
            dotted = next(filter(None, one.groups()))
            *holders, name = re.split(r"\.|::|->|#", dotted)
            if re.search(rf"(?i)(?<![\w$]){re.escape(name)}(?![\w$])", text):
                continue
            code = one[0].count("`") > 1 or "()" in one[0] or bool(CODE.search(name))
            code |= bool(holders) and holders[-1] in known
            code &= pattern is not _PLAIN
            near = difflib.get_close_matches(name, known, 1, 0.6 if code else SIMILAR)
            if code or near:
                names = ", ".join([*known.values()][:FEW]) + (", …" if len(known) > FEW else "")
                nearest = f"The nearest name is {known[near[0]]}." if near else ""
                raise NotDefined(
                    f"defines no {dotted}; nothing was asked.",
                    hint=nearest or f"It defines: {names}.",
                )
