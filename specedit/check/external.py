"""A program that the user named checks the new text: `check-with = "ruff check {file}"`.

It runs without a shell on a copy of the file in a temporary folder that stands for the work tree:
the entries beside the folders on the way are links to the real ones, so that the program finds its
settings and the file's neighbours. What it reports of the text before, too, is not a finding.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

from specedit.check.finding import CHECKER, Finding, at, fresh

FILE = "{file}"
CHECKER_TIMEOUT_S = 60.0
MOST_BYTES = 4 << 20  # of its output that are read
SECRETS = ("SPECEDIT_API_KEY", "SPECEDIT_TOKEN")  # not for programs of the user's
_REMARK = re.compile(
    r"^(?P<path>[^\s:(][^:(\n]*?)(?:\((?P<a>\d+),\d+\)|:(?P<b>\d+)(?::\d+)?)\s*[:-]?\s*(?P<text>\S.*)$"
)
_ARROW = re.compile(r"^\s*-->\s*(?P<path>.+?):(?P<line>\d+):\d+\s*$")


class CheckerError(Exception):
    """The program could not check: it is missing, took too long, or did not start."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that a program reports: its line of the file, 0 where it names none."""

    line: int
    text: str


def parsed_commands(text: str) -> list[tuple[str, str]]:
    """Each language, "" for any, and its command. The text is `ruff check {file}`, or a command a
    line, each after its language: `go: go vet {file}`."""
    commands = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        named = re.match(r"([a-z]+): (.*)", line)
        commands.append((named[1], named[2]) if named else ("", line))
    for _, command in commands:
        try:
            words = shlex.split(command)
        except ValueError as problem:
            raise ValueError(f"{command!r} is not a command: {problem}") from None
        if not any(FILE in word for word in words[1:]):
            raise ValueError(f"{command!r} has no {FILE} where the file's name goes")
    return commands


def new_remarks(
    text: str, before: str, after: str, language: str, root: Path, path: PurePath
) -> Iterator[Finding]:
    """The messages of this language's commands about `after`, not `before`. `path`: the file's
    place in the work tree `root`."""
    for of, command in parsed_commands(text):
        if of not in ("", language):
            continue
        known = (remark.text for remark in remarks(command, before, root, path))
        now = remarks(command, after, root, path)
        for remark in fresh(known, now, lambda remark: remark.text):
            program = PurePath(shlex.split(command)[0]).name
            yield at(CHECKER, max(1, remark.line), f"{program}: {remark.text}")


@lru_cache(maxsize=64)
def remarks(command: str, text: str, root: Path, path: PurePath) -> tuple[Remark, ...]:
    """The messages of a command about a file with this text. Cached: every try asks about the text
    before."""
    with tempfile.TemporaryDirectory(prefix="specedit-check-") as folder:
        copy = Path(os.path.realpath(folder)) / "tree"
        _build_tree(copy, root, path, text)
        words = [word.replace(FILE, str(path)) for word in shlex.split(command)]
        words[0] = program_at(words[0])
        code, output = run_program(words, copy, CHECKER_TIMEOUT_S)
    result = tuple(read_remarks(output, copy, path))
    if not result and code:
        first = next((line.strip() for line in output.split("\n") if line.strip()), "")
        message = f"exit code {code}: {_comparable(first, copy)}"[:200].rstrip(": ")
        return (Remark(0, message),)
    return result


def _build_tree(copy: Path, root: Path, path: PurePath, text: str) -> None:
    """A folder that looks like `root` and holds this text at `path`."""
    here, there = copy, root
    here.mkdir()
    for part in (*path.parts[:-1], None):
        skipped = path.name if part is None else part
        for entry in os.scandir(there) if there.is_dir() else ():
            if entry.name != skipped:
                _link(Path(entry.path), here / entry.name, entry.is_dir())
        if part is None:
            break
        here, there = here / part, there / part
        here.mkdir()
    (here / path.name).write_bytes(text.encode("utf-8", "surrogatepass"))


def _link(real: Path, link: Path, folder: bool) -> None:
    """A neighbour. Where links cannot be made, small files are copied and folders left out."""
    try:
        link.symlink_to(real, target_is_directory=folder)
    except OSError:
        if not folder and real.stat().st_size < 1 << 20:
            shutil.copyfile(real, link)


def program_at(name: str) -> str:
    """The program at the path that is given, or in an absolute folder of PATH: not in the current
    folder, where a clone could bring one."""
    if os.path.dirname(name):  # noqa: PTH120
        return name
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    absolute = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))  # noqa: PTH117
    result = shutil.which(name, path=absolute)
    if result is None or (os.name == "nt" and Path(result).parent == Path.cwd()):
        raise CheckerError(f"{name} is not installed, or not in PATH")
    return result


def run_program(words: list[str], folder: Path, seconds: float) -> tuple[int, str]:
    """Its exit code and its output, of stdout and stderr alike."""
    environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
    try:
        child = subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**environment, "NO_COLOR": "1", "CLICOLOR": "0", "TERM": "dumb"},
            start_new_session=True,
        )
    except OSError as problem:
        raise CheckerError(f"{words[0]} does not start: {problem.strerror}") from None
    with child:
        try:
            output, _ = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CheckerError(f"{words[0]} took more than {seconds:.0f} s") from None
        finally:
            if child.poll() is None:  # with what it started
                if hasattr(os, "killpg"):
                    os.killpg(child.pid, signal.SIGKILL)
                else:
                    child.kill()
    return child.returncode, output[:MOST_BYTES].decode("utf-8", "replace")


def read_remarks(output: str, folder: Path, path: PurePath) -> Iterator[Remark]:
    """`path:line:column: text`, `path(line,column): text`, and a message above `--> path:line`."""
    above = ""
    for line in output.replace("\r\n", "\n").split("\n"):
        if arrow := _ARROW.match(line):
            yield _remark(arrow["path"], arrow["line"], above, folder, path)
        elif (match := _REMARK.match(line)) and not line.startswith(" "):
            yield _remark(match["path"], match["a"] or match["b"], match["text"], folder, path)
        if line.strip():
            above = line.strip()


def _remark(named: str, line: str, text: str, folder: Path, path: PurePath) -> Remark:
    """A remark about the file, or about a neighbour that it names."""
    own = PurePath(named.replace(str(folder) + os.sep, "").removeprefix("./")) == path
    prefix = "" if own else f"{PurePath(named).name}: "
    return Remark(int(line) if own else 0, prefix + _comparable(text, folder))


def _comparable(text: str, folder: Path) -> str:
    """A message without line numbers and without the temporary folder's name."""
    text = text.replace(str(folder) + os.sep, "").replace(str(folder), ".")
    return re.sub(r"(?<=:)\d+(?::\d+)?|(?<=\bline )\d+|\(\d+,\d+\)", "", text).strip()
