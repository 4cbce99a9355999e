"""Does the edited file pass its tests? pass@1 of whoever edits, on the same cases and prompts.

Knows cases, tasks and what an answer would make of a file. An edit that the guard refuses leaves
the file as it was, and fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from specedit.bench import sandbox
from specedit.bench.cases import Case
from specedit.bench.peers.base import PeerRun
from specedit.bench.tasks import Words, task
from specedit.bench.timing import Runner
from specedit.edit.answer import reader_of
from specedit.edit.answering import judge
from specedit.edit.backend import Answer
from specedit.edit.job import Job, plan_edit
from specedit.errors import InputError
from specedit.files.source import Source
from specedit.settings import Settings


@dataclass(frozen=True)
class CaseResult:
    """One case: the answer, what became of its tests, and what it cost."""

    id: str
    passed: bool
    why: str
    refused: bool
    raw_passed: bool  # the answer's text, had nothing refused it
    text: str
    completion: int
    passes: int
    seconds: float


@dataclass(frozen=True)
class Score:
    """pass@1 over a list of cases."""

    name: str
    cases: int
    passed: int
    refused: int
    raw_passed: int
    seconds: float

    @property
    def share(self) -> float:
        return self.passed / self.cases if self.cases else 0.0


def outcome(case: Case, words: Words, runner: Runner, way: str, settings: Settings) -> CaseResult:
    """One case edited by one peer, and tested."""
    if case.tests is None:
        raise InputError(f"{case.id} has no tests", hint="A case for --quality has `tests`.")
    one = task(case, words, settings, own=True)
    run = runner.run(one, way)
    source = Source.from_bytes(case.filename, case.before.encode("utf-8"))
    work = plan_edit(source, case.instruction, settings)
    judged = judge(work, _answer(work, run, one.limit, words))
    refused = bool(judged.problems)
    raw = tested(case, judged.text)
    verdict = tested(case, source.text) if refused else raw
    return CaseResult(
        id=case.id,
        passed=verdict.passed,
        why="; ".join(map(str, judged.problems)) or verdict.why,
        refused=refused,
        raw_passed=raw.passed,
        text=judged.text,
        completion=len(run.tokens),
        passes=run.passes,
        seconds=round(run.total_s, 3),
    )


def _answer(work: Job, run: PeerRun, limit: int, words: Words) -> Answer:
    """A run's ids as the Answer that a backend would have given."""
    reader = reader_of(work.plan, words.tokenizer)
    over = False
    for token in run.tokens:
        over = reader.ends(token)
        if over:
            break
    return Answer(
        text=reader.text(),
        reason="stop" if over or len(run.tokens) < limit else "length",
        closed=reader.closed,
        prompt=0,
        reused=0,
        completion=len(run.tokens),
        prefill_s=run.prefill_s,
        decode_s=run.decode_s,
    )


def tested(case: Case, text: str) -> sandbox.Verdict:
    """The case's tests on `text`."""
    return sandbox.run(sandbox.program(text, case.tests or "", case.context))


def score(name: str, found: Iterable[CaseResult]) -> Score:
    rows = list(found)
    return Score(
        name=name,
        cases=len(rows),
        passed=sum(o.passed for o in rows),
        refused=sum(o.refused for o in rows),
        raw_passed=sum(o.raw_passed for o in rows),
        seconds=sum(o.seconds for o in rows),
    )


def differing(first: Sequence[CaseResult], second: Sequence[CaseResult]) -> list[str]:
    """Ids of the cases answered by both, and not with the same text."""
    texts = {o.id: o.text for o in first}
    return [o.id for o in second if o.id in texts and texts[o.id] != o.text]


def score_json(s: Score, found: Sequence[CaseResult], differs: Sequence[str]) -> dict[str, Any]:
    return {
        **asdict(s),
        "seconds": round(s.seconds, 3),
        "pass_at_1": round(s.share, 4),
        "differs_from_specedit": list(differs),
        "cases_passed": [o.id for o in found if o.passed],
    }
