"""A case of the benchmark, and what an answer to it is worth.

An answer is *wrong* when it does not parse, uses a Python name that nothing defines, or misses what
was asked. It is *partly* right when what was asked is there and something else changed: a byte
outside the places in `where`, a definition lost, or an unasked change that `keeps` finds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from benchmarks.edits.code import Code
from benchmarks.edits.strays import strays
from specedit.syntax.languages import Language, language_of

Replacements = tuple[tuple[str, str], ...]


class Edited:
    """A file before and after an edit."""

    def __init__(self, before: Code, after: Code) -> None:
        self.before = before
        self.after = after

    def symbol(self, name: str | None, *, comments: bool = False) -> str:
        """The new text of a definition, of the whole file for None; "" where it is not there."""
        return self.after.source(name, comments=comments)

    def old(self, name: str | None, *, comments: bool = False) -> str:
        return self.before.source(name, comments=comments)

    @cached_property
    def undefined(self) -> frozenset[str]:
        """Names that only the new Python text uses and that nothing in it defines."""
        return self.after.loose - self.before.loose


Predicate = Callable[[Edited], bool]


@dataclass(frozen=True)
class Case:
    """One instruction on one file of the data folder."""

    id: str  # "python-requests_auth-guard"
    file: str  # "files/python/requests__auth.py", "commits/RECORD ID" or "large/RECORD ID"
    kind: str
    instruction: str
    right: Replacements  # of strings that occur once: one right answer
    # What may change: definitions ("Class.method"), "imports", "comments" (and doc strings),
    # "main block" (of Python), "new:Class" (new members), "new:" (new definitions at the top),
    # "doc:Class" (its doc string and the comments above it), "*" (anything). Added imports that are
    # used, and the removal of imports that the edit made unused, are always allowed.
    where: tuple[str, ...]
    asked: tuple[Predicate, ...]
    keeps: tuple[Predicate, ...] = ()
    accepted: Replacements = ()  # another right answer
    spoilt: tuple[Replacements, ...] = ()  # answers that are not right

    @property
    def language(self) -> str:
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Judgement:
    """What an answer is worth, and why it is not right."""

    verdict: str  # "right" | "partly" | "wrong"
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Original:
    """The file of a case."""

    name: str  # as it is called where it comes from
    text: str

    @cached_property
    def language(self) -> Language:
        language = language_of(self.name)
        assert language is not None, self.name
        return language


def original(data: Path, file: str) -> Original:
    """The file of a case, from the data folder."""
    kind, _, rest = file.partition("/")
    if kind == "files":
        return Original(file.rpartition("__")[2], (data / file).read_bytes().decode("utf-8"))
    records = _records(data / f"{kind}.jsonl")
    name, text = records.get(rest) or records[f"{kind.removesuffix('s')}/{rest}"]
    return Original(name, text)


@lru_cache(maxsize=4)
def _records(path: Path) -> dict[str, tuple[str, str]]:
    lines = path.read_text("utf-8", errors="surrogatepass").split("\n")
    found = [json.loads(line) for line in lines if line]
    return {one["id"]: (Path(one["filename"]).name, one["before"]) for one in found}


def replaced(text: str, replacements: Replacements) -> str:
    """The text with each replacement made; what is replaced must occur once."""
    for old, new in replacements:
        if text.count(old) != 1:
            raise ValueError(f"occurs {text.count(old)} times: {old!r}")
        text = text.replace(old, new)
    return text


def judged(case: Case, file: Original, answer: str) -> Judgement:
    """What an answer to the case is worth."""
    if answer == file.text:
        return Judgement("wrong", ("unchanged",))
    edited = Edited(_code(file.text, file.language), Code(answer, file.language))
    reasons = list(_faults(edited)) or [_name(one) for one in case.asked if not one(edited)]
    if reasons:
        return Judgement("wrong", tuple(reasons))
    reasons = [
        *strays(edited.before, edited.after, case.where),
        *(_name(keep) for keep in case.keeps if not keep(edited)),
    ]
    return Judgement("partly" if reasons else "right", tuple(reasons))


@lru_cache(maxsize=8)
def _code(text: str, language: Language) -> Code:
    return Code(text, language)


def _name(predicate: Predicate) -> str:
    return getattr(predicate, "__name__", str(predicate))


def _faults(edited: Edited) -> Iterator[str]:
    if edited.after.faults > edited.before.faults:
        yield "does not parse"
    elif edited.undefined:
        yield f"not defined: {', '.join(sorted(edited.undefined))}"
