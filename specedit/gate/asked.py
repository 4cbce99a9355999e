"""What an instruction asks for in so many words, and the answer has nothing of: a generator without
a `yield`, a parameter that no definition took.

A table of words and of what their code cannot do without, in any language that has the thing.
Sentences that take something away ask for nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specedit.gate.facts import Facts
from specedit.gate.hit import Change, Hit
from specedit.gate.languages import outlook_of
from specedit.scoping.scope import FUNCTIONS
from specedit.syntax.losses import TAKES

NOT = re.compile(r"(?i)\b(?:not|no|without|never|avoid|don't|doesn't|instead|rather|unless)\b")


@dataclass(frozen=True)
class AskedFor:
    """Words of an instruction, and what code of that kind holds. `more`: more of it than before."""

    said: str
    holds: str
    what: str
    more: bool = False


WISHES = (
    AskedFor(r"\bgenerators?\b", r"\byield\b|\(\s*[^()]*\bfor\b[^()]*\bin\b", "a generator"),
    AskedFor(
        r"\b(?:raise|raises|raising|throw|throws)\b", r"\braise\b|\bthrow\b|panic", "an error"
    ),
    AskedFor(r"\basync(?:hronous(?:ly)?)?\b", r"\basync\b|Async|Future|Task|await", "async code"),
    AskedFor(r"\bstatic methods?\b", r"\bstatic(?:method)?\b", "a static method", more=True),
    AskedFor(
        r"\b(?:add|write|with|include)\b.*\bdoc-?strings?\b", r'"""|\'\'\'', "a doc string", True
    ),
    AskedFor(r"\badd\b.*\bcomments?\b", r"#|//|/\*|--", "a comment", more=True),
    AskedFor(r"\b(?:logging|logger)\b", r"(?i)log", "logging"),
    AskedFor(r"\b(?:regex|regular expressions?)\b", r"\bre\.|(?i:regex)|\bmatch", "a pattern"),
    AskedFor(r"\bf-?strings?\b", r"\bf[\"']|\br?f[\"']", "an f-string"),
    AskedFor(r"\blambdas?\b", r"\blambda\b|=>|->", "a lambda"),
    AskedFor(r"\bdata ?classe?s?\b", r"(?i)data ?class", "a dataclass"),
    AskedFor(
        r"\b(?:type hints?|type annotations?|annotate)\b", r"->|:\s*\w", "annotations", more=True
    ),
    AskedFor(r"\bmemoi[sz]\w*|\bcach(?:e|es|ing)\b", r"(?i)memo|cache", "a cache"),
    AskedFor(r"\bnumpy\b", r"\bnp\b|numpy", "numpy"),
    AskedFor(r"\bpandas\b", r"\bpd\b|pandas", "pandas"),
    AskedFor(r"\bpathlib\b", r"\bPath\b|pathlib", "pathlib"),
)
_CLASS = re.compile(
    r"(?i)\b(?:create|make|encapsulate\w*|convert|turn|refactor|wrap|define|add|to be|into|as)\b"
    r"(?:\s+\w+){0,6}?\s+(?:a|an|new|into a|called)\s+(?:\w+\s+)?class\b"
)
_PARAMETER = re.compile(
    r"(?i)\b(?:add|accept|receive|introduc|includ|via|new|extra|additional|optional|another"
    r"|one more|take)\w*\b[^.;\n]{0,40}\b(?:parameters?|arguments?)\b"
    r"|\bas an? (?:\w+ )?(?:parameter|argument)\b"
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
    if _CLASS.search(change.instruction) and not _more(change, _CLASSES):
        yield Hit("missing", 1, "the instruction asks for a class, and the answer has no new one")
    if _PARAMETER.search(change.instruction) and not _grew(change):
        yield Hit("missing", 1, "the instruction asks for a parameter, and no definition took one")


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
