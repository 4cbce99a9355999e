"""Rules in a pyproject.toml: [tool.specedit.repeat.NAME] with before, after, files, message."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from specedit.errors import InputError, SpeceditError, UsageError
from specedit.files import atomic, regular
from specedit.repeat.handwritten import rule_from_text
from specedit.repeat.origin import is_import
from specedit.repeat.piece import Piece
from specedit.repeat.rewriting import rewritten
from specedit.repeat.rule import RepeatRule
from specedit.settings import nearest
from specedit.syntax.languages import BY_NAME

KEYS = ("before", "after", "language", "files", "message", "imports")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True)
class SavedRule:
    """One rule of a pyproject.toml."""

    name: str
    rule: RepeatRule
    files: tuple[str, ...] = ()  # globs as in a .gitignore; none: every file of the language
    message: str = ""


def saved_rule(name: str, tables: Mapping[str, Any], where: str = "pyproject.toml") -> SavedRule:
    """The rule of this name; an error that names what is wrong with it."""
    table = tables.get(name)
    if table is None:
        raise UsageError(f"{where} has no rule {name}.", hint=nearest(name, list(tables)))
    place = f"{where}: [tool.specedit.repeat.{name}]"
    for key in table:
        if key not in KEYS:
            raise UsageError(f"{place} has no key {key!r}.", hint=nearest(key, list(KEYS)))
    for key in ("before", "after", "language"):
        if not isinstance(table.get(key), str):
            raise UsageError(f"{place}: {key} must be a text.")
    files, imports = table.get("files", []), table.get("imports", {})
    files = [files] if isinstance(files, str) else files
    if not isinstance(files, list) or not all(isinstance(one, str) and one for one in files):
        raise UsageError(f"{place}: files must be a list of globs.")
    if not isinstance(imports, dict) or not all(isinstance(v, str) for v in imports.values()):
        raise UsageError(f"{place}: imports must be a table of names and their modules.")
    language = BY_NAME.get(table["language"])
    if language is None or not language.grammar:
        raise UsageError(f"{place}: language must be one of those of `specedit help repeat`.")
    try:
        rule = rule_from_text(table["before"], table["after"], language)
    except UsageError as problem:
        raise UsageError(f"{place}: {problem.message}", hint=problem.hint) from None
    return SavedRule(name, with_imports(rule, imports), tuple(files), str(table.get("message", "")))


def with_imports(rule: RepeatRule, imports: Mapping[str, str]) -> RepeatRule:
    """The rule whose names mean these imports: another thing of such a name is not a place."""
    return replace(rule, origins={name: f"import {module}" for name, module in imports.items()})


def table_of(rule: RepeatRule, name: str, files: Mapping[str, str]) -> str:
    """The rule as TOML; an error where text cannot say what it is. `files`: texts with places,
    where both must come to the same."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"{name}: a rule's name has letters, digits, - and _ only.")
    if rule.doubt or rule.folder is not None:
        raise UsageError(f"The rule is too general to be saved: {rule.doubt or 'a path'}.")
    if variables := [variable for variable, origin in rule.needs if origin in ("local", "member")]:
        raise UsageError(
            f"The rule cannot be saved: it writes `{variables[0]}`, which only its example has."
        )
    rule = replace(rule, unproved="")  # the user says so by saving it
    before, after = pattern_text(rule, old=True), pattern_text(rule, old=False)
    imports = {
        word: origin.removeprefix("import ")
        for word, origin in rule.origins.items()
        if is_import(origin)
    }
    try:
        again = with_imports(rule_from_text(before, after, BY_NAME[rule.language]), imports)
        differs = [
            path
            for path, text in files.items()
            if rewritten(again, text, path).text != rewritten(rule, text, path).text
        ]
    except SpeceditError as problem:
        raise UsageError(f"The rule cannot be written as text: {problem.message}") from None
    if differs:
        raise UsageError(
            f"The rule cannot be saved: as text it would change {differs[0]} in another way.",
            hint=f"Write it yourself: --example '{before}' '{after}' --save {name}",
        )
    lines = [f"[tool.specedit.repeat.{name}]", f"language = {json.dumps(rule.language)}"]
    lines += [f"before = {_toml(before)}", f"after = {_toml(after)}"]
    if imports:
        pairs = ", ".join(f"{word} = {_toml(module)}" for word, module in imports.items())
        lines.append(f"imports = {{ {pairs} }}")
    lines.append(f'message = "repeat {name}"')
    return "\n".join(lines) + "\n"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def pattern_text(rule: RepeatRule, *, old: bool) -> str:
    """One side as a pattern: the hole of a list of arguments is `($$$A)`."""
    units = rule.old_units if old else rule.new_units
    shown = rule.shown()[0 if old else 1]
    if rule.receivers:
        return shown
    for unit in units:
        if unit.hole and _is_list(unit):
            shown = shown.replace(unit.hole, f"($${unit.hole})")
    return shown


def _is_list(unit: Piece) -> bool:
    return unit.kind.endswith(("argument_list", "arguments"))


def save(pyproject: Path, name: str, table: str, known: Mapping[str, Any]) -> None:
    """Add a rule to a pyproject.toml."""
    if name in known:
        raise UsageError(
            f"{pyproject} has a rule {name} already.", hint="Choose another name, or edit it there."
        )
    try:
        data = regular.read(pyproject) if pyproject.exists() else b""
    except OSError as problem:
        raise InputError(problem.strerror or str(problem), file=str(pyproject)) from None
    end = b"\r\n" if b"\r\n" in data else b"\n"
    gap = b"" if not data else end if data.endswith(b"\n") else end * 2
    atomic.whole(pyproject, data + gap + table.encode().replace(b"\n", end))
