"""One file: which places of a name are renamed, and the new text.

In a file alone, `choose` decides; in a tree, `resolution` has decided before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
from specedit.rename.resolution import ResolvedName, is_foreign, lines_text, spot_at, without
from specedit.scoping.languages import rules_of
from specedit.scoping.languages.calls import can_mean
from specedit.scoping.meaning import Meaning, Rewrite, has_sigil, meanings, means_member
from specedit.scoping.scope import FUNCTIONS, Declared
from specedit.scoping.typing import Typing
from specedit.scoping.uses import EXTERNAL, FOREIGN, FREE, MODULE, UNKNOWN
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
DESCRIPTIONS = {  # of a meaning without a declaration
    EXTERNAL: "a member of another file's type",
    FOREIGN: "a member of an import",
    UNKNOWN: "a member",
    FREE: "a free name",
    MODULE: "another module's name",
    "implicit": "an undeclared member",
}
MAX_BUILT_NAMES = 3  # names that are built from OLD and named one by one
MANY_NAMES = "names built from it"
SHAPE = re.compile(r"['$@:]{0,2}[^\W\d][\w$]*|`[^`\n]+`|--?[\w-]+|[^\W\d][\w-]*")


def rename_places(
    text: str,
    language: Language | None,
    old: str,
    new: str,
    scope: str = "comments",
    line: int | None = None,
    is_here: Callable[[str], bool] | None = None,
) -> RenameGuess:
    """The predicted rename of `old` (or `Class.member`) to `new`; `line` selects one meaning.

    `is_here`: other files are renamed, too, those of modules that it takes for the project's."""
    owner, old = names.split_member(old)
    check_names(old, new, scope)
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
        _, written, places = rewritten(data, rewrites)
        after = written.decode("utf-8", "surrogatepass")
        return RenameGuess(old, new, after, places, notes=(doubt(note),))
    results, typing = meanings(text, dialect, old.lstrip("$"))
    if old.startswith("$"):
        results = [result for result in results if has_sigil(result, typing)] or results
        old, new = old.lstrip("$"), new.lstrip("$")
    resolved = ResolvedName({"": typing}, results)
    choose(resolved, owner, line, old, is_here, derived=scope == "derived")
    return guessed(resolved, "", old, new, scope)


def check_names(old: str, new: str, scope: str) -> None:
    """An error where the two are not names, or are the same."""
    if scope not in SCOPES:
        raise UsageError(f"unknown scope {scope!r}", hint=f"One of {', '.join(SCOPES)}.")
    for name in (old, new):
        if not SHAPE.fullmatch(name):
            raise UsageError(f"{name!r} is not an identifier")
    if old.strip("'`$@") == "_":
        raise UsageError(f"{old!r} cannot be renamed: in code it is not a name")
    if old == new:
        raise UsageError(f"OLD and NEW are both {old!r}")


# which of the name's meanings are renamed


