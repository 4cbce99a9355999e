"""The useful part of a test command's output: its most telling line, and what to show a model.

Each tool (pytest, Python, compilers, go, cargo, dotnet, jest) reports a failure in a form of its
own. Its reader takes the lines of a whole output, and gives the passages of its tool, or None where
the output is not that tool's. Where no reader knows the form, the last lines are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Passages:
    """What one reader finds, in order, and its most telling line."""

    telling: str
    texts: tuple[str, ...]


Lines = Sequence[str]
Reader = Callable[[Lines], Passages | None]


COUNTS = (
    re.compile(r"^=+ .*?\b(?P<n>\d+) failed\b"),  # pytest
    re.compile(r"^=+ .*?\b(?P<n>\d+) errors?\b"),
    re.compile(r"^(?P<n>\d+) failed\b"),  # pytest -q
    re.compile(r"^(?P<n>\d+) errors? in\b"),
    re.compile(r"^FAILED \((?:failures=(?P<n>\d+))"),  # unittest
    re.compile(r"^FAILED \((?:errors=(?P<n>\d+))"),
    re.compile(r"^test result: FAILED\. \d+ passed; (?P<n>\d+) failed"),  # cargo
    re.compile(r"^Failed!\s+- Failed:\s+(?P<n>\d+)"),  # dotnet
    re.compile(r"^Tests:\s+(?P<n>\d+) failed"),  # jest
    re.compile(r"^Found (?P<n>\d+) errors?\b"),  # tsc, ruff, mypy
)


def counted(lines: Lines) -> int | None:
    """The number of failures that the tool itself says."""
    for pattern in COUNTS:
        results = [int(hit["n"]) for line in lines if (hit := pattern.search(line))]
        if results:
            return sum(results) if "test result" in pattern.pattern else results[-1]
    return None


# pytest: sections between underscored titles; lines that begin with E say why


TITLE = re.compile(r"^_{3,} (?P<name>.+?) _{3,}$")
RULE = re.compile(r"^={3,}.*={3,}$")
SUMMARY = re.compile(r"^(?:FAILED|ERROR) \S")


def _pytest(lines: Lines) -> Passages | None:
    summary = [line for line in lines if SUMMARY.match(line)]
    whys: list[str] = []
    passages: list[str] = []
    for name, block in _sections(lines):
        messages = [line for line in block if re.match(r"^(>|E) ", line)]
        at = [line for line in block if re.match(r"^\S+:\d+: ", line)]
        if messages:
            whys += [line[1:].strip() for line in messages if line.startswith("E")]
            passages.append("\n".join([f"{name}:", *messages, *at[-1:]]))
    if not whys and not (summary and any(" - " in line for line in summary)):
        return None
    telling = whys[0] if whys else summary[0].partition(" - ")[2]
    return Passages(telling, (*passages, *([] if passages else summary)))


def _sections(lines: Lines) -> Iterator[tuple[str, list[str]]]:
    name, block = "", list[str]()
    for line in lines:
        title = TITLE.match(line)
        if title or RULE.match(line):
            if name:
                yield name, block
            name, block = title["name"] if title else "", []
        else:
            block.append(line)
    if name:
        yield name, block


# Python: the last traceback, and unittest's many


def _traceback(lines: Lines) -> Passages | None:
    passages: list[str] = []
    for at, line in enumerate(lines):
        if line.strip() == "Traceback (most recent call last):":
            end = next(
                (n for n in range(at + 1, len(lines)) if lines[n] and not lines[n].startswith(" ")),
                len(lines) - 1,
            )
            passages.append("\n".join(_frames(lines[at + 1 : end + 1])))
    if not passages:
        return None
    shown = [line.strip() for line in passages[-1].splitlines() if not set(line) <= set(" ^~")]
    telling = shown[-1] if shown else ""
    if len(shown) > 1 and ":" not in telling:  # a bare AssertionError: what was asserted says more
        telling = f"{telling}: {shown[-2]}"
    return Passages(telling, tuple(passages[-3:]))


def _frames(lines: Lines) -> Iterator[str]:
    """A traceback without the interpreter's own frames, which have no file."""
    own = True
    for line in lines:
        if line.startswith("  File "):
            own = not line.startswith('  File "<')
        if own or not line.startswith("  "):
            yield line


# compilers and linters: a place, then what is wrong there

PLACES = (
    re.compile(r"^\s*(?P<at>\S[^:(]*\(\d+(?:,\d+)?(?:-\d+)?\)): (?P<kind>(?:fatal )?error\b.*)$"),
    re.compile(r"^(?P<at>\S[^:]*:\d+(?::\d+)?)(?: -|:) (?P<kind>(?:fatal )?error\b.*)$"),
    re.compile(r"^(?P<at>\S+\.\w+:\d+:\d+): (?P<kind>\S.*)$"),  # go build, go vet, ruff, pyflakes
    re.compile(r"^(?P<at>\S+\.go:\d+): (?P<kind>\S.*)$"),
)


def _compiler(lines: Lines) -> Passages | None:
    results = [
        (at, hit["kind"]) for at, line in enumerate(lines) if (hit := _first(PLACES, line.strip()))
    ]
    if not results:
        return None
    passages = ["\n".join([lines[at].strip(), *_under(lines, at)]) for at, _ in results]
    return Passages(lines[results[0][0]].strip(), tuple(passages))


