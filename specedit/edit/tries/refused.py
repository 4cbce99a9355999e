"""Tries where the checks alone judge: a refused answer is asked for again, in another way, and so
is one that changes nothing, where a person named that one file.

Takes the place of `edit.run.one` for one Source. Knows Jobs and backends; writes nothing and runs
nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from specedit.check.kinds import NOTHING
from specedit.edit.answering import Answered, answered, once
from specedit.edit.backend import Backend, Event
from specedit.edit.job import Job, Planned
from specedit.edit.judge import keep
from specedit.edit.run import Planner
from specedit.edit.tries.asking import Earlier, job_of
from specedit.edit.tries.items import Tried, Trying
from specedit.edit.tries.ways import Way, most, ways
from specedit.errors import TooLong
from specedit.files.source import Source
from specedit.report import Edit, Figures, Finding, Try
from specedit.settings import Settings

IDLE = 3  # answers of which none changes anything, until the first of them is taken for right
IDLES = (NOTHING, "whitespace")  # kinds of finding of an answer that does nothing


def one(
    source: Source,
    planner: Planner,
    backend: Backend,
    settings: Settings,
    *,
    alone: bool = False,
) -> Generator[Planned | Event | Trying | Tried | Edit, None, None]:
    """Everything that happens to one source until an answer passes its checks, or none is left;
    the Edit last: of the first answer that passed, else of the first. `alone`: it is the one file
    that the instruction is for, so that an answer that changes nothing is none."""
    job = planner(source)
    if isinstance(job, Edit):
        yield job
        return
    first: Edit | None = None
    resting: Edit | None = None  # the first that nothing refuses, though it does nothing
    tries: list[Try] = []
    earlier: list[Earlier] = []
    for way in ways(settings):
        if tries:
            yield trying(way, settings)
        found = yield from asked(job, way, earlier, backend, settings)
        job = job if tries else found.job
        noted = idle(found.edit) if alone and not found.edit.problems else ""
        passed = not (found.edit.problems or noted)
        tries.append(replace(tried(way, found, tries), noted=noted, kept=passed))
        if most(settings) > 1 and (tries[-1].line or len(tries) > 1):
            yield Tried(tries[-1], most(settings))
        first = first or found.edit
        if passed:
            yield _last(found.edit, tries)
            return
        resting = resting or (found.edit if noted else None)
        if resting is not None and len(tries) >= (settings.tries or IDLE):
            break
        if any(one.kind == "cut-off" for one in found.edit.findings):
            break  # who goes on and on does so again, and each time is as long as the limit
        earlier.append(answer_of(found, noted))
    assert first is not None
    if resting is None:
        yield keep(_last(first, tries))
        return
    at = next(at for at, one in enumerate(tries) if one.noted)
    yield _last(resting, [*tries[:at], replace(tries[at], kept=True), *tries[at + 1 :]])


def idle(edit: Edit) -> str:
    """What the checks say of an answer that does nothing; "" of any other."""
    return next((f.text for f in edit.findings if f.kind in IDLES), "")


def trying(way: Way, settings: Settings) -> Trying:
    drawn = way.sampling
    return Trying(way.number, most(settings), drawn.seed, drawn.temperature, way.told)


def _last(edit: Edit, tries: Sequence[Try]) -> Edit:
    """With what all tries cost. One that passed at once is no try among others."""
    if len(tries) == 1:
        return edit
    spent = sum((one.figures for one in tries), Figures())
    own = edit.figures
    spent = replace(spent, logits_digest=own.logits_digest, regions=own.regions)
    return replace(edit, tries=tuple(tries), figures=spent)


def asked(
    job: Job, way: Way, earlier: Sequence[Earlier], backend: Backend, settings: Settings
) -> Generator[Planned | Event, None, Answered]:
    """One try. The first may narrow its Job, and the others are about what it was about then. Where
    the longer prompt of one that is told does not fit the window, it has the first one's prompt."""
    work = job_of(job, way, earlier)
    if not earlier:
        return (yield from answered(work, backend, settings))
    try:
        return (yield from once(work, backend, settings))
    except TooLong:
        plain = job_of(job, replace(way, told=False), earlier)
        return (yield from once(plain, backend, settings))


def answer_of(found: Answered, said: str = "") -> Earlier:
    """An answer as later tries meet it: a prediction, and something to be shown."""
    stands = said or "\n".join(_said(one) for one in found.edit.findings if one.refuses)
    return Earlier(found.answer.text, stands)


def _said(finding: Finding) -> str:
    lines = sorted({spot.line for spot in finding.places})
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}: " if lines else ""
    return f"{where}{finding.text}"


def tried(way: Way, found: Answered, earlier: Sequence[Try]) -> Try:
    """A try before anything but the checks has judged it."""
    edit = found.edit
    same = (one.number for one in earlier if one.after_sha256 == edit.after_sha256)
    return Try(
        number=way.number,
        seed=way.sampling.seed,
        temperature=way.sampling.temperature,
        told=bool(found.job.told),
        figures=edit.figures,
        after_sha256=edit.after_sha256,
        refused="; ".join(edit.problems),
        same_as=next(same, None),
    )
