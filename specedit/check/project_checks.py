"""The compilers and type checkers that a work tree is set up for: what a change of it breaks.

Each runs in the work tree before and after the change. It is the project's own program, and may run
the project's code: nothing runs unless the user asks for it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath

from specedit.check.external import CheckerError, Remark, program_at, read_remarks, run_program
from specedit.check.finding import fresh
from specedit.errors import UsageError

CHECKER_TIMEOUT_S = 600.0  # of one run of a checker
MAX_QUOTED_MESSAGES = 3  # messages that an error quotes
MILD = ("warning", "note", "info")  # a message that begins so is not an error

JAVAC = (
    *("javac", "-proc:none", "-nowarn", "-implicit:none", "-encoding", "UTF-8"),
    *("-XDshould-stop.ifError=FLOW", "-Xmaxerrs", "100000"),
)


@dataclass(frozen=True, slots=True)
class Checker:
    """A program for some languages, and the files whose folder it runs in. `setting`: a word that
    one of them must hold, where it is a file that holds other settings as well."""

    languages: tuple[str, ...]
    words: tuple[str, ...]
    marks: tuple[str, ...]
    setting: str = ""


CHECKERS = (  # of several for one language, the first that is installed and set up
    Checker(("go",), ("go", "vet", "./..."), ("go.mod",)),
    Checker(
        ("rust",),
        (
            *("cargo", "check", "--quiet", "--workspace", "--all-targets"),
            *("--message-format", "short"),
        ),
        ("Cargo.toml",),
    ),
    Checker(
        ("typescript", "tsx", "javascript"),
        ("tsc", "--noEmit", "--pretty", "false", "--incremental", "false"),
        ("tsconfig.json",),
    ),
    Checker(("python",), ("mypy", "."), ("mypy.ini", ".mypy.ini")),
    Checker(("python",), ("mypy", "."), ("pyproject.toml", "setup.cfg"), "mypy"),
    Checker(("python",), ("pyright",), ("pyrightconfig.json",)),
    Checker(("python",), ("pyright",), ("pyproject.toml",), "pyright"),
    Checker(("csharp",), ("dotnet", "build", "--nologo", "-v", "q"), ("*.sln", "*.slnx")),
    Checker(("csharp",), ("dotnet", "build", "--nologo", "-v", "q"), ("*.csproj",)),
    Checker(("java",), JAVAC, ("",)),  # all sources of the work tree; it has no settings
)


@dataclass(frozen=True, slots=True)
class ProjectCheck:
    """One program in one folder of the work tree."""

    name: str
    program: str
    words: tuple[str, ...]
    folder: Path

    def remarks(self, scratch: Path) -> list[Remark]:
        """The errors that it reports. `scratch`: a folder for what it writes next to its report."""
        words = [self.program, *self.words]
        if self.name == "javac":
            words += self._java_sources(scratch)
        if self.name == "mypy":
            # its cache takes a file of equal size and second for the one that was there
            words += ["--no-incremental", f"--cache-dir={scratch / 'mypy'}"]
        code, output = run_program(words, self.folder, CHECKER_TIMEOUT_S)
        lines = "\n".join(line.strip() for line in output.splitlines())
        remarks = list(read_remarks(lines, self.folder, PurePath()))
        if (code and not remarks) or (self.name == "mypy" and code > 1):  # 2: it stopped early
            first = next(filter(None, lines.split("\n")), f"exit code {code}")
            raise CheckerError(f"{self.name} fails: {first[:300]}")
        # what stands after the file's name
        return [each for each in remarks if not each.text.partition(": ")[2].startswith(MILD)]

    def _java_sources(self, scratch: Path) -> list[str]:
        listed = scratch / "sources"
        paths = sorted(p for p in self.folder.rglob("*.java") if p.name != "module-info.java")
        text = "".join(f'"{path.as_posix()}"\n' for path in paths)
        listed.write_text(text, encoding="utf-8")
        return ["-d", str(scratch / "classes"), f"@{listed}"]


def checks_of(root: Path, files: Sequence[tuple[PurePosixPath, str]]) -> list[ProjectCheck]:
    """The programs that know these files (paths from `root`, with their languages)."""
    results: dict[ProjectCheck, None] = {}
    for path, language in files:
        checks = (
            _check_of(checker, root, path) for checker in CHECKERS if language in checker.languages
        )
        if check := next(filter(None, checks), None):
            results[check] = None
    return list(results)


def _check_of(checker: Checker, root: Path, path: PurePosixPath) -> ProjectCheck | None:
    folders = [root / folder for folder in path.parents]
    for folder in folders if any(checker.marks) else (root,):
        if any(_is_set_up(folder, mark, checker.setting) for mark in checker.marks):
            program = _installed(checker.words[0], folder, root)
            if program is None:
                return None
            return ProjectCheck(checker.words[0], program, checker.words[1:], folder)
    return None


def _is_set_up(folder: Path, mark: str, setting: str) -> bool:
    paths = [path for path in folder.glob(mark) if path.is_file()] if mark else [folder]
    if not setting:
        return bool(paths)
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in paths)
    section = re.compile(rf"^\[(tool\.)?{setting}\b", re.MULTILINE)
    return any(section.search(text) for text in texts)


def _installed(name: str, folder: Path, root: Path) -> str | None:
    """The project's own program, or the one in PATH."""
    while name == "tsc" and folder.is_relative_to(root):
        if (own := folder / "node_modules" / ".bin" / name).is_file():
            return str(own)
        folder = folder.parent
    try:
        return program_at(name)
    except CheckerError:
        return None


class Verification:
    """The checkers' messages before a change, and the new ones after it."""

    def __init__(self, checks: Sequence[ProjectCheck], comparable: Callable[[str], str]) -> None:
        """`comparable`: a message without what the change is about."""
        self._checks = checks
        self._comparable = comparable
        self._scratch = tempfile.TemporaryDirectory(prefix="specedit-verify-")
        self._before = {check: self._remarks(check) for check in checks}

    def __enter__(self) -> Verification:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def broken(self) -> str:
        """The messages that are new now, in words; "" without any."""
        new: list[str] = []
        for check, before in self._before.items():
            try:
                after = check.remarks(Path(self._scratch.name))
            except CheckerError as problem:
                return str(problem)
            known = (self._comparable(message.text) for message in before)
            found = fresh(known, after, lambda message: self._comparable(message.text))
            new += [f"{check.name}: {message.text}" for message in found]
        more = (
            f"; and {len(new) - MAX_QUOTED_MESSAGES} more" if len(new) > MAX_QUOTED_MESSAGES else ""
        )
        return "; ".join(new[:MAX_QUOTED_MESSAGES]) + more

    def __str__(self) -> str:
        return ", ".join(self._summary())

    def _summary(self) -> Iterator[str]:
        for check, before in self._before.items():
            known = f"; {len(before)} were there before, and may hide others" if before else ""
            yield f"{check.name} reports no new error{known}"

    def _remarks(self, check: ProjectCheck) -> list[Remark]:
        try:
            return check.remarks(Path(self._scratch.name))
        except CheckerError as problem:
            message = f"{problem}, before the change; nothing was written"
            raise UsageError(message, hint="Mend that first, or leave --verify out.") from None
