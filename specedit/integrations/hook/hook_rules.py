"""Rules of the hook, read from `[[tool.specedit.hook]]`, and the files that they do not change."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pathspec import GitIgnoreSpec

from specedit.errors import UsageError
from specedit.files import atomic, regular
from specedit.server.runtime import model_files
from specedit.settings import Settings, check_removed, nearest
from specedit.settings.table import is_path, shown
from specedit.version import VERSION

FIX, CHECK = "fix", "check"
DEFAULT_SECONDS = 60.0
MAX_SECONDS = 1e9
MAX_TRIES = 64
MAX_STARS = 2  # in a glob
THEIR_FILE = "pyproject.toml"  # at the work tree's top
MAX_DIGESTS = 100_000  # above this the older half is dropped
RELEVANT = (  # settings that change an answer
    *("model", "adapter", "engine", "weights", "device", "scope", "strict", "allow"),
    *("check_with", "temperature", "seed", "max_tokens", "focus", "whole"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One edit of a file: a rename or an instruction."""

    instruction: str = ""
    old: str = ""
    new: str = ""

    @property
    def title(self) -> str:
        return self.instruction or f"rename {self.old} to {self.new}"


@dataclass(frozen=True)  # its cached properties need no slots
class Rule:
    """Steps, the files that they apply to, and how long a commit waits for them."""

    steps: tuple[Step, ...]
    files: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    max_seconds: float = DEFAULT_SECONDS  # that a commit waits for the rule
    mode: str = FIX
    test: str = ""  # a command that judges the edit of a step
    tries: int = 0  # maximum answers (0: as in the settings)

    @cached_property
    def _specs(self) -> tuple[GitIgnoreSpec, GitIgnoreSpec]:
        return _spec(self.files), _spec(self.exclude)

    def wants(self, name: str) -> bool:
        """Whether the rule applies to a file; `name` is its path from the work tree's top."""
        if name == THEIR_FILE:  # a rename would change its own rule
            return False
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


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_names(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(map(_is_text, (*value, *value.values())))


def _are_globs(value: object) -> bool:
    return isinstance(value, str | list) and all(
        isinstance(element, str) and element for element in value
    )


GLOBS = 'a list of globs such as ["src/**/*.cs"]'
VALUES: Mapping[str, tuple[Callable[[Any], bool], str]] = {  # what a key may hold
    "rename": (_are_names, 'a table of names such as {Username = "Email"}'),
    "instruction": (_is_text, "a text that says what to do"),
    **dict.fromkeys(("files", "exclude"), (_are_globs, GLOBS)),
    "max_seconds": (
        lambda value: type(value) in (int, float) and 0 < value <= MAX_SECONDS,
        "a number above 0",
    ),
    "mode": (lambda value: value in (FIX, CHECK), f"{FIX} or {CHECK}"),
    "test": (_is_text, "a command"),
    "tries": (
        lambda value: type(value) is int and 0 <= value <= MAX_TRIES,
        f"a number from 1 to {MAX_TRIES}",
    ),
}
OPTIONS = ("max_seconds", "mode", "test", "tries")


def rules(tables: Sequence[Mapping[str, Any]], where: str = "pyproject.toml") -> list[Rule]:
    """The rules of a pyproject.toml, or an error that names the wrong key."""
    return [
        _rule(table, f"{where}: [[tool.specedit.hook]] number {number}")
        for number, table in enumerate(tables, start=1)
    ]


def _rule(table: Mapping[str, Any], where: str) -> Rule:
    for key, value in table.items():
        if key not in VALUES:
            check_removed(key, f"{where}: {key}")
            raise UsageError(f"{where} has no key {key!r}.", hint=nearest(key, list(VALUES)))
        is_valid, what = VALUES[key]
        if not is_valid(value):
            raise UsageError(f"{where}: {key} must be {what}, not {shown(value)}.")
    if ("rename" in table) == ("instruction" in table):
        example = 'rename = {Username = "Email"}, or instruction = "…"'
        raise UsageError(f"{where} must have one of rename, instruction.", hint=example)
    steps = [Step(old=old, new=new) for old, new in table.get("rename", {}).items()]
    return Rule(
        tuple(steps or [Step(table["instruction"])]),
        _globs(table, "files", where) or ("**",),
        _globs(table, "exclude", where),
        **{key: table[key] for key in OPTIONS if key in table},
    )


def _globs(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    globs = table.get(key, ())
    globs = (globs,) if isinstance(globs, str) else tuple(globs)
    for glob in globs:
        try:
            _spec([glob])
        except (ValueError, re.error, Warning, OverflowError, RecursionError) as problem:
            raise UsageError(
                f"{where}: {key}: {glob[:100]!r} is not a glob: {str(problem)[:100]}."
            ) from None
    return globs


class CleanFiles:
    """Remembers, by digests in the store, which files need no change by a step."""

    def __init__(self, store: Path, settings: Settings) -> None:
        self._path = store / "hook" / "seen"
        self._answers = _answers(settings)

    @cached_property
    def _known(self) -> dict[str, None]:
        """The digests in the order of their lines."""
        try:
            return dict.fromkeys(regular.read(self._path).decode("ascii", "replace").split())
        except OSError:
            return {}

    def key(self, blob: str, name: str, step: Step) -> str:
        """The digest of everything that decides the answer. The file name decides the language."""
        parts = [blob, PurePosixPath(name).name, json.dumps(astuple(step)), self._answers]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def add(self, key: str) -> None:
        if key in self:
            return
        self._known[key] = None
        with suppress(OSError):  # a store that cannot be written makes the hook slower, not wrong
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if len(self._known) > MAX_DIGESTS:
                self._known = dict.fromkeys([*self._known][-MAX_DIGESTS // 2 :])
                atomic.whole(self._path, "".join(f"{name}\n" for name in self._known).encode())
                return
            with regular.appending(self._path) as file:
                file.write(f"{key}\n".encode())  # one short write is atomic


def _answers(settings: Settings) -> str:
    """The values that decide the model's answers: settings, version, and the model's file."""
    relevant = {name: getattr(settings, name) for name in RELEVANT}
    if is_path("adapter", settings.adapter):
        from specedit.models.adapter import identity

        relevant["adapter"] = identity(settings.adapter)
    if settings.server not in ("auto", "off"):  # a remote server has a model of its own
        relevant["server"] = settings.server
    return json.dumps([VERSION, relevant, model_files(settings.model)])
