"""The tries of a run in a terminal: a line for each as it ends, and a small table of them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from specedit.edit.report import Baseline, Figures, Report, Tried, Try
from specedit.view import terminal
from specedit.view.colours import count, seconds

if TYPE_CHECKING:
    from rich.table import Table


def failing_before(baseline: Baseline, command: str) -> Text | None:
    """That the command fails before anything is edited."""
    if baseline.verdict.passed:
        return None
    why = f"{command!r} fails before the edit, too: {baseline.verdict.line}"
    return Text(terminal.harmless(why), "yellow")


def line_of(tried: Tried) -> Text:
    """The line of a try."""
    whole = tried.whole
    text = Text.assemble((f"try {whole.number} of {tried.most}", "bold"), f" ({way(whole)}): ")
    cost = f"{count(whole.figures.passes, 'pass', 'passes')}, {seconds(_spent(whole.figures))}"
    text.append(f"{cost}: ", "dim")
    word, style = verdict(whole)
    text.append(word, style)
    if why := _why(whole):
        text.append(": ").append(why)
    return text


def _why(tried: Try) -> str:
    """Why it was not kept, unless an earlier try shows it."""
    return "" if tried.kept or tried.same_as else terminal.harmless(tried.line)


def way(attempt: Try) -> str:
    """How it was sampled."""
    how = (
        f"temperature {attempt.temperature:g}, seed {attempt.seed}"
        if attempt.temperature
        else "greedy"
    )
    return how + (", with feedback" if attempt.with_feedback else "")


def verdict(attempt: Try) -> tuple[str, str]:
    """The outcome, and its style."""
    if attempt.noted:
        return ("kept as it is", "dim") if attempt.kept else ("asked again", "yellow")
    if attempt.kept and (attempt.test is None or attempt.test.passed):
        return "passes", "green"
    if attempt.refused:
        return "refused", "red"
    if attempt.same_as is not None:
        same = f"the same as try {attempt.same_as}" if attempt.same_as else "no change"
        return same, "yellow"
    return ("kept, though it fails", "yellow") if attempt.kept else ("fails", "red")


def whole(report: Report) -> Sequence[Try]:
    """Each try, by its number, over all files."""
    results: dict[int, Try] = {}
    for one in (attempt for edit in report.edits for attempt in edit.tries):
        first = results.setdefault(one.number, one)
        if first is not one:
            results[one.number] = replace(
                first,
                figures=first.figures + one.figures,
                refused=first.refused or one.refused,
                kept=first.kept or one.kept,
                with_feedback=first.with_feedback or one.with_feedback,
            )
    return [results[number] for number in sorted(results)]


def table(report: Report) -> Table | None:
    """A row for each try, if a test judged more than one: else their lines say all."""
    rows = whole(report)
    if len(rows) < 2 or not any(row.test_s for row in rows):
        return None
    from rich.table import Table

    shown = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    for name in ("try", "", "passes", "reused", "model", "test"):
        shown.add_column(name, justify="right" if name not in ("", "try") else "left", no_wrap=True)
    shown.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
    for one in rows:
        word, style = verdict(one)
        f = one.figures
        reason = _why(one)
        shown.add_row(
            str(one.number),
            way(one).replace("temperature ", "t "),
            f"{f.passes:,}",
            f"{f.reused:,} of {f.prompt:,}",
            seconds(_spent(f)),
            seconds(one.test_s) if one.test_s else "-",
            Text.assemble((word, style), f": {reason}" if reason else ""),
        )
    return shown


def _spent(figures: Figures) -> float:
    return figures.prefill_s + figures.decode_s
