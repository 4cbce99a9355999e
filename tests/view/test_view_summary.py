"""The report line and table: the run's numbers, and what went wrong, in words."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from specedit.decode import Tally
from specedit.edit.backend import ModelInfo
from specedit.edit.report import Edit, Figures, Finding, Report
from specedit.view import summary
from specedit.view.colours import seconds

FIGURES = Figures(
    prompt=182,
    completion=127,
    passes=19,
    drafts={"prediction": Tally(185, 108), "lookup": Tally(15, 12)},
    load_s=0.04,
    prefill_s=1.2,
    decode_s=2.7,
    total_s=3.94,
)
EDITED = Edit(
    "User.cs", "edited", b"a", b"b", added=2, removed=3, hunks=2, figures=FIGURES, written=True
)
REFUSED = Edit(
    "b.cs",
    "refused",
    kept="/t/b",
    findings=(
        Finding("lost-definition", "lost Main", refuses=True),
        Finding("not-checked", "not checked"),
    ),
)
MODEL = ModelInfo("tiny", "ab", "exact", "cpu", 2, exact=True)


def message(report: Report, *, verbose: bool = False, quiet: bool = False) -> str:
    to = Console(file=io.StringIO(), width=200, markup=False, highlight=False, emoji=False)
    summary.show(to, report, verbose=verbose, quiet=quiet)
    return to.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_one_line_has_seconds_tokens_passes_and_acceptance():
    assert message(Report("edit", (EDITED,), MODEL)) == (
        "User.cs: edited, 2 hunks, +2 -3 · 3.9 s · 127 tokens · 19 passes · 94% copied\n"
    )


def test_problems_notes_and_the_kept_answer_are_reported():
    text = message(Report("edit", (REFUSED,)))
    assert text.splitlines() == [
        "b.cs: not checked",
        "b.cs: refused",
        "b.cs: the answer is kept in /t/b",
        "b.cs: next: name the place in the instruction, or with --symbol NAME or --selected TEXT",
        "b.cs: lost Main",
    ]


def test_what_was_reverted_is_shown_to_those_who_ask():
    edit = replace(EDITED, findings=(Finding("reverted", "reverted: white space"),))
    assert "reverted" not in message(Report("edit", (edit,)))
    assert "reverted: white space" in message(Report("edit", (edit,)), verbose=True)


def test_quiet_says_problems_only():
    assert message(Report("edit", (EDITED,)), quiet=True) == ""
    assert message(Report("edit", (REFUSED,)), quiet=True).splitlines()[-1] == "b.cs: lost Main"


def test_verbose_is_a_table_of_every_figure():
    text = message(Report("edit", (EDITED,), MODEL, server="http://here"), verbose=True)
    for words in ("prompt tokens", "182", "108 of 185 (58%)", "12 of 15 (80%)"):
        assert words in text
    pace = next(line for line in text.splitlines() if line.startswith("tokens per second"))
    assert pace.split()[-1] == f"{FIGURES.completion / FIGURES.decode_s:.1f}"
    assert "tiny (exact, cpu, 2 threads, exact)" in text and "http://here" in text


def test_files_that_are_one_change_with_a_broken_one_share_a_line():
    held = [
        Edit(f"{at}.cs", "refused", findings=(Finding("held", "not written", refuses=True),))
        for at in range(12)
    ]
    broken = Edit("x.cs", "failed", findings=(Finding("file", "not UTF-8", refuses=True),))
    first, *_, last = message(Report("rename", (*held, broken)), quiet=True).splitlines()
    assert (first, last) == ("12 files: not written:", "x.cs: not UTF-8")


def test_hostile_words_stay_words():
    edit = Edit(
        "a\x1b[2J\nb",
        "failed",
        findings=(Finding("file", "[bold]x[/] \x1b[2J :smile:", refuses=True),),
    )
    text = message(Report("edit", (edit,)))
    assert "\x1b" not in text
    assert "[bold]x[/]" in text and ":smile:" in text


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0 ms"), (0.0123, "12 ms"), (0.2, "0.2 s"), (59.94, "59.9 s"), (61, "1 min 01 s")],
)
def test_seconds_are_readable(value, words):
    assert seconds(value) == words


def left(number: int) -> Edit:
    message = Finding("skipped", "holds `Old` on line 1, but is no code")
    return Edit(f"{number:02}.md", "unchanged", b"a", b"a", findings=(message,))


def test_files_that_share_a_reason_share_a_line_that_names_them():
    why = "holds `Old` on line 1, but is no code"
    few = message(Report("rename", (EDITED, *map(left, range(3)))))
    assert f"3 files left as they are: {why}: 00.md, 01.md, 02.md\n" in few
    many = Report("rename", tuple(map(left, range(20))))
    assert "\n  06.md\n  07.md\n  and 12 more (-v names them)\n" in message(many)
    assert "\n  18.md\n  19.md\n" in message(many, verbose=True)
