"""One file: the places that `resolution` decided to rename, and the new text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from specedit.check.finding import Finding
from specedit.errors import UsageError
from specedit.rename.mentions import Subject, comment_rewrites, derived_rewrites, macro_rewrites
from specedit.rename.new_name import (
    captures,
    clashes,
    hidden_builtin,
    named_file,
    refuse_keyword,
    refuse_keywords,
    required,
)
from specedit.rename.questions import Place, RenameGuess, doubt
from specedit.rename.resolution import ResolvedName, describe, lines_text, resolve_alone, spot_at
from specedit.scoping.languages import rules_of
from specedit.scoping.meaning import Meaning, Rewrite, means_member
from specedit.scoping.project import Project
from specedit.scoping.scope import Declared
from specedit.scoping.typing import Typing
from specedit.syntax import identifiers as names
from specedit.syntax import trees
from specedit.syntax.branch import Branch, grow, passages
from specedit.syntax.languages import Language
from specedit.syntax.lines import places_of

SCOPES = {  # the kinds of places that each takes in
    "code": {"code"},
    "comments": {"code", "comment"},
    "derived": {"code", "comment", "string", "derived"},
}
REASONS = {
    "comment": "mentioned in a comment",
    "string": "mentioned in a string",
    "derived": "a name built from it",
    "code": "the same word",
}
MAX_BUILT_NAMES = 3  # names that are built from OLD and named one by one
MANY_NAMES = "names built from it"
SHAPE = re.compile(r"['$@:#]{0,2}[^\W\d][\w$]*|`[^`\n]+`|--?[\w-]+|[^\W\d][\w-]*")


def rename_places(
    text: str,
    language: Language | None,
    old: str,
    new: str,
    scope: str = "comments",
    line: int | None = None,
    is_here: Callable[[str], bool] | None = None,
) -> RenameGuess:
    """The rename of `old` (or `Class.member`) to `new`; `line` selects one meaning. `is_here`:
    other files are renamed, too, those of modules that it takes for the project's."""
    owner, old = names.split_member(old)
    old, new = checked_names(old, new, scope)
    spellings = names.sought(old, derived=scope == "derived")
    if not any(name.lower() in text.lower() for name in spellings):
        raise UsageError(
            f"`{old}` does not occur in the file",
            hint=names.near(old, set(names.NAME.findall(text))),
        )
    rules = rules_of(language.name) if language else None
    if language is None or rules is None:
        return _whole_words(text, language, old, new, scope)
    dialect = trees.dialect(text, language)
    if old in rules.receivers:
        refuse_keyword(new, dialect)
        data = text.encode("utf-8", "surrogatepass")
        rewrites, note = rules.from_receiver(grow(text, dialect), data, new, line)
        _, after, places = rewritten(data, rewrites)
        return RenameGuess(old, new, after, places, notes=(doubt(note),))
    typing = Project.of_text(text, dialect)
    resolved = resolve_alone(typing, old, owner, line, is_here, derived=scope == "derived")
    path = typing.project.path(typing.scopes)
    return guessed(resolved, path, old.lstrip("$"), new.lstrip("$"), scope)


def checked_names(old: str, new: str, scope: str) -> tuple[str, str]:
    """The two names, both with the `#` that one has; an error where they are not, or the same."""
    if old.startswith("#") or new.startswith("#"):
        old, new = "#" + old.lstrip("#"), "#" + new.lstrip("#")
    if scope not in SCOPES:
        raise UsageError(f"unknown scope {scope!r}", hint=f"One of {', '.join(SCOPES)}.")
    for name in (old, new):
        if not SHAPE.fullmatch(name):
            raise UsageError(f"{name!r} is not an identifier")
    if old.strip("'`$@") == "_":
        raise UsageError(f"{old!r} cannot be renamed: in code it is not a name")
    if old == new:
        raise UsageError(f"OLD and NEW are both {old!r}")
    return old, new


# what is written there


