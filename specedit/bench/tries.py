"""pass@k: the tries of `specedit edit --test` on cases with tests, and what each of them costs.

The tests are the command; with the gate as judge the first answer that nothing refuses and that
changes something is taken, and the tests only say whether it was right. Each answered try is a line
of a file, if one is named: what is there already is not asked again, and the checks look at it
anew. Beside every try the same try without predictions is run where that is wanted: the text is the
same, and the table shows what they save. Knows cases, Plans and a backend; the ways of trying are
`edit.tries`'.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from specedit.bench.cases import Case
from specedit.bench.quality import tested
from specedit.check.finding import Finding
from specedit.edit.answering import Answered, measured
from specedit.edit.backend import Backend
from specedit.edit.job import Job, plan_edit
from specedit.edit.tries import failure
from specedit.edit.tries.asking import Earlier
from specedit.edit.tries.refused import IDLE, IDLES, answer_of, asked
from specedit.edit.tries.ways import Way, ways
from specedit.errors import InputError
from specedit.files.source import Source
from specedit.settings import Settings

TESTS, GATE = "tests", "gate"  # who judges


@dataclass(frozen=True)
class Attempt:
    """One try of one case. `tested`: whether its text passes, whoever judges."""

    id: str
    number: int
    seed: int
    temperature: float
    told: bool
    text: str  # of the whole file
    answer: str  # the model's own
    passed: bool
    refused: str
    noted: str
    said: str  # what the tests said
    prompt: int
    reused: int
    completion: int
    passes: int
    prefill_s: float
    decode_s: float
    cpu_s: float
    test_s: float
    same_as: int | None = None
    alone_passes: int | None = None  # the same try without any prediction,
    alone_s: float | None = None  # and its seconds
    idle: bool = False  # it changes nothing, or white space only

    @property
    def model_s(self) -> float:
        return self.prefill_s + self.decode_s

    def done(self, judge: str) -> bool:
        """Whether this judge asks for no further try."""
        return not self.refused and (not self.idle if judge == GATE else self.passed)


def attempts(
    case: Case,
    backend: Backend,
    settings: Settings,
    known: Sequence[Attempt] = (),
    *,
    judge: str = TESTS,
    beside: bool = False,
) -> Iterator[Attempt]:
    """The tries of one case in order, the known ones first, until its judge is content."""
    if case.tests is None:
        raise InputError(f"{case.id} has no tests", hint="A case for --quality has `tests`.")
    source = Source.from_bytes(case.filename, case.before.encode("utf-8"))
    job = plan_edit(source, case.instruction, settings)
    earlier: list[Earlier] = []
    made: list[Attempt] = []
    for way, old in _paired(ways(settings), known):
        if old is not None:
            one = _anew(job, old)
            earlier.append(Earlier(old.answer, _stands(old)))
        else:
            cpu = time.process_time()
            found = _exhausted(asked(job, way, earlier, backend, settings))
            cpu = time.process_time() - cpu
            job = job if made else found.job
            one = _attempt(case, way, found, made, cpu)
            if beside:
                one = _alone(one, found, backend)
            earlier.append(answer_of(found, _stands(one)))
        made.append(one)
        yield one
        if over(made, judge):
            return


def over(made: Sequence[Attempt], judge: str) -> bool:
    """Whether no further try is asked for."""
    rests = judge == GATE and len(made) >= IDLE and any(not one.refused for one in made)
    return rests or made[-1].done(judge)


def _anew(job: Job, one: Attempt) -> Attempt:
    """A recorded answer, with what the checks say of it now."""
    found = job.judge(one.text).findings
    return replace(one, **_said(found))


def _said(found: Sequence[Finding]) -> dict[str, Any]:
    return {
        "refused": "\n".join(one.text for one in found if one.refuses),
        "noted": "\n".join(one.text for one in found if one.warns and not one.refuses),
        "idle": any(one.kind in IDLES for one in found),
    }


def _paired(found: Iterator[Way], known: Sequence[Attempt]) -> Iterator[tuple[Way, Attempt | None]]:
    for at, way in enumerate(found):
        yield way, known[at] if at < len(known) else None


def _stands(one: Attempt) -> str:
    return one.refused or one.said


def _attempt(case: Case, way: Way, found: Answered, made: Sequence[Attempt], cpu: float) -> Attempt:
    edit, text = found.edit, found.edit.after.decode("utf-8", "replace")
    same = next((one for one in made if one.text == text), None)
    started = time.perf_counter()
    verdict = None if same else tested(case, text)
    spent = time.perf_counter() - started
    passed = same.passed if same else verdict is not None and verdict.passed
    said = same.said if same else failure.read(verdict.said or verdict.why).text if verdict else ""
    return Attempt(
        id=case.id,
        number=way.number,
        seed=way.sampling.seed,
        temperature=way.sampling.temperature,
        told=bool(found.job.told),
        text=text,
        answer=found.answer.text,
        passed=passed,
        said="" if passed else said,
        prompt=edit.figures.prompt,
        reused=edit.figures.reused,
        completion=edit.figures.completion,
        passes=edit.figures.passes,
        prefill_s=round(edit.figures.prefill_s, 4),
        decode_s=round(edit.figures.decode_s, 4),
        cpu_s=round(cpu, 4),
        test_s=round(spent, 4),
        same_as=same.number if same else None,
        **_said(edit.findings),
    )


def _alone(one: Attempt, found: Answered, backend: Backend) -> Attempt:
    """The same try once more without predictions, behind the same cache."""
    plan = replace(found.job.plan, prediction=None, predictions=(), draft=())
    answer, figures = _exhausted(measured(replace(found.job, plan=plan), backend))
    if answer.text != found.answer.text:
        raise AssertionError(f"{one.id}: a prediction changed the text of try {one.number}")
    return replace(one, alone_passes=figures.passes, alone_s=round(figures.decode_s, 4))


def _exhausted(items: Any) -> Any:
    """What a generator returns in the end."""
    while True:
        try:
            next(items)
        except StopIteration as end:
            return end.value


def load(path: Path | None) -> dict[str, list[Attempt]]:
    """The attempts of a file, by case and in order; none where there is no file yet."""
    found: dict[str, list[Attempt]] = {}
    if path is None or not path.exists():
        return found
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            one = Attempt(**json.loads(line))
        except (ValueError, TypeError) as problem:
            raise InputError(f"{path}:{number}: no attempt: {problem}") from None
        held = found.setdefault(one.id, [])
        if one.number == len(held) + 1:
            held.append(one)
    return found


def run(
    cases: Sequence[Case],
    backend: Backend,
    settings: Settings,
    path: Path | None,
    said: Callable[[str], None],
    *,
    judge: str = TESTS,
    beside: bool = False,
) -> Iterator[list[Attempt]]:
    """Every case's attempts; those that are new go to the file as they are made."""
    known = load(path)
    for number, case in enumerate(cases, 1):
        held = known.get(case.id, [])
        made: list[Attempt] = []
        for one in attempts(case, backend, settings, held, judge=judge, beside=beside):
            said(f"{case.id} ({number} of {len(cases)}), try {one.number}")
            made.append(one)
            if path is not None and len(made) > len(held):
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")
        yield made


