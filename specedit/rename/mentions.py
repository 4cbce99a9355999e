"""Where a name is mentioned outside of parsed code: comments, strings, other names, macros, prose.

A string that names what is renamed breaks the program where it keeps the old name: a dotted path,
a member that is read by its name, a table of functions. Other words in strings are left to
`--scope derived`, and so are code spans and code blocks of a language in prose.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from specedit.rename.questions import Place, RenameGuess, applied
from specedit.rename.resolution import ResolvedName, near
from specedit.scoping.languages.rules import Rules
from specedit.scoping.meaning import Meaning, Rewrite, scopes_of
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, UNKNOWN
from specedit.syntax import identifiers as names
from specedit.syntax.branch import COMMENTS, Branch, Passage
from specedit.syntax.lines import places_of

CONFIGURATION = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
PROSE = frozenset({".md", ".markdown", ".rst", ".txt", ".adoc"})
FOUND_BY_STRING = "the program finds it by this string"
MAY_FIND = "the program may find it by this string"
THIS = ("self", "this", "cls")
OF_A_SCOPE = ("local", "parameter", "type", "label")
MAX_STRING_BYTES = 300  # of a string that may be a path or a member's name

_WHOLE = re.compile(r"""[A-Za-z]*(["'])(?:[\w.-]+ ?= ?)?([\w.:]+)\1""")  # also `"x = a.b:f"`
_DOTTED = re.compile(r"(?<![\w.:/-])[^\W\d]\w*(?:[.:][^\W\d]\w*)+(?![\w/-])")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+#.{-]*)")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code|code-block|sourcecode)::\s*\w")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")
_ADDRESS = re.compile(r"[^\s\"'()<>]*(?:://|\w@\w)[^\s\"'()<>]*")
_BEGINNING = re.compile(  # of documentation, around a name: "The x", "x returns", "x is"
    r"(?:\W|\b(?:r|summary|brief)\b)*?(?:\b(?:the|an?)\s+\0|\0 (?:is|are|\w*[^\Ws]s)\b)", re.I
)
_BLANK = re.compile(rb"\n[ \t\r]*\n")
_CALL = re.compile(r"\((?!e?s\))")  # not file(s)
_CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")  # of one line
_HOLDER = re.compile(r"([^\W\d]\w*)(?:\.|::|->|\#)$")
_PROPER = re.compile(r"(?<=[a-z,(] )\w*[A-Z]\w*\b(?! [A-Z])")  # a capital inside a sentence
_ENTRY = re.compile(r"\s*(?:\([^)\n]*\))?\s*:(?!:)")  # after a name in a list of parameters
_QUOTED = re.compile(r"['\"\[{]$")
_TAG = re.compile(  # what ends before a name that a documentation tool reads as one
    r"""(?: \{@\w+\s+[^}\s]*
          | \b(?:cref|name)\s*=\s*["'][^"'\s]*
          | [@\\](?:param|see|link)\s+(?:\{[^}\n]*\}\s+)?[\[\#]?
          | :param\b[^\n:]*\s )$""",
    re.VERBOSE,
)


# comments


class Subject:
    """What is renamed, as the comments of one file may speak of it."""

    def __init__(
        self, typing: Typing, name: str, chosen: Sequence[Meaning], others: Sequence[Meaning]
    ) -> None:
        self.typing, self.name = typing, name
        self.declared = {each for meaning in chosen for each in meaning.declared}
        self.owners = [owner for meaning in chosen for owner in meaning.owners]
        self.inside = _reach(typing, chosen) if others else None
        named = [meaning for meaning in others if meaning.declared or meaning.owners]
        self.others = [_reach(typing, [meaning]) for meaning in named]
        here = [each for each in self.declared if each.home is typing.scopes and each.is_own]
        holders = [owner.node for owner in self.owners if owner.home is typing.scopes]
        self.around = [_with_comments(typing, node) for node in (*map(_extent, here), *holders)]
        self.own = [part for each in here for part in _documentation(typing, each.node)]
        self.of_holders = [part for node in holders for part in _documentation(typing, node)]

    def is_meant(self, part: Passage, text: str, offset: int) -> bool:
        """Whether a mention is surely one: marked as code, or the name of what is documented."""
        line, end = text.rfind("\n", 0, offset) + 1, offset + len(self.name)
        near, alone = _is_in(part, self.around), None not in self.others
        marked = is_marked(text, offset, self.name)
        if (holder := _HOLDER.search(text[line:offset])) is not None:
            known = self._is_holder(holder[1], part)
            documented = near if holder[1] in THIS else _is_in(part, self.own + self.of_holders)
            return documented or (marked and alone) if known is None else known
        if any(inside is not None and _is_in(part, inside) for inside in self.others):
            return False
        is_name = _is_in(part, self.own) and len(self.name) >= names.MIN_NAME_CHARACTERS
        begins = is_name and _BEGINNING.match(f"{text[:offset]}\0{text[end:]}")
        is_entry = near and not text[line:offset].strip(" \t*/#") and _ENTRY.match(text, end)
        is_call = (near or not self.owners) and _CALL.match(text, end)
        if self.owners and not near:  # `(data, errors)` is not a member
            marked = marked and text[offset - 1] == "`" and text[end : end + 1] in ("`", "(")
        proper = len(names.words_of(self.name)) > 1 or _PROPER.match(text, offset)
        return (near or alone) and bool(marked or begins or proper or is_entry or is_call)

    def _is_holder(self, name: str, part: Passage) -> bool | None:
        """Whether a name before a dot in a comment holds it; None: not known."""
        typing = self.typing
        if any(owner.name == name for owner in self.owners):
            return True
        homes = {typing.project.path(each.home) for each in self.declared if each.is_own}
        if not self.owners and any(typing.rules.is_module(typing.project, x, name) for x in homes):
            return True
        declared = typing.lookup(name, part.node, "any") if part.node is not None else None
        if declared is None:
            return False if name[:1].isupper() else None
        known = typing.type_of_declared(declared)
        members = typing.members(known or (), self.name)
        return None if known is None else any(member in self.declared for member in members)


def _reach(typing: Typing, meanings: Sequence[Meaning]) -> list[Passage] | None:
    """Where comments may speak of these meanings; None: everywhere."""
    if any(meaning.kind not in OF_A_SCOPE for meaning in meanings):
        return None
    every = (declared for meaning in meanings for declared in meaning.declared)
    return [_with_comments(typing, _extent(declared)) for declared in every]


def _extent(declared: Declared) -> Branch:
    """Where a declaration may be used: what holds it, if that is no more than a function."""
    holder = declared.scope if declared.kind in OF_A_SCOPE else None
    return (holder or declared).node


def _with_comments(typing: Typing, node: Branch) -> Passage:
    """A node with the comments directly before it."""
    start, at = node.start, node
    for up in node.up():  # `export`, decorators
        wraps = up.line == node.line or up.type == "decorated_definition"
        if id(up) in typing.scopes.by_node or not wraps:
            break
        start, at = up.start, up
    siblings = at.parent.children if at.parent is not None else (at,)
    for sibling in reversed(siblings[: siblings.index(at)]):
        if sibling.type != "attribute_item":
            blank = _BLANK.search(typing.scopes.data, sibling.end, start)
            if sibling.type not in COMMENTS or blank is not None:
                break
            start = sibling.start
    return Passage(start, node.end, "")


def _documentation(typing: Typing, node: Branch) -> list[Passage]:
    """Where the comments before a declaration stand, and the string that its body begins with."""
    body = node.part("body") or node
    before = Passage(_with_comments(typing, node).start, node.start, "")
    return [before, Passage(body.start, body.start + 1, "")]


def _is_in(part: Passage, ranges: Iterable[Passage]) -> bool:
    return any(each.start <= part.start < each.end for each in ranges)


def is_marked(text: str, offset: int, name: str) -> bool:
    """Whether a mention is marked as code: by a code span, or for a documentation tool."""
    first = text.rfind("\n", 0, offset) + 1
    line, at, end = text[first:].partition("\n")[0], offset - first, offset + len(name)
    if any(span.start() < at < span.end() for span in _CODE_SPAN.finditer(line)):
        return not {text[offset - 1], text[end]} & {"-", "/"}  # nor is it a part of another word
    return _TAG.search(line[:at]) is not None


def comment_rewrites(
    data: bytes, parts: list[Passage], old: str, new: str, subject: Subject | None = None
) -> list[Rewrite]:
    """`subject`: what is renamed, where that is known."""
    spellings = names.variants(old, new)
    everyday = len(old) < names.MIN_NAME_CHARACTERS or old.lower() in names.COMMON
    inside = subject.inside if subject is not None else None
    results = []
    for part in parts:
        if part.kind != "comment" or (inside is not None and not _is_in(part, inside)):
            continue
        text = data[part.start : part.end].decode("utf-8", "replace")
        addresses = [match.span() for match in _ADDRESS.finditer(text)]
        for offset, found, written in names.mentions(text, spellings):
            if any(start <= offset < end for start, end in addresses):
                continue
            meant = found == old and (
                subject.is_meant(part, text, offset)
                if subject is not None
                else is_marked(text, offset, found)
            )
            if meant or not everyday or _QUOTED.search(text[:offset]):
                rewrite = _rewrite(part, text, offset, found, written, "comment", not meant)
                results += [rewrite, *_article(text, offset, rewrite)]
    return results


def _article(text: str, offset: int, of: Rewrite) -> Iterator[Rewrite]:
    """ "a username" becomes "an email"."""
    before = re.search(r"\b([Aa])(n?) $", text[:offset])
    if before is None or names.is_voiced(of.old) == names.is_voiced(of.new):
        return
    if bool(before[2]) == names.is_voiced(of.old):
        written = before[1] + ("n" if names.is_voiced(of.new) else "")
        old, at = before[1] + before[2], of.start - len(before[0])
        yield Rewrite(at, of.start - 1, old, written, "comment", undecided=of.undecided)


def _rewrite(
    part: Passage, text: str, offset: int, old: str, new: str, kind: str, asked: bool
) -> Rewrite:
    """A mention at an offset of a passage's text. `asked`: it may be ordinary language."""
    start = part.start + len(text[:offset].encode())
    return Rewrite(start, start + len(old.encode()), old, new, kind, undecided=asked)


# names that are built from the old one, and mentions in strings


def derived_rewrites(
    data: bytes, parts: list[Passage], typing: Typing, old: str, new: str
) -> list[Rewrite]:
    """Names built from OLD anywhere, and its mentions in strings."""
    results = []
    for leaf, name in typing.scopes.leaves:
        if name == old or leaf.type in typing.rules.quoted:
            continue
        if (spelled := names.derived(name, old, new)) is not None:
            start = leaf.end - len(name.encode())
            results.append(Rewrite(start, leaf.end, name, spelled, "derived"))
    spellings = names.variants(old, new)
    in_code = {rewrite.old for rewrite in results}  # a mention of one of these follows it
    for part in parts:
        if part.kind not in ("string", "comment"):
            continue
        text = data[part.start : part.end].decode("utf-8", "replace")
        taken = set()
        for offset, found, written in names.mentions(text, spellings):
            if part.kind == "string":
                taken.add(offset)
                whole = text.strip("'\"`") == found
                marked = len(names.words_of(found)) > 1 or is_marked(text, offset, found)
                asked = found != old or not (whole or marked)
                results.append(_rewrite(part, text, offset, found, written, "string", asked))
        for match in names.NAME.finditer(text):
            name, offset = match[0], match.start()
            if name in spellings or offset in taken:
                continue
            if (spelled := names.derived(name, old, new)) is not None:
                asked = name not in in_code
                results.append(_rewrite(part, text, offset, name, spelled, "derived", asked))
    return results


# strings by which the program finds what is renamed


def string_rewrites(
    project: Project, path: str, typing: Typing, every: Sequence[ResolvedName], old: str, new: str
) -> list[Rewrite]:
    """The words that are rewritten in the strings of a file of code; what may be one is left."""
    word = re.escape(old).replace("_", "[-_]")
    if re.search(rf"[\"'.:][^\n]*{word}|__{word}|{word}(=|__)", project.text(path) or "") is None:
        return []
    found = {*_in_strings(project, path, typing, every, old), *_given_out(typing, every, old)}
    end = len(old.encode())
    return [Rewrite(at, at + end, old, new, "string", FOUND_BY_STRING) for at in sorted(found)]


def _in_strings(
    project: Project, path: str, typing: Typing, every: Sequence[ResolvedName], old: str
) -> Iterator[int]:
    """The bytes where a string is a path to what is renamed, or names a member of it."""
    rules, chosen = typing.rules, _chosen_declarations(every)
    resolved = next(each for each in every if path in each.typings)
    owners = {owner for meaning in resolved.chosen for owner in meaning.owners}
    renamed = {leaf.start for part in resolved.here(path, resolved.chosen) for leaf in part.leaves}
    for node in typing.scopes.root.walk():
        named = node.type in rules.strings or node.place in rules.keys
        if not named or node.end - node.start >= MAX_STRING_BYTES:
            continue
        text = typing.scopes.text(node)
        if old not in text.replace("-", "_"):
            continue
        match = _WHOLE.fullmatch(text)
        if match is not None and match[2] != old:
            start = node.start + len(match[0][: match.start(2)].encode())
            for offset in _parts(project, rules, path, match[2], chosen, old):
                yield start + len(match[2][:offset].encode())
        known = rules.read_by_name(typing, node, old, resolved.chosen)
        start = node.start + len(re.split(re.escape(old), text)[0].encode())
        if known == () and start not in renamed and path in near(resolved, path):
            leaf = replace(node, start=start)
            resolved.left.setdefault(path, []).append((Meaning(UNKNOWN, leaves=[leaf]), MAY_FIND))
        above = {up for owner in known or () for up in (owner, *typing.above(owner))}
        member = not chosen.isdisjoint(typing.members(known or (), old))
        if known and (member or not owners.isdisjoint(above)):
            yield start


def _chosen_declarations(every: Sequence[ResolvedName]) -> set[Declared]:
    return {declared for resolved in every for declared in resolved.chosen_declarations()}


def _parts(
    project: Project, rules: Rules, path: str, dotted: str, chosen: set[Declared], old: str
) -> list[int]:
    """Where in a dotted path, which a file holds, a part means one of `chosen`."""
    words = re.split(r"[.:]", dotted)
    folder = posixpath.dirname(path)
    found = rules.along_path(project, folder, words) if old in words else ()
    numbers = {at for at, declared in found if words[at] == old and declared in chosen}
    return [sum(len(word) + 1 for word in words[:number]) for number in sorted(numbers)]


def _given_out(typing: Typing, every: Sequence[ResolvedName], old: str) -> Iterator[int]:
    """The names of a table of functions that a renamed import takes."""
    tables = list(typing.rules.given_out(typing, old))
    if not tables:
        return
    modules = (
        each.typing_of(declared.leaf).rules.module_of(scopes_of(declared), declared)
        for each in every
        for declared in each.chosen_declarations()
        if declared.kind == "import"
    )
    taken = {re.split(r"[./]", module)[-1] for module in modules}
    yield from (start for start, module in tables if module in taken)


# files that are not code


def configuration_renamed(
    project: Project, path: str, every: Sequence[ResolvedName], old: str, new: str
) -> RenameGuess | None:
    """A file of settings with the dotted paths in it that mean what is renamed."""
    if not path.endswith(CONFIGURATION):
        return None
    text, chosen = project.text(path) or "", _chosen_declarations(every)
    found = sorted(
        {
            match.start() + offset
            for match in _DOTTED.finditer(text)
            if old in match[0]
            for resolved in every
            for offset in _parts(project, resolved.rules, path, match[0], chosen, old)
        }
    )
    return _guess(text, old, new, "string", [(at, FOUND_BY_STRING) for at in found])


def is_prose(path: str) -> bool:
    return PurePath(path).suffix.lower() in PROSE


def rename_prose(text: str, owner: str, old: str, new: str) -> RenameGuess:
    """The text with OLD renamed in its code. `owner`: only as a member of this class."""
    before = rf"(?<=\b{re.escape(owner)}[.#:])" if owner else r"(?<![\w$])"
    word = re.compile(before + re.escape(old) + r"(?![\w$])")
    found = [
        (match.start(), why)
        for start, end, why in _code(text)
        for match in word.finditer(text, start, end)
    ]
    return _guess(text, old, new, "derived", found)


def _guess(
    text: str, old: str, new: str, kind: str, found: Sequence[tuple[int, str]]
) -> RenameGuess:
    """The rename at these characters, each with the reason why it is renamed."""
    lines = places_of(text, (at for at, _ in found))
    places = tuple(
        Place(at, line, kind, old, new, column, why)
        for (at, why), (line, column) in zip(found, lines, strict=True)
    )
    return RenameGuess(old, new, applied(text, places), places)


def _code(text: str) -> Iterator[tuple[int, int, str]]:
    """The ranges of characters in prose that are code."""
    fence, named, indent = "", False, -1  # the open fence; the indentation of a directive
    at = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        depth = len(line) - len(line.lstrip())
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            elif named:
                yield start, at, "a code block"
        elif mark:
            fence, named = mark[1], bool(mark[2])
        elif indent >= 0 and (not line.strip() or depth > indent):
            yield start, at, "a code block"
        else:
            directive = _DIRECTIVE.match(line)
            indent = len(directive[1]) if directive else -1
            for span in _SPAN.finditer(line):
                yield start + span.start(2), start + span.end(2), "a code span"


# macros: their bodies are code that no grammar parsed, and what a name in one means, it means where
# the macro is used


def macro_rewrites(
    parts: list[Passage],
    chosen: list[Meaning],
    candidates: list[Meaning],
    typing: Typing,
    old: str,
    new: str,
) -> tuple[list[Rewrite], list[Rewrite]]:
    """The places in macro bodies that mean what is renamed, and those that may."""
    rewrites: list[Rewrite] = []
    unsure: list[Rewrite] = []
    opaque = [part for part in parts if part.kind == "opaque"]
    declared = (each for meaning in chosen for each in meaning.declared)
    everywhere = len(chosen) == len(candidates) or any(  # what files can share
        each.scope_kind in ("file", "namespace", "class") for each in declared
    )
    for body in typing.scopes.root.walk() if opaque else ():
        if body.type not in typing.rules.opaque or old not in typing.scopes.text(body):
            continue
        for rewrite in _words_of(body, opaque, typing, old, new):
            targets = list(_targets(rewrite, body, candidates, typing, old))
            renamed = [target in chosen for target in targets]
            if any(renamed) or (not targets and everywhere):
                rewrites.append(rewrite)
            if len(set(renamed)) > 1 or (not targets and len(chosen) < len(candidates)):
                unsure.append(rewrite)
    return rewrites, unsure


def _words_of(
    body: Branch, opaque: list[Passage], typing: Typing, old: str, new: str
) -> Iterator[Rewrite]:
    for part in opaque:
        if body.start <= part.start and part.end <= body.end:
            text = typing.scopes.data[part.start : part.end].decode("utf-8", "replace")
            for mention in names.mentions(text, {old: new}):
                yield _rewrite(part, text, *mention, "code", False)


def _targets(
    rewrite: Rewrite, body: Branch, candidates: list[Meaning], typing: Typing, old: str
) -> Iterator[Meaning | None]:
    """The meaning of the word wherever the body will stand: None for another file's member."""
    if typing.scopes.data[body.start : rewrite.start].rstrip().endswith((b".", b"->")):
        members = [x for x in candidates if x.is_member or x.kind in (UNKNOWN, EXTERNAL)]
        yield from members
        if not members:
            yield None
        return
    name = body.at("^ name")
    own = typing.scopes.by_node.get(id(body.parent))
    places = [body]
    if name is not None and (own is None or not own.declared.get(old)):
        called = typing.scopes.text(name)
        places = [
            leaf
            for leaf, label in typing.scopes.leaves
            if label == called and id(leaf) not in typing.scopes.by_leaf
        ]
    for place in places:
        declared = typing.lookup(old, place, "any")
        if declared is not None:
            yield from (candidate for candidate in candidates if declared in candidate.declared)
