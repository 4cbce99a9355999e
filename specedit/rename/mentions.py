"""Where a name is mentioned outside of parsed code: comments, strings, other names, macros.

A string that names what is renamed breaks the program where it keeps the old name: a dotted path
that leads to it, a member that is read by its name, and the table under whose names a module in C
gives its functions to Python. Other words in strings are left to `--scope derived`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from specedit.rename.guess import Place, RenameGuess, applied
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
WHOLE = re.compile(r"""[A-Za-z]*(["'])([\w.:]+)\1""")
DOTTED = re.compile(r"(?<![\w.:/-])[^\W\d]\w*(?:[.:][^\W\d]\w*)+(?![\w/-])")
NAMED_AFTER = "an example is named after what it shows"
WHY = "the program finds it by this string"


def string_rewrites(
    project: Project, path: str, typing: Typing, every: Sequence[ResolvedName], old: str, new: str
) -> list[Rewrite]:
    """The words that are rewritten in the strings of a file of code."""
    names = type(typing.rules).named_after is not Rules.named_after
    named = list(_named_after(project, path, typing, every, old, new)) if names else []
    word = rf"[\"'.:]{re.escape(old)}[\"'.:]"
    if re.search(word, project.text(path) or "") is None:
        return named
    chosen = _chosen_declarations(every)
    found = [
        *_in_paths(project, path, typing, chosen, old),
        *_given_out(typing, every, old),
        *_listed_members(path, typing, every, old),
    ]
    end = len(old.encode())
    return [*named, *(Rewrite(start, start + end, old, new, "string", WHY) for start in found)]


def _named_after(
    project: Project, path: str, typing: Typing, every: Sequence[ResolvedName], old: str, new: str
) -> Iterator[Rewrite]:
    """The functions whose names must say what they are about: `ExampleCart` in Go's tests."""
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


def _in_paths(
    project: Project, path: str, typing: Typing, chosen: set[Declared], old: str
) -> Iterator[int]:
    """The bytes where a string's path, or the name of a member, means one of `chosen`."""
    folder = posixpath.dirname(path)
    for node in typing.scopes.root.walk():
        if node.type not in typing.rules.strings:
            continue
        text = typing.scopes.text(node) if node.end - node.start < 300 else ""
        match = WHOLE.fullmatch(text)
        if match is None or old not in text:
            continue
        start = node.start + len(text[: match.start(2)].encode())
        if match[2] == old:
            if _is_member(typing, node, chosen, old):
                yield start
            continue
        for offset in _parts(project, typing.rules, folder, match[2], chosen, old):
            yield start + len(match[2][:offset].encode())


def _is_member(typing: Typing, node: Branch, chosen: set[Declared], old: str) -> bool:
    holder = typing.rules.read_by_name(typing, node)
    known = typing.type_of(holder) if holder is not None else None
    return any(member in chosen for member in typing.members(known or (), old))


def _chosen_declarations(every: Sequence[ResolvedName]) -> set[Declared]:
    """The name that is renamed, in all languages."""
    meanings = (meaning for resolved in every for meaning in resolved.chosen)
    return {declared for meaning in meanings for declared in meaning.declared}


def _listed_members(
    path: str, typing: Typing, every: Sequence[ResolvedName], old: str
) -> Iterator[int]:
    """Where a class lists a member of its own as a string: in Python's `__slots__`."""
    places = [
        leaf.start
        for resolved in every
        for meaning in resolved.chosen
        for leaf in meaning.leaves
        if resolved.path_of(leaf) == path
    ]
    for node in typing.scopes.root.walk() if places else ():
        if node.type not in typing.rules.strings or old not in typing.scopes.text(node):
            continue
        holder = typing.rules.lists_members_of(typing, node)
        match = WHOLE.fullmatch(typing.scopes.text(node)) if holder is not None else None
        if holder is None or match is None or match[2] != old:
            continue
        if any(holder.start <= place < holder.end for place in places):
            yield node.start + len(match[0][: match.start(2)].encode())


def _parts(
    project: Project, rules: Rules, folder: str, dotted: str, chosen: set[Declared], old: str
) -> Iterator[int]:
    """Where in a dotted path a part means one of `chosen`, each once."""
    words = re.split(r"[.:]", dotted)
    found = rules.along_path(project, folder, words) if old in words else ()
    numbers = {at for at, declared in found if words[at] == old and declared in chosen}
    yield from (sum(len(word) + 1 for word in words[:number]) for number in sorted(numbers))


def _given_out(typing: Typing, every: Sequence[ResolvedName], old: str) -> Iterator[int]:
    """The names of a table of functions that a renamed import takes."""
    tables = list(typing.rules.given_out(typing, old))
    if not tables:
        return
    modules = {
        each.typings[each.path_of(declared.leaf)].rules.module_of(scopes_of(declared), declared)
        for each in every
        for meaning in each.chosen
        for declared in meaning.declared
        if declared.kind == "import"
    }
    taken = {re.split(r"[./]", module)[-1] for module in modules}
    yield from (start for start, module in tables if module in taken)


def configuration_renamed(
    project: Project, path: str, every: Sequence[ResolvedName], old: str, new: str
) -> RenameGuess | None:
    """A file of settings with the dotted paths in it that mean what is renamed; None where it has
    none."""
    text = project.text(path) or ""
    if not path.endswith(CONFIGURATION):
        return None
    chosen = _chosen_declarations(every)
    folder, found = posixpath.dirname(path), list[int]()
    for match in DOTTED.finditer(text):
        if old not in match[0]:
            continue
        offsets = {
            match.start() + offset
            for resolved in every
            for offset in _parts(project, resolved.rules, folder, match[0], chosen, old)
        }
        found += sorted(offsets)
    if not found:
        return None
    places = [
        Place(at, line, "string", old, new, column, WHY)
        for at, (line, column) in zip(found, places_of(text, found), strict=True)
    ]
    written = applied(text, [(place.offset, place) for place in places])
    return RenameGuess(old, new, written, tuple(places))


def reach(chosen: list[Meaning]) -> list[Passage] | None:
    """Where comments may speak of the chosen meanings; None: everywhere."""
    local = ("local", "parameter", "type", "label")
    if not all(meaning.kind in local for meaning in chosen):
        return None
    reach = []
    for meaning in chosen:
        for declared in meaning.declared:
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
            rewrite = _rewrite(part, text, offset, there, put_there, "comment", asked)
            results += [rewrite, *_article(text, offset, rewrite)]
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
    if len(there) >= names.MIN_NAME_CHARACTERS and there.lower() not in names.COMMON:
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
) -> tuple[list[Rewrite], list[Rewrite]]:
    """The places in macro bodies that mean what is renamed, and those that may."""
    opaque = any(part.kind == "opaque" for part in parts)
    bodies = [
        inner
        for inner in (typing.scopes.root.walk() if opaque else ())
        if inner.type in typing.rules.opaque and old in typing.scopes.text(inner)
    ]
    rewrites: list[Rewrite] = []
    unsure: list[Rewrite] = []
    for body in bodies:
        for rewrite in _words_of(body, parts, typing, old, new):
            targets = list(_targets(rewrite, body, candidates, typing, old))
            renamed = [target in chosen for target in targets]
            if any(renamed) or (not targets and _is_seen_everywhere(chosen, candidates)):
                rewrites.append(rewrite)
            if len(set(renamed)) > 1 or (not targets and len(chosen) < len(candidates)):
                unsure.append(rewrite)
    return rewrites, unsure


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
    """The meaning of the word wherever the body will stand: None for another file's member."""
    if typing.scopes.data[body.start : rewrite.start].rstrip().endswith((b".", b"->")):
        members = [
            candidate
            for candidate in candidates
            if candidate.is_member or candidate.kind in (UNKNOWN, EXTERNAL)
        ]
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
            yield from (candidate for candidate in candidates if declared in candidate.declared)


def _is_seen_everywhere(chosen: list[Meaning], candidates: list[Meaning]) -> bool:
    """Whether a macro that is used elsewhere could mean it."""
    return len(chosen) == len(candidates) or any(
        declaration.scope is not None and declaration.scope.kind in ("file", "namespace", "class")
        for meaning in chosen
        for declaration in meaning.declared
    )
