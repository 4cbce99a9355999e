"""Settings: one table that owns every name, default and help text.

A value comes from a flag, else a `SPECEDIT_<NAME>` variable, else `[tool.specedit]` of the
nearest pyproject.toml, else the default here. Nobody else types a default.
Knows no model, no file but pyproject.toml.
"""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from specedit.errors import UsageError

# Variables that are no setting: where things live, secrets that belong in no file, what a test or
# a build asks for.
_NOT_SETTINGS = frozenset({"HOME", "SCRIPT", "API_KEY", "TOKEN", "RUNTIME", "KERNEL", "BUILD"})
LARGEST = 2**63 - 1  # what a seed is kept in
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


def _setting(default: Any, help: str, *choices: str, tables: bool = False) -> Any:
    meta = {"help": help, "choices": choices, "tables": tables}
    if isinstance(default, list | dict):
        made = default
        return field(default_factory=lambda: made.copy(), metadata=meta)
    return field(default=default, metadata=meta)


@dataclass(frozen=True)
class Settings:
    """Every setting with its default. Field name = TOML key = `SPECEDIT_<NAME>` = `--name`."""

    model: str = _setting("qwen2.5-coder-1.5b", "catalogue name, path or hub id of the model")
    engine: str = _setting(
        "auto", "what runs the model", "auto", "exact", "huggingface", "scripted"
    )
    device: str = _setting("auto", "where it runs", "auto", "cpu", "cuda", "mps")
    threads: int = _setting(0, "CPU threads; 0 means one per physical core")
    precision: str = _setting(
        "balanced", "int8 digits of the exact engine: close is slower", "balanced", "close"
    )
    prediction: str = _setting("original", "what is expected: original, none, or a file's path")
    draft: str = _setting(
        "prediction,lookup", "drafters in order, comma-separated, or none for plain decoding"
    )
    max_tokens: int = _setting(0, "longest answer; 0 means what the file deserves")
    temperature: float = _setting(0.0, "0 takes the likeliest token, more draws")
    top_p: float = _setting(1.0, "draw from the likeliest tokens that make up this share")
    seed: int = _setting(0, "what a drawn answer depends on, besides the text")
    server: str = _setting("auto", "auto uses a running server, off never, or a URL")
    profile: str = _setting(
        "specedit",
        "how a server URL wants its prediction",
        *("specedit", "openai", "mistral", "fireworks", "cerebras", "plain"),
    )
    warm: bool = _setting(False, "start a server in the background and keep the model warm")
    idle_minutes: float = _setting(30.0, "a background server ends after this long without work")
    cache_bytes: int = _setting(1 << 30, "memory for the key-value caches of recent files")
    scope: str = _setting("comments", "how far a rename goes", "code", "comments", "derived")
    check: bool = _setting(False, "write nothing; exit 1 when something would change")
    diff: bool = _setting(False, "write nothing; print a patch on stdout")
    json: bool = _setting(False, "print one JSON object on stdout")
    ask: bool = _setting(False, "show each hunk and ask before it is applied")
    allow_extra: bool = _setting(False, "keep changes beyond what was asked")
    clean_only: bool = _setting(False, "refuse files with uncommitted changes")
    compare: bool = _setting(False, "run once more without drafts and measure both")
    audit: bool = _setting(False, "digest the logits behind every token")
    trace: str = _setting("", "write one JSON line per pass to this file")
    stdin_filename: str = _setting("", "the name that stands for standard input")
    quiet: bool = _setting(False, "say nothing but errors")
    verbose: bool = _setting(False, "the report as a table")
    price_input: float = _setting(2.50, "dollars a million prompt tokens, for bench --cost")
    price_output: float = _setting(10.0, "dollars a million completion tokens, for bench --cost")
    hook: list[dict[str, Any]] = _setting(
        [], "rules of the pre-commit hook, as [[tool.specedit.hook]]", tables=True
    )


@dataclass(frozen=True)
class Resolved:
    """Settings together with where each value came from."""

    values: Settings
    origins: Mapping[str, str]
    pyproject: Path | None = None

    def rows(self) -> Iterator[tuple[str, Any, str, str]]:
        """Name, value, origin, help: what `specedit config` prints."""
        for f in fields(Settings):
            yield f.name, getattr(self.values, f.name), self.origins[f.name], f.metadata["help"]


_TYPES: dict[str, Any] = {}


def _types() -> dict[str, Any]:
    if not _TYPES:
        _TYPES.update(get_type_hints(Settings))
    return _TYPES


def names() -> list[str]:
    return [f.name for f in fields(Settings)]


def nearest(word: str, known: list[str]) -> str:
    """The known words most like `word`, as the end of a sentence."""
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(known)}."


