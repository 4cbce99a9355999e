"""Finds the places of rules in the files of a work tree, and what becomes of each file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from specedit.check.finding import (
    ALL_OFF,
    CHECKER,
    OF_RENAMES,
    OFF,
    Checks,
    Finding,
    verdicts,
)
from specedit.edit.backend import Plan
from specedit.edit.job import Job
from specedit.edit.outcome import Judged, guarded, outcome
from specedit.edit.report import Edit, Replaced
from specedit.edit.splice import whole
from specedit.errors import FileError, InputError
from specedit.files import git
from specedit.files.source import Source
from specedit.files.source import read as read_source
from specedit.rename.tree import MAX_FILE_BYTES, origin
from specedit.repeat.piece import BYTES
from specedit.repeat.rewriting import NEAR_RULE, Repeated, applied, rewritten
from specedit.repeat.rule import RepeatRule
from specedit.repeat.saved import saved_rule
from specedit.settings import Settings
from specedit.syntax.languages import language_of
from specedit.syntax.lines import common

MOST_COMPLETED = 20  # files that get an import: for each, the work tree is searched
INSTRUCTION = "Repeat the change `{}` -> `{}`. Change nothing else."


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file with its places, of all rules, in the order of the text."""

    name: str
    text: str  # that was searched
    places: tuple[Repeated, ...]
    skipped: tuple[tuple[int, str], ...] = ()  # lines that fit a rule and stay, and why
    parsed: str = ""  # its new text, where that is known to parse

    @property
    def meant(self) -> tuple[Repeated, ...]:
        """The places that are written."""
        return tuple(place for place in self.places if not place.kind)


@dataclass
class Found:
    """The result of rules in the files of a work tree."""

    rules: Sequence[RepeatRule]
    files: dict[str, FoundFile] = field(default_factory=dict)  # by name, with places
    left: dict[str, str] = field(default_factory=dict)  # files that were not searched, and why
    checked: dict[str, tuple[str, tuple[Finding, ...]]] = field(default_factory=dict)  # new texts

    @property
    def meant(self) -> int:
        """How many places are written."""
        return sum(len(file.meant) for file in self.files.values())

    @property
    def places(self) -> int:
        return sum(len(file.places) for file in self.files.values())


def find(
    rules: Sequence[RepeatRule],
    names: Iterable[str],
    read: Callable[[str], str],
    *,
    named: bool = False,
    most: int | None = None,
) -> Found:
    """The places of the rules in these files. `named`: the user named them, generated or not;
    `most`: places, after which a rule that is too general is not looked for."""
    found = Found(rules)
    counts = [0] * len(rules)
    own = {path for rule in rules for path, _ in rule.examples}
    for name in sorted(names, key=lambda name: name not in own):
        try:
            text = read(name)
        except FileError as problem:
            found.left[name] = problem.reason
            continue
        language = language_of(name, text)
        kind = language.name if language is not None else ""
        here = [(number, rule) for number, rule in enumerate(rules) if rule.language == kind]
        places: list[Repeated] = []
        skipped: list[tuple[int, str]] = []
        for number, rule in here:
            if not rule.may_stand_in(text):
                continue
            if most is not None and counts[number] >= most and rule.too_general:
                found.left[name] = f"not searched, since {most:,} places may be meant already"
                continue
            try:
                result = rewritten(rule, text, name)
            except FileError as problem:
                found.left[name] = problem.reason
                break
            skipped += result.skipped
            counts[number] += len(result.places)
            for place in result.places:
                if all(
                    place.end <= repeated.start or repeated.end <= place.start
                    for repeated in places
                ):
                    places.append(replace(place, rule=number))
                else:
                    skipped.append((place.line, "it overlaps another place"))
        if (places or skipped) and not named and (why := origin(name, text)):
            found.left[name] = f"a {why} file: name it to change it"
        elif places or skipped:
            places.sort(key=lambda place: place.start)
            parsed = result.parsed if len(here) == 1 else ""
            every = tuple(places), tuple(sorted(skipped))
            found.files[name] = FoundFile(name, text, *every, parsed)
    return found


def kinds_of(found: Found) -> list[list[tuple[str, Repeated]]]:
    """The places with their files: those of one rule and one kind together."""
    kinds: dict[tuple[int, str], list[tuple[str, Repeated]]] = {}
    for name, file in found.files.items():
        for place in file.places:
            rule = place.rule if place.kind else 0
            kinds.setdefault((rule, place.kind), []).append((name, place))
    return list(kinds.values())


