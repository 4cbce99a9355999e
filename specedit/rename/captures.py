"""What a rename would make mean something else: uses that a declaration elsewhere would capture.

The renamed text is read as the original was. A thing called NEW that takes in both renamed places
and places that were called NEW before is two things made one.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.rename.rewritten import put, taken
from specedit.scoping.arguments import takes_any
from specedit.scoping.meaning import Meaning, meanings
from specedit.scoping.rewrite import Rewrite
from specedit.scoping.typing import Typing
from specedit.syntax.branch import Branch
from specedit.syntax.languages import Language


def captures(
    typing: Typing, after: str, language: Language, new: str, rewrites: list[Rewrite]
) -> Iterator[tuple[int, str]]:
    """Lines where NEW stood already and would mean the renamed thing, or hide it."""
    if all(name.lstrip("$") != new for _, name in typing.scopes.leaves):
        return
    renamed = set(_starts(put(typing.scopes.data, rewrites)[0], new))
    result, reread = meanings(after, language, new)
    for one in result:
        bare = [leaf for leaf in one.leaves if _bare(leaf, one, reread)] if one.declared else []
        before = [leaf for leaf in bare if leaf.start not in renamed]
        if before and len(before) < len(bare):
            yield _said(one, before, new)


def _starts(rewrites: list[Rewrite], new: str) -> Iterator[int]:
    """Where, in bytes of the renamed text, a renamed place begins."""
    moved = 0
    for rewrite in rewrites:
        written = rewrite.new.encode("utf-8", "surrogatepass")
        at = written.find(new.encode("utf-8", "surrogatepass"))
        if rewrite.kind == "code" and at >= 0:
            yield rewrite.start + moved + at
        moved += len(written) - (rewrite.end - rewrite.start)


def _bare(leaf: Branch, one: Meaning, typing: Typing) -> bool:
    """Whether scopes alone say what a place means, and it means one thing. Members are told apart
    by guesses about types, which a new name can only make vaguer."""
    if typing.rules.keys.get(leaf.place) == "argument" and any(
        takes_any(declared, typing.rules.rest_parameters) for declared in one.declared
    ):
        return True
    if leaf.place in typing.rules.keys or leaf.type in typing.rules.shorthands:
        return False
    return leaf.place not in typing.rules.members or typing.receiver(leaf) is None


def _said(one: Meaning, before: list[Branch], new: str) -> tuple[int, str]:
    declared = [d for d in one.declared if d.leaf in before]
    if declared:
        return taken(declared[0].leaf.line, new, declared[0].kind)
    line = before[0].line
    return line, f"line {line}: `{new}` is something else there, and would mean the renamed one"
