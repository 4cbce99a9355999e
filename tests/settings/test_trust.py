"""What a repository may choose: open settings always, restricted ones only if it is trusted."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from case_files import rows
from endpoint import Endpoint, listening, stream
from git_repository import Repository, environment

from specedit.cli import run
from specedit.connect import connect
from specedit.errors import ModelError, UsageError
from specedit.integrations.hook.hook_rules import CleanFiles, Step
from specedit.models import resolve as models
from specedit.server.runtime import identity
from specedit.settings import Settings, layers, names, resolve
from specedit.settings.layers import user_file
from specedit.settings.table import entries, is_restricted

TEXT = "old = 1\n"
Play = Callable[..., Path]


@dataclass
class Cloned:
    """A repository that somebody else made, and the command line in it."""

    root: Path
    stranger: Endpoint
    capture: pytest.CaptureFixture[str]

    def says(self, **table: object) -> None:
        lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
        (self.root / "pyproject.toml").write_text("\n".join(["[tool.specedit]", *lines, ""]))

    def run(self, *words: str) -> tuple[int, str, str]:
        self.capture.readouterr()
        code = run(words)
        sys.stdout.flush()
        return code, *self.capture.readouterr()


@pytest.fixture
def cloned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Play, capfd: pytest.CaptureFixture[str]
) -> Iterator[Cloned]:
    """The scripted engine is the user's; a stranger listens."""
    script(replace=[["old", "new"]])
    monkeypatch.delenv("SPECEDIT_SERVER")
    monkeypatch.setenv("SPECEDIT_RUNTIME", str(tmp_path / "runtime"))
    monkeypatch.setenv("SPECEDIT_API_KEY", "the key")
    root = tmp_path / "clone"
    Repository.init(root)
    (root / "a.py").write_text(TEXT)
    (tmp_path / "secret").write_text("the secret\n")
    monkeypatch.chdir(root)
    with listening() as stranger:
        stranger.answer = stream("```\nstolen = 1\n", "```")
        yield Cloned(root, stranger, capfd)


def tastes() -> list[str]:
    return [name for name in names() if not is_restricted(name)]


def test_open_settings_are_listed_here_and_all_others_are_restricted():
    assert tastes() == [
        *("threads", "draft", "max_tokens", "sampling", "seed", "scope"),
        *("no_model", "sure", "tries", "test_timeout", "focus", "verbose", "hook"),
    ]
    assert {entries()[name]["kind"] for name in names()} == {"open", "restricted"}


@rows("words")
def test_guarantee_10_nothing_a_repository_says_picks_an_address_a_path_or_a_model(
    cloned, monkeypatch, words
):
    model = cloned.root / "m"
    model.mkdir()
    (model / "config.json").write_text("{}")
    if hasattr(os, "mkfifo"):
        os.mkfifo(model / "model.safetensors")  # who opens it, waits for ever
    messages = {
        "server": cloned.stranger.url,
        "profile": "plain",
        "prediction": "../secret",
        "model": "./m",
        "quiet": True,
        "warm": True,
        "test": "touch ../ran",
    }
    cloned.says(**messages)
    with (cloned.root / "pyproject.toml").open("a") as file:
        file.write('[[tool.specedit.hook]]\nrename = {old = "new"}\n')
    Repository(cloned.root, environment()).git("add", "-A")
    if words[0] == "warm":  # else it starts a server, which is what it is for
        monkeypatch.setenv("SPECEDIT_RUNTIME", "/dev/null/nowhere")
    code, out, err = cloned.run(*words)
    assert cloned.stranger.requests == []
    assert not (cloned.root.parent / "ran").exists()
    lines = [line for line in err.splitlines() if "ignored" in line]
    assert len(lines) == 1
    assert f"{', '.join(messages)} ignored" in lines[0]
    assert f"(specedit trust {cloned.root})" in lines[0]
    assert "stolen" not in (cloned.root / "a.py").read_text() + out
    if words[0] in ("edit", "rename") and "-" not in words:
        assert code == 0
    if words[0] == "hook":
        assert "new" in (cloned.root / "a.py").read_text(), "an open setting applies"
    record = cloned.root.parent / "runtime" / "server.json"
    assert not record.exists(), "a repository starts no server"


