"""The snippets as data: each is what its editor reads, and goes where it belongs."""

import ast
import json
import re
import shlex
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from specedit.cli import _register, app, run
from specedit.errors import UsageError
from specedit.integrations import editors

pytestmark = pytest.mark.tools


def snippet(name: str) -> str:
    return editors.snippet(editors.editor(name))


def without_comments(text: str) -> Any:
    """JSON with whole-line comments, as VS Code and Zed read it."""
    return json.loads("".join(x for x in text.splitlines(True) if not x.lstrip().startswith("//")))


# Custom tasks of version 2.0.0 as Visual Studio Code documents tasks.json
# (code.visualstudio.com/docs/reference/tasks-appendix); an unknown key is an error here, so that a
# slip of the pen is one too.
TASKS = json.loads(Path(__file__).with_name("tasks.schema.json").read_text("utf-8"))
VARIABLES = {"relativeFile", "workspaceFolder", "selectedText", "lineNumber"}


def test_vscode_tasks_are_valid():
    import jsonschema

    tasks = without_comments(snippet("vscode"))
    jsonschema.Draft202012Validator.check_schema(TASKS)
    jsonschema.validate(tasks, TASKS)
    inputs = {f"input:{entry['id']}" for entry in tasks["inputs"]}
    assert set(re.findall(r"\$\{([^}]+)\}", json.dumps(tasks))) <= VARIABLES | inputs


def keys(text: str) -> list[Any]:
    """The key bindings in a snippet's first lines."""
    lines = [x.removeprefix("//").strip() for x in text.splitlines() if x.startswith("//   ")]
    return json.loads(f"[{' '.join(lines).rstrip(',')}]")  # type: ignore[no-any-return]


def test_vscode_keys_run_tasks_that_exist():
    tasks = {task["label"] for task in without_comments(snippet("vscode"))["tasks"]}
    result = keys(snippet("vscode"))
    assert len(result) == 3
    assert {entry["command"] for entry in result} == {"workbench.action.tasks.runTask"}
    assert {entry["args"] for entry in result} <= tasks


def test_zed_tasks_are_well_formed():
    tasks = without_comments(snippet("zed"))
    labels = {task["label"] for task in tasks}
    (bindings,) = [entry["bindings"] for entry in keys(snippet("zed"))]
    assert {action[1]["task_name"] for action in bindings.values()} <= labels
    for task in tasks:
        assert {"label", "command"} <= set(task)
        assert shlex.split(task["command"]), "a shell can read it"
        assert "$ZED" not in task["command"], "what Zed puts into a command is not quoted"


def test_helix_keys_are_toml():
    result = tomllib.loads(snippet("helix"))["keys"]
    assert set(result["normal"]["space"]["m"]) == {"e", "r", "w", "l"}
    for command in _values(result):
        assert command.startswith((":", "@"))
        assert re.sub(r"<(ret|gt|lt)>", "", command).count("<") == 0, "`<` begins a key's name"


def _values(table: dict[str, Any]) -> Iterator[str]:
    for value in table.values():
        if isinstance(value, dict):
            yield from _values(value)
        else:
            yield value


def test_jetbrains_tools_are_xml():
    root = ElementTree.fromstring(snippet("jetbrains"))
    assert (root.tag, root.get("name")) == ("toolSet", "specedit")
    for tool in root.iter("tool"):
        options = {o.get("name"): o.get("value") for o in tool.iter("option")}
        assert options["COMMAND"] == "specedit" and shlex.split(options["PARAMETERS"] or "")


def test_sublime_s_plugin_is_python_3_3():
    tree = ast.parse(snippet("sublime"), feature_version=(3, 3))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.JoinedStr | ast.AnnAssign)]
    classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    assert {"SpeceditEditCommand", "SpeceditRenameCommand", "SpeceditWarm"} <= classes


def command_lines() -> Iterator[tuple[str, list[str]]]:
    """Every command line that the snippets which are data hold."""
    for task in without_comments(snippet("vscode"))["tasks"]:
        yield f"vscode {task['label']}", task["args"]
    for tool in ElementTree.fromstring(snippet("jetbrains")).iter("tool"):
        options = {o.get("name"): o.get("value") for o in tool.iter("option")}
        yield f"jetbrains {tool.get('name')}", shlex.split(options["PARAMETERS"] or "")
    texts = [task["command"] for task in without_comments(snippet("zed"))]
    texts += list(_values(tomllib.loads(snippet("helix"))))
    for text in texts:
        for part in re.findall(r"specedit ((?:edit|rename|warm) [^']*)", text):
            yield f"shell {part[:40]}", shlex.split(part.partition(" 2<gt>")[0])


@pytest.mark.parametrize(
    "words", [w for _, w in command_lines()], ids=[n for n, _ in command_lines()]
)
def test_every_option_in_a_snippet_exists(words):
    _register()
    group = typer.main.get_command(app)
    command = group.commands[words[0]]  # type: ignore[attr-defined]
    inner = getattr(command, "commands", {})
    while len(words) > 1 and words[1] in inner:
        words, command = words[1:], inner[words[1]]
    known = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


INSTALLED = {
    "vim": ".vim/plugin/specedit.vim",
    "neovim": "config/nvim/plugin/specedit.lua",
    "emacs": ".emacs.d/specedit.el",
    "helix": "config/helix/config.toml",
    "vscode": ".vscode/tasks.json",
    "zed": "config/zed/tasks.json",
    "sublime": "config/sublime-text/Packages/User/specedit.py",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "place"), INSTALLED.items(), ids=INSTALLED)
def test_install_puts_it_in_its_place_and_never_over_another(home, name, place):
    for _ in range(2):
        assert run(["editor", name, "--install"]) == 0
        assert (home / place).read_text() == snippet(name)
    (home / place).write_text("mine")
    assert run(["editor", name, "--install"]) == 2
    assert (home / place).read_text() == "mine"


def test_settings_joined_with_ours_are_not_replaced(home):
    run(["editor", "helix", "--install"])
    joined = snippet("helix") + "\n[editor]\nmouse = false\n"
    (home / INSTALLED["helix"]).write_text(joined)
    assert run(["editor", "helix", "--install"]) == 2
    assert (home / INSTALLED["helix"]).read_text() == joined


def test_jetbrains_has_no_one_place(home, capsys):
    assert run(["editor", "jetbrains", "--install"]) == 2
    assert "prints the snippet" in capsys.readouterr().err


def test_the_names(capsysbinary):
    assert run(["editor"]) == 0
    assert capsysbinary.readouterr().out.decode().split() == editors.names()
    assert run(["editor", "nvim"]) == 0
    assert capsysbinary.readouterr().out.decode() == snippet("neovim")
    with pytest.raises(UsageError, match="no configuration for the editor 'emcas'") as caught:
        editors.editor("emcas")
    assert "emacs" in caught.value.hint
