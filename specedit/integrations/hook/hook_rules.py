"""Rules of the hook, read from `[[tool.specedit.hook]]`: what to do, for which files, how long."""

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
DEFAULT_SECONDS = 60.0  # that a commit waits for one rule
MAX_SECONDS = 1e9
MAX_TRIES = 64
MAX_STARS = 2  # in a glob
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
    """One edit of a file: a rename or an instruction."""

    instruction: str = ""
    old: str = ""
    new: str = ""

    @property
    def title(self) -> str:
        return self.instruction or f"rename {self.old} to {self.new}"


@dataclass(frozen=True)
class Rule:
    """Steps, the files that they apply to, and how long a commit waits for them."""

    steps: tuple[Step, ...]
    files: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    max_seconds: float = DEFAULT_SECONDS
    mode: str = FIX
    test: str = ""  # a command that judges the edit of a step
    tries: int = 0  # maximum answers (0: as in the settings)

    @cached_property
    def _specs(self) -> tuple[GitIgnoreSpec, GitIgnoreSpec]:
        return _spec(self.files), _spec(self.exclude)

    def wants(self, name: str) -> bool:
        """Whether the rule applies to a file; `name` is its path from the work tree's top."""
        files, exclude = self._specs
        return files.match_file(name) and not exclude.match_file(name)


def _spec(globs: Sequence[str]) -> GitIgnoreSpec:
    """Globs with the meaning that they have in a .gitignore; ValueError where one has none."""
    for glob in globs:
        parts = glob.split("/")
        # A cloned repository chooses the glob, and the time to match is exponential in the number
        # of stars: 3 of them in a name of 4,000 characters take 4 minutes.
        if parts.count("**") > MAX_STARS or any(part.count("*") > MAX_STARS for part in parts):
            raise ValueError(f"at most {MAX_STARS} `**` in all and `*` between two slashes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of a set such as [[:alpha:]], which is not supported
        spec = GitIgnoreSpec.from_lines([glob.removeprefix("./") for glob in globs])
    if not all(pattern.regex for pattern in spec.patterns):
        raise ValueError("it can match no file")
    return spec


def rules(tables: Sequence[Mapping[str, Any]], where: str = "pyproject.toml") -> list[Rule]:
    """The rules of a pyproject.toml, or an error that names the wrong key."""
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
    seconds = table.get("max_seconds", DEFAULT_SECONDS)
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, int | float)
        or not 0 < seconds <= MAX_SECONDS
    ):
        raise UsageError(f"{where}: max_seconds must be a number above 0, not {shown(seconds)}.")
    mode = table.get("mode", FIX)
    if mode not in (FIX, CHECK):
        raise UsageError(f"{where}: mode must be {FIX} or {CHECK}, not {shown(mode)}.")
    test = table.get("test", "")
    if not isinstance(test, str) or ("test" in table and not test.strip()):
        raise UsageError(f"{where}: test must be a command, not {shown(test)}.")
    tries = table.get("tries", 0)
    if type(tries) is not int or not 0 <= tries <= MAX_TRIES:
        raise UsageError(
            f"{where}: tries must be a number from 1 to {MAX_TRIES}, not {shown(tries)}."
        )
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
        raise UsageError(f"{where} must have one of rename and instruction.", hint=EXAMPLE)
    if "rename" not in table:
        instruction = table["instruction"]
        if not isinstance(instruction, str) or not instruction.strip():
            raise UsageError(
                f"{where}: instruction must be a text that says what to do.", hint=EXAMPLE
            )
        return (Step(instruction=instruction),)
    pairs = table["rename"]
    if not isinstance(pairs, dict) or not pairs:
        raise UsageError(f"{where}: rename must be a table of names.", hint=EXAMPLE)
    for old, new in pairs.items():
        if not isinstance(new, str) or not new.strip() or not old.strip():
            raise UsageError(
                f"{where}: rename {old!r} to {shown(new)} is not a rename.", hint=EXAMPLE
            )
    return tuple(Step(old=old, new=new) for old, new in pairs.items())


def _globs(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    globs = table.get(key, [])
    if isinstance(globs, str):
        globs = [globs]
    if not isinstance(globs, list) or not all(isinstance(g, str) and g for g in globs):
        raise UsageError(
            f"{where}: {key} must be a list of globs.", hint=f'{key} = ["src/**/*.cs"]'
        )
    for glob in globs:
        try:
            _spec([glob])
        except (ValueError, re.error, Warning, OverflowError, RecursionError) as problem:
            raise UsageError(
                f"{where}: {key}: {glob[:100]!r} is not a glob: {str(problem)[:100]}."
            ) from None
    return tuple(globs)


def identity(step: Step) -> str:
    """Equal for steps that do the same."""
    return json.dumps([step.instruction, step.old, step.new])
