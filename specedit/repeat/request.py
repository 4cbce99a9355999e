"""The request of a command line of `repeat`: the example, and where to look."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from specedit.errors import GitError, UsageError
from specedit.files import git
from specedit.files.source import read as read_source
from specedit.repeat.example import (
    EXAMPLE,
    ExampleFile,
    NodeChange,
    changes_of,
    is_code,
    is_commit,
    of_commit,
    uncommitted,
)
from specedit.repeat.finding import Found, FoundFile, candidates, find, read_text
from specedit.repeat.generalizing import rules_of
from specedit.repeat.near import NearHunk, hunks_of, near_places
from specedit.repeat.rule import RepeatRule
from specedit.repeat.saved import SavedRule, has_holes, rule_from_text, saved_rule
from specedit.settings import Settings
from specedit.syntax.languages import BY_NAME, Language, language_of

LEAST_REPLACED = 10  # lines of a file that may be replaced as a whole
LEAST_ALIKE = 0.2  # share of lines that stay where a change is an example
MAX_LISTED_SHAPES = 20  # shapes that an error lists


@dataclass(frozen=True, slots=True)
class RepeatRequest:
    """An example and the files to look in; none: those of the work tree."""

    rules: tuple[RepeatRule, ...]
    names: tuple[str, ...] = ()  # of files that were named, or that are in folders that were
    named: bool = False
    saved: SavedRule | None = None
    hunks: tuple[NearHunk, ...] = ()  # of the example


def understood(
    words: Sequence[str], example: tuple[str, str] | None, settings: Settings
) -> RepeatRequest:
    """The rules of a command line, and its files."""
    rest = list(words)
    if example is None:
        root = _root()
        if rest and not Path(rest[0]).exists():
            revision = rest.pop(0)
            if revision in settings.repeat:
                saved = saved_rule(revision, settings.repeat)
                return RepeatRequest((saved.rule,), *_files(rest), saved)
            if not is_commit(root, revision):
                raise UsageError(
                    f"{revision}: neither a file, nor a saved rule, nor a commit.",
                    hint="specedit repeat [REV] [FILE]...; --example OLD NEW takes patterns.",
                )
            examples = of_commit(root, revision)
            what = f"{revision} changes no file of a language that can be repeated."
        else:
            examples = uncommitted(root)
            what = "There is no uncommitted change in a file of a known language."
        if not examples:
            raise UsageError(what, hint=EXAMPLE)
        return RepeatRequest(rules_from(examples), *_files(rest), hunks=_hunks(examples))
    files = _files(rest)
    before, after = example
    if Path(before).is_file() and Path(after).is_file():
        examples = [_of_files(before, after)]
        return RepeatRequest(rules_from(examples), *files, hunks=_hunks(examples))
    languages = _languages(files[0] or _known())
    rules, problems = [], []
    for language in languages:
        try:
            rules.append(rule_from_text(before, after, language))
        except UsageError as problem:
            problems.append(problem)
    if not rules and problems:
        raise problems[0]
    if not rules:
        raise UsageError("No file of a known language is named.", hint="--example OLD NEW FILE…")
    if not has_holes(before) and not any(rule.anchor for rule in rules):
        raise UsageError(f"`{before}` has no word to look for.")
    return RepeatRequest(tuple(rules), *files)


def _hunks(examples: Sequence[ExampleFile]) -> tuple[NearHunk, ...]:
    return tuple(hunk for example in examples for hunk in hunks_of(example))


def with_near(found: Found, request: RepeatRequest) -> Found:
    """With the near places as proposals."""
    if not request.hunks:
        raise UsageError("--near needs an example of code: a change, a commit, or two files.")
    own = {(path, start, start + len(new)) for r in found.rules for path, start, new in r.written}

    def is_taken(name: str, start: int, end: int) -> bool:
        places = found.files[name].places if name in found.files else ()
        spans = [(place.start, place.end) for place in places]
        spans += [(first, last) for path, first, last in own if path == name]
        return any(first < end and start < last for first, last in spans)

    root, here = _root(), Path.cwd()
    names = request.names or [os.path.relpath(root / name, here) for name in git.known(root)]
    files = dict(found.files)
    for name, (text, places) in near_places(request.hunks, names, read_text, is_taken).items():
        known = files.get(name, FoundFile(name, text, ()))
        every = sorted((*known.places, *places), key=lambda place: place.start)
        files[name] = replace(known, places=tuple(every))
    return replace(found, files=files)


def _root() -> Path:
    try:
        return git.top(Path.cwd())
    except GitError as problem:
        raise GitError(problem.message, hint="specedit repeat --example OLD NEW FILE...") from None


def rules_from(examples: Sequence[ExampleFile]) -> tuple[RepeatRule, ...]:
    """The rules of an example; an error that says why there are none."""
    changes: list[NodeChange] = []
    whole = [example.path for example in examples if _replaces_all(example)]
    for example in examples:
        if example.path not in whole:
            changes += changes_of(example)
    if whole and not changes:
        raise UsageError(
            f"{', '.join(whole[:3])}: nearly every line is another, so nothing tells what was "
            "changed.",
            hint="Change one expression, statement or definition by hand: specedit help repeat.",
        )
    rules, none = rules_of(changes)
    if rules:
        return tuple(rules)
    if not changes:
        raise UsageError(
            "The example changes nothing but white space, quotes or comments.",
            hint=EXAMPLE,
        )
    reasons = [f"{change.file.path}:{change.line}: {why}" for change, why in none]
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    raise UsageError(
        f"The change is not an example: {'; '.join(reasons[:3])}{more}.",
        hint="Change one expression, statement or definition by hand: specedit help repeat.",
    )


def _replaces_all(example: ExampleFile) -> bool:
    """Whether an example is another text, of which few lines are those before."""
    olds, news = (
        Counter(filter(None, map(str.strip, text.split("\n"))))
        for text in (example.before, example.after)
    )
    most = max(olds.total(), news.total())
    return most >= LEAST_REPLACED and (olds & news).total() < most * LEAST_ALIKE


def _of_files(before: str, after: str) -> ExampleFile:
    old, new = read_source(Path(before)), read_source(Path(after))
    language = old.language or new.language
    if language is None or not is_code(language):
        raise UsageError(f"{before}: not a known programming language.", hint="a.py, b.ts, C.java")
    if old.text == new.text:
        raise UsageError(f"{before} and {after} are the same: there is nothing to repeat.")
    return ExampleFile(after, old.text, new.text, language)


def repeated(before: str, after: str, language: str, root: Path, place: Path) -> Found:
    """The places of one change, given as code before and after it, in a file or a folder of `root`.
    Names of files count from `root`."""
    inside = [str(place)] if place.is_file() else [str(path) for path in git.under(place)]
    if not language:
        kind = language_of(place.name) if place.is_file() else None
        known = [kind] if kind is not None else _languages(inside)
        if len(known) != 1:
            raise UsageError("`language` says which of several languages it is.")
        language = known[0].name
    if (kind := BY_NAME.get(language)) is None or not is_code(kind):
        raise UsageError(f"There is no language {language[:50]!r}.", hint="python, java, go, …")
    rule = None if has_holes(before) else _of_code(before, after, kind)
    if rule is None:
        rule = rule_from_text(before, after, kind)
    names = [os.path.relpath(name, root) for name in inside]
    return find([rule], names, partial(read_text, root=root), named=place.is_file())


def _of_code(before: str, after: str, language: Language) -> RepeatRule | None:
    """The rule of code that is an example; None where the code says all: nothing in it varies."""
    rules = rules_from([ExampleFile("", before, after, language)])
    if len(rules) > 1:
        raise UsageError("The example has several changes; give one.")
    given = tuple(" ".join(text.split()) for text in (before, after))
    if rules[0].shown() == given:
        return None
    return replace(rules[0], needs=(), origins={})  # no file around it says more


def _files(words: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The files named and those in the folders named; whether files were named."""
    names: list[str] = []
    named = False
    for word in words:
        path = Path(word)
        if path.is_dir():
            names += map(str, git.under(path))
        elif path.is_file():
            names.append(word)
            named = True
        else:
            raise UsageError(f"{word}: no such file or folder.")
    if words and not names:
        raise UsageError(f"{', '.join(words)}: no file that git tracks.")
    return tuple(dict.fromkeys(names)), named


