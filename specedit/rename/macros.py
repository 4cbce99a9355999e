"""What a name in a macro's body means: what it means wherever the macro is used.

Bodies are code that no grammar parsed: whole words.
"""

from __future__ import annotations

from collections.abc import Iterator

from specedit.rename.choosing import lines_text
from specedit.rename.guess import Doubt
from specedit.scoping.meaning import Meaning, Rewrite
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, UNKNOWN
from specedit.syntax import identifiers as names
from specedit.syntax.branch import Branch, Passage


def macro_rewrites(
    parts: list[Passage],
    chosen: list[Meaning],
    candidates: list[Meaning],
    typing: Typing,
    old: str,
    new: str,
) -> tuple[list[Rewrite], list[Doubt]]:
    """The places in macro bodies that mean what is renamed, and what is uncertain about that."""
    opaque = any(part.kind == "opaque" for part in parts)
    bodies = [
        one
        for one in (typing.scopes.root.walk() if opaque else ())
        if one.type in typing.rules.opaque and old in typing.scopes.text(one)
    ]
    rewrites: list[Rewrite] = []
    unsure: list[int] = []
    for body in bodies:
        for rewrite in _words(body, parts, typing, old, new):
            targets = list(_targets(rewrite, body, candidates, typing, old))
            renamed = [one in chosen for one in targets]
            if any(renamed) or (not targets and _is_seen_everywhere(chosen, candidates)):
                rewrites.append(rewrite)
            if len(set(renamed)) > 1 or (not targets and len(chosen) < len(candidates)):
                unsure.append(
                    body.line + typing.scopes.data.count(b"\n", body.start, rewrite.start)
                )
    lines = sorted(set(unsure))
    message = f"`{old}` in a macro's body on {lines_text(lines)} may mean another one"
    return rewrites, [Doubt(message, tuple(lines))] if unsure else []


def _words(
    body: Branch, parts: list[Passage], typing: Typing, old: str, new: str
) -> Iterator[Rewrite]:
    for part in parts:
        if part.kind == "opaque" and body.start <= part.start and part.end <= body.end:
            text = typing.scopes.data[part.start : part.end].decode("utf-8", "replace")
            for offset, there, put_there in names.mentions(text, {old: new}):
                start = part.start + len(text[:offset].encode())
                yield Rewrite(start, start + len(there.encode()), there, put_there, "code")


def _targets(
    rewrite: Rewrite, body: Branch, candidates: list[Meaning], typing: Typing, old: str
) -> Iterator[Meaning | None]:
    """What the word means wherever the body will stand: None for another file's member."""
    if typing.scopes.data[body.start : rewrite.start].rstrip().endswith((b".", b"->")):
        members = [one for one in candidates if one.is_member or one.kind in (UNKNOWN, EXTERNAL)]
        yield from members
        if not members:
            yield None
        return
    macro = body.parent
    name = macro.part("name") if macro is not None else None
    own = typing.scopes.by_node.get(id(macro))
    if name is None or (own is not None and own.declared.get(old)):
        places = [body]
    else:
        called = typing.scopes.text(name)
        places = [
            leaf
            for leaf, label in typing.scopes.leaves
            if label == called and id(leaf) not in typing.scopes.by_leaf
        ]
    for place in places:
        declared = typing.lookup(old, place, "any")
        if declared is not None:
            yield from (one for one in candidates if declared in one.declared)


def _is_seen_everywhere(chosen: list[Meaning], candidates: list[Meaning]) -> bool:
    """Whether a macro that is used elsewhere could mean it."""
    return len(chosen) == len(candidates) or any(
        one.scope is not None and one.scope.kind in ("file", "namespace", "class")
        for meaning in chosen
        for one in meaning.declared
    )