def choose(
    resolved: ResolvedName,
    owner: str,
    line: int | None,
    old: str,
    is_here: Callable[[str], bool] | None = None,
    *,
    derived: bool = False,
) -> None:
    """Decide which meanings of one file are renamed, and note what is uncertain about that.

    `line` and `owner` select; uses that can mean nothing else are included. `is_here`: other files
    are renamed, too, those of modules that it takes for the project's. `derived`: a parameter that
    is stored in a renamed field of the same name is renamed too."""
    ((path, typing),), candidates = resolved.typings.items(), resolved.candidates
    elsewhere = _elsewhere(candidates, typing, is_here) if line is None else []
    candidates[:] = [candidate for candidate in candidates if candidate not in elsewhere]
    notes = resolved.notes[path] = _join_clear_uses(candidates, typing)
    members = [candidate for candidate in candidates if candidate.is_member]
    unknown = next((candidate for candidate in candidates if candidate.kind == UNKNOWN), None)
    if line is None:  # strings are code only where a line says so
        candidates[:] = [candidate for candidate in candidates if candidate.kind != "literal"]
    chosen = resolved.chosen = list(candidates)
    candidates += elsewhere
    if owner:
        chosen[:] = [x for x in candidates if any(holder.name == owner for holder in x.owners)]
        if not chosen:
            holders = sorted({holder.name for member in members for holder in member.owners} - {""})
            hint = f"It is a member of {', '.join(holders)}." if holders else ""
            raise UsageError(f"`{owner}` has no member `{old}` in this file", hint=hint)
    if line is not None:
        here = resolved.pointed_at(chosen, lambda _, leaf: leaf.line == line)
        if not here:
            lines = sorted({at for meaning in chosen for at in meaning.lines})
            hint = f"It is on {lines_text(lines)}." if lines else ""
            raise UsageError(f"no `{old}` on line {line}", hint=hint)
        chosen[:] = here[:1]
        if len(here) > 1:
            message = f"line {line}: `{old}` means {len(here)} things there; the first was renamed"
            notes.append(doubt(f"{message}: {describe(here[0])}", (line,)))
    elif not owner and len(chosen) > 1:
        things = "; ".join(describe(meaning) for meaning in chosen[:6])
        message = f"`{old}` means {len(chosen)} things here, all renamed: {things}"
        notes.append(doubt(message, sorted({at for meaning in chosen for at in meaning.lines})))
    if unknown is not None and unknown not in chosen and any(each.is_member for each in chosen):
        others = [member for member in members if member not in chosen]
        stays = [leaf for leaf in unknown.leaves if can_mean(typing, leaf, others)]
        taken = Meaning(UNKNOWN, leaves=without(unknown.leaves, stays))
        for meaning, what in ((taken, "; renamed there too"), (Meaning(UNKNOWN, leaves=stays), "")):
            message = f"the class before .{old} is not known on {lines_text(meaning.lines)}"
            if meaning.leaves:
                notes.append(doubt(message + (what or ": not renamed"), meaning.lines))
        if taken.leaves:
            unknown.leaves = stays
            chosen.append(taken)
            candidates.append(taken)
    if any(meaning.kind == "literal" for meaning in chosen):
        notes.append(doubt(f"every string {old!r} was taken for the same literal"))
    if derived:
        resolved.parameters_stored(old, candidates, derived=True)
    if chosen and not any(meaning.declared for meaning in chosen) and chosen[0].kind != "label":
        message = f"nothing in this file declares `{old}`; rename it where it is declared, too"
        notes.append(doubt(message))
    notes += [*_overloads(chosen, typing), *_cycles(chosen, typing)]
    resolved.parameters_stored(old, candidates, derived=False)
    notes += _literals(chosen, candidates, typing.rules.nameless)


def _elsewhere(
    candidates: list[Meaning], typing: Typing, is_here: Callable[[str], bool] | None
) -> list[Meaning]:
    """The places of another module that only have the name of what is renamed."""
    if is_here is None:
        known = any(candidate.declared for candidate in candidates)
        return [candidate for candidate in candidates if known and candidate.kind == FOREIGN]
    return [candidate for candidate in candidates if is_foreign(candidate, typing.rules, is_here)]


def _join_clear_uses(candidates: list[Meaning], typing: Typing) -> list[Finding]:
    """Uses that can only mean the one thing this file declares, or the one thing it never does."""
    declared = [candidate for candidate in candidates if candidate.declared]
    loose = [
        candidate
        for candidate in candidates
        if not candidate.declared and candidate.kind not in ("label", "literal")
    ]
    if len(declared) > 1:
        return []
    if declared:
        main = declared[0]
        scopes = {each.scope.kind for each in main.declared if each.scope is not None}
        joins = {UNKNOWN, "implicit"} if main.is_member else set()
        if main.is_member or {"file", "namespace", "class"} & scopes:
            joins |= {FREE}
        if main.kind == "class":
            joins |= {"implicit"}
        if any(up.type in typing.rules.exports for x in main.declared for up in x.leaf.up()):
            joins |= {MODULE}  # exported under its own name
    else:
        joins = {UNKNOWN, EXTERNAL, FOREIGN, "implicit"}
        main = next((meaning for meaning in loose if meaning.kind in joins), Meaning(FREE))
        joins -= {"implicit"} if main.kind == "implicit" else set()  # another class's is its own
    notes = []
    for meaning in loose:
        if meaning.kind == FREE and main.is_member:  # only where the member is visible
            inside = [leaf for leaf in meaning.leaves if _is_inside(leaf, main, typing)]
            outside = without(meaning.leaves, inside)
            if not inside:
                continue
            if outside:
                candidates.append(Meaning(FREE, leaves=outside))
                meaning.leaves = inside
        if meaning is main or meaning.kind not in joins:
            continue
        if meaning.kind == FREE and _is_apart(meaning, main, typing):
            continue
        main.leaves += without(meaning.leaves, main.leaves)
        candidates.remove(meaning)
        notes.append(doubt(f"taken for the same: {describe(meaning)}", meaning.lines))
    return notes


def _is_inside(leaf: Branch, main: Meaning, typing: Typing) -> bool:
    """Whether a bare name stands in a class that has the member, or in one made from it."""
    owner = typing.enclosing(leaf)
    return owner is not None and any(x in main.owners for x in (owner, *typing.above(owner)))


