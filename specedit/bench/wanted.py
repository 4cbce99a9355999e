"""What one command line of `specedit bench` asks for: which run, and on which cases.

Knows what cannot be honoured together. Measures nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from specedit.bench.cases import Case, T, part, read_cases
from specedit.bench.workloads import KINDS, workloads
from specedit.errors import UsageError


@dataclass(frozen=True)
class Wanted:
    """What one command line asks for."""

    against: str
    kinds: tuple[str, ...]
    lines: tuple[int, ...]
    languages: tuple[str, ...]
    rounds: int
    half: str
    cases: Path | None = None
    own: bool = False
    limit: int = 0
    first: int = 0
    quality: Path | None = None
    tries: int = 0  # of each case, at most; 0: one answer, and no further try
    judge: str = "tests"  # of the tries: tests, or gate
    attempts: Path | None = None  # where tries are kept, and read from
    beside: bool = False  # each try once more, without predictions
    renames: tuple[Path, ...] = ()
    agreement: tuple[Path, ...] = ()
    focus: tuple[Path, ...] = ()
    equal: bool = False  # of `focus`: edit each file both ways
    cost: bool = False
    engine_table: bool = False
    serve: tuple[str, ...] = ()
    at_once: tuple[int, ...] = ()
    requests: int = 0
    gate: tuple[Path, ...] = ()
    drafters: tuple[str, ...] = ()  # files of cases, or names of ours (`bench.newtext`)
    answers: Path | None = None
    plots: Path | None = None
    drawn_from: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Refuses what cannot be honoured together, before anything is loaded."""
        if self.tries > 1 and self.quality is None:
            raise UsageError("--tries goes with --quality FILE.")
        asked = {
            "--quality": self.quality,
            "--rename": self.renames,
            "--agreement": self.agreement,
            "--focus": self.focus,
            "--engine-table": self.engine_table,
            "--gate": self.gate,
            "--from": self.drawn_from,
            "--serve": self.serve,
            "--drafters": self.drafters,
        }
        modes = [flag for flag, value in asked.items() if value]
        if len(modes) > 1:
            raise UsageError(f"{' and '.join(modes)} are separate runs.", hint="One at a time.")
        files = [mode for mode in modes if mode != "--serve"]
        if not self.serve and (self.at_once or self.requests):
            raise UsageError("--at-once and --requests are about a server.", hint="--serve URL")
        idle = {
            "CASES": self.cases and files,
            "--cost": self.cost and modes and modes != ["--quality"],
            "--own": self.own and modes and modes not in (["--focus"], ["--drafters"]),
            "--answers": self.answers and modes != ["--quality"],
            "--limit": self.limit and files and modes != ["--drafters"],
            "--equal": self.equal and modes != ["--focus"],
        }
        if self.tries < 2:
            told = {"--judge gate": self.judge != "tests", "--beside": self.beside}
            told["--attempts"] = self.attempts is not None and not self.drafters
            for flag, given in told.items():
                if given:
                    raise UsageError(f"{flag} goes with --quality FILE --tries N.")
        if self.judge not in ("tests", "gate"):
            raise UsageError(f"--judge {self.judge}: there is no such judge.", hint="tests or gate")
        for flag, unused in idle.items():
            if unused:
                beside = modes[0] if modes else "cases"
                raise UsageError(f"{flag} means nothing beside {beside}.")
        if self.cases is None and not files:
            if not self.kinds or not self.lines or not self.languages:
                raise UsageError("There is nothing to measure.", hint="--kinds line --lines 50")
            if min(self.lines) < 1:
                raise UsageError(f"--lines {min(self.lines)}: a file has a line at least.")


def cases_of(wanted: Wanted) -> list[Case]:
    """The file's cases, or generated ones."""
    if wanted.cases is not None:
        found = read_cases(wanted.cases)
    else:
        from specedit.bench.templates import TEMPLATES

        kinds = KINDS if wanted.kinds == ("all",) else wanted.kinds
        languages = TEMPLATES if wanted.languages == ("all",) else wanted.languages
        found = list(workloads(kinds, wanted.lines, languages))
    return chosen(wanted, found)


def chosen(wanted: Wanted, cases: list[T]) -> list[T]:
    """Those of `--half` and `--first`."""
    found = part(cases, wanted.half)
    if not found:
        raise UsageError(f"No case is left of {len(cases)} with --half {wanted.half}.")
    return found[: wanted.first] if wanted.first else found
