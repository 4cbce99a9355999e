"""The places of a name in one file: which of them are renamed, and the renamed text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from specedit.check.finding import Finding
from specedit.errors import UsageError
from specedit.rename.choosing import choose, describe
from specedit.rename.guess import Place, RenameGuess, doubt, lines_text, put, rewrites_for
from specedit.rename.mentions import comment_rewrites, derived_rewrites, macro_rewrites, reach
from specedit.rename.new_name import (
    captures,
    clashes,
    hidden_builtin,
    named_file,
    refuse_keyword,
    refuse_keyword_renamed,
    refuse_reserved,
    required,
)
from specedit.rename.resolution import ResolvedName, spot_at
from specedit.scoping.languages import rules_of
from specedit.scoping.meaning import Meaning, Rewrite, has_sigil, meanings
from specedit.scoping.typing import Typing
from specedit.syntax import identifiers as names
from specedit.syntax import trees
from specedit.syntax.branch import grow, passages
from specedit.syntax.languages import Language
from specedit.syntax.lines import places_of

SCOPES = ("code", "comments", "derived")
REASONS = {
    "comment": "mentioned in a comment",
    "string": "mentioned in a string",
    "derived": "a name built from it",
    "code": "the same word",
}
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
    _check(text, old, new, scope)
    rules = rules_of(language.name) if language else None
    if language is None or rules is None:
        return _words(text, language, old, new, scope)
    dialect = trees.dialect(text, language)
    if old in rules.receivers:
        refuse_keyword(new, dialect)
        data = text.encode("utf-8", "surrogatepass")
        return _receiver(text, old, new, *rules.from_receiver(grow(text, dialect), data, new, line))
    results, typing = meanings(text, dialect, old.lstrip("$"))
    if old.startswith("$"):
        results = [result for result in results if has_sigil(result, typing)] or results
        old, new = old.lstrip("$"), new.lstrip("$")
    resolved = ResolvedName({"": typing}, results)
    choose(resolved, owner, line, old, is_here, derived=scope == SCOPES[-1])
    return guessed(resolved, "", old, new, scope)


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
    parts_of = {
        id(candidate): resolved.here(path, [candidate]) for candidate in resolved.candidates
    }
    result = [part for candidate in resolved.candidates for part in parts_of[id(candidate)]]
    chosen = [part for meaning in resolved.chosen for part in parts_of[id(meaning)]]
    refuse_keyword_renamed(old, chosen, typing)
    refuse_reserved(new, typing.scopes.language, chosen, typing)
    data, dialect = typing.scopes.data, typing.scopes.language
    text = data.decode("utf-8", "surrogatepass")
    rewrites = {
        rewrite.start: rewrite for rewrite in rewrites_for(chosen, result, typing, old, new)
    }
    parts = passages(typing.scopes.root, data, typing.rules.strings, typing.rules.opaque)
    inside = reach(chosen) if len(chosen) < len(result) else None
    kinds = [{meaning.kind for meaning in meanings} for meanings in (chosen, result)]
    parameters = "parameter" in kinds[0] or "parameter" not in kinds[1]
    comments = comment_rewrites(data, parts, old, new, inside, parameters=parameters)
    known = {leaf.start for meaning in result for leaf in meaning.leaves}
    wider = [
        rewrite
        for rewrite in derived_rewrites(data, parts, typing, old, new)
        if rewrite.start not in known and rewrite.start not in kept_names
    ]
    if spelling := typing.rules.finish(rewrites, chosen, data, new):
        notes.append(doubt(spelling))
    if rewrites and (hides := hidden_builtin(new, dialect, chosen)):
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
    code = [*rewrites.values(), *in_macros, *named_strings]
    levels = [code, comments, wider]
    taken = SCOPES.index(scope) + 1
    exact = [bool(code), *(any(rewrite.old == old for rewrite in level) for level in levels[1:])]
    if not any(exact[:taken]) and any(exact) and not whole_tree:
        taken = exact.index(True) + 1
        where = "comments" if taken == 2 else "strings and derived names"
        notes.append(doubt(f"`{old}` is not an identifier in this file: renamed in {where}"))
    kept = [rewrite for level in levels[:taken] for rewrite in level]
    stays = _outside(data, levels, taken, old)
    others = [meaning for meaning in result if meaning not in chosen] if not whole_tree else []
    stays += [other(meaning, old, f"--line {meaning.lines[0]}") for meaning in others]
    edits, written, after, changed = _finish(data, kept)
    spelled = sorted({place.line for place in changed if _spelled_out(place)})
    if spelled:
        spelling = f"a shorthand was spelled out on {lines_text(spelled)}"
        notes.append(doubt(spelling, spelled))
    spans = [(edit.start, edit.end, edit.new.encode("utf-8", "surrogatepass")) for edit in edits]
    same_shape = trees.has_shape(before, data, spans, written, dialect)
    if kept and broken:
        line = next((fault.line for fault in trees.errors(text, dialect) or ()), 1)
        uncertain = "does not parse: its names are renamed in code alone, look at its places"
        notes.append(doubt(f"line {line}: {uncertain}", (line,)))
    spelled_out = any(
        rewrite.kind == "code" and not SHAPE.fullmatch(rewrite.new) for rewrite in kept
    )
    if not same_shape and not spelled_out:  # what is spelled out changes the shape by design
        notes.append(doubt(f"`{new}` is not read as a name there"))
    if typing.rules.named_files and not whole_tree:
        notes += named_file(chosen, typing, old)
    must, may = required(chosen, typing)
    notes += [doubt(f"`{old}` may be required by {what}", (line,)) for line, what in may.items()]
    clashing = [
        doubt(f"line {line}: `{old}` is required by {what}", (line,), "taken")
        for line, what in must.items()
    ]
    clashing = clashing or list(
        clashes([_of_here(meaning, typing) for meaning in chosen], typing, new)
    )
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


def _of_here(meaning: Meaning, typing: Typing) -> Meaning:
    """A meaning without what other files declare."""
    return replace(
        meaning, declared=[each for each in meaning.declared if each.home is typing.scopes]
    )


def _receiver(text: str, old: str, new: str, rewrites: list[Rewrite], note: str) -> RenameGuess:
    *_, written, places = _finish(text.encode("utf-8", "surrogatepass"), rewrites)
    return RenameGuess(old, new, written, places, notes=(doubt(note),))


def _check(text: str, old: str, new: str, scope: str) -> None:
    check_names(old, new, scope)
    if not any(
        name.lower() in text.lower() for name in names.sought(old, derived=scope == SCOPES[-1])
    ):
        raise UsageError(
            f"`{old}` does not occur in the file",
            hint=names.near(old, set(names.NAME.findall(text))),
        )


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


def _outside(data: bytes, levels: list[list[Rewrite]], taken: int, old: str) -> list[Finding]:
    results: dict[tuple[str, str], list[int]] = {}
    for level in levels[taken:]:
        starts = (rewrite.start for rewrite in level)
        for rewrite, (line, _) in zip(level, places_of(data, starts), strict=True):
            if rewrite.old.lower() not in names.ARTICLES:
                results.setdefault((rewrite.old, rewrite.kind), []).append(line)
    where = {"comment": " in comments", "string": " in strings"}
    return [
        outside(
            name + where.get(kind, ""),
            lines,
            f"--scope {'comments' if kind == 'comment' else 'derived'}",
            "left" if name == old and kind in where else "outside",
        )
        for (name, kind), lines in sorted(results.items())
    ]


def outside(name: str, lines: list[int], flag: str = "", kind: str = "outside") -> Finding:
    """Places that stay, and the flag that takes them in."""
    many = "place" if len(lines) == 1 else "places"
    how = f"; {flag}" if flag else ""
    return doubt(f"not renamed: {name}, {len(lines)} {many}{how}", sorted(set(lines)), kind)


def other(meaning: Meaning, old: str, flag: str = "", kind: str = "outside") -> Finding:
    """Places of the name that mean something else."""
    return outside(
        f"{old} ({describe(meaning)})", [leaf.line for leaf in meaning.leaves], flag, kind
    )


def _finish(
    data: bytes, rewrites: list[Rewrite]
) -> tuple[list[Rewrite], bytes, str, tuple[Place, ...]]:
    """The rewritten name, the new text in bytes and in characters, and its places."""
    kept, out = put(data, rewrites)
    places = []
    at, offset, line, column = 0, 0, 1, 1
    for rewrite in kept:
        passed = data[at : rewrite.start].decode("utf-8", "surrogatepass")
        at, offset, line = rewrite.start, offset + len(passed), line + passed.count("\n")
        last = passed.rfind("\n")  # before it, the line may be long
        column = len(passed) - last if last >= 0 else column + len(passed)
        why = rewrite.why or REASONS.get(rewrite.kind, "")
        same = (rewrite.kind, rewrite.old, rewrite.new, column, why, rewrite.undecided)
        places.append(Place(offset, line, *same))
    return kept, out, out.decode("utf-8", "surrogatepass"), tuple(places)


def _spelled_out(place: Place) -> bool:
    return place.kind == "code" and ": " in place.replacement and ": " not in place.replaced


def _words(text: str, language: Language | None, old: str, new: str, scope: str) -> RenameGuess:
    """A language without scope rules: every whole word outside comments."""
    data = text.encode("utf-8", "surrogatepass")
    root = grow(text, language) if language is not None and language.grammar else None
    parts = passages(root, data) if root is not None else []
    spans = [part for part in parts if part.kind == "comment"]
    rewrites: list[Rewrite] = []
    comments: list[Rewrite] = []
    for offset, there, put_there in names.mentions(text, {old: new}):
        start = len(text[:offset].encode("utf-8", "surrogatepass"))
        commented = any(span.start <= start < span.end for span in spans)
        rewrite = Rewrite(
            start, start + len(there.encode()), there, put_there, "comment" if commented else "code"
        )
        (comments if commented else rewrites).append(rewrite)
    if scope != "code" and spans:
        comments = comment_rewrites(data, parts, old, new)
    levels = [rewrites, comments]
    taken = 1 if scope == "code" and rewrites else 2
    kept = [rewrite for level in levels[:taken] for rewrite in level]
    *_, written, places = _finish(data, kept)
    named = language.name if language else "this language"
    message = f"scopes not checked: {named} has no rules for names; whole words were replaced"
    return RenameGuess(
        old,
        new,
        written,
        places,
        tuple(_outside(data, levels, taken, old)),
        notes=(doubt(message),),
    )