def _is_apart(meaning: Meaning, main: Meaning, typing: Typing) -> bool:
    """Whether one is called and the other is a variable, where those are named apart."""
    if not typing.rules.methods_apart or main.kind not in {"local", "field", "value", *FUNCTIONS}:
        return False
    calls = {typing.rules.calls.get(x.parent.type) == x.field for x in meaning.leaves if x.parent}
    return calls == {main.kind not in FUNCTIONS}


def _cycles(chosen: list[Meaning], typing: Typing) -> Iterator[Finding]:
    """Classes that extend each other: a member cannot be assigned to one of them."""
    for owner in (owner for meaning in chosen for owner in meaning.owners):
        for base in typing.above(owner):
            if owner in typing.above(base):
                yield doubt(f"{owner.name} and {base.name} extend each other")
                return


def _literals(
    chosen: list[Meaning], candidates: list[Meaning], nameless: frozenset[str]
) -> Iterator[Finding]:
    """Object literals of no known class that have a member of the name."""
    lines = sorted(
        line
        for candidate in candidates
        if candidate not in chosen
        and candidate.owners
        and all(x.node.type in nameless for x in candidate.owners)
        for line in candidate.lines
    )
    if lines and any(meaning.is_member for meaning in chosen):
        yield doubt(f"an object literal may have it, too, and stays: {lines_text(lines)}", lines)


def _overloads(chosen: list[Meaning], typing: Typing) -> Iterator[Finding]:
    """Methods of one name in one class that differ in their parameters."""
    for meaning in chosen if typing.rules.overloads else ():
        lines: dict[int, list[int]] = {}  # of the methods of each class
        for declared in meaning.declared:
            if declared.kind == "method" and declared.node.part("body") is not None:
                lines.setdefault(id(declared.owner), []).append(declared.leaf.line)
        for same in lines.values():
            if len(same) > 1:
                text = f"{len(same)} overloads were renamed together: {lines_text(same)}"
                yield doubt(text, same)


def describe(meaning: Meaning) -> str:
    what = DESCRIPTIONS.get(meaning.kind, meaning.kind)
    if meaning.kind == FOREIGN and meaning.module:
        what = f"a member of {meaning.module}"
    return f"{what} on {lines_text(meaning.lines)}"


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
    """One file's text, where it is known what its places mean and which of them are renamed.

    `whole_tree`: other files are renamed with it, and what stays is reported for all.
    `kept_names`: bytes where names that are built from OLD stay. `named_strings`: places in strings
    that are renamed in any scope."""
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
    edits, written, changed = rewritten(data, kept)
    after = written.decode("utf-8", "surrogatepass")
    # what to look at twice
    spelled = sorted({place.line for place in changed if _is_spelled_out(place)})
    if spelled:
        notes.append(doubt(f"a shorthand was spelled out on {lines_text(spelled)}", spelled))
    spans = [(edit.start, edit.end, edit.new.encode("utf-8", "surrogatepass")) for edit in edits]
    same_shape = trees.has_shape(before, data, spans, written, dialect)
    if kept and broken:
        line = next((fault.line for fault in trees.errors(text, dialect) or ()), 1)
        uncertain = "does not parse: its names are renamed in code alone, look at its places"
        notes.append(doubt(f"line {line}: {uncertain}", (line,)))
    by_design = any(x.kind == "code" and not SHAPE.fullmatch(x.new) for x in kept)  # spelled out
    if not same_shape and not by_design:
        notes.append(doubt(f"`{new}` is not read as a name there"))
    if typing.rules.named_files and not whole_tree:
        notes += named_file(chosen, typing, old)
    must, may = required(chosen, typing, old)
    clashing = must or list(clashes(chosen, typing, new))
    clashing = clashing or list(captures(typing, after, dialect, new, edits))
    return RenameGuess(
        old,
        new,
        after,
        changed,
        tuple(stays),
        tuple({finding.line: finding for finding in clashing}.values()),
        (*notes, *may),
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
    whole = declared.kind == "local" and declared.scope is not None and not declared.scope.is_local
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


def rewritten(
    data: bytes, rewrites: list[Rewrite]
) -> tuple[list[Rewrite], bytes, tuple[Place, ...]]:
    """The rewrites that do not overlap an earlier one, in order, the bytes that they make, and the
    places."""
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
    return kept, b"".join([*out, data[end:]]), tuple(places)


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
    _, written, places = rewritten(data, [each for level in levels[:taken] for each in level])
    named = language.name if language else "this language"
    message = f"scopes not checked: {named} has no rules for names; whole words were replaced"
    outside = tuple(_outside(data, levels[taken:], old))
    after = written.decode("utf-8", "surrogatepass")
    return RenameGuess(old, new, after, places, outside, notes=(doubt(message),))
