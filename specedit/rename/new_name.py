"""Whether a new name can stand where it is written: not a keyword, not taken, nothing captured.

To find what would be captured, the renamed text is read as the original was: a thing called NEW
that takes in both renamed places and places that were called NEW before is two things made one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specedit.check.finding import Finding
from specedit.errors import UsageError
from specedit.rename.questions import doubt
from specedit.rename.resolution import ResolvedName
from specedit.scoping.builtin_names import BUILTINS
from specedit.scoping.languages import rules_of
from specedit.scoping.languages.rules import Rules
from specedit.scoping.meaning import Meaning, Rewrite, has_sigil, meanings_over, members_called
from specedit.scoping.project import Project
from specedit.scoping.scope import FUNCTIONS, TYPES, Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN, UNKNOWN, takes_any
from specedit.syntax.branch import Branch
from specedit.syntax.languages import Language


def refuse_keyword(new: str, language: Language) -> None:
    rules = rules_of(language.name)
    if rules is not None and (new.lower() if rules.any_case else new) in rules.keywords:
        raise UsageError(f"`{new}` is a keyword of {language.name}", hint="Choose another name.")


def refuse_keywords(old: str, new: str, chosen: list[Meaning], typing: Typing) -> None:
    """An error where `new` would be a keyword, or `old` is one: then the text does not parse."""
    rules, language = typing.rules, typing.scopes.language
    here = _declared_here(chosen, typing) if old in rules.keywords else []
    free = rules.free_members and all(each.member_of is not None for each in here)
    if here and not free and not any(_is_escaped(typing, each) for each in here):
        raise UsageError(
            f"`{old}` is a keyword of {language.name}, not a name",
            hint=f"Line {here[0].leaf.line} of {typing.project.path(typing.scopes)} reads as "
            "if it declared one: does it parse?",
        )
    if not all(
        has_sigil(meaning, typing) or (rules.free_members and _is_member(meaning, typing))
        for meaning in chosen
    ):
        refuse_keyword(new, language)


def _declared_here(chosen: list[Meaning], typing: Typing) -> list[Declared]:
    every = (declared for meaning in chosen for declared in meaning.declared)
    return [declared for declared in every if declared.home is typing.scopes]


def _is_escaped(typing: Typing, declared: Declared) -> bool:
    """Whether a name is written as one that may be a keyword: `@class`, `r#type`."""
    return typing.scopes.data[: declared.leaf.start].endswith((b"@", b"r#", b"`")) or (
        typing.scopes.text(declared.leaf) != declared.name
    )


def _is_member(meaning: Meaning, typing: Typing) -> bool:
    """Only met after a dot, or where a member is declared."""
    if any(x.owner is None or x.kind not in ("field", "method", "value") for x in meaning.declared):
        return False
    if typing.rules.bare_members:
        return all(
            id(leaf) in typing.scopes.by_leaf or typing.rules.receiver(leaf) is not None
            for leaf in meaning.leaves
        )
    return meaning.is_member or meaning.kind in (UNKNOWN, EXTERNAL, FOREIGN)


def hidden_builtin(new: str, language: Language, chosen: list[Meaning]) -> str:
    """A note where the new name hides a name of the language itself; else ""."""
    if new not in BUILTINS.get(language.name, ()) or language.name in ("javascript", "typescript"):
        return ""  # a browser's names are those of every second variable
    if all(meaning.is_member for meaning in chosen):
        return ""
    return f"`{new}` is a built-in of {language.name}, which the new name hides"


def required(chosen: list[Meaning], typing: Typing, old: str) -> Iterator[Finding]:
    """Declarations whose name something outside these files requires, or may require."""
    results: dict[int, tuple[str, bool]] = {}  # what requires it, and whether surely, by line
    for declared in _declared_here(chosen, typing):
        result = typing.rules.required_by(typing, declared)
        is_function = declared.kind == "function" and declared.owner is None
        if is_function and declared.name in typing.rules.starts:
            result = "the language, which calls it", True
        if result is not None:
            results[declared.leaf.line] = result
    for line, (what, surely) in results.items():
        if surely:
            yield doubt(f"line {line}: `{old}` is required by {what}", (line,), "taken")
        else:
            yield doubt(f"`{old}` may be required by {what}", (line,))


def named_file(chosen: list[Meaning], typing: Typing, old: str) -> Iterator[Finding]:
    """That a public class may be renamed without the file that is named after it."""
    for declared in (each for meaning in chosen for each in meaning.declared):
        words = typing.scopes.text(declared.node.until(declared.leaf.start)).split()
        public = not typing.rules.implementing.isdisjoint(words)
        if declared.kind == "class" and public and declared.scope and not declared.scope.is_local:
            text = f"a file is named after `{old}`: it moves if no file is named, or by a move"
            yield doubt(text, (declared.leaf.line,))


def captures(
    typing: Typing, after: str, language: Language, new: str, rewrites: list[Rewrite]
) -> Iterator[Finding]:
    """Lines where NEW stood already and would mean the renamed thing, or hide it."""
    if all(name.lstrip("$") != new for _, name in typing.scopes.leaves):
        return
    renamed = set(_starts(rewrites, new))
    reread = Project.of_text(after, language)
    for meaning in meanings_over([reread], new):
        if not meaning.declared:
            continue
        bare = [leaf for leaf in meaning.leaves if _bare(leaf, meaning, reread)]
        before = [leaf for leaf in bare if leaf.start not in renamed]
        if not before or len(before) == len(bare):
            continue
        declared = next((each for each in meaning.declared if each.leaf in before), None)
        if declared is not None:
            yield taken(declared.leaf, new, declared.kind)
        else:
            line = before[0].line
            message = f"`{new}` is something else there, and would mean the renamed one"
            yield doubt(f"line {line}: {message}", (line,), "taken")


def _starts(rewrites: list[Rewrite], new: str) -> Iterator[int]:
    """Where, in bytes of the renamed text, a renamed place begins."""
    moved = 0
    for rewrite in rewrites:
        written = rewrite.new.encode("utf-8", "surrogatepass")
        at = written.find(new.encode("utf-8", "surrogatepass"))
        if rewrite.kind == "code" and at >= 0:
            yield rewrite.start + moved + at
        moved += len(written) - (rewrite.end - rewrite.start)


def _bare(leaf: Branch, meaning: Meaning, typing: Typing) -> bool:
    """Whether scopes alone decide what a place means, and no guess about types."""
    scopes = [each.scope.node for each in meaning.declared if each.scope is not None]
    if typing.rules.keys.get(leaf.place) == "argument" and any(
        takes_any(node, typing.rules.rest_parameters) for node in scopes
    ):
        return True
    if leaf.place in typing.rules.keys or leaf.type in typing.rules.shorthands:
        return False
    return leaf.place not in typing.rules.members or typing.rules.receiver(leaf) is None


def clashes(chosen: list[Meaning], typing: Typing, new: str) -> Iterator[Finding]:
    """Lines where NEW is declared already in a scope that the rename would put it into."""
    seen: set[int] = set()
    for meaning in chosen:
        for declared in _declared_here([meaning], typing):
            there: list[Declared] = []
            if declared.owner is not None:
                there += declared.owner.members.get(new, [])
            if declared.scope is not None:
                there += declared.scope.declared.get(new, [])
            for other in there:
                if id(other.leaf) not in seen and _same_sort(declared, other, typing):
                    seen.add(id(other.leaf))
                    yield taken(other.leaf, new, other.kind)
        if meaning.is_member:  # `self.x = 0` declares nothing, and is a member all the same
            for met in members_called(typing, new, meaning.owners):
                if not met.declared and id(met.leaves[0]) not in seen:
                    seen.add(id(met.leaves[0]))
                    yield taken(met.leaves[0], new, "member")


def taken(leaf: Branch, new: str, kind: str, path: str = "") -> Finding:
    """That the new name stands somewhere already. `path`: in another file."""
    article = "an" if kind.startswith(tuple("aeiou")) else "a"
    where = f"{path}, line {leaf.line}" if path else f"line {leaf.line}"
    return doubt(f"{where}: `{new}` is already {article} {kind} there", (leaf.line,), "taken")


def _same_sort(declared: Declared, other: Declared, typing: Typing) -> bool:
    """Whether two declarations of one name would be in each other's way."""
    if (declared.owner is None) != (other.owner is None):
        return False
    if (declared.kind in TYPES) != (other.kind in TYPES):
        return False
    if typing.rules.methods_apart and (declared.kind in FUNCTIONS) != (other.kind in FUNCTIONS):
        return False
    both_local = declared.kind == other.kind == "local"
    return not (both_local and declared.node.type in typing.rules.rebinds)


