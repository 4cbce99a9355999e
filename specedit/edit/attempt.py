"""One Job: asked, measured, judged. Its last event is its Edit.

Changes that the instruction does not ask for are reverted before an answer is judged: white space,
quotes, wrapping, comments; and all of the code where it asks for comments only. A change of form
alone is reverted where it stands alone. A changed line beside it may need it: new indentation, a
comment about the new code.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import replace

from specedit.check.finding import Finding, Spot
from specedit.check.new_code import ABOUT_COMMENTS, ABOUT_SPACE, bare
from specedit.check.parsed import parsed_text
from specedit.edit.backend import Answer, Backend, Event, run
from specedit.edit.job import Job, Planned, job
from specedit.edit.outcome import Judged, conclude
from specedit.edit.regions.assemble import answer_regions, part_of_changed
from specedit.edit.regions.narrowing import in_parts, with_regions
from specedit.edit.report import Compared, Edit, Figures
from specedit.edit.splice import region_of, spliced, symbol_names, taken, whole
from specedit.errors import TooLong
from specedit.import_time import frozen, regex
from specedit.settings import Settings
from specedit.syntax import trees
from specedit.syntax.instruction_names import mentions_of
from specedit.syntax.languages import Language
from specedit.syntax.lines import changed_runs, lines_of


@frozen
class Answered:
    """A Job as it was asked in the end, what was answered, and what that makes of the file."""

    job: Job
    answer: Answer
    edit: Edit


def answered(
    work: Job, backend: Backend, settings: Settings
) -> Generator[Planned | Event, None, Answered]:
    """The same, and what a further try needs of it: the Job with the places that were chosen. A
    refused answer is not kept yet."""
    work, asked = yield from with_regions(work, backend, settings)
    try:
        result = yield from once(work, backend, settings)
    except TooLong as problem:
        result = yield from once(narrow(work, settings, problem), backend, settings)
    if asked is None:
        return result
    return replace(result, edit=replace(result.edit, figures=result.edit.figures.beside(asked)))


def once(
    work: Job, backend: Backend, settings: Settings
) -> Generator[Planned | Event, None, Answered]:
    """This Job and no narrower one."""
    yield Planned(work)
    answer, figures = yield from measured(work, backend)
    edit = conclude(work.source, judge(work, answer), figures)
    edit = edit.noting(*(Finding("backend", note) for note in backend.notes))
    if settings.compare:
        bare = replace(work, plan=replace(work.plan, prediction=None, predictions=(), draft=()))
        again, plain = yield from measured(bare, backend)
        edit = replace(edit, compared=_compare(answer, figures, again, plain))
    return Answered(work, answer, edit)


def judge(work: Job, answer: Answer) -> Judged:
    """The whole new text of the file, and everything that stands against it."""
    if answer.reason == "length" and not work.partial:
        message = f"cut off by the limit after {answer.completion} tokens; raise --max-tokens"
        return Judged(work.source.text, (Finding("cut-off", message, refuses=True),))
    results = list(work.findings)
    if not answer.closed:
        results.append(
            Finding(
                "unclosed",
                "the model stopped before it said that it was done: is the end missing?",
            )
        )
    text = spliced(work.about, work.region, answer.text)
    if work.tidies:
        text, reverted = minimal(work.about.text, text, work.about.language, work.instruction)
        results += reverted
    verdict = work.judge(text)
    return replace(verdict, findings=(*results, *verdict.findings))


def measured(work: Job, backend: Backend) -> Generator[Event, None, tuple[Answer, Figures]]:
    """The answer to a Job, in regions where it has them, and what it cost."""
    if work.known is not None:
        return Answer(work.known, "stop", closed=True), Figures()
    if work.regions:
        return (yield from answer_regions(work, backend))
    return (yield from run(work.plan, work.source.name, backend))


def _compare(answer: Answer, own: Figures, again: Answer, plain: Figures) -> Compared:
    ours, theirs = own.prefill_s + own.decode_s, plain.prefill_s + plain.decode_s
    audited = own.logits_digest is not None
    return Compared(
        decode_s=plain.decode_s,
        total_s=theirs,
        passes=plain.passes,
        identical=answer.text == again.text and answer.completion == again.completion,
        speedup_decode=plain.decode_s / own.decode_s if own.decode_s else 0.0,
        speedup_total=theirs / ours if ours else 0.0,
        digests_equal=own.logits_digest == plain.logits_digest if audited else None,
    )


def narrow(work: Job, settings: Settings, problem: TooLong) -> Job:
    """A file larger than the window: the smallest definition that the instruction names, or, where
    it is about all of the file, one part after the other."""
    source = work.about
    if work.region != whole(source) or not work.divisible:
        raise TooLong(problem.reason, file=source.name, hint=problem.hint) from problem
    if (parts := in_parts(work)) is not None:
        return parts
    mentions = mentions_of(trees.symbols(source.text, source.language), work.instruction)
    named = (one.symbol for one in mentions)
    best = min(named, key=lambda one: one.last_line - one.first_line, default=None)
    if best is None:
        raise TooLong(
            problem.reason,
            file=source.name,
            hint="Name a part of it in the instruction, with --symbol or with --lines A:B. "
            f"It defines: {symbol_names(source)}",
        ) from problem
    region = region_of(source, (best.first_line, best.last_line))
    expected = None if work.plan.prediction is None else taken(source, region)
    smaller = job(source, region, work.instruction, settings, expected, work.checks, work.beside)
    lines = f"lines {best.first_line}:{best.last_line}"
    message = f"too long for the window: only {best.qualified} was edited ({lines})"
    note = Finding("narrowed", message, (Spot(best.first_line),))
    others = (one for one in work.findings if one.kind != "whole")
    earlier = (part_of_changed(source.text, region, one) for one in work.plan.predictions)
    plan = replace(smaller.plan, predictions=tuple(dict.fromkeys(earlier)))
    return replace(work, region=region, plan=plan, findings=(*others, note))


COMMENTS_ONLY = regex(  # nothing but comments is to change
    r"(?i)\b(?:has|have|without|lacks?|misses|missing)\s+(?:no|a|any|its)?\s*"
    r"(?:docs?|doc ?strings?|doc comments?|comments?|documentation|java-?docs?|jsdocs?)\b"
    r"[^.;,]*(?:[.;,]|$)"
    r"\W*(?:please\s+)?(?:(?:write|add)\s+(?:one|it|them))?\W*$"
    r"|^\W*(?:please\s+)?(?:translate|correct|fix|spell[- ]?check|improve|reword|rephrase"
    r"|rewrite|update|capitali[sz]e|proofread|shorten|clarify|add|write|complete|remove|delete)\b"
    r"(?:\s+(?:\w+\s+){0,3}?(?:spelling|typos?|errors?|mistakes?)\s+(?:in|of))?"
    r"(?:(?!\b(?:to|with|in|for|of|and|that|behind|after|from)\b)[^.;\n])*?\b(?:comments?"
    r"|doc ?strings?|javadocs?|jsdocs?|documentation|xml docs?|license header|copyright)\b"
    r"(?!.*\b(?:and|then|also)\s+(?:add|change|rename|remove|make|use|return|raise|convert)\b)"
    r"(?!.*\b(?:type hints?|annotations?|strings? literals?|messages?)\b)"
)
ABOUT_QUOTES = regex(r"(?i)quot|style|format|consisten|lint|string literal")
INDENTED = frozenset({"python", "yaml"})  # where indentation alone has a meaning
_Lines = tuple[Sequence[str], Sequence[str]]  # before, after
PROSE = frozenset({"markdown", "html", "yaml", "toml", "css", "json"})


def minimal(
    before: str, after: str, language: Language | None, instruction: str
) -> tuple[str, list[Finding]]:
    """`after` without the changes that the instruction does not ask for."""
    if language is None or not language.grammar or language.name in PROSE or before == after:
        return after, []
    old, new = lines_of(before), lines_of(after)
    old_code, new_code = (parsed_text(text, language).code_lines for text in (before, after))
    comments_only = bool(COMMENTS_ONLY.search(instruction))
    pieces: list[str] = []
    form: list[Spot] = []
    code: list[Spot] = []
    at = 0
    for a, b, c, d in changed_runs(old, new):
        pieces += new[at:c]
        at = d
        lines = old_code[a:b], new_code[c:d]
        if comments_only and _bare(lines[0], False) != _bare(lines[1], False):
            code.append(Spot(a + 1))
        elif _is_form((old[a:b], new[c:d]), lines, language.name, instruction):
            form.append(Spot(a + 1))
        else:
            pieces += new[c:d]
            continue
        pieces += old[a:b]
    findings = [
        Finding("reverted", f"reverted, as the instruction does not ask for it: {what}", (*spots,))
        for what, spots in (("white space, quotes or comments", form), ("changes of code", code))
        if spots
    ]
    return ("".join([*pieces, *new[at:]]) if findings else after), findings


def _is_form(lines: _Lines, code: _Lines, language: str, instruction: str) -> bool:
    """Whether lines of both texts say the same in another form. `code`: without their comments."""
    if language in INDENTED and not _same_depth(*lines):
        return False
    quotes = not ABOUT_QUOTES.search(instruction)
    if _bare(lines[0], quotes) == _bare(lines[1], quotes):
        return not ABOUT_SPACE.search(instruction)
    if _bare(code[0], quotes) != _bare(code[1], quotes) or ABOUT_COMMENTS.search(instruction):
        return False
    return any(line.strip() for line in lines[0])  # new comments alone may be what is asked for


def _same_depth(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the lines stand equally deep, or are wrapped otherwise from the same depth."""
    before, after = (
        [len(line) - len(line.lstrip()) for line in lines if line.strip()] for lines in (old, new)
    )
    if not before or not after or before == after:
        return True
    return len(before) != len(after) and before[0] == after[0]


def _bare(lines: Sequence[str], quotes: bool) -> str:
    """The lines without what does not change their meaning."""
    text = re.sub(r",(?=[)\]}])", "", bare(lines))
    return text.replace("'", '"') if quotes else text
