"""Work: an answer becomes an Edit, or says why it must not."""

import os
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest
from events import events
from scripted_backend import Scripted, perform

from specedit.edit.backend import Progress
from specedit.edit.job import plan_edit
from specedit.edit.report import Edit
from specedit.edit.splice import spliced, whole
from specedit.errors import TooLong
from specedit.files import journal, startup
from specedit.files.source import Source
from specedit.settings import Settings

CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


def edited(answer: str, text: str = CODE, name: str = "a.py", **settings: object) -> Edit:
    chosen = Settings(**settings)  # type: ignore[arg-type]
    job = plan_edit(Source.from_bytes(name, text.encode()), "Change two", chosen)
    return perform(job, Scripted(answer), chosen)


def test_a_copied_file_is_unchanged():
    edit = edited(CODE + "```")
    assert (edit.status, edit.diff, edit.after) == ("unchanged", "", CODE.encode())


def test_a_changed_file_would_be_edited_and_says_where():
    edit = edited(CODE.replace("return 2", "return 22") + "```\n")
    assert edit.status == "would-edit"
    assert (edit.added, edit.removed, edit.hunks) == (1, 1, 1)
    assert edit.after == CODE.replace("return 2", "return 22").encode()
    assert "+    return 22" in edit.diff


def test_the_books_balance():
    f = edited(CODE.replace("2", "3") + "```").figures
    accepted = sum(t.accepted for t in f.drafts.values())
    assert f.completion in (f.passes + accepted, f.passes + accepted - 1)
    assert f.completion == len(CODE) + len("```") + 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("def one(:\n    return 1\n```", "parse"),
        ("def one():\n    return 1\n\n\n# ... existing code ...\n```", "placeholder"),
        ("def two():\n    return 3\n```", "one"),
        ("```", "empty"),
    ],
    ids=["does not parse", "a placeholder", "a lost definition", "nothing left"],
)
def test_a_bad_answer_is_refused_and_kept(answer, says):
    edit = edited(answer)
    assert edit.status == "refused"
    assert says in " ".join(edit.problems)
    kept = Path(edit.kept)
    assert kept.read_text() == answer.removesuffix("```").rstrip("\n") + ("\n" * (len(answer) > 3))
    assert kept.is_relative_to(startup.home())
    assert os.name == "nt" or stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_the_newest_refused_answers_are_kept_for_a_week():
    kept = [Path(edited("def one(:\n    return 1\n```").kept) for _ in range(3)]
    week_ago = time.time() - 8 * 24 * 3600
    os.utime(kept[0], (week_ago, week_ago))
    kept += [Path(edited("def one(:\n    return 1\n```").kept) for _ in range(19)]
    assert [path.exists() for path in kept] == [False, False, *[True] * 20]
    os.utime(kept[-1], (week_ago, week_ago))
    journal.prune(startup.home())  # what every run that writes does
    assert not kept[-1].exists() and kept[-2].exists()


def test_a_store_that_cannot_be_written_only_loses_the_refused_answer():
    (startup.home() / "refused").write_text("in the way")
    edit = edited("def one(:\n    return 1\n```")
    assert (edit.status, edit.kept) == ("refused", "")


def test_allowing_removal_takes_a_lost_definition():
    assert edited("def two():\n    return 3\n```", allow="removal").status == "would-edit"


def test_an_answer_cut_off_by_the_limit_is_never_a_file():
    edit = edited(CODE.replace("2", "3") + "```", max_tokens=20)
    assert edit.status == "refused"
    assert "20 tokens" in edit.problems[0]
    assert edit.after == edit.before


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("a\n", "b", "b\n"),
        ("a", "b\n", "b"),
        ("a\n\n", "b\n", "b\n\n"),
        ("a\n", "b\n\n\n", "b\n"),
        ("a\n", "", ""),
    ],
)
def test_the_final_newline_of_the_original_is_kept(before, after, kept):
    file = Source.from_bytes("a.py", before.encode())
    assert spliced(file, whole(file), after) == kept


def test_newline_style_and_bom_survive():
    data = b"\xef\xbb\xbf" + CODE.replace("\n", "\r\n").encode()
    job = plan_edit(Source.from_bytes("a.py", data), "x", Settings())
    edit = perform(job, Scripted(CODE.replace("1", "9") + "```"), Settings())
    assert isinstance(edit, Edit)
    assert edit.after == data.replace(b"1", b"9")


def test_compare_measures_a_second_run_without_drafts():
    edit = edited(CODE.replace("2", "3") + "```", compare=True, audit=True)
    assert edit.compared is not None
    assert edit.compared.identical
    assert edit.compared.digests_equal
    assert edit.compared.passes == edit.figures.completion > edit.figures.passes


def test_special_tokens_in_a_file_are_text():
    text = "x = '<|im_end|>'\n"
    edit = edited(text.replace("x", "y") + "```", text=text)
    assert edit.after == b"y = '<|im_end|>'\n"


class TestTooLong:
    LONG = CODE + "\n\n" + "\n".join(f"x{n} = {n}" for n in range(300)) + "\n"
    WINDOW = 2500

    def run(self, instruction: str, answer: str) -> Edit:
        job = plan_edit(Source.from_bytes("a.py", self.LONG.encode()), instruction, Settings())
        edit = perform(job, Scripted(answer, self.WINDOW), Settings())
        assert isinstance(edit, Edit)
        return edit

    @pytest.mark.parametrize("prediction", [None, "x", "x" * 9000], ids=["none", "short", "long"])
    def test_guarantee_1_what_fits_does_not_depend_on_the_prediction(self, prediction):
        job = plan_edit(
            Source.from_bytes("a.py", self.LONG.encode()), "Let two() return 5", Settings()
        )
        plan = replace(job.plan, prediction=prediction)
        with pytest.raises(TooLong):
            events(Scripted("```", self.WINDOW), plan)
        answer = Scripted("y\n```", 4 * self.WINDOW).run(plan, Progress())
        assert answer.text == "y\n"

    def test_a_symbol_the_instruction_names_is_edited_alone(self):
        edit = self.run("Let two() return 5", "def two():\n    return 5\n```")
        assert edit.after.decode() == self.LONG.replace("return 2\n", "return 5\n", 1)
        assert any("two" in note for note in edit.notes)

    def test_otherwise_the_error_says_which_symbols_there_are(self):
        (problem,) = self.run("Make it better", "```").problems
        assert "one, two" in problem and str(self.WINDOW) in problem
