"""The table: each setting's name, default, help and kind.

A setting is open or restricted. An **open** setting describes the wanted text, its length and how
much is reported; every cloned repository may choose it. A **restricted** setting names an address,
a path, a program or a model, starts a process that stays, removes a check, or silences or redirects
the report. Only the user chooses it, or a repository that the user trusts.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, get_type_hints

OPEN, RESTRICTED = "open", "restricted"
LARGEST = 2**63 - 1  # a seed is a signed 64-bit integer


def _restricted(
    default: Any, help: str, *choices: str, paths: bool = False, words: tuple[str, ...] = ()
) -> Any:
    """`paths`: the value is the name of a file, unless it is one of `words`."""
    return _setting(default, help, choices, RESTRICTED, paths=paths, words=words)


def _open(default: Any, help: str, *choices: str, most: int = LARGEST) -> Any:
    return _setting(default, help, choices, OPEN, most=most)


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
    """Every setting with its default. A field is a TOML key, `SPECEDIT_<NAME>` and `--name`."""

    model: str = _restricted("qwen2.5-coder-1.5b", "catalogue name, path or hub id of the model")
    engine: str = _restricted("auto", "what runs the model", "auto", "exact", "huggingface")
    device: str = _restricted("auto", "where it runs", "auto", "cpu", "cuda", "mps")
    threads: int = _open(0, "CPU threads; 0 means one per physical core", most=4096)
    precision: str = _restricted(  # restricted: `close` is a second copy of the weights on disk
        "balanced",
        "quantized activations of the exact engine: close is slower",
        "balanced",
        "close",
    )
    prediction: str = _restricted(
        "original",
        "the expected output: original, none, or the path of a file",
        paths=True,
        words=("original", "none"),
    )
    draft: str = _open(
        "auto",
        "drafters, comma-separated; auto: all that are available, none: plain decoding",
    )
    draft_model: str = _restricted("", "a smaller model with the same vocabulary that drafts")
    learn: bool = _restricted(False, "keep answers whose drafts were rejected, for heads train")
    max_tokens: int = _open(
        0, "maximum tokens of the answer (0: derived from the size of the file)"
    )
    temperature: float = _open(0.0, "0: the most likely token; above 0: sample")
    top_p: float = _open(1.0, "sample among the most likely tokens with this total probability")
    sampling: str = _open(
        "coupled",
        "coupled: drafts never change a sample; rejection: they keep its distribution",
        *("coupled", "rejection"),
    )
    seed: int = _open(0, "seed of a sampled answer")
    server: str = _restricted("auto", "auto: use a running server; off: use none; or a URL")
    profile: str = _restricted(
        "specedit",
        "how the server at a URL expects a prediction",
        *("specedit", "openai", "mistral", "fireworks", "cerebras", "vllm", "plain"),
    )
    warm: bool = _restricted(False, "start a server in the background and keep the model warm")
    idle_minutes: float = _restricted(
        30.0, "minutes without work after which a background server ends"
    )
    cache_bytes: int = _restricted(1 << 30, "bytes of memory for the KV caches of recent files")
    scope: str = _open("comments", "how far a rename goes", "code", "comments", "derived")
    check: bool = _restricted(False, "write nothing; exit 1 if a file would change")
    diff: bool = _restricted(False, "write nothing; print a patch on stdout")
    json: bool = _restricted(False, "print one JSON object on stdout")
    ask: bool = _restricted(False, "show each hunk and ask before it is applied")
    allow_extra: bool = _restricted(False, "keep changes beyond what was asked")
    gate: str = _restricted("", "what each kind of finding does: KIND=refuse|note|off, …")
    strict: bool = _restricted(False, "refuse an edit that would only get a note")
    allow: str = _restricted("", "kinds of finding, comma-separated, that refuse no edit")
    check_with: str = _restricted(
        "", "a program that checks the new text: ruff check {file}, or LANGUAGE: COMMAND per line"
    )
    clean_only: bool = _restricted(False, "refuse files with uncommitted changes")
    test: str = _restricted(
        "", "a command that judges the edit: exit 0 keeps it, else the next try"
    )
    tries: int = _open(
        0, "maximum answers (0: 6 with a test command or after a refusal, else 1)", most=64
    )
    test_timeout: float = _open(300.0, "seconds that the test command may take", most=86400)
    require_green: bool = _open(False, "refuse when the test command fails before the edit")
    keep_best: bool = _restricted(
        False, "when no try passes the test command, keep the best of them"
    )
    focus: str = _open(
        "auto", "edit only likely regions of a large file: auto, off, or from N lines"
    )
    whole: bool = _open(False, "edit all of every file, as --focus off")
    compare: bool = _open(False, "run once more without drafts and measure both")
    audit: bool = _open(False, "compute a digest of the logits behind every token")
    trace: str = _restricted(
        "", "write one JSON line per pass to this file", paths=True, words=("",)
    )
    stdin_filename: str = _restricted("", "the file name to assume for standard input")
    quiet: bool = _restricted(False, "print errors only")
    verbose: bool = _open(False, "print the report as a table")
    hook: list[dict[str, Any]] = _open(
        [], "rules of the pre-commit hook, as [[tool.specedit.hook]]"
    )
    # Not a setting: the names of the settings above whose value a repository chose.
    from_repository: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


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
    """The table's entry for a setting: help, choices, kind, most, paths, words."""
    return _known()[name]


def is_restricted(name: str, value: object = None) -> bool:
    """Whether it is restricted. Rules of the hook are restricted if one has a command."""
    if name == "hook" and isinstance(value, list):
        return any(isinstance(rule, dict) and "test" in rule for rule in value)
    return bool(about(name)["kind"] == RESTRICTED)


def nearest(word: str, known: list[str]) -> str:
    """A hint with the known words nearest to `word`."""
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(known)}."
