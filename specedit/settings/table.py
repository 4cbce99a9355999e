"""The table: each setting's name, default, help and kind, and the check of a value.

A setting is open or restricted, or it is a flag of one run, which no file and no variable sets.
An **open** setting describes the wanted text, its length and how much is reported; every cloned
repository may choose it. A **restricted** setting names an address, a path, a program or a model,
starts a process that stays, removes a check, or silences or redirects the report. Only the user
chooses it, or a repository that the user trusts.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, partial
from pathlib import Path, PureWindowsPath
from typing import Any

from specedit.check.finding import ALLOWED, REMOVED_KINDS
from specedit.errors import UsageError
from specedit.syntax.languages import BY_NAME

OPEN, RESTRICTED, FLAG = "open", "restricted", "flag"
MAX_SEED = 2**63 - 1  # a seed is a signed 64-bit integer


def _setting(
    default: Any,
    help: str,
    *choices: str,
    kind: str,
    most: int = MAX_SEED,
    paths: bool = False,
    words: tuple[str, ...] = (),
) -> Any:
    """`paths`: the value is the name of a file, unless it is one of `words`."""
    meta = {"help": help, "choices": choices, "kind": kind, "most": most, "type": type(default)}
    meta |= {"paths": paths, "words": words}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=meta)
    return field(default=default, metadata=meta)


_open, _restricted = partial(_setting, kind=OPEN), partial(_setting, kind=RESTRICTED)
_flag = partial(_setting, kind=FLAG)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its default. A field is a TOML key, `SPECEDIT_<NAME>` and `--name`; a flag
    of one run is `--name` alone."""

    model: str = _restricted("qwen2.5-coder-1.5b", "Use this model: catalogue name, path or hub id")
    adapter: str = _restricted(
        "auto",
        "Merge this adapter into the model: auto (the one that came for it), none, or a folder",
        paths=True,
        words=("auto", "none"),
    )
    engine: str = _restricted(
        "auto", "Run the model with this engine", "auto", "exact", "huggingface"
    )
    device: str = _restricted("auto", "Run the model on this device", "auto", "cpu", "cuda", "mps")
    threads: int = _open(0, "Use this many CPU threads (0: one per performance core)", most=4096)
    weights: str = _restricted(  # restricted: each kind is a copy of the weights on disk
        "auto", "Choose the bits of the exact engine's weights", "auto", "int8", "int4"
    )
    prediction: str = _restricted(
        "original",
        "Predict this output: original, none, or the path of a file",
        paths=True,
        words=("original", "none"),
    )
    draft: str = _open(
        "auto",
        "Use these drafters, comma-separated (auto: all that are available, none: no drafts)",
    )
    draft_model: str = _restricted("", "Draft with this smaller model of the same vocabulary")
    max_tokens: int = _open(
        0, "Limit the answer to this many tokens (0: derived from the size of the file)"
    )
    # restricted: how likely a sample is right is not known
    temperature: float = _restricted(0.0, "Sample at this temperature (0: the most likely token)")
    sampling: str = _open(
        "coupled",
        "Choose how samples use drafts: coupled keeps the text, rejection only its distribution",
        *("coupled", "rejection"),
    )
    seed: int = _open(0, "Sample with this seed")
    server: str = _restricted(
        "auto", "Use a running server (auto), none (off), or the one at this URL"
    )
    profile: str = _restricted(
        "specedit",
        "Send the prediction in the format of this kind of server, with --server URL",
        *("specedit", "openai", "mistral", "fireworks", "cerebras", "vllm", "local", "plain"),
    )
    warm: bool = _restricted(False, "Keep the model in memory: start a server in the background")
    scope: str = _open(
        "comments",
        "Rename in code only, in comments too, or derived names and strings too",
        "code",
        "comments",
        "derived",
    )
    no_model: bool = _open(False, "Load no model; what only a model can decide is left or refused")
    check: bool = _restricted(False, "Write nothing; exit 1 if a file would change")
    diff: bool = _restricted(False, "Write nothing; print a patch on stdout")
    json: bool = _restricted(False, "Print one JSON object on stdout")
    ask: bool = _restricted(False, "Ask before each hunk; --yes asks nothing")
    sure: float = _open(
        0.0,
        "Write an edit unasked if it is right with this probability (0: the model's own limit)",
        most=1,
    )
    allow: str = _restricted("", "Accept these kinds of findings (specedit help edit lists them)")
    strict: bool = _restricted(False, "Refuse edits with notes, too")
    check_with: str = _restricted(
        "", "Check the new text with this program: ruff check {file}, or LANGUAGE: COMMAND per line"
    )
    clean_only: bool = _flag(False, "Refuse files with uncommitted changes")
    test: str = _restricted("", "Keep the edit if this command succeeds, else ask the model again")
    tries: int = _open(0, "Ask for at most N answers (default: 6 with --test, else 2)", most=64)
    test_timeout: float = _open(
        300.0, "Stop the test command after this many seconds (0: no limit)", most=86400
    )
    keep_best: bool = _flag(
        False, "If no try passes the test command, keep the one with the fewest failures"
    )
    focus: str = _open(
        "auto",
        "Edit only likely regions of large files: auto, off, or of files of more lines than this",
    )
    whole: bool = _flag(False, "Let the whole file change")
    compare: bool = _flag(False, "Run again without drafts, and print both times")
    audit: bool = _flag(False, "Print a digest of the logits of every token")
    trace: str = _flag("", "Write one JSON line per pass to this file", paths=True, words=("",))
    stdin_filename: str = _flag("", "Assume this file name for standard input")
    quiet: bool = _restricted(False, "Print errors only")
    verbose: bool = _open(False, "Print all notes, and the report as a table")
    hook: list[dict[str, Any]] = _open(
        [], "Rules of the pre-commit hook, as [[tool.specedit.hook]]"
    )
    # Not a setting: where each value that is not the default comes from: FLAG, the name of a
    # variable, or the path of a file.
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def is_flag(self, name: str) -> bool:
        """Whether the command line says it."""
        return self.origins.get(name) == FLAG

    def is_from_repository(self, name: str) -> bool:
        """Whether a repository's file says it; the user's own has another name."""
        return self.origins.get(name, "").endswith("pyproject.toml")

    def rows(self) -> Iterator[tuple[str, Any, str, str]]:
        """Name, value, origin and help of every setting, for `specedit config`."""
        for name in names():
            origin = self.origins.get(name, "default")
            yield name, getattr(self, name), origin, entries()[name]["help"]

    @property
    def allowed(self) -> list[str]:
        """The kinds of findings that do not refuse."""
        return self.allow.replace(",", " ").split()


