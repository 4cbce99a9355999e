"""Where a name is mentioned outside of parsed code: comments, strings, other names, macros."""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.check.finding import Finding
from specedit.rename.guess import doubt, lines_text
from specedit.scoping.meaning import Meaning, Rewrite
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, UNKNOWN
from specedit.syntax import identifiers as names
from specedit.syntax.branch import COMMENTS, Branch, Passage


def reach(chosen: list[Meaning]) -> list[Passage] | None:
    """Where comments may speak of the chosen meanings; None: everywhere."""
    local = ("local", "parameter", "type", "label")
    if not all(one.kind in local for one in chosen):
        return None
    reach = []
    for one in chosen:
        for declared in one.declared:
            node = declared.scope.node if declared.scope is not None else declared.node
            start = node.start
            for sibling in reversed(node.parent.children if node.parent else []):
                if sibling.end <= start and sibling.type in COMMENTS:
                    start = sibling.start
            reach.append(Passage(start, node.end, ""))
    return reach


def comment_rewrites(
    data: bytes,
    parts: list[Passage],
    old: str,
    new: str,
    inside: list[Passage] | None = None,
    *,
    parameters: bool = True,
) -> list[Rewrite]:
    """`inside`: only there; `parameters`: a documented parameter of the name is renamed too."""
    spellings = names.variants(old, new)
    results = []
    for part in parts:
        if part.kind != "comment":
            continue
        if inside is not None and not any(r.start <= part.start < r.end for r in inside):
            continue
        text = data[part.start : part.end].decode("utf-8", "replace")
        for offset, there, put_there in names.mentions(text, spellings):
            if not _speaks(text, offset, there):
                continue
            if not parameters and there == old and _PARAMETER.search(text[:offset]):
                continue
            asked = there != old or not _is_reference(text, offset, there)
            one = _rewrite(part, text, offset, there, put_there, "comment", asked)
            results += [one, *_article(text, offset, one)]
    return results


_BEFORE = re.compile(  # what ends in front of a name that is a reference to code
    r"""(?: \{@\w+\s+[^}\s]*
          | \b(?:cref|name)\s*=\s*["'][^"'\s]*
          | [@\\:](?:param|see|link)\b[^\n:]*\s
          | \w(?:\.|::|->|\#) )$""",
    re.VERBOSE,
)
_PARAMETER = re.compile(r"""([@\\:]param\b[^\n:]*\s|<param(ref)?\s+name\s*=\s*["'])$""")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")  # a code span of one line


def _is_reference(text: str, offset: int, name: str) -> bool:
    """Whether a mention of the name itself can only be code: several words in one, a code span, a
    link of a documentation tool, a call."""
    if len(names.words_of(name)) > 1:
        return True
    first = text.rfind("\n", 0, offset) + 1
    end = offset + len(name)
    line = text[first:].partition("\n")[0]
    if any(m.start() < offset - first < m.end() for m in _SPAN.finditer(line)):
        return True
    return text[end : end + 1] == "(" or _BEFORE.search(text[first:offset]) is not None


def _article(text: str, offset: int, of: Rewrite) -> Iterator[Rewrite]:
    """ "a username" becomes "an email"."""
    before = re.search(r"\b([Aa])(n?) $", text[:offset])
    if before is None or names.is_voiced(of.old) == names.is_voiced(of.new):
        return
    if bool(before[2]) == names.is_voiced(of.old):
        written = before[1] + ("n" if names.is_voiced(of.new) else "")
        old, at = before[1] + before[2], of.start - len(before[0])
        yield Rewrite(at, of.start - 1, old, written, "comment", undecided=of.undecided)


def _speaks(text: str, offset: int, there: str) -> bool:
    """Whether a mention in a comment means the name; a short or everyday word must be marked."""
    start = max(text.rfind(blank, 0, offset) for blank in " \t\n") + 1
    word = re.match(r"\S*", text[start:])
    if word is not None and re.search(r"://|\w@\w", word[0]):
        return False  # an address is not an identifier
    if len(there) >= names.SHORT and there.lower() not in names.COMMON:
        return True
    before, after = text[:offset][-12:], text[offset + len(there) :][:1]
    return bool(re.search(r"[`'\"\[{]$|@param\s+$|:param\s+$|name=\"$", before)) or after in "`'\"("


def derived_rewrites(
    data: bytes, parts: list[Passage], typing: Typing, old: str, new: str
) -> list[Rewrite]:
    """Names built from OLD anywhere, and its mentions in strings."""
    results = []
    for leaf, name in typing.scopes.leaves:
        if name != old and leaf.type not in typing.rules.quoted:
            written = names.derived(name, old, new)
            if written is not None:
                start = leaf.end - len(name.encode())
                results.append(Rewrite(start, leaf.end, name, written, "derived"))
    spellings = names.variants(old, new)
    in_code = {rewrite.old for rewrite in results}  # a mention of one of these follows it
    for part in parts:
        if part.kind not in ("string", "comment"):
            continue
        text = data[part.start : part.end].decode("utf-8", "replace")
        places = []
        if part.kind == "string":
            for offset, there, put_there in names.mentions(text, spellings):
                whole = text.strip("'\"`") == there
                asked = there != old or not (whole or _is_reference(text, offset, there))
                places.append((offset, there, put_there, "string", asked))
        taken = {place[0] for place in places}
        for match in names.NAME.finditer(text):
            if match[0] in spellings or match.start() in taken:
                continue
            if (written := names.derived(match[0], old, new)) is not None:
                asked = match[0] not in in_code
                places.append((match.start(), match[0], written, "derived", asked))
        results += (_rewrite(part, text, *place) for place in places)
    return results


def _rewrite(
    part: Passage, text: str, offset: int, old: str, new: str, kind: str, asked: bool
) -> Rewrite:
    """A mention at an offset of a passage's text. `asked`: it may be ordinary language."""
    start = part.start + len(text[:offset].encode())
    return Rewrite(start, start + len(old.encode()), old, new, kind, undecided=asked)


# macros: bodies are code that no grammar parsed, and what a name in one means, it means where the
# macro is used


def macro_rewrites(
    parts: list[Passage],
    chosen: list[Meaning],
    candidates: list[Meaning],
    typing: Typing,
    old: str,
    new: str,
) -> tuple[list[Rewrite], list[Finding]]:
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
        for rewrite in _words_of(body, parts, typing, old, new):
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
    return rewrites, [doubt(message, lines)] if unsure else []


def _words_of(
    body: Branch, parts: list[Passage], typing: Typing, old: str, new: str
) -> Iterator[Rewrite]:
    for part in parts:
        if part.kind == "opaque" and body.start <= part.start and part.end <= body.end:
            text = typing.scopes.data[part.start : part.end].decode("utf-8", "replace")
            for mention in names.mentions(text, {old: new}):
                yield _rewrite(part, text, *mention, "code", False)


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
    name = body.at("^ name")
    own = typing.scopes.by_node.get(id(body.parent))
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
