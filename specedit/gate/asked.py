"""What an instruction asks for in so many words, and the answer has nothing of: a generator without
a `yield`, a parameter that no definition took, a dictionary where a number is returned.

Sentences that take something away ask for nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.gate.callers import demanding
from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.gate.wishes import WISHES, AskedFor
from specedit.scoping.scope import FUNCTIONS
from specedit.syntax.losses import TAKES

NOT = re.compile(r"(?i)\b(?:not|no|without|never|avoid|don't|doesn't|instead|rather|unless)\b")


_CLASS = re.compile(
    r"(?i)\b(?:create|make|encapsulate\w*|convert|turn|refactor|wrap|define|add|to be|into|as)\b"
    r"(?:\s+\w+){0,6}?\s+(?:a|an|new|into a|called)\s+(?:\w+\s+)?class\b"
)
_PARAMETER = re.compile(
    r"(?i)\b(?:add|accept|receive|introduc|includ|via|new|extra|additional|optional|another"
    r"|one more|take)\w*\b[^.;\n]{0,40}\b(?:parameters?|arguments?)\b"
    r"|\bas an? (?:\w+ )?(?:parameter|argument)\b"
)
_OPTIONAL = re.compile(
    r"(?i)compatib|\boptional|\bdefault|\ballow|\bexisting (?:\w+ )?(?:code|call|use)"
)
_WORDS = {
    "dict": ("dict", "dictionary", "mapping"),
    "list": ("list",),
    "tuple": ("tuple",),
    "set": ("set",),
    "bool": ("bool", "boolean"),
    "str": ("string",),
}
_RETURN = re.compile(
    r"(?i)\breturn(?:s|ing|ed)?\s+(?:\w+\s+){0,2}?(?:an?|the)\s+(?:\w+\s+){0,2}?"
    rf"({'|'.join(word for words in _WORDS.values() for word in words)})\b"
)
_CLASSES = r"(?m)^\s*(?:\w+ )*(?:class|struct)\b"


def hits(change: Change) -> Iterator[Hit]:
    for sentence in re.split(r"[.;\n]\s+|\n", change.instruction):
        if NOT.search(sentence) or TAKES.search(sentence.split(" to ")[0]):
            continue
        for wish in WISHES:
            if re.search(f"(?i){wish.said}", sentence) and _lacks(change, wish):
                said = f"the instruction asks for {wish.what}, and the answer has none"
                yield Hit("missing", 1, said)
                break
    if _CLASS.search(change.instruction) and not _more(change, _CLASSES):
        yield Hit("missing", 1, "the instruction asks for a class, and the answer has no new one")
    yield from _parameter(change)
    yield from _returned(change)


def _parameter(change: Change) -> Iterator[Hit]:
    """A parameter that never came, or one that was to be left out at will and cannot be."""
    if not _PARAMETER.search(change.instruction):
        return
    if not _grew(change):
        yield Hit("missing", 1, "the instruction asks for a parameter, and no definition took one")
    elif _OPTIONAL.search(change.instruction):
        for one, name in demanding(change):
            said = f"`{one.name}` needs `{name}` now, and the old calls are to go on working"
            yield Hit("missing", one.leaf.line, said)


def _returned(change: Change) -> Iterator[Hit]:
    """A kind of value that is to be returned, where every function returns another one."""
    outlook = outlook_of(change.after.language.name)
    found = _RETURN.search(change.instruction)
    if outlook is None or found is None:
        return
    wanted = next(kind for kind, words in _WORDS.items() if found[1].lower() in words)
    if wanted == "set" and not re.search(r"(?i)\ba set of\b", change.instruction):
        return  # "return the set value" speaks of none
    after = list(outlook.given_back(change.after))
    if any("" in kinds or wanted in kinds for _, kinds in after):
        return
    for node, kinds in after:
        other = sorted({kind for kind in kinds if kind != "None"})
        name = node.part("name")
        if other and name is not None and change.after.said(node) not in change.before.text:
            function = change.after.said(name)
            kind = {"number": "number", "str": "string"}.get(other[0], other[0])
            said = f"a {found[1]} is asked for, and what `{function}` returns is a {kind}"
            yield Hit("missing", node.line, said)
            return


def _lacks(change: Change, wish: AskedFor) -> bool:
    if wish.more:
        return not _more(change, wish.holds)
    return re.search(wish.holds, change.after.text) is None


def _more(change: Change, pattern: str) -> bool:
    before, after = change.before.text, change.after.text
    return len(re.findall(pattern, after)) > len(re.findall(pattern, before))


def _grew(change: Change) -> bool:
    """Whether some definition has a parameter that it did not have; True where nobody can tell."""
    old, new = _parameters(change.before), _parameters(change.after)
    return old is None or new is None or bool(new - old)


def _parameters(facts: Facts) -> set[tuple[str, str]] | None:
    """Each parameter with its function; None where the language is not known."""
    if facts.typing is None or outlook_of(facts.language.name) is None:
        return None
    found = set[tuple[str, str]]()
    for one in facts.typing.scopes.by_leaf.values():
        if one.kind in FUNCTIONS:
            listed = one.node.part("parameters")
            for leaf in listed.walk() if listed is not None else ():
                if not leaf.children and leaf.named:
                    found.add((one.name, facts.said(leaf)))
    return found