@cache
def entries() -> dict[str, Mapping[str, Any]]:
    """The table's entry for each setting and each flag of one run: help, choices, kind, most, type,
    paths, words."""
    return {field.name: field.metadata for field in fields(Settings) if field.metadata}


def names() -> list[str]:
    """The settings that files and variables may set."""
    return [name for name, entry in entries().items() if entry["kind"] != FLAG]


def is_restricted(name: str, value: object = None) -> bool:
    """Whether it is restricted. Rules of the hook are restricted if one has a command."""
    if name == "hook" and isinstance(value, list):
        return any(isinstance(rule, dict) and "test" in rule for rule in value)
    return bool(entries()[name]["kind"] == RESTRICTED)


def nearest(word: str, known: list[str]) -> str:
    """A hint with the known word nearest to `word`, where one is near."""
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"Did you mean {close[0]}?"
    return f"Known: {', '.join(known)}." if len(known) < 40 else "specedit config lists all."


_AST_GREP = (
    "was removed in 1.1: describe the change as a pattern for ast-grep (specedit help apply), "
    "or use specedit edit."
)
REMOVED = {  # commands and settings that are no more, and what to use instead
    "specedit repeat": _AST_GREP,
    "repeat": _AST_GREP,
    "specedit ask": "was removed in 1.1: ask the server that specedit serve starts.",
    "specedit heads": "was removed in 1.1: use specedit model list and specedit model remove.",
    "specedit vllm manifest": "was removed in 1.1: run specedit vllm serve in vLLM's own image.",
    "/v1/completions": "was removed in 1.1: use /v1/chat/completions.",
    "/mcp": "was removed in 1.1: agents start specedit mcp.",
    "html": "was removed in 1.1: specedit help TOPIC shows a page; each is a Markdown file.",
    "prompt_form": "was removed in 1.1: models are always asked in the one prompt form.",
}


def check_removed(name: str, what: str = "") -> None:
    """Raise an error if `name` was removed; `what` says where and how the user wrote it."""
    if name in REMOVED:
        raise UsageError(f"{what or name} {REMOVED[name]}")


MAX_VALUE_CHARACTERS = 4096  # characters of a value: one line of the question whether to trust it
_TRUTH = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off", ""), False),
}
_VALID: dict[str, tuple[Callable[[Any], object], str]] = {
    "test": (lambda value: not value or value.strip(), "a command"),
    "focus": (
        re.compile(r"auto|off|[1-9]\d{0,8}").fullmatch,
        "auto, off, or a number of lines such as 500",
    ),
}


