"""What the model is asked in a rename: mentions that syntax cannot decide, and nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from case_files import cases
from command_line import Specedit
from hypothesis import given
from hypothesis import strategies as st
from one_edit import shown_in
from renaming import MARK, MAX_SHOWN_CHARACTERS, Tree, planned

from specedit.edit.job import Job
from specedit.errors import RefusedEdit
from specedit.files.source import read
from specedit.settings import Settings

BEFORE = """\
class User:
    # the user's login name, not the username of the host
    username = ""

    def show(self):
        return self.username.title()
"""
AFTER = BEFORE.replace("username", "email")
KEPT = AFTER.replace("not the email of", "not the username of")


@pytest.fixture(autouse=True)
def _model_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTS_SCRIPT", "unused")


def plan(text: str, old: str = "username", new: str = "email", **chosen: object) -> Job:
    job = planned(text, old, new, **chosen)
    assert isinstance(job, Job)
    return job


def answered(answer: str, text: str = BEFORE) -> tuple[str, list[str]]:
    """The text after an answer of the model, and the kinds of its findings."""
    checked = plan(text).check(answer)
    return checked.text, [one.kind for one in checked.findings]


def test_the_model_may_keep_a_mention():
    text, kinds = answered(KEPT)
    assert (text, kinds) == (KEPT, ["disagreed"])


@pytest.mark.parametrize(
    "answer",
    [
        AFTER,
        AFTER.replace(".title()", ".upper()"),
        AFTER.replace("self.email", "self.username"),
        "",
        "garbage",
        BEFORE[:40],
        BEFORE * 2,
        BEFORE,
    ],
    ids=["as predicted", "more", "less", "empty", "other", "cut", "twice", "as it was"],
)
def test_nothing_else_of_an_answer_counts(answer):
    assert answered(answer) == (AFTER, [])


@given(st.integers(0, len(AFTER)), st.integers(0, 12), st.text("ax .\n#(", max_size=6))
def test_code_is_renamed_whatever_the_model_writes(at, gone, put):
    text, _ = answered(AFTER[:at] + put + AFTER[at + gone :])
    assert text in (AFTER, KEPT)


def test_an_article_stays_with_its_mention():
    text = 'x = User()\nx.username = "a"\n# Give it a username\n# and a username of yours\n'
    after = text.replace("a username", "an email").replace("username", "email")
    kept = after.replace("and an email", "and a username")
    assert answered(after, text)[0] == after
    assert answered(kept, text)[0] == kept


@cases("rename/rename.toml", "references")
def test_a_reference_to_code_is_renamed_without_a_question(mention):
    text = f"class User:\n    username = 1  # {mention}\n"
    assert plan(text).known == text.replace("username", "email")


@cases("rename/rename.toml", "prose")
def test_without_a_model_only_clear_mentions_are_renamed(marked, old, line, language):
    path = {"go": "a.go", "java": "A.java"}.get(language, "a.py")
    name, text = MARK.findall(marked)[0], MARK.sub(r"\1", marked.lstrip())
    job = planned(text, old or name, "other", path, line=line, no_model=True)
    assert isinstance(job, Job)
    assert job.known == MARK.sub("other", marked.lstrip())
    assert all(finding.kind != "undecided" for finding in job.findings)


def test_mentions_that_stay_are_counted_and_leave_the_rename_complete(specedit, tmp_path):
    file = tmp_path / "a.py"
    file.write_text("def style(): ...  # a style, the styles\n\n\n# `style`\n")
    done = specedit("rename", "style", "paint", file, "--no-model")
    assert done.returncode == 0 and b"left: 2 mentions in prose" in done.stderr
    assert file.read_text() == "def paint(): ...  # a style, the styles\n\n\n# `paint`\n"
    file.write_text("def style(): ...  # a style, the styles\n")
    done = specedit("rename", "style", "paint", file, "--no-model", "--json")
    (edit,) = json.loads(done.stdout)["files"]
    assert done.returncode == 0 and (edit["mentions_left"], edit["left"]) == (2, [])


def test_a_name_of_several_words_is_no_english_word():
    job = plan("user_name = 1  # sets user_name at once\n", "user_name", "login")
    assert job.known == "login = 1  # sets login at once\n"
    assert plan("user_name = 1  # the user name\n", "user_name", "login").known is None


@pytest.mark.parametrize("scope", ["code", "comments", "derived"])
def test_strings_and_derived_names_are_asked_about_where_the_scope_includes_them(scope):
    job = plan('username = "your username"\n_username = 1\n', scope=scope)
    assert (job.known is None) is (scope == "derived")


def test_without_a_model_mentions_stay_that_may_be_ordinary_language(tmp_path, monkeypatch):
    monkeypatch.delenv("TESTS_SCRIPT")
    monkeypatch.setenv("SPECEDIT_HOME", str(tmp_path))
    for chosen, reason in (
        ({"no_model": True}, "--no-model"),
        ({"engine": "auto", "server": "off"}, "specedit model pull"),
    ):
        job = plan(BEFORE, **chosen)  # type: ignore[arg-type]
        assert job.known == AFTER.replace("the email of", "the username of")
        (finding,) = [one for one in job.findings if one.kind == "prose"]
        assert reason in finding.text and [spot.line for spot in finding.places] == [2]
    assert plan(BEFORE, no_model=True, scope="derived").known == AFTER


def long(fillers: int = 240) -> str:
    """A class whose field is used far apart, and a comment about it."""
    filler = "".join(
        f"def filler_{n}(a, b):\n    total = a + b * {n}\n    return total\n\n\n"
        for n in range(fillers)
    )
    return (
        f"class User:\n    def __init__(self, name):\n        self.username = name\n\n\n{filler}"
        "class Page:\n    def show(self, user: User):\n"
        f"        # the username, large\n        return user.username.upper()\n\n\n{filler}"
    )


@pytest.fixture
def renamed(script: Callable[..., Path], specedit: Specedit, tmp_path: Path) -> Any:
    """The file after a rename by a model that makes these replacements, what the report says of
    it, and what the model was shown."""

    def rename(text: str, *pairs: tuple[str, str]) -> tuple[str, dict[str, Any], list[str]]:
        path, prompts = tmp_path / "a.py", tmp_path / "prompts"
        path.write_text(text)
        prompts.write_text("")
        script(replace=pairs, prompts=str(prompts), words=True)
        done = specedit("rename", "username", "email", "a.py", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
        (file,) = json.loads(done.stdout)["files"]
        read = map(json.loads, prompts.read_text().splitlines())
        return path.read_text(), file, [shown_in(prompt) for prompt in read]

    return rename


def test_a_window_around_the_mention_is_shown_and_all_of_the_file_is_renamed(renamed):
    text, file, (shown,) = renamed(long(), ("username", "email"))
    assert text == long().replace("username", "email")
    assert "# the username, large" in shown and len(shown) < 1000
    assert file["passes"] <= 3
    kept, *_ = renamed(long(), ("user.username", "user.email"))
    assert kept.count("username") == 1


def test_what_does_not_fit_into_one_question_stays(renamed):
    text = "".join(
        f"# the username of {n}{' x' * 40}\n\n\n\n\n\n\n\nx{n} = 1\n" for n in range(200)
    )
    text, file, (shown,) = renamed(text + "username = 1\n", ("username", "email"))
    assert len(shown) < MAX_SHOWN_CHARACTERS + 1000
    assert text.count("username") == file["mentions_left"] == 200 - shown.count("username of")


def test_the_files_of_one_rename_share_what_the_model_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"a{n}.py" for n in range(9)]
    for name in names:
        Path(name).write_text("username = 1\n" + f"# your username{' x' * 200}\n")
    settings = Settings()
    tree = Tree.of_files(names)
    result = tree.rename(names, "username", "email", settings)
    jobs = [tree.plan(result, read(Path(name)), settings) for name in names]
    asked = [one.about for one in jobs if isinstance(one, Job) and one.about is not one.source]
    shown = [len(about.text) for about in asked]
    assert shown and sum(shown) <= MAX_SHOWN_CHARACTERS
    assert len(shown) < len(names)


def test_a_file_without_undecided_mentions_asks_nothing(renamed):
    text, _, shown = renamed("username = 1\nprint(username)  # see `username`\n")
    assert (text, shown) == ("email = 1\nprint(email)  # see `email`\n", [])


USER = (
    "class User:\n"
    '    """Somebody, by username."""\n\n'
    "    def __init__(self, username):\n"
    "        self.username = username\n"
    "        self.age = 0\n"
)
RENAMED = USER.replace("username", "email")


def test_the_model_reads_the_original_and_expects_the_renamed():
    job = plan(USER)
    assert USER in job.plan.messages[-1].content
    assert job.plan.prediction == RENAMED


def test_what_a_rename_is_unsure_of_names_its_lines():
    job = plan(USER, scope="code")
    found = {one.kind: [at.line for at in one.places] for one in job.findings}
    assert found == {"unsure": [4, 5], "left": [2]}
    assert all(one.warns and not one.refuses for one in job.findings)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "user.py"
    place.write_text(USER)
    return place


def test_a_model_that_goes_on_and_on_is_stopped_and_the_rule_decides(script, specedit, file):
    script(answer="x = 1\n" * 5000)
    done = specedit("rename", "username", "email", file, "--json")
    (edit,) = json.loads(done.stdout)["files"]
    assert done.returncode == 0 and file.read_text() == RENAMED
    assert edit["tokens"]["completion"] < 1.2 * edit["tokens"]["prompt"] + 128


def test_a_taken_name_is_refused_with_its_line():
    wanted = ("class A {\n  int one;\n  int two;\n}\n", "one", "two", "A.java")
    with pytest.raises(RefusedEdit, match="line 3"):
        planned(*wanted)
    assert isinstance(planned(*wanted, allow="existing-name"), Job)


@pytest.mark.parametrize("flags", [["--no-model"], ["--scope", "code"]], ids=" ".join)
def test_no_model_is_loaded_where_there_is_nothing_to_ask(specedit, script, file, flags):
    calls = script(replace=[])
    done = specedit("rename", "username", "email", file, *flags, "--json")
    assert done.returncode == 0 and not calls.exists()
    assert "self.email = email" in file.read_text()
    assert json.loads(done.stdout)["model"] is None


def test_a_test_command_judges_a_rename_without_a_model_once(specedit, script, file):
    calls = script(replace=[])
    words = ("rename", "username", "email", file, "--no-model")
    done = specedit(*words, "--test", "false", cwd=file.parent)
    assert done.returncode == 2 and file.read_text() == USER and b"1" in done.stderr
    assert specedit(*words, "--test", "true", cwd=file.parent).returncode == 0
    assert "self.email = email" in file.read_text() and not calls.exists()


def test_without_the_name_no_model_is_asked(specedit, script, tmp_path):
    calls = script(replace=[])
    one, two = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("x = 1\n")
    two.write_text("y = 1\n")
    done = specedit("rename", "username", "email", one, two)
    assert done.returncode == 0
    assert not calls.exists()
