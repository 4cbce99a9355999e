"""The compilers and type checkers that say whether a small repository holds together.

Each takes the folder of one; what is not installed is skipped with its name.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CALL = """\
import runpy, sys
for name, one in runpy.run_path(sys.argv[1]).items():
    if name.startswith("test_"):
        one()
"""
WHERE_TSC = "SPECEDIT_TSC"  # a `tsc` that is not on the path


def run(folder: Path, *words: str, **env: str) -> str:
    """What a tool said; an error where it did not accept."""
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def tool(name: str) -> str:
    found = shutil.which(os.environ.get(WHERE_TSC, name) if name == "tsc" else name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def files(folder: Path, *ends: str) -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith(ends)
    )


def python(folder: Path) -> None:
    """Every file compiles, mypy finds nothing, and the tests there pass."""
    pytest.importorskip("mypy")
    run(folder, sys.executable, "-m", "compileall", "-q", ".")
    paths = os.pathsep.join(str(folder / one) for one in ("", "src"))
    own = files(folder, ".py")
    flags = ("--strict", "--no-error-summary", "--explicit-package-bases", "--cache-dir", ".cache")
    run(folder, sys.executable, "-m", "mypy", *flags, *own, MYPYPATH=paths)
    for test in (one for one in own if "test_" in one):
        run(folder, sys.executable, "-c", CALL, test, PYTHONPATH=paths)


def node(folder: Path) -> None:
    run(folder, tool("node"), str(json.loads((folder / "package.json").read_text())["main"]))


def tsc(folder: Path) -> None:
    for config in files(folder, "tsconfig.json"):
        run(folder, tool("tsc"), "-p", config)


def mcs(folder: Path) -> None:
    run(folder, tool("mcs"), "-out:all.exe", *files(folder, ".cs"))


def go(folder: Path) -> None:
    found = tool("go")
    env = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(folder / ".go")}
    run(folder, found, "vet", "./...", **env)
    run(folder, found, "test", "./...", **env)


def javac(folder: Path) -> None:
    run(folder, tool("javac"), "-d", "classes", *files(folder, ".java"))
    if (folder / "Main.java").exists() and shutil.which("java"):
        assert run(folder, "java", "-cp", "classes", "Main") == "false false\n"


def rustc(folder: Path) -> None:
    run(folder, tool("cargo"), "test", "--offline", "--quiet", CARGO_TARGET_DIR=str(folder / "t"))


def gcc(folder: Path) -> None:
    _native(folder, tool("gcc"), ".c")


def gpp(folder: Path) -> None:
    _native(folder, tool("g++"), ".cpp")


def _native(folder: Path, compiler: str, end: str) -> None:
    run(folder, compiler, "-Wall", "-Wextra", "-Iinclude", "-o", "all", *files(folder, end))
    run(folder, str(folder / "all"))


TOOLS: dict[str, Callable[[Path], None]] = {
    "python": python,
    "node": node,
    "tsc": tsc,
    "mcs": mcs,
    "go": go,
    "javac": javac,
    "rustc": rustc,
    "gcc": gcc,
    "g++": gpp,
}


def accept(folder: Path, names: str) -> Iterator[str]:
    """Ask every tool of a case; the names of those that accepted."""
    for name in names.split():
        TOOLS[name](folder)
        yield name