def parsed(name: str, text: str, where: str) -> Any:
    """The value of this setting that the text of a variable or flag stands for."""
    kind = entries()[name]["type"]
    try:
        if kind is bool:
            return _TRUTH[text.strip().lower()]
        if kind is int:
            return int(text.replace("_", ""))
        return float(text) if kind is float else text
    except (ValueError, KeyError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise UsageError(f"{where}: {name} must be {wanted}, not {shown(text)}.") from None


def checked(name: str, value: Any, where: str) -> Any:
    """The value in its setting's type, or an error that begins with `where`."""
    meta = entries()[name]
    kind = meta["type"]
    if name == "hook":
        if isinstance(value, list) and all(isinstance(rule, dict) for rule in value):
            return value
        raise UsageError(f"{where}: {name} must be an array of tables ([[tool.specedit.{name}]]).")
    if name in ("draft", "allow") and isinstance(value, list):
        value = ",".join(map(str, value))
    if name == "check_with" and isinstance(value, dict):
        value = "\n".join(f"{language}: {command}" for language, command in value.items())
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        _check_size(name, value, where)
        value = float(value)
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise UsageError(f"{where}: {name} must be {kind.__name__}, not {shown(value)}.")
    if kind is str and "\0" in value:
        raise UsageError(f"{where}: {name} contains a zero byte.")
    if kind is str and len(value) > MAX_VALUE_CHARACTERS:
        most = f"{MAX_VALUE_CHARACTERS:,}"
        raise UsageError(f"{where}: {name} must be at most {most} characters long.")
    if meta["choices"] and value not in meta["choices"]:
        raise UsageError(
            f"{where}: {name} must be one of {', '.join(meta['choices'])}, not {shown(value)}.",
            hint=nearest(str(value)[:100], list(meta["choices"])),
        )
    if kind in (int, float):
        _check_size(name, value, where)
    is_valid, wanted = _VALID.get(name, (bool, ""))
    if wanted and not is_valid(value):
        raise UsageError(f"{where}: {name} must be {wanted}, not {shown(value)}.")
    if name in ("allow", "check_with"):
        _check_parts(name, value, where)
    return value


def _check_parts(name: str, value: str, where: str) -> None:
    """Of kinds of findings, and of commands by their language: each is known."""
    from specedit.check.external import parsed_commands

    what, known, parts = "kind", list(ALLOWED), value.replace(",", " ").split()
    try:
        if name == "check_with":
            what, known = "language", list(BY_NAME)
            parts = [language for language, _ in parsed_commands(value) if language]
    except ValueError as problem:
        raise UsageError(f"{where}: {name}: {problem}.") from None
    for part in parts:
        if what == "kind" and part in REMOVED_KINDS:
            message = f"{where}: {name}: the kind {part} was removed in 1.1."
            raise UsageError(message, hint="Leave it out.")
        if part not in known:
            raise UsageError(
                f"{where}: {name}: there is no {what} {shown(part)}.", hint=nearest(part, known)
            )


def _check_size(name: str, value: float, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{where}: {name} must be a finite number, not {value}.")
    if value < 0:
        raise UsageError(f"{where}: {name} must not be negative, but is {shown(value)}.")
    if value > (most := entries()[name]["most"]):
        raise UsageError(f"{where}: {name} must be at most {most}, not {shown(value)}.")


def shown(value: object) -> str:
    """A wrong value for a message, shortened. `repr` refuses integers of thousands of digits."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 100 else f"{text[:100]}…"


_WEIGHTS = (".gguf", ".safetensors")


def is_path(name: str, value: object) -> bool:
    """Whether this setting's value names a file or folder."""
    if not isinstance(value, str) or value in entries()[name]["words"]:
        return False
    return bool(entries()[name]["paths"]) or (name.endswith("model") and spelled_as_path(value))


def spelled_as_path(model: str) -> bool:
    """Whether a model is written as a path; a bare word or `owner/name` is a name."""
    return (
        model.startswith((".", "~", "/"))
        or "\\" in model
        or ".." in model.split("/")
        or model.count("/") > 1
        or bool(PureWindowsPath(model).drive)
        or (model.endswith(_WEIGHTS) and ":" not in model)
    )


def inside(root: Path, name: str, value: str, where: str) -> str:
    """The absolute form of a path from the repository at `root`. A path that leads outside, or into
    .git, whose files git may run, is refused."""
    top = Path(os.path.realpath(root))
    try:
        real = Path(os.path.realpath(top / os.path.expanduser(value)))  # noqa: PTH111
    except (OSError, ValueError):
        real = Path()
    parts = real.relative_to(top).parts if real.is_relative_to(top) else ("..",)
    if ".." in parts or any(part.casefold() == ".git" for part in parts):
        raise UsageError(
            f"{where}: {name} = {value!r} leads outside the repository.",
            hint="Give a path outside in a flag, a variable, or your own settings: "
            f"specedit config --user {name}=PATH",
        )
    return str(real)


def own(name: str, value: object, where: str) -> object:
    """A value of the user's file. A relative path is refused: the current folder, so perhaps a
    cloned repository, would choose the file."""
    if not is_path(name, value):
        return value
    assert isinstance(value, str)
    path = os.path.expanduser(value)  # noqa: PTH111
    if not Path(path).is_absolute():
        message = f"{where}: {name} = {value!r} depends on the current folder."
        raise UsageError(message, hint="Give an absolute path: /… or ~/…")
    return path
