"""The manual: what `specedit help` shows, and that README's and every page's examples work."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import examples
import pytest
import warm_server
import yaml
from command_line import Terminal, in_this_process
from examples import PAGES, ROOT, SCRIPT, Example
from git_repository import Repository
from hook_repository import START

from specedit import cli, manual, settings
from specedit.integrations.hook.hook_rules import rules
from specedit.view.terminal import show_page

Done = subprocess.CompletedProcess[bytes]
Run = Callable[..., Done]

# What a block of this language is: one that is no example says why.
LANGUAGES = {
    "sh": "run line by line",
    "python": "run",
    "javascript": "run by test_moving.py",
    "toml": "read as settings",
    "yaml": "read as pre-commit's configuration",
    "text": "no example: what a command prints",
    "diff": "no example: what a command prints",
    "json": "no example: settings of an editor or an agent",
}
ELSEWHERE = {  # of others
    "--no-verify": "git",
    "--check": "ruff too",
    "--max-model-len": "vLLM",
    "--spec-type": "llama.cpp",
    **dict.fromkeys(("--pattern", "--rewrite", "--lang", "--stdin"), "ast-grep"),
}
TOKENS = re.compile(r'&&|[|<>]|(?:"[^"]*"|\'[^\']*\'|[^\s|&;<>"\'])+')
ANSWERS = b"a\n" * 9  # to `--ask`: all hunks
SERVES = re.compile(r"\bserve\b|\bcurl\b|\bhook\b|8737")  # drives a server or git's hook
FAILS = {
    **{"--check": 1, "specedit hook run": 1},  # it found something, as it should
    "specedit refine": 1,  # the script changes nothing more
}


def marked(blocks: Iterator[tuple[str, str]]) -> list[Any]:
    found = []
    for number, (name, body) in enumerate(blocks):
        marks = [pytest.mark.tools] if SERVES.search(body) else []
        found.append(pytest.param(name, body, marks=marks, id=f"{name}-{number}"))
    return found


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return examples.repository(tmp_path_factory.mktemp("examples") / "repository")


@pytest.fixture
def bench(
    template: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Path]]:
    """Begins anew, in a copy of the repository, with a model that plays a script."""
    place = tmp_path / "bin"
    place.mkdir()
    program = place / "specedit"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specedit "$@"\n')
    program.chmod(0o755)
    (tmp_path / "script.json").write_text(json.dumps(SCRIPT))
    for name, value in {
        **template.env,
        "PATH": f"{place}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": START,
        "HOME": str(tmp_path / "home"),
        "XDG_CONFIG_HOME": str(tmp_path / "home/.config"),
        "TESTS_SCRIPT": str(tmp_path / "script.json"),
        "SPECEDIT_HOME": str(tmp_path / "store"),
        "SPECEDIT_RUNTIME": str(tmp_path / "runtime"),
        "SPECEDIT_SERVER": "auto",
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "home").mkdir()
    work = tmp_path / "work"

    def anew(page: str = "") -> Path:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(template.root, work)
        monkeypatch.chdir(work if page == "README" else work / "samples/shop")
        return work

    anew()
    yield anew
    if (tmp_path / "runtime").exists():
        cli.run(["serve", "stop"])


@pytest.fixture
def served(
    request: pytest.FixtureRequest,
    bench: Callable[[], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[int]:
    """The port of a server, for a block that asks one."""
    if "8737" not in request.getfixturevalue("body"):
        yield 0
        return
    (tmp_path / "served").mkdir()
    monkeypatch.setenv("OPENAI_API_KEY", "any")  # this server asks for none
    with warm_server.running(tmp_path / "served", SCRIPT, aliases=("gpt-4o",)) as server:
        yield server.port


def at(port: int, body: str) -> str:
    """An example that asks a server, at that port and for the model that it has."""
    if port:
        body = body.replace(":8737", f":{port}").replace("qwen2.5-coder-1.5b", "scripted")
    return body


def contents(root: Path) -> dict[str, bytes]:
    """Every file of the work tree, with its bytes."""
    return {
        str(path): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def understood(words: list[str]) -> None:
    """Read a command line as `specedit` would, without doing anything."""
    command = cli.every_command()
    parents = None
    while True:
        context = command.make_context(words[0], [], parent=parents, resilient_parsing=True)
        given = command.make_parser(context).parse_args(args=words[1:])[1]
        if not hasattr(command, "commands") or not given:
            return
        command, words, parents = command.commands[given[0]], given, context


@pytest.mark.parametrize(("name", "body"), marked(examples.blocks("sh")))
def test_every_line_of_shell_works(name, body, bench, served):
    every_line_works(name, at(served, body), bench, shell if served else run_line)
    # `run_line` starts no process for specedit, which takes 0.5 s a line.


@pytest.mark.tools
@pytest.mark.parametrize(
    ("name", "body"), [block for block in examples.blocks("sh") if block[0] in ("README", "edit")]
)
def test_the_lines_work_in_a_real_shell(name, body, bench):
    every_line_works(name, body, bench, shell)


@pytest.mark.real
def test_readme_s_edits_are_right_and_sure_with_the_real_default_model(
    bench, real_home, monkeypatch
):
    """Each of its lines that asks a model, once: its exit code, its text, and that it is sure."""
    for name in ("TESTS_SCRIPT", "SPECEDIT_MODEL"):
        monkeypatch.delenv(name)
    (body,) = (body for page, body in examples.blocks("sh") if page == "README" and "undo" in body)
    (patch,) = (body for page, body in examples.blocks("diff") if page == "README")
    before = (ROOT / "fixtures/notes/before.py").read_text("utf-8")
    ways = set()

    def checked(words: str) -> Done:
        done = shell(words)
        root, message = Path(), done.stderr.decode()
        files = {
            path: path.read_text("utf-8") for path in (*root.rglob("*.py"), *root.glob("*.new"))
        }
        if "specedit edit" in words:
            after = before.replace("os.listdir(path)", "sorted(os.listdir(path))")
            assert patch in done.stdout.decode() or after in files.values(), words
            way = "kept: your test passes" if "--test" in words else "sure ("
            assert way in message and "unsure" not in message, message
            ways.add(way)
        elif "undo" in words:
            assert files[root / "fixtures/notes/before.py"] == before
        elif "derived" in words:
            after_cs = (ROOT / "fixtures/user/after.cs").read_bytes()
            assert (root / "fixtures/user/before.cs").read_bytes() == after_cs
        return done

    every_line_works("README", body, bench, checked)
    assert len(ways) == 2


@pytest.mark.real
def test_readme_s_program_runs_with_the_real_model(bench, real_home, monkeypatch, capsys):
    monkeypatch.delenv("TESTS_SCRIPT")
    root = bench("README")
    (body,) = (body for page, body in examples.blocks("python") if page == "README")
    exec(compile(body, "README", "exec"), {"__name__": "example"})
    after = (ROOT / "fixtures/user/after.cs").read_bytes()
    assert (root / "fixtures/user/before.cs").read_bytes() == after
    assert "+" in capsys.readouterr().out


def every_line_works(
    name: str, body: str, bench: Callable[..., Path], run: Callable[[str], Done]
) -> None:
    """Run the lines of a block; `edit`, `rename` and `apply` change something, in a fresh copy."""
    root = bench(name)
    for example in (Example(name, words) for words in examples.commands(body)):
        words = shlex.split(example.words, comments=True)
        if example.why_not:
            if "specedit" in words:
                understood(words[words.index("specedit") :])
            continue
        ends = words[:2] != ["specedit", "serve"] or words[2] in ("--background", "status", "stop")
        assert ends, f"{example}: a server in the foreground does not return"
        changes = words[0] == "specedit" and words[1] in ("edit", "rename", "apply")
        if changes:
            root = bench(name)
        before = contents(root)
        done = run(example.words)
        wanted = next((code for what, code in FAILS.items() if what in example.words), 0)
        assert done.returncode == wanted, (str(example), done.stderr)
        if "curl" in words:
            assert b'"content"' in done.stdout and done.stdout.endswith(b"data: [DONE]\n\n")
        if changes and not wanted:
            assert done.stdout or contents(root) != before, f"{example}: nothing changed"


def run_line(words: str) -> Done:
    """Run a command line of `|`, `&&`, `<`, `>`, globs and variables; specedit in this process."""
    tokens = TOKENS.findall(re.sub(r"\\\n|(?<!\S)#.*", " ", words))
    groups = [list(group) for is_and, group in groupby(tokens, "&&".__eq__) if not is_and]
    done = Done([], 0, b"", b"")
    for group in groups:
        output, errors = ANSWERS, b""
        for is_pipe, part in groupby(group, "|".__eq__):
            if not is_pipe:
                done = simple_command(list(part), output)
                output, errors = done.stdout, errors + done.stderr
        done = Done(words, done.returncode, done.stdout, errors)
        if done.returncode:
            break
    return done


def simple_command(tokens: list[str], stdin: bytes) -> Done:
    variables: dict[str, str] = {}
    while re.match(r"\w+=", tokens[0]):
        name, _, variables[name] = tokens.pop(0).partition("=")
    target: Path | None = None
    arguments: list[str] = []
    rest = iter(tokens)
    for token in rest:
        if token == "<":
            stdin = Path(next(rest)).read_bytes()
        elif token == ">":
            target = Path(next(rest))
        elif "*" in token and '"' not in token:
            arguments += sorted(map(str, Path().glob(token)))
        else:
            arguments += shlex.split(token)
    if arguments[0] == "specedit":
        done = in_this_process(*arguments[1:], stdin=stdin, env=variables)
    else:
        done = subprocess.run(arguments, input=stdin, capture_output=True, timeout=60, check=False)
    if target:
        target.write_bytes(done.stdout)
    return Done(arguments, done.returncode, b"" if target else done.stdout, done.stderr)


def shell(words: str) -> Done:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", words],
        input=ANSWERS,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("name", "body"), marked(examples.blocks("python")))
def test_every_program_runs(name, body, bench, served, capsys):
    bench(name)
    exec(compile(at(served, body), name, "exec"), {"__name__": "example"})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(("name", "body"), marked(examples.blocks("toml")))
def test_every_table_is_one_of_settings(name, body, tmp_path):
    (tmp_path / "pyproject.toml").write_text(body)
    found = settings.resolve(start=tmp_path, environ={})
    given = tomllib.loads(body)["tool"]["specedit"]
    assert given and {key.replace("-", "_") for key in given} <= set(settings.names())
    loaded = rules(found.values.hook)
    assert len(loaded) == len(given.get("hook", []))


@pytest.mark.parametrize(("name", "body"), marked(examples.blocks("yaml")))
def test_pre_commit_finds_the_hooks_named(name, body):
    here = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    named = {hook["id"] for repo in yaml.safe_load(body)["repos"] for hook in repo["hooks"]}
    assert named and named <= here


@pytest.mark.parametrize("name", PAGES)
def test_no_example_is_of_a_kind_that_nobody_tries(name):
    fences = re.findall(r"^ *```(.*)$", PAGES[name], re.MULTILINE)
    assert not len(fences) % 2
    assert set(fences[::2]) <= set(LANGUAGES) and set(fences[1::2]) <= {""}
    outside = examples.FENCE.sub("", PAGES[name])
    assert "```" not in outside and not re.search(r"^\s*\n {4,}specedit", outside, re.MULTILINE)


def options(command: Any) -> Iterator[str]:
    for option in command.params:
        yield from (*option.opts, *option.secondary_opts)
    for part in getattr(command, "commands", {}).values():
        yield from options(part)


@pytest.mark.parametrize("name", PAGES)
def test_every_flag_and_variable_named_exists(name):
    known = {*options(cli.every_command()), *ELSEWHERE, "--install-completion"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGES[name])) <= known
    variables = {f"SPECEDIT_{n.upper()}" for n in settings.names()}
    variables |= {f"SPECEDIT_{n}" for n in settings.NOT_SETTINGS}
    assert set(re.findall(r"\bSPECEDIT_[A-Z_]+\b", PAGES[name])) <= variables


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name):
    folder = ROOT if name == "README" else ROOT / "specedit/manual"
    for target in re.findall(r"\]\(([^)#]+)\)", PAGES[name]):
        assert target.startswith("https://") or (folder / target).exists(), target


def test_exit_codes_are_the_same_in_readme_and_the_manual():
    found = [re.search(r"(?s)Exit codes: 0 .*?130 .*?\.\n", PAGES[n]) for n in ("README", "edit")]
    first, second = (" ".join(match[0].split()) for match in found if match)
    assert first == second


def test_a_newcomer_reads_readme_in_five_minutes():
    assert PAGES["README"].count("\n") <= 110
    assert sum(len(manual.page(name).split()) for name in manual.TOPICS) <= 7_000
    assert {f"(specedit/manual/{name}.md)" for name in manual.TOPICS} <= set(
        re.findall(r"\(specedit/manual/\w+\.md\)", PAGES["README"])
    )


def test_help_lists_every_page_with_its_line(inside):
    done = inside("help")
    assert done.returncode == 0 and done.stderr == b""
    for name in manual.TOPICS:
        title = manual.page(name).splitlines()[0]
        assert title == f"# {name}: {manual.about(name)}"
        assert re.search(
            rf"^  {name} +{re.escape(manual.about(name))}$", done.stdout.decode(), re.M
        )


def test_help_lists_at_most_18_commands(inside):
    listed = re.findall(r"^  ([a-z]+)  ", inside("--help").stdout.decode(), re.MULTILINE)
    known = {
        *("edit", "refine", "rename", "apply", "undo", "model", "doctor", "serve", "warm"),
        *("editor", "lsp", "mcp", "hook", "vllm", "view", "config", "trust", "help"),
    }
    assert {*listed} == known and len(known) <= 18


def test_a_program_gets_the_page_as_it_is(inside):
    done = inside("help", "rename", env={"FORCE_COLOR": "1"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == manual.page("rename")


def test_a_person_gets_the_page_rendered(monkeypatch):
    shown = rendered(manual.page("engine"), monkeypatch)
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "| exact engine" not in plain and "exact engine, amx" in plain
    assert "specedit help edit" in rendered(manual.page("rename"), monkeypatch)


def rendered(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stdout", Terminal())
    show_page(text)
    found: str = sys.stdout.getvalue()  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("command", [c for c in cli.COMMANDS if c != "help"])
def test_every_command_has_its_page(command):
    assert f"specedit {command}" in manual.page(manual.topic(command))


@pytest.mark.parametrize(
    ("word", "near"),
    [("renam", b"rename"), ("setting", b"settings"), ("zzz", b"Known: edit, rename")],
)
def test_a_wrong_topic_names_the_nearest(inside, word, near):
    done = inside("help", word)
    assert (done.returncode, done.stdout) == (2, b"")
    assert near in done.stderr


def test_guarantee_7_help_imports_neither_torch_nor_grammars():
    code = (
        "import sys; from specedit import cli; cli.run(['help', 'rename']);"
        "print([m for m in ('torch','transformers','tree_sitter','git','numpy','rich.markdown')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
