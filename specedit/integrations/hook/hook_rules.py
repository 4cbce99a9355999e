"""Rules of the hook, from `[[tool.specedit.hook]]`: what is asked, of which files, for how long.

Knows tables and file names. Does not know git, files' contents or models.
"""

from __future__ import annotations

import difflib
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pathspec import GitIgnoreSpec

from specedit.errors import UsageError
from specedit.settings.checks import shown

FIX, CHECK = "fix", "check"
MOST_SECONDS = 1e9  # that a rule may name; 30 years
MAX_SECONDS = 60.0  # what a commit may wait for one rule that names no limit
MOST_TRIES = 64
MOST_STARS = 2
KEYS = (
    "rename",
    "instruction",
    "files",
    "exclude",
    "max_seconds",
    "mode",
    "test",
    "tries",
)
EXAMPLE = 'rename = {Username = "Email"}, or instruction = "…"'


@dataclass(frozen=True)
class Step:
    """One question to the model about one file: a rename, or an instruction."""

    instruction: str = ""
    old: str = ""
    new: str = ""

    @property
    def said(self) -> str:
        return self.instruction or f"rename {self.old} to {self.new}"


@dataclass(frozen=True)
class Rule:
    """Steps, the files they are for, and what a commit may wait for them."""

    steps: tuple[Step, ...]
    files: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    max_seconds: float = MAX_SECONDS
    mode: str = FIX
    test: str = ""  # a command that judges what a step makes of a file
    tries: int = 0  # answers asked for at most; 0: as many as the settings say

    @cached_property
    def _specs(self) -> tuple[GitIgnoreSpec, GitIgnoreSpec]:
        return _spec(self.files), _spec(self.exclude)

    def wants(self, name: str) -> bool:
        """Is the rule for this file? `name` counts from the work tree's top, with slashes."""
        files, exclude = self._specs
        return files.match_file(name) and not exclude.match_file(name)


def _spec(globs: Sequence[str]) -> GitIgnoreSpec:
    """Globs with the meaning that they have in a .gitignore; ValueError where one has none."""
    for glob in globs:
        parts = glob.split("/")
        # The time to match grows with a power of the number of stars, and anyone may have written
        # the glob: 3 in a name of 4,000 letters take 4 minutes.
        if parts.count("**") > MOST_STARS or any(part.count("*") > MOST_STARS for part in parts):
            raise ValueError(f"at most {MOST_STARS} `**` in all and `*` between two slashes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a set such as [[:alpha:]], which is not supported
        spec = GitIgnoreSpec.from_lines([glob.removeprefix("./") for glob in globs])
    if not all(pattern.regex for pattern in spec.patterns):
        raise ValueError("it can match no file")
    return spec


def rules(tables: Sequence[Mapping[str, Any]], where: str = "pyproject.toml") -> list[Rule]:
    """The rules of a pyproject.toml, or an error that names the key to mend."""
    return [
        _rule(table, f"{where}: [[tool.specedit.hook]] number {number}")
        for number, table in enumerate(tables, start=1)
    ]


def _rule(table: Mapping[str, Any], where: str) -> Rule:
    for key in table:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"It has: {', '.join(KEYS)}."
            raise UsageError(f"{where} has no key {key!r}.", hint=hint)
    seconds = table.get("max_seconds", MAX_SECONDS)
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, int | float)
        or not 0 < seconds <= MOST_SECONDS
    ):
        raise UsageError(f"{where}: max_seconds is a number above 0, not {shown(seconds)}.")
    mode = table.get("mode", FIX)
    if mode not in (FIX, CHECK):
        raise UsageError(f"{where}: mode is {FIX} or {CHECK}, not {shown(mode)}.")
    test = table.get("test", "")
    if not isinstance(test, str) or ("test" in table and not test.strip()):
        raise UsageError(f"{where}: test is a command, not {shown(test)}.")
    tries = table.get("tries", 0)
    if type(tries) is not int or not 0 <= tries <= MOST_TRIES:
        raise UsageError(f"{where}: tries is a number from 1 to {MOST_TRIES}, not {shown(tries)}.")
    return Rule(
        steps=_steps(table, where),
        files=_globs(table, "files", where) or ("**",),
        exclude=_globs(table, "exclude", where),
        max_seconds=float(seconds),
        mode=mode,
        test=test,
        tries=tries,
    )


def _steps(table: Mapping[str, Any], where: str) -> tuple[Step, ...]:
    if len({"rename", "instruction"} & set(table)) != 1:
        raise UsageError(f"{where} asks for one thing.", hint=EXAMPLE)
    if "rename" not in table:
        instruction = table["instruction"]
        if not isinstance(instruction, str) or not instruction.strip():
            raise UsageError(f"{where}: instruction is what to do, in words.", hint=EXAMPLE)
        return (Step(instruction=instruction),)
    pairs = table["rename"]
    if not isinstance(pairs, dict) or not pairs:
        raise UsageError(f"{where}: rename is a table of names.", hint=EXAMPLE)
    for old, new in pairs.items():
        if not isinstance(new, str) or not new.strip() or not old.strip():
            raise UsageError(f"{where}: rename {old!r} to {shown(new)} is no rename.", hint=EXAMPLE)
    return tuple(Step(old=old, new=new) for old, new in pairs.items())


def _globs(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    globs = table.get(key, [])
    if isinstance(globs, str):
        globs = [globs]
    if not isinstance(globs, list) or not all(isinstance(g, str) and g for g in globs):
        raise UsageError(f"{where}: {key} is a list of globs.", hint=f'{key} = ["src/**/*.cs"]')
    for glob in globs:
        try:
            _spec([glob])
        except (ValueError, re.error, Warning, OverflowError, RecursionError) as problem:
            raise UsageError(
                f"{where}: {key}: {glob[:100]!r} is not a glob: {str(problem)[:100]}."
            ) from None
    return tuple(globs)


def identity(step: Step) -> str:
    """The same for the same question, whatever rule asks it."""
    return json.dumps([step.instruction, step.old, step.new])
