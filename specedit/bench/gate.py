"""What the gate says of answers that failed their tests, of those that passed, and of real commits.

Knows cases with the text after. A record's `passed` says what became of its tests, null that
there are none; one without is somebody's real commit. Makes no answers: `--quality FILE` with
`--answers` does.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specedit.bench.cases import Case, records, texts
from specedit.bench.quality import CaseResult
from specedit.check.answer import Checks
from specedit.check.finding import Finding
from specedit.check.kinds import Verdicts
from specedit.edit.judge import guarded
from specedit.errors import InputError
from specedit.files.source import Source

GROUPS = ("failed", "passed", "untested", "real")


@dataclass(frozen=True)
class JudgedAnswer:
    """One edit that was made: by a model and tested, or by a person."""

    id: str
    filename: str
    instruction: str
    before: str
    after: str
    group: str  # one of GROUPS


@dataclass
class Tallied:
    """What the gate said of one group."""

    answers: int = 0
    refused: int = 0  # by the gate or the guard
    noted: int = 0  # and not refused
    kinds: Counter[str] = field(default_factory=Counter)  # answers that have one of the kind

    def share(self, number: int) -> float:
        return number / self.answers if self.answers else 0.0


def read_answers(path: Path) -> list[JudgedAnswer]:
    return [_answered(found, where) for where, found in records(path)]


def _answered(found: dict[str, Any], where: str) -> JudgedAnswer:
    texts(found, where, "before", "after")
    passed = found.get("passed")
    without = "untested" if "passed" in found else "real"
    return JudgedAnswer(
        str(found.get("id", where)),
        str(found.get("filename") or "file.txt"),
        str(found.get("instruction") or ""),
        found["before"],
        found["after"],
        ("passed" if passed else "failed") if passed is not None else without,
    )


Said = tuple[JudgedAnswer, list[Finding]]


def judged(answers: Iterable[JudgedAnswer], verdicts: Verdicts) -> Iterator[Said]:
    """Each answer with everything that is said of it."""
    checks = Checks(verdicts=verdicts)
    for one in answers:
        source = Source.from_bytes(one.filename, one.before.encode("utf-8", "surrogatepass"))
        after = Source.from_bytes(one.filename, one.after.encode("utf-8", "surrogatepass"))
        found = guarded(source, one.instruction, checks, after.text).findings
        yield one, [f for f in found if f.kind != "not-checked"]


def tallied(found: Iterable[Said]) -> dict[str, Tallied]:
    """The sums by group."""
    groups = {name: Tallied() for name in GROUPS}
    for one, findings in found:
        group = groups[one.group]
        group.answers += 1
        group.kinds.update({finding.kind for finding in findings})
        if any(finding.refuses for finding in findings):
            group.refused += 1
        elif findings:
            group.noted += 1
    return {name: group for name, group in groups.items() if group.answers}


def line(name: str, group: Tallied) -> str:
    """One group in words."""
    refused, noted = group.share(group.refused), group.share(group.noted)
    return f"{name}: {group.answers} answers, {refused:.1%} refused, {noted:.1%} noted"


def write_answers(path: Path, cases: Sequence[Case], found: Sequence[CaseResult]) -> None:
    """The answers of a run of `--quality` as `read_answers` reads them."""
    by_id = {case.id: case for case in cases}
    rows = []
    for one in found:
        case = by_id[one.id]
        row: dict[str, Any] = {
            "id": one.id,
            "filename": case.filename,
            "instruction": case.instruction,
        }
        row |= {"before": case.before, "after": one.text, "passed": one.raw_passed}
        rows.append(json.dumps(row, ensure_ascii=False) + "\n")
    try:
        path.write_text("".join(rows), encoding="utf-8", errors="surrogatepass")
    except OSError as problem:
        raise InputError(f"{path}: {problem.strerror}") from None


def as_json(groups: Mapping[str, Tallied]) -> dict[str, Any]:
    return {
        name: {
            "answers": group.answers,
            "refused": group.refused,
            "noted": group.noted,
            "refused_share": round(group.share(group.refused), 4),
            "noted_share": round(group.share(group.noted), 4),
            "kinds": dict(group.kinds.most_common()),
        }
        for name, group in groups.items()
    }
