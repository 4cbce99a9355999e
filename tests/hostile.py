"""Source files made to break a parser: repeated and nested pieces, and a process that reads them.

A reader is a forked process with a limit of time and memory. `read` gives what became of it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

NAME, OTHER = "Username", "Email"

# Repeated as they are; `@` stands for the name.
REPEATED = (
    *("(", ")", "[", "{", "}", "<", ">", "'", '"', "`", '"""', "\\", "\n", "\r\n", " ", "\t", ";"),
    *(
        "/*",
        "*/",
        "//\n",
        "#",
        "# @\n",
        "// @\n",
        "/* @ */",
        "a.",
        "@.",
        "@::",
        "@->",
        "a?.b",
        "@(",
    ),
    *(
        "a[",
        "a<",
        "@<",
        ".f()",
        ".f(@)\n",
        "@,",
        "@ ",
        "@\n",
        "@ = @\n",
        "@ = @;\n",
        "a + ",
        "@ + ",
    ),
    *("!", "-", "*", "&", "not ", "new ", "await ", "a ? ", "a ? b : ", "x => ", "lambda: ", "@: "),
    *('f"{', "`${", "${", '"#{', "$(", "<<A\n", "r#", "if (a) ", "if a:\n", "else ", "return "),
    *("class A {", "class @ {\n", "def f():\n", "f(function() {", "function f() {\n", "fn f() {\n"),
    *(
        "namespace a {",
        "let @ = @;\n",
        "@Username\n",
        "#[a]",
        "#if a\n",
        "#define @ @\n",
        "import @\n",
    ),
    *("case a:\n", "int @;\n", "$@ = ", "=", ",", "0", "é", "日", "\0", "<a>", "</", "|", "a || "),
    *(
        "begin ",
        "end\n",
        "do ",
        "try {",
        "a\n  .b",
        "let ",
        "@{",
        "({[",
        "*/ /*",
        "'''",
        "=begin\n",
    ),
)
# Opened and closed again as often.
NESTED = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("a[", "]"), ("a<", ">"), ("<a>", "</a>")),
    *(
        ("/*", "*/"),
        ("if (a) {", "}"),
        ("class A { ", "}"),
        ("@(", ")"),
        ("{@: ", "}"),
        ("(@ + ", ")"),
    ),
    *(("function f() {", "}"), ("begin\n", "end\n"), ('"${', '}"'), ("`${", "}`"), ("x => {", "}")),
    *(("def f\n", "end\n"), ("mod a {", "}"), ("fn f() {", "}"), ("((@) => ", ")"), ("{{", "}}")),
)