INVALID = {
    "no choice": ("profile", "fast"),
    "a number": ("model", 1),
    "a list": ("server", ["http://stranger"]),
    "a table": ("test", {"a": 1}),
    "zero byte": ("draft_model", "a\0b"),
    "long": ("draft_model", "x" * 10_000),
}


@pytest.mark.parametrize(("name", "value"), INVALID.values(), ids=INVALID)
def test_guarantee_10_an_invalid_restricted_value_is_ignored_until_the_repository_is_trusted(
    cloned, name, value
):
    text = json.dumps(value)
    text = text if not isinstance(value, dict) else "{a = 1}"
    (cloned.root / "pyproject.toml").write_text(f"[tool.specedit]\n{name} = {text}\n")
    code, _, err = cloned.run("edit", "old to new", "a.py")
    assert code == 0 and "new" in (cloned.root / "a.py").read_text()
    (line,) = [line for line in err.splitlines() if "ignored" in line]
    assert f": {name} ignored: this repository is not trusted" in line
    code, _, err = cloned.run("trust")
    assert code == 0 and "(not valid)" in err
    code, _, err = cloned.run("edit", "old to new", "a.py")
    assert code == 2 and name in err


def test_taste_counts_at_once_and_says_nothing(cloned):
    cloned.says(scope="code", threads=3)
    code, out, err = cloned.run("config", "threads", "--json")
    assert (code, json.loads(out)["threads"]["value"], err) == (0, 3, "")


def test_a_trusted_repository_is_believed_until_it_says_something_else(cloned):
    cloned.says(server=cloned.stranger.url, profile="plain")
    code, _, err = cloned.run("trust")
    assert code == 0 and cloned.stranger.url in err and "no key" in err
    assert cloned.run("edit", "x", "a.py")[0] == 0
    assert len(cloned.stranger.requests) == 1
    assert (cloned.root / "a.py").read_text() == "stolen = 1\n"
    cloned.says(server=cloned.stranger.url + "/other", profile="plain")
    _, _, err = cloned.run("edit", "x", "a.py")
    assert "server, profile ignored: this repository has changed since you trusted it" in err
    assert len(cloned.stranger.requests) == 1


def test_trust_is_of_a_place_and_a_table_however_it_is_laid_out(cloned):
    cloned.says(quiet=True, threads=2)
    cloned.run("trust", str(cloned.root / "a.py"))
    assert resolve().values.quiet
    (cloned.root / "pyproject.toml").write_text(
        "# a comment\n[tool.specedit]\nthreads = 2\nquiet = true\n[tool.other]\nx = 1\n"
    )
    assert resolve().values.quiet
    link = cloned.root.parent / "link"
    link.symlink_to(cloned.root)
    assert resolve(start=link).values.quiet
    elsewhere = cloned.root.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pyproject.toml").write_bytes((cloned.root / "pyproject.toml").read_bytes())
    assert resolve(start=elsewhere).ignored == ("quiet",)


def test_trust_list_and_forget(cloned):
    assert cloned.run("trust", "--list")[1] == ""
    cloned.says(quiet=True)
    cloned.run("trust")
    assert cloned.run("trust", "--list")[1] == f"{cloned.root}\ttrusted\n"
    cloned.says(quiet=False)
    assert cloned.run("trust", "--list")[1] == f"{cloned.root}\ttrusted, changed since\n"
    (cloned.root / "pyproject.toml").unlink()
    assert cloned.run("trust", "--list")[1] == f"{cloned.root}\ttrusted, gone\n"
    assert "forgotten" in cloned.run("trust", "--forget")[2]
    assert cloned.run("trust", "--list")[1] == ""
    assert "was not trusted" in cloned.run("trust", "--forget")[2]
    cloned.says(threads=1)
    assert "no restricted settings" in cloned.run("trust")[2]
    assert cloned.run("trust", "nowhere")[0] == 2


