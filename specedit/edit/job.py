"""The question about one file, and what the answer may become.

A Job is a Plan with the file that it is for, and its own check. Commands differ only in the Jobs
they make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specedit.check.finding import QUESTION, REFUSE, Checks, Finding
from specedit.edit import prompt
from specedit.edit.backend import Plan
from specedit.edit.regions.together import Group, OpenRegion, all_shown, groups_of
from specedit.edit.report import Check, Checked, checks_of, guarded
from specedit.edit.splice import dedented, part_of_changed, region_of, whole
from specedit.edit.without_model import check_value, is_question, local_rename, text_replacement
from specedit.engines.base import Sampling
from specedit.errors import UsageError
from specedit.files.git import beyond
from specedit.files.source import Source, read

if TYPE_CHECKING:
    from specedit.edit.prompt import Beside
    from specedit.settings import Settings


@dataclass(frozen=True, slots=True)
class Job:
    """One file's work: read, planned, not yet run."""

    source: Source  # the file as it is now
    about: Source  # the text that the answer is for: the file's, an earlier one, or an excerpt
    plan: Plan
    region: slice  # of the characters of `about`, that the answer replaces
    instruction: str
    check: Check  # what of the whole new text may be written, and what is reported of it
    checks: Callable[[], Checks] = Checks  # that the whole new text has to pass
    tidies: bool = False  # changes of form alone that no one asked for are reverted
    divisible: bool = True  # it may be asked about in regions: it is about a whole file
    beside: tuple[Beside, ...] = ()  # files that the model is shown, read-only
    feedback: str = ""  # what was wrong with an earlier answer, if the model sees that
    regions: tuple[OpenRegion, ...] = ()  # of a large file: all else stays
    findings: tuple[Finding, ...] = ()  # in the report, whatever happens
    known: str | None = None  # the new text, where there is nothing to ask a model
    partial: bool = False  # of a rename: an answer that is cut off counts as far as it goes
    place: str = ""  # the part that the user named; "": none

    @property
    def questions(self) -> list[Group]:
        """The regions by the question that they are asked about in; none: the file is the one."""
        return groups_of(self.about, self.regions)

    @property
    def before(self) -> str:
        """The text to replace, as the model is shown it: a part without its indentation."""
        if self.regions:
            return all_shown(self.about, self.regions)
        text = self.about.text[self.region]
        return text if self.region == whole(self.about) else dedented(text)


def plan_edit(
    source: Source,
    instruction: str,
    settings: Settings,
    *,
    lines: tuple[int, int] | None = None,
    symbol: str | None = None,
    beside: tuple[Beside, ...] = (),
    now: Source | None = None,
) -> Job:
    """Edit a file, or the part of it that `lines` (from 1, both ends in) or `symbol` names. `now`:
    what the file holds by now, where `source` is an earlier text of it; that is written over."""
    if not instruction.strip():
        raise UsageError("The instruction is empty.", hint='specedit edit "what to do" FILE')
    refuse_question(instruction, settings)
    region = region_of(source, lines, symbol)
    checks = partial(checks_of, settings, beside)
    exact = None
    if region == whole(source):
        check_value(source.text, instruction)
        exact = local_rename(source, instruction) or text_replacement(source, instruction)
    place = symbol or ("lines {}-{}".format(*lines) if lines else "")
    prediction = expected(source, region, settings)
    earlier: tuple[str, ...] = ()
    if now is not None and prediction is not None:
        earlier = (part_of_changed(source.text, region, now.text),)
    return make_job(
        source,
        region,
        instruction,
        settings,
        prediction,
        now=now,
        earlier=earlier,
        checks=checks,
        check=partial(check_refined, source, now, instruction, checks) if now else None,
        beside=beside,
        known=exact[0] if exact else None,
        findings=(exact[1],) if exact else (),
        tidies=exact is None,
        divisible=region == whole(source),
        place=place,
    )


def check_refined(
    source: Source, now: Source, instruction: str, checks: Callable[[], Checks], text: str
) -> Checked:
    """`text` as what an instruction about `source` made of it, written over what is there `now`."""
    if text == now.text:  # no change of what is there, whatever it was before
        return guarded(now, instruction, checks, text)
    if text == source.text:
        taken_back = "the earlier edit was taken back: the file is as it was before it"
        return Checked(text, (Finding("taken-back", taken_back),))
    return guarded(source, instruction, checks, text)


def refuse_question(instruction: str, settings: Settings) -> None:
    """An error where an instruction asks for an answer, unless the user allows it."""
    if is_question(instruction) and checks_of(settings).verdicts[QUESTION] == REFUSE:
        raise UsageError(
            "The instruction is a question, not an edit.",
            hint="Say what to change; with --allow question it is an instruction all the same.",
        )


def make_job(
    source: Source,
    region: slice,
    instruction: str,
    settings: Settings,
    prediction: str | None,
    *,
    now: Source | None = None,
    checks: Callable[[], Checks] | None = None,
    check: Check | None = None,
    beside: tuple[Beside, ...] = (),
    earlier: tuple[str, ...] = (),
    copies: bool = False,
    **more: Any,
) -> Job:
    """The Job of one region of a text. `now`: what its file holds, where that differs. `checks`:
    those of the settings, where none are given; `check`: by `checks`, where none is given.
    `earlier`: further predictions; `copies`: the answer is the text, changed in places. `more`:
    further fields of the Job."""
    text, part = source.text[region], region != whole(source)
    if part:
        text = dedented(text)
        prediction = None if prediction is None else dedented(prediction)
    marks = prompt.fence(text)
    checks = checks or partial(checks_of, settings)
    return Job(
        source=now or source,
        about=source,
        region=region,
        instruction=instruction,
        check=check or partial(guarded, source, instruction, checks),
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
            predictions=earlier,
            least=prompt.finished(text),
            instruction=instruction,
            draft=drafters(settings),
            max_tokens=settings.max_tokens or None,
            copies=copies,
            sampling=sampling_of(settings),
            audit=settings.audit,
            fresh=settings.compare,
        ),
        **more,
    )


def sampling_of(settings: Settings) -> Sampling:
    """How choices are made."""
    return Sampling(settings.temperature, 1.0, settings.seed, settings.sampling)


def drafters(settings: Settings) -> tuple[str, ...]:
    names = tuple(filter(None, map(str.strip, settings.draft.split(","))))
    return () if names == ("none",) else names


def expected(source: Source, region: slice, settings: Settings) -> str | None:
    """The answer that `--prediction` expects."""
    if settings.prediction == "none":
        return None
    if settings.prediction == "original":
        return source.text[region]
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