def repeated(piece: str, size: int) -> str:
    piece = piece.replace("@", NAME) if piece != "@Username\n" else piece
    return piece * (size // len(piece))


def nested(first: str, last: str, size: int) -> str:
    first, last = first.replace("@", NAME), last.replace("@", NAME)
    count = size // len(first + last)
    return first * count + NAME + last * count


def pieces() -> dict[str, Callable[[int], str]]:
    """Each hostile text by its name, as a function of its size in characters."""
    result: dict[str, Callable[[int], str]] = {}
    for piece in REPEATED:
        result[repr(piece)] = lambda size, piece=piece: repeated(piece, size)  # type: ignore[misc]
    for first, last in NESTED:
        result[f"{first!r} {last!r}"] = lambda size, first=first, last=last: nested(  # type: ignore[misc]
            first, last, size
        )
    return result


@dataclass(frozen=True)
class Frame:
    """Where hostile text stands in a file of one language: on its own, and in a function."""

    suffix: str
    alone: tuple[str, str]
    inside: tuple[str, str]


C_LIKE = ("int Username = 1;\n", "\nint last = Username;\n")
FRAMES = {
    "python": Frame(
        ".py",
        ("Username = 1\n", "\nlast = Username\n"),
        ("def f(Username):\n  x = ", "\n  return Username\n"),
    ),
    "javascript": Frame(
        ".js",
        ("let Username = 1;\n", "\nlet last = Username;\n"),
        ("function f(Username) {\n  x = ", "\n  return Username;\n}\n"),
    ),
    "typescript": Frame(
        ".ts",
        ("let Username = 1;\n", "\nlet last = Username;\n"),
        ("function f(Username: T) {\n  x = ", "\n  return Username;\n}\n"),
    ),
    "tsx": Frame(
        ".tsx",
        ("let Username = 1;\n", "\nlet last = Username;\n"),
        ("function f(Username: T) {\n  x = ", "\n  return Username;\n}\n"),
    ),
    "csharp": Frame(
        ".cs",
        ("int Username = 1;\n", "\nint last = Username;\n"),
        ("class B {\n int f(int Username) {\n  x = ", "\n  return Username;\n}\n}\n"),
    ),
    "java": Frame(
        ".java",
        ("class Username {}\n", "\nclass B extends Username {}\n"),
        ("class B {\n int f(int Username) {\n  x = ", "\n  return Username;\n}\n}\n"),
    ),
    "go": Frame(
        ".go",
        ("package a\nvar Username = 1\n", "\nvar last = Username\n"),
        ("package a\nfunc f(Username int) int {\n  x = ", "\n  return Username\n}\n"),
    ),
    "rust": Frame(
        ".rs",
        ("struct Username;\n", "\ntype B = Username;\n"),
        ("fn f(Username: u8) -> u8 {\n  x = ", "\n  return Username;\n}\n"),
    ),
    "c": Frame(".c", C_LIKE, ("int f(int Username) {\n  x = ", "\n  return Username;\n}\n")),
    "cpp": Frame(".cpp", C_LIKE, ("int f(int Username) {\n  x = ", "\n  return Username;\n}\n")),
    "ruby": Frame(
        ".rb",
        ("Username = 1\n", "\nlast = Username\n"),
        ("def f(a)\n  Username = 1\n  x = ", "\n  return Username\nend\n"),
    ),
    "php": Frame(
        ".php",
        ("<?php\n$Username = 1;\n", "\n$last = $Username;\n"),
        ("<?php\nfunction f($Username) {\n  $x = ", "\n  return $Username;\n}\n"),
    ),
    "kotlin": Frame(
        ".kt",
        ("val Username = 1\n", "\nval last = Username\n"),
        ("fun f(Username: Int): Int {\n  x = ", "\n  return Username\n}\n"),
    ),
    "bash": Frame(
        ".sh",
        ("Username=1\n", "\nlast=$Username\n"),
        ("f() {\n  Username=1\n  x=", "\n  echo $Username\n}\n"),
    ),
    "scala": Frame(
        ".scala",
        ("val Username = 1\n", "\nval last = Username\n"),
        ("def f(Username: Int): Int = {\n  val x = ", "\n  return Username\n}\n"),
    ),
}
MEMORY_MB = 500
LONGEST_S = 3.0


@dataclass(frozen=True)
class Outcome:
    """How a reader ended."""

    code: int | None  # minus the signal that killed it; None: it ran past the limit
    seconds: float  # of processor time
    memory_mb: float
    output: str

    @property
    def problem(self) -> str:
        """What is wrong with it, or ""."""
        if self.code is None:
            return "time"
        if self.code < 0:
            return f"signal {signal.Signals(-self.code).name}"
        if "Traceback" in self.output or self.code not in (0, 1, 2):
            return "traceback"
        if self.memory_mb > MEMORY_MB:
            return "memory"
        return "slow" if self.seconds > LONGEST_S else ""


def read(work: Callable[[], int], limit: int = 30) -> Outcome:
    """Do `work` in a forked process; its result is the exit code. `limit`: of processor time."""
    with tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        sys.stderr.flush()
        shared_mb = _resident_mb()
        pid = os.fork()
        if not pid:
            _work(work, limit, output.fileno())
        _, status, usage = os.wait4(pid, 0)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    code = os.waitstatus_to_exitcode(status)
    seconds = usage.ru_utime + usage.ru_stime
    memory_mb = max(0.0, usage.ru_maxrss / 1024 - shared_mb)
    return Outcome(None if code == -signal.SIGXCPU else code, seconds, memory_mb, text)


def _resident_mb() -> float:
    """What this process holds in memory, which a forked one begins with."""
    held = Path("/proc/self/statm")
    pages = int(held.read_text("ascii").split()[1]) if held.exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _work(work: Callable[[], int], limit: int, output: int) -> None:
    """In the child: never returns."""
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        for stream in (1, 2):
            os.dup2(output, stream)
        code = work()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
    except BaseException:
        import traceback

        with contextlib.suppress(OSError):
            os.write(output, traceback.format_exc().encode())
    finally:
        os._exit(code)