@pytest.mark.skipif(os.name != "posix", reason="modes and owners")
@pytest.mark.parametrize("spoil", ["group may write", "no JSON", "odd JSON", "too deep"])
def test_a_record_that_anybody_may_have_written_counts_for_nothing(cloned, spoil):
    cloned.says(quiet=True)
    cloned.run("trust")
    assert resolve().values.quiet
    record = layers.trusted_file()
    assert record.stat().st_mode & 0o777 == 0o600
    if spoil == "group may write":
        record.chmod(0o660)
    else:
        record.write_text({"no JSON": "{", "odd JSON": "[1]", "too deep": "[" * 100_000}[spoil])
    assert resolve().ignored == ("quiet",)
    cloned.run("trust")
    assert resolve().values.quiet


def test_only_the_users_own_quiet_keeps_the_line_back(cloned):
    cloned.says(server=cloned.stranger.url, quiet=True)
    assert "server, quiet ignored" in cloned.run("edit", "x", "a.py")[2]
    assert "ignored" not in cloned.run("edit", "x", "a.py", "-q")[2]


def test_what_the_user_says_too_is_not_said_to_be_ignored(cloned):
    cloned.says(server=cloned.stranger.url)
    assert "ignored" not in cloned.run("edit", "x", "a.py", "--server", "off")[2]


def test_the_python_api_goes_through_the_same_door(cloned):
    from specedit import Editor

    cloned.says(server=cloned.stranger.url)
    with pytest.warns(UserWarning, match="server ignored"), Editor() as editor:
        assert editor.settings.server == "auto"


# --- keys


def test_a_key_goes_only_to_a_server_that_the_user_named(cloned, monkeypatch):
    def key_sent() -> str | None:
        assert cloned.run("edit", "x", "a.py")[0] in (0, 1)  # the second changes nothing
        return cloned.stranger.headers[-1].get("authorization")

    cloned.says(server=cloned.stranger.url, profile="plain")
    cloned.run("trust")
    assert key_sent() is None
    cloned.stranger.status = 401
    assert "gets no key" in cloned.run("edit", "x", "a.py")[2]
    cloned.stranger.status = 200
    monkeypatch.setenv("SPECEDIT_SERVER", cloned.stranger.url)
    assert key_sent() == "Bearer the key"
    monkeypatch.delenv("SPECEDIT_SERVER")
    cloned.says(profile="plain")
    cloned.run("trust")
    assert cloned.run("config", "--user", f"server={cloned.stranger.url}")[0] == 0
    assert key_sent() == "Bearer the key"


def test_a_key_that_is_no_header_is_refused(monkeypatch):
    monkeypatch.setenv("SPECEDIT_API_KEY", "k\r\nX: y")
    with pytest.raises(UsageError, match="key"):
        connect(Settings(server="http://127.0.0.1:1"))


# --- paths


@pytest.mark.parametrize(
    "value",
    ["../x", "/etc/x", "~/x", "sub/../../x", "out/secret", "link", ".git/hooks/x", "sub/.GIT/x"],
)
@pytest.mark.parametrize("name", ["prediction", "model", "draft_model"])
def test_a_path_that_a_trusted_repository_gives_stays_inside_it(cloned, name, value):
    (cloned.root / "out").symlink_to(cloned.root.parent)
    (cloned.root / "link").symlink_to(cloned.root.parent / "secret")
    (cloned.root / "sub").mkdir()
    cloned.says(**{name: value})
    cloned.run("trust")
    with pytest.raises(UsageError, match="outside the repository"):
        resolve()


def test_a_path_inside_counts_from_the_repository_and_not_from_here(cloned, monkeypatch):
    sub = cloned.root / "sub"
    sub.mkdir()
    cloned.says(prediction="runs/t.py", model="./m", draft_model="./d")
    cloned.run("trust")
    monkeypatch.chdir(sub)
    result = resolve().values
    assert result.prediction == str(cloned.root / "runs" / "t.py")
    assert result.model == str(cloned.root / "m")
    assert result.draft_model == str(cloned.root / "d")


@pytest.mark.parametrize("name", [Settings().model, "owner/name"])
def test_a_folder_by_a_models_name_is_not_that_model(cloned, name):
    before = identity(Settings(model=name))
    (cloned.root / name).mkdir(parents=True)
    assert identity(Settings(model=name)) == before
    if "/" in name:
        with pytest.raises(ModelError, match=f"write ./{name}"):
            models.resolve(name)


