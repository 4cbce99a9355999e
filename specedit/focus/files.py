"""Which of many files an instruction may be about: told by names and words, before any is read by
a model.

A file is left out for a reason that can be said: it holds none of the names that the instruction
writes, or far fewer of its words than the file that holds most. Knows texts; knows no file on disk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from specedit.focus.blocks import blocks
from specedit.focus.choice import about_all, readable
from specedit.focus.evidence import rarity_of
from specedit.focus.terms import counted, query, verbs_as_names
from specedit.syntax.trees import language_of
from specedit.text.lines import lines_of

FEW = 0.6  # of the words' weight that the best file holds, below which another is left out,
DOUBT = 0.3  # and below which nobody need be asked about it
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
NO_NAME = "it holds no name that the instruction writes"
FEW_WORDS = "it holds few of the instruction's words"


@dataclass(frozen=True)
class Sifted:
    """The files that are not likely to be meant, each with why; all of them where none is. Of them
    `doubtful`: those that only a model could still tell, the likeliest first."""

    left: Mapping[str, str]
    doubtful: tuple[str, ...] = ()


def sifted(texts: Mapping[str, str], instruction: str) -> Sifted:
    """What names and words say of the files."""
    if about_all(instruction):
        return Sifted({})
    asked = query(instruction)
    names = {name: set(_NAME.findall(text)) for name, text in texts.items()}
    known = {one for one in asked.code if any(one in held for held in names.values())}
    if not known and (everyday := verbs_as_names(instruction)):
        defined = {name: _defined(name, text) & everyday for name, text in texts.items()}
        if any(defined.values()):
            return Sifted({name: NO_NAME for name, held in defined.items() if not held})
    if known:
        return Sifted({name: NO_NAME for name, held in names.items() if not known & held})
    bags = {name: frozenset(counted(f"{name} {text}")) for name, text in texts.items()}
    worth = rarity_of(asked.stems, list(bags.values()))
    whole = {name: sum(worth[w] for w in asked.stems & bag) for name, bag in bags.items()}
    most = max(whole.values(), default=0.0)
    if not most:
        return Sifted(dict.fromkeys(texts, FEW_WORDS))
    near = {name for name, value in whole.items() if value >= DOUBT * most}
    best = {name: max(_held(name, texts[name], worth)) for name in near}
    sure = {name for name in near if whole[name] >= FEW * most}
    most = max(value for name, value in best.items() if name in sure)
    kept = {name for name in sure if best[name] >= FEW * most}
    open_ones = [name for name in near - kept if best[name] >= DOUBT * most]
    doubtful = sorted(open_ones, key=lambda name: (-best[name], name))
    return Sifted({name: FEW_WORDS for name in texts if name not in kept}, tuple(doubtful))


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
