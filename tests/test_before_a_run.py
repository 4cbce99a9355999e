"""What a command says before it asks a model: another program is exact, or the run is long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Specedit, at_a_terminal

from specedit.cli import work
from specedit.decode.cost import TYPICAL, Curve
from specedit.edit.job import Job, plan_edit
from specedit.edit.without_model import TOOLS, exact_command
from specedit.files.source import Source
from specedit.server import connect as estimate
from specedit.settings import Settings

Script = Callable[..., Path]
PROGRAMS = sorted({one.split()[0] for table in TOOLS.values() for v in table.values() for one in v})


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make these programs, and no others, those that are installed."""

    def install(*programs: str) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        for program in programs:
            (folder / program).write_text("#!/bin/sh\nexit 1\n")
            (folder / program).chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))

    return install


OVERLOADS = """\
// the head
import { b } from "./b";
// of a
import { a } from "./a";

export function load(path: string): string;
export function load(path: number): string;
export function load(path: unknown): string {
  return String(path);
}
import late from "./late";
"""


@pytest.mark.parametrize("name", ["a.ts", "a.js"])
def test_without_a_program_sorting_the_imports_changes_nothing_else(name: str) -> None:
    source = Source.from_bytes(name, OVERLOADS.encode())
    planned = plan_edit(source, "Sort the imports", Settings())
    first = OVERLOADS.index("import { b }")
    assert (planned.region.start, planned.region.end) == (first, OVERLOADS.index("\nexport"))
    assert "the imports (lines 2:4)" in planned.findings[0].text
    whole = plan_edit(source, "Sort the imports", Settings(whole=True))
    assert whole.region.end == len(OVERLOADS)
    assert plan_edit(source, "Sort the parameters", Settings()).region == whole.region


@pytest.mark.parametrize(
    ("instruction", "name", "expected"),
    [
        ("Sort the imports", "a.py", "ruff check --select I --fix a.py"),
        ("Please organise all imports alphabetically.", "a.py", "ruff check --select I --fix a.py"),
        ("Sort the imports", "a.go", "goimports -w a.go"),
        ("sort the use statements of this file", "a.rs", "rustfmt a.rs"),
        ("Remove unused imports", "a b.py", "ruff check --select F401 --fix 'a b.py'"),
        ("remove all the unused imports in this file", "a.go", "goimports -w a.go"),
        ("Format the file", "a.ts", "prettier --write a.ts"),
        ("Reformat this code", "a.go", "gofmt -w a.go"),
        ("Run black", "a.py", "black a.py"),
        ("Format the file with black", "a.py", "black a.py"),
        ("Run mypy", "a.py", None),
        ("Run black", "a.go", None),
        ("Sort the imports", "a.ts", None),
        ("Sort the imports", "a.txt", None),
        ("Add a timeout and sort the imports", "a.py", None),
        ("Sort the imports by length", "a.py", None),
        ("Sort the users by name", "a.py", None),
        ("Format the message with the user's name", "a.py", None),
        ("Format the date", "a.py", None),
        ("Remove the unused function", "a.py", None),
        ("Use logging", "a.py", None),
    ],
)
def test_a_whole_instruction_that_a_program_does_exactly_is_known(
    installed: Callable[..., None], instruction: str, name: str, expected: str | None
) -> None:
    installed(*PROGRAMS)
    assert exact_command(instruction, [name]) == expected


def test_the_next_program_is_named_where_the_first_is_not_installed(
    installed: Callable[..., None],
) -> None:
    installed("isort")
    assert exact_command("Sort the imports", ["a.py", "b.py"]) == "isort a.py b.py"
    assert exact_command("Format the file", ["a.py"]) is None
    assert exact_command("Sort the imports", ["a.py", "b.go"]) is None


def test_such_an_instruction_needs_anyway(
    inside: Specedit, script: Script, installed: Callable[..., None], tmp_path: Path
) -> None:
    installed("isort")
    place = tmp_path / "a.py"
    place.write_text("import b\nimport a\n")
    script(answer="import a\nimport b\n")
    done = inside("edit", "Sort the imports", "a.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == (
        b"specedit: `isort a.py` does this exactly, without a model.\n"
        b"  Run that command, or add --anyway to use the model.\n"
    )
    assert inside("edit", "Sort the imports", "a.py", "--anyway", cwd=tmp_path).returncode == 0
    assert place.read_text() == "import a\nimport b\n"


def test_a_filter_gets_its_text_from_the_model(
    inside: Specedit, script: Script, installed: Callable[..., None]
) -> None:
    installed("isort")
    script(answer="import a\nimport b\n")
    words = ("edit", "Sort the imports", "-", "--stdin-filename", "a.py")
    assert inside(*words, stdin=b"import b\nimport a\n").stdout == b"import a\nimport b\n"


def job(text: str, **settings: object) -> Job:
    values = replace(Settings(), **settings)  # type: ignore[arg-type]
    return plan_edit(Source.from_bytes("a.py", text.encode()), "Do it", values)


def test_the_estimate_grows_with_the_file_and_the_cost_of_a_pass() -> None:
    small, large = job("x = 1\n" * 100), job("x = 1\n" * 10_000)
    assert estimate.expected_seconds(small, TYPICAL) * 20 < estimate.expected_seconds(
        large, TYPICAL
    )
    slow = Curve.of((width, 2 * seconds) for width, seconds in TYPICAL.points)
    assert estimate.expected_seconds(small, slow) == pytest.approx(
        2 * estimate.expected_seconds(small, TYPICAL)
    )
    plain = job("x = 1\n" * 100, prediction="none", draft="none")
    assert estimate.expected_seconds(plain, TYPICAL) > estimate.expected_seconds(small, TYPICAL)


@pytest.mark.parametrize("setting", [{"server": "http://x"}, {"device": "cuda"}, {"model": "./m"}])
def test_nothing_is_estimated_for_what_is_not_known(setting: dict[str, str]) -> None:
    assert estimate.run_seconds(job("x = 1\n"), (), replace(Settings(), **setting)) is None


@pytest.fixture
def long(tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose edit counts as long."""
    script(replace=[["x", "y"]])
    monkeypatch.setattr(work, "LONG_S", 0.0)
    monkeypatch.setattr(estimate, "expected_curve", lambda settings: TYPICAL)
    (tmp_path / "a.py").write_text("x = 1\n")
    return tmp_path


MESSAGE = "specedit: about 1 min for a.py; --symbol NAME or --selected TEXT is faster."


def test_a_long_run_is_announced_in_one_line(long: Path, inside: Specedit) -> None:
    done = inside("edit", "Do it", "a.py", cwd=long)
    assert (done.returncode, done.stderr.count(MESSAGE.encode())) == (0, 1)
    assert MESSAGE.encode() not in inside("edit", "Do it", "a.py", "-q", cwd=long).stderr


@pytest.mark.parametrize(
    ("answer", "flags", "code", "text"),
    [(b"y\n", (), 0, "y = 1\n"), (b"\n", (), 2, "x = 1\n"), (b"", ("--yes",), 0, "y = 1\n")],
    ids=["yes", "no", "--yes"],
)
def test_at_a_terminal_the_user_decides_about_a_long_run(
    long: Path, answer: bytes, flags: tuple[str, ...], code: int, text: str
) -> None:
    pytest.importorskip("pty")
    done, shown = at_a_terminal(answer, "edit", "Do it", "a.py", *flags, cwd=long)
    assert (done, (long / "a.py").read_text()) == (code, text)
    assert ("Continue? [y/N]" in shown) == (not flags)