def _first(patterns: Iterable[re.Pattern[str]], line: str) -> re.Match[str] | None:
    return next((hit for one in patterns if (hit := one.match(line))), None)


def _under(lines: Lines, at: int) -> list[str]:
    """The line of source and the mark below it, where a compiler shows them."""
    shown = [line for line in lines[at + 1 : at + 6] if line.strip()]
    results = []
    for line in shown:
        if not line.startswith((" ", "\t", "|")) and not re.match(r"^\d+ ", line):
            break
        if _first(PLACES, line.strip()):
            break
        results.append(line)
    return results[:4]


# cargo: rustc's blocks, and the message of a panicking test

RUST = re.compile(r"^error(?:\[E\d+\])?: (?P<what>.+)$")
ENDS = re.compile(r"^(?:could not compile|aborting due to|test failed|build failed)")
PANIC = re.compile(r"^thread '.+' (?:\(\d+\) )?panicked at (?P<at>.+)$")


def _cargo(lines: Lines) -> Passages | None:
    passages, tellings = [], []
    for at, line in enumerate(lines):
        error, panic = RUST.match(line), PANIC.match(line)
        if error and not ENDS.match(error["what"]):
            block = _until_blank(lines, at)
            if not any(" --> " in one for one in block):
                continue
            tellings.append(line)
            passages.append("\n".join(block))
        elif panic:
            block = [one for one in _until_blank(lines, at)[:8] if not one.startswith("note: ")]
            tellings.append(": ".join([*block[1:2], panic["at"].rstrip(":")][:2]))
            passages.append("\n".join(block))
    return Passages(tellings[0], tuple(passages)) if passages else None


def _until_blank(lines: Lines, at: int) -> list[str]:
    results = []
    for line in lines[at:]:
        if not line.strip():
            break
        results.append(line)
    return results


# go test, dotnet test, jest: a failed test's name, then its own words, indented

TESTS = (
    re.compile(r"^\s*--- FAIL: (?P<name>\S+)"),
    re.compile(r"^\s+Failed (?P<name>\S+) \["),
    re.compile(r"^\s*● (?P<name>.+ › .+)$"),
)
STOPS = re.compile(r"^(?:FAIL|PASS|ok)\b|^\s*(?:--- (?:FAIL|PASS)|=== |Failed \S+ \[|● )|^Tests?:")
NOISE = re.compile(r"^(?:Error Message:|Stack Trace:|at .+|Standard Output.*)$")


def _named_tests(lines: Lines) -> Passages | None:
    passages, tellings = [], []
    for at, line in enumerate(lines):
        hit = _first(TESTS, line)
        if hit is None:
            continue
        own = []
        for one in lines[at + 1 : at + 25]:
            if STOPS.match(one):
                break
            if one.strip() and not NOISE.match(one.strip()):
                own.append(one.strip())
        if own:
            tellings.append(own[0])
            passages.append("\n".join([f"{hit['name']}:", *own]))
    return Passages(tellings[0], tuple(passages)) if passages else None


def _go_panic(lines: Lines) -> Passages | None:
    at = next((n for n, line in enumerate(lines) if line.startswith("panic: ")), None)
    if at is None:
        return None
    return Passages(lines[at], ("\n".join(one for one in lines[at : at + 12] if one.strip()),))


READERS: tuple[Reader, ...] = (
    _pytest,
    _cargo,
    _go_panic,
    _named_tests,
    _traceback,
    _compiler,
)


MOST_LINES, MOST_CHARS = 40, 2400  # of what is shown
LONGEST = 200  # characters of a line
FAILS = re.compile(
    r"(?i)\b(error|errors|failed|failure|failures|exception|panic|assert\w*|fatal)\b"
)


@dataclass(frozen=True)
class Failure:
    """The output of a command that failed."""

    line: str  # the most telling one
    text: str  # what is worth showing
    failed: int | None = None  # failures it counted


def read(output: str, folder: Path | None = None) -> Failure:
    """What matters of the output of a command that failed in `folder`."""
    text = output if folder is None else output.replace(f"{folder}/", "")
    lines = [line.rstrip() for line in text.splitlines()]
    for reader in READERS:
        result = reader(lines)
        if result is not None:
            shown = _bounded("\n\n".join(dict.fromkeys(result.texts)).splitlines())
            return Failure(_short(result.telling), shown, counted(lines))
    held = [line for line in lines if line.strip()]
    telling = next(
        (line for line in reversed(held) if FAILS.search(line)), held[-1] if held else ""
    )
    return Failure(_short(telling), _bounded(held[-20:], end=True), counted(lines))


def _short(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _bounded(lines: Sequence[str], *, end: bool = False) -> str:
    """The first (or the last) lines, within what is worth showing."""
    kept: list[str] = []
    size = 0
    for line in reversed(lines) if end else lines:
        line = line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
        size += len(line) + 1
        if len(kept) >= MOST_LINES or size > MOST_CHARS:
            break
        kept.append(line)
    return "\n".join(reversed(kept) if end else kept)
