"""The question about one file, and what the answer may become.

A Job is a Plan with the file that it is for, and its own judge. Commands differ only in the Jobs
they make. A question is a Plan alone: its answer is shown, and nothing is edited.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from specedit.check.finding import QUESTION, REFUSE, Checks, Finding, Spot
from specedit.edit import prompt
from specedit.edit.backend import Message, Plan
from specedit.edit.outcome import Judge, checks_of, guarded
from specedit.edit.regions.together import Group, RegionJob, all_numbers, all_shown, groups_of
from specedit.edit.splice import CONTEXT_LINES, Region, around, dedented, region_of, taken, whole
from specedit.edit.without_model import imports_to_sort, is_question, local_rename, text_replacement
from specedit.engines.base import Sampling
from specedit.errors import UsageError
from specedit.files.source import Source, read
from specedit.files.worktree import beyond
from specedit.models.catalogue import form_of
from specedit.syntax.lines import lines_of

if TYPE_CHECKING:
    from specedit.edit.prompt import Beside
    from specedit.settings import Settings


@dataclass(frozen=True, slots=True)
class Job:
    """One file's work: read, planned, not yet run."""

    source: Source
    plan: Plan
    region: Region  # of `about`, that the answer replaces
    instruction: str
    judge: Judge  # what of the whole new text may be written, and what is reported of it
    checks: Checks = field(default_factory=Checks)
    tidies: bool = False  # changes of form alone that no one asked for are reverted
    divisible: bool = True  # where the file is too long, a part that the instruction names will do
    beside: tuple[Beside, ...] = ()  # files that the model is shown, read-only
    feedback: str = ""  # what was wrong with an earlier answer, if the model sees that
    regions: tuple[RegionJob, ...] = ()  # of a large file: the answer is theirs, and the rest stays
    findings: tuple[Finding, ...] = ()  # in the report, whatever happens
    known: str | None = None  # the new text, where there is nothing to ask a model
    partial: bool = False  # an answer that is cut off counts as far as it goes
    rated: bool = True  # its edit may be unsure; the weights are of answers to instructions alone
    original: Source | None = None  # what is asked about, where the file holds another text by now

    @property
    def about(self) -> Source:
        """The text that the answer is for, and becomes a part of."""
        return self.source if self.original is None else self.original

    @property
    def questions(self) -> list[Group]:
        """The regions by the question that they are asked about in; none: the file is the one."""
        return groups_of(self.about, self.regions)

    @property
    def before(self) -> str:
        """The text to replace, as the model is shown it: a part without its indentation."""
        if self.regions:
            return all_shown(self.about, self.regions)
        text = taken(self.about, self.region)
        return text if self.region == whole(self.about) else dedented(text)

    @property
    def numbers(self) -> list[int]:
        """The line of the file, from 1, of each line of `before`; of a line that stands for lines
        between two regions, the first of these."""
        if self.regions:
            return all_numbers(self.about, self.regions)
        text = self.about.text
        first = text.count("\n", 0, self.region.start) + 1
        return [*range(first, first + len(lines_of(taken(self.about, self.region))))]


def plan_edit(
    source: Source,
    instruction: str,
    settings: Settings,
    *,
    lines: tuple[int, int] | None = None,
    symbol: str | None = None,
    beside: tuple[Beside, ...] = (),
) -> Job:
    """Edit a file, or the part of it that `lines` (from 1, both ends in) or `symbol` names."""
    if not instruction.strip():
        raise UsageError("The instruction is empty.", hint='specedit edit "what to do" FILE')
    refuse_question(instruction, source.name, settings)
    focused: tuple[Finding, ...] = ()
    if lines is None and symbol is None and not settings.whole:
        lines = imports_to_sort(source, instruction)
        if lines:
            text = "open to change: the imports (lines {}:{}); --whole opens all of the file"
            focused = (Finding("focused", text.format(*lines), (Spot(lines[0]),)),)
    region = region_of(source, lines, symbol)
    known = expected(source, region, settings)
    checks = replace(
        checks_of(settings), shown=tuple((source.name, source.text) for source in beside)
    )
    planned = make_job(source, region, instruction, settings, known, checks, beside)
    planned = replace(planned, tidies=True, findings=focused)
    if settings.prompt_form or form_of(settings.model):
        from specedit.edit.prompt_form import chosen_form, in_form

        if form := chosen_form(settings):
            plan = in_form(planned.plan, source, region, beside, form)
            return replace(planned, plan=plan, divisible=False)
    if region != whole(source):
        return planned
    exact = local_rename(source, instruction) or text_replacement(source, instruction)
    if exact is None:
        return planned
    return replace(planned, known=exact[0], findings=(exact[1],), tidies=False)