def _known() -> Sequence[str]:
    return git.known(_root())


def _languages(names: Sequence[str]) -> list[Language]:
    kinds = (language_of(name) for name in names)
    found = {kind.name for kind in kinds if kind is not None and is_code(kind)}
    return [BY_NAME[name] for name in sorted(found)]


def found(request: RepeatRequest, hunk: str, *, most: int | None = None) -> Found:
    """The places of the request's rules, of those that `hunk` chooses; about `most` at most of each
    that is too general."""
    rules = list(request.rules)
    if hunk and hunk != "all":
        rules = [rules[number - 1] for number in _numbers(hunk, len(rules))]
    names = request.names or candidates(_root(), rules, Path.cwd())
    if len(rules) > 1 and not hunk and not rules[0].receivers:
        every = [find([rule], names, read_text, named=request.named, most=most) for rule in rules]
        live = [resolved for resolved in every if resolved.places]
        if len(live) > 1:
            raise UsageError(_several(every), hint="--hunk N chooses one, --hunk 1,2 or all more.")
        return live[0] if live else every[0]
    return find(rules, names, read_text, named=request.named, most=most)


def _numbers(text: str, most: int) -> list[int]:
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"--hunk {text}: not numbers.", hint="--hunk 1, or 1,3, or all") from None
    for number in numbers:
        if not 1 <= number <= most:
            raise UsageError(f"--hunk {number}: the example has {most} changes.")
    return numbers


def _several(every: Sequence[Found]) -> str:
    lines = ["The example has several changes:"]
    for number, proposal in enumerate(every[:MAX_LISTED_SHAPES], 1):
        before, after = proposal.rules[0].shown()
        lines.append(f"  {number}  {before} -> {after}  ({proposal.places} places)")
    if len(every) > MAX_LISTED_SHAPES:
        lines.append(f"  and {len(every) - MAX_LISTED_SHAPES} more")
    return "\n".join(lines)