def brief(one: Attempt) -> dict[str, Any]:
    """What a result keeps of a try."""
    left_out = ("text", "answer", "said", "noted")
    return {name: value for name, value in asdict(one).items() if name not in left_out}


@dataclass(frozen=True)
class AtMost:
    """All cases with at most k tries each."""

    k: int
    cases: int
    passed: int
    seconds: float  # of the model
    passes: int
    test_s: float
    alone_s: float | None  # the same without predictions, the prompts read once a case all the same
    alone_passes: int | None


def curve(found: Sequence[Sequence[Attempt]], judge: str, most: int) -> list[AtMost]:
    """pass@k by k, and what it costs: the tries a person would have waited for."""
    rows = []
    for k in range(1, most + 1):
        taken = [_until(made[:k], judge) for made in found]
        every = [one for made in taken for one in made]
        alone = [one.alone_s for one in every if one.alone_s is not None]
        whole = len(alone) == len(every) and bool(every)
        rows.append(
            AtMost(
                k=k,
                cases=len(found),
                passed=sum(_chosen(made, judge).passed for made in taken),
                seconds=round(sum(one.model_s for one in every), 3),
                passes=sum(one.passes for one in every),
                test_s=round(sum(one.test_s for one in every), 3),
                alone_s=round(sum(alone) + sum(one.prefill_s for one in every), 3)
                if whole
                else None,
                alone_passes=sum(one.alone_passes or 0 for one in every) if whole else None,
            )
        )
    return rows


def _until(made: Sequence[Attempt], judge: str) -> Sequence[Attempt]:
    for at in range(len(made)):
        if over(made[: at + 1], judge):
            return made[: at + 1]
    return made


def _chosen(made: Sequence[Attempt], judge: str) -> Attempt:
    """The try that is kept: the judge's; where it was never content nothing is, and that fails."""
    last = made[-1]
    if last.done(judge):
        return last
    rests = [one for one in made if judge == GATE and not one.refused]
    return rests[0] if rests else replace(last, passed=False)
