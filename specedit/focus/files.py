"""Which of many files an instruction may be about: told by names and words, before any is read by
a model.

A file is left out for a reason that can be said: it holds none of the names that the instruction
writes, or far fewer of its words than the file that holds most. Knows texts; knows no file on disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from specedit.focus.blocks import blocks
from specedit.focus.choice import about_all, readable
from specedit.focus.evidence import rarity_of
from specedit.focus.terms import counted, query, verbs_as_names
from specedit.syntax.trees import language_of
from specedit.text.lines import lines_of

FEW = 0.6  # of the words' weight that the best file holds, below which another is left out
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
NO_NAME = "it holds no name that the instruction writes"
FEW_WORDS = "it holds few of the instruction's words"


def left_out(texts: Mapping[str, str], instruction: str) -> dict[str, str]:
    """The files that are not likely to be meant, each with why; all of them where none is."""
    if about_all(instruction):
        return {}
    asked = query(instruction)
    names = {name: set(_NAME.findall(text)) for name, text in texts.items()}
    known = {one for one in asked.code if any(one in held for held in names.values())}
    if not known and (everyday := verbs_as_names(instruction)):
        defined = {name: _defined(name, text) & everyday for name, text in texts.items()}
        if any(defined.values()):
            return {name: NO_NAME for name, held in defined.items() if not held}
    if known:
        return {name: NO_NAME for name, held in names.items() if not known & held}
    bags = {name: frozenset(counted(f"{name} {text}")) for name, text in texts.items()}
    worth = rarity_of(asked.stems, list(bags.values()))
    whole = {name: sum(worth[w] for w in asked.stems & bag) for name, bag in bags.items()}
    most = max(whole.values(), default=0.0)
    if not most:
        return dict.fromkeys(texts, FEW_WORDS)
    near = {name for name, value in whole.items() if value >= FEW * most}
    best = {name: max(_held(name, texts[name], worth)) for name in near}
    most = max(best.values())
    return {name: FEW_WORDS for name in texts if best.get(name, 0.0) < FEW * most}


def _defined(name: str, text: str) -> set[str]:
    """The names that a file defines, each without what holds it."""
    if not readable(text):
        return set()
    return {one.name.rpartition(".")[2] for one in blocks(text, language_of(name)) if one.name}


def _held(name: str, text: str, worth: Mapping[str, float]) -> list[float]:
    """The weight of the words that each place of a file holds, the file's name counted to all."""
    own = set(counted(name))
    if not readable(text):
        return [sum(v for w, v in worth.items() if w in own | set(counted(text)))]
    lines = lines_of(text)
    found = [0.0]
    for one in blocks(text, language_of(name)):
        held = own | set(counted("".join(lines[one.first - 1 : one.last])))
        found.append(sum(v for w, v in worth.items() if w in held))
    return found