def guessed(
    resolved: ResolvedName,
    path: str,
    old: str,
    new: str,
    scope: str,
    *,
    whole_tree: bool = False,
    kept_names: frozenset[int] = frozenset(),
    named_strings: Sequence[Rewrite] = (),
) -> RenameGuess:
    """One file's text. `whole_tree`: other files are renamed with it, and what stays is reported
    for all. `kept_names`: bytes where names that are built from OLD stay. `named_strings`: places
    in strings that are renamed in any scope."""
    typing, notes = resolved.typings[path], list(resolved.notes.get(path, ()))
    parts_of = {id(each): resolved.here(path, [each]) for each in resolved.candidates}
    result = [part for each in resolved.candidates for part in parts_of[id(each)]]
    chosen = [part for each in resolved.chosen for part in parts_of[id(each)]]
    refuse_keywords(old, new, chosen, typing)
    data, dialect = typing.scopes.data, typing.scopes.language
    text = data.decode("utf-8", "surrogatepass")
    # the places, by how far the scope reaches
    code = _rewrites(chosen, result, typing, old, new)
    parts = passages(typing.scopes.root, data, typing.rules.strings, typing.rules.opaque)
    others = [meaning for meaning in result if meaning not in chosen]
    subject = Subject(typing, old, chosen or resolved.chosen, others)
    comments = comment_rewrites(data, parts, old, new, subject)
    known = {leaf.start for meaning in result for leaf in meaning.leaves} | kept_names
    wider = derived_rewrites(data, parts, typing, old, new)
    wider = [rewrite for rewrite in wider if rewrite.start not in known]
    if spelling := typing.rules.finish(code, chosen, data, new):
        notes.append(doubt(spelling))
    if code and (hides := hidden_builtin(new, dialect, chosen)):
        notes.append(doubt(hides))
    before = trees.parse(text, dialect)
    broken = before.root_node.has_error
    if broken:  # where a comment or a string ends is uncertain, too
        comments, wider = [], []
    if result and not chosen:  # nothing here is renamed, and no mention of it
        comments, wider = [], wider if whole_tree else []
    in_macros, unsure = macro_rewrites(parts, chosen, result, typing, old, new)
    spots = [spot_at(data, r.start, data.count(b"\n", 0, r.start) + 1) for r in unsure]
    lines = sorted({spot.line for spot in spots})
    message = f"`{old}` in a macro's body on {lines_text(lines)}"
    undecided: tuple[Finding, ...] = ()
    if unsure and whole_tree:  # it stays until that is known
        in_macros = [place for place in in_macros if place not in unsure]
        left = f"{message}: not renamed, it may mean another one"
        undecided = (Finding("undecided", left, tuple(spots)),)
    elif unsure:
        notes.append(doubt(f"{message} may mean another one", lines))
    levels = [[*code.values(), *in_macros, *named_strings], comments, wider]
    # those that are written
    taken = list(SCOPES).index(scope) + 1
    exact = [bool(levels[0]), *(any(rewrite.old == old for rewrite in x) for x in levels[1:])]
    if not any(exact[:taken]) and any(exact) and not whole_tree:
        taken = exact.index(True) + 1
        where = "comments" if taken == 2 else "strings and derived names"
        notes.append(doubt(f"`{old}` is not an identifier in this file: renamed in {where}"))
    kept = [rewrite for level in levels[:taken] for rewrite in level]
    stays = _outside(data, levels[taken:], old)
    if not whole_tree:
        stays += [_other(meaning, old) for meaning in others]
    edits, after, changed = rewritten(data, kept)
    # what to look at twice
    spelled = sorted({place.line for place in changed if _is_spelled_out(place)})
    if spelled:
        notes.append(doubt(f"a shorthand was spelled out on {lines_text(spelled)}", spelled))
    same_shape = trees.has_shape(before, after, dialect)
    if kept and broken:
        line = next((fault.line for fault in trees.errors(text, dialect) or ()), 1)
        uncertain = "does not parse: its names are renamed in code alone, look at its places"
        notes.append(doubt(f"line {line}: {uncertain}", (line,)))
    by_design = any(x.kind == "code" and not SHAPE.fullmatch(x.new) for x in kept)  # spelled out
    if not same_shape and not by_design:
        notes.append(doubt(f"`{new}` is not read as a name there"))
    if typing.rules.named_files and not whole_tree:
        notes += named_file(chosen, typing, old)
    needed = list(required(chosen, typing, old))
    clashing = [finding for finding in needed if finding.kind == "taken"]
    notes += (finding for finding in needed if finding.kind != "taken")
    clashing = clashing or list(clashes(chosen, typing, new))
    clashing = clashing or list(captures(typing, after, dialect, new, edits))
    return RenameGuess(
        old,
        new,
        after,
        changed,
        tuple(stays),
        tuple({finding.line: finding for finding in clashing}.values()),
        tuple(notes),
        undecided,
        same_shape=same_shape,
    )


def _rewrites(
    chosen: list[Meaning], candidates: list[Meaning], typing: Typing, old: str, new: str
) -> dict[int, Rewrite]:
    """One rewrite for each place of the chosen meanings, by where it starts."""
    rest = {id(leaf) for each in candidates if each not in chosen for leaf in each.leaves}
    seen: set[int] = set()
    results = {}
    for meaning in chosen:
        declared = {id(each.leaf): each for each in meaning.declared}
        for leaf in meaning.leaves:
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            made = _rewrite(leaf, meaning, id(leaf) in rest, typing, old, new)
            if made.old != made.new:  # `self` brings a name without having it
                why = _reason(declared.get(id(leaf)), meaning)
                results[made.start] = replace(made, why=why)
    return results


def _rewrite(
    leaf: Branch, meaning: Meaning, split: bool, typing: Typing, old: str, new: str
) -> Rewrite:
    """`split`: the place means something else, too, which stays."""
    special = typing.rules.rewrite(leaf, meaning, split, typing.scopes.text, old, new)
    if special is not None:
        return special
    written = new
    if split and typing.rules.is_shorthand(leaf):
        written = f"{new}: {old}" if means_member(meaning) else f"{old}: {new}"
    return Rewrite(leaf.start, leaf.end, old, written)


