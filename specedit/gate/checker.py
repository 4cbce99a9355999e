"""A program that the user named looks at the new text: `check-with = "ruff check {file}"`.

It is run without a shell on a copy of the file in a folder that stands for the work tree: every
folder on the way to the file is one of our own, whose other entries are links to the real ones. So
the program finds its settings and the file's neighbours, sees the file under its own name, and the
file in the work tree is not touched. It runs on the text before, too, and what it said of that is
no finding: reports are compared without the numbers of their lines.

Knows commands, folders and lines of reports. Who may name a command is for the settings to say.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath

from specedit.gate.commands import FILE, parsed
from specedit.gate.hit import Hit

SECONDS = 60.0
MOST = 4 << 20  # bytes of what it says that are read
_AT = re.compile(
    r"^(?P<path>[^\s:(][^:(\n]*?)(?:\((?P<a>\d+),\d+\)|:(?P<b>\d+)(?::\d+)?)\s*[:-]?\s*(?P<said>\S.*)$"
)
_ARROW = re.compile(r"^\s*-->\s*(?P<path>.+?):(?P<line>\d+):\d+\s*$")


class CheckerError(Exception):
    """The program could not look: it is missing, took too long, or did not start."""


@dataclass(frozen=True)
class Remark:
    """One thing that a program said: its line of the file, 0 where it names none."""

    line: int
    said: str


def hits(
    text: str, before: str, after: str, language: str, root: Path, path: PurePath
) -> Iterator[Hit]:
    """What the commands of this language say of `after` and not of `before`. `path`: the file's
    place in the work tree `root`."""
    for one in parsed(text):
        if one.language not in ("", language):
            continue
        known = Counter(remark.said for remark in remarks(one.command, before, root, path))
        for remark in remarks(one.command, after, root, path):
            if known[remark.said]:
                known[remark.said] -= 1
                continue
            program = PurePath(shlex.split(one.command)[0]).name
            yield Hit("checker", max(1, remark.line), f"{program}: {remark.said}")


@lru_cache(maxsize=64)
def remarks(command: str, text: str, root: Path, path: PurePath) -> tuple[Remark, ...]:
    """What a command says of a file with this text. Kept: of the text before, every try asks."""
    with tempfile.TemporaryDirectory(prefix="specedit-check-") as folder:
        place = Path(os.path.realpath(folder)) / "tree"
        _stand_in(place, root, path, text)
        words = [word.replace(FILE, str(path)) for word in shlex.split(command)]
        words[0] = _program(words[0])
        code, said = _run(words, place)
    found = tuple(_read(said, place, path))
    if not found and code:
        first = next((line.strip() for line in said.split("\n") if line.strip()), "")
        said = f"exit code {code}: {_harmless(first, place)}"[:200].rstrip(": ")
        return (Remark(0, said),)
    return found


def _stand_in(place: Path, root: Path, path: PurePath, text: str) -> None:
    """A folder that looks like `root` and holds this text at `path`."""
    here, there = place, root
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


def _link(real: Path, at: Path, folder: bool) -> None:
    """A neighbour. Where links are not to be had, files are copied when small, folders left out."""
    try:
        at.symlink_to(real, target_is_directory=folder)
    except OSError:
        if not folder and real.stat().st_size < 1 << 20:
            shutil.copyfile(real, at)


def _program(name: str) -> str:
    """Where a program lies: at the path that is given, or in a whole folder of PATH. The current
    folder is none, nor is one that is named from there: a clone could bring the program."""
    if os.path.dirname(name):  # noqa: PTH120
        return name
    whole = (one for one in os.environ.get("PATH", os.defpath).split(os.pathsep))
    found = shutil.which(name, path=os.pathsep.join(one for one in whole if os.path.isabs(one)))  # noqa: PTH117
    if found is None or (os.name == "nt" and Path(found).parent == Path.cwd()):
        raise CheckerError(f"{name} is not installed, or not in PATH")
    return found


def _run(words: list[str], place: Path) -> tuple[int, str]:
    """Its exit code and what it said, to stdout and stderr alike."""
    try:
        child = subprocess.Popen(
            words,
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1", "CLICOLOR": "0", "TERM": "dumb"},
            start_new_session=True,
        )
    except OSError as problem:
        raise CheckerError(f"{words[0]} does not start: {problem.strerror}") from None
    with child:
        try:
            said, _ = child.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise CheckerError(f"{words[0]} took more than {SECONDS:.0f} s") from None
        finally:
            _end(child)
    return child.returncode, said[:MOST].decode("utf-8", "replace")


def _end(child: subprocess.Popen[bytes]) -> None:
    """The program, where it still runs, with what it started."""
    if child.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()


def _read(said: str, place: Path, path: PurePath) -> Iterator[Remark]:
    """`path:line:column: said`, `path(line,column): said`, and a message above `--> path:line`."""
    above = ""
    for line in said.replace("\r\n", "\n").split("\n"):
        if arrow := _ARROW.match(line):
            own = _is_own(arrow["path"], place, path)
            where = "" if own else f"{PurePath(arrow['path']).name}: "
            yield Remark(int(arrow["line"]) if own else 0, where + _harmless(above, place))
        elif (at := _AT.match(line)) and not line.startswith(" "):
            own = _is_own(at["path"], place, path)
            where = "" if own else f"{PurePath(at['path']).name}: "
            number = int(at["a"] or at["b"]) if own else 0
            yield Remark(number, where + _harmless(at["said"], place))
        if line.strip():
            above = line.strip()


def _is_own(said: str, place: Path, path: PurePath) -> bool:
    return PurePath(said.replace(str(place) + os.sep, "").removeprefix("./")) == path


def _harmless(said: str, place: Path) -> str:
    """A message without numbers of lines and without our own folder's name."""
    said = said.replace(str(place) + os.sep, "").replace(str(place), ".")
    return re.sub(r"(?<=:)\d+(?::\d+)?|(?<=\bline )\d+|\(\d+,\d+\)", "", said).strip()