@pytest.mark.parametrize("setting", ["model", "draft_model"])
@pytest.mark.parametrize("place", ["m.gguf", "m-00002-of-00002.gguf", "m/model.safetensors"])
def test_a_model_that_was_replaced_at_its_path_is_another(tmp_path, setting, place):
    file = tmp_path / place
    for written in {file, tmp_path / "m-00001-of-00002.gguf"}:
        written.parent.mkdir(exist_ok=True)
        written.write_bytes(b"old")
    settings = Settings(**{setting: str(file.parent if "/" in place else file)})
    before, clean = identity(settings), CleanFiles(tmp_path, settings)
    assert identity(settings) == before
    file.write_bytes(b"other")
    assert identity(settings) != before
    keys = {each.key("1", "a.py", Step("x")) for each in (clean, CleanFiles(tmp_path, settings))}
    assert len(keys) == 1 + (setting == "model"), "drafts do not change what the hook knows"


# --- the user's own file


def test_the_users_file_is_set_shown_and_taken_back(cloned):
    path = user_file()
    assert cloned.run("config", "--user")[1] == f"# {path}\n"
    path.write_text("# mine\nthreads = 1 # few\nserver = 'off'\n")
    assert cloned.run("config", "--user", "threads=2")[0] == 0
    assert cloned.run("config", "--user", "max-tokens=1_000")[0] == 0
    assert path.read_text() == "# mine\nthreads = 2\nserver = 'off'\nmax_tokens = 1000\n"
    assert cloned.run("config", "--user", "threads")[1] == "2\n"
    assert cloned.run("config", "--user", "--unset", "server")[0] == 0
    shown = cloned.run("config", "--user")[1]
    assert shown == f"# {path}\n# mine\nthreads = 2\nmax_tokens = 1000\n"
    assert json.loads(cloned.run("config", "--user", "--json")[1]) == {
        "path": str(path),
        "values": {"threads": 2, "max_tokens": 1000},
    }


@rows("before words says")
def test_what_cannot_be_the_users_setting_is_reported_and_changes_nothing(
    cloned, before, words, says
):
    user_file().write_text(before)
    code, _, err = cloned.run("config", *words)
    assert code == 2 and says in err
    assert user_file().read_text() == before


def test_flag_over_variable_over_repository_over_users_file(cloned, monkeypatch):
    user_file().write_text("max_tokens = 1\nserver = 'off'\ntemperature = 0.5\nseed = 1\n")
    cloned.says(max_tokens=2, server="http://stranger", seed=2)
    result = resolve({"seed": 4}, environ={"SPECEDIT_SEED": "3", "SPECEDIT_TRIES": "3"})
    values = result.values
    assert (values.max_tokens, values.server, values.temperature) == (2, "off", 0.5)
    assert (values.seed, values.tries) == (4, 3)
    assert result.values.origins["server"] == str(user_file())
    assert result.values.origins["max_tokens"] == str(cloned.root / "pyproject.toml")
    cloned.run("trust")
    assert resolve().values.server == "http://stranger"


@pytest.mark.parametrize("users", [0.2, 0.9])
def test_a_repository_raises_the_limit_of_the_user_and_never_lowers_it(cloned, users):
    user_file().write_text(f"sure = {users}\n")
    cloned.says(sure=0.5)
    assert resolve().values.sure == max(users, 0.5)
    assert resolve({"sure": 0.1}).values.sure == 0.1


def test_a_home_in_the_users_file_is_that_home(cloned, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    user_file().write_text("model = '~/models/m.gguf'\ndraft_model = '~/d.gguf'\n")
    assert resolve().values.model == "/home/me/models/m.gguf"
    assert resolve().values.draft_model == "/home/me/d.gguf"


# --- code that lies in the repository


def test_modules_in_the_current_folder_are_not_ours(cloned):
    """`python -m specedit`, as a person may type it; the hook is asked in its own test."""
    import subprocess

    for name in ("typer", "rich", "tomllib", "platformdirs"):
        (cloned.root / f"{name}.py").write_text(f"open('{name}-was-run', 'w')\n")
    subprocess.run([sys.executable, "-m", "specedit", "edit", "x", "a.py", "--diff"], check=True)
    assert list(cloned.root.glob("*-was-run")) == []
