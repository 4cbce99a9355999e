"""Where a name is mentioned outside of parsed code: comments, strings, other names, macros, prose.

A string that names what is renamed breaks the program where it keeps the old name: a dotted path
that leads to it, a member that is read by its name, and the table under whose names a module in C
gives its functions to Python. Other words in strings are left to `--scope derived`, and so is code
in prose: in Markdown, reStructuredText and plain text that is code spans, and code blocks of a
language.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from specedit.rename.questions import Place, RenameGuess, applied, is_reference
from specedit.rename.resolution import ResolvedName
from specedit.scoping.languages.rules import Rules
from specedit.scoping.meaning import Meaning, Rewrite, scopes_of
from specedit.scoping.project import Project
from specedit.scoping.scope import FUNCTIONS, Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, UNKNOWN
from specedit.syntax import identifiers as names
from specedit.syntax.branch import COMMENTS, Branch, Passage
from specedit.syntax.lines import places_of

CONFIGURATION = (".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
PROSE = frozenset({".md", ".markdown", ".rst", ".txt", ".adoc"})
NAMED_AFTER = "an example is named after what it shows"
FOUND_BY_STRING = "the program finds it by this string"
MAX_STRING_BYTES = 300  # of a string that may be a path or a member's name

_WHOLE = re.compile(r"""[A-Za-z]*(["'])([\w.:]+)\1""")
_DOTTED = re.compile(r"(?<![\w.:/-])[^\W\d]\w*(?:[.:][^\W\d]\w*)+(?![\w/-])")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([\w+#.{-]*)")
_DIRECTIVE = re.compile(r"(\s*)\.\. (?:code|code-block|sourcecode)::\s*\w")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)")
_PARAMETER = re.compile(r"""([@\\:]param\b[^\n:]*\s|<param(ref)?\s+name\s*=\s*["'])$""")


# comments


def reach(chosen: list[Meaning]) -> list[Passage] | None:
    """Where comments may speak of the chosen meanings; None: everywhere."""
    if any(meaning.kind not in ("local", "parameter", "type", "label") for meaning in chosen):
        return None
    result = []
    for declared in (declared for meaning in chosen for declared in meaning.declared):
        node = declared.scope.node if declared.scope is not None else declared.node
        start = node.start
        for sibling in reversed(node.parent.children if node.parent else []):
            if sibling.end <= start and sibling.type in COMMENTS:
                start = sibling.start
        result.append(Passage(start, node.end, ""))
    return result


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
        for offset, found, written in names.mentions(text, spellings):
            if not _means_name(text, offset, found):
                continue
            if not parameters and found == old and _PARAMETER.search(text[:offset]):
                continue
            asked = found != old or not is_reference(text, offset, found)
            rewrite = _rewrite(part, text, offset, found, written, "comment", asked)
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


def _means_name(text: str, offset: int, name: str) -> bool:
    """Whether a mention in a comment means the name; a short or everyday word must be marked."""
    start = max(text.rfind(blank, 0, offset) for blank in " \t\n") + 1
    word = re.match(r"\S*", text[start:])
    if word is not None and re.search(r"://|\w@\w", word[0]):
        return False  # an address is not an identifier
    if len(name) >= names.MIN_NAME_CHARACTERS and name.lower() not in names.COMMON:
        return True
    before, after = text[:offset][-12:], text[offset + len(name) :][:1]
    return bool(re.search(r"[`'\"\[{]$|@param\s+$|:param\s+$|name=\"$", before)) or after in "`'\"("


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
                asked = found != old or not (whole or is_reference(text, offset, found))
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
    """The words that are rewritten in the strings of a file of code."""
    named = list(_named_after(project, path, typing, every, old, new))
    word = rf"[\"'.:]{re.escape(old)}[\"'.:]"
    if re.search(word, project.text(path) or "") is None:
        return named
    found = {*_in_strings(project, path, typing, every, old), *_given_out(typing, every, old)}
    end = len(old.encode())
    return [
        *named,
        *(Rewrite(at, at + end, old, new, "string", FOUND_BY_STRING) for at in sorted(found)),
    ]


def _named_after(
    project: Project, path: str, typing: Typing, every: Sequence[ResolvedName], old: str, new: str
) -> Iterator[Rewrite]:
    """The functions whose names must say what they are about: `ExampleCart` in Go's tests."""
    if type(typing.rules).named_after is Rules.named_after:
        return
    folder = posixpath.dirname(path)
    before = {
        typing.rules.named_after(declared, path)
        for declared in _chosen_declarations(every)
        if posixpath.dirname(project.path(declared.home)) == folder
    } - {""}
    for leaf, name in typing.scopes.leaves if before else ():
        declared = typing.scopes.by_leaf.get(id(leaf))
        for word in before:
            whole = name == word + old or name.startswith(word + old + "_")
            if whole and declared is not None and declared.kind in FUNCTIONS:
                start = leaf.start + len(word.encode())
                yield Rewrite(start, start + len(old.encode()), old, new, "derived", NAMED_AFTER)


def _in_strings(
    project: Project, path: str, typing: Typing, every: Sequence[ResolvedName], old: str
) -> Iterator[int]:
    """The bytes where a string is a path to what is renamed, the name by which a member is read, or
    one in a class's list of its members (Python's `__slots__`)."""
    rules, chosen = typing.rules, _chosen_declarations(every)
    places = [
        leaf.start
        for resolved in every
        for meaning in resolved.chosen
        for leaf in meaning.leaves
        if resolved.path_of(leaf) == path
    ]
    for node in typing.scopes.root.walk():
        if node.type not in rules.strings or node.end - node.start >= MAX_STRING_BYTES:
            continue
        match = _WHOLE.fullmatch(typing.scopes.text(node))
        if match is None or old not in match[2]:
            continue
        start = node.start + len(match[0][: match.start(2)].encode())
        if match[2] != old:
            for offset in _parts(project, rules, path, match[2], chosen, old):
                yield start + len(match[2][:offset].encode())
            continue
        holder = rules.read_by_name(typing, node)
        known = typing.type_of(holder) if holder is not None else None
        listing = rules.lists_members_of(typing, node)
        if any(member in chosen for member in typing.members(known or (), old)) or (
            listing is not None and any(listing.start <= at < listing.end for at in places)
        ):
            yield start


def _chosen_declarations(every: Sequence[ResolvedName]) -> set[Declared]:
    """What is renamed, in all languages."""
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
    for body in typing.scopes.root.walk() if opaque else ():
        if body.type not in typing.rules.opaque or old not in typing.scopes.text(body):
            continue
        for rewrite in _words_of(body, opaque, typing, old, new):
            targets = list(_targets(rewrite, body, candidates, typing, old))
            renamed = [target in chosen for target in targets]
            if any(renamed) or (not targets and _is_seen_everywhere(chosen, candidates)):
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


def _is_seen_everywhere(chosen: list[Meaning], candidates: list[Meaning]) -> bool:
    """Whether a macro that is used elsewhere could mean it."""
    return len(chosen) == len(candidates) or any(
        declared.scope is not None and declared.scope.kind in ("file", "namespace", "class")
        for meaning in chosen
        for declared in meaning.declared
    )
