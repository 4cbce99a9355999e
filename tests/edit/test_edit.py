"""An answer becomes an edit, or says why it must not; and which failures stop what."""

import json
import os
import stat
import time
from pathlib import Path

import pytest
from case_files import rows
from one_edit import edit

CODE = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
BROKEN = "def one(:\n    return 1\n"


def test_a_copied_file_is_unchanged():
    edited = edit("Change two", CODE)
    assert (edited.code, edited.text) == (1, CODE)
    assert (edited.file["status"], edited.file["diff"]) == ("unchanged", "")


def test_a_changed_file_says_where():
    edited = edit("Change two", CODE, answer=CODE.replace("return 2", "return 22"))
    assert (edited.code, edited.text) == (0, CODE.replace("return 2", "return 22"))
    assert [edited.file[key] for key in ("added", "removed", "hunks")] == [1, 1, 1]
    assert "+    return 22" in edited.file["diff"]


def test_the_books_balance():
    file = edit("Change two", CODE, answer=CODE.replace("2", "3"), words=False).file
    accepted = sum(draft["accepted"] for draft in file["drafts"].values())
    assert file["tokens"]["completion"] in (
        file["passes"] + accepted,
        file["passes"] + accepted - 1,
    )
    assert file["tokens"]["completion"] == len(CODE) + len("```") + 1


@pytest.mark.parametrize(
    ("answer", "says", "places"),
    [
        (BROKEN, "parse", [1]),
        ("def one():\n    return 1\n\n\n# ... existing code ...\n", "placeholder", [5]),
        ("def two():\n    return 3\n", "one", []),
        ("", "empty", []),
    ],
    ids=["does not parse", "a placeholder", "a lost definition", "nothing left"],
)
def test_a_bad_answer_is_refused_and_kept(answer, says, places):
    edited = edit("Change two", CODE, answer=answer)
    assert (edited.code, edited.text, edited.file["status"]) == (2, CODE, "refused")
    assert says in " ".join(edited.file["problems"])
    (finding, *_) = (
        one for one in edited.file["findings"] if one["text"] in edited.file["problems"]
    )
    assert [place["line"] for place in finding["places"]] == places or not places
    kept = Path(edited.file["kept"])
    assert kept.read_text() == answer
    assert kept.is_relative_to(os.environ["SPECEDIT_HOME"])
    assert os.name == "nt" or stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_the_newest_refused_answers_are_kept_for_a_week():
    def refused() -> Path:
        return Path(edit("Change two", CODE, answer=BROKEN).file["kept"])

    week_ago = time.time() - 8 * 24 * 3600
    kept = [refused() for _ in range(3)]
    os.utime(kept[0], (week_ago, week_ago))
    kept += [refused() for _ in range(19)]
    assert [path.exists() for path in kept] == [False, False, *[True] * 20]
    os.utime(kept[-1], (week_ago, week_ago))
    assert edit("Change two", CODE, replace=[["2", "3"]]).code == 0, "a run that writes"
    assert not kept[-1].exists() and kept[-2].exists()


def test_a_store_that_cannot_be_written_only_loses_the_refused_answer():
    Path(os.environ["SPECEDIT_HOME"], "answers").write_text("in the way")
    edited = edit("Change two", CODE, answer=BROKEN)
    assert (edited.file["status"], edited.file["kept"]) == ("refused", None)


def test_allowing_removal_takes_a_lost_definition():
    only_two = "def two():\n    return 3\n"
    assert edit("Change two", CODE, "--allow", "removal", answer=only_two).text == only_two


def test_an_answer_cut_off_by_the_limit_is_never_a_file():
    edited = edit("Change two", CODE, "--max-tokens", "20", replace=[["2", "3"]])
    assert (edited.file["status"], edited.text) == ("refused", CODE)
    assert "20 tokens" in edited.file["problems"][0]


@rows("before answer after")
def test_what_the_original_has_is_kept(before, answer, after):
    assert edit("Change it", before, answer=answer).text == after


def test_compare_measures_a_second_run_without_drafts():
    edited = edit("Change two", CODE, "--compare", "--audit", replace=[["2", "3"]])
    compared = edited.file["compared"]
    assert compared["identical"] and compared["digests_equal"]
    assert compared["passes"] == edited.file["tokens"]["completion"] > edited.file["passes"]


LONG = CODE + "\n\n" + "\n".join(f"x{n} = {n}" for n in range(300)) + "\n"
WINDOW = 2_500  # ids: of the prompt and the answer, a byte each


@pytest.mark.parametrize("prediction", ["none", "short", "long"])
def test_guarantee_1_what_fits_does_not_depend_on_the_prediction(tmp_path, prediction):
    lie = tmp_path / "lie"
    lie.write_text("x" * (9_000 if prediction == "long" else 1))
    flag = prediction if prediction == "none" else str(lie)
    for window, status in ((WINDOW, "failed"), (4 * WINDOW, "edited")):
        edited = edit(
            "Be better",
            LONG,
            "--prediction",
            flag,
            window=window,
            replace=[["return 2", "return 5"]],
        )
        assert edited.file["status"] == status


