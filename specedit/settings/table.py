"""The table: each setting's name, default, help and kind.

A setting is taste or power. **Taste** says what text is wanted, how long it may get and how much is
said of it; a repository may say it to whoever clones it. **Power** names an address, a path, a
program or a model, starts what stays, takes a guard away, or silences or redirects the report: it
is the user's own, or that of a repository the user trusts. What is not said to be taste is power.
Knows names; knows no file and no variable.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, get_type_hints

TASTE, POWER = "taste", "power"
LARGEST = 2**63 - 1  # what a seed is kept in


def _power(
    default: Any, help: str, *choices: str, paths: bool = False, words: tuple[str, ...] = ()
) -> Any:
    """`paths`: the value is a file's name, unless it is one of `words`."""
    return _setting(default, help, choices, POWER, paths=paths, words=words)


def _taste(default: Any, help: str, *choices: str, most: int = LARGEST) -> Any:
    return _setting(default, help, choices, TASTE, most=most)


def _setting(
    default: Any,
    help: str,
    choices: tuple[str, ...],
    kind: str,
    *,
    most: int = LARGEST,
    paths: bool = False,
    words: tuple[str, ...] = (),
) -> Any:
    meta = {"help": help, "choices": choices, "kind": kind, "most": most}
    meta |= {"paths": paths, "words": words}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=meta)
    return field(default=default, metadata=meta)


@dataclass(frozen=True)
class Settings:
    """Every setting with its default. Field name = TOML key = `SPECEDIT_<NAME>` = `--name`."""

    model: str = _power("qwen2.5-coder-1.5b", "catalogue name, path or hub id of the model")
    engine: str = _power("auto", "what runs the model", "auto", "exact", "huggingface")
    device: str = _power("auto", "where it runs", "auto", "cpu", "cuda", "mps")
    threads: int = _taste(0, "CPU threads; 0 means one per physical core", most=4096)
    precision: str = _power(  # the other one is a second copy of the weights on disk
        "balanced", "int8 digits of the exact engine: close is slower", "balanced", "close"
    )
    prediction: str = _power(
        "original",
        "what is expected: original, none, or a file's path",
        paths=True,
        words=("original", "none"),
    )
    draft: str = _taste(
        "auto",
        "drafters, comma-separated; auto takes what is there, none decodes plainly",
    )
    draft_model: str = _power("", "a smaller model of the same vocabulary that drafts")
    learn: bool = _power(False, "keep answers whose drafts were rejected, for heads train")
    max_tokens: int = _taste(0, "longest answer; 0 means what the file deserves")
    temperature: float = _taste(0.0, "0 takes the likeliest token, more draws")
    top_p: float = _taste(1.0, "draw from the likeliest tokens that make up this share")
    sampling: str = _taste(
        "coupled",
        "draws that no draft can change, or only their distribution kept",
        *("coupled", "rejection"),
    )
    seed: int = _taste(0, "what a drawn answer depends on, besides the text")
    server: str = _power("auto", "auto uses a running server, off never, or a URL")
    profile: str = _power(
        "specedit",
        "how a server URL wants its prediction",
        *("specedit", "openai", "mistral", "fireworks", "cerebras", "vllm", "plain"),
    )
    warm: bool = _power(False, "start a server in the background and keep the model warm")
    idle_minutes: float = _power(30.0, "a background server ends after this long without work")
    cache_bytes: int = _power(1 << 30, "memory for the key-value caches of recent files")
    scope: str = _taste("comments", "how far a rename goes", "code", "comments", "derived")
    check: bool = _power(False, "write nothing; exit 1 when something would change")
    diff: bool = _power(False, "write nothing; print a patch on stdout")
    json: bool = _power(False, "print one JSON object on stdout")
    ask: bool = _power(False, "show each hunk and ask before it is applied")
    allow_extra: bool = _power(False, "keep changes beyond what was asked")
    gate: str = _power("", "verdict of each kind of finding: KIND=refuse|note|off, …")
    strict: bool = _power(False, "refuse what would only be noted")
    allow: str = _power("", "kinds of finding, comma-separated, that refuse nothing")
    check_with: str = _power(
        "", "a program that looks at the new text: ruff check {file}, or LANGUAGE: COMMAND a line"
    )
    clean_only: bool = _power(False, "refuse files with uncommitted changes")
    test: str = _power("", "a command that judges the edit: exit 0 keeps it, else the next try")
    tries: int = _taste(
        0, "answers asked for at most; 0: 6 where one is tested or refused, else 1", most=64
    )
    test_timeout: float = _taste(300.0, "seconds that the test command may take", most=86400)
    require_green: bool = _taste(False, "refuse when the test command fails before the edit")
    keep_best: bool = _power(False, "when no try passes the test command, keep the best of them")
    focus: str = _taste(
        "auto", "edit only likely places of a large file: auto, off, or from N lines"
    )
    whole: bool = _taste(False, "edit all of every file, as --focus off")
    compare: bool = _taste(False, "run once more without drafts and measure both")
    audit: bool = _taste(False, "digest the logits behind every token")
    trace: str = _power("", "write one JSON line per pass to this file", paths=True, words=("",))
    stdin_filename: str = _power("", "the name that stands for standard input")
    quiet: bool = _power(False, "say nothing but errors")
    verbose: bool = _taste(False, "the report as a table")
    hook: list[dict[str, Any]] = _taste(
        [], "rules of the pre-commit hook, as [[tool.specedit.hook]]"
    )
    # No setting: the names of those above that a (trusted) repository has given.
    lent: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


def table() -> Iterator[Field[Any]]:
    """Every setting."""
    return (f for f in fields(Settings) if f.metadata)


@cache
def _known() -> dict[str, Mapping[str, Any]]:
    return {f.name: f.metadata for f in table()}


@cache
def types() -> dict[str, Any]:
    return get_type_hints(Settings)


def names() -> list[str]:
    return list(_known())


def about(name: str) -> Mapping[str, Any]:
    """What the table says of a setting: help, choices, kind, most, paths, words."""
    return _known()[name]


def is_power(name: str, value: object = None) -> bool:
    """Whether a setting is the user's to say. Rules of the hook are, once one names a command."""
    if name == "hook" and isinstance(value, list):
        return any(isinstance(rule, dict) and "test" in rule for rule in value)
    return bool(about(name)["kind"] == POWER)


def nearest(word: str, known: list[str]) -> str:
    """The known words most like `word`, as the end of a sentence."""
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(known)}."