def _whole(name: str, text: str, where: str) -> int:
    try:
        return int(text.replace("_", ""))
    except ValueError:
        raise UsageError(f"{where}: {name} is a whole number, not {text!r}.") from None


def _number(name: str, text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{where}: {name} is a number, not {text!r}.") from None


def _truth(name: str, text: str, where: str) -> bool:
    low = text.strip().lower()
    if low in _TRUE or low in _FALSE:
        return low in _TRUE
    raise UsageError(f"{where}: {name} is true or false, not {text!r}.")


def _parse(name: str, text: str, where: str) -> Any:
    kind = _types()[name]
    if kind is bool:
        return _truth(name, text, where)
    if kind is int:
        return _whole(name, text, where)
    if kind is float:
        return _number(name, text, where)
    return text


def checked(name: str, value: Any, where: str) -> Any:
    """The value as its setting wants it, or an error that names `where` it came from."""
    meta = {f.name: f.metadata for f in fields(Settings)}[name]
    kind = _types()[name]
    if meta["tables"]:
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise UsageError(f"{where}: {name} is an array of tables ([[tool.specedit.{name}]]).")
        return value
    if name == "draft" and isinstance(value, list):
        value = ",".join(str(v) for v in value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise UsageError(f"{where}: {name} wants {kind.__name__}, not {value!r}.")
    if meta["choices"] and value not in meta["choices"]:
        raise UsageError(
            f"{where}: {name} is one of {', '.join(meta['choices'])}, not {value!r}.",
            hint=nearest(str(value), list(meta["choices"])),
        )
    if kind in (int, float):
        _check_size(name, value, where)
    if name == "top_p" and not 0 < value <= 1:
        raise UsageError(f"{where}: top_p is above 0 and at most 1, not {value}.")
    return value


def _check_size(name: str, value: float, where: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{where}: {name} is a finite number, not {value}.")
    if value < 0:
        raise UsageError(f"{where}: {name} cannot be negative, and is {value}.")
    if value > LARGEST:
        raise UsageError(f"{where}: {name} is at most {LARGEST}, not {value}.")


def here() -> Path:
    """The current folder."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("The current folder is gone.", hint="cd to one that is there.") from None


def find_pyproject(start: Path) -> Path | None:
    """The nearest pyproject.toml at or above `start`."""
    folder = start.resolve()
    for place in (folder, *folder.parents):
        if (place / "pyproject.toml").is_file():
            return place / "pyproject.toml"
    return None


def _from_file(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}", hint="Mend it, then run again."
        ) from None
    tools = data.get("tool", {})
    if not isinstance(tools, dict):
        raise UsageError(f"{path}: [tool] is a table.")
    table = tools.get("specedit", {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [tool.specedit] is a table.")
    found = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in names():
            raise UsageError(
                f"{path}: [tool.specedit] has no key {key!r}.", hint=nearest(name, names())
            )
        if name in found:
            raise UsageError(f"{path}: [tool.specedit] has {name} twice, with `-` and with `_`.")
        found[name] = checked(name, value, f"{path}: [tool.specedit]")
    return found


def _from_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for variable, text in environ.items():
        if not variable.startswith("SPECEDIT_"):
            continue
        bare = variable.removeprefix("SPECEDIT_")
        if bare in _NOT_SETTINGS:
            continue
        name = bare.lower()
        if name not in names():
            known = [f"SPECEDIT_{n.upper()}" for n in names()]
            raise UsageError(f"There is no setting {variable}.", hint=nearest(variable, known))
        if name == "hook":
            raise UsageError(f"{variable}: hook rules live in pyproject.toml.")
        found[name] = checked(name, _parse(name, text, variable), variable)
    return found


def resolve(
    flags: Mapping[str, Any] | None = None,
    *,
    start: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Resolved:
    """Flags (None = not given) over variables over the nearest pyproject.toml over defaults."""
    pyproject = find_pyproject(start or here())
    origins = dict.fromkeys(names(), "default")
    values: dict[str, Any] = {}
    layers: list[tuple[str, dict[str, Any]]] = []
    if pyproject:
        layers.append((str(pyproject), _from_file(pyproject)))
    layers.append(("variable", _from_variables(os.environ if environ is None else environ)))
    given = {k: v for k, v in (flags or {}).items() if v is not None}
    for name in given:
        if name not in names():
            raise UsageError(f"There is no setting {name!r}.", hint=nearest(name, names()))
    layers.append(
        ("flag", {n: checked(n, v, f"--{n.replace('_', '-')}") for n, v in given.items()})
    )
    for origin, layer in layers:
        for name, value in layer.items():
            values[name] = value
            origins[name] = f"SPECEDIT_{name.upper()}" if origin == "variable" else origin
    return Resolved(Settings(**values), origins, pyproject)