def test_of_a_file_beyond_the_window_the_error_says_which_symbols_there_are():
    edited = edit("Let two() return 5", LONG, "--focus", "off", window=WINDOW)
    (problem,) = edited.file["problems"]
    assert edited.code == 2 and "one, two" in problem and str(WINDOW) in problem


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("a = 1\n" + "x = 0\n" * 12 + "b = 2\n")
    return tmp_path


CHANGES = [["1", "8"], ["2", "9"]]


def test_of_several_files_the_user_chooses_hunks_until_they_quit(three, script, inside):
    script(replace=CHANGES)
    done = inside(
        *("edit", "Change the numbers", "a.py", "b.py", "c.py", "--ask"),
        stdin=b"y\nn\nn\nq\n",
    )
    assert done.returncode == 0
    before = (three / "c.py").read_text()
    assert (three / "a.py").read_text() == before.replace("1", "8")
    assert (three / "b.py").read_text() == before


def test_a_part_that_does_not_parse_is_refused(three, script, inside):
    before = "a = 1\n" + "# x\n" * 12 + "b = 2\n"
    (three / "a.py").write_text(before)
    script(replace=[["a = 1", "a = (1"], ["b = 2", ")\nb = 2"]])
    done = inside("edit", "Change the numbers", "a.py", "--ask", stdin=b"y\nn\n")
    assert done.returncode == 2 and (three / "a.py").read_text() == before
    assert b"a.py: refused" in done.stderr


def test_a_failure_of_one_file_does_not_stop_the_others(three, script, inside):
    script(replace=CHANGES)
    (three / "a.py").write_bytes(b"\0")
    (three / "b.py").write_text("a = 1\n# 2\n")
    script(answer="a = (\n```", then=[{"replace": CHANGES}])
    done = inside(
        *("edit", "Change the numbers", "a.py", "b.py", "c.py", "--json", "--tries", "1"),
    )
    files = json.loads(done.stdout)["files"]
    assert done.returncode == 2
    assert [file["status"] for file in files] == ["failed", "refused", "edited"]
    assert "binary" in files[0]["problems"][0], "the display adds the file's name"


def test_a_model_that_fails_ends_the_run(three, script, inside):
    script(nothing="to say")
    before = (three / "a.py").read_text()
    done = inside("edit", "Change the numbers", "a.py", "b.py")
    assert done.returncode == 2 and done.stderr.count(b"a script has an `answer`") == 1
    assert (three / "a.py").read_text() == (three / "b.py").read_text() == before


SUM = "def total(items):\n    return sum(items)\n"
BODY = "".join(
    f"    step({number})  # {'so long that it is asked about alone ' * 3}\n"
    for number in range(130)
)
FAR = f"def load():\n{BODY}\n\n{SUM}\n\ndef ship():\n{BODY}"


def test_an_answer_without_a_change_takes_the_second_choice():
    edited = edit("the largest", SUM, "--tries", "2", "--yes", second=[["sum", "max"]])
    assert edited.text == SUM.replace("sum", "max")
    assert "second-choice" in edited.kinds and len(edited.prompts) == 2
    assert [one["second_choice"] for one in edited.file["tries"]] == [False, True]


def test_a_second_choice_that_is_refused_leaves_the_file_unchanged():
    edited = edit("the largest", SUM, "--tries", "2", second=[["(items)", "("]])
    assert (edited.code, edited.text) == (1, SUM)
    assert edited.file["status"] == "unchanged" and len(edited.prompts) == 2


def test_of_several_regions_the_one_where_the_model_was_least_sure_is_asked_again():
    edited = edit(
        *("`total` and `ship`: the largest", FAR, "--tries", "2", "--yes"),
        places="total\nship",
        second=[["sum", "max"]],
        words=False,
    )
    assert edited.text == FAR.replace("sum", "max")
    asked = [prompt for prompt in edited.prompts if "Which parts" not in prompt]
    assert [("sum(" in prompt, "step(7)" in prompt) for prompt in asked] == [
        *[(True, False), (False, True), (True, False)]
    ]


def test_an_unnamed_loss_is_unsure_where_nothing_is_known_of_the_choices():
    edited = edit("Remove dead code", CODE, answer="def one():\n    return 1\n", margin=None)
    assert (edited.code, edited.text, edited.file["status"]) == (2, CODE, "refused")
    assert (edited.file["confidence"], edited.file["sure"]) == (None, False)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=repr)
def test_line_ends_are_the_files_and_not_the_answers(end):
    answer = CODE.replace("return 2", "return 22")
    edited = edit("Change two", CODE.replace("\n", end), answer=answer.replace("\n", "\r\n"))
    assert (edited.code, edited.text) == (0, answer.replace("\n", end))
    assert [edited.file[key] for key in ("added", "removed", "hunks")] == [1, 1, 1]
