"""`specedit doctor`: what works here, and what to do where it does not; and `--version -v`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from case_files import rows
from command_line import Specedit

from specedit.models import catalogue, store

KEYS = {"topic", "text", "advice", "state"}


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home without editors, and a current folder without settings."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def diagnosed(inside: Specedit, **options: Any) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """The exit code, and the lines by topic."""
    done = inside("doctor", "--json", **options)
    assert done.stderr == b"" and b"\x1b" not in done.stdout
    value = json.loads(done.stdout)
    assert value["works"] == (done.returncode == 0)
    topics: dict[str, list[dict[str, str]]] = {}
    for line in value["lines"]:
        assert set(line) == KEYS and (line["state"] == "ok") == (not line["advice"])
        topics.setdefault(line["topic"], []).append(line)
    return done.returncode, topics


def test_a_new_machine_is_told_to_fetch_a_model(inside):
    code, topics = diagnosed(inside)
    assert code == 0
    (model,) = topics["model"]
    assert model["state"] == "note" and "specedit model pull" in model["advice"]
    everywhere = {"version", "processor", "threads", "kernel", "memory", "disk", "server", "git"}
    assert {*everywhere, "editors", "settings", "trust"} <= topics.keys()
    text = inside("doctor").stdout.decode()
    changing = ("memory", "disk")  # between two calls
    steady = [lines for topic, lines in topics.items() if topic not in changing]
    assert all(line["text"] in text for lines in steady for line in lines)


@rows("variables topic message")
def test_what_stops_edits_is_exit_code_2(inside, variables, topic, message):
    code, topics = diagnosed(inside, env=variables)
    assert code == 2
    (line,) = topics[topic]
    assert line["state"] == "stops" and message in line["text"] and line["advice"]
    assert len(topics) > 6, "the other parts are shown too"


def test_a_full_disk_stops_edits(inside, monkeypatch):
    monkeypatch.setattr(store, "free", lambda path: 10**9)
    code, topics = diagnosed(inside)
    assert code == 2 and "1.00 GB free" in topics["disk"][0]["text"]


def test_ignored_restricted_settings_are_a_note(inside, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.specedit]\nmodel = "other"\n')
    code, topics = diagnosed(inside)
    (line,) = topics["trust"]
    assert code == 0 and line["state"] == "note" and "specedit trust" in line["text"]


def test_an_editors_snippet_of_another_version_is_noted(inside, tmp_path):
    assert inside("editor", "vim", "--install").returncode == 0
    assert diagnosed(inside)[1]["editors"][0]["state"] == "ok"
    snippet = tmp_path / ".vim/plugin/specedit.vim"
    snippet.write_text(snippet.read_text() + '" mine\n')
    (line,) = diagnosed(inside)[1]["editors"]
    assert line["state"] == "note" and "specedit editor vim" in line["advice"]


def test_a_named_server_needs_neither_kernel_nor_model(inside):
    env = {"SPECEDIT_SERVER": "https://example.org/v1", "SPECEDIT_KERNEL": "avx9"}
    code, topics = diagnosed(inside, env=env)
    assert code == 0 and "example.org" in topics["server"][0]["text"]
    assert not {"kernel", "model"} & topics.keys()


def test_version_v_names_kernel_and_model(inside):
    assert len(inside("--version").stdout.splitlines()) == 1
    for words in (("--version", "-v"), ("-v", "--version")):
        lines = inside(*words).stdout.decode().splitlines()
        assert [line.split()[0] for line in lines] == ["specedit", "kernel", "model"]


def test_guarantee_7_doctor_loads_no_torch():
    code = (
        "import sys; from specedit import cli; cli.run(['doctor']);"
        "print([m for m in ('torch','transformers','tree_sitter','uvicorn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


@rows("memory weights text advice")
def test_the_memory_is_that_of_the_weights_in_use(
    memory, weights, text, advice, inside, monkeypatch
):
    machine = catalogue.Machine(int(memory), 8)
    monkeypatch.setattr(catalogue, "this_machine", lambda cores: machine)
    settings = {"SPECEDIT_MODEL": "qwen2.5-coder-7b", "SPECEDIT_WEIGHTS": weights}
    _, topics = diagnosed(inside, env=settings)
    (fact,) = topics["memory"]
    assert text in fact["text"] and fact["advice"] == advice