def taken_elsewhere(
    project: Project, resolved: ResolvedName, new: str
) -> Iterator[tuple[str, Finding]]:
    """Where NEW stands in the way of a file that is renamed, by the path of that one."""
    owners = {
        id(owner) for each in resolved.chosen for owner in each.owners if owner.module is None
    }
    suffixes = tuple({re.sub(r".*(\.\w+)$", r"\1", path) for path in resolved.typings})
    word = rf"(?<!\w){re.escape(new)}(?!\w)"
    for path in project.matching(word, suffixes) if owners else ():
        if (typing := project.typing(path)) is None:
            continue
        for owner in typing.scopes.owners:
            above = [owner, *typing.above(owner)]
            home = next((up for up in above if id(up) in owners), None)
            if home is None:
                continue
            for declared in owner.members.get(new, ()):
                if declared.home is not home.home:
                    first = project.path(home.home)
                    at = first if first in resolved.typings else next(iter(resolved.typings))
                    yield at, taken(declared.leaf, new, declared.kind, path)
    asked: set[int] = set()  # files may declare the name thousands of times
    for declared in resolved.chosen_declarations():
        here = project.at(declared.home)
        local = declared.owner is not None or not declared.is_own or declared.is_local
        if local or here is None or declared.scope is None or id(here) in asked:
            continue
        asked.add(id(here))
        for other in here.rules.shared(project, here, new):
            there = project.path(other.home)
            yield project.path(declared.home), taken(other.leaf, new, other.kind, there)
            break
    if not resolved.typings or type(resolved.rules).is_hidden is Rules.is_hidden:
        return
    for path in resolved.typings:
        for meaning in resolved.here(path, resolved.chosen):
            homes = {project.path(declared.home) for declared in meaning.declared}
            if homes and all(resolved.rules.is_hidden(project, h, path, new) for h in homes):
                line = meaning.leaves[0].line
                text = f"line {line}: `{new}` is not exported, and this is another package"
                yield path, doubt(text, (line,), "taken")
                break
