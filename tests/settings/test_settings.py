"""Settings: flag beats variable beats file beats default, and every mistake is named."""

import math
from pathlib import Path

import pytest
from case_files import rows
from git_repository import Repository

from specedit.cli.options import restricted_lines
from specedit.errors import UsageError
from specedit.settings import Settings, layers, resolve


def project(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_nearest_pyproject_is_the_one(tmp_path):
    project(tmp_path, "[tool.specedit]\nthreads = 3\n")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert resolve(start=deep, environ={}).values.threads == 3
    project(deep, "[tool.other]\n")
    assert resolve(start=deep, environ={}).values.threads == Settings().threads


@rows("name text value")
def test_variables_have_types(tmp_path, name, text, value):
    found = resolve(start=tmp_path, environ={f"SPECEDIT_{name}": text})
    assert getattr(found.values, name.lower()) == value


@pytest.mark.parametrize(
    ("toml", "environ", "flags", "says"),
    [
        ("modle = 'x'", {}, {}, ["modle", "model"]),
        ("threads = 'two'", {}, {}, ["threads", "int"]),
        ("threads = true", {}, {}, ["threads"]),
        ("hook = 3", {}, {}, ["hook"]),
        ("x = [", {}, {}, ["pyproject.toml"]),
        ("", {"SPECEDIT_MODLE": "x"}, {}, ["SPECEDIT_MODLE", "SPECEDIT_MODEL"]),
        ("", {"SPECEDIT_WARM": "maybe"}, {}, ["SPECEDIT_WARM", "maybe"]),
        ("", {"SPECEDIT_THREADS": "many"}, {}, ["SPECEDIT_THREADS", "many"]),
        ("", {}, {"engine": "exakt"}, ["--engine", "exact"]),
        ("", {}, {"engine": "scripted"}, ["--engine", "auto, exact, huggingface"]),
        ("", {}, {"threads": -1}, ["--threads"]),
        ("trace = 'a'", {}, {}, ["trace"]),
        ("", {"SPECEDIT_COMPARE": "1"}, {}, ["SPECEDIT_COMPARE"]),
        ("", {}, {"temperature": math.inf}, ["--temperature", "finite"]),
        ("", {"SPECEDIT_TEMPERATURE": "nan"}, {}, ["SPECEDIT_TEMPERATURE", "finite"]),
        ("test_timeout = inf", {}, {}, ["pyproject.toml", "test_timeout", "finite"]),
        ("test_timeout = nan", {}, {}, ["pyproject.toml", "test_timeout", "finite"]),
        ("", {}, {"seed": 2**63}, ["--seed", "at most 9223372036854775807"]),
        (f"seed = {10**400}", {}, {}, ["seed", "at most"]),
        ("max-tokens = 1\nmax_tokens = 2", {}, {}, ["max_tokens", "twice"]),
        ("", {}, {"nonsense": 1}, ["nonsense"]),
    ],
)
def test_a_mistake_is_named_with_the_way_out(tmp_path, toml, environ, flags, says):
    project(tmp_path, f"[tool.specedit]\n{toml}\n")
    with pytest.raises(UsageError) as error:
        resolve(flags, start=tmp_path, environ=environ)
    assert all(word in str(error.value) for word in says), str(error.value)


RULE = "[tool.specedit.repeat.in-to-assertIn]\n"
STEP = '[[tool.specedit.hook]]\nrepeat = "in-to-assertIn"\n'


@pytest.mark.parametrize(
    ("words", "toml", "environ", "says"),
    [
        (["repeat", "--yes"], "", {}, b"specedit repeat was removed in 1.1: describe"),
        (["help", "repeat"], "", {}, b"specedit repeat was removed in 1.1"),
        (["config"], RULE, {}, b"pyproject.toml: [tool.specedit]: repeat was removed in 1.1"),
        (["hook", "run"], STEP, {}, b"[[tool.specedit.hook]] number 1: repeat was removed in 1.1"),
        (["config"], "", {"SPECEDIT_REPEAT": "x"}, b"SPECEDIT_REPEAT was removed in 1.1"),
        (["rename", "a", "b", "--repeat"], "", {}, b"--repeat was removed in 1.1"),
        (["ask", "why?", "a.py"], "", {}, b"specedit ask was removed in 1.1: ask the server"),
        (["heads", "list"], "", {}, b"specedit heads was removed in 1.1: use specedit model list"),
        (["vllm", "manifest", "image"], "", {}, b"manifest was removed in 1.1: run specedit vllm"),
        (["help", "--html", "d"], "", {}, b"--html was removed in 1.1: specedit help TOPIC shows"),
        (["config"], 'prompt-form = "zeta"\n', {}, b"prompt-form was removed in 1.1"),
        (["config"], "", {"SPECEDIT_PROMPT_FORM": "zeta"}, b"SPECEDIT_PROMPT_FORM was removed"),
        (["edit", "x", "a.py", "--prompt-form", "zeta"], "", {}, b"--prompt-form was removed"),
    ],
)
def test_what_was_removed_says_what_to_use_instead(specedit, tmp_path, words, toml, environ, says):
    table = toml if toml.startswith("[") or not toml else f"[tool.specedit]\n{toml}"
    Repository.init(tmp_path).write("pyproject.toml", table)
    done = specedit(*words, cwd=tmp_path, env=environ)
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr
    assert (b"ast-grep" in done.stderr) == (b"repeat" in says.lower())


@pytest.mark.parametrize("text", ["tool = 3", "tool = [1]", "[tool]\nspecedit = 3"])
def test_a_tool_that_is_no_table_is_said(tmp_path, text):
    with pytest.raises(UsageError, match="must be a table"):
        resolve(start=project(tmp_path, text), environ={})


def test_a_byte_order_mark_is_no_statement(tmp_path):
    project(tmp_path, "\ufeff[tool.specedit]\nthreads = 7\n")
    assert resolve(start=tmp_path, environ={}).values.threads == 7


def test_a_list_of_drafters_is_a_value_too(tmp_path):
    project(tmp_path, '[tool.specedit]\ndraft = ["lookup", "prediction"]\n')
    assert resolve(start=tmp_path, environ={}).values.draft == "lookup,prediction"


def test_places_and_secrets_are_no_settings(tmp_path):
    environ = {"SPECEDIT_HOME": "/x", "SPECEDIT_API_KEY": "k", "SPECEDIT_TOKEN": "t"}
    assert resolve(start=tmp_path, environ=environ).values == Settings()


def test_no_value_is_so_long_that_it_hides_the_others(tmp_path):
    (tmp_path / "pyproject.toml").write_text(f'[tool.specedit]\nserver = "{"x" * 5000}"\n')
    resolved = resolve(start=tmp_path)
    assert resolved.repository is not None
    (shown,) = restricted_lines(resolved.repository)
    assert len(shown) < 150 and "not valid" in shown
    layers.decide(tmp_path, resolved.repository.digest, trusted=True)
    with pytest.raises(UsageError, match="at most 4,096 characters"):
        resolve(start=tmp_path)