def _reason(declared: Declared | None, meaning: Meaning) -> str:
    """Why a place is one that is renamed: it declares the name, or uses it."""
    owners = sorted({owner.name for owner in meaning.owners} - {""})
    of = f" of {', '.join(owners[:3])}" if owners else ""
    if declared is not None:
        return "import" if declared.kind == "import" else f"declares the {called(declared)}{of}"
    if not meaning.declared and not meaning.owners:
        return {"unknown": "a member of a class that is not known"}.get(meaning.kind, meaning.kind)
    kinds = (called(d) for d in meaning.declared if d.kind not in ("import", "export"))
    return f"use of the {next(kinds, 'member')}{of}"


def called(declared: Declared) -> str:
    """The word for a declaration in messages."""
    whole = declared.kind == "local" and declared.scope is not None and not declared.is_local
    return "global" if whole else declared.kind


def _outside(data: bytes, levels: list[list[Rewrite]], old: str) -> list[Finding]:
    """The places that the scope leaves, by name and kind."""
    results: dict[tuple[str, str], list[int]] = {}
    for level in levels:
        starts = (rewrite.start for rewrite in level)
        for rewrite, (line, _) in zip(level, places_of(data, starts), strict=True):
            if rewrite.old.lower() not in names.ARTICLES:
                results.setdefault((rewrite.old, rewrite.kind), []).append(line)
    where = {"comment": " in comments", "string": " in strings"}
    built = {name for name, kind in results if kind == "derived"}
    many = len(built) > MAX_BUILT_NAMES  # so that most have nothing to do with it
    stays = [
        _stays(
            name + where.get(kind, ""),
            lines,
            "" if kind == "comment" or many else "--scope derived",
            "left" if name == old and kind in where else "outside",
        )
        for (name, kind), lines in sorted(results.items())
        if not (many and kind == "derived")
    ]
    lines = sorted(line for (_, kind), at in results.items() if kind == "derived" for line in at)
    return [*stays, _stays(MANY_NAMES, lines, "", "outside")] if many else stays


def _stays(name: str, lines: list[int], flag: str, kind: str) -> Finding:
    """Places that stay, and the flag that takes them in."""
    many = "place" if len(lines) == 1 else "places"
    how = f"; {flag}" if flag else ""
    return doubt(f"not renamed: {name}, {len(lines)} {many}{how}", sorted(set(lines)), kind)


def _other(meaning: Meaning, old: str) -> Finding:
    """Places of the name that mean something else."""
    lines = [leaf.line for leaf in meaning.leaves]
    return _stays(f"{old} ({describe(meaning)})", lines, f"--line {lines[0]}", "outside")


def rewritten(data: bytes, rewrites: list[Rewrite]) -> tuple[list[Rewrite], str, tuple[Place, ...]]:
    """The rewrites that overlap no earlier one, the text that they make, and the places."""
    kept: list[Rewrite] = []
    out: list[bytes] = []
    places: list[Place] = []
    end, offset, line, column = 0, 0, 1, 1
    for rewrite in sorted(rewrites, key=lambda rewrite: (rewrite.start, -rewrite.end)):
        if rewrite.start < end:
            continue
        before = data[kept[-1].start if kept else 0 : rewrite.start]
        passed = before.decode("utf-8", "surrogatepass")
        offset, line = offset + len(passed), line + passed.count("\n")
        last = passed.rfind("\n")  # before it, the line may be long
        column = len(passed) - last if last >= 0 else column + len(passed)
        why = rewrite.why or REASONS.get(rewrite.kind, "")
        same = (rewrite.kind, rewrite.old, rewrite.new, column, why, rewrite.undecided)
        places.append(Place(offset, line, *same))
        out += [data[end : rewrite.start], rewrite.new.encode("utf-8", "surrogatepass")]
        kept.append(rewrite)
        end = rewrite.end
    after = b"".join([*out, data[end:]]).decode("utf-8", "surrogatepass")
    return kept, after, tuple(places)


def _is_spelled_out(place: Place) -> bool:
    return place.kind == "code" and ": " in place.replacement and ": " not in place.replaced


def _whole_words(
    text: str, language: Language | None, old: str, new: str, scope: str
) -> RenameGuess:
    """A language without scope rules: every whole word outside comments."""
    data = text.encode("utf-8", "surrogatepass")
    root = grow(text, language) if language is not None and language.grammar else None
    parts = passages(root, data) if root is not None else []
    spans = [part for part in parts if part.kind == "comment"]
    rewrites: list[Rewrite] = []
    for offset, _, _ in names.mentions(text, {old: new}):
        start = len(text[:offset].encode("utf-8", "surrogatepass"))
        if not any(span.start <= start < span.end for span in spans):
            rewrites.append(Rewrite(start, start + len(old.encode()), old, new))
    comments = comment_rewrites(data, parts, old, new)
    levels = [rewrites, comments]
    taken = 1 if scope == "code" and rewrites else 2
    _, after, places = rewritten(data, [each for level in levels[:taken] for each in level])
    named = language.name if language else "this language"
    message = f"scopes not checked: {named} has no rules for names; whole words were replaced"
    outside = tuple(_outside(data, levels[taken:], old))
    return RenameGuess(old, new, after, places, outside, notes=(doubt(message),))
