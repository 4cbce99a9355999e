"""Commands from annotated functions: what a signature gives on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
from click.testing import CliRunner, Result
from conftest import Specedit

from specedit.cli import SHELLS
from specedit.cli.commands import Argument, Commands, Context, Option

app = Commands("app")
given: dict[str, Any] = {}


@app.define()
def one(
    context: Context,
    file: Annotated[Path, Argument(help="the file")],
    rest: Annotated[list[str] | None, Argument(metavar="[REST]…")] = None,
    count: Annotated[int, Option(min=1, help="how many")] = 2,
    alias: Annotated[list[str] | None, Option(help="a name")] = None,
    flag: Annotated[bool | None, Option(help="yes or no")] = None,
    as_json: Annotated[bool, Option("--json", hidden=True)] = False,
) -> int:
    """Do one thing."""
    given.update(locals())
    return 7


def called(*words: str) -> Result:
    given.clear()
    return CliRunner().invoke(app, words)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ([], {"rest": None, "count": 2, "alias": None, "flag": None, "as_json": False}),
        (["a", "b", "--count", "3"], {"rest": ["a", "b"], "count": 3}),
        (["--alias", "x", "--alias", "y"], {"alias": ["x", "y"]}),
        (["--flag"], {"flag": True}),
        (["--no-flag", "--json"], {"flag": False, "as_json": True}),
    ],
    ids=["defaults", "words", "lists", "flag", "no flag"],
)
def test_values_have_the_types_of_the_signature(words: list[str], values: dict[str, Any]) -> None:
    assert called("one", "f.py", *words).exit_code == 0
    assert given["file"] == Path("f.py") and given["context"].info_name == "one"
    assert {name: given[name] for name in values} == values


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["one"], "Missing argument 'FILE'"),
        (["one", "f", "--count", "0"], "x>=1"),
        (["one", "f", "--count", "x"], "not a valid integer"),
        (["one", "f", "--flog"], "'--flag'"),
        (["ones"], "'one'"),
    ],
)
def test_what_is_wrong_is_named(words: list[str], message: str) -> None:
    result = called(*words)
    assert result.exit_code == 2 and message in result.output and not given


def test_help_lists_arguments_and_defaults() -> None:
    shown = called("one", "--help").output
    assert "Do one thing." in shown and "FILE" in shown and "the file" in shown
    assert "default: 2" in shown and "--flag / --no-flag" in shown and "--json" not in shown


@pytest.mark.parametrize("shell", SHELLS)
def test_the_completion_script_of_a_shell_is_printed(shell: str, inside: Specedit) -> None:
    done = inside("--show-completion", shell)
    assert done.returncode == 0 and b"_SPECEDIT_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("words", "incomplete", "name"),
    [("specedit", "ren", b"rename"), ("specedit edit", "--sy", b"--symbol")],
    ids=["command", "option"],
)
def test_completion_names_it(words: str, incomplete: str, name: bytes, process: Specedit) -> None:
    env = {"COMP_WORDS": words, "COMP_CWORD": incomplete, "_SPECEDIT_COMPLETE": "fish_complete"}
    assert name in process(env=env).stdout