def settled(found: Found, is_meant: Callable[[str, Repeated], bool]) -> Found:
    """What is written: `is_meant` is asked about the first proposal of each kind, the last and one
    between, and where they are meant the others of that kind are; about every near place."""
    meant: set[tuple[str, Repeated]] = set()
    for places in kinds_of(found):
        if not places[0][1].kind:
            meant.update(places)
        elif places[0][1].rule == NEAR_RULE:
            meant.update(place for place in places if is_meant(*place))
        else:
            for place in dict.fromkeys((places[0], places[-1], places[len(places) // 2])):
                if not is_meant(*place):
                    break
                meant.add(place)
            else:
                meant.update(places)
    files = {}
    for name, file in found.files.items():
        kept = [replace(place, kind="") for place in file.places if (name, place) in meant]
        files[name] = replace(file, places=tuple(kept))
    return replace(found, files=files)


def candidates(root: Path, rules: Sequence[RepeatRule], here: Path) -> list[str]:
    """The files of a work tree that hold a word of each rule's places."""
    words = sorted({rule.anchor for rule in rules if rule.anchor})
    if len(words) == len({rule.anchor for rule in rules}):
        return [str(path) for path in git.choose(here, containing=words)]
    return [os.path.relpath(root / name, here) for name in git.known(root)]


def read_text(name: str, root: Path = Path()) -> str:
    """The text of a file that may be searched."""
    place = root / name
    if place.is_symlink() or not place.is_file() or place.stat().st_size > MAX_FILE_BYTES:
        raise InputError("not a regular file, or too large", file=name)
    return read_source(place).text if place.stat().st_size else ""


def without_broken(found: Found, settings: Settings, root: Path = Path()) -> Found:
    """Without the files that the checks would refuse, which are named with the reason."""
    files: dict[str, FoundFile] = {}
    completed, refused = 0, ""
    for name, file in found.files.items():
        lacks = file.meant and lacks_names(file.text, found.rules)
        completed += bool(lacks)
        if lacks and refused:  # the same would come of the search there, which is slow
            found.left[name] = refused
            continue
        if completed > MOST_COMPLETED and lacks:
            found.left[name] = (
                f"its imports are not completed: over {MOST_COMPLETED} files need one"
            )
            continue
        if lacks:
            source = read_source(name, root)
            text, notes = new_text(source, file.meant, found.rules)
            found.checked[name] = text, notes
            problems = guarded(source, "", checks_of_repeat(settings), text).problems
            if problems:
                found.left[name] = f"not changed: {problems[0].text}"
                refused = found.left[name] if problems[0].kind == "undefined" else ""
                continue
        files[name] = file
    return replace(found, files=files)


def new_text(
    source: Source, places: Sequence[Repeated], rules: Sequence[RepeatRule]
) -> tuple[str, tuple[Finding, ...]]:
    """A file's text with these places rewritten, and its imports completed."""
    text = applied(source.text, places)
    if not (lacks_names(source.text, rules) or _frees_imports(text, rules)):
        return text, ()
    return text, ()


def lacks_names(text: str, rules: Sequence[RepeatRule]) -> bool:
    """Whether rules bring in a name that a text does not have: an import may be missing."""
    return any(name not in text for rule in rules for name in rule.brought_names)


def _frees_imports(text: str, rules: Sequence[RepeatRule]) -> bool:
    """Whether a word that rules take away stands in the new text once, as in its import."""
    return any(text.count(name) == 1 for rule in rules for name in rule.dropped_names)


def checks_of_repeat(settings: Settings) -> Checks:
    """The checks of a change that the user made once: what it breaks at another place."""
    chosen = verdicts(strict=settings.strict, allowed=settings.allowed)
    kept = {kind: chosen[kind] for kind in OF_RENAMES if kind != CHECKER or settings.check_with}
    return Checks(True, {**ALL_OFF, **kept}, settings.check_with)


def planned(source: Source, found: Found, settings: Settings, *, asks: bool = False) -> Job | Edit:
    """One file's part of the change, without proposals. `asks`: the user is asked about each
    place."""
    file = found.files.get(source.name)
    if file is None or not (places := file.meant):
        return outcome(source, source.text)
    if file.text != source.text:
        raise InputError("changed while it was read; run it again", file=source.name)
    done = found.checked.get(source.name)
    text, imports = done or new_text(source, places, found.rules)
    rule = found.rules[0].shown()
    instruction = INSTRUCTION.format(*rule)
    checks, sound = checks_of_repeat(settings), ""
    named = done is not None or not lacks_names(source.text, found.rules)
    if named and not settings.strict:  # nothing is undefined, or it was checked: 0.2 s a file
        checks = replace(checks, verdicts={**checks.verdicts, "undefined": OFF})
        if found.rules[0].language != "python" and not checks.check_with:
            sound = file.parsed  # nothing else is checked, and it is read twice less: 2 ms a file
    changes = () if asks else tuple(_replaced(file.text, place) for place in places)
    return Job(
        source,
        Plan(()),
        whole(source),
        instruction,
        partial(_judged, source, instruction, checks, changes, sound),
        checks=checks,
        divisible=False,
        findings=imports,
        known=text,
    )


def places_of(source: Source, name: str, settings: Settings) -> tuple[Repeated, ...]:
    """The places of a saved rule in one file."""
    rule = saved_rule(name, settings.repeat).rule
    if source.language is None or source.language.name != rule.language:
        return ()
    return rewritten(rule, source.text, source.name).places


def plan_saved(source: Source, name: str, settings: Settings) -> Job | Edit:
    """A saved rule, applied to one file."""
    places = places_of(source, name, settings)
    rule = saved_rule(name, settings.repeat).rule
    file = FoundFile(source.name, source.text, places)
    return planned(source, Found([rule], {source.name: file}), settings)


def _judged(
    source: Source,
    instruction: str,
    checks: Checks,
    changes: tuple[Replaced, ...],
    sound: str,
    text: str,
) -> Judged:
    judged = Judged(text, ()) if text == sound else guarded(source, instruction, checks, text)
    return replace(judged, changes=changes)


def _replaced(text: str, place: Repeated) -> Replaced:
    before = text.encode(*BYTES)[: place.start].decode(*BYTES)
    before = before.removesuffix(place.old[: common(place.old, place.whole_new)])
    column = len(before) - before.rfind("\n")
    return Replaced(place.line, column, "code", place.old, place.whole_new, "fits the example")