def refuse_question(instruction: str, name: str, settings: Settings) -> None:
    """An error where an instruction asks for an answer, unless the user allows it."""
    if is_question(instruction) and checks_of(settings).verdicts[QUESTION] == REFUSE:
        raise UsageError(
            "The instruction is a question, not an edit.",
            hint=f"specedit ask QUESTION {name} answers it; --allow question edits.",
        )


def make_job(
    source: Source,
    region: Region,
    instruction: str,
    settings: Settings,
    prediction: str | None,
    checks: Checks | None = None,
    beside: tuple[Beside, ...] = (),
) -> Job:
    """The Job of one region of one file. `checks`: those of the settings, where none are given."""
    text, part = taken(source, region), region != whole(source)
    if part:
        text = dedented(text)
        prediction = None if prediction is None else dedented(prediction)
    marks = prompt.fence(text)
    checks = checks_of(settings) if checks is None else checks
    return Job(
        source=source,
        region=region,
        instruction=instruction,
        judge=partial(guarded, source, instruction, checks),
        checks=checks,
        beside=beside,
        plan=Plan(
            messages=prompt.messages(
                source.name, text, instruction, part=prompt.A_PART if part else "", beside=beside
            ),
            opening=prompt.opening(marks),
            language=source.language.lexer if source.language else "",
            closing=marks,
            nested=source.language is None or not source.language.grammar,
            prediction=None if prediction is None else prompt.finished(prediction),
            least=prompt.finished(text),
            instruction=instruction,
            draft=drafters(settings),
            max_tokens=settings.max_tokens or None,
            sampling=sampling_of(settings),
            audit=settings.audit,
            fresh=settings.compare,
        ),
    )


def sampling_of(settings: Settings) -> Sampling:
    """How choices are made."""
    return Sampling(settings.temperature, 1.0, settings.seed, settings.sampling)


def drafters(settings: Settings) -> tuple[str, ...]:
    names = tuple(name.strip() for name in settings.draft.split(",") if name.strip())
    return () if names == ("none",) else names


def expected(source: Source, region: Region, settings: Settings) -> str | None:
    """The answer that `--prediction` expects."""
    if settings.prediction == "none":
        return None
    if settings.prediction == "original":
        return taken(source, region)
    path = Path(settings.prediction)
    if not path.is_file():
        raise UsageError(
            f"--prediction {settings.prediction}: no such file.",
            hint="original, none, or the path of a file with the expected text.",
        )
    if (target := beyond(path)) is not None:  # a server that was named gets its text
        raise UsageError(
            f"--prediction {settings.prediction}: a link to {target}, outside its work tree.",
            hint="Name that file itself.",
        )
    return read(path).text


def plan_ask(
    source: Source,
    question: str,
    settings: Settings,
    *,
    lines: tuple[int, int] | None = None,
    symbol: str | None = None,
    beside: tuple[Beside, ...] = (),
) -> Plan:
    """A question about a file, or about the part of it that `lines` or `symbol` names; the files
    `beside` it are shown first."""
    if not question.strip():
        raise UsageError("The question is empty.", hint='specedit ask "what does it do?" FILE')
    region = region_of(source, lines, symbol)
    text = taken(source, region)
    context = "" if region == whole(source) else around(source, region, CONTEXT_LINES)
    marks = prompt.fence(text + context)
    name = prompt.printable(source.name)
    above: tuple[str, ...] = tuple(prompt.others(beside))
    what = f"File `{name}`:"
    if context:
        head = f"Part of the file `{name}`, for context:\n\n{marks}\n"
        above = (*above, head, prompt.finished(context), f"{marks}\n\n")
        what = "The part that is asked about:"
    asked = f"{marks}\n\n{question.strip()}"
    user = (*above, f"{what}\n\n{marks}\n", prompt.finished(text), asked)
    return Plan(
        messages=(Message("system", (prompt.QUESTION,)), Message("user", user)),
        instruction=question,
        draft=tuple(drafter for drafter in drafters(settings) if drafter != "prediction"),
        max_tokens=settings.max_tokens or None,
        sampling=sampling_of(settings),
    )
